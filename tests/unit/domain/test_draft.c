/*
 * The rules of drafts: the order of the checks, what is laid over what, what a Save leaves out.
 */
#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"
#include "evidenced/domain/draft.h"

static struct evd_arena arena = {.cap_bytes = EVD_MIB};
static const evd_uuid left = {{1}}, right = {{2}}, version = {{3}}, older = {{4}};
static const struct evd_sha256 written = {{7}}, other = {{8}};

enum { NOW = 1000000 };

static struct evd_session_draft stored(void) {
    return (struct evd_session_draft){.base_version = version,
                                      .etag = 5,
                                      .holder = left,
                                      .lease_generation = 1,
                                      .lease_expires_at = NOW + 1,
                                      .write_seq = 3,
                                      .write_digest = {(const char *)written.bytes, sizeof written.bytes}};
}

/* Each line is wrong in everything from one column on; the verdict is that of the first thing that is wrong. */
START_TEST(an_autosave_is_judged_by_holder_then_base_then_sequence_then_etag) {
    static const struct {
        bool other_holder, lapsed, other_base;
        int64_t seq;
        bool other_content, whole;
        int64_t etag;
        bool only_if_none;
        enum evd_autosave_verdict verdict;
    } table[] = {
        {false, false, false, 4, true, true, 5, false, EVD_AUTOSAVE_APPLIES},
        {false, false, false, 4, true, false, 5, false, EVD_AUTOSAVE_APPLIES},
        {false, false, false, 9, true, true, 5, false, EVD_AUTOSAVE_APPLIES},
        {false, true, false, 4, true, true, 5, false, EVD_AUTOSAVE_APPLIES}, /* nobody else came */
        {true, false, true, 1, true, true, 9, false, EVD_AUTOSAVE_HELD},
        {true, true, true, 1, true, true, 5, false, EVD_AUTOSAVE_STALE},
        {true, true, false, 1, true, true, 5, false, EVD_AUTOSAVE_APPLIES},
        {true, true, false, 1, true, false, 5, false, EVD_AUTOSAVE_APPLIES}, /* its own count begins */
        {true, true, false, 1, true, true, 4, false, EVD_AUTOSAVE_PRECONDITION},
        {false, false, true, 3, false, true, 5, false, EVD_AUTOSAVE_STALE},
        {false, false, false, 3, false, true, 4, false, EVD_AUTOSAVE_REPEATED}, /* whatever etag it knew */
        {false, false, false, 3, true, true, 5, false, EVD_AUTOSAVE_SEQUENCE_REUSED},
        {false, false, false, 2, true, true, 5, false, EVD_AUTOSAVE_OUT_OF_SEQUENCE},
        {false, false, false, 2, false, false, 5, false, EVD_AUTOSAVE_OUT_OF_SEQUENCE},
        {false, false, false, 5, true, false, 5, false, EVD_AUTOSAVE_OUT_OF_SEQUENCE},
        {false, false, false, 4, true, true, 4, false, EVD_AUTOSAVE_PRECONDITION},
        {false, false, false, 4, true, true, 5, true, EVD_AUTOSAVE_PRECONDITION},
        {false, false, false, 4, true, false, 0, false, EVD_AUTOSAVE_PRECONDITION},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct evd_session_draft draft = stored();
        if (table[i].lapsed) draft.lease_expires_at = NOW;
        struct evd_autosave autosave = {.holder = table[i].other_holder ? right : left,
                                        .base_version = table[i].other_base ? older : version,
                                        .write_seq = table[i].seq,
                                        .whole = table[i].whole,
                                        .only_if_none = table[i].only_if_none,
                                        .etag = table[i].etag,
                                        .digest = table[i].other_content ? other : written};
        ck_assert_msg(evd_autosave_judge(&draft, &autosave, NOW) == table[i].verdict, "line %zu", i);
    }
}
END_TEST

START_TEST(a_draft_nobody_holds_is_anybodys) {
    struct evd_session_draft draft = stored();
    ck_assert(evd_draft_is_held(&draft, right, NOW));
    ck_assert(!evd_draft_is_held(&draft, left, NOW));
    ck_assert(!evd_draft_is_held(&draft, right, NOW + 1));
    draft.holder = (evd_uuid){{0}};
    ck_assert(!evd_draft_is_held(&draft, right, NOW));
    ck_assert(!evd_draft_is_held(NULL, right, NOW));
}
END_TEST

static struct evd_answer_change change(const char *question, const char *value) {
    return (struct evd_answer_change){.question = evd_text_from(question),
                                      .value = {.kind = EVD_ANSWER_TEXT, .text = evd_text_from(value)}};
}

static struct evd_answer_place place(const char *question) {
    return (struct evd_answer_place){.question = evd_text_from(question)};
}

static struct evd_draft_content content(struct evd_answer_change *answers, size_t count,
                                        struct evd_answer_place *withdrawn, size_t withdrawn_count) {
    struct evd_draft_content made = {0};
    made.answers.items = answers;
    made.answers.count = count;
    made.withdrawn.items = withdrawn;
    made.withdrawn.count = withdrawn_count;
    return made;
}

