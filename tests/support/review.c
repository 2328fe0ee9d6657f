#include "review.h"

static unsigned next_id = 20000;

static json_t *quoted(const char *text) {
    char *json = strdup(text);
    json_error_t error;
    for (char *at = json; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    json_t *parsed = json_loads(json, 0, &error);
    ck_assert_msg(parsed != NULL, "%s: %s", error.text, json);
    free(json);
    return parsed;
}

/* The body is taken. */
static struct reply ask_json(struct house *house, const struct evd_command *command, struct evd_ids ids,
                             evd_uuid caller, json_t *body) {
    char *text = json_dumps(body, 0);
    json_decref(body);
    struct reply reply = ask_ok(house, command, ids, caller, command_id(next_id++), text);
    free(text);
    return reply;
}

static evd_uuid id_in(struct reply reply, const char *member) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, member)), &id));
    reply_done(&reply);
    return id;
}

static json_t *uuid_json(evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(id, text);
    return json_string(text);
}

static void label(json_t *list) {
    json_t *item, *id;
    size_t i;
    json_array_foreach(list, i, item) {
        if ((id = json_object_get(item, "id")) != NULL && json_object_get(item, "label") == NULL)
            (void)json_object_set(item, "label", id);
        label(json_object_get(item, "options"));
    }
}

void review_form(struct house *house, const char *questions) {
    struct evd_ids ids = {.project = house->project};
    json_t *list = quoted(questions);
    label(list);
    ids.form = house->form = id_in(
        ask_json(house, &evd_command_create_form, ids, house->admin,
                 json_pack("{s:s, s:{s:i}, s:o}", "name", "Every kind", "capacity", "target", 9, "questions", list)),
        "id");
    house->stage = id_in(ask_json(house, &evd_command_create_stage, ids, house->admin,
                                  json_pack("{s:s, s:o}", "name", "Extraction", "formId", uuid_json(house->form))),
                         "id");
    house->form_version =
        id_in(ask_json(house, &evd_command_publish_form, ids, house->admin, json_pack("{s:i}", "baseVersion", 2)),
              "formVersionId");
}

enum { BATCH = 500 };

evd_uuid *review_studies(struct house *house, size_t count) {
    struct evd_ids ids = {.project = house->project};
    evd_uuid *studies = calloc(count, sizeof *studies);
    for (size_t first = 0; first < count; first += BATCH) {
        json_t *list = json_array();
        for (size_t i = first; i < count && i < first + BATCH; i++) {
            char title[40], custom[40];
            (void)snprintf(title, sizeof title, "Study %zu", i);
            (void)snprintf(custom, sizeof custom, "S%u-%zu", next_id, i);
            (void)json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "title", title, "customId", custom,
                                                        "authors", "Ay, B; See, D", "year", 2000 + (int)(i % 20)));
        }
        struct reply reply =
            ask_json(house, &evd_command_add_studies, ids, house->admin, json_pack("{s:o}", "studies", list));
        json_t *rows = json_object_get(reply.body, "rows");
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const char *id = json_string_value(json_object_get(json_array_get(rows, i), "studyId"));
            ck_assert(evd_uuid_parse(evd_text_from(id), &studies[first + i]));
        }
        reply_done(&reply);
    }
    return studies;
}

struct evd_ids review_ids(const struct house *house, evd_uuid study) {
    return (struct evd_ids){.project = house->project, .study = study, .form = house->form};
}

evd_uuid review_save(struct house *house, const struct evd_command *command, unsigned who, evd_uuid study,
                     const evd_uuid *base, const char *answers) {
    json_t *list = quoted(answers), *answer;
    size_t i;
    json_array_foreach(list, i, answer) {
        if (json_object_get(answer, "baseRevision") == NULL)
            (void)json_object_set_new(answer, "baseRevision", json_null());
    }
    json_t *body = json_pack("{s:o, s:i, s:o, s:n, s:o}", "stage", uuid_json(house->stage), "formVersion", 1,
                             "baseVersion", base == NULL ? json_null() : uuid_json(*base), "draft", "answers", list);
    return id_in(ask_json(house, command, review_ids(house, study), person(who), body), "versionId");
}

evd_uuid review_complete(struct house *house, unsigned who, evd_uuid study, const char *answers) {
    return review_save(house, &evd_command_complete, who, study, NULL, answers);
}

void review_withdraw(struct house *house, unsigned who, evd_uuid study, evd_uuid base) {
    json_t *body =
        json_pack("{s:o, s:o, s:n}", "stage", uuid_json(house->stage), "baseVersion", uuid_json(base), "draft");
    struct reply reply = ask_json(house, &evd_command_withdraw, review_ids(house, study), person(who), body);
    reply_done(&reply);
}

void review_roles(struct house *house, unsigned who, const char *roles) {
    struct evd_ids ids = {.project = house->project};
    struct reply reply =
        ask_json(house, &evd_command_set_member, ids, house->admin,
                 json_pack("{s:o, s:o}", "investigatorId", uuid_json(person(who)), "roles", quoted(roles)));
    reply_done(&reply);
}

const char *const review_header[REVIEW_COLUMNS] = {"study/id",
                                                   "study/customId",
                                                   "study/doi",
                                                   "study/pmid",
                                                   "study/openAlexId",
                                                   "study/title",
                                                   "study/authors",
                                                   "study/year",
                                                   "reviewer/id",
                                                   "session/versionId",
                                                   "session/formVersion",
                                                   "element/path",
                                                   "element/parent",
                                                   "element/question",
                                                   "element/id",
                                                   "element/name",
                                                   "design",
                                                   "n",
                                                   "dose",
                                                   "blinded",
                                                   "outcomes",
                                                   "outcomes[death]",
                                                   "outcomes[stroke]",
                                                   "outcomes[pain]",
                                                   "quote",
                                                   "day",
                                                   "answers/notes"};

const struct evd_command *const review_exports[REVIEW_EXPORTS] = {
    &evd_command_export_answers_csv, &evd_command_export_answers_ndjson, &evd_command_export_series_csv,
    &evd_command_export_manifest};

struct streamed review_export(struct house *house, const struct evd_command *command, size_t page) {
    struct evd_ids ids = {.project = house->project, .form = house->form};
    struct streamed streamed = ask_streamed(house, command, ids, house->admin, page);
    ck_assert_int_eq(streamed.code, EVD_OK);
    return streamed;
}
