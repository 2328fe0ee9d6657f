/*
 * What an administrator sets up: projects, members, forms, stages.
 */
#include "../support/house.h"
#include "../support/paging.h"

static const struct evd_ids none;
static struct house house;
static unsigned next_id = 100;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
}

static void end(void) {
    house_close(&house);
}

static struct evd_ids in_project(void) {
    return (struct evd_ids){.project = house.project};
}

static struct reply by(evd_uuid caller, const struct evd_command *command, struct evd_ids ids, const char *body) {
    return ask(&house, command, ids, caller, command_id(next_id++), body);
}

static struct reply by_admin(const struct evd_command *command, const char *body) {
    return by(house.admin, command, in_project(), body);
}

static void is(struct reply reply, enum evd_outcome_code code) {
    char *members = reply.body == NULL ? NULL : json_dumps(reply.body, 0);
    ck_assert_msg(reply.code == code, "%s: %s", evd_outcome_entry_of(reply.code)->name, members);
    free(members);
    reply_done(&reply);
}

static void is_refused(struct reply reply, enum evd_reason reason) {
    ck_assert_int_eq(reply.code, EVD_REFUSED);
    ck_assert_int_eq(reply.reason, reason);
    reply_done(&reply);
}

/* ValidationFailed with exactly these errors, in this order: pairs of pointer and code. */
static void is_invalid(struct reply reply, const char *const *expected, size_t count) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    json_t *errors = json_object_get(reply.body, "errors");
    for (size_t i = 0; i < count && i < json_array_size(errors); i++) {
        json_t *error = json_array_get(errors, i);
        ck_assert_str_eq(json_string_value(json_object_get(error, "pointer")), expected[2 * i]);
        ck_assert_str_eq(json_string_value(json_object_get(error, "code")), expected[2 * i + 1]);
    }
    ck_assert_uint_eq(json_array_size(errors), count);
    reply_done(&reply);
}

#define IS_INVALID(reply, ...)                                                                                         \
    is_invalid((reply), (const char *const[]){__VA_ARGS__},                                                            \
               sizeof((const char *const[]){__VA_ARGS__}) / (2 * sizeof(char *)))

static evd_uuid id_in(struct reply reply) {
    evd_uuid id;
    ck_assert_int_eq(reply.code, EVD_OK);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, "id")), &id));
    reply_done(&reply);
    return id;
}

/* Projects. */

START_TEST(creating_a_project_needs_the_scope) {
    begin();
    struct asked *asked =
        asked_new(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"P\"}");
    asked_call(asked)->may_create_projects = false;
    asked_go(asked);
    is_refused(asked_end(asked), EVD_REASON_PERMISSION);
    is(ask(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"P\"}"), EVD_OK);
    end();
}
END_TEST

START_TEST(a_project_is_made_once_however_often_it_is_asked_for) {
    begin();
    struct reply first = ask(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"P\"}");
    struct reply again = ask(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"P\"}");
    ck_assert(again.replayed);
    ck_assert_str_eq(first.text, again.text);
    is(ask(&house, &evd_command_create_project, none, person(1), command_id(1), "{\"name\":\"Q\"}"),
       EVD_COMMAND_DIGEST_MISMATCH);
    struct reply other = ask(&house, &evd_command_create_project, none, person(2), command_id(1), "{\"name\":\"P\"}");
    ck_assert(!other.replayed); /* the same id of another person is another project */
    ck_assert_str_ne(text_of(&other, "id"), text_of(&first, "id"));
    reply_done(&other);
    reply_done(&again);
    reply_done(&first);
    end();
}
END_TEST

START_TEST(who_made_a_project_is_its_administrator_and_nobody_else_sees_it) {
    begin();
    struct evd_ids ids = {.project = id_in(by(person(1), &evd_command_create_project, none, "{\"name\":\"  P \"}"))};
    struct reply seen = by(person(1), &evd_command_get_project, ids, NULL);
    ck_assert_str_eq(text_of(&seen, "name"), "  P ");
    json_t *roles = json_object_get(seen.body, "roles");
    ck_assert_uint_eq(json_array_size(roles), 1);
    ck_assert_str_eq(json_string_value(json_array_get(roles, 0)), "admin");
    is(by(house.admin, &evd_command_get_project, ids, NULL), EVD_NOT_FOUND);
    reply_done(&seen);
    end();
}
END_TEST

