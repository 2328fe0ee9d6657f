/*
 * What a JSON body may cost: depth and number of values are bounded before the parser takes memory, and memory that
 * runs out ends the read without a leak.
 */
#include "../../support/test.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/json.h"
#include "evidenced/records/json_load.h"
#include "fixture.h"
#include "specimen.h"

#include <jansson.h>
#include <malloc.h>

static struct evd_arena arena;

static void arena_renew(void) {
    evd_arena_done(&arena);
    evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
}

/* jansson's memory, counted, and failing at will. */
static struct {
    size_t taken, held, bytes, most_bytes;
    size_t fail_at; /* 0: never */
} memory;

static void *counted_malloc(size_t size_bytes) {
    if (++memory.taken == memory.fail_at) return NULL;
    void *taken = malloc(size_bytes);
    if (taken == NULL) return NULL;
    memory.held++;
    memory.bytes += malloc_usable_size(taken);
    if (memory.bytes > memory.most_bytes) memory.most_bytes = memory.bytes;
    return taken;
}

static void counted_free(void *taken) {
    if (taken != NULL) memory.held--;
    memory.bytes -= malloc_usable_size(taken);
    free(taken);
}

static void count_memory(void) {
    memory.taken = memory.held = memory.bytes = memory.most_bytes = memory.fail_at = 0;
    evd_json_memory(counted_malloc, counted_free);
}

/* A megabyte of the same few bytes, behind a beginning. */
static struct evd_text repeated(const char *begin, const char *unit) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, EVD_LIMIT_COMMAND_BODY_BYTES + 64);
    evd_buffer_add_text(&out, evd_text_from(begin));
    while (out.size_bytes + strlen(unit) <= EVD_LIMIT_COMMAND_BODY_BYTES)
        evd_buffer_add_text(&out, evd_text_from(unit));
    return evd_buffer_text(&out);
}

START_TEST(a_megabyte_of_nothing_is_refused_before_the_parser_takes_memory) {
    static const char *const bodies[][2] = {
        {"", "["},      {"", "{\"\":"}, {"", "[{\"a\":"}, {"", "{}"},         {"[", "{},"},        {"[", "[],"},
        {"[", "1,"},    {"[", "\"\","}, {"[", "[[]],"},   {"[", "{\"\":0},"}, {"[", "{\"\":[]},"}, {"[", " \n1\t,"},
        {"[", "null,"}, {"", "[]"},     {"[", "1 "},      {"\"a", "\"\""},
    };
    count_memory();
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct evd_json_fault fault;
        arena_renew();
        ck_assert_ptr_null(evd_json_parse(repeated(bodies[i][0], bodies[i][1]), &arena, &fault));
        ck_assert_msg(memory.taken == 0, "%s%s: %zu allocations", bodies[i][0], bodies[i][1], memory.taken);
        ck_assert(evd_text_equal(fault.pointer, EVD_TEXT("")));
        ck_assert_ptr_nonnull(memmem(fault.message.bytes, fault.message.size_bytes, "The body ", 9));
    }
}
END_TEST

/* Colons take names out of the count; where they stand wrong, the parser must stop before it builds what they hide. */
START_TEST(colons_do_not_hide_values) {
    static const char *const bodies[] = {"[1,:", "[{},:", "[[]:", "[{}::", "[\"\"::", "{\"a\":1,:", "[1:"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct evd_json_fault fault;
        count_memory();
        arena_renew();
        ck_assert_ptr_null(evd_json_parse(repeated("[", bodies[i]), &arena, &fault));
        ck_assert_msg(memory.most_bytes < 4096, "%s: %zu bytes", bodies[i], memory.most_bytes);
        ck_assert_uint_eq(memory.held, 0);
    }
}
END_TEST

static bool parses(struct evd_text text) {
    struct evd_json_fault fault;
    json_t *json = evd_json_parse(text, &arena, &fault);
    json_decref(json);
    return json != NULL;
}

