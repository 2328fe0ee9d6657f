#include "../../../src/http/guard.h"
#include "../../../src/http/target.h"
#include "../../../src/http/trace.h"
#include "../../support/test.h"

#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

enum { MOST_FIELDS = 4, ARENA_BYTES = 256 * 1024 };

#define FIELD(name, value)                                                                                             \
    { EVD_TEXT_INIT(name), EVD_TEXT_INIT(value) }
#define HOST FIELD("Host", "x")

static const struct {
    const char *what, *method, *version;
    struct evd_http_field fields[MOST_FIELDS]; /* up to the first without a name */
    unsigned status;
    size_t length;
} heads[] = {
    {"a plain one", "GET", "HTTP/1.1", {HOST}, 0, 0},
    {"a length", "POST", "HTTP/1.1", {HOST, FIELD("content-LENGTH", "42")}, 0, 42},
    {"leading zeros", "POST", "HTTP/1.1", {HOST, FIELD("Content-Length", "0042")}, 0, 42},
    {"HTTP/1.0 without a host", "GET", "HTTP/1.0", {FIELD("Accept", "*/*")}, 0, 0},
    {"identity", "POST", "HTTP/1.1", {HOST, FIELD("Content-Encoding", "identity")}, 0, 0},
    {"a tab in a value", "GET", "HTTP/1.1", {HOST, FIELD("A", "b\tc")}, 0, 0},
    {"bytes above ASCII in a value", "GET", "HTTP/1.1", {HOST, FIELD("A", "\xE4")}, 0, 0},
    {"a host with a port", "GET", "HTTP/1.1", {FIELD("Host", "[::1]:8080")}, 0, 0},
    {"OPTIONS", "OPTIONS", "HTTP/1.1", {HOST}, 0, 0},
    {"gzip", "POST", "HTTP/1.1", {HOST, FIELD("Content-Encoding", "gzip")}, 415, 0},
    {"identity, then gzip",
     "POST",
     "HTTP/1.1",
     {HOST, FIELD("Content-Encoding", "identity"), FIELD("Content-Encoding", "gzip")},
     415,
     0},
    {"chunked", "POST", "HTTP/1.1", {HOST, FIELD("Transfer-Encoding", "Chunked")}, 411, 0},
    {"another coding", "POST", "HTTP/1.1", {HOST, FIELD("Transfer-Encoding", "deflate")}, 501, 0},
    {"no host", "GET", "HTTP/1.1", {FIELD("Accept", "*/*")}, 400, 0},
    {"two hosts", "GET", "HTTP/1.1", {HOST, HOST}, 400, 0},
    {"a path for a host", "GET", "HTTP/1.1", {FIELD("Host", "x/y")}, 400, 0},
    {"a user before the host", "GET", "HTTP/1.1", {FIELD("Host", "u@x")}, 400, 0},
    {"both lengths", "POST", "HTTP/1.1", {HOST, FIELD("Content-Length", "1"), FIELD("Content-Length", "1")}, 400, 0},
    {"a length and a coding",
     "POST",
     "HTTP/1.1",
     {HOST, FIELD("Content-Length", "1"), FIELD("Transfer-Encoding", "chunked")},
     400,
     0},
    {"a length of nothing", "POST", "HTTP/1.1", {HOST, FIELD("Content-Length", "")}, 400, 0},
    {"the largest number", "POST", "HTTP/1.1", {HOST, FIELD("Content-Length", "18446744073709551615")}, 400, 0},
    {"a number over it", "POST", "HTTP/1.1", {HOST, FIELD("Content-Length", "18446744073709551616")}, 400, 0},
    {"a blank in a name", "GET", "HTTP/1.1", {HOST, FIELD("A ", "b")}, 400, 0},
    {"bytes above ASCII in a name", "GET", "HTTP/1.1", {HOST, FIELD("\xE4", "b")}, 400, 0},
    {"a delete in a value", "GET", "HTTP/1.1", {HOST, FIELD("A", "\x7F")}, 400, 0},
    {"a method in small letters", "post", "HTTP/1.1", {HOST}, 501, 0},
    {"no method", "", "HTTP/1.1", {HOST}, 501, 0},
    {"a later version", "GET", "HTTP/1.3", {HOST}, 505, 0},
};

