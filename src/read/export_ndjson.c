/*
 * Exports as answers.ndjson: one object a line, all one reviewer answered on one study. The head, then an answer an
 * item, so that a line may be cut into pieces anywhere between.
 */
#include "evidenced/records/json.h"
#include "read/export.h"

#include <assert.h>

static size_t items(const struct evd_export_entry *entry) {
    return entry->answers.answer_count + 1; /* the head is one */
}

/* The record without answers ends in an empty list, which is left open. */
static void write_head(const struct evd_export_entry *entry, struct evd_buffer *out) {
    const struct evd_study *study = entry->study;
    const struct evd_form_session_version *version = entry->version;
    struct evd_export_record record = {.study = study->base.id,
                                       .custom_id = study->custom_id,
                                       .doi = study->doi,
                                       .pmid = study->pmid,
                                       .open_alex_id = study->open_alex_id,
                                       .title = study->title,
                                       .authors = study->authors,
                                       .year = study->year,
                                       .journal = study->journal,
                                       .reviewer = version->author,
                                       .session = version->session,
                                       .version = version->base.id,
                                       .version_seq = version->seq,
                                       .form = version->form,
                                       .form_version = version->form_version_seq,
                                       .stamp = version->base.stamp,
                                       .saved_at = version->saved_at};
    evd_buffer_add_byte(out, '{');
    evd_json_write_members(&evd_type_export_record, &record, out);
    assert(out->bytes[out->size_bytes - 2] == '[' && out->bytes[out->size_bytes - 1] == ']');
    out->size_bytes--;
}

static void write_answer(const struct evd_annotation_revision *revision, struct evd_buffer *out) {
    struct evd_export_answer answer = {.question = revision->question,
                                       .value = revision->value,
                                       .notes = revision->notes,
                                       .revision = revision->base.id,
                                       .stamp = revision->base.stamp};
    answer.path.items = revision->path.items;
    answer.path.count = revision->path.count;
    evd_json_write(&evd_type_export_answer, &answer, out);
}

static void item(const struct evd_export *export, const struct evd_export_entry *entry, size_t at,
                 struct evd_buffer *out) {
    (void)export;
    if (at == 0) write_head(entry, out);
    if (at > 1) evd_buffer_add_byte(out, ',');
    if (at > 0) write_answer(entry->answers.answers[at - 1].revision, out);
    if (at == entry->answers.answer_count) evd_buffer_add_text(out, EVD_TEXT("]}\n"));
}

const struct evd_export_format evd_export_ndjson = {
    .file = "answers.ndjson",
    .content_type = EVD_EXPORT_NDJSON_TYPE,
    .items = items,
    .item = item,
};