static struct evd_text nested(size_t depth, const char *open, const char *inside, const char *shut) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 1024);
    for (size_t i = 0; i < depth; i++)
        evd_buffer_add_text(&out, evd_text_from(open));
    evd_buffer_add_text(&out, evd_text_from(inside));
    for (size_t i = 0; i < depth; i++)
        evd_buffer_add_text(&out, evd_text_from(shut));
    return evd_buffer_text(&out);
}

START_TEST(the_deepest_body_is_taken_and_one_level_more_is_not) {
    arena_renew();
    ck_assert(parses(nested(EVD_LIMIT_JSON_DEPTH, "[", "", "]")));
    ck_assert(parses(nested(EVD_LIMIT_JSON_DEPTH, "{\"a\":", "1", "}")));
    ck_assert(!parses(nested(EVD_LIMIT_JSON_DEPTH + 1, "[", "", "]")));
    ck_assert(!parses(nested(EVD_LIMIT_JSON_DEPTH + 1, "{\"a\":", "1", "}")));
}
END_TEST

START_TEST(brackets_in_strings_are_no_depth_and_commas_in_them_no_values) {
    arena_renew();
    struct evd_text brackets = nested(3000, "[{", "\\\\\\\"", ",:");
    ck_assert(parses(evd_text_print(&arena, "[\"" EVD_TEXT_FMT "\"]", EVD_TEXT_ARG(brackets))));
    ck_assert(parses(evd_text_print(&arena, "[\"\\\\\",\"" EVD_TEXT_FMT "\"]", EVD_TEXT_ARG(brackets))));
    ck_assert(parses(nested(1, "[\"", repeated("", ",:{").bytes, "\"]")));
}
END_TEST

/* An array of `count` equal units and what makes the number of values exact. */
static struct evd_text units(size_t count, const char *unit, size_t ones) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, EVD_MIB);
    for (size_t i = 0; i < count + ones; i++) {
        evd_buffer_add_byte(&out, i == 0 ? '[' : ',');
        evd_buffer_add_text(&out, evd_text_from(i < count ? unit : "1"));
    }
    evd_buffer_add_byte(&out, ']');
    return evd_buffer_text(&out);
}

START_TEST(as_many_values_as_the_limit_says_are_taken_and_one_more_is_not) {
    static const struct {
        const char *unit;
        size_t values;
    } table[] = {
        {"1", 1},
        {"-1.5e3", 1},
        {"\"a,b:[{\\\"\"", 1},
        {" null ", 1},
        {"{}", 1},
        {"[]", 1},
        {"[ 1 , 2 ]", 3},
        {"{ \"a\" : \"b\" , \"c\" : [ ] }", 3},
        {"{\"question\":\"q1\",\"path\":[{\"question\":\"u\",\"element\":\"e\"}],\"value\":\"abc\",\"notes\":\"x\"}",
         8},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t room = EVD_LIMIT_JSON_VALUES - 1; /* beside the array itself */
        arena_renew();
        size_t count = room / table[i].values, ones = room % table[i].values;
        ck_assert_msg(parses(units(count, table[i].unit, ones)), "%s", table[i].unit);
        ck_assert_msg(!parses(units(count, table[i].unit, ones + 1)), "%s", table[i].unit);
    }
}
END_TEST

START_TEST(the_costliest_body_that_is_taken_stays_below_32_megabytes) {
    struct evd_json_fault fault;
    static const char *const dear[] = {"{}", "[]", "{\"a\":1}", "{\"a\":{}}", "\"\""};
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++) {
        size_t values = i < 2 || i == 4 ? 1 : 2;
        arena_renew();
        count_memory();
        json_t *json = evd_json_parse(units((EVD_LIMIT_JSON_VALUES - 1) / values, dear[i], 0), &arena, &fault);
        ck_assert_ptr_nonnull(json);
        ck_assert_msg(memory.most_bytes < 32 * EVD_MIB, "%s: %zu bytes", dear[i], memory.most_bytes);
        json_decref(json);
        ck_assert_uint_eq(memory.held, 0);
    }
}
END_TEST

