/*
 * Races: many callers at once on real workers and a real store. Nothing here depends on who wins.
 */
#include "../support/behind.h"
#include "../support/extraction.h"

#include "evidenced/records/keys.h"

#include <pthread.h>

enum { WORKERS = 8, MANY = 50 };

static struct house house;

struct racer {
    pthread_t thread;
    const struct evd_command *command;
    struct evd_ids ids;
    unsigned who, id;
    char *body;
    struct reply reply;
};

static void *run(void *self) {
    struct racer *racer = self;
    racer->reply = ask(&house, racer->command, racer->ids, person(racer->who), command_id(racer->id), racer->body);
    return NULL;
}

static void race(struct racer *racers, size_t count) {
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, run, &racers[i]), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_join(racers[i].thread, NULL), 0);
}

static void clear(struct racer *racers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        reply_done(&racers[i].reply);
        free(racers[i].body);
    }
}

static struct racer saver(unsigned who, unsigned id, const char *base) {
    return (struct racer){.command = &evd_command_save,
                          .ids = session_ids(&house),
                          .who = who,
                          .id = id,
                          .body = save_body(&house, base, 1, 3, "x")};
}

START_TEST(fifty_identical_commands_in_parallel_give_one_effect_and_fifty_equal_receipts) {
    struct racer racers[MANY];
    unsigned fresh = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (size_t i = 0; i < MANY; i++)
        racers[i] = saver(1, 1, NULL);
    race(racers, MANY);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(racers[i].reply.code, EVD_OK);
        ck_assert_str_eq(racers[i].reply.text, racers[0].reply.text);
        fresh += !racers[i].reply.replayed;
    }
    ck_assert_uint_eq(fresh, 1);
    struct reply versions =
        ask_ok(&house, &evd_command_list_session_versions, session_ids(&house), person(1), command_id(0), NULL);
    ck_assert_uint_eq(json_array_size(json_object_get(versions.body, "items")), 1);
    reply_done(&versions);
    clear(racers, MANY);
    house_close(&house);
}
END_TEST

/* The project has no lane, so these race in the store itself. */
START_TEST(identical_commands_without_a_lane_give_one_effect_too) {
    struct racer racers[MANY];
    unsigned fresh = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (size_t i = 0; i < MANY; i++)
        racers[i] = (struct racer){.command = &evd_command_add_studies,
                                   .ids = {.project = house.project},
                                   .id = 1,
                                   .body = strdup("{\"studies\":[{\"doi\":\"10.1000/raced\"},{\"title\":\"T\"}]}")};
    race(racers, MANY);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(racers[i].reply.code, EVD_OK);
        ck_assert_str_eq(racers[i].reply.text, racers[0].reply.text);
        fresh += !racers[i].reply.replayed;
    }
    ck_assert_uint_eq(fresh, 1);
    clear(racers, MANY);
    house_close(&house);
}
END_TEST

START_TEST(two_batches_at_once_cannot_both_take_one_identifier) {
    struct racer racers[10];
    long long added = 0, matched = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (unsigned i = 0; i < 10; i++)
        racers[i] = (struct racer){.command = &evd_command_add_studies,
                                   .ids = {.project = house.project},
                                   .id = 100 + i,
                                   .body = strdup("{\"studies\":[{\"doi\":\"10.1000/one\"}]}")};
    race(racers, 10);
    for (size_t i = 0; i < 10; i++) {
        ck_assert_int_eq(racers[i].reply.code, EVD_OK);
        added += number_of(&racers[i].reply, "added");
        matched += number_of(&racers[i].reply, "matched");
    }
    ck_assert_int_eq(added, 1);
    ck_assert_int_eq(matched, 9);
    clear(racers, 10);
    house_close(&house);
}
END_TEST

static long long places_of(evd_uuid study) {
    struct evd_ids ids = {.project = house.project, .study = study};
    struct reply reply = ask_ok(&house, &evd_command_get_study, ids, house.admin, command_id(0), NULL);
    json_t *form = json_array_get(json_object_get(reply.body, "forms"), 0);
    long long places = json_integer_value(json_object_get(form, "places"));
    reply_done(&reply);
    return places;
}

