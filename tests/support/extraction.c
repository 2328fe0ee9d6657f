#include "extraction.h"

#include "behind.h"

#include "evidenced/records/keys.h"

#include <stdarg.h>

char *json_of(const char *format, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, format);
    ck_assert_int_ge(vasprintf(&text, format, arguments), 0);
    va_end(arguments);
    for (char *at = text; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    return text;
}

struct extraction extraction_of_house(const struct house *house) {
    return (struct extraction){house->form, house->stage};
}

static evd_uuid take_id(struct reply reply) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, "id")), &id));
    reply_done(&reply);
    return id;
}

struct extraction extraction_add(struct house *house, unsigned number, const char *questions) {
    struct extraction made;
    char form[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house->project};
    unsigned id = 8000 + 10 * number;
    char *body = json_of("{'name':'Form %u','capacity':{'target':9},'questions':%s}", number, questions);
    made.form = ids.form = take_id(ask_ok(house, &evd_command_create_form, ids, house->admin, command_id(id), body));
    free(body);
    evd_uuid_format(made.form, form);
    body = json_of("{'name':'Stage of form %u','formId':'%s'}", number, form);
    made.stage = take_id(ask_ok(house, &evd_command_create_stage, ids, house->admin, command_id(id + 1), body));
    free(body);
    struct reply reply =
        ask_ok(house, &evd_command_publish_form, ids, house->admin, command_id(id + 2), "{\"baseVersion\":2}");
    reply_done(&reply);
    return made;
}

void extraction_publish_again(struct house *house, evd_uuid id) {
    struct evd_arena arena;
    evd_arena_init(&arena, 64 * EVD_MIB);
    struct evd_form *form = BEHIND_READ(house, form, id, &arena);
    struct evd_form_version *version =
        BEHIND_READ(house, form_version, evd_form_version_id(house->project, id, form->published_seq), &arena);
    form->published_seq++;
    version->seq = form->published_seq;
    version->base.id = evd_form_version_id(house->project, id, form->published_seq);
    BEHIND_INSERT(house, form_version, version);
    BEHIND_REPLACE(house, form, form);
    evd_arena_done(&arena);
}

struct evd_ids extraction_ids(const struct house *house, struct extraction where) {
    return (struct evd_ids){.project = house->project, .study = house->study, .form = where.form};
}

static char *quoted(const char *id) {
    return id == NULL ? json_of("null") : json_of("'%s'", id);
}

char *extraction_body(struct extraction where, const char *base, const char *members) {
    char stage[EVD_UUID_TEXT_BYTES + 1], *version = quoted(base);
    evd_uuid_format(where.stage, stage);
    char *body = json_of("{'stage':'%s','baseVersion':%s,'draft':null%s%s}", stage, version,
                         *members == '\0' ? "" : ",", members);
    free(version);
    return body;
}

struct reply extraction_ask(struct house *house, const struct evd_command *command, struct extraction where,
                            unsigned who, unsigned id, const char *base, const char *members) {
    char *body = extraction_body(where, base, members);
    struct reply reply = ask(house, command, extraction_ids(house, where), person(who), command_id(id), body);
    free(body);
    return reply;
}

struct reply extraction_save(struct house *house, struct extraction where, unsigned who, unsigned id, const char *base,
                             const char *question, const char *value, const char *base_revision) {
    char *revision = quoted(base_revision);
    char *members = json_of("'formVersion':1,'answers':[{'question':'%s','value':'%s','baseRevision':%s}]", question,
                            value, revision);
    struct reply reply = extraction_ask(house, &evd_command_save, where, who, id, base, members);
    ck_assert_msg(reply.code == EVD_OK, "%s", evd_outcome_entry_of(reply.code)->name);
    free(members);
    free(revision);
    return reply;
}

struct reply extraction_read(struct house *house, struct extraction where, unsigned who) {
    return ask_ok(house, &evd_command_get_session, extraction_ids(house, where), person(who), command_id(0), NULL);
}

json_t *extraction_answer(const struct reply *reply, const char *question) {
    json_t *answers = json_object_get(reply->body, "answers");
    for (size_t i = 0; i < json_array_size(answers); i++) {
        json_t *answer = json_array_get(answers, i);
        if (strcmp(json_string_value(json_object_get(answer, "question")), question) == 0) return answer;
    }
    ck_abort_msg("no answer to %s", question);
}

const char *member_of(const json_t *object, const char *member) {
    return json_string_value(json_object_get(object, member));
}
