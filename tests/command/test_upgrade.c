/*
 * Upgrade to the published form version, Save after Complete, and the order in which commands on a session are refused.
 */
#include "../support/behind.h"
#include "../support/extraction.h"

#include "evidenced/base/arena.h"
#include "evidenced/domain/answer.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct extraction form;
static struct evd_arena arena;

static void begin(void) {
    evd_arena_init(&arena, 16 * EVD_MIB);
    house_open(&house, 0);
    house_furnish(&house, 3, 9);
    form = extraction_of_house(&house);
}

static void end(void) {
    house_close(&house);
    evd_arena_done(&arena);
}

static struct reply upgrade(unsigned id, const char *base, int version) {
    char *members = json_of("'formVersion':%d", version);
    struct reply reply = extraction_ask(&house, &evd_command_upgrade, form, 1, id, base, members);
    free(members);
    return reply;
}

static struct reply complete(unsigned id, const char *base, int version) {
    char *members = json_of("'formVersion':%d,'answers':[]", version);
    struct reply reply = extraction_ask(&house, &evd_command_complete, form, 1, id, base, members);
    free(members);
    return reply;
}

static void is_invalid(struct reply reply, const char *pointer, const char *code) {
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    json_t *error = json_array_get(json_object_get(reply.body, "errors"), 0);
    ck_assert_str_eq(member_of(error, "pointer"), pointer);
    ck_assert_str_eq(member_of(error, "code"), code);
    reply_done(&reply);
}

/* What the study's summary says of the form; borrowed from *ret_study. */
static json_t *entry(struct reply *ret_study) {
    *ret_study = ask_ok(&house, &evd_command_get_study, session_ids(&house), person(1), command_id(0), NULL);
    return json_array_get(json_object_get(ret_study->body, "forms"), 0);
}

static void entry_is(const char *state, long long saved_incomplete, long long completed, long long qualifying) {
    struct reply study;
    json_t *form_entry = entry(&study);
    ck_assert_str_eq(member_of(json_object_get(form_entry, "own"), "state"), state);
    ck_assert_int_eq(json_integer_value(json_object_get(form_entry, "savedIncomplete")), saved_incomplete);
    ck_assert_int_eq(json_integer_value(json_object_get(form_entry, "completed")), completed);
    ck_assert_int_eq(json_integer_value(json_object_get(form_entry, "qualifying")), qualifying);
    ck_assert_int_eq(json_integer_value(json_object_get(form_entry, "places")), 1);
    reply_done(&study);
}

static bool pin_maps_are_equal(const char *a, const char *b) {
    evd_uuid ids[2];
    ck_assert(evd_uuid_parse(evd_text_from(a), &ids[0]) && evd_uuid_parse(evd_text_from(b), &ids[1]));
    const struct evd_pin_map *one = BEHIND_READ(&house, pin_map, ids[0], &arena);
    const struct evd_pin_map *two = BEHIND_READ(&house, pin_map, ids[1], &arena);
    return evd_text_equal(one->pins, two->pins);
}

START_TEST(upgrade_makes_one_incomplete_version_on_the_published_form_version_with_the_same_pins) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply done = complete(2, text_of(&saved, "versionId"), 1);
    extraction_publish_again(&house, house.form);
    struct reply upgraded = upgrade(3, text_of(&done, "versionId"), 2);
    ck_assert_int_eq(upgraded.code, EVD_OK);
    ck_assert_str_eq(text_of(&upgraded, "state"), "savedIncomplete");
    ck_assert_int_eq(number_of(&upgraded, "formVersion"), 2);
    ck_assert_int_eq(number_of(&upgraded, "versionSeq"), 3);
    ck_assert_uint_eq(json_array_size(json_object_get(upgraded.body, "answers")), 0);
    ck_assert(pin_maps_are_equal(text_of(&done, "versionId"), text_of(&upgraded, "versionId")));
    entry_is("savedIncomplete", 1, 0, 0);
    struct reply read = extraction_read(&house, form, 1);
    ck_assert_int_eq(number_of(&read, "formVersion"), 2);
    struct reply again = complete(4, text_of(&upgraded, "versionId"), 2);
    ck_assert_int_eq(again.code, EVD_OK);
    entry_is("completed", 0, 1, 1);
    reply_done(&again);
    reply_done(&read);
    reply_done(&upgraded);
    reply_done(&done);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(an_upgrade_to_a_version_that_is_neither_pinned_nor_published_is_stale_and_names_both) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    extraction_publish_again(&house, house.form);
    extraction_publish_again(&house, house.form);
    for (int version = 2; version <= 4; version += 2) { /* one in between, one that is not there */
        struct reply stale = upgrade(2 + (unsigned)version, text_of(&saved, "versionId"), version);
        ck_assert_int_eq(stale.code, EVD_STALE_BASE);
        ck_assert_str_eq(text_of(&stale, "base"), "formVersion");
        ck_assert_int_eq(number_of(&stale, "declared"), version);
        ck_assert_int_eq(number_of(&stale, "current"), 3);
        reply_done(&stale);
    }
    struct reply upgraded = upgrade(10, text_of(&saved, "versionId"), 3);
    ck_assert_int_eq(upgraded.code, EVD_OK);
    reply_done(&upgraded);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(an_upgrade_to_the_version_the_session_is_on_is_no_upgrade) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    is_invalid(upgrade(2, text_of(&saved, "versionId"), 1), "/formVersion", "alreadyUpgraded");
    extraction_publish_again(&house, house.form);
    is_invalid(upgrade(3, text_of(&saved, "versionId"), 1), "/formVersion", "alreadyUpgraded");
    struct reply upgraded = upgrade(4, text_of(&saved, "versionId"), 2);
    is_invalid(upgrade(5, text_of(&upgraded, "versionId"), 2), "/formVersion", "alreadyUpgraded");
    reply_done(&upgraded);
    reply_done(&saved);
    end();
}
END_TEST

