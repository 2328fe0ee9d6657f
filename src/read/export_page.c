#include "evidenced/domain/answer.h"
#include "evidenced/records/keys.h"
#include "read/export.h"

/* Columns: a run for each published version, the newest first. */

static void want_version(struct evd_call *call, int64_t seq) {
    struct evd_export_page *page = call->state;
    if (seq == 0) return;
    EVD_WANT(call, FORM_VERSION, evd_form_version_id(call->ids.project, call->ids.form, seq), &page->version);
    evd_reader_fetch(call);
    page->corrupt = page->version == NULL;
}

static void read_first(struct evd_call *call) {
    struct evd_export_page *page = call->state;
    EVD_WANT(call, FORM, call->ids.form, &page->form);
    evd_reader_fetch(call);
    if (page->form != NULL) want_version(call, page->form->published_seq);
}

static struct evd_export *begin(struct evd_call *call, const struct evd_form *form) {
    struct evd_export *export = EVD_NEW(call->arena, struct evd_export);
    evd_dataset_init(&export->dataset, call->arena);
    export->form_name = evd_text_copy(call->arena, form->name);
    export->published_seq = export->unread_seq = form->published_seq;
    export->spreadsheet_safe = call->options.spreadsheet_safe;
    call->stream.carried = export;
    return export;
}

static struct evd_outcome refuse_columns(struct evd_call *call) {
    struct evd_export_page *page = call->state;
    struct evd_export *export = call->stream.carried;
    if (export == NULL && page->form == NULL) return evd_outcome_of(EVD_NOT_FOUND);
    if (page->corrupt) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    if (export == NULL) export = begin(call, page->form);
    bool fits = page->version == NULL || evd_dataset_add(&export->dataset, page->version);
    return evd_outcome_of(fits ? EVD_OK : EVD_SIZE_LIMIT_EXCEEDED);
}

bool evd_export_take_columns(struct evd_call *call, bool *ret_complete) {
    const struct evd_export_page *page = call->state;
    struct evd_export *export = call->stream.carried;
    *ret_complete = false;
    if (page->form == NULL && page->version == NULL) return false;
    if (page->version != NULL) export->unread_seq--;
    *ret_complete = export->unread_seq == 0;
    if (*ret_complete) export->cells = EVD_NEW_ARRAY(call->arena, struct evd_text, export->dataset.column_count);
    return true;
}

/* Sessions. */

static bool is_exported(const struct evd_call *call, const struct evd_form_session *head) {
    return head->state.value == EVD_SESSION_COMPLETED && evd_uuid_equal(head->form, call->ids.form);
}

static void scan_heads(struct evd_call *call, const struct evd_export *export, struct evd_export_page *page) {
    struct evd_value after[] = {{.kind = EVD_VALUE_UUID, .uuid = export->after_study},
                                {.kind = EVD_VALUE_UUID, .uuid = export->after_form}};
    struct evd_scan scan = {.index = EVD_INDEX_sessions_of_study, .limit = call->page.limit};
    if (!evd_uuid_is_nil(export->after_session)) {
        scan.after = after;
        scan.after_id = export->after_session;
    }
    evd_reader_scan(call, &scan, &page->heads, &page->head_count);
    page->ends = page->head_count < scan.limit;
    page->entries = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_export_entry, page->head_count);
    for (size_t i = 0; i < page->head_count; i++) {
        const struct evd_form_session *head = page->heads[i];
        if (is_exported(call, head))
            page->entries[page->count++] = (struct evd_export_entry){
                .study_id = head->study, .session_id = head->base.id, .version_id = head->current_version};
    }
}

/* The version that was begun, whatever became of its session since. */
static void reopen(struct evd_call *call, const struct evd_export *export, struct evd_export_page *page) {
    page->entries = EVD_NEW(evd_call_arena(call), struct evd_export_entry);
    page->entries[page->count++] = (struct evd_export_entry){
        .study_id = export->open.study, .session_id = export->open.session, .version_id = export->open.version};
}

/* As many as may be read at once; one at least. */
static void cut_to_pins(const struct evd_export *export, struct evd_export_page *page) {
    int64_t pins = 0;
    page->whole = evd_uuid_is_nil(export->open.version);
    for (size_t i = 0; i < page->count; i++) {
        struct evd_export_entry *entry = &page->entries[i];
        page->corrupt = entry->study == NULL || entry->version == NULL || entry->version->pin_count < 0 ||
                        entry->version->pin_count > EVD_LIMIT_PINS;
        if (page->corrupt) return;
        entry->left_out = entry->study->removed != NULL && evd_uuid_is_nil(export->open.version);
        if (entry->left_out) continue;
        pins += entry->version->pin_count;
        if (i == 0 || pins <= EVD_LIMIT_EXPORT_PINS) continue;
        page->count = i;
        page->whole = false;
    }
}

