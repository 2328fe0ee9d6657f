#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/crash.h"
#include "evidenced/base/limits.h"
#include "evidenced/base/random.h"

#include <signal.h>
#include <stdalign.h>
#include <sys/wait.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

#define ASSERT_TEXT(text, literal)                                                                                     \
    do {                                                                                                               \
        struct evd_text is_ = (text);                                                                                  \
        ck_assert_msg(evd_text_equal(is_, evd_text_from(literal)), "`" EVD_TEXT_FMT "`, not `%s`", EVD_TEXT_ARG(is_),  \
                      (literal));                                                                                      \
    } while (0)

/* ---- arena ---- */

/* Does this allocation end at the escape? What was allocated before it stays the arena's. */
static bool escapes(struct evd_arena *arena, size_t count, size_t size_bytes) {
    jmp_buf escape;
    jmp_buf *before = arena->escape;
    volatile bool escaped = true;
    arena->escape = &escape;
    if (setjmp(escape) == 0) {
        (void)evd_arena_alloc_array(arena, count, size_bytes);
        escaped = false;
    }
    arena->escape = before;
    return escaped;
}

START_TEST(memory_from_an_arena_is_zeroed_aligned_and_does_not_overlap) {
    struct evd_arena arena;
    static const size_t sizes[] = {1, 0, 7, 8, 15, 16, 17, 100, 5000, 20000, 70000, 3, 2000000, 1};
    uint8_t *pieces[COUNT(sizes)];
    evd_arena_init(&arena, 16 * EVD_MIB);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        pieces[i] = evd_arena_alloc(&arena, sizes[i]);
        ck_assert_uint_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            ck_assert_uint_eq(pieces[i][at], 0);
        memset(pieces[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (size_t at = 0; at < sizes[i]; at++)
            ck_assert_uint_eq(pieces[i][at], i + 1);
    evd_arena_done(&arena);
}
END_TEST

START_TEST(memory_is_zeroed_again_after_a_reset) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    uint8_t *first = evd_arena_alloc(&arena, 1000);
    memset(first, 0xAA, 1000);
    evd_arena_reset(&arena);
    uint8_t *again = evd_arena_alloc(&arena, 1000);
    ck_assert_ptr_eq(again, first);
    for (size_t i = 0; i < 1000; i++)
        ck_assert_uint_eq(again[i], 0);
    evd_arena_done(&arena);
}
END_TEST

START_TEST(an_arena_takes_nothing_before_its_first_allocation) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    evd_arena_reset(&arena);
    ck_assert_uint_eq(arena.held_bytes, 0);
    ck_assert_ptr_null(arena.blocks);
    evd_arena_done(&arena);
    evd_arena_done(&arena);
    evd_arena_done(NULL);
}
END_TEST

START_TEST(a_reset_gives_back_all_but_the_first_block) {
    struct evd_arena arena;
    evd_arena_init(&arena, 16 * EVD_MIB);
    (void)evd_arena_alloc(&arena, 100);
    size_t first_bytes = arena.held_bytes;
    for (unsigned i = 0; i < 100; i++)
        (void)evd_arena_alloc(&arena, 50000);
    ck_assert_uint_gt(arena.held_bytes, first_bytes);
    evd_arena_reset(&arena);
    ck_assert_uint_eq(arena.held_bytes, first_bytes);
    evd_arena_done(&arena);
    ck_assert_uint_eq(arena.held_bytes, 0);
}
END_TEST

