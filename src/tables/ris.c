/*
 * RIS, a line at a time: `XX  - value`, from TY to ER.
 */
#include "evidenced/base/arena.h"
#include "tables/private.h"

enum {
    MOST_GAP = 2,             /* spaces between tag and dash: two, one in sloppy files */
    JOINED_BYTES = 128 * 1024 /* of one value over several lines: more than any field holds */
};

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_tag(const char *at) {
    return is_upper(at[0]) && (is_upper(at[1]) || (at[1] >= '0' && at[1] <= '9'));
}

/* Is it `XX`, so many spaces, `-`, and then nothing or a space and a value? */
static bool has_tag(struct evd_text line, size_t gap, struct evd_text *ret_tag, struct evd_text *ret_value) {
    size_t before = EVD_RIS_TAG_BYTES + gap;
    if (line.size_bytes < before + 1 || !is_tag(line.bytes) || line.bytes[before] != '-') return false;
    for (size_t i = EVD_RIS_TAG_BYTES; i < before; i++)
        if (line.bytes[i] != ' ') return false;
    if (line.size_bytes > before + 1 && line.bytes[before + 1] != ' ') return false;
    *ret_tag = (struct evd_text){line.bytes, EVD_RIS_TAG_BYTES};
    *ret_value = evd_text_trim((struct evd_text){line.bytes + before + 1, line.size_bytes - before - 1});
    return true;
}

/* Before the first TY only that one is a tag whatever its gap; it decides the gap of all others. */
static bool read_tag(struct evd_ris *ris, struct evd_text line, struct evd_text *ret_tag, struct evd_text *ret_value) {
    if (ris->gap != 0) return has_tag(line, ris->gap, ret_tag, ret_value);
    for (size_t gap = MOST_GAP; gap > 0; gap--) {
        if (!has_tag(line, gap, ret_tag, ret_value)) continue;
        if (evd_text_equal(*ret_tag, EVD_TEXT("TY"))) ris->gap = gap;
        return ris->gap != 0 || gap == MOST_GAP;
    }
    return false;
}

/* The next line, trimmed; the one that was held again. */
static bool take_line(struct evd_references *references, struct evd_text *ret_line) {
    struct evd_ris *ris = &references->ris;
    if (!ris->is_held) {
        if (!evd_lines_take(&references->lines, SIZE_MAX, &ris->held)) return false;
        ris->line++;
        ris->held = evd_text_trim(ris->held);
        /* Files that were put together keep the mark each of them began with. */
        if (evd_text_starts_with(ris->held, EVD_TEXT("\xEF\xBB\xBF")))
            ris->held = (struct evd_text){ris->held.bytes + 3, ris->held.size_bytes - 3};
    }
    ris->is_held = false;
    *ret_line = ris->held;
    return true;
}

static void end_value(struct evd_references *references) {
    struct evd_ris *ris = &references->ris;
    if (ris->tag.bytes != NULL)
        evd_ris_add(references, ris->tag, ris->is_joined ? evd_buffer_text(&ris->joined) : ris->value);
    ris->tag = ris->value = (struct evd_text){NULL, 0};
    ris->is_joined = false;
}

static void begin_value(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    end_value(references);
    references->ris.tag = tag;
    references->ris.value = value;
}

/* A line without a tag goes on with the value before it. */
static void go_on(struct evd_references *references, struct evd_text line) {
    struct evd_ris *ris = &references->ris;
    if (ris->tag.bytes == NULL || line.size_bytes == 0) return;
    if (!ris->is_joined) {
        if (ris->joined.bytes == NULL) evd_buffer_init(&ris->joined, references->rows, ris->value.size_bytes);
        ris->joined.size_bytes = 0;
        evd_buffer_add_text(&ris->joined, evd_table_cut(ris->value, JOINED_BYTES));
        ris->is_joined = true;
    }
    if (ris->joined.size_bytes >= JOINED_BYTES) return;
    if (ris->joined.size_bytes > 0) evd_buffer_add_byte(&ris->joined, ' ');
    evd_buffer_add_text(&ris->joined, evd_table_cut(line, JOINED_BYTES - ris->joined.size_bytes));
}

enum step { GO_ON, RECORD_ENDED, LINES_OUTSIDE_ENDED };

