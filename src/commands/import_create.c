/*
 * Begin an import: the file is judged whole, then kept in batches, one transaction with the operation that will go
 * through them.
 *
 * The file is read twice, since what is read is not held: once to refuse, once to keep. What stays in memory are the
 * batches as they are stored; a row is forgotten with the next, a batch when it is encoded.
 */
#include "commands/import.h"
#include "evidenced/base/buffer.h"
#include "evidenced/read/operation.h"
#include "evidenced/records/json.h"
#include "evidenced/records/keys.h"
#include "evidenced/tables/references.h"

#include <assert.h>

/* Bytes a row takes beside its texts, and each text beside its own: a little more than BSON needs. */
enum { ROW_BYTES = 200, TEXT_BYTES = 28, LABEL_BYTES = 48, BATCH_BYTES = 256 };

struct create_import {
    struct evd_errors errors;
    int64_t rows;
    size_t kept_bytes;
};

static enum evd_reference_format format_of(enum evd_media media) {
    switch (media) {
    case EVD_MEDIA_TSV: return EVD_REFERENCE_TSV;
    case EVD_MEDIA_RIS: return EVD_REFERENCE_RIS;
    case EVD_MEDIA_CSV:
    case EVD_MEDIA_JSON: break;
    }
    return EVD_REFERENCE_CSV;
}

static bool open_file(struct evd_call *call, struct evd_references **ret_file, struct evd_table_refusal *ret_refusal) {
    const struct evd_options *options = &call->options;
    struct evd_reference_options how = {.format = format_of(call->media),
                                        .delimiter = options->delimiter,
                                        .labels = options->labels,
                                        .label_count = options->label_count};
    return evd_references_open(call->body, &how, evd_call_arena(call), &call->scratch[0], ret_file, ret_refusal);
}

/* How much a row takes where it is kept: never less than it really does. */

static size_t text_bytes(struct evd_text text) {
    return text.bytes == NULL ? 0 : TEXT_BYTES + text.size_bytes;
}

static size_t study_bytes(const struct evd_study_row *study) {
    size_t bytes = TEXT_BYTES;
    for (size_t i = 0; i < evd_type_study_row.field_count; i++) {
        const struct evd_field *field = &evd_type_study_row.fields[i];
        struct evd_text text;
        if (field->kind != EVD_KIND_STRING) continue;
        memcpy(&text, (const uint8_t *)study + field->offset, sizeof text);
        bytes += text_bytes(text);
    }
    return bytes;
}

static size_t row_bytes(const struct evd_reference_row *row) {
    if (row->result == EVD_REFERENCE_EMPTY) return ROW_BYTES;
    if (row->result == EVD_REFERENCE_REFUSED)
        return ROW_BYTES + text_bytes(row->refusal.message) + text_bytes(row->refusal.name);
    size_t bytes = ROW_BYTES + study_bytes(&row->study);
    for (size_t i = 0; i < row->label_count; i++)
        bytes += LABEL_BYTES + row->labels[i].name.size_bytes + row->labels[i].value.size_bytes;
    return bytes;
}

/* First reading: what is wrong. */

static void add_member(struct evd_buffer *out, const char *name, struct evd_text value) {
    if (value.bytes == NULL) return;
    evd_buffer_print(out, "%s\"%s\":", out->size_bytes > 0 ? "," : "", name);
    evd_json_write_string(value, out);
}

/* Its texts may live in a row that is forgotten with the next. */
static void note(struct evd_call *call, struct evd_errors *errors, const struct evd_table_refusal *refusal) {
    struct evd_arena *arena = evd_call_arena(call);
    struct evd_error *error =
        evd_errors_add(errors, EVD_TEXT(""), evd_error_code_name(refusal->code), (struct evd_text){0});
    struct evd_buffer members;
    if (error == NULL) return;
    error->message = evd_text_copy(arena, refusal->message);
    evd_buffer_init(&members, arena, 64);
    if (refusal->row > 0) evd_buffer_print(&members, "\"row\":%lld", (long long)refusal->row);
    add_member(&members, "column", evd_text_cut(refusal->name, EVD_LIMIT_NAME_BYTES));
    add_member(&members, "candidates", refusal->candidates);
    error->members = evd_buffer_text(&members);
}