START_TEST(a_head_is_judged_by_its_framing_first) {
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t length = 7, count = 0;
        while (count < MOST_FIELDS && heads[i].fields[count].name.bytes != NULL)
            count++;
        struct evd_guard_head head = {.method = evd_text_from(heads[i].method),
                                      .version = evd_text_from(heads[i].version),
                                      .fields = heads[i].fields,
                                      .field_count = count};
        struct evd_guard_refusal refusal = evd_guard_check(&head, &length);
        ck_assert_msg(refusal.status == heads[i].status, "%s: %u, not %u", heads[i].what, refusal.status,
                      heads[i].status);
        ck_assert_msg((refusal.what == NULL) == (refusal.status == 0), "%s", heads[i].what);
        ck_assert_msg(length == (refusal.status == 0 ? heads[i].length : 7), "%s: %zu", heads[i].what, length);
    }
}
END_TEST

#define SIXTEEN "1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&16&"

static const struct {
    const char *raw, *path, *q;
    unsigned status;
} targets[] = {
    {"/", "/", NULL, 0},
    {"*", "*", NULL, 0},
    {"/v1/projects", "/v1/projects", NULL, 0},
    {"/caf%C3%A9", "/caf\xC3\xA9", NULL, 0},
    {"/a%2520b", "/a%20b", NULL, 0},
    {"/a+b", "/a+b", NULL, 0},
    {"//", "//", NULL, 0},
    {"/a?", "/a", NULL, 0},
    {"/a?q=1", "/a", "1", 0},
    {"/a?q", "/a", "", 0},
    {"/a?q=", "/a", "", 0},
    {"/a?q=1&q=2", "/a", "1", 0},
    {"/a?x=1&q=b+c%26d%3D", "/a", "b c&d=", 0},
    {"/a?&&q=a=b&", "/a", "a=b", 0},
    {"/a?q=%0A", "/a", "\n", 0},
    {"/a?q=/?", "/a", "/?", 0},
    {"/...", "/...", NULL, 0},
    {"", NULL, NULL, 400},
    {"a", NULL, NULL, 400},
    {"*?q=1", NULL, NULL, 400},
    {"http://x/a", NULL, NULL, 400},
    {"/%", NULL, NULL, 400},
    {"/%4", NULL, NULL, 400},
    {"/%4g", NULL, NULL, 400},
    {"/%%41", NULL, NULL, 400},
    {"/%00", NULL, NULL, 400},
    {"/a%00b", NULL, NULL, 400},
    {"/a?q=%00", NULL, NULL, 400},
    {"/a?%zz", NULL, NULL, 400},
    {"/%0a", NULL, NULL, 400},
    {"/%7F", NULL, NULL, 400},
    {"/a%2Fb", NULL, NULL, 400},
    {"/a%5cb", NULL, NULL, 400},
    {"/a/../b", NULL, NULL, 400},
    {"/a/%2e%2E", NULL, NULL, 400},
    {"/./a", NULL, NULL, 400},
    {"/%C3", NULL, NULL, 400},
    {"/%C0%AF", NULL, NULL, 400},
    {"/a?q=%FF", NULL, NULL, 400},
    {"/a b", NULL, NULL, 400},
    {"/a#b", NULL, NULL, 400},
    {"/caf\xC3\xA9", NULL, NULL, 400},
    {"/a\tb", NULL, NULL, 400},
    {"/a?" SIXTEEN SIXTEEN SIXTEEN "1&2&3&4&5&6&7&8&9&10&11&12&13&14&15&q", "/a", "", 0},
    {"/a?" SIXTEEN SIXTEEN SIXTEEN SIXTEEN "q", NULL, NULL, 400},
};

_Static_assert(EVD_LIMIT_QUERY_PARAMETERS == 64, "as many as the table tries");

static struct evd_text parameter(const struct evd_target *target, const char *name) {
    for (size_t i = 0; i < target->parameter_count; i++)
        if (evd_text_equal(target->parameters[i].name, evd_text_from(name))) return target->parameters[i].value;
    return (struct evd_text){NULL, 0};
}

