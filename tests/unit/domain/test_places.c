/*
 * Places on a study's form: standing, capacity, the summary; which scopes are open; what one changed answer does.
 */
#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/domain/capacity.h"
#include "evidenced/domain/session.h"
#include "evidenced/domain/standing.h"
#include "evidenced/domain/summary.h"

static evd_uuid id(unsigned number) {
    evd_uuid uuid = {{0}};
    uuid.bytes[0] = (uint8_t)number;
    uuid.bytes[15] = 1;
    return uuid;
}

/* Standing: the strictest policy wins, unless a later one overrides what came before. */
static const struct {
    int64_t pinned, published;
    struct evd_policy_view policies[3];
    size_t count;
    enum evd_standing expected;
} standings[] = {
    {2, 2, {{0}}, 0, EVD_STANDING_QUALIFYING},
    {1, 2, {{0}}, 0, EVD_STANDING_PINNED_OLDER_COUNTED},
    {1, 2, {{2, EVD_NEEDS_UPDATING, false}}, 1, EVD_STANDING_NEEDS_UPDATING},
    {1, 2, {{2, EVD_NOT_COUNTED, false}}, 1, EVD_STANDING_PINNED_OLDER_NOT_COUNTED},
    {1, 3, {{2, EVD_NOT_COUNTED, false}, {3, EVD_NEEDS_UPDATING, false}}, 2, EVD_STANDING_PINNED_OLDER_NOT_COUNTED},
    {1, 3, {{2, EVD_NOT_COUNTED, false}, {3, EVD_NEEDS_UPDATING, true}}, 2, EVD_STANDING_NEEDS_UPDATING},
    {1, 3, {{2, EVD_NOT_COUNTED, false}, {3, EVD_KEEP_COUNTED, true}}, 2, EVD_STANDING_PINNED_OLDER_COUNTED},
    {1, 3, {{2, EVD_NEEDS_UPDATING, true}, {3, EVD_NOT_COUNTED, false}}, 2, EVD_STANDING_PINNED_OLDER_NOT_COUNTED},
    {2, 3, {{2, EVD_NOT_COUNTED, false}, {3, EVD_KEEP_COUNTED, false}}, 2, EVD_STANDING_PINNED_OLDER_COUNTED},
    {1, 2, {{2, EVD_KEEP_COUNTED, false}, {3, EVD_NOT_COUNTED, false}}, 2, EVD_STANDING_PINNED_OLDER_COUNTED},
};

START_TEST(the_strictest_policy_wins_unless_a_later_one_overrides) {
    for (size_t i = 0; i < sizeof standings / sizeof standings[0]; i++)
        ck_assert_msg(evd_standing_of(EVD_SESSION_COMPLETED, standings[i].pinned, standings[i].published,
                                      standings[i].policies, standings[i].count) == standings[i].expected,
                      "row %zu", i);
}
END_TEST

START_TEST(only_a_completed_session_has_a_standing) {
    ck_assert_int_eq(evd_standing_of(EVD_SESSION_SAVED_INCOMPLETE, 1, 1, NULL, 0), EVD_STANDING_NOT_APPLICABLE);
    ck_assert_int_eq(evd_standing_of(EVD_SESSION_WITHDRAWN, 1, 1, NULL, 0), EVD_STANDING_NOT_APPLICABLE);
    ck_assert(evd_standing_qualifies(EVD_STANDING_QUALIFYING));
    ck_assert(evd_standing_qualifies(EVD_STANDING_PINNED_OLDER_COUNTED));
    ck_assert(!evd_standing_qualifies(EVD_STANDING_NEEDS_UPDATING));
    ck_assert(!evd_standing_qualifies(EVD_STANDING_PINNED_OLDER_NOT_COUNTED));
    ck_assert(!evd_standing_qualifies(EVD_STANDING_NOT_APPLICABLE));
}
END_TEST

/* A member each letter: s saved, c completed and qualifying, n completed and not counted, w withdrawn. */
static struct evd_form_summary entry_of(const char *members, struct evd_summary_member *storage) {
    struct evd_form_summary entry = {.members = {storage, strlen(members)}};
    for (size_t i = 0; members[i] != '\0'; i++) {
        char m = members[i];
        enum evd_session_state state = m == 's'   ? EVD_SESSION_SAVED_INCOMPLETE
                                       : m == 'w' ? EVD_SESSION_WITHDRAWN
                                                  : EVD_SESSION_COMPLETED;
        enum evd_standing standing = m == 'c'   ? EVD_STANDING_QUALIFYING
                                     : m == 'n' ? EVD_STANDING_NEEDS_UPDATING
                                                : EVD_STANDING_NOT_APPLICABLE;
        storage[i] = (struct evd_summary_member){
            .reviewer = id((unsigned)i + 1), .state = evd_name_of(state), .standing = evd_name_of(standing)};
    }
    return entry;
}

