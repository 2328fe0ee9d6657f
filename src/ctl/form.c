/*
 * Forms. Publishing a file is up to three kinds of command in a row, each under a key of its own derived from the
 * run's; so a run that broke in the middle is repeated whole with --key, and goes on where it stopped.
 */
#include "body.h"
#include "file.h"

#include "evidenced/base/limits.h"

#define FORM_IN_FILE                                                                                                   \
    "FILE, - for standard input, is JSON: {\"name\", \"capacity\": {\"target\"}, \"questions\": [...]}, as the API "   \
    "takes it; examples/form.json is one."

static enum evd_ctl_exit create_from_file(struct evd_ctl *ctl, struct evd_ctl_answer *ret_answer) {
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_CREATE_FORM, NULL, NULL);
    call.content_type = "application/json";
    enum evd_ctl_exit status =
        evd_ctl_file_read_json(ctl, ctl->operands[0], EVD_LIMIT_STUDY_BATCH_BODY_BYTES, &call.body);
    return status == EVD_CTL_DONE ? evd_ctl_ask(ctl, &call, ret_answer) : status;
}

static enum evd_ctl_exit create(struct evd_ctl *ctl) {
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = create_from_file(ctl, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) evd_ctl_print_line(evd_ctl_member(answer.json, "id"));
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_form_create = {
    .name = "form create",
    .operands = "FILE",
    .operand = EVD_CTL_OPERAND_FILE,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Create a form that is not published yet, and print its id.",
    .details = FORM_IN_FILE,
    .example = "FORM=$(evidencectl form create form.json)",
    .run = create,
};

/* Publishing. */

static void print_made(const char *what, const char *id) {
    (void)printf("%-13s", what); /* as wide as `formVersion` and two spaces */
    evd_ctl_print_line(id);
}

static enum evd_ctl_exit create_stages(struct evd_ctl *ctl, const char *form) {
    const char *name;
    for (size_t i = 0; (name = evd_ctl_value_at(ctl, EVD_CTL_OPTION_STAGE, i)) != NULL; i++) {
        const char *step = evd_text_print(&ctl->arena, "stage %zu", i).bytes;
        struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_CREATE_STAGE, NULL, step);
        struct evd_ctl_answer answer;
        enum evd_ctl_exit status =
            evd_ctl_send(ctl, &call, json_pack("{s:s, s:s}", "name", name, "formId", form), &answer);
        if (status != EVD_CTL_DONE) return status;
        if (!evd_ctl_print_json(ctl, &answer)) print_made("stage", evd_ctl_member(answer.json, "id"));
        evd_ctl_answer_done(&answer);
    }
    return EVD_CTL_DONE;
}

/* The form's version to build on, and which version of it is published already, 0: none. */
static enum evd_ctl_exit look_up(struct evd_ctl *ctl, const char *form, json_int_t *ret_version,
                                 json_int_t *ret_published) {
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_GET_FORM, form, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    *ret_version = json_integer_value(json_object_get(answer.json, "version"));
    *ret_published = json_integer_value(json_object_get(answer.json, "publishedVersion"));
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit publish(struct evd_ctl *ctl, const char *form, json_int_t version) {
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_PUBLISH_FORM, form, "publish");
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_send(ctl, &call, json_pack("{s:I}", "baseVersion", version), &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer))
        print_made("formVersion", evd_ctl_cell(ctl, answer.json, "formVersion").bytes);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit publish_existing(struct evd_ctl *ctl, const char *form) {
    json_int_t version = (json_int_t)evd_ctl_number(ctl, EVD_CTL_OPTION_BASE_VERSION, 0), published = 0;
    enum evd_ctl_exit status = create_stages(ctl, form);
    if (status == EVD_CTL_DONE && version == 0) status = look_up(ctl, form, &version, &published);
    if (status != EVD_CTL_DONE) return status;
    ctl->repeat = evd_text_print(&ctl->arena, " --base-version %lld", (long long)version).bytes;
    return publish(ctl, form, version);
}

