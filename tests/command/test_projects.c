/*
 * Which projects a person finds: those they have a role in, at once and no longer; the operator all.
 */
#include "../support/extraction.h"
#include "../support/paging.h"

static const struct evd_ids none;
static struct house house;
static unsigned next_id = 100;

static void begin(void) {
    house_open(&house, 0);
}

static void end(void) {
    house_close(&house);
}

static evd_uuid create(unsigned who, const char *name) {
    evd_uuid id;
    char *body = json_of("{'name':'%s'}", name);
    struct reply reply = ask_ok(&house, &evd_command_create_project, none, person(who), command_id(next_id++), body);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, "id")), &id));
    reply_done(&reply);
    free(body);
    return id;
}

static void set_roles(evd_uuid project, unsigned by, unsigned who, const char *roles) {
    char id[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = project};
    evd_uuid_format(person(who), id);
    char *body = json_of("{'investigatorId':'%s','roles':[%s]}", id, roles);
    struct reply reply = ask_ok(&house, &evd_command_set_member, ids, person(by), command_id(next_id++), body);
    reply_done(&reply);
    free(body);
}

static struct reply list(unsigned who, bool is_operator) {
    struct asked *asked = asked_new(&house, &evd_command_list_projects, none, person(who), command_id(0), NULL);
    asked_call(asked)->is_operator = is_operator;
    asked_go(asked);
    struct reply reply = asked_end(asked);
    ck_assert_int_eq(reply.code, EVD_OK);
    return reply;
}

/* `name:roles` of each, joined by `; `. */
static void finds_as(unsigned who, bool is_operator, const char *expected) {
    char found[400] = "";
    struct reply reply = list(who, is_operator);
    json_t *items = json_object_get(reply.body, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        json_t *item = json_array_get(items, i), *roles = json_object_get(item, "roles");
        size_t at = strlen(found);
        (void)snprintf(found + at, sizeof found - at, "%s%s:", i == 0 ? "" : "; ", member_of(item, "name"));
        for (size_t r = 0; r < json_array_size(roles); r++) {
            at = strlen(found);
            (void)snprintf(found + at, sizeof found - at, "%s%s", r == 0 ? "" : ",",
                           json_string_value(json_array_get(roles, r)));
        }
    }
    ck_assert_str_eq(found, expected);
    reply_done(&reply);
}

static void finds(unsigned who, const char *expected) {
    finds_as(who, false, expected);
}

START_TEST(a_person_finds_the_projects_they_have_a_role_in_by_name_and_no_others) {
    begin();
    evd_uuid beta = create(1, "Beta"), alpha = create(2, "Alpha");
    finds(1, "Beta:admin");
    finds(2, "Alpha:admin");
    finds(3, "");
    set_roles(alpha, 2, 1, "'reviewer','observer'");
    set_roles(beta, 1, 3, "'reviewer'");
    finds(1, "Alpha:reviewer,observer; Beta:admin");
    finds(2, "Alpha:admin");
    finds(3, "Beta:reviewer");
    end();
}
END_TEST

START_TEST(who_loses_all_roles_finds_the_project_no_more_and_again_when_they_come_back) {
    begin();
    evd_uuid project = create(1, "Alpha");
    set_roles(project, 1, 2, "'reviewer'");
    set_roles(project, 1, 2, "'reconciler'");
    finds(2, "Alpha:reconciler");
    set_roles(project, 1, 2, "");
    finds(2, "");
    set_roles(project, 1, 2, "");
    finds(2, "");
    set_roles(project, 1, 2, "'observer'");
    finds(2, "Alpha:observer");
    end();
}
END_TEST

START_TEST(what_a_person_finds_survives_a_restart_and_leads_to_the_project) {
    begin();
    evd_uuid project = create(1, "Alpha");
    house_restart(&house);
    struct reply reply = list(1, false);
    struct evd_ids ids = none;
    ck_assert(evd_uuid_parse(evd_text_from(member_of(json_array_get(json_object_get(reply.body, "items"), 0), "id")),
                             &ids.project));
    ck_assert(evd_uuid_equal(ids.project, project));
    struct reply read = ask_ok(&house, &evd_command_get_project, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&read, "name"), "Alpha");
    reply_done(&read);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(the_operator_finds_every_project_once_however_many_work_in_it) {
    begin();
    evd_uuid beta = create(1, "Beta");
    (void)create(2, "Alpha");
    set_roles(beta, 1, 2, "'reviewer'");
    set_roles(beta, 1, 3, "'reviewer'");
    finds_as(99, true, "Alpha:; Beta:");
    finds_as(99, false, "");
    end();
}
END_TEST

START_TEST(projects_of_one_name_are_each_found_once_in_pages_of_any_size) {
    begin();
    for (unsigned i = 0; i < 7; i++)
        (void)create(1, i < 5 ? "The same" : "Another");
    for (size_t limit = 1; limit <= 8; limit++) {
        json_t *ids = page_through(&house, &evd_command_list_projects, none, person(1), limit, "id");
        ck_assert_uint_eq(json_array_size(ids), 7);
        json_decref(ids);
    }
    struct reply odd = ask_page(&house, &evd_command_list_projects, none, person(1), 5, "00");
    ck_assert_int_eq(odd.code, EVD_MALFORMED);
    reply_done(&odd);
    end();
}
END_TEST

START_TEST(a_project_that_is_created_twice_with_one_key_is_found_once) {
    begin();
    for (unsigned i = 0; i < 2; i++) {
        next_id = 100;
        (void)create(1, "Alpha");
    }
    finds(1, "Alpha:admin");
    finds_as(99, true, "Alpha:");
    end();
}
END_TEST

EVD_TEST_MAIN("commands: finding projects", a_person_finds_the_projects_they_have_a_role_in_by_name_and_no_others,
              who_loses_all_roles_finds_the_project_no_more_and_again_when_they_come_back,
              what_a_person_finds_survives_a_restart_and_leads_to_the_project,
              the_operator_finds_every_project_once_however_many_work_in_it,
              projects_of_one_name_are_each_found_once_in_pages_of_any_size,
              a_project_that_is_created_twice_with_one_key_is_found_once)