static const struct {
    const char *members;
    int64_t target, cap;
    enum evd_outcome_code expected;
} admissions[] = {
    {"", 1, 0, EVD_OK},
    {"s", 2, 0, EVD_OK},
    {"s", 1, 0, EVD_AT_CAPACITY},
    {"c", 1, 0, EVD_ENOUGH_REVIEWERS},
    {"c", 2, 0, EVD_OK},
    {"cs", 2, 0, EVD_AT_CAPACITY},
    {"cc", 2, 5, EVD_ENOUGH_REVIEWERS}, /* the target, although there are places */
    {"cs", 2, 3, EVD_OK},
    {"css", 2, 3, EVD_AT_CAPACITY},
    {"ww", 1, 0, EVD_OK},         /* the withdrawn hold nothing */
    {"n", 1, 0, EVD_AT_CAPACITY}, /* holds a place, does not fill the target */
    {"n", 1, 2, EVD_OK},
};

START_TEST(a_place_is_taken_by_the_saved_and_the_completed_and_the_target_is_filled_by_the_qualifying) {
    for (size_t i = 0; i < sizeof admissions / sizeof admissions[0]; i++) {
        struct evd_summary_member storage[8];
        struct evd_form_summary entry = entry_of(admissions[i].members, storage);
        struct evd_capacity capacity = {.target = admissions[i].target, .cap = admissions[i].cap};
        ck_assert_msg(evd_capacity_admit(&entry, &capacity, id(99)).code == admissions[i].expected, "row %zu", i);
    }
}
END_TEST

START_TEST(ones_own_former_place_is_not_in_ones_way) {
    struct evd_summary_member storage[2];
    struct evd_form_summary entry = entry_of("sw", storage);
    struct evd_capacity one = {.target = 1};
    ck_assert_int_eq(evd_capacity_admit(&entry, &one, id(1)).code, EVD_OK);
    ck_assert_int_eq(evd_capacity_admit(&entry, &one, id(2)).code, EVD_AT_CAPACITY);
}
END_TEST

static struct evd_form_session session_of(unsigned author, enum evd_session_state state, int64_t seq) {
    return (struct evd_form_session){
        .author = id(author), .state = evd_name_of(state), .version_seq = seq, .pinned_form_version = 1};
}

START_TEST(a_summary_counts_each_member_once_and_leaves_other_forms_alone) {
    struct evd_arena arena;
    evd_arena_init(&arena, 1 << 20);
    struct evd_capacity capacity = {.target = 2};
    evd_uuid stages[] = {id(50), id(51)};
    struct evd_form form = {.base.id = id(40), .published_seq = 1, .binding_seq = 2, .capacity = &capacity};
    form.bound_stages.items = stages;
    form.bound_stages.count = 2;
    struct evd_form_session all[] = {session_of(3, EVD_SESSION_COMPLETED, 2), session_of(1, EVD_SESSION_COMPLETED, 1),
                                     session_of(2, EVD_SESSION_SAVED_INCOMPLETE, 4),
                                     session_of(4, EVD_SESSION_WITHDRAWN, 3),
                                     session_of(5, EVD_SESSION_SAVED_INCOMPLETE, 0) /* only a draft yet */};
    const struct evd_form_session *sessions[] = {&all[0], &all[1], &all[2], &all[3], &all[4]};
    struct evd_form_summary *entry = evd_summary_of_form(&form, sessions, 5, &arena);
    ck_assert_uint_eq(entry->members.count, 4);
    ck_assert_int_eq(entry->places, 3);
    ck_assert_int_eq(entry->completed, 2);
    ck_assert_int_eq(entry->saved_incomplete, 1);
    ck_assert_int_eq(entry->withdrawn, 1);
    ck_assert_int_eq(entry->qualifying, 2);
    ck_assert(entry->ready);
    for (size_t i = 1; i < entry->members.count; i++)
        ck_assert_int_lt(evd_uuid_compare(entry->members.items[i - 1].reviewer, entry->members.items[i].reviewer), 0);

    struct evd_form other = {.base.id = id(41), .capacity = &capacity};
    struct evd_canonical_summary *both = evd_summary_with(
        evd_summary_with(NULL, &other, evd_summary_of_form(&other, NULL, 0, &arena), &arena), &form, entry, &arena);
    ck_assert_uint_eq(both->forms.count, 2);
    ck_assert_uint_eq(both->stages.count, 2);
    struct evd_canonical_summary *again = evd_summary_with(both, &form, entry, &arena);
    ck_assert_uint_eq(again->forms.count, 2);
    ck_assert_uint_eq(again->stages.count, 2);
    ck_assert_ptr_nonnull(evd_summary_find(again, id(41)));
    ck_assert_ptr_null(evd_summary_find(again, id(42)));
    evd_arena_done(&arena);
}
END_TEST

