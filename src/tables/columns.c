#include "tables/columns.h"

#include "evidenced/base/arena.h"
#include "tables/refusal.h"

enum rank { NAME = 1, ALSO, GUESS };

static const struct known {
    enum evd_reference_field field;
    enum rank rank;
    const char *name;
} known_columns[] = {
#define EVD_COLUMN(field, rank, name) {EVD_REFERENCE_##field, rank, name},
#include "tables/columns.def"
#undef EVD_COLUMN
};

enum { LONGEST_KNOWN = 48 };

/* Does the name say `known`, which is in lower case and has nothing but letters and digits? */
static bool says(struct evd_text name, const char *known) {
    for (size_t i = 0; i < name.size_bytes; i++) {
        char c = name.bytes[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + ('a' - 'A'));
        bool counts = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (uint8_t)c >= 0x80;
        if (!counts) continue;
        if (*known != c) return false;
        known++;
    }
    return *known == '\0';
}

static const struct known *find_known(struct evd_text name) {
    if (name.size_bytes > LONGEST_KNOWN) return NULL;
    for (size_t i = 0; i < sizeof known_columns / sizeof *known_columns; i++)
        if (says(name, known_columns[i].name)) return &known_columns[i];
    return NULL;
}

static bool is_named(const struct evd_column *column, struct evd_text asked_for) {
    return column->name.size_bytes > 0 && evd_text_equal_ignoring_case(column->name, evd_text_trim(asked_for));
}

static bool was_asked_for(const struct evd_column *column, const struct evd_reference_options *options) {
    for (size_t i = 0; i < options->label_count; i++)
        if (is_named(column, options->labels[i])) return true;
    return options->custom_id.size_bytes > 0 && is_named(column, options->custom_id);
}

size_t evd_columns_known(const struct evd_columns *columns, const struct evd_reference_options *options) {
    size_t count = 0;
    for (size_t i = 0; i < columns->count; i++) {
        const struct known *known = find_known(columns->items[i].name);
        count += (known != NULL && known->rank != GUESS) || was_asked_for(&columns->items[i], options);
    }
    return count;
}

/* The assignment in the making. */
struct assignment {
    const struct evd_columns *columns;
    int64_t row;
    struct evd_arena *arena;
    struct evd_table_refusal *ret_refusal;
};

static bool refuse_two(const struct assignment *assignment, const struct evd_column *first,
                       const struct evd_column *second) {
    struct evd_table_place place = {
        .row = assignment->row, .column = (size_t)(second - assignment->columns->items) + 1, .name = second->name};
    struct evd_table_refusal refusal = evd_table_refuse(EVD_ERROR_SAME_FIELD_TWICE, place, 0, assignment->arena);
    refusal.other = evd_text_copy(assignment->arena, first->name);
    refusal.message = evd_text_print(assignment->arena, EVD_TEXT_FMT " The other one is column %zu (" EVD_TEXT_FMT ").",
                                     EVD_TEXT_ARG(refusal.message), (size_t)(first - assignment->columns->items) + 1,
                                     EVD_TEXT_ARG(evd_table_shown(first->name)));
    *assignment->ret_refusal = refusal;
    return false;
}

/* Give the field to the column of the best name. */
static bool assign_field(const struct assignment *assignment, enum evd_reference_field field) {
    struct evd_column *best = NULL;
    enum rank best_rank = GUESS;
    for (size_t i = 0; i < assignment->columns->count; i++) {
        struct evd_column *column = &assignment->columns->items[i];
        const struct known *known = find_known(column->name);
        if (known == NULL || known->field != field) continue;
        if (best != NULL && known->rank == NAME && best_rank == NAME) return refuse_two(assignment, best, column);
        if (best != NULL && known->rank >= best_rank) continue;
        best = column;
        best_rank = known->rank;
    }
    if (best == NULL) return true;
    best->has_field = true;
    best->field = field;
    best->guessed = best_rank == GUESS;
    return true;
}

/* The one column of this name. */
static bool find_named(const struct assignment *assignment, struct evd_text name, struct evd_column **ret_column) {
    struct evd_column *found = NULL;
    for (size_t i = 0; i < assignment->columns->count; i++) {
        struct evd_column *column = &assignment->columns->items[i];
        if (!is_named(column, name)) continue;
        if (found != NULL) return refuse_two(assignment, found, column);
        found = column;
    }
    if (found == NULL) {
        struct evd_table_place place = {.name = name};
        *assignment->ret_refusal = evd_table_refuse(EVD_ERROR_UNKNOWN_COLUMN, place, 0, assignment->arena);
        return false;
    }
    *ret_column = found;
    return true;
}

static bool assign_labels(const struct assignment *assignment, const struct evd_reference_options *options) {
    struct evd_column *column;
    for (size_t i = 0; i < options->label_count; i++) {
        if (!find_named(assignment, options->labels[i], &column)) return false;
        if (column->label == 0) column->label = i + 1;
    }
    return true;
}

static bool assign_custom_id(const struct assignment *assignment, const struct evd_reference_options *options) {
    struct evd_column *column;
    if (options->custom_id.size_bytes == 0) return assign_field(assignment, EVD_REFERENCE_CUSTOM_ID);
    if (!find_named(assignment, options->custom_id, &column)) return false;
    column->is_custom_id = true;
    return true;
}

bool evd_columns_assign(struct evd_columns *columns, const struct evd_reference_options *options, int64_t row,
                        struct evd_arena *arena, struct evd_table_refusal *ret_refusal) {
    struct assignment assignment = {.columns = columns, .row = row, .arena = arena, .ret_refusal = ret_refusal};
    if (evd_columns_known(columns, options) == 0) {
        *ret_refusal = evd_table_refuse(EVD_ERROR_NO_KNOWN_COLUMN, (struct evd_table_place){.row = row}, 0, arena);
        return false;
    }
    for (enum evd_reference_field field = 0; field < EVD_REFERENCE_FIELDS; field++)
        if (field != EVD_REFERENCE_CUSTOM_ID && !assign_field(&assignment, field)) return false;
    return assign_custom_id(&assignment, options) && assign_labels(&assignment, options);
}