/* A Save on the newer version upgrades by itself, and there is no way back. */
START_TEST(after_an_upgrade_a_save_on_the_older_version_is_refused) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    extraction_publish_again(&house, house.form);
    struct reply upgraded = upgrade(2, text_of(&saved, "versionId"), 2);
    is_invalid(complete(3, text_of(&upgraded, "versionId"), 1), "/formVersion", "formVersionTooOld");
    reply_done(&upgraded);
    reply_done(&saved);
    end();
}
END_TEST

START_TEST(a_save_after_complete_opens_the_session_and_keeps_the_completed_version_readable) {
    begin();
    struct reply saved = extraction_save(&house, form, 1, 1, NULL, "q1", "before", NULL);
    struct reply done = complete(2, text_of(&saved, "versionId"), 1);
    entry_is("completed", 0, 1, 1);
    struct reply opened = extraction_save(&house, form, 1, 3, text_of(&done, "versionId"), "q1", "after",
                                          member_of(extraction_answer(&saved, "q1"), "revision"));
    ck_assert_str_eq(text_of(&opened, "state"), "savedIncomplete");
    entry_is("savedIncomplete", 1, 0, 0);
    struct evd_ids ids = session_ids(&house);
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&done, "versionId")), &ids.version));
    struct reply kept = ask_ok(&house, &evd_command_get_session_version, ids, person(1), command_id(0), NULL);
    ck_assert_str_eq(text_of(&kept, "kind"), "Complete");
    ck_assert_str_eq(member_of(extraction_answer(&kept, "q1"), "value"), "before");
    struct reply versions = ask_ok(&house, &evd_command_list_session_versions, ids, person(1), command_id(0), NULL);
    static const char *const states[] = {"savedIncomplete", "completed", "savedIncomplete"};
    for (size_t i = 0; i < 3; i++)
        ck_assert_str_eq(member_of(json_array_get(json_object_get(versions.body, "items"), i), "state"), states[i]);
    reply_done(&versions);
    reply_done(&kept);
    reply_done(&opened);
    reply_done(&done);
    reply_done(&saved);
    end();
}
END_TEST

/*
 * The order of refusals: everything is wrong at once; each round puts one thing right and the next one is told.
 */
struct world {
    struct evd_study *study;
    struct evd_form *form;
    struct evd_stage *stage;
    struct evd_bulk_lock lock;
    struct evd_fence fence;
    char *base, *stale_base;
};

static struct world world;

static struct evd_session_draft *draft_with_content(void) {
    static struct evd_draft_content content;
    static struct evd_answer_change typed = {.question = EVD_TEXT_INIT("q1")};
    evd_uuid id = evd_form_session_id(house.project, house.study, form.form, person(1));
    struct evd_session_draft *draft = BEHIND_READ(&house, session_draft, id, &arena);
    typed.value = (struct evd_answer_value){.kind = EVD_ANSWER_TEXT, .text = EVD_TEXT("typed")};
    content.answers.items = &typed;
    content.answers.count = 1;
    draft->content = &content;
    return draft;
}

static void make_everything_wrong(void) {
    struct reply first = extraction_save(&house, form, 1, 1, NULL, "q1", "a", NULL);
    struct reply second = extraction_save(&house, form, 1, 2, text_of(&first, "versionId"), "q2", "b", NULL);
    world.stale_base = strdup(text_of(&first, "versionId"));
    world.base = strdup(text_of(&second, "versionId"));
    reply_done(&second);
    reply_done(&first);
    world.fence = (struct evd_fence){.operation = house.admin, .expires_at = 1};
    world.lock = (struct evd_bulk_lock){.operation = house.admin, .since = 1};
    world.study = BEHIND_READ(&house, study, house.study, &arena);
    world.study->bulk_lock = &world.lock;
    world.form = BEHIND_READ(&house, form, form.form, &arena);
    world.form->fence = &world.fence;
    world.stage = BEHIND_READ(&house, stage, form.stage, &arena);
    world.stage->status = evd_name_of(EVD_STAGE_STATUS_COMPLETED);
    BEHIND_REPLACE(&house, study, world.study);
    BEHIND_REPLACE(&house, form, world.form);
    BEHIND_REPLACE(&house, stage, world.stage);
    BEHIND_REPLACE(&house, session_draft, draft_with_content());
}

