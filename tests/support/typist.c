#include "typist.h"

enum { HOLDERS_FROM = 7000 };

struct typist typist_new(struct house *house, unsigned who, unsigned tab) {
    return (struct typist){.house = house,
                           .who = who,
                           .holder = command_id(HOLDERS_FROM + tab),
                           .ids = session_ids(house),
                           .stage = house->stage};
}

char *typed(const char *question, const char *value) {
    json_t *content =
        json_pack("{s:[{s:s, s:s, s:n}]}", "answers", "question", question, "value", value, "baseRevision");
    char *text = json_dumps(content, 0);
    json_decref(content);
    return text;
}

static char *autosave_body(const struct typist *typist, bool whole, const char *content) {
    char stage[EVD_UUID_TEXT_BYTES + 1], holder[EVD_UUID_TEXT_BYTES + 1], *body;
    evd_uuid_format(typist->stage, stage);
    evd_uuid_format(typist->holder, holder);
    json_t *made =
        json_pack("{s:s?, s:s, s:I, s:o}", "baseVersion", typist->base[0] == '\0' ? NULL : typist->base, "holder",
                  holder, "writeSeq", (json_int_t)typist->write_seq + 1, "content", json_loads(content, 0, NULL));
    if (whole) {
        (void)json_object_set_new(made, "stage", json_string(stage));
        (void)json_object_set_new(made, "formVersion", json_integer(1));
    }
    body = json_dumps(made, 0);
    json_decref(made);
    return body;
}

static void learn(struct typist *typist, const struct reply *reply) {
    if (reply->code != EVD_OK) return;
    typist->etag = number_of(reply, "etag");
    typist->write_seq = number_of(reply, "writeSeq");
    typist->lease_generation = number_of(reply, "leaseGeneration");
}

static struct reply autosave(struct typist *typist, const struct evd_command *command, const char *content) {
    char *body = autosave_body(typist, command == &evd_command_put_draft, content), etag[32];
    struct asked *asked = asked_new(typist->house, command, typist->ids, person(typist->who), evd_uuid_nil(), body);
    (void)snprintf(etag, sizeof etag, "\"%lld\"", typist->etag);
    if (typist->etag == 0)
        asked_call(asked)->conditions.if_none_match = EVD_TEXT("*");
    else
        asked_call(asked)->conditions.if_match = evd_text_from(etag);
    asked_go(asked);
    struct reply reply = asked_end(asked);
    free(body);
    learn(typist, &reply);
    return reply;
}

struct reply typist_put(struct typist *typist, const char *content) {
    return autosave(typist, &evd_command_put_draft, content);
}

struct reply typist_patch(struct typist *typist, const char *content) {
    return autosave(typist, &evd_command_patch_draft, content);
}

void typist_put_ok(struct typist *typist, const char *content) {
    struct reply reply = typist_put(typist, content);
    ck_assert_msg(reply.code == EVD_OK, "%s", evd_outcome_entry_of(reply.code)->name);
    reply_done(&reply);
}

char *typist_draft(const struct typist *typist) {
    char holder[EVD_UUID_TEXT_BYTES + 1], *text;
    evd_uuid_format(typist->holder, holder);
    ck_assert_int_gt(
        asprintf(&text, "{\"etag\":%lld,\"holder\":\"%s\",\"writeSeq\":%lld}", typist->etag, holder, typist->write_seq),
        0);
    return text;
}

struct reply typist_save(struct typist *typist, const struct evd_command *command, unsigned id, const char *question,
                         const char *value, const char *draft) {
    char stage[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(typist->stage, stage);
    json_t *answers = json_array();
    if (question != NULL)
        (void)json_array_append_new(answers,
                                    json_pack("{s:s, s:s, s:n}", "question", question, "value", value, "baseRevision"));
    json_t *made = json_pack("{s:s, s:i, s:s?, s:o?, s:o}", "stage", stage, "formVersion", 1, "baseVersion",
                             typist->base[0] == '\0' ? NULL : typist->base, "draft",
                             draft == NULL ? NULL : json_loads(draft, 0, NULL), "answers", answers);
    if (draft == NULL) (void)json_object_set_new(made, "draft", json_null());
    char *body = json_dumps(made, 0);
    json_decref(made);
    struct reply reply = ask(typist->house, command, typist->ids, person(typist->who), command_id(id), body);
    free(body);
    if (reply.code == EVD_OK) {
        typist->etag = number_of(&reply, "draftEtag");
        (void)snprintf(typist->base, sizeof typist->base, "%s", text_of(&reply, "versionId"));
    }
    return reply;
}

struct reply typist_ask(struct typist *typist, const struct evd_command *command, unsigned id) {
    char holder[EVD_UUID_TEXT_BYTES + 1], body[160];
    evd_uuid_format(typist->holder, holder);
    (void)snprintf(body, sizeof body, "{\"holder\":\"%s\",\"etag\":%lld}", holder, typist->etag);
    struct reply reply = ask(typist->house, command, typist->ids, person(typist->who), command_id(id), body);
    learn(typist, &reply);
    return reply;
}

struct reply typist_read(const struct typist *typist) {
    return ask_ok(typist->house, &evd_command_get_draft, typist->ids, person(typist->who), evd_uuid_nil(), NULL);
}

size_t typist_copies(const struct typist *typist) {
    struct reply page =
        ask_ok(typist->house, &evd_command_list_draft_copies, typist->ids, person(typist->who), evd_uuid_nil(), NULL);
    size_t count = json_array_size(json_object_get(page.body, "items"));
    reply_done(&page);
    return count;
}

struct reply typist_copy(const struct typist *typist, const char *copy) {
    struct evd_ids ids = typist->ids;
    ck_assert(evd_uuid_parse(evd_text_from(copy), &ids.copy));
    return ask_ok(typist->house, &evd_command_get_draft_copy, ids, person(typist->who), evd_uuid_nil(), NULL);
}
