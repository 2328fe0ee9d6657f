#include "domain/finding.h"

#include "evidenced/base/buffer.h"
#include "evidenced/records/dictionary.h"
#include "evidenced/records/json.h"

enum { SHOWN_BYTES = 200, MEMBERS_BYTES = 200 };

/* At most SHOWN_BYTES of it, no character cut in two. */
static struct evd_text shown(struct evd_text text, struct evd_arena *arena) {
    if (text.size_bytes <= SHOWN_BYTES) return text;
    size_t size_bytes = SHOWN_BYTES;
    while (size_bytes > 0 && ((uint8_t)text.bytes[size_bytes] & 0xC0) == 0x80)
        size_bytes--;
    return evd_text_print(arena, "%.*s…", (int)size_bytes, text.bytes);
}

static void write_text(const char *key, struct evd_text text, struct evd_buffer *to) {
    evd_buffer_print(to, "\"%s\":", key);
    if (text.bytes == NULL)
        evd_buffer_add_text(to, EVD_TEXT("null"));
    else
        evd_json_write_string(shown(text, to->arena), to);
}

static void write_path(const struct evd_path_step *path, size_t count, struct evd_buffer *to) {
    evd_buffer_add_text(to, EVD_TEXT(",\"path\":["));
    for (size_t i = 0; i < count; i++) {
        if (i > 0) evd_buffer_add_byte(to, ',');
        evd_json_write(&evd_type_path_step, &path[i], to);
    }
    evd_buffer_add_text(to, EVD_TEXT("],"));
}

void evd_finding_note(const struct evd_finding *finding, struct evd_text pointer, struct evd_errors *errors) {
    struct evd_error *error = evd_errors_note(errors, pointer, finding->code);
    if (error == NULL) return;
    struct evd_buffer members;
    evd_buffer_init(&members, errors->arena, MEMBERS_BYTES);
    write_text("question", finding->question, &members);
    write_path(finding->path, finding->path_count, &members);
    write_text("rule", evd_text_from(finding->rule), &members);
    evd_buffer_add_byte(&members, ',');
    write_text("expected", finding->expected, &members);
    evd_buffer_add_byte(&members, ',');
    write_text("found", finding->found, &members);
    error->members = evd_buffer_text(&members);
}
