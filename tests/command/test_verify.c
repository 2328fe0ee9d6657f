/*
 * Verification: nothing is found in a healthy project, and each kind of damage is found where it is.
 */
#include "../support/behind.h"
#include "../support/damages.h"
#include "../support/review.h"
#include "../support/typist.h"

#include "evidenced/domain/pins.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct evd_arena arena;
static evd_uuid *studies, first, second, other; /* versions of two reviewers on studies[0] */

enum { STUDIES = 5, PAGE = 100 };

#define FORM "[{'id':'design','kind':'text','required':true},{'id':'n','kind':'integer'},{'id':'extra','kind':'text'}]"

/* Two versions of one session, one of another, a form shared by nobody, exposures, identities. */
static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, FORM);
    evd_arena_init(&arena, 8 * EVD_MIB);
    studies = review_studies(&house, STUDIES);
    first = review_save(&house, &evd_command_save, 1, studies[0], NULL,
                        "[{'question':'design','value':'rct'},{'question':'n','value':1}]");
    other = review_complete(&house, 2, studies[0], "[{'question':'design','value':'obs'}]");
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(&house, pin_map, first, &arena)->pins, &pins));
    for (size_t i = 0; i < pins.count; i++) {
        struct evd_annotation_revision *revision =
            BEHIND_READ(&house, annotation_revision, pins.items[i].revision, &arena);
        char answers[300], id[EVD_UUID_TEXT_BYTES + 1];
        if (!evd_text_equal(revision->question, EVD_TEXT("n"))) continue;
        evd_uuid_format(revision->base.id, id);
        (void)snprintf(answers, sizeof answers, "[{'question':'n','value':2,'baseRevision':'%s'}]", id);
        second = review_save(&house, &evd_command_complete, 1, studies[0], &first, answers);
    }
    for (size_t i = 1; i < STUDIES; i++)
        (void)review_complete(&house, 1 + i % 3, studies[i], "[{'question':'design','value':'rct'}]");
    damages_on(&(struct damaged){&house, &arena, studies, first, second, other});
}

static void end(void) {
    free(studies);
    evd_arena_done(&arena);
    house_close(&house);
}

/* Lines. */

static struct streamed verify(size_t page) {
    struct evd_ids ids = {.project = house.project};
    struct streamed streamed = ask_streamed(&house, &evd_command_verify_project, ids, house.admin, page);
    ck_assert_int_eq(streamed.code, EVD_OK);
    return streamed;
}

/* The lines as a JSON list; the last one is the summary. */
static json_t *lines_of(const struct streamed *streamed) {
    json_t *lines = json_array();
    for (char *at = streamed->bytes, *line_end; *at != '\0'; at = line_end + 1) {
        line_end = strchr(at, '\n');
        ck_assert_ptr_nonnull(line_end);
        json_t *line = json_loadb(at, (size_t)(line_end - at), JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(line != NULL, "%.*s", (int)(line_end - at), at);
        (void)json_array_append_new(lines, line);
    }
    return lines;
}

static json_int_t summed(json_t *lines, const char *member) {
    json_t *last = json_array_get(lines, json_array_size(lines) - 1);
    json_t *number = json_object_get(json_object_get(last, "summary"), member);
    ck_assert_msg(json_is_integer(number), "no %s in the summary", member);
    return json_integer_value(number);
}

static size_t count_findings(json_t *lines, const char *check, const char *record) {
    size_t i, count = 0;
    json_t *line;
    json_array_foreach(lines, i, line) {
        const char *of = json_string_value(json_object_get(line, "check"));
        const char *in = json_string_value(json_object_get(line, "record"));
        count += of != NULL && strcmp(of, check) == 0 && strcmp(in, record) == 0;
    }
    return count;
}

START_TEST(nothing_is_found_in_a_healthy_project) {
    static const size_t pages[] = {1, 3, PAGE};
    begin();
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct streamed streamed = verify(pages[i]);
        json_t *lines = lines_of(&streamed);
        ck_assert_msg(json_array_size(lines) == 1, "%s", streamed.bytes);
        ck_assert_int_eq(summed(lines, "findings"), 0);
        ck_assert_int_eq(summed(lines, "forms"), 2);
        ck_assert_int_eq(summed(lines, "stages"), 3);
        ck_assert_int_eq(summed(lines, "studies"), STUDIES + 2);
        ck_assert_int_eq(summed(lines, "identities"), STUDIES);
        ck_assert_int_eq(summed(lines, "sessions"), STUDIES + 1);
        ck_assert_int_eq(summed(lines, "versions"), STUDIES + 2);
        ck_assert_int_eq(summed(lines, "revisions"), STUDIES + 3);
        json_decref(lines);
        streamed_done(&streamed);
    }
    end();
}
END_TEST