START_TEST(names_that_nobody_can_read_are_refused) {
    begin();
    IS_INVALID(by(person(1), &evd_command_create_project, none, "{\"name\":\" \\t\"}"), "/name", "blank");
    IS_INVALID(by_admin(&evd_command_create_stage, "{\"name\":\"\"}"), "/name", "blank");
    IS_INVALID(by_admin(&evd_command_create_form, "{\"name\":\" \",\"capacity\":{\"target\":1},\"questions\":[]}"),
               "/name", "blank");
    end();
}
END_TEST

/* Members. */

static char *member_body(evd_uuid whom, const char *roles) {
    char id[EVD_UUID_TEXT_BYTES + 1], *body;
    evd_uuid_format(whom, id);
    ck_assert_int_gt(asprintf(&body, "{\"investigatorId\":\"%s\",\"roles\":[%s]}", id, roles), 0);
    return body;
}

static struct reply set_member(evd_uuid caller, unsigned whom, const char *roles) {
    char *body = member_body(person(whom), roles);
    struct reply reply = by(caller, &evd_command_set_member, in_project(), body);
    free(body);
    return reply;
}

START_TEST(a_role_nobody_knows_is_refused_with_its_place) {
    begin();
    IS_INVALID(set_member(house.admin, 1, "\"reviewer\",\"emperor\""), "/roles/1", "unknownRole");
    is(by(person(1), &evd_command_get_project, in_project(), NULL), EVD_OK);
    end();
}
END_TEST

START_TEST(a_project_keeps_at_least_one_administrator) {
    begin();
    IS_INVALID(set_member(house.admin, 0, ""), "/roles", "lastAdmin");
    IS_INVALID(set_member(house.admin, 0, "\"reviewer\""), "/roles", "lastAdmin");
    is(set_member(house.admin, 1, "\"admin\""), EVD_OK);
    is(set_member(house.admin, 0, "\"reviewer\""), EVD_OK);
    IS_INVALID(set_member(person(1), 1, "\"observer\""), "/roles", "lastAdmin");
    is(set_member(person(1), 2, ""), EVD_OK); /* somebody else may still go */
    end();
}
END_TEST

START_TEST(roles_hold_from_the_next_command_on) {
    begin();
    is_refused(set_member(person(1), 2, "\"admin\""), EVD_REASON_PERMISSION);
    is(set_member(house.admin, 1, "\"admin\",\"reviewer\""), EVD_OK);
    is(set_member(person(1), 20, "\"observer\""), EVD_OK);
    is(by(person(20), &evd_command_get_project, in_project(), NULL), EVD_OK);
    is_refused(by(person(20), &evd_command_create_stage, in_project(), "{\"name\":\"S\"}"), EVD_REASON_PERMISSION);
    is(set_member(house.admin, 20, ""), EVD_OK);
    is(by(person(20), &evd_command_get_project, in_project(), NULL), EVD_NOT_FOUND);
    is(set_member(house.admin, 20, "\"reconciler\""), EVD_OK); /* and may come back */
    is(by(person(20), &evd_command_list_members, in_project(), NULL), EVD_OK);
    is_refused(by(person(2), &evd_command_list_members, in_project(), NULL), EVD_REASON_PERMISSION);
    end();
}
END_TEST

static struct reply as_operator(const struct evd_command *command, struct evd_ids ids, const char *body) {
    struct asked *asked = asked_new(&house, command, ids, person(99), command_id(next_id++), body);
    asked_call(asked)->is_operator = true;
    asked_go(asked);
    return asked_end(asked);
}