static void want_revisions(struct evd_call *call, struct evd_export_page *page) {
    for (size_t i = 0; i < page->count; i++) {
        struct evd_export_entry *entry = &page->entries[i];
        if (entry->left_out) continue;
        page->corrupt |= entry->map == NULL || !evd_pins_unpack(entry->map->pins, &entry->pins) ||
                         (int64_t)entry->pins.count != entry->version->pin_count;
        if (page->corrupt) return;
        entry->revisions =
            EVD_NEW_ARRAY(evd_call_arena(call), const struct evd_annotation_revision *, entry->pins.count);
        for (size_t pin = 0; pin < entry->pins.count; pin++)
            EVD_WANT(call, ANNOTATION_REVISION, entry->pins.items[pin].revision, &entry->revisions[pin]);
    }
}

static void read_sessions(struct evd_call *call, const struct evd_export *export) {
    struct evd_export_page *page = call->state;
    evd_reader_fetch(call);
    if (evd_uuid_is_nil(export->open.version))
        scan_heads(call, export, page);
    else
        reopen(call, export, page);
    for (size_t i = 0; i < page->count; i++) {
        EVD_WANT(call, FORM_SESSION_VERSION, page->entries[i].version_id, &page->entries[i].version);
        EVD_WANT(call, STUDY, page->entries[i].study_id, &page->entries[i].study);
    }
    evd_reader_fetch(call);
    cut_to_pins(export, page);
    if (page->corrupt) return;
    for (size_t i = 0; i < page->count; i++)
        if (!page->entries[i].left_out) EVD_WANT(call, PIN_MAP, page->entries[i].version_id, &page->entries[i].map);
    evd_reader_fetch(call);
    want_revisions(call, page);
    evd_reader_fetch(call);
}

void evd_export_read(struct evd_call *call) {
    const struct evd_export *export = call->stream.carried;
    (void)EVD_CALL_STATE(call, evd_export_page);
    if (export == NULL)
        read_first(call);
    else if (export->unread_seq > 0)
        want_version(call, export->unread_seq);
    else
        read_sessions(call, export);
}

/* A revision is exported only where it is pinned, and only as it was written. */
static bool is_intact(const struct evd_annotation_revision *revision, const struct evd_pin *pin) {
    if (revision == NULL || revision->path.count > EVD_LIMIT_QUESTION_DEPTH) return false;
    struct evd_sha256 digest = evd_answer_digest(&revision->value, revision->notes);
    struct evd_text computed = {(const char *)digest.bytes, sizeof digest.bytes};
    evd_uuid context = evd_answer_context(revision->question, revision->path.items, revision->path.count);
    return evd_text_equal(revision->digest, computed) && evd_uuid_equal(context, pin->context);
}

static struct evd_outcome arrange(struct evd_call *call, struct evd_export_entry *entry) {
    const struct evd_export *export = call->stream.carried;
    const struct evd_form_session_version *version = entry->version;
    bool intact = version->form_version_seq > 0 && evd_uuid_equal(version->session, entry->session_id) &&
                  evd_uuid_equal(version->study, entry->study_id) && evd_uuid_equal(version->form, call->ids.form);
    if (!intact) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    if (version->form_version_seq > export->published_seq) /* published since the columns were written */
        return evd_outcome_of(EVD_RETRYABLE_CONFLICT);
    for (size_t i = 0; i < entry->pins.count; i++)
        if (!is_intact(entry->revisions[i], &entry->pins.items[i])) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    bool belongs = evd_dataset_arrange(&export->dataset, entry->revisions, entry->pins.count, evd_call_arena(call),
                                       &entry->answers);
    return evd_outcome_of(belongs ? EVD_OK : EVD_STORE_IS_CORRUPT);
}

struct evd_outcome evd_export_refuse(struct evd_call *call) {
    const struct evd_export *export = call->stream.carried;
    struct evd_export_page *page = call->state;
    if (export == NULL || export->unread_seq > 0) return refuse_columns(call);
    if (page->corrupt) return evd_outcome_of(EVD_STORE_IS_CORRUPT);
    for (size_t i = 0; i < page->count; i++) {
        if (page->entries[i].left_out) continue;
        struct evd_outcome outcome = arrange(call, &page->entries[i]);
        if (outcome.code != EVD_OK) return outcome;
    }
    return evd_ok();
}

static void go_behind(struct evd_export *export, evd_uuid study, evd_uuid form, evd_uuid session) {
    export->after_study = study;
    export->after_form = form;
    export->after_session = session;
}

void evd_export_pass(struct evd_export *export, struct evd_export_page *page) {
    const struct evd_export_entry *entry = &page->entries[page->written++];
    go_behind(export, entry->study_id, entry->version->form, entry->session_id);
    export->open.version = evd_uuid_nil();
    export->open.item = 0;
}

bool evd_export_goes_on(struct evd_export *export, const struct evd_export_page *page) {
    if (page->written < page->count || !page->whole) return true;
    if (page->head_count == 0) return false;
    const struct evd_form_session *last = page->heads[page->head_count - 1];
    go_behind(export, last->study, last->form, last->base.id);
    return !page->ends;
}
