/*
 * Any bytes as a request target, and as a path alone.
 *
 * What decodes is UTF-8 without NUL, and escaped anew it decodes to the same. What the router finds is what walking all
 * templates finds, segment by segment; the ids it gives are the path's, in lower case, and all others are nil.
 */
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/base/limits.h"
#include "evidenced/commands/table.h"
#include "evidenced/http/router.h"

#include "../../src/http/target.h"
#include "expect.h"

enum { ARENA_BYTES = 4 << 20, MOST_SEGMENTS = 16 };

static const struct {
    const char *name;
    size_t offset;
} ids[] = {
    {"{project}", offsetof(struct evd_ids, project)},     {"{study}", offsetof(struct evd_ids, study)},
    {"{form}", offsetof(struct evd_ids, form)},           {"{stage}", offsetof(struct evd_ids, stage)},
    {"{version}", offsetof(struct evd_ids, version)},     {"{investigator}", offsetof(struct evd_ids, investigator)},
    {"{session}", offsetof(struct evd_ids, session)},     {"{copy}", offsetof(struct evd_ids, copy)},
    {"{operation}", offsetof(struct evd_ids, operation)},
};

enum { IDS = sizeof ids / sizeof *ids };

static bool is_clean(struct evd_text text) {
    return evd_text_is_utf8(text) && (text.size_bytes == 0 || memchr(text.bytes, '\0', text.size_bytes) == NULL);
}

static bool stays(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Escape all that can be; `kept` is what may or must stay as it is. */
static void escape(struct evd_buffer *out, struct evd_text text, const char *kept) {
    for (size_t i = 0; i < text.size_bytes; i++) {
        char c = text.bytes[i];
        if (stays(c) || strchr(kept, c) != NULL)
            evd_buffer_add_byte(out, (uint8_t)c);
        else
            evd_buffer_print(out, "%%%02x", (unsigned)(unsigned char)c);
    }
}

static struct evd_text escaped(struct evd_arena *arena, const struct evd_target *target) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 1024);
    escape(&out, target->path, evd_text_equal(target->path, EVD_TEXT("*")) ? "*" : "/\\");
    for (size_t i = 0; i < target->parameter_count; i++) {
        evd_buffer_add_byte(&out, i == 0 ? '?' : '&');
        escape(&out, target->parameters[i].name, "");
        evd_buffer_add_byte(&out, '=');
        escape(&out, target->parameters[i].value, "");
    }
    return evd_buffer_text(&out);
}

static void expect_same(const struct evd_target *target, const struct evd_target *again) {
    EXPECT(evd_text_equal(target->path, again->path));
    EXPECT(target->parameter_count == again->parameter_count);
    for (size_t i = 0; i < target->parameter_count; i++) {
        EXPECT(evd_text_equal(target->parameters[i].name, again->parameters[i].name));
        EXPECT(evd_text_equal(target->parameters[i].value, again->parameters[i].value));
    }
}

static void expect_decoded(struct evd_arena *arena, const struct evd_target *target) {
    struct evd_target again;
    EXPECT(target->path.size_bytes > 0 && target->path.size_bytes <= EVD_LIMIT_PATH_BYTES && is_clean(target->path));
    EXPECT(target->path.bytes[0] == '/' || evd_text_equal(target->path, EVD_TEXT("*")));
    EXPECT(target->parameter_count <= EVD_LIMIT_QUERY_PARAMETERS);
    for (size_t i = 0; i < target->parameter_count; i++)
        EXPECT(is_clean(target->parameters[i].name) && is_clean(target->parameters[i].value));
    struct evd_text raw = escaped(arena, target);
    if (raw.size_bytes > EVD_TARGET_BYTES) return;
    EXPECT(evd_target_decode(arena, raw, &again).status == 0);
    expect_same(target, &again);
}

/* The segments behind the slashes; more than `most` are counted and not kept. */
static size_t segments_of(struct evd_text path, struct evd_text ret_segments[MOST_SEGMENTS]) {
    size_t count = 0, from = 1;
    for (size_t at = 1; at <= path.size_bytes; at++) {
        if (at < path.size_bytes && path.bytes[at] != '/') continue;
        if (count < MOST_SEGMENTS) ret_segments[count] = (struct evd_text){path.bytes + from, at - from};
        count++;
        from = at + 1;
    }
    return count;
}

/* Is it a UUID's text, and which? */
static bool is_id(struct evd_text segment, evd_uuid *ret_id) {
    char lower[EVD_UUID_TEXT_BYTES + 1], formatted[EVD_UUID_TEXT_BYTES + 1];
    if (segment.size_bytes != EVD_UUID_TEXT_BYTES || !evd_uuid_parse(segment, ret_id)) return false;
    for (size_t i = 0; i < EVD_UUID_TEXT_BYTES; i++) {
        char c = segment.bytes[i];
        lower[i] = (char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
    }
    evd_uuid_format(*ret_id, formatted);
    EXPECT(memcmp(lower, formatted, EVD_UUID_TEXT_BYTES) == 0);
    return true;
}

static bool fits(struct evd_text template, struct evd_text path, struct evd_ids *ret_ids) {
    struct evd_text wanted[MOST_SEGMENTS], given[MOST_SEGMENTS];
    size_t count = segments_of(template, wanted);
    EXPECT(count <= MOST_SEGMENTS);
    *ret_ids = (struct evd_ids){0};
    if (path.size_bytes == 0 || path.bytes[0] != '/' || segments_of(path, given) != count) return false;
    for (size_t i = 0; i < count; i++) {
        evd_uuid id;
        if (evd_text_equal(wanted[i], given[i]) && wanted[i].bytes[0] != '{') continue;
        if (wanted[i].bytes[0] != '{' || !is_id(given[i], &id)) return false;
        for (size_t p = 0; p < IDS; p++)
            if (evd_text_equal(wanted[i], evd_text_from(ids[p].name)))
                memcpy((char *)ret_ids + ids[p].offset, &id, sizeof id);
    }
    return true;
}

static const struct evd_command *const *table;
static size_t table_count;

static void expect_found(const struct evd_router *router, struct evd_text path) {
    struct evd_route route;
    struct evd_ids wanted;
    bool found = evd_router_find(router, path, &route), any = false;
    for (size_t i = 0; i < table_count; i++) {
        if (table[i]->path == NULL || !fits(evd_text_from(table[i]->path), path, &wanted)) continue;
        any = true;
        EXPECT(found && route.commands[table[i]->method] == table[i] && route.numbers[table[i]->method] == i);
        EXPECT(strcmp(route.path, table[i]->path) == 0);
        EXPECT(memcmp(&route.ids, &wanted, sizeof wanted) == 0);
    }
    EXPECT(found == any);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct evd_router *router; /* for the process's life */
    struct evd_arena arena;
    struct evd_target target;
    const struct evd_text raw = {(const char *)data, size};
    if (router == NULL) {
        table = evd_command_table(&table_count);
        router = evd_router_new(table, table_count);
    }
    evd_arena_init(&arena, ARENA_BYTES);
    if (size > 0) expect_found(router, raw);
    struct evd_guard_refusal refusal = evd_target_decode(&arena, raw, &target);
    EXPECT(refusal.status == 0 || refusal.status == 400 || refusal.status == 414);
    if (refusal.status == 0) {
        expect_decoded(&arena, &target);
        expect_found(router, target.path);
    }
    evd_arena_done(&arena);
    return 0;
}
