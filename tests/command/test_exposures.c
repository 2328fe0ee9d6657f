/*
 * Exposures: recorded once for each version and revision, told with a version or late; and the class derived of them.
 */
#include "../support/behind.h"
#include "../support/extraction.h"

#include "evidenced/base/arena.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct extraction form;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 9);
    form = extraction_of_house(&house);
}

static void end(void) {
    house_close(&house);
}

/* Reviewer 2's answer to q1 on a study; the revision's id is the caller's to free. */
static char *others_revision(evd_uuid study, unsigned id) {
    evd_uuid first = house.study;
    house.study = study;
    struct reply saved = extraction_save(&house, form, 2, id, NULL, "q1", "theirs", NULL);
    char *revision = strdup(member_of(extraction_answer(&saved, "q1"), "revision"));
    reply_done(&saved);
    house.study = first;
    return revision;
}

/* A command of reviewer 1 that names `exposures`, a JSON list with ' for ", or NULL: it says nothing of them. */
static struct reply make_version(const struct evd_command *command, unsigned id, const char *base, const char *others,
                                 const char *exposures) {
    char *members = json_of("%s%s%s%s", others, exposures == NULL || *others == '\0' ? "" : ",",
                            exposures == NULL ? "" : "'exposures':", exposures == NULL ? "" : exposures);
    struct reply reply = extraction_ask(&house, command, form, 1, id, base, members);
    free(members);
    return reply;
}

static struct reply save_seeing(unsigned id, const char *base, const char *exposures) {
    return make_version(&evd_command_save, id, base, "'formVersion':1,'answers':[]", exposures);
}

/* One more version; frees the base and gives the next. */
static char *next_version(unsigned id, char *base, const char *exposures) {
    struct reply reply = save_seeing(id, base, exposures);
    ck_assert_int_eq(reply.code, EVD_OK);
    free(base);
    base = strdup(text_of(&reply, "versionId"));
    reply_done(&reply);
    return base;
}