START_TEST(the_operator_sets_members_of_any_project_that_exists) {
    begin();
    char *body = member_body(person(30), "\"admin\"");
    for (unsigned i = 0; i < 2; i++) {
        struct evd_ids ids = {.project = i == 0 ? house.project : person(7)};
        is(as_operator(&evd_command_set_member, ids, body), i == 0 ? EVD_OK : EVD_NOT_FOUND);
    }
    is(set_member(person(30), 31, "\"observer\""), EVD_OK);
    free(body);
    end();
}
END_TEST

START_TEST(for_anything_else_the_operator_needs_a_membership) {
    size_t count;
    begin();
    const struct evd_command *const *table = evd_command_table(&count);
    for (size_t i = 0; i < count; i++)
        if (table[i]->request == NULL && !table[i]->operator_may && !table[i]->outside)
            is(as_operator(table[i], session_ids(&house), NULL), EVD_NOT_FOUND);
    char *body = save_body(&house, NULL, 1, 2, "a");
    is(as_operator(&evd_command_save, session_ids(&house), body), EVD_NOT_FOUND);
    is(as_operator(&evd_command_create_stage, session_ids(&house), "{\"name\":\"S\"}"), EVD_NOT_FOUND);
    is(set_member(house.admin, 99, "\"reviewer\""), EVD_OK);
    is(as_operator(&evd_command_save, session_ids(&house), body), EVD_OK);
    free(body);
    end();
}
END_TEST

/* Forms. */

static struct reply create_form(const char *capacity, const char *questions) {
    char *body;
    ck_assert_int_gt(asprintf(&body, "{\"name\":\"F\",\"capacity\":%s,\"questions\":[%s]}", capacity, questions), 0);
    struct reply reply = by_admin(&evd_command_create_form, body);
    free(body);
    return reply;
}

#define TEXT_QUESTION "{\"id\":\"q\",\"label\":\"Q\",\"kind\":\"text\"}"

START_TEST(a_forms_capacity_is_a_target_and_a_cap_of_at_least_that) {
    begin();
    is(create_form("{\"target\":1}", TEXT_QUESTION), EVD_OK);
    is(create_form("{\"target\":100,\"cap\":100}", TEXT_QUESTION), EVD_OK);
    is(create_form("{\"target\":2,\"cap\":3}", TEXT_QUESTION), EVD_OK);
    IS_INVALID(create_form("{\"target\":3,\"cap\":2}", TEXT_QUESTION), "/capacity/cap", "outOfRange");
    is(create_form("{\"target\":0}", TEXT_QUESTION), EVD_MALFORMED);
    is(create_form("{\"target\":101}", TEXT_QUESTION), EVD_MALFORMED);
    is(create_form("{\"target\":1,\"cap\":101}", TEXT_QUESTION), EVD_MALFORMED);
    is(create_form("{}", TEXT_QUESTION), EVD_MALFORMED);
    end();
}
END_TEST

static struct reply publish(evd_uuid form, unsigned base) {
    char body[60];
    struct evd_ids ids = {.project = house.project, .form = form};
    (void)snprintf(body, sizeof body, "{\"baseVersion\":%u}", base);
    return by(house.admin, &evd_command_publish_form, ids, body);
}

START_TEST(a_definition_that_breaks_rules_is_kept_as_a_draft_and_all_its_errors_come_at_publication) {
    begin();
    evd_uuid form = id_in(create_form(
        "{\"target\":1}", "{\"id\":\"a b\",\"label\":\"L\",\"kind\":\"text\"},"
                          "{\"id\":\"c\",\"label\":\" \",\"kind\":\"choice\"},"
                          "{\"id\":\"c\",\"label\":\"L\",\"kind\":\"text\",\"min\":\"1\"},"
                          "{\"id\":\"d\",\"label\":\"L\",\"kind\":\"integer\",\"min\":\"2\",\"max\":\"1\"}"));
    IS_INVALID(publish(form, 1), "/questions/0/id", "malformedId", "/questions/1/label", "blankLabel",
               "/questions/1/options", "optionsMissing", "/questions/2/id", "duplicateId", "/questions/2/min",
               "boundNotAllowed", "/questions/3/min", "boundsReversed");
    struct evd_ids ids = {.project = house.project, .form = form};
    struct reply seen = by(person(1), &evd_command_get_form, ids, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(seen.body, "draft")), 4);
    ck_assert(json_is_null(json_object_get(seen.body, "publishedVersion")));
    reply_done(&seen);
    end();
}
END_TEST