START_TEST(changes_are_laid_over_place_by_place) {
    struct evd_answer_change below[] = {change("a", "1"), change("b", "2"), change("c", "3")};
    struct evd_answer_place gone_below[] = {place("d"), place("e")};
    struct evd_answer_change above[] = {change("b", "22"), change("d", "4")};
    struct evd_answer_place gone_above[] = {place("c")}, reverted[] = {place("a")};
    struct evd_draft_content under = content(below, 3, gone_below, 2), over = content(above, 2, gone_above, 1);
    const struct evd_draft_content *made = evd_draft_overlay(&under, &over, reverted, 1, &arena);
    ck_assert_uint_eq(made->answers.count, 2);
    ck_assert(evd_text_equal(made->answers.items[0].value.text, EVD_TEXT("22")));
    ck_assert(evd_text_equal(made->answers.items[1].question, EVD_TEXT("d")));
    ck_assert_uint_eq(made->withdrawn.count, 2);
    ck_assert(evd_text_equal(made->withdrawn.items[0].question, EVD_TEXT("e")));
    ck_assert(evd_text_equal(made->withdrawn.items[1].question, EVD_TEXT("c")));
    ck_assert_uint_eq(evd_draft_places(made), 4);
    const struct evd_draft_content *first = evd_draft_overlay(NULL, &over, NULL, 0, &arena);
    ck_assert_uint_eq(evd_draft_places(first), 3);
}
END_TEST

START_TEST(places_are_told_apart_by_question_and_path) {
    struct evd_path_step step = {.question = EVD_TEXT("drug"), .element = EVD_TEXT("x")};
    struct evd_answer_change answers[] = {change("dose", "1"), change("dose", "2")};
    answers[1].path.items = &step;
    answers[1].path.count = 1;
    struct evd_answer_place twice[] = {place("dose")};
    struct evd_draft_content apart = content(answers, 2, NULL, 0), repeated = content(answers, 2, twice, 1);
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_draft_check_places(&apart, EVD_TEXT("/content"), &errors);
    ck_assert_uint_eq(errors.total, 0);
    evd_draft_check_places(&repeated, EVD_TEXT("/content"), &errors);
    ck_assert_uint_eq(errors.total, 1);
}
END_TEST

START_TEST(what_is_left_out_is_found_and_what_is_said_again_is_not) {
    struct evd_answer_change draft_answers[] = {change("a", "1"), change("b", "2")};
    struct evd_answer_change same[] = {change("a", "1"), change("b", "2")},
                             more[] = {change("a", "9"), change("b", "2")};
    struct evd_answer_place gone[] = {place("b")};
    struct evd_draft_content draft = content(draft_answers, 2, NULL, 0), fewer = content(same, 1, NULL, 0),
                             equal = content(same, 2, NULL, 0), changed = content(more, 2, NULL, 0),
                             taken_back = content(same, 1, gone, 1);
    ck_assert(evd_draft_goes_beyond(&draft, &fewer, &arena));
    ck_assert(evd_draft_goes_beyond(&draft, NULL, &arena));
    ck_assert(!evd_draft_goes_beyond(&draft, &equal, &arena));
    ck_assert(!evd_draft_goes_beyond(&draft, &changed, &arena));
    ck_assert(!evd_draft_goes_beyond(&draft, &taken_back, &arena));
    ck_assert(!evd_draft_goes_beyond(NULL, &fewer, &arena));
    ck_assert(!evd_draft_overwrites(&equal, &draft, &arena));
    ck_assert(!evd_draft_overwrites(&fewer, &draft, &arena));
    ck_assert(evd_draft_overwrites(&changed, &draft, &arena));
    ck_assert(evd_draft_overwrites(&taken_back, &draft, &arena));
}
END_TEST

START_TEST(the_digest_is_of_everything_that_is_said) {
    struct evd_answer_change one[] = {change("a", "1")}, two[] = {change("a", "1")};
    struct evd_draft_content a = content(one, 1, NULL, 0), b = content(two, 1, NULL, 0);
    struct evd_sha256 digest = evd_draft_digest(&a, &arena), again = evd_draft_digest(&b, &arena);
    ck_assert(evd_sha256_equal(&digest, &again));
    two[0].notes = EVD_TEXT("see table 2");
    again = evd_draft_digest(&b, &arena);
    ck_assert(!evd_sha256_equal(&digest, &again));
}
END_TEST

EVD_TEST_MAIN("domain: drafts", an_autosave_is_judged_by_holder_then_base_then_sequence_then_etag,
              a_draft_nobody_holds_is_anybodys, changes_are_laid_over_place_by_place,
              places_are_told_apart_by_question_and_path, what_is_left_out_is_found_and_what_is_said_again_is_not,
              the_digest_is_of_everything_that_is_said)