static const struct {
    enum evd_stage_status route, other;
    bool form_fence, stage_fence;
    enum evd_outcome_code expected;
} scopes[] = {
    {EVD_STAGE_STATUS_ACTIVE, EVD_STAGE_STATUS_ACTIVE, false, false, EVD_OK},
    {EVD_STAGE_STATUS_ACTIVE, EVD_STAGE_STATUS_ACTIVE, true, false, EVD_FENCED},
    {EVD_STAGE_STATUS_ACTIVE, EVD_STAGE_STATUS_ACTIVE, false, true, EVD_FENCED},
    {EVD_STAGE_STATUS_COMPLETING, EVD_STAGE_STATUS_ACTIVE, false, false, EVD_FENCED},
    {EVD_STAGE_STATUS_ACTIVE, EVD_STAGE_STATUS_COMPLETING, false, false, EVD_FENCED},
    {EVD_STAGE_STATUS_COMPLETED, EVD_STAGE_STATUS_ACTIVE, false, false, EVD_STAGE_COMPLETED},
    {EVD_STAGE_STATUS_ACTIVE, EVD_STAGE_STATUS_COMPLETED, false, false, EVD_STAGE_COMPLETED},
    {EVD_STAGE_STATUS_COMPLETED, EVD_STAGE_STATUS_COMPLETING, false, false, EVD_FENCED}, /* that order */
};

START_TEST(whatever_closes_one_bound_stage_closes_the_form) {
    struct evd_fence fence = {.generation = 1};
    for (size_t i = 0; i < sizeof scopes / sizeof scopes[0]; i++) {
        struct evd_form form = {.fence = scopes[i].form_fence ? &fence : NULL};
        struct evd_stage route = {.status = evd_name_of(scopes[i].route)};
        struct evd_stage other = {.status = evd_name_of(scopes[i].other),
                                  .fence = scopes[i].stage_fence ? &fence : NULL};
        const struct evd_stage *stages[] = {&route, &other};
        ck_assert_msg(evd_session_scopes_open(&form, stages, 2).code == scopes[i].expected, "row %zu", i);
    }
}
END_TEST

START_TEST(a_changed_answer_is_first_same_revised_or_stale) {
    struct evd_sha256 digest = evd_sha256_of("new", 3), old = evd_sha256_of("old", 3);
    struct evd_annotation_head head = {.current_revision = id(7),
                                       .digest = {(const char *)old.bytes, sizeof old.bytes}};
    ck_assert_int_eq(evd_answer_effect_of(NULL, evd_uuid_nil(), &digest), EVD_ANSWER_FIRST);
    ck_assert_int_eq(evd_answer_effect_of(NULL, id(7), &digest), EVD_ANSWER_STALE);
    ck_assert_int_eq(evd_answer_effect_of(&head, id(7), &digest), EVD_ANSWER_REVISE);
    ck_assert_int_eq(evd_answer_effect_of(&head, id(8), &digest), EVD_ANSWER_STALE);
    ck_assert_int_eq(evd_answer_effect_of(&head, evd_uuid_nil(), &digest), EVD_ANSWER_STALE);
    ck_assert_int_eq(evd_answer_effect_of(&head, id(8), &old), EVD_ANSWER_SAME);
}
END_TEST

EVD_TEST_MAIN("domain: places", the_strictest_policy_wins_unless_a_later_one_overrides,
              only_a_completed_session_has_a_standing,
              a_place_is_taken_by_the_saved_and_the_completed_and_the_target_is_filled_by_the_qualifying,
              ones_own_former_place_is_not_in_ones_way, a_summary_counts_each_member_once_and_leaves_other_forms_alone,
              whatever_closes_one_bound_stage_closes_the_form, a_changed_answer_is_first_same_revised_or_stale)
