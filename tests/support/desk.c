#include "desk.h"

#include "test.h"

#include <stdarg.h>

static void take_id(const struct evd_reply *reply, const char *member, char to[EVD_UUID_TEXT_BYTES + 1]) {
    const char *id = evd_reply_text(reply, member);
    ck_assert_uint_eq(strlen(id), EVD_UUID_TEXT_BYTES);
    memcpy(to, id, EVD_UUID_TEXT_BYTES + 1);
}

/* POST as the administrator; it must succeed. */
static struct evd_reply post(struct desk *desk, char *path, char *body) {
    char key[EVD_UUID_TEXT_BYTES + 1];
    struct evd_reply reply;
    int status = evd_client_post(&desk->admin, path, evd_test_uuid(key), body, &reply);
    ck_assert_msg(status == 200, "%s: %d %s", path, status, reply.body);
    free(path);
    free(body);
    return reply;
}

static char *print(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *print(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    ck_assert_int_ge(vasprintf(&text, format, arguments), 0);
    va_end(arguments);
    return text;
}

static void make_project(struct desk *desk) {
    struct evd_reply reply = post(desk, print("/v1/projects"), print("{\"name\":\"A review\"}"));
    take_id(&reply, "id", desk->project);
    evd_reply_done(&reply);
}

static void join_reviewers(struct desk *desk, const struct evd_daemon_process *process) {
    for (unsigned i = 0; i < DESK_REVIEWERS; i++) {
        char subject[32], id[EVD_UUID_TEXT_BYTES + 1];
        (void)snprintf(subject, sizeof subject, "reviewer %u", i);
        evd_uuid_format(evd_daemon_process_investigator(subject), id);
        evd_client_init(&desk->reviewers[i], process, subject, false);
        struct evd_reply reply = post(desk, print("/v1/projects/%s/members", desk->project),
                                      print("{\"investigatorId\":\"%s\",\"roles\":[\"reviewer\"]}", id));
        evd_reply_done(&reply);
    }
}

static char *questions_of(unsigned count) {
    char *list = print("["), *longer;
    for (unsigned i = 1; i <= count; i++, free(list), list = longer)
        longer =
            print("%s%s{\"id\":\"q%u\",\"label\":\"Question %u\",\"kind\":\"text\"}", list, i == 1 ? "" : ",", i, i);
    longer = print("%s]", list);
    free(list);
    return longer;
}

static void make_form(struct desk *desk, unsigned questions, unsigned target) {
    char *list = questions_of(questions);
    struct evd_reply reply =
        post(desk, print("/v1/projects/%s/forms", desk->project),
             print("{\"name\":\"Extraction\",\"capacity\":{\"target\":%u},\"questions\":%s}", target, list));
    take_id(&reply, "id", desk->form);
    evd_reply_done(&reply);
    free(list);
    reply = post(desk, print("/v1/projects/%s/stages", desk->project),
                 print("{\"name\":\"Full text\",\"formId\":\"%s\"}", desk->form));
    take_id(&reply, "id", desk->stage);
    evd_reply_done(&reply);
    reply = post(desk, print("/v1/projects/%s/forms/%s/publications", desk->project, desk->form),
                 print("{\"baseVersion\":2}"));
    evd_reply_done(&reply);
}

static void add_studies(struct desk *desk) {
    char *list = print("%s", ""), *longer;
    for (unsigned i = 0; i < DESK_STUDIES; i++, free(list), list = longer)
        longer = print("%s%s{\"title\":\"Study %u\"}", list, i == 0 ? "" : ",", i);
    longer = print("{\"studies\":[%s]}", list);
    free(list);
    struct evd_reply reply = post(desk, print("/v1/projects/%s/studies/batch", desk->project), longer);
    json_t *rows = json_object_get(reply.json, "rows");
    for (unsigned i = 0; i < DESK_STUDIES; i++)
        (void)snprintf(desk->studies[i], sizeof desk->studies[i], "%s",
                       json_string_value(json_object_get(json_array_get(rows, i), "studyId")));
    evd_reply_done(&reply);
}

void desk_open(struct desk *desk, const struct evd_daemon_process *process, unsigned questions, unsigned target) {
    *desk = (struct desk){0};
    evd_client_init(&desk->admin, process, "administrator", true);
    make_project(desk);
    join_reviewers(desk, process);
    make_form(desk, questions, target);
    add_studies(desk);
}

void desk_close(struct desk *desk) {
    evd_client_done(&desk->admin);
    for (unsigned i = 0; i < DESK_REVIEWERS; i++)
        evd_client_done(&desk->reviewers[i]);
}

char *desk_session_path(const struct desk *desk, unsigned study, const char *verb) {
    return print("/v1/projects/%s/studies/%s/forms/%s/session/%s", desk->project, desk->studies[study], desk->form,
                 verb);
}

char *desk_save_body(const struct desk *desk, const char *base, unsigned last, const char *value) {
    char *list = print("%s", ""), *longer, *quoted = print(*base == '\0' ? "null" : "\"%s\"", base);
    for (unsigned i = 1; i <= last; i++, free(list), list = longer)
        longer = print("%s%s{\"question\":\"q%u\",\"value\":\"%s\",\"baseRevision\":null}", list, i == 1 ? "" : ",", i,
                       value);
    longer = print("{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":%s,\"draft\":null,\"answers\":[%s]}",
                   desk->stage, quoted, list);
    free(list);
    free(quoted);
    return longer;
}

int desk_save(struct desk *desk, unsigned reviewer, unsigned study, const char *key, const char *base, unsigned last,
              const char *value, struct evd_reply *ret_reply) {
    char *path = desk_session_path(desk, study, "save"), *body = desk_save_body(desk, base, last, value);
    int status = evd_client_post(&desk->reviewers[reviewer], path, key, body, ret_reply);
    free(path);
    free(body);
    return status;
}

size_t desk_versions(struct desk *desk, unsigned reviewer, unsigned study) {
    struct evd_reply reply;
    char *path = desk_session_path(desk, study, "versions");
    int status = evd_client_get(&desk->reviewers[reviewer], path, &reply);
    ck_assert_msg(status == 200, "%s: %d %s", path, status, reply.body);
    size_t count = json_array_size(json_object_get(reply.json, "items"));
    evd_reply_done(&reply);
    free(path);
    return count;
}