static struct evd_outcome refuse_file(struct evd_call *call, const struct evd_table_refusal *refusal) {
    struct evd_errors *errors = EVD_NEW(evd_call_arena(call), struct evd_errors);
    evd_errors_init(errors, evd_call_arena(call));
    note(call, errors, refusal);
    return evd_errors_outcome(errors);
}

static struct evd_outcome refuse_size(struct evd_call *call) {
    static const struct evd_table_refusal refusal = {
        .code = EVD_ERROR_TOO_MANY_BYTES,
        .message = EVD_TEXT_INIT("With its labels the file is larger than one import may be; carry fewer of them, or "
                                 "import it in parts.")};
    return refuse_file(call, &refusal);
}

static void look_at(struct evd_call *call, struct create_import *state, const struct evd_reference_row *row) {
    state->kept_bytes += row_bytes(row);
    state->rows += row->result != EVD_REFERENCE_EMPTY;
    if (row->result == EVD_REFERENCE_REFUSED) note(call, &state->errors, &row->refusal);
}

static void create_read(struct evd_call *call) {
    (void)EVD_CALL_STATE(call, create_import);
    evd_reader_fetch(call); /* what was begun before is replayed without reading the file again */
}

static struct evd_outcome create_refuse(struct evd_call *call) {
    struct create_import *state = call->state;
    struct evd_references *file;
    struct evd_reference_row row;
    struct evd_table_refusal refusal;
    enum evd_references_next next;
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (!open_file(call, &file, &refusal)) return refuse_file(call, &refusal);
    while ((next = evd_references_next(file, &row, &refusal)) == EVD_REFERENCES_ROW)
        look_at(call, state, &row);
    if (next == EVD_REFERENCES_REFUSED) return refuse_file(call, &refusal);
    if (state->rows == 0) return evd_invalid(call, "", EVD_ERROR_EMPTY);
    if (state->kept_bytes > EVD_LIMIT_IMPORT_KEPT_BYTES) return refuse_size(call);
    return call->options.skip_refused ? evd_ok() : evd_errors_outcome(&state->errors);
}

/* Second reading: what is kept. */

struct keeping {
    struct evd_call *call;
    struct evd_arena *arena; /* of the batch being filled */
    struct evd_import_batch batch;
    size_t bytes;
};

static void begin_batch(struct keeping *keeping, int64_t number) {
    evd_arena_reset(keeping->arena);
    keeping->batch = (struct evd_import_batch){.base.id = evd_import_batch_id(keeping->call->made, (uint64_t)number),
                                               .operation = keeping->call->made,
                                               .number = number};
    keeping->batch.rows.items = EVD_NEW_ARRAY(keeping->arena, struct evd_import_row, EVD_LIMIT_IMPORT_BATCH);
    keeping->bytes = BATCH_BYTES;
}

static void end_batch(struct keeping *keeping) {
    evd_writes_insert_large(keeping->call, &evd_type_import_batch, &keeping->batch.base, keeping->bytes);
    assert(keeping->batch.base.version == 1);
}

static struct evd_text copied(struct keeping *keeping, struct evd_text text) {
    return text.bytes == NULL ? text : evd_text_copy(keeping->arena, text);
}

static struct evd_study_row *copied_study(struct keeping *keeping, const struct evd_study_row *study) {
    struct evd_study_row *copy = evd_arena_copy(keeping->arena, study, sizeof *study);
    for (size_t i = 0; i < evd_type_study_row.field_count; i++) {
        const struct evd_field *field = &evd_type_study_row.fields[i];
        if (field->kind != EVD_KIND_STRING) continue;
        struct evd_text *text = (struct evd_text *)(void *)((uint8_t *)copy + field->offset);
        *text = copied(keeping, *text);
    }
    return copy;
}