static struct evd_text sample_text(uint64_t seed) {
    struct specimen_maker maker = {.arena = &arena, .state = seed};
    struct evd_sample *sample = EVD_NEW(&arena, struct evd_sample);
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    specimen_fill(&maker, &evd_type_sample, sample);
    evd_json_write(&evd_type_sample, sample, &out);
    return evd_buffer_text(&out);
}

START_TEST(a_parser_without_memory_escapes_at_every_allocation_and_leaks_nothing) {
    jmp_buf escape;
    struct evd_json_fault fault;
    volatile size_t at = 0;
    arena_renew();
    struct evd_text text = sample_text(5);
    do {
        count_memory();
        memory.fail_at = ++at;
        arena.escape = &escape;
        if (setjmp(escape) == 0) {
            json_t *json = evd_json_parse(text, &arena, &fault);
            ck_assert_msg(json != NULL && memory.taken < at, "allocation %zu failed and nobody said so", at);
            json_decref(json);
        }
        ck_assert_msg(memory.held == 0, "allocation %zu failed: %zu blocks leaked", at, memory.held);
    } while (memory.taken >= at);
    memory.fail_at = 0;
    ck_assert_uint_gt(at, 50);
}
END_TEST

START_TEST(an_arena_without_memory_ends_the_read_at_every_allocation) {
    jmp_buf escape;
    volatile int64_t escapes = 0;
    struct evd_json_fault fault;
    arena_renew();
    json_t *json = evd_json_parse(sample_text(6), &arena, &fault);
    ck_assert_ptr_nonnull(json);
    for (volatile int64_t at = 1; at <= escapes + 1; at++) {
        struct evd_arena small;
        evd_arena_init(&small, SPECIMEN_ARENA_BYTES);
        small.escape = &escape;
        small.fail_at = at;
        if (setjmp(escape) == 0) {
            struct evd_sample *sample = EVD_NEW(&small, struct evd_sample);
            ck_assert(evd_json_read(&evd_type_sample, json, &small, sample, &fault));
        } else {
            escapes++;
        }
        evd_arena_done(&small);
    }
    json_decref(json);
    ck_assert_int_gt(escapes, 10);
}
END_TEST

/* Parses with an arena that has no room for the refusal; did it end the attempt? */
static bool escapes_from(struct evd_text body) {
    jmp_buf escape;
    struct evd_arena small;
    struct evd_json_fault fault;
    evd_arena_init(&small, SPECIMEN_ARENA_BYTES);
    small.escape = &escape;
    small.fail_at = 1;
    if (setjmp(escape) != 0) {
        evd_arena_done(&small);
        return true;
    }
    ck_assert_ptr_null(evd_json_parse(body, &small, &fault));
    evd_arena_done(&small);
    return false;
}

START_TEST(a_refusal_without_memory_leaks_nothing) {
    static const struct evd_text bodies[] = {EVD_TEXT_INIT("[1,2"), EVD_TEXT_INIT("{\"a\":1,\"a\":1}")};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        count_memory();
        ck_assert(escapes_from(bodies[i]));
        ck_assert_uint_eq(memory.held, 0);
    }
}
END_TEST

EVD_TEST_MAIN("records: what a JSON body may cost", a_megabyte_of_nothing_is_refused_before_the_parser_takes_memory,
              colons_do_not_hide_values, the_deepest_body_is_taken_and_one_level_more_is_not,
              brackets_in_strings_are_no_depth_and_commas_in_them_no_values,
              as_many_values_as_the_limit_says_are_taken_and_one_more_is_not,
              the_costliest_body_that_is_taken_stays_below_32_megabytes,
              a_parser_without_memory_escapes_at_every_allocation_and_leaks_nothing,
              an_arena_without_memory_ends_the_read_at_every_allocation, a_refusal_without_memory_leaks_nothing)