/* Each Save rewrites the study's summary: one that was computed from an old snapshot would lose a member. */
START_TEST(a_lost_update_is_impossible_on_one_study_and_on_many) {
    struct racer racers[18];
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 9);
    for (unsigned i = 0; i < 18; i++) {
        racers[i] = saver(1 + i % 9, 1 + i, NULL);
        if (i >= 9) racers[i].ids.study = house.other_study;
    }
    race(racers, 18);
    for (size_t i = 0; i < 18; i++)
        ck_assert_int_eq(racers[i].reply.code, EVD_OK);
    ck_assert_int_eq(places_of(house.study), 9);
    ck_assert_int_eq(places_of(house.other_study), 9);
    clear(racers, 18);
    house_close(&house);
}
END_TEST

START_TEST(racing_reviewers_never_exceed_the_cap) {
    struct racer racers[9];
    unsigned in = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (unsigned i = 0; i < 9; i++)
        racers[i] = saver(1 + i, 1 + i, NULL);
    race(racers, 9);
    for (size_t i = 0; i < 9; i++) {
        in += racers[i].reply.code == EVD_OK;
        ck_assert(racers[i].reply.code == EVD_OK || racers[i].reply.code == EVD_AT_CAPACITY);
    }
    ck_assert_uint_eq(in, 2);
    ck_assert_int_eq(places_of(house.study), 2);
    clear(racers, 9);
    house_close(&house);
}
END_TEST

START_TEST(two_administrators_cannot_revoke_each_other) {
    char bodies[2][200], ids[2][EVD_UUID_TEXT_BYTES + 1];
    struct racer racers[2];
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    struct evd_ids project = {.project = house.project};
    for (unsigned i = 0; i < 2; i++) {
        evd_uuid_format(person(i), ids[i]);
        (void)snprintf(bodies[i], sizeof bodies[i], "{\"investigatorId\":\"%s\",\"roles\":[\"admin\"]}", ids[i]);
    }
    struct reply promoted = ask_ok(&house, &evd_command_set_member, project, house.admin, command_id(1), bodies[1]);
    for (unsigned i = 0; i < 2; i++) {
        (void)snprintf(bodies[i], sizeof bodies[i], "{\"investigatorId\":\"%s\",\"roles\":[]}", ids[1 - i]);
        racers[i] = (struct racer){
            .command = &evd_command_set_member, .ids = project, .who = i, .id = 10 + i, .body = strdup(bodies[i])};
    }
    race(racers, 2);
    ck_assert_int_eq((racers[0].reply.code == EVD_OK) + (racers[1].reply.code == EVD_OK), 1);
    clear(racers, 2);
    reply_done(&promoted);
    house_close(&house);
}
END_TEST

/* Ten tabs of one reviewer fix the same answer: each knows the session as it was. */
START_TEST(of_many_tabs_that_fix_at_once_one_wins_and_the_others_are_stale) {
    struct racer racers[10];
    unsigned fixed = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    struct extraction f = extraction_of_house(&house),
                      g = extraction_add(&house, 1, "[{'id':'q1','label':'Q','kind':'text'}]");
    struct reply in_f = extraction_save(&house, f, 1, 1, NULL, "q1", "old", NULL);
    struct reply in_g = extraction_save(&house, g, 1, 2, NULL, "q1", "old", NULL);
    struct reply changed = extraction_save(&house, f, 1, 3, text_of(&in_f, "versionId"), "q1", "new",
                                           member_of(extraction_answer(&in_f, "q1"), "revision"));
    char *members = json_of("'answers':[{'question':'q1','revision':'%s'}]",
                            member_of(extraction_answer(&changed, "q1"), "revision"));
    for (unsigned i = 0; i < 10; i++)
        racers[i] = (struct racer){.command = &evd_command_fix,
                                   .ids = extraction_ids(&house, g),
                                   .who = 1,
                                   .id = 100 + i,
                                   .body = extraction_body(g, text_of(&in_g, "versionId"), members)};
    race(racers, 10);
    for (size_t i = 0; i < 10; i++) {
        fixed += racers[i].reply.code == EVD_OK;
        if (racers[i].reply.code == EVD_OK) continue;
        ck_assert_int_eq(racers[i].reply.code, EVD_STALE_BASE);
        ck_assert_str_eq(text_of(&racers[i].reply, "base"), "session");
    }
    ck_assert_uint_eq(fixed, 1);
    clear(racers, 10);
    free(members);
    reply_done(&changed);
    reply_done(&in_g);
    reply_done(&in_f);
    house_close(&house);
}
END_TEST