START_TEST(an_arena_never_holds_more_than_its_cap) {
    for (size_t cap = 0; cap < 100000; cap += 977) {
        struct evd_arena arena;
        size_t taken = 0;
        evd_arena_init(&arena, cap);
        while (!escapes(&arena, 1, 1000))
            taken += 1000;
        ck_assert_uint_le(arena.held_bytes, cap);
        ck_assert_uint_ge(taken + 3000, cap > 3000 ? cap * 9 / 10 : 0); /* and most of it can be used */
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(a_request_too_large_for_any_arena_escapes_and_the_arena_stays_usable) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    ck_assert(escapes(&arena, 1, EVD_MIB));
    ck_assert(escapes(&arena, 1, SIZE_MAX));
    ck_assert(escapes(&arena, 1, SIZE_MAX - 15));
    ck_assert(escapes(&arena, SIZE_MAX / 2, 4));
    ck_assert(escapes(&arena, 2, SIZE_MAX / 2 + 1));
    ck_assert(!escapes(&arena, 1, 1));
    ck_assert(!escapes(&arena, 0, SIZE_MAX));
    evd_arena_done(&arena);
}
END_TEST

START_TEST(the_allocation_that_is_to_fail_fails_once) {
    for (int64_t fail_at = 1; fail_at <= 5; fail_at++) {
        struct evd_arena arena;
        evd_arena_init(&arena, EVD_MIB);
        arena.fail_at = fail_at;
        for (int64_t i = 1; i <= 10; i++)
            ck_assert_int_eq(escapes(&arena, 1, 8), i == fail_at);
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(without_an_escape_exhaustion_aborts) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct evd_arena arena;
        evd_arena_init(&arena, 10);
        (void)evd_arena_alloc(&arena, 100);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

START_TEST(a_copy_is_a_copy) {
    struct evd_arena arena;
    char from[] = "bytes";
    evd_arena_init(&arena, EVD_MIB);
    char *copy = evd_arena_copy(&arena, from, sizeof from);
    from[0] = '!';
    ck_assert_str_eq(copy, "bytes");
    (void)evd_arena_copy(&arena, NULL, 0);
    evd_arena_done(&arena);
}
END_TEST

/* ---- buffer ---- */

START_TEST(a_buffer_grows_and_keeps_what_was_added) {
    struct evd_arena arena;
    struct evd_buffer buffer;
    evd_arena_init(&arena, 16 * EVD_MIB);
    evd_buffer_init(&buffer, &arena, 0);
    for (unsigned i = 0; i < 20000; i++) {
        evd_buffer_print(&buffer, "%u", i % 10);
        evd_buffer_add_byte(&buffer, ',');
        evd_buffer_add_text(&buffer, EVD_TEXT("-"));
        evd_buffer_add(&buffer, NULL, 0);
        *evd_buffer_extend(&buffer, 1) = '.';
    }
    struct evd_text text = evd_buffer_text(&buffer);
    ck_assert_uint_eq(text.size_bytes, 80000);
    for (size_t i = 0; i < text.size_bytes; i++)
        ck_assert_int_eq(text.bytes[i], i % 4 == 0 ? (char)('0' + i / 4 % 10) : ",-."[i % 4 - 1]);
    evd_arena_done(&arena);
}
END_TEST

START_TEST(a_print_longer_than_the_room_left_is_whole) {
    struct evd_arena arena;
    struct evd_buffer buffer;
    char digits[1000];
    memset(digits, '7', sizeof digits);
    evd_arena_init(&arena, EVD_MIB);
    for (int size = 60; size <= 70; size++) { /* around the first capacity */
        evd_buffer_init(&buffer, &arena, 64);
        evd_buffer_print(&buffer, "%.*s", size, digits);
        evd_buffer_print(&buffer, "%s", "");
        ck_assert_uint_eq(buffer.size_bytes, (size_t)size);
        ck_assert_int_eq(memcmp(buffer.bytes, digits, (size_t)size), 0);
    }
    evd_arena_done(&arena);
}
END_TEST

START_TEST(an_extension_no_memory_could_hold_escapes) {
    struct evd_arena arena;
    struct evd_buffer buffer;
    jmp_buf escape;
    volatile unsigned escaped = 0;
    evd_arena_init(&arena, EVD_MIB);
    arena.escape = &escape;
    evd_buffer_init(&buffer, &arena, 64);
    evd_buffer_add_byte(&buffer, 'x');
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, 2 * EVD_MIB};
    for (volatile size_t i = 0; i < COUNT(sizes); i++) {
        if (setjmp(escape) == 0)
            (void)evd_buffer_extend(&buffer, sizes[i]);
        else
            escaped = escaped + 1;
    }
    ck_assert_uint_eq(escaped, COUNT(sizes));
    ASSERT_TEXT(evd_buffer_text(&buffer), "x");
    evd_arena_done(&arena);
}
END_TEST

/* ---- randomness, crash points ---- */

START_TEST(a_random_number_is_below_its_bound) {
    struct evd_test_random random;
    unsigned seen[10] = {0};
    evd_test_random_init(&random, 11);
    ck_assert_uint_eq(evd_random_below(&random.random, 0), 0);
    ck_assert_uint_eq(evd_random_below(&random.random, 1), 0);
    for (unsigned i = 0; i < 1000; i++) {
        uint64_t number = evd_random_below(&random.random, 10);
        ck_assert_uint_lt(number, 10);
        seen[number]++;
    }
    for (unsigned i = 0; i < 10; i++)
        ck_assert_uint_gt(seen[i], 0);
}
END_TEST

START_TEST(crash_points_have_names_of_their_own) {
    for (int i = 0; i < EVD_CRASH_COUNT; i++) {
        const char *name = evd_crash_point_name((enum evd_crash_point)i);
        ck_assert_uint_gt(strlen(name), 0);
        ck_assert_uint_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
        ck_assert_uint_gt(strlen(evd_crash_point_meaning((enum evd_crash_point)i)), 0);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(name, evd_crash_point_name((enum evd_crash_point)j));
    }
}
END_TEST

/* How a process ends that passes DERIVED `passes` times: a signal, or 0. */
static int end_of(const char *wish, unsigned passes) {
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (wish == NULL ? unsetenv("EVIDENCED_CRASH_AT") : setenv("EVIDENCED_CRASH_AT", wish, 1)) _exit(1);
        EVD_CRASH_POINT(COMMIT_AFTER);
        for (unsigned i = 0; i < passes; i++)
            EVD_CRASH_POINT(DERIVED);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static const struct {
    const char *wish;
    unsigned passes;
    int end;
} crashes[] = {
    {NULL, 1, 0},
    {"derived", 1, SIGKILL},
    {"derived", 0, 0},
    {"derived:1", 1, SIGKILL},
    {"derived:3", 2, 0},
    {"derived:3", 3, SIGKILL},
    {"derived:3", 4, SIGKILL},
    {"snapshot-read", 1, 0},
    {"derive", 1, SIGABRT}, /* a misspelt wish must not look like a survived crash */
    {"derivedd", 1, SIGABRT},
    {"", 1, SIGABRT},
    {"derived:", 1, SIGABRT},
    {"derived:0", 1, SIGABRT},
    {"derived:-1", 1, SIGABRT},
    {"derived:x", 1, SIGABRT},
};

#ifdef EVD_TEST
static const bool can_crash = true;
#else
static const bool can_crash = false; /* and no wish may change that */
#endif

START_TEST(a_process_crashes_at_the_wished_pass_of_the_wished_point_in_a_test_build_only) {
    for (size_t i = 0; i < COUNT(crashes); i++)
        ck_assert_msg(end_of(crashes[i].wish, crashes[i].passes) == (can_crash ? crashes[i].end : 0), "row %zu", i);
}
END_TEST

EVD_TEST_MAIN("base: memory, randomness, crash points", memory_from_an_arena_is_zeroed_aligned_and_does_not_overlap,
              memory_is_zeroed_again_after_a_reset, an_arena_takes_nothing_before_its_first_allocation,
              a_reset_gives_back_all_but_the_first_block, an_arena_never_holds_more_than_its_cap,
              a_request_too_large_for_any_arena_escapes_and_the_arena_stays_usable,
              the_allocation_that_is_to_fail_fails_once, without_an_escape_exhaustion_aborts, a_copy_is_a_copy,
              a_buffer_grows_and_keeps_what_was_added, a_print_longer_than_the_room_left_is_whole,
              an_extension_no_memory_could_hold_escapes, a_random_number_is_below_its_bound,
              crash_points_have_names_of_their_own,
              a_process_crashes_at_the_wished_pass_of_the_wished_point_in_a_test_build_only)