START_TEST(a_form_without_questions_cannot_be_published) {
    begin();
    evd_uuid form = id_in(create_form("{\"target\":1}", ""));
    IS_INVALID(publish(form, 1), "/questions", "empty");
    end();
}
END_TEST

START_TEST(a_publication_on_an_old_base_is_stale_and_names_both) {
    begin();
    evd_uuid form = id_in(create_form("{\"target\":1}", TEXT_QUESTION));
    struct reply stale = publish(form, 7);
    ck_assert_int_eq(stale.code, EVD_STALE_BASE);
    ck_assert_str_eq(text_of(&stale, "base"), "form");
    ck_assert_int_eq(number_of(&stale, "declared"), 7);
    ck_assert_int_eq(number_of(&stale, "current"), 1);
    reply_done(&stale);
    end();
}
END_TEST

START_TEST(a_form_is_published_once_for_now) {
    begin();
    evd_uuid form = id_in(create_form("{\"target\":1}", TEXT_QUESTION));
    struct reply published = publish(form, 1);
    ck_assert_int_eq(published.code, EVD_OK);
    ck_assert_int_eq(number_of(&published, "formVersion"), 1);
    ck_assert_int_eq(number_of(&published, "version"), 2);
    struct evd_ids ids = {.project = house.project, .form = form};
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&published, "formVersionId")), &ids.version));
    is(by(person(1), &evd_command_get_form_version, ids, NULL), EVD_OK);
    ids.form = house.form;
    is(by(person(1), &evd_command_get_form_version, ids, NULL), EVD_NOT_FOUND); /* of another form */
    is_refused(publish(form, 2), EVD_REASON_NOT_YET_AVAILABLE);
    is_refused(publish(form, 1), EVD_REASON_NOT_YET_AVAILABLE);
    is(publish(person(3), 1), EVD_NOT_FOUND);
    reply_done(&published);
    end();
}
END_TEST

/* Stages. */

static struct reply create_stage(const char *name, evd_uuid form) {
    char *body, id[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(form, id);
    ck_assert_int_gt(asprintf(&body, "{\"name\":\"%s\",\"formId\":\"%s\"}", name, id), 0);
    struct reply reply = by_admin(&evd_command_create_stage, body);
    free(body);
    return reply;
}

START_TEST(a_stage_may_bind_a_form_until_it_is_published) {
    begin();
    is(by_admin(&evd_command_create_stage, "{\"name\":\"Without a form\"}"), EVD_OK);
    is_refused(create_stage("Late", house.form), EVD_REASON_NOT_YET_AVAILABLE);
    IS_INVALID(create_stage("Lost", person(3)), "/formId", "unknownForm");
    evd_uuid form = id_in(create_form("{\"target\":1}", TEXT_QUESTION));
    struct evd_ids ids = {.project = house.project, .form = form, .stage = id_in(create_stage("In time", form))};
    struct reply seen = by(person(1), &evd_command_get_form, ids, NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(seen.body, "stages")), 1);
    ck_assert_int_eq(number_of(&seen, "version"), 2);
    struct reply stage = by(person(1), &evd_command_get_stage, ids, NULL);
    ck_assert_str_eq(text_of(&stage, "formId"), text_of(&seen, "id"));
    ck_assert_str_eq(text_of(&stage, "status"), "Active");
    ck_assert_int_eq(number_of(&stage, "sessionTimeoutMinutes"), 120);
    is(publish(form, 1), EVD_STALE_BASE); /* the binding changed the form */
    is(publish(form, 2), EVD_OK);
    reply_done(&stage);
    reply_done(&seen);
    end();
}
END_TEST

