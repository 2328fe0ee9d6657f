#include "tables/given.h"

#include "evidenced/base/arena.h"
#include "evidenced/domain/study_identity.h"
#include "tables/refusal.h"

#include <assert.h>

/* What study_row says of a field: its bound and where it stands. */
static const struct evd_field *declared(enum evd_reference_field field) {
    assert(field < EVD_REFERENCE_FIELDS && field < evd_type_study_row.field_count);
    return &evd_type_study_row.fields[field];
}

size_t evd_reference_field_bytes(enum evd_reference_field field) {
    return field == EVD_REFERENCE_YEAR ? EVD_LIMIT_NAME_BYTES : declared(field)->max;
}

void evd_given_clear(struct evd_given_row *given) {
    memset(given->fields, 0, sizeof given->fields);
    if (given->label_count > 0) memset(given->labels, 0, given->label_count * sizeof *given->labels);
    given->too_many_cells = given->is_unterminated = false;
}

/* The kind of identifier a field is, and the most bytes the study's own field holds of its normal form. */
static enum evd_identity_kind identity_of(enum evd_reference_field field, size_t *ret_normal_bytes) {
    static const struct {
        enum evd_reference_field field;
        enum evd_identity_kind kind;
    } kinds[] = {{EVD_REFERENCE_CUSTOM_ID, EVD_IDENTITY_CUSTOM},
                 {EVD_REFERENCE_DOI, EVD_IDENTITY_DOI},
                 {EVD_REFERENCE_PMID, EVD_IDENTITY_PMID},
                 {EVD_REFERENCE_OPEN_ALEX_ID, EVD_IDENTITY_OPENALEX}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].field != field) continue;
        for (size_t at = 0; at < evd_type_study.field_count; at++)
            if (strcmp(evd_type_study.fields[at].key, declared(field)->key) == 0)
                *ret_normal_bytes = evd_type_study.fields[at].max;
        return kinds[i].kind;
    }
    return EVD_NONE_OF_identity_kind;
}

static bool is_identifier(enum evd_identity_kind kind, size_t normal_bytes, struct evd_text text,
                          struct evd_arena *arena) {
    struct evd_text normal = evd_study_identity_normalise(kind, text, arena);
    return normal.bytes != NULL && normal.size_bytes <= normal_bytes;
}

struct judgement {
    const struct evd_given_row *given;
    bool in_lines;
    struct evd_arena *arena;
    struct evd_reference_row *row;
};

/* The first reason counts. */
static void refuse(struct judgement *judgement, enum evd_error_code code, const struct evd_given *at, size_t limit) {
    struct evd_reference_row *row = judgement->row;
    if (row->result == EVD_REFERENCE_REFUSED) return;
    struct evd_table_place place = {.in_lines = judgement->in_lines, .row = row->number};
    if (at != NULL) place.column = at->column, place.name = at->name;
    row->result = EVD_REFERENCE_REFUSED;
    row->refusal = evd_table_refuse(code, place, limit, judgement->arena);
}

/* True when it is an identifier. */
static bool judge_field(struct judgement *judgement, enum evd_reference_field field) {
    const struct evd_given *at = &judgement->given->fields[field];
    void *member = (char *)&judgement->row->study + declared(field)->offset;
    size_t normal_bytes = 0;
    enum evd_identity_kind kind = identity_of(field, &normal_bytes);
    if (at->too_long) refuse(judgement, EVD_ERROR_FIELD_TOO_LONG, at, evd_reference_field_bytes(field));
    if (at->text.bytes == NULL) return false;
    if (field == EVD_REFERENCE_YEAR) {
        if (evd_year_read(at->text, member) == EVD_YEAR_MALFORMED) refuse(judgement, EVD_ERROR_MALFORMED_YEAR, at, 0);
        return false;
    }
    if (kind != EVD_NONE_OF_identity_kind && !is_identifier(kind, normal_bytes, at->text, judgement->arena)) {
        refuse(judgement, EVD_ERROR_MALFORMED_IDENTIFIER, at, 0);
        return false;
    }
    *(struct evd_text *)member = at->text;
    return kind != EVD_NONE_OF_identity_kind;
}

static void judge_labels(struct judgement *judgement, const struct evd_reference_options *options) {
    struct evd_reference_row *row = judgement->row;
    for (size_t i = 0; i < judgement->given->label_count; i++) {
        const struct evd_given *at = &judgement->given->labels[i];
        if (at->too_long) refuse(judgement, EVD_ERROR_FIELD_TOO_LONG, at, EVD_LIMIT_NAME_BYTES);
        if (at->text.bytes == NULL) continue;
        row->labels[row->label_count++] = (struct evd_study_label){.name = options->labels[i], .value = at->text};
    }
}

void evd_given_judge(const struct evd_given_row *given, const struct evd_reference_options *options, bool in_lines,
                     struct evd_arena *arena, struct evd_reference_row *row) {
    struct judgement judgement = {.given = given, .in_lines = in_lines, .arena = arena, .row = row};
    bool is_known = false;
    row->result = EVD_REFERENCE_READ;
    if (given->too_many_cells) refuse(&judgement, EVD_ERROR_TOO_MANY_CELLS, NULL, 0);
    if (given->is_unterminated) refuse(&judgement, EVD_ERROR_UNTERMINATED_RECORD, NULL, 0);
    for (enum evd_reference_field field = 0; field < EVD_REFERENCE_FIELDS; field++)
        is_known |= judge_field(&judgement, field);
    judge_labels(&judgement, options);
    if (!is_known && row->study.title.size_bytes == 0)
        refuse(&judgement, EVD_ERROR_NEITHER_TITLE_NOR_IDENTIFIER, NULL, 0);
}
