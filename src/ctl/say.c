#include "say.h"

#include "evidenced/base/buffer.h"

#include <errno.h>
#include <stdarg.h>

/* Bytes of the character at `at`, all of it continuation bytes too; what is no UTF-8 comes byte by byte. */
static size_t character_bytes(struct evd_text text, size_t at) {
    size_t size_bytes = 1;
    while (at + size_bytes < text.size_bytes && ((unsigned char)text.bytes[at + size_bytes] & 0xc0) == 0x80)
        size_bytes++;
    return size_bytes;
}

/* C0, DEL, C1, and the marks that turn the direction of the line around. */
static bool is_harmless(struct evd_text character) {
    const unsigned char *bytes = (const unsigned char *)character.bytes;
    if (!evd_text_is_utf8(character) || bytes[0] < 0x20 || bytes[0] == 0x7f) return false;
    if (character.size_bytes == 2 && bytes[0] == 0xc2 && bytes[1] < 0xa0) return false;
    bool is_general = character.size_bytes == 3 && bytes[0] == 0xe2;
    bool is_override = is_general && bytes[1] == 0x80 && bytes[2] >= 0xaa && bytes[2] <= 0xae;
    return !is_override && !(is_general && bytes[1] == 0x81 && bytes[2] >= 0xa6 && bytes[2] <= 0xa9);
}

static void put_character(FILE *to, struct evd_text character, bool lines) {
    if (character.bytes[0] == '\n' || character.bytes[0] == '\t' || character.bytes[0] == '\r')
        (void)fputc(lines && character.bytes[0] == '\n' ? '\n' : ' ', to);
    else if (is_harmless(character))
        (void)fwrite(character.bytes, 1, character.size_bytes, to);
    else
        (void)fputc('?', to);
}

void evd_ctl_put(FILE *to, struct evd_text text, bool lines) {
    for (size_t at = 0; at < text.size_bytes;) {
        struct evd_text character = {text.bytes + at, character_bytes(text, at)};
        put_character(to, character, lines);
        at += character.size_bytes;
    }
}

/* Complaints. */

static void put_error(struct evd_ctl *ctl, const char *before, const char *format, va_list arguments) {
    char *text = NULL;
    (void)ctl;
    if (vasprintf(&text, format, arguments) < 0) return;
    (void)fputs(before, stderr);
    evd_ctl_put(stderr, evd_text_from(text), false);
    (void)fputc('\n', stderr);
    free(text);
}

void evd_ctl_complain(struct evd_ctl *ctl, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_error(ctl, "evidencectl: ", format, arguments);
    va_end(arguments);
}

void evd_ctl_add(struct evd_ctl *ctl, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_error(ctl, "  ", format, arguments);
    va_end(arguments);
}

enum evd_ctl_exit evd_ctl_misuse(struct evd_ctl *ctl, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    put_error(ctl, "evidencectl: ", format, arguments);
    va_end(arguments);
    (void)fprintf(stderr, "Try: evidencectl %s%s--help\n", ctl->verb == NULL ? "" : ctl->verb->name,
                  ctl->verb == NULL ? "" : " ");
    return EVD_CTL_MISUSED;
}

/* Results. */

void evd_ctl_print_line(const char *text) {
    evd_ctl_put(stdout, evd_text_from(text), false);
    (void)fputc('\n', stdout);
}

enum evd_ctl_exit evd_ctl_flush(struct evd_ctl *ctl) {
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return EVD_CTL_DONE;
    return EVD_CTL_FAIL(ctl, "Standard output cannot be written: %s.", strerrordesc_np(errno));
}

const char *evd_ctl_canonical_id(struct evd_ctl *ctl, const char *text) {
    char *canonical = evd_arena_alloc(&ctl->arena, EVD_UUID_TEXT_BYTES + 1);
    evd_uuid id = evd_uuid_nil();
    (void)evd_uuid_parse(evd_text_from(text), &id);
    evd_uuid_format(id, canonical);
    return canonical;
}

const char *evd_ctl_member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

/* Values as text. */

static struct evd_text string_of(struct evd_ctl *ctl, const json_t *value) {
    return evd_text_copy(&ctl->arena, (struct evd_text){json_string_value(value), json_string_length(value)});
}

static bool are_all_strings(const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!json_is_string(json_array_get(list, i))) return false;
    return true;
}

static struct evd_text list_text(struct evd_ctl *ctl, const json_t *list) {
    struct evd_buffer text;
    size_t count = json_array_size(list);
    if (count == 0) return EVD_TEXT("none");
    if (!are_all_strings(list)) return evd_text_print(&ctl->arena, "%zu", count);
    evd_buffer_init(&text, &ctl->arena, 0);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_text(&text, EVD_TEXT(", "));
        evd_buffer_add_text(&text, string_of(ctl, json_array_get(list, i)));
    }
    evd_buffer_add_byte(&text, '\0');
    return (struct evd_text){evd_buffer_text(&text).bytes, text.size_bytes - 1};
}

static struct evd_text object_text(struct evd_ctl *ctl, const json_t *object) {
    char *dumped = json_dumps(object, JSON_COMPACT);
    struct evd_text text = evd_text_copy(&ctl->arena, evd_text_from(dumped));
    free(dumped);
    return text;
}