/* The reviewer says what of others they were shown. */
static void save_exposed(unsigned who, evd_uuid study, evd_uuid shown) {
    char stage[EVD_UUID_TEXT_BYTES + 1], revision[EVD_UUID_TEXT_BYTES + 1], body[500];
    evd_uuid_format(house.stage, stage);
    evd_uuid_format(shown, revision);
    (void)snprintf(body, sizeof body,
                   "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":null,\"draft\":null,\"exposures\":[\"%s\"],"
                   "\"answers\":[{\"question\":\"design\",\"value\":\"rct\",\"baseRevision\":null}]}",
                   stage, revision);
    struct reply reply = ask_ok(&house, &evd_command_save, review_ids(&house, study), person(who), command_id(1), body);
    reply_done(&reply);
}

static void type(unsigned who) {
    struct typist typist = typist_new(&house, who, 1);
    char *content = typed("design", "half a word");
    typist_put_ok(&typist, content);
    free(content);
}

/* Drafts alone, withdrawn sessions, what reviewers were shown, an answer that two forms share. */
START_TEST(nothing_is_found_whatever_reviewers_have_done) {
    begin();
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(&house, pin_map, other, &arena)->pins, &pins));
    type(5);
    save_exposed(6, studies[0], pins.items[0].revision);
    review_withdraw(&house, 2, studies[0], other);
    review_form(&house, "[{'id':'design','kind':'text'},{'id':'more','kind':'text'}]");
    (void)review_complete(&house, 1, studies[0], "[{'question':'design','value':'rct'}]");
    struct streamed streamed = verify(2);
    json_t *lines = lines_of(&streamed);
    ck_assert_msg(json_array_size(lines) == 1, "%s", streamed.bytes);
    ck_assert_int_eq(summed(lines, "sessions"), STUDIES + 4);
    ck_assert_int_eq(summed(lines, "versions"), STUDIES + 5);
    ck_assert_int_eq(summed(lines, "revisions"), STUDIES + 4);
    ck_assert_int_eq(summed(lines, "exposures"), 1);
    json_decref(lines);
    streamed_done(&streamed);
    end();
}
END_TEST

START_TEST(nothing_is_found_in_a_project_with_nothing_in_it) {
    house_open(&house, 0);
    house_furnish(&house, 1, 1);
    struct evd_ids none = {0};
    struct reply made =
        ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(1), "{\"name\":\"Empty\"}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.project));
    struct streamed streamed = verify(PAGE);
    json_t *lines = lines_of(&streamed);
    ck_assert_uint_eq(json_array_size(lines), 1);
    json_decref(lines);
    streamed_done(&streamed);
    reply_done(&made);
    house_close(&house);
}
END_TEST

