#include "evidenced/tables/references.h"

#include "evidenced/base/arena.h"
#include "tables/private.h"

#include <assert.h>

static size_t bounded(size_t wanted, size_t house) {
    return wanted == 0 || wanted > house ? house : wanted;
}

void evd_references_refuse(struct evd_references *references, enum evd_error_code code, struct evd_table_place place,
                           size_t limit) {
    if (references->is_refused) return;
    references->is_refused = true;
    references->refusal = evd_table_refuse(code, place, limit, references->arena);
}

bool evd_references_is_text(struct evd_references *references, struct evd_text text, struct evd_table_place place) {
    if (memchr(text.bytes, '\0', text.size_bytes) != NULL)
        evd_references_refuse(references, EVD_ERROR_NUL_BYTE, place, 0);
    else if (!evd_text_is_utf8(text))
        evd_references_refuse(references, EVD_ERROR_INVALID_UTF8, place, 0);
    return !references->is_refused;
}

bool evd_references_count_row(struct evd_references *references, int64_t number) {
    struct evd_table_place place = {.in_lines = references->options.format == EVD_REFERENCE_RIS, .row = number};
    if (++references->row_count > references->options.limits.rows)
        evd_references_refuse(references, EVD_ERROR_TOO_MANY_ROWS, place, references->options.limits.rows);
    return !references->is_refused;
}

void evd_references_begin_row(struct evd_references *references) {
    evd_arena_reset(references->rows);
    evd_given_clear(&references->given);
}

static struct evd_reference_options resolved(const struct evd_reference_options *options) {
    struct evd_reference_options all = *options;
    all.limits.bytes = bounded(options->limits.bytes, EVD_LIMIT_IMPORT_BODY_BYTES);
    all.limits.rows = bounded(options->limits.rows, EVD_LIMIT_IMPORT_ROWS);
    all.limits.columns = bounded(options->limits.columns, EVD_LIMIT_IMPORT_COLUMNS);
    all.limits.cell_bytes = bounded(options->limits.cell_bytes, EVD_LIMIT_IMPORT_CELL_BYTES);
    return all;
}

/* The file's first bytes: what it is encoded in. */
static bool begin(struct evd_references *references, struct evd_text content) {
    const struct evd_table_place nowhere = {0};
    if (content.size_bytes > references->options.limits.bytes)
        evd_references_refuse(references, EVD_ERROR_TOO_MANY_BYTES, nowhere, references->options.limits.bytes);
    else if (evd_text_starts_with(content, EVD_TEXT("\xFF\xFE")) || evd_text_starts_with(content, EVD_TEXT("\xFE\xFF")))
        evd_references_refuse(references, EVD_ERROR_UTF16, nowhere, 0);
    else if (evd_text_starts_with(content, EVD_TEXT("\xEF\xBB\xBF")))
        references->begin = 3;
    if (references->is_refused) return false;
    evd_lines_init(&references->lines, content, references->begin);
    return true;
}

bool evd_references_open(struct evd_text content, const struct evd_reference_options *options, struct evd_arena *arena,
                         struct evd_arena *rows, struct evd_references **ret_references,
                         struct evd_table_refusal *ret_refusal) {
    assert(options->label_count <= EVD_LIMIT_STUDY_LABELS && arena != rows);
    struct evd_references *references = EVD_NEW(arena, struct evd_references);
    *references = (struct evd_references){.options = resolved(options), .arena = arena, .rows = rows};
    references->given.label_count = options->label_count;
    references->given.labels = EVD_NEW_ARRAY(arena, struct evd_given, options->label_count);
    references->labels = EVD_NEW_ARRAY(arena, struct evd_study_label, options->label_count);
    bool can_be_read = begin(references, content) &&
                       (options->format == EVD_REFERENCE_RIS ? evd_ris_open(references) : evd_table_open(references));
    if (can_be_read)
        *ret_references = references;
    else
        *ret_refusal = references->refusal;
    return can_be_read;
}

enum evd_references_next evd_references_next(struct evd_references *references, struct evd_reference_row *ret_row,
                                             struct evd_table_refusal *ret_refusal) {
    enum evd_references_next next = EVD_REFERENCES_REFUSED;
    if (!references->is_refused)
        next = references->options.format == EVD_REFERENCE_RIS ? evd_ris_next(references, ret_row)
                                                               : evd_table_next(references, ret_row);
    if (next == EVD_REFERENCES_REFUSED) *ret_refusal = references->refusal;
    return next;
}

size_t evd_references_offset(const struct evd_references *references) {
    return references->lines.at;
}

char evd_references_delimiter(const struct evd_references *references) {
    return references->table.delimiter;
}