static void unlock(void) {
    world.study->bulk_lock = NULL;
    BEHIND_REPLACE(&house, study, world.study);
}

static void take_fence_down(void) {
    world.form->fence = NULL;
    BEHIND_REPLACE(&house, form, world.form);
}

static void open_stage(void) {
    world.stage->status = evd_name_of(EVD_STAGE_STATUS_ACTIVE);
    BEHIND_REPLACE(&house, stage, world.stage);
}

/* Another tab types on, for as long as the lease lasts. */
static void hold_draft(void) {
    struct evd_session_draft *draft = draft_with_content();
    draft->holder = person(90);
    draft->lease_expires_at = INT64_MAX;
    BEHIND_REPLACE(&house, session_draft, draft);
}

static void empty_draft(void) {
    struct evd_session_draft *draft = draft_with_content();
    draft->content = NULL;
    BEHIND_REPLACE(&house, session_draft, draft);
}

struct order_step {
    void (*put_right)(void);
    unsigned who;
    bool current_base, current_members;
    enum evd_outcome_code code;
    const char *base; /* of a StaleBase */
};

/* own_base: which base of the command's own `stale_members` misses. */
static void refused_in_order(const struct evd_command *command, const char *own_base, const char *stale_members,
                             const char *wrong_members) {
    const struct order_step steps[] = {
        {.who = 50, .code = EVD_NOT_FOUND},
        {.who = 1, .code = EVD_LOCKED},
        {.put_right = unlock, .who = 0, .code = EVD_REFUSED},
        {.who = 1, .code = EVD_FENCED},
        {.put_right = take_fence_down, .who = 1, .code = EVD_STAGE_COMPLETED},
        {.put_right = open_stage, .who = 1, .code = EVD_STALE_BASE, .base = "session"},
        {.who = 1, .current_base = true, .code = EVD_STALE_BASE, .base = "draft"},
        {.put_right = hold_draft, .who = 1, .current_base = true, .code = EVD_STALE_BASE, .base = own_base},
        {.who = 1, .current_base = true, .current_members = true, .code = EVD_DRAFT_LEASE_HELD},
        {.put_right = empty_draft,
         .who = 1,
         .current_base = true,
         .current_members = true,
         .code = EVD_VALIDATION_FAILED},
    };
    make_everything_wrong();
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const struct order_step *step = &steps[i];
        if (step->put_right != NULL) step->put_right();
        struct reply reply = extraction_ask(&house, command, form, step->who, 100 + (unsigned)i,
                                            step->current_base ? world.base : world.stale_base,
                                            step->current_members ? wrong_members : stale_members);
        ck_assert_msg(reply.code == step->code, "%zu: %s", i, evd_outcome_entry_of(reply.code)->name);
        if (step->base != NULL) ck_assert_str_eq(text_of(&reply, "base"), step->base);
        reply_done(&reply);
    }
    free(world.base);
    free(world.stale_base);
}

START_TEST(fix_is_refused_in_the_designs_order) {
    begin();
    char other[EVD_UUID_TEXT_BYTES + 1], revision[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid context = evd_answer_context(EVD_TEXT("q1"), NULL, 0);
    evd_uuid head = evd_author_head_id(house.project, house.study, person(1), context);
    evd_uuid_format(evd_revision_id(head, 7), other);
    evd_uuid_format(evd_revision_id(head, 1), revision);
    char *stale = json_of("'answers':[{'question':'q1','revision':'%s'}]", other);
    char *wrong = json_of("'answers':[{'question':'q1','revision':'%s'}]", revision);
    refused_in_order(&evd_command_fix, "answers", stale, wrong);
    free(wrong);
    free(stale);
    end();
}
END_TEST

START_TEST(upgrade_is_refused_in_the_designs_order) {
    begin();
    refused_in_order(&evd_command_upgrade, "formVersion", "'formVersion':9", "'formVersion':1");
    end();
}
END_TEST

START_TEST(save_and_complete_are_refused_in_the_designs_order) {
    for (unsigned i = 0; i < 2; i++) {
        begin();
        refused_in_order(i == 0 ? &evd_command_save : &evd_command_complete, "answers",
                         "'formVersion':1,'answers':[{'question':'q1','value':'other','baseRevision':null}]",
                         "'formVersion':1,'answers':[{'question':'unasked','value':'x','baseRevision':null}]");
        end();
    }
}
END_TEST

EVD_TEST_MAIN("commands: upgrades and reopened sessions",
              upgrade_makes_one_incomplete_version_on_the_published_form_version_with_the_same_pins,
              an_upgrade_to_a_version_that_is_neither_pinned_nor_published_is_stale_and_names_both,
              an_upgrade_to_the_version_the_session_is_on_is_no_upgrade,
              after_an_upgrade_a_save_on_the_older_version_is_refused,
              a_save_after_complete_opens_the_session_and_keeps_the_completed_version_readable,
              fix_is_refused_in_the_designs_order, upgrade_is_refused_in_the_designs_order,
              save_and_complete_are_refused_in_the_designs_order)
