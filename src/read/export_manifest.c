/*
 * The manifest of an export: counts, digests of the files' bytes, and what each column means. One walk for all files.
 */
#include "read/export.h"

enum { FILES = 3, FIRST_REVIEWERS = 32 };

static const struct evd_export_format *const formats[FILES] = {&evd_export_csv, &evd_export_ndjson, &evd_export_series};

struct evd_export_summary {
    struct file_sum {
        struct evd_sha256_running digest;
        int64_t records, size_bytes;
    } files[FILES];
    struct version_sum {
        int64_t sessions, answers;
    } * versions; /* by form version */
    int64_t studies, sessions, answers;
    evd_uuid last_study;
    evd_stamp largest;
    evd_uuid *reviewers; /* ascending */
    size_t reviewer_count, reviewer_capacity;
};

/* What was written is digested and forgotten. */
static void take(struct file_sum *sum, struct evd_buffer *out) {
    evd_sha256_add(&sum->digest, out->bytes, out->size_bytes);
    sum->size_bytes += (int64_t)out->size_bytes;
    out->size_bytes = 0;
}

static void begin(struct evd_call *call, struct evd_export *export, struct evd_buffer *out) {
    struct evd_export_summary *summary = EVD_NEW(call->arena, struct evd_export_summary);
    summary->versions = EVD_NEW_ARRAY(call->arena, struct version_sum, (size_t) export->published_seq + 1);
    summary->reviewers = EVD_NEW_ARRAY(call->arena, evd_uuid, FIRST_REVIEWERS);
    summary->reviewer_capacity = FIRST_REVIEWERS;
    export->summary = summary;
    for (size_t i = 0; i < FILES; i++) {
        evd_sha256_begin(&summary->files[i].digest);
        if (formats[i]->head != NULL) formats[i]->head(export, out);
        take(&summary->files[i], out);
    }
}

static void count_reviewer(struct evd_call *call, struct evd_export_summary *summary, evd_uuid reviewer) {
    size_t first = 0, end = summary->reviewer_count;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        int order = evd_uuid_compare(summary->reviewers[middle], reviewer);
        if (order == 0) return;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    if (summary->reviewer_count == summary->reviewer_capacity) {
        evd_uuid *more = EVD_NEW_ARRAY(call->arena, evd_uuid, summary->reviewer_capacity * 2);
        memcpy(more, summary->reviewers, summary->reviewer_count * sizeof *more);
        summary->reviewers = more;
        summary->reviewer_capacity *= 2;
    }
    evd_uuid *place = summary->reviewers + first;
    memmove(place + 1, place, (summary->reviewer_count++ - first) * sizeof *place);
    *place = reviewer;
}

static void raise(evd_stamp *largest, evd_stamp stamp) {
    if (stamp > *largest) *largest = stamp;
}

static void count(struct evd_call *call, struct evd_export_summary *summary, const struct evd_export_entry *entry) {
    struct version_sum *version = &summary->versions[entry->version->form_version_seq];
    summary->studies += !evd_uuid_equal(summary->last_study, entry->study_id); /* a study's sessions come together */
    summary->last_study = entry->study_id;
    summary->sessions++;
    version->sessions++;
    summary->answers += (int64_t)entry->pins.count;
    version->answers += (int64_t)entry->pins.count;
    count_reviewer(call, summary, entry->version->author);
    raise(&summary->largest, entry->version->base.stamp);
    for (size_t i = 0; i < entry->pins.count; i++)
        raise(&summary->largest, entry->revisions[i]->base.stamp);
}

static void digest(const struct evd_export *export, const struct evd_export_entry *entry, struct evd_buffer *out) {
    for (size_t i = 0; i < FILES; i++) {
        struct file_sum *sum = &export->summary->files[i];
        size_t items = formats[i]->items(entry);
        sum->records += formats[i]->items_are_records ? (int64_t)items : 1;
        for (size_t at = 0; at < items; at++) {
            formats[i]->item(export, entry, at, out);
            take(sum, out);
        }
    }
}

static void walk(struct evd_call *call, struct evd_export *export, struct evd_export_page *page,
                 struct evd_buffer *out) {
    while (page->written < page->count) {
        const struct evd_export_entry *entry = &page->entries[page->written];
        if (!entry->left_out) {
            count(call, export->summary, entry);
            digest(export, entry, out);
        }
        evd_export_pass(export, page);
    }
}

static struct evd_text hexadecimal(const struct evd_sha256 *digest, struct evd_arena *arena) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 2 * sizeof digest->bytes + 1);
    for (size_t i = 0; i < sizeof digest->bytes; i++)
        evd_buffer_print(&out, "%02x", digest->bytes[i]);
    return evd_buffer_text(&out);
}