START_TEST(a_target_is_decoded_once_or_refused) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct evd_arena arena;
        struct evd_target target = {.path = EVD_TEXT("untouched")};
        evd_arena_init(&arena, ARENA_BYTES);
        struct evd_guard_refusal refusal = evd_target_decode(&arena, evd_text_from(targets[i].raw), &target);
        ck_assert_msg(refusal.status == targets[i].status, "%s: %u", targets[i].raw, refusal.status);
        const char *path = targets[i].status == 0 ? targets[i].path : "untouched";
        ck_assert_msg(evd_text_equal(target.path, evd_text_from(path)), "%s: " EVD_TEXT_FMT, targets[i].raw,
                      EVD_TEXT_ARG(target.path));
        struct evd_text q = parameter(&target, "q");
        ck_assert_msg((q.bytes == NULL) == (targets[i].q == NULL), "%s", targets[i].raw);
        ck_assert_msg(evd_text_equal(q, evd_text_from(targets[i].q)), "%s", targets[i].raw);
        evd_arena_done(&arena);
    }
}
END_TEST

/* The status for a path of `plain` letters and `escaped` escapes behind the slash. */
static unsigned status_of_long(size_t plain, size_t escaped) {
    struct evd_arena arena;
    struct evd_target target;
    char *raw = malloc(1 + plain + 3 * escaped);
    raw[0] = '/';
    memset(raw + 1, 'a', plain);
    for (size_t i = 0; i < escaped; i++)
        memcpy(raw + 1 + plain + 3 * i, "%61", 3);
    evd_arena_init(&arena, ARENA_BYTES);
    struct evd_text text = {raw, 1 + plain + 3 * escaped};
    unsigned status = evd_target_decode(&arena, text, &target).status;
    evd_arena_done(&arena);
    free(raw);
    return status;
}

START_TEST(a_path_is_limited_as_decoded) {
    ck_assert_uint_eq(status_of_long(EVD_LIMIT_PATH_BYTES - 1, 0), 0);
    ck_assert_uint_eq(status_of_long(EVD_LIMIT_PATH_BYTES, 0), 414);
    ck_assert_uint_eq(status_of_long(0, EVD_LIMIT_PATH_BYTES - 1), 0);
    ck_assert_uint_eq(status_of_long(0, EVD_LIMIT_PATH_BYTES), 414);
    ck_assert_uint_eq(status_of_long(EVD_TARGET_BYTES, 0), 414);
}
END_TEST

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"
#define ZEROS  "00000000000000000000000000000000"

static const struct {
    const char *traceparent;
    bool honoured;
} traces[] = {
    {"00-" TRACE "-" PARENT "-01", true},
    {"00-" TRACE "-" PARENT "-ff", true},
    {"cc-" TRACE "-" PARENT "-01", true},
    {"cc-" TRACE "-" PARENT "-01-more", true},
    {"", false},
    {"00", false},
    {TRACE, false},
    {"00-" TRACE "-" PARENT, false},
    {"00-" TRACE "-" PARENT "-1", false},
    {"00-" TRACE "-" PARENT "-01-more", false},
    {"cc-" TRACE "-" PARENT "-01more", false},
    {"ff-" TRACE "-" PARENT "-01", false},
    {"0g-" TRACE "-" PARENT "-01", false},
    {"00-" ZEROS "-" PARENT "-01", false},
    {"00-" TRACE "-0000000000000000-01", false},
    {"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01", false},
    {"00-" TRACE "-" PARENT "-0x", false},
    {"00_" TRACE "_" PARENT "_01", false},
    {" 00-" TRACE "-" PARENT "-01", false},
};

START_TEST(a_well_formed_trace_is_continued_and_any_other_begins_anew) {
    char before[EVD_TRACE_ID_BYTES + 1] = "";
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        char id[EVD_TRACE_ID_BYTES + 1];
        evd_trace_id(evd_text_from(traces[i].traceparent), id);
        ck_assert_msg((strcmp(id, TRACE) == 0) == traces[i].honoured, "%s", traces[i].traceparent);
        ck_assert_uint_eq(strspn(id, "0123456789abcdef"), EVD_TRACE_ID_BYTES);
        ck_assert_uint_eq(strlen(id), EVD_TRACE_ID_BYTES);
        if (!traces[i].honoured) ck_assert_str_ne(id, before);
        memcpy(before, id, sizeof before);
    }
}
END_TEST

EVD_TEST_MAIN("http: guard", a_head_is_judged_by_its_framing_first, a_target_is_decoded_once_or_refused,
              a_path_is_limited_as_decoded, a_well_formed_trace_is_continued_and_any_other_begins_anew)