START_TEST(a_form_is_bound_to_at_most_32_stages) {
    begin();
    evd_uuid form = id_in(create_form("{\"target\":1}", TEXT_QUESTION));
    for (unsigned i = 0; i < EVD_LIMIT_BOUND_STAGES; i++)
        is(create_stage("S", form), EVD_OK);
    is(create_stage("S", form), EVD_SIZE_LIMIT_EXCEEDED);
    end();
}
END_TEST

START_TEST(a_stages_times_have_bounds) {
    begin();
    is(by_admin(&evd_command_create_stage, "{\"name\":\"S\",\"sessionTimeoutMinutes\":10080}"), EVD_OK);
    is(by_admin(&evd_command_create_stage, "{\"name\":\"S\",\"sessionTimeoutMinutes\":10081}"), EVD_MALFORMED);
    is(by_admin(&evd_command_create_stage, "{\"name\":\"S\",\"suspendedGraceMinutes\":0}"), EVD_MALFORMED);
    end();
}
END_TEST

/* Lists. */

static size_t count_through(const struct evd_command *list, size_t limit, const char *key) {
    json_t *all = page_through(&house, list, in_project(), house.admin, limit, key);
    size_t count = json_array_size(all);
    json_decref(all);
    return count;
}

/* Names that agree in more bytes than an index keeps, and names that agree whole. */
static void add_namesakes(unsigned count) {
    char name[302];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (unsigned i = 0; i < count; i++) {
        char *body;
        name[sizeof name - 2] = (char)('a' + i / 2);
        ck_assert_int_gt(asprintf(&body, "{\"name\":\"%s\",\"capacity\":{\"target\":1},\"questions\":[]}", name), 0);
        is(by_admin(&evd_command_create_form, body), EVD_OK);
        free(body);
        ck_assert_int_gt(asprintf(&body, "{\"name\":\"%s\"}", name), 0);
        is(by_admin(&evd_command_create_stage, body), EVD_OK);
        free(body);
    }
}

START_TEST(paging_through_a_list_one_by_one_gives_each_once) {
    begin();
    add_namesakes(7);
    for (size_t limit = 1; limit <= 4; limit++) {
        ck_assert_uint_eq(count_through(&evd_command_list_members, limit, "investigatorId"), 10);
        ck_assert_uint_eq(count_through(&evd_command_list_forms, limit, "id"), 1 + 7);
        ck_assert_uint_eq(count_through(&evd_command_list_stages, limit, "id"), 2 + 7);
    }
    end();
}
END_TEST

START_TEST(a_cursor_no_list_gave_is_malformed) {
    static const char *const wrong[] = {"",
                                        "x",
                                        "0",
                                        "zz",
                                        "00112233445566778899aabbccddee",
                                        "00112233445566778899AABBCCDDEEFF",
                                        "00112233445566778899aabbccddeeff0"};
    begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        is(ask_page(&house, &evd_command_list_forms, in_project(), house.admin, 1, wrong[i]), EVD_MALFORMED);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: what administrators set up", creating_a_project_needs_the_scope,
              a_project_is_made_once_however_often_it_is_asked_for,
              who_made_a_project_is_its_administrator_and_nobody_else_sees_it, names_that_nobody_can_read_are_refused,
              a_role_nobody_knows_is_refused_with_its_place, a_project_keeps_at_least_one_administrator,
              roles_hold_from_the_next_command_on, the_operator_sets_members_of_any_project_that_exists,
              for_anything_else_the_operator_needs_a_membership,
              a_forms_capacity_is_a_target_and_a_cap_of_at_least_that,
              a_definition_that_breaks_rules_is_kept_as_a_draft_and_all_its_errors_come_at_publication,
              a_form_without_questions_cannot_be_published, a_publication_on_an_old_base_is_stale_and_names_both,
              a_form_is_published_once_for_now, a_stage_may_bind_a_form_until_it_is_published,
              a_form_is_bound_to_at_most_32_stages, a_stages_times_have_bounds,
              paging_through_a_list_one_by_one_gives_each_once, a_cursor_no_list_gave_is_malformed)