/* What is found says ids and numbers, and never what a person typed. */
static void expect_nothing_typed(const struct streamed *streamed) {
    static const char *const typed[] = {"rct", "obs", "Study ", "Ay, B", "design", "Every kind", "Extraction"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        ck_assert_msg(strstr(streamed->bytes, typed[i]) == NULL, "%s", streamed->bytes);
}

START_TEST(each_kind_of_damage_is_found_where_it_is_and_told_without_answers_or_names) {
    for (size_t i = 0; i < damages_count; i++) {
        begin();
        damages[i].plant();
        struct streamed streamed = verify(PAGE), paged = verify(1);
        json_t *lines = lines_of(&streamed);
        ck_assert_msg(count_findings(lines, damages[i].check, damages[i].record) > 0, "%s: %s", damages[i].name,
                      streamed.bytes);
        ck_assert_int_eq(summed(lines, "findings"), (json_int_t)json_array_size(lines) - 1);
        ck_assert_msg(strcmp(streamed.bytes, paged.bytes) == 0, "%s:\n%s\n%s", damages[i].name, streamed.bytes,
                      paged.bytes);
        expect_nothing_typed(&streamed);
        json_decref(lines);
        streamed_done(&paged);
        streamed_done(&streamed);
        end();
    }
}
END_TEST

/* Every kind of check is among them: none that cannot fail. */
START_TEST(every_check_has_a_damage_that_it_finds) {
    for (int check = 1; check < (int)evd_names_integrity_check.count; check++) {
        size_t count = 0;
        for (size_t i = 0; i < damages_count; i++)
            count += strcmp(damages[i].check, evd_names_integrity_check.names[check]) == 0;
        ck_assert_msg(count > 0, "%s", evd_names_integrity_check.names[check]);
    }
}
END_TEST

START_TEST(more_findings_than_are_shown_are_counted) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, FORM);
    evd_arena_init(&arena, 8 * EVD_MIB);
    enum { MANY = EVD_LIMIT_FINDINGS + 50 };
    studies = review_studies(&house, MANY);
    damages_on(&(struct damaged){.house = &house, .arena = &arena, .studies = studies});
    for (size_t i = 0; i < MANY; i++)
        behind_lose(&house, EVD_IN_STUDY_IDENTITY, damages_identity_of(studies[i]));
    struct streamed streamed = verify(PAGE);
    json_t *lines = lines_of(&streamed);
    ck_assert_uint_eq(json_array_size(lines), EVD_LIMIT_FINDINGS + 1);
    ck_assert_int_eq(summed(lines, "findings"), MANY);
    ck_assert_int_eq(summed(lines, "shown"), EVD_LIMIT_FINDINGS);
    ck_assert_int_eq(summed(lines, "studies"), MANY + 2);
    json_decref(lines);
    streamed_done(&streamed);
    end();
}
END_TEST

START_TEST(administrators_and_the_operator_may_verify_and_nobody_else) {
    begin();
    struct evd_ids ids = {.project = house.project};
    review_roles(&house, 2, "['reconciler','reviewer','observer']");
    struct streamed reviewer = ask_streamed(&house, &evd_command_verify_project, ids, person(2), PAGE);
    ck_assert_int_eq(reviewer.code, EVD_REFUSED);
    struct streamed stranger = ask_streamed(&house, &evd_command_verify_project, ids, person(60), PAGE);
    ck_assert_int_eq(stranger.code, EVD_NOT_FOUND);
    struct streamed operators = {0};
    struct asked *asked = asked_new(&house, &evd_command_verify_project, ids, person(61), evd_uuid_nil(), NULL);
    asked_call(asked)->is_operator = true;
    while (asked_piece(asked, &operators)) {
    }
    ck_assert_int_eq(operators.code, EVD_OK);
    struct streamed own = verify(PAGE);
    ck_assert_str_eq(operators.bytes, own.bytes);
    asked_drop(asked);
    streamed_done(&reviewer);
    streamed_done(&stranger);
    streamed_done(&operators);
    streamed_done(&own);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: verification", nothing_is_found_in_a_healthy_project,
              nothing_is_found_whatever_reviewers_have_done, nothing_is_found_in_a_project_with_nothing_in_it,
              each_kind_of_damage_is_found_where_it_is_and_told_without_answers_or_names,
              every_check_has_a_damage_that_it_finds, more_findings_than_are_shown_are_counted,
              administrators_and_the_operator_may_verify_and_nobody_else)