/* A form made here that is published already was published by an earlier try with the same key. */
static enum evd_ctl_exit publish_file(struct evd_ctl *ctl) {
    struct evd_ctl_answer created;
    json_int_t version = 0, published = 0;
    enum evd_ctl_exit status = create_from_file(ctl, &created);
    if (status != EVD_CTL_DONE) return status;
    const char *form = evd_text_print(&ctl->arena, "%s", evd_ctl_member(created.json, "id")).bytes;
    if (!evd_ctl_print_json(ctl, &created)) print_made("form", form);
    evd_ctl_answer_done(&created);
    status = create_stages(ctl, form);
    if (status == EVD_CTL_DONE) status = look_up(ctl, form, &version, &published);
    if (status == EVD_CTL_DONE && published == 0)
        status = publish(ctl, form, version);
    else if (status == EVD_CTL_DONE && !evd_ctl_has(ctl, EVD_CTL_OPTION_JSON))
        print_made("formVersion", evd_text_print(&ctl->arena, "%lld", (long long)published).bytes);
    if (status != EVD_CTL_DONE) evd_ctl_add(ctl, "The form %s was created and is not published.", form);
    return status;
}

static enum evd_ctl_exit publish_either(struct evd_ctl *ctl) {
    const char *form = evd_ctl_id(ctl, EVD_CTL_OPTION_FORM);
    if ((form == NULL) == (ctl->operand_count == 0))
        return evd_ctl_misuse(ctl, "`form publish` takes FILE, or --form with the id of a form.");
    return form == NULL ? publish_file(ctl) : publish_existing(ctl, form);
}

const struct evd_ctl_verb evd_ctl_verb_form_publish = {
    .name = "form publish",
    .operands = "[FILE]",
    .operand = EVD_CTL_OPERAND_FILE,
    .most = 1,
    .takes = EVD_CTL_CHANGING | EVD_CTL_TAKES(PROJECT) | EVD_CTL_TAKES(FORM) | EVD_CTL_TAKES(STAGE) |
             EVD_CTL_TAKES(BASE_VERSION),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Create a form from FILE, with its stages, and publish it; or publish --form.",
    .details = "Reviewers reach a form through a stage, and its first publication settles which: name them all with "
               "--stage, or create them before. What breaks in the middle goes on where it stopped when it is "
               "repeated with the --key that is told then. " FORM_IN_FILE,
    .example = "evidencectl form publish form.json --stage 'Full text'",
    .run = publish_either,
};

/* Looking. */

static enum evd_ctl_exit list(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {{"FORM", "id"},
                                                    {"VERSION", "version"},
                                                    {"PUBLISHED", "publishedVersion"},
                                                    {"TARGET", "capacity.target"},
                                                    {"CAP", "capacity.cap"},
                                                    {"NAME", "name"}};
    return evd_ctl_list(ctl, EVD_CTL_PATH_LIST_FORMS, NULL, columns, sizeof columns / sizeof *columns);
}

const struct evd_ctl_verb evd_ctl_verb_form_list = {
    .name = "form list",
    .operands = "",
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "List a project's forms.",
    .run = list,
};

static enum evd_ctl_exit show(struct evd_ctl *ctl) {
    static const struct evd_ctl_column columns[] = {{"QUESTION", "id"},
                                                    {"KIND", "kind"},
                                                    {"REQUIRED", "required"},
                                                    {"UNDER", "parent.questionId"},
                                                    {"LABEL", "label"}};
    const char *form = evd_ctl_canonical_id(ctl, ctl->operands[0]);
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_GET_FORM, form, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) {
        const json_t *questions = json_object_get(answer.json, "draft");
        evd_ctl_show_object(ctl, answer.json, (const char *[]){"draft", NULL});
        if (json_array_size(questions) > 0) (void)fputc('\n', stdout);
        evd_ctl_show_table(ctl, questions, columns, sizeof columns / sizeof *columns);
    }
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_form_show = {
    .name = "form show",
    .operands = "FORM",
    .operand = EVD_CTL_OPERAND_ID,
    .least = 1,
    .most = 1,
    .takes = EVD_CTL_READING | EVD_CTL_TAKES(PROJECT),
    .needs = EVD_CTL_TAKES(PROJECT),
    .summary = "Show a form and its questions.",
    .run = show,
};