/* Labels' names are the request's own. */
static void copy_labels(struct keeping *keeping, const struct evd_reference_row *row, struct evd_import_row *kept) {
    kept->labels.count = row->label_count;
    kept->labels.items = evd_arena_copy(keeping->arena, row->labels, row->label_count * sizeof *row->labels);
    for (size_t i = 0; i < row->label_count; i++) {
        kept->labels.items[i].name = copied(keeping, row->labels[i].name);
        kept->labels.items[i].value = copied(keeping, row->labels[i].value);
    }
}

static void keep(struct keeping *keeping, const struct evd_reference_row *row) {
    struct evd_import_row *kept = &keeping->batch.rows.items[keeping->batch.rows.count++];
    kept->place = row->number;
    switch (row->result) {
    case EVD_REFERENCE_READ:
        kept->given = copied_study(keeping, &row->study);
        copy_labels(keeping, row, kept);
        break;
    case EVD_REFERENCE_REFUSED:
        kept->result = evd_name_of(EVD_ROW_REFUSED);
        kept->code = evd_text_from(evd_error_code_name(row->refusal.code));
        kept->column = copied(keeping, evd_text_cut(row->refusal.name, EVD_LIMIT_NAME_BYTES));
        kept->message = copied(keeping, evd_text_cut(row->refusal.message, 500));
        break;
    case EVD_REFERENCE_EMPTY:
        kept->result = evd_name_of(EVD_ROW_EMPTY);
        kept->last_place = row->last_number > row->number ? row->last_number : 0;
        break;
    }
}

static int64_t keep_all(struct evd_call *call) {
    struct keeping keeping = {.call = call, .arena = &call->scratch[1]};
    struct evd_references *file = NULL;
    struct evd_reference_row row;
    struct evd_table_refusal refusal;
    int64_t batches = 0;
    bool opened = open_file(call, &file, &refusal);
    assert(opened); /* it was read before, and reads the same every time */
    (void)opened;
    while (evd_references_next(file, &row, &refusal) == EVD_REFERENCES_ROW) {
        size_t bytes = row_bytes(&row);
        bool fits = batches > 0 && keeping.batch.rows.count < EVD_LIMIT_IMPORT_BATCH &&
                    keeping.bytes + bytes <= EVD_LIMIT_IMPORT_BATCH_BYTES;
        if (!fits) {
            if (batches > 0) end_batch(&keeping);
            begin_batch(&keeping, batches++);
        }
        keeping.bytes += bytes;
        keep(&keeping, &row);
    }
    end_batch(&keeping);
    return batches;
}

static void create_derive(struct evd_call *call) {
    const struct create_import *state = call->state;
    bool is_judged_first = call->options.dry_run || !call->options.skip_refused;
    struct evd_operation operation = {.base.id = call->made,
                                      .kind = evd_name_of(EVD_OPERATION_IMPORT),
                                      .status = evd_name_of(EVD_OPERATION_RUNNING),
                                      .phase = evd_name_of(is_judged_first ? EVD_PHASE_JUDGING : EVD_PHASE_APPLYING),
                                      .requested_by = call->caller,
                                      .command_id = call->command_id,
                                      .requested_at = call->now_ms,
                                      .generation = 1,
                                      .batch_count = keep_all(call),
                                      .row_count = state->rows,
                                      .dry_run = call->options.dry_run,
                                      .skip_refused = call->options.skip_refused};
    struct evd_open_operation open = {.base.id = call->made, .operation = call->made, .project = call->ids.project};
    EVD_INSERT_RECORD(call, operation, &operation);
    EVD_INSERT_RECORD(call, open_operation, &open);
    struct evd_operation_view view = evd_operation_view_of(call, &operation);
    evd_call_receipt(call, &evd_type_operation_view, &view);
}

const struct evd_command evd_command_create_import = {
    .name = "CreateImport",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/imports",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_OPERATION,
    .scope = EVD_WRITES_OPERATION,
    .query = EVD_QUERY_IMPORT,
    .references = true,
    .body_limit_bytes = EVD_LIMIT_IMPORT_BODY_BYTES,
    .arena_bytes = EVD_LIMIT_IMPORT_ARENA_BYTES,
    .answer = &evd_type_operation_view,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = create_read,
    .refuse = create_refuse,
    .derive = create_derive,
};