static void show_files(const struct evd_export *export, struct evd_arena *arena, struct evd_export_manifest *manifest) {
    manifest->files.items = EVD_NEW_ARRAY(arena, struct evd_export_file, FILES);
    manifest->files.count = FILES;
    for (size_t i = 0; i < FILES; i++) {
        const struct file_sum *sum = &export->summary->files[i];
        struct evd_sha256 whole = evd_sha256_so_far(&sum->digest);
        manifest->files.items[i] = (struct evd_export_file){.name = evd_text_from(formats[i]->file),
                                                            .content_type = evd_text_from(formats[i]->content_type),
                                                            .records = sum->records,
                                                            .size_bytes = sum->size_bytes,
                                                            .sha256 = hexadecimal(&whole, arena)};
    }
}

static void show_versions(const struct evd_export *export, struct evd_arena *arena,
                          struct evd_export_manifest *manifest) {
    manifest->form_versions.items =
        EVD_NEW_ARRAY(arena, struct evd_export_form_version, (size_t) export->published_seq);
    for (int64_t seq = 1; seq <= export->published_seq; seq++) {
        const struct version_sum *sum = &export->summary->versions[seq];
        if (sum->sessions == 0) continue;
        manifest->form_versions.items[manifest->form_versions.count++] =
            (struct evd_export_form_version){.seq = seq, .sessions = sum->sessions, .answers = sum->answers};
    }
}

static struct evd_export_column column_of(const struct evd_dataset_question *question,
                                          const struct evd_dataset_option *option, struct evd_arena *arena) {
    struct evd_export_column column = {.name = evd_dataset_column_name(question, option, arena),
                                       .question = question->id,
                                       .kind = evd_name_of(question->kind),
                                       .label = option == NULL ? question->label : option->label};
    if (option != NULL) column.option = option->id;
    if (option != NULL || question->kind != EVD_QUESTION_CHOICE) return column;
    column.options.items = EVD_NEW_ARRAY(arena, struct evd_question_option, question->option_count);
    column.options.count = question->option_count;
    for (size_t i = 0; i < question->option_count; i++)
        column.options.items[i] =
            (struct evd_question_option){.id = question->options[i].id, .label = question->options[i].label};
    return column;
}

static void show_columns(const struct evd_export *export, struct evd_arena *arena,
                         struct evd_export_manifest *manifest) {
    const struct evd_dataset *dataset = &export->dataset;
    struct evd_export_column *columns = EVD_NEW_ARRAY(arena, struct evd_export_column, dataset->column_count);
    for (size_t i = 0; i < dataset->question_count; i++) {
        const struct evd_dataset_question *question = &dataset->questions[i];
        columns[question->column] = column_of(question, NULL, arena);
        for (size_t o = 0; evd_dataset_has_option_columns(question) && o < question->option_count; o++)
            columns[question->column + 1 + o] = column_of(question, &question->options[o], arena);
    }
    manifest->columns.items = columns;
    manifest->columns.count = dataset->column_count;
}

static void show(struct evd_call *call, const struct evd_export *export) {
    const struct evd_export_summary *summary = export->summary;
    struct evd_export_manifest manifest = {
        .project = call->ids.project,
        .form = call->ids.form,
        .form_name = export->form_name,
        .note = EVD_TEXT("The completed sessions as they stood while this manifest was made, each in the version it "
                         "then had; titles, authors and identifiers of studies are as they are now. `largestStamp` is "
                         "the largest among these versions and their answers, and no as-of watermark: what is "
                         "committed later may have a smaller one."),
        .largest_stamp = summary->largest,
        .studies = summary->studies,
        .reviewers = (int64_t)summary->reviewer_count,
        .sessions = summary->sessions,
        .answers = summary->answers};
    show_files(export, evd_call_arena(call), &manifest);
    show_versions(export, evd_call_arena(call), &manifest);
    show_columns(export, evd_call_arena(call), &manifest);
    evd_call_receipt(call, &evd_type_export_manifest, &manifest);
}

void evd_export_manifest_derive(struct evd_call *call) {
    struct evd_export *export = call->stream.carried;
    struct evd_buffer out;
    bool complete;
    evd_buffer_init(&out, evd_call_arena(call), 64 * EVD_KIB);
    call->receipt = EVD_TEXT("");
    call->stream.more = true;
    if (evd_export_take_columns(call, &complete)) {
        if (complete) begin(call, export, &out);
        return;
    }
    walk(call, export, call->state, &out);
    call->stream.more = evd_export_goes_on(export, call->state);
    if (!call->stream.more) show(call, export);
}
