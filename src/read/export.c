/*
 * Exports: the commands, and how a file is cut into pieces.
 */
#include "read/export.h"

static void write_entries(struct evd_export *export, struct evd_export_page *page,
                          const struct evd_export_format *format, struct evd_buffer *out) {
    while (page->written < page->count && out->size_bytes < EVD_LIMIT_EXPORT_PIECE) {
        const struct evd_export_entry *entry = &page->entries[page->written];
        size_t at = export->open.item, items = entry->left_out ? 0 : format->items(entry);
        while (at < items && out->size_bytes < EVD_LIMIT_EXPORT_PIECE)
            format->item(export, entry, at++, out);
        if (at < items) {
            export->open.study = entry->study_id;
            export->open.session = entry->session_id;
            export->open.version = entry->version_id;
            export->open.item = at;
            return;
        }
        evd_export_pass(export, page);
    }
}

/* Nothing is sent before the first page was read: what is wrong with it is still told as a refusal. */
void evd_export_write(struct evd_call *call, const struct evd_export_format *format) {
    struct evd_export *export = call->stream.carried;
    struct evd_buffer out;
    bool complete;
    evd_buffer_init(&out, evd_call_arena(call), 64 * EVD_KIB);
    if (evd_export_take_columns(call, &complete)) {
        call->stream.more = true;
    } else {
        if (!export->headed && format->head != NULL) format->head(export, &out);
        export->headed = true;
        write_entries(export, call->state, format, &out);
        call->stream.more = evd_export_goes_on(export, call->state);
    }
    call->receipt = evd_buffer_text(&out);
}

static void csv_derive(struct evd_call *call) {
    evd_export_write(call, &evd_export_csv);
}

static void ndjson_derive(struct evd_call *call) {
    evd_export_write(call, &evd_export_ndjson);
}

static void series_derive(struct evd_call *call) {
    evd_export_write(call, &evd_export_series);
}

#define EXPORT(export_name, file)                                                                                      \
    EVD_VIEW(export_name, "/v1/projects/{project}/forms/{form}/exports/" file, EVD_CAN_EXPORT),                        \
        .streamed = true, .outcomes = EVD_OUTCOME_BIT(EVD_SIZE_LIMIT_EXCEEDED), .read = evd_export_read,               \
        .refuse = evd_export_refuse

const struct evd_command evd_command_export_answers_csv = {
    EXPORT("ExportAnswersCsv", "answers.csv"),
    .content_type = EVD_EXPORT_CSV_TYPE,
    .query = EVD_PARAMETER_BIT(EVD_PARAMETER_SPREADSHEET),
    .derive = csv_derive,
};

const struct evd_command evd_command_export_answers_ndjson = {
    EXPORT("ExportAnswersNdjson", "answers.ndjson"),
    .content_type = EVD_EXPORT_NDJSON_TYPE,
    .answer = &evd_type_export_record,
    .derive = ndjson_derive,
};

const struct evd_command evd_command_export_series_csv = {
    EXPORT("ExportSeriesCsv", "series.csv"),
    .content_type = EVD_EXPORT_CSV_TYPE,
    .query = EVD_PARAMETER_BIT(EVD_PARAMETER_SPREADSHEET),
    .derive = series_derive,
};

const struct evd_command evd_command_export_manifest = {
    EXPORT("ExportManifest", "manifest.json"),
    .answer = &evd_type_export_manifest,
    .derive = evd_export_manifest_derive,
};