static struct evd_text value_text(struct evd_ctl *ctl, const json_t *value) {
    if (value == NULL) return EVD_TEXT("");
    switch (json_typeof(value)) {
    case JSON_NULL: return EVD_TEXT("");
    case JSON_TRUE: return EVD_TEXT("yes");
    case JSON_FALSE: return EVD_TEXT("no");
    case JSON_INTEGER: return evd_text_print(&ctl->arena, "%lld", (long long)json_integer_value(value));
    case JSON_REAL: return evd_text_print(&ctl->arena, "%g", json_real_value(value));
    case JSON_STRING: return string_of(ctl, value);
    case JSON_ARRAY: return list_text(ctl, value);
    case JSON_OBJECT: return object_text(ctl, value);
    }
    abort();
}

static const json_t *inner(const json_t *object, struct evd_text path) {
    const char *dot = memchr(path.bytes, '.', path.size_bytes);
    if (dot == NULL) return json_object_getn(object, path.bytes, path.size_bytes);
    size_t outer = (size_t)(dot - path.bytes);
    return json_object_getn(json_object_getn(object, path.bytes, outer), dot + 1, path.size_bytes - outer - 1);
}

struct evd_text evd_ctl_cell(struct evd_ctl *ctl, const json_t *object, const char *member) {
    for (const char *at = member; *at != '\0';) {
        size_t size_bytes = strcspn(at, "|");
        const json_t *value = inner(object, (struct evd_text){at, size_bytes});
        if (value != NULL && !json_is_null(value)) return value_text(ctl, value);
        at += size_bytes + (at[size_bytes] == '|');
    }
    return EVD_TEXT("");
}

/* Objects: once to see how wide the names are, once to print. */

struct members {
    struct evd_ctl *ctl;
    const char *const *but;
    size_t width; /* 0: measuring */
    size_t widest;
};

static bool is_left_out(const struct members *members, const char *name) {
    for (size_t i = 0; members->but != NULL && members->but[i] != NULL; i++)
        if (strcmp(members->but[i], name) == 0) return true;
    return false;
}

static void put_spaces(size_t count) {
    for (size_t i = 0; i < count; i++)
        (void)fputc(' ', stdout);
}

static void put_padded(struct evd_text text, size_t width) {
    size_t length = evd_text_length(text);
    evd_ctl_put(stdout, text, false);
    put_spaces(length < width ? width - length : 0);
}

static void one_member(struct members *members, struct evd_text name, const json_t *value) {
    size_t length = evd_text_length(name);
    if (length > members->widest) members->widest = length;
    if (members->width == 0) return;
    put_padded(name, members->width + 2);
    evd_ctl_put(stdout, value_text(members->ctl, value), false);
    (void)fputc('\n', stdout);
}

static void walk_members(struct members *members, const char *before,
                         const json_t *object) { // NOLINT(misc-no-recursion)
    const char *key;
    json_t *value;
    json_t *mutable_object = (json_t *)(uintptr_t)object; /* the macro wants one; it changes nothing */
    json_object_foreach(mutable_object, key, value) {
        struct evd_text name = evd_text_print(&members->ctl->arena, "%s%s", before, key);
        if (json_is_null(value) || is_left_out(members, name.bytes)) continue;
        if (json_is_object(value) && before[0] == '\0')
            walk_members(members, evd_text_print(&members->ctl->arena, "%s.", key).bytes, value);
        else
            one_member(members, name, value);
    }
}

void evd_ctl_show_object(struct evd_ctl *ctl, const json_t *object, const char *const *but) {
    struct members members = {.ctl = ctl, .but = but};
    walk_members(&members, "", object);
    members.width = members.widest;
    if (members.width > 0) walk_members(&members, "", object);
}

/* Tables. */

static void put_row(const struct evd_text *cells, const size_t *widths, size_t count) {
    size_t last = count;
    while (last > 0 && (widths[last - 1] == 0 || cells[last - 1].size_bytes == 0))
        last--;
    for (size_t i = 0; i < last; i++) {
        if (widths[i] == 0) continue;
        put_padded(cells[i], i + 1 < last ? widths[i] + 2 : 0);
    }
    (void)fputc('\n', stdout);
}

static void widen(size_t *widths, const struct evd_text *cells, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t length = evd_text_length(cells[i]);
        if (length > widths[i]) widths[i] = length;
    }
}

void evd_ctl_show_table(struct evd_ctl *ctl, const json_t *list, const struct evd_ctl_column *columns, size_t count) {
    size_t rows = json_array_size(list);
    struct evd_text *cells = EVD_NEW_ARRAY(&ctl->arena, struct evd_text, (rows + 1) * count);
    size_t *widths = EVD_NEW_ARRAY(&ctl->arena, size_t, count);
    for (size_t row = 0; row < rows; row++) {
        for (size_t i = 0; i < count; i++)
            cells[(row + 1) * count + i] = evd_ctl_cell(ctl, json_array_get(list, row), columns[i].member);
        widen(widths, cells + (row + 1) * count, count);
    }
    for (size_t i = 0; i < count; i++) {
        cells[i] = evd_text_from(columns[i].heading);
        if (widths[i] > 0 && evd_text_length(cells[i]) > widths[i]) widths[i] = evd_text_length(cells[i]);
    }
    for (size_t row = 0; rows > 0 && row <= rows; row++)
        put_row(cells + row * count, widths, count);
}