/* A tag where no record is. An ER too many does no harm. */
static enum step read_outside(struct evd_ris *ris, struct evd_text tag) {
    if (evd_text_equal(tag, EVD_TEXT("ER"))) return GO_ON;
    if (evd_text_equal(tag, EVD_TEXT("TY"))) {
        ris->is_held = ris->first_line != 0;
        if (ris->is_held) return LINES_OUTSIDE_ENDED;
        ris->in_record = true;
    }
    if (ris->first_line == 0) ris->first_line = ris->line;
    ris->last_line = ris->line;
    return GO_ON;
}

static enum step read_inside(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    struct evd_ris *ris = &references->ris;
    ris->is_held = evd_text_equal(tag, EVD_TEXT("TY"));
    if (ris->is_held) return RECORD_ENDED;
    ris->last_line = ris->line;
    if (evd_text_equal(tag, EVD_TEXT("ER"))) return RECORD_ENDED;
    begin_value(references, tag, value);
    return GO_ON;
}

static enum step read_line(struct evd_references *references, struct evd_text line) {
    struct evd_ris *ris = &references->ris;
    struct evd_text tag, value;
    if (!read_tag(ris, line, &tag, &value)) {
        if (ris->in_record) go_on(references, line);
        if (ris->in_record && line.size_bytes > 0) ris->last_line = ris->line;
        return GO_ON;
    }
    return ris->in_record ? read_inside(references, tag, value) : read_outside(ris, tag);
}

static enum evd_references_next give_record(struct evd_references *references, struct evd_reference_row *ret_row,
                                            bool is_terminated) {
    struct evd_ris *ris = &references->ris;
    if (!evd_references_count_row(references, ris->first_line)) return EVD_REFERENCES_REFUSED;
    end_value(references);
    evd_ris_end_record(references);
    references->given.is_unterminated = !is_terminated;
    *ret_row = (struct evd_reference_row){
        .number = ris->first_line, .last_number = ris->last_line, .labels = references->labels};
    evd_given_judge(&references->given, &references->options, true, references->rows, ret_row);
    return EVD_REFERENCES_ROW;
}

static enum evd_references_next give_outside(struct evd_references *references, struct evd_reference_row *ret_row) {
    const struct evd_ris *ris = &references->ris;
    struct evd_table_place place = {.in_lines = true, .row = ris->first_line};
    if (!evd_references_count_row(references, ris->first_line)) return EVD_REFERENCES_REFUSED;
    *ret_row = (struct evd_reference_row){.result = EVD_REFERENCE_REFUSED,
                                          .number = ris->first_line,
                                          .last_number = ris->last_line,
                                          .labels = references->labels};
    ret_row->refusal = evd_table_refuse(EVD_ERROR_OUTSIDE_RECORD, place, 0, references->rows);
    return EVD_REFERENCES_ROW;
}

static enum evd_references_next give_end(struct evd_references *references, struct evd_reference_row *ret_row) {
    const struct evd_ris *ris = &references->ris;
    if (ris->gap == 0) {
        evd_references_refuse(references, EVD_ERROR_NO_RECORD, (struct evd_table_place){0}, 0);
        return EVD_REFERENCES_REFUSED;
    }
    if (ris->in_record) return give_record(references, ret_row, false);
    return ris->first_line != 0 ? give_outside(references, ret_row) : EVD_REFERENCES_END;
}

enum evd_references_next evd_ris_next(struct evd_references *references, struct evd_reference_row *ret_row) {
    struct evd_ris *ris = &references->ris;
    struct evd_text line;
    evd_references_begin_row(references);
    evd_ris_begin_record(references);
    while (take_line(references, &line)) {
        struct evd_table_place place = {.in_lines = true, .row = ris->line};
        if (line.size_bytes > 0 && !evd_references_is_text(references, line, place)) return EVD_REFERENCES_REFUSED;
        switch (read_line(references, line)) {
        case GO_ON: break;
        case RECORD_ENDED: return give_record(references, ret_row, true);
        case LINES_OUTSIDE_ENDED: return give_outside(references, ret_row);
        }
    }
    return give_end(references, ret_row);
}

bool evd_ris_open(struct evd_references *references) {
    const struct evd_reference_options *options = &references->options;
    struct evd_table_place place = {.name = options->custom_id};
    references->ris.labels = EVD_NEW_ARRAY(references->arena, struct evd_buffer, options->label_count);
    if (options->custom_id.size_bytes == 0 || options->custom_id.size_bytes == EVD_RIS_TAG_BYTES) return true;
    evd_references_refuse(references, EVD_ERROR_UNKNOWN_COLUMN, place, 0);
    return false;
}
