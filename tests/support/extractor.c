#include "extractor.h"

void extractor_instance(unsigned long number, char ret_id[EVD_UUID_TEXT_BYTES + 1]) {
    (void)snprintf(ret_id, EVD_UUID_TEXT_BYTES + 1, "00000000-0000-4000-8000-%012lu", number % 1000000);
}

static json_t *element_of(const char *text, size_t size) {
    char *end, id[EVD_UUID_TEXT_BYTES + 1];
    unsigned long number = strtoul(text, &end, 10);
    if (end == text) return json_stringn(text, size);
    extractor_instance(number, id);
    return json_string(id);
}

/* {question, path} */
static json_t *place_of(const char *text) {
    json_t *path = json_array(), *question = NULL;
    while (text != NULL) {
        size_t size = strcspn(text, "/"), name = strcspn(text, "=/");
        json_decref(question);
        question = json_stringn(text, name);
        if (name < size)
            (void)json_array_append_new(path, json_pack("{s:O, s:o}", "question", question, "element",
                                                        element_of(text + name + 1, size - name - 1)));
        text = text[size] == '/' ? text + size + 1 : NULL;
    }
    return json_pack("{s:o, s:o}", "question", question, "path", path);
}

void extractor_place(const json_t *entry, char *ret_text, size_t size) {
    const json_t *step, *path = json_object_get(entry, "path");
    const char *question = json_string_value(json_object_get(entry, "question"));
    size_t i, at = 0;
    bool is_element = false;
    ret_text[0] = '\0';
    json_array_foreach(path, i, step) {
        const char *maker = json_string_value(json_object_get(step, "question"));
        const char *element = json_string_value(json_object_get(step, "element"));
        bool is_instance = strlen(element) == EVD_UUID_TEXT_BYTES;
        at += (size_t)snprintf(ret_text + at, size - at, "%s%s=%s", i == 0 ? "" : "/", maker,
                               is_instance ? element + 24 + strspn(element + 24, "0") : element);
        is_element = strcmp(maker, question) == 0;
    }
    if (!is_element) (void)snprintf(ret_text + at, size - at, "%s%s", at == 0 ? "" : "/", question);
}

struct extractor extractor_new(struct house *house, unsigned who) {
    return (struct extractor){.house = house, .who = who, .revisions = json_object()};
}

void extractor_done(struct extractor *extractor) {
    json_decref(extractor->revisions);
}

static void learn(struct extractor *extractor, const struct reply *reply) {
    const json_t *answer;
    char place[200];
    size_t i;
    (void)snprintf(extractor->base, sizeof extractor->base, "%s", text_of(reply, "versionId"));
    json_array_foreach(json_object_get(reply->body, "answers"), i, answer) {
        extractor_place(answer, place, sizeof place);
        (void)json_object_set(extractor->revisions, place, json_object_get(answer, "revision"));
    }
}

/* Of a list, numbers stand for instances' ids, here too. */
static json_t *value_of(const json_t *given) {
    const json_t *item;
    size_t i;
    if (!json_is_array(given)) return json_incref((json_t *)(uintptr_t)given);
    json_t *list = json_array();
    json_array_foreach(given, i, item) {
        const char *text = json_string_value(item);
        (void)json_array_append_new(list, text == NULL ? json_incref((json_t *)(uintptr_t)item)
                                                       : element_of(text, strlen(text)));
    }
    return list;
}

static json_t *answer_of(const struct extractor *extractor, const char *place, const json_t *value) {
    json_t *answer = place_of(place), *revision = json_object_get(extractor->revisions, place);
    (void)json_object_set_new(answer, "value", value_of(value));
    (void)json_object_set_new(answer, "baseRevision", revision == NULL ? json_null() : json_incref(revision));
    return answer;
}

static char *body_of(const struct extractor *extractor, const char *answers, const char *withdrawn) {
    char *text = strdup(answers), stage[EVD_UUID_TEXT_BYTES + 1];
    const char *key;
    const json_t *value;
    json_t *list = json_array(), *gone = json_array();
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    json_t *given = json_loads(text, 0, NULL);
    ck_assert_msg(given != NULL, "%s", text);
    json_object_foreach(given, key, value) {
        (void)json_array_append_new(list, answer_of(extractor, key, value));
    }
    while (*withdrawn != '\0') {
        char place[200];
        size_t size = strcspn(withdrawn, " ");
        (void)snprintf(place, sizeof place, "%.*s", (int)size, withdrawn);
        (void)json_array_append_new(gone, place_of(place));
        withdrawn += size + (withdrawn[size] == ' ');
    }
    evd_uuid_format(extractor->house->stage, stage);
    json_t *body =
        json_pack("{s:s, s:i, s:s?, s:n, s:o, s:o}", "stage", stage, "formVersion", 1, "baseVersion",
                  extractor->base[0] == '\0' ? NULL : extractor->base, "draft", "answers", list, "withdrawn", gone);
    free(text);
    text = json_dumps(body, 0);
    json_decref(body);
    json_decref(given);
    return text;
}

struct reply extractor_send(struct extractor *extractor, const struct evd_command *command, const char *answers,
                            const char *withdrawn) {
    static unsigned id = 5000;
    char *body = body_of(extractor, answers, withdrawn);
    struct reply reply =
        ask(extractor->house, command, session_ids(extractor->house), person(extractor->who), command_id(id++), body);
    if (reply.code == EVD_OK) learn(extractor, &reply);
    free(body);
    return reply;
}

void extractor_save(struct extractor *extractor, const char *answers, const char *withdrawn) {
    struct reply reply = extractor_send(extractor, &evd_command_save, answers, withdrawn);
    char *members = reply.code == EVD_OK ? NULL : json_dumps(reply.body, 0);
    ck_assert_msg(reply.code == EVD_OK, "%s: %s", evd_outcome_entry_of(reply.code)->name, members);
    reply_done(&reply);
}

static int by_text(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Lines sorted and joined by `; `. */
static const char *joined(char lines[][300], size_t count) {
    static char all[20000];
    size_t at = 0;
    all[0] = '\0';
    qsort(lines, count, sizeof *lines, by_text);
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i == 0 ? "" : "; ", lines[i]);
    ck_assert_uint_lt(at, sizeof all);
    return all;
}

/* `place code` of every error. */
const char *extractor_errors(const struct reply *reply) {
    static char lines[100][300];
    const json_t *error, *errors = json_object_get(reply->body, "errors");
    size_t i, count = 0;
    json_array_foreach(errors, i, error) {
        char place[200];
        extractor_place(error, place, sizeof place);
        (void)snprintf(lines[count++], sizeof *lines, "%s %s", place,
                       json_string_value(json_object_get(error, "code")));
    }
    return joined(lines, count);
}

/* The places of the session as it reads. */
const char *extractor_places(const struct extractor *extractor) {
    static char lines[100][300];
    const json_t *answer;
    size_t i, count = 0;
    struct reply read = ask_ok(extractor->house, &evd_command_get_session, session_ids(extractor->house),
                               person(extractor->who), command_id(0), NULL);
    json_array_foreach(json_object_get(read.body, "answers"), i, answer)
        extractor_place(answer, lines[count++], sizeof *lines);
    reply_done(&read);
    return joined(lines, count);
}