/* Each tab tells it on its own: other command ids, one exposure. */
START_TEST(an_exposure_that_many_tabs_tell_at_once_is_recorded_once) {
    struct racer racers[10];
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    struct extraction form = extraction_of_house(&house);
    struct reply theirs = extraction_save(&house, form, 2, 1, NULL, "q1", "theirs", NULL);
    struct reply mine = extraction_save(&house, form, 1, 2, NULL, "q1", "mine", NULL);
    for (unsigned i = 0; i < 10; i++)
        racers[i] = (struct racer){.command = &evd_command_record_exposures,
                                   .ids = session_ids(&house),
                                   .who = 1,
                                   .id = 100 + i,
                                   .body = json_of("{'version':'%s','revisions':['%s']}", text_of(&mine, "versionId"),
                                                   member_of(extraction_answer(&theirs, "q1"), "revision"))};
    race(racers, 10);
    for (size_t i = 0; i < 10; i++)
        ck_assert_int_eq(racers[i].reply.code, EVD_OK);
    struct evd_value session = {.kind = EVD_VALUE_UUID};
    session.uuid = evd_form_session_id(house.project, house.study, house.form, person(1));
    ck_assert_uint_eq(behind_count(&house, EVD_INDEX_exposures_of_session, &session, 1), 1);
    clear(racers, 10);
    reply_done(&mine);
    reply_done(&theirs);
    house_close(&house);
}
END_TEST

/* Form F changes the answer while form G takes it over: whoever is second builds on what the first did, or is told. */
START_TEST(a_fix_that_races_the_change_it_fixes_never_pins_a_value_nobody_saw) {
    struct racer racers[2];
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    struct extraction f = extraction_of_house(&house),
                      g = extraction_add(&house, 1, "[{'id':'q1','label':'Q','kind':'text'}]");
    struct reply one = extraction_save(&house, f, 1, 1, NULL, "q1", "one", NULL);
    struct reply in_g = extraction_save(&house, g, 1, 2, NULL, "q1", "one", NULL);
    struct reply two = extraction_save(&house, f, 1, 3, text_of(&one, "versionId"), "q1", "two",
                                       member_of(extraction_answer(&one, "q1"), "revision"));
    const char *seen = member_of(extraction_answer(&two, "q1"), "revision");
    char *change = json_of("'formVersion':1,'answers':[{'question':'q1','value':'three','baseRevision':'%s'}]", seen);
    char *move = json_of("'answers':[{'question':'q1','revision':'%s'}]", seen);
    racers[0] = (struct racer){.command = &evd_command_save,
                               .ids = extraction_ids(&house, f),
                               .who = 1,
                               .id = 10,
                               .body = extraction_body(f, text_of(&two, "versionId"), change)};
    racers[1] = (struct racer){.command = &evd_command_fix,
                               .ids = extraction_ids(&house, g),
                               .who = 1,
                               .id = 11,
                               .body = extraction_body(g, text_of(&in_g, "versionId"), move)};
    race(racers, 2);
    ck_assert_int_eq(racers[0].reply.code, EVD_OK);
    struct reply read = extraction_read(&house, g, 1);
    const char *shown = member_of(extraction_answer(&read, "q1"), "value");
    ck_assert_str_eq(shown, racers[1].reply.code == EVD_OK ? "two" : "one");
    ck_assert(racers[1].reply.code == EVD_OK || racers[1].reply.code == EVD_STALE_BASE);
    ck_assert_str_eq(member_of(json_object_get(extraction_answer(&read, "q1"), "current"), "value"), "three");
    reply_done(&read);
    clear(racers, 2);
    free(move);
    free(change);
    reply_done(&two);
    reply_done(&in_g);
    reply_done(&one);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: races", fifty_identical_commands_in_parallel_give_one_effect_and_fifty_equal_receipts,
              identical_commands_without_a_lane_give_one_effect_too,
              two_batches_at_once_cannot_both_take_one_identifier, a_lost_update_is_impossible_on_one_study_and_on_many,
              racing_reviewers_never_exceed_the_cap, two_administrators_cannot_revoke_each_other,
              of_many_tabs_that_fix_at_once_one_wins_and_the_others_are_stale,
              an_exposure_that_many_tabs_tell_at_once_is_recorded_once,
              a_fix_that_races_the_change_it_fixes_never_pins_a_value_nobody_saw)