static struct reply tell_late(unsigned who, unsigned id, const char *version, const char *revisions) {
    char *body = json_of("{'version':'%s','revisions':%s}", version, revisions);
    struct reply reply =
        ask(&house, &evd_command_record_exposures, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

static size_t recorded(unsigned who) {
    struct evd_value session = {.kind = EVD_VALUE_UUID};
    session.uuid = evd_form_session_id(house.project, house.study, house.form, person(who));
    return behind_count(&house, EVD_INDEX_exposures_of_session, &session, 1);
}

/* The classes of all versions of reviewer 1's session, oldest first, a letter each: i, ! and ? for independent,
 * informed and unknown. The session shows the newest's. */
static void classes_are(const char *expected) {
    struct reply list =
        ask_ok(&house, &evd_command_list_session_versions, session_ids(&house), person(1), command_id(0), NULL);
    struct reply session = extraction_read(&house, form, 1);
    json_t *items = json_object_get(list.body, "items");
    char letters[32] = "";
    ck_assert_uint_lt(json_array_size(items), sizeof letters);
    for (size_t i = 0; i < json_array_size(items); i++) {
        const char *class = member_of(json_array_get(items, i), "exposureClass");
        letters[i] = strcmp(class, "independent") == 0 ? 'i' : strcmp(class, "informed") == 0 ? '!' : '?';
        if (i + 1 == json_array_size(items)) ck_assert_str_eq(text_of(&session, "exposureClass"), class);
    }
    ck_assert_str_eq(letters, expected);
    reply_done(&session);
    reply_done(&list);
}

static void is_invalid(struct reply reply, const char *pointer, const char *code) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    json_t *errors = json_object_get(reply.body, "errors");
    ck_assert_uint_eq(json_array_size(errors), 1);
    ck_assert_str_eq(member_of(json_array_get(errors, 0), "pointer"), pointer);
    ck_assert_str_eq(member_of(json_array_get(errors, 0), "code"), code);
    reply_done(&reply);
}

START_TEST(an_exposure_is_recorded_once_for_each_version_and_revision) {
    begin();
    char *revision = others_revision(house.study, 1);
    char *twice = json_of("['%s','%s']", revision, revision), *once = json_of("['%s']", revision);
    char *first = next_version(10, NULL, twice);
    ck_assert_uint_eq(recorded(1), 1);
    struct reply late = tell_late(1, 11, first, twice);
    ck_assert_int_eq(number_of(&late, "recorded"), 1);
    ck_assert_uint_eq(recorded(1), 1);
    struct reply again = tell_late(1, 11, first, twice);
    ck_assert(again.replayed);
    char *second = next_version(12, first, once);
    ck_assert_uint_eq(recorded(1), 2);
    reply_done(&again);
    reply_done(&late);
    free(second);
    free(once);
    free(twice);
    free(revision);
    end();
}
END_TEST

START_TEST(the_class_is_independent_only_while_every_version_said_that_nothing_was_shown) {
    begin();
    char *base = next_version(10, NULL, "[]");
    classes_are("i");
    base = next_version(11, base, "[]");
    classes_are("ii");
    base = next_version(12, base, NULL);
    classes_are("ii?");
    base = next_version(13, base, "[]"); /* what it saw before nobody said */
    classes_are("ii??");
    free(base);
    end();
}
END_TEST

START_TEST(once_informed_every_later_version_is) {
    begin();
    char *revision = others_revision(house.study, 1), *shown = json_of("['%s']", revision);
    char *base = next_version(10, NULL, "[]");
    base = next_version(11, base, shown);
    classes_are("i!");
    base = next_version(12, base, "[]");
    base = next_version(13, base, NULL);
    classes_are("i!!!");
    free(base);
    free(shown);
    free(revision);
    end();
}
END_TEST

START_TEST(an_exposure_told_late_downgrades_the_version_it_was_before_and_all_later_ones) {
    begin();
    char *revision = others_revision(house.study, 1), *shown = json_of("['%s']", revision);
    char *first = next_version(10, NULL, "[]"), *second = next_version(11, strdup(first), "[]");
    char *third = next_version(12, strdup(second), "[]");
    classes_are("iii");
    struct reply late = tell_late(1, 13, second, shown);
    ck_assert_int_eq(late.code, EVD_OK);
    ck_assert_str_eq(text_of(&late, "versionId"), second);
    classes_are("i!!");
    struct reply earlier = tell_late(1, 14, first, shown);
    ck_assert_int_eq(earlier.code, EVD_OK);
    classes_are("!!!");
    reply_done(&earlier);
    reply_done(&late);
    free(third);
    free(second);
    free(first);
    free(shown);
    free(revision);
    end();
}
END_TEST

START_TEST(ones_own_revisions_are_no_exposures) {
    begin();
    struct reply own = extraction_save(&house, form, 1, 10, NULL, "q1", "mine", NULL);
    char *shown = json_of("['%s']", member_of(extraction_answer(&own, "q1"), "revision"));
    struct reply late = tell_late(1, 11, text_of(&own, "versionId"), shown);
    ck_assert_int_eq(number_of(&late, "recorded"), 0);
    char *second = next_version(12, strdup(text_of(&own, "versionId")), shown);
    ck_assert_uint_eq(recorded(1), 0);
    classes_are("??"); /* the first said nothing */
    free(second);
    reply_done(&late);
    free(shown);
    reply_done(&own);
    end();
}
END_TEST

START_TEST(every_command_that_makes_a_version_takes_exposures) {
    begin();
    char *revision = others_revision(house.study, 1), *shown = json_of("['%s']", revision);
    struct extraction other = extraction_add(&house, 1, "[{'id':'q1','label':'Q','kind':'text'}]");
    struct reply in_other = extraction_save(&house, other, 1, 10, NULL, "q1", "one", NULL);
    struct reply saved =
        make_version(&evd_command_save, 11, NULL,
                     "'formVersion':1,'answers':[{'question':'q1','value':'one','baseRevision':null}]", shown);
    struct reply changed = extraction_save(&house, other, 1, 12, text_of(&in_other, "versionId"), "q1", "two",
                                           member_of(extraction_answer(&saved, "q1"), "revision"));
    char *named = json_of("'answers':[{'question':'q1','revision':'%s'}]",
                          member_of(extraction_answer(&changed, "q1"), "revision"));
    struct reply fixed = make_version(&evd_command_fix, 13, text_of(&saved, "versionId"), named, shown);
    extraction_publish_again(&house, house.form);
    struct reply upgraded =
        make_version(&evd_command_upgrade, 14, text_of(&fixed, "versionId"), "'formVersion':2", shown);
    struct reply done =
        make_version(&evd_command_complete, 15, text_of(&upgraded, "versionId"), "'formVersion':2,'answers':[]", shown);
    struct reply gone = make_version(&evd_command_withdraw, 16, text_of(&done, "versionId"), "", shown);
    ck_assert_int_eq(gone.code, EVD_OK);
    ck_assert_uint_eq(recorded(1), 5);
    reply_done(&gone);
    reply_done(&done);
    reply_done(&upgraded);
    reply_done(&fixed);
    free(named);
    reply_done(&changed);
    reply_done(&saved);
    reply_done(&in_other);
    free(shown);
    free(revision);
    end();
}
END_TEST

START_TEST(a_revision_of_another_study_or_project_is_unknown) {
    begin();
    char *elsewhere = others_revision(house.other_study, 1), *here = others_revision(house.study, 2);
    char *shown = json_of("['%s','%s']", here, elsewhere);
    is_invalid(save_seeing(10, NULL, shown), "/exposures/1", "unknownRevision");
    char *base = next_version(11, NULL, "[]");
    is_invalid(tell_late(1, 12, base, shown), "/revisions/1", "unknownRevision");
    is_invalid(tell_late(1, 13, base, "['7d0c5d10-2f7e-4a51-9a51-0a8d6ff0a2c1']"), "/revisions/0", "unknownRevision");
    is_invalid(tell_late(1, 14, base, "[]"), "/revisions", "empty");
    ck_assert_uint_eq(recorded(1), 0);
    struct house ours = house;
    struct reply other = ask_ok(&house, &evd_command_create_project, (struct evd_ids){0}, person(1), command_id(20),
                                "{\"name\":\"Another\"}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&other, "id")), &house.project));
    struct reply probed = tell_late(1, 21, base, shown);
    ck_assert(probed.code == EVD_NOT_FOUND || probed.reason == EVD_REASON_PERMISSION);
    house.project = ours.project;
    reply_done(&probed);
    reply_done(&other);
    free(base);
    free(shown);
    free(here);
    free(elsewhere);
    end();
}
END_TEST

START_TEST(an_exposure_is_told_only_for_a_version_of_ones_own_session) {
    begin();
    char *revision = others_revision(house.study, 1), *shown = json_of("['%s']", revision);
    char *mine = next_version(10, NULL, "[]");
    struct reply theirs = extraction_read(&house, form, 2);
    struct reply foreign = tell_late(1, 11, text_of(&theirs, "versionId"), shown);
    ck_assert_int_eq(foreign.code, EVD_NOT_FOUND);
    struct reply for_me = tell_late(3, 12, mine, shown); /* without a session */
    ck_assert_int_eq(for_me.code, EVD_NOT_FOUND);
    struct reply by_admin = tell_late(0, 13, mine, shown);
    ck_assert_int_eq(by_admin.code, EVD_REFUSED);
    ck_assert_uint_eq(recorded(1) + recorded(2), 0);
    reply_done(&by_admin);
    reply_done(&for_me);
    reply_done(&foreign);
    reply_done(&theirs);
    free(mine);
    free(shown);
    free(revision);
    end();
}
END_TEST

/* It belongs to a version that is there already: nothing that happens to the study since can make it untrue. */
START_TEST(an_exposure_told_late_is_taken_while_the_study_is_held_and_moves_no_study) {
    struct evd_arena arena;
    begin();
    evd_arena_init(&arena, 4 * EVD_MIB);
    char *revision = others_revision(house.study, 1), *shown = json_of("['%s']", revision);
    char *mine = next_version(10, NULL, "[]");
    struct evd_study *study = BEHIND_READ(&house, study, house.study, &arena);
    struct evd_bulk_lock lock = {.operation = house.admin, .since = 1};
    study->bulk_lock = &lock;
    BEHIND_REPLACE(&house, study, study);
    int64_t version = BEHIND_READ(&house, study, house.study, &arena)->base.version;
    struct reply late = tell_late(1, 11, mine, shown);
    ck_assert_int_eq(late.code, EVD_OK);
    ck_assert_int_eq(BEHIND_READ(&house, study, house.study, &arena)->base.version, version);
    classes_are("!");
    reply_done(&late);
    free(mine);
    free(shown);
    free(revision);
    evd_arena_done(&arena);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: exposures", an_exposure_is_recorded_once_for_each_version_and_revision,
              the_class_is_independent_only_while_every_version_said_that_nothing_was_shown,
              once_informed_every_later_version_is,
              an_exposure_told_late_downgrades_the_version_it_was_before_and_all_later_ones,
              ones_own_revisions_are_no_exposures, every_command_that_makes_a_version_takes_exposures,
              a_revision_of_another_study_or_project_is_unknown,
              an_exposure_is_told_only_for_a_version_of_ones_own_session,
              an_exposure_told_late_is_taken_while_the_study_is_held_and_moves_no_study)
