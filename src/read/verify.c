#include "read/verify.h"

#include "evidenced/records/json.h"

#include <inttypes.h>

enum { PARTS = 10 };

static const struct evd_verify_part *const parts[PARTS] = {
    &evd_verify_forms,      &evd_verify_stages,         &evd_verify_studies,  &evd_verify_identities,
    &evd_verify_sessions,   &evd_verify_drafts,         &evd_verify_versions, &evd_verify_exposures,
    &evd_verify_operations, &evd_verify_open_operations};

/* Pages. */

struct evd_verify_page *evd_verify_scan(struct evd_call *call, const struct evd_verification *verification,
                                        enum evd_index_number index, size_t limit) {
    struct evd_verify_page *page = EVD_NEW(evd_call_arena(call), struct evd_verify_page);
    struct evd_scan scan = {.index = index, .limit = limit};
    call->state = page;
    evd_reader_fetch(call); /* who may not any more ends here */
    if (verification->place.begun) {
        scan.after = verification->place.values;
        scan.after_id = verification->place.id;
    }
    evd_reader_scan(call, &scan, &page->records, &page->count);
    page->ends = page->count < limit;
    return page;
}

void evd_verify_pass(struct evd_verification *verification, const struct evd_value *values, size_t count, evd_uuid id) {
    struct evd_verify_place *place = &verification->place;
    place->begun = true;
    place->id = id;
    for (size_t i = 0; i < count; i++) {
        place->values[i] = values[i];
        if (values[i].kind != EVD_VALUE_TEXT) continue;
        size_t size_bytes = values[i].text.size_bytes; /* only so much of a text is in an index */
        if (size_bytes > sizeof place->text) size_bytes = sizeof place->text;
        memcpy(place->text, values[i].text.bytes, size_bytes);
        place->values[i].text = (struct evd_text){place->text, size_bytes};
    }
}

void evd_verify_page_done(struct evd_verification *verification, const struct evd_verify_page *page) {
    if (!page->ends) return;
    verification->part++;
    verification->place.begun = false;
}

/* Findings. */

static void add_line(struct evd_verification *verification, const struct evd_verification_line *line) {
    evd_json_write(&evd_type_verification_line, line, verification->out);
    evd_buffer_add_byte(verification->out, '\n');
}

void evd_verify_note(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                     struct evd_text expected, struct evd_text found) {
    struct evd_verification *verification = call->stream.carried;
    struct evd_verification_line line = {.check = evd_name_of(check),
                                         .record = evd_text_from(evd_catalogue_stored()->collection_names[in]),
                                         .id = id,
                                         .expected = expected,
                                         .found = found};
    if (verification->sum.findings++ >= EVD_LIMIT_FINDINGS) return;
    verification->sum.shown++;
    add_line(verification, &line);
}

struct evd_text evd_verify_id_text(struct evd_call *call, const char *what, evd_uuid id) {
    char text[EVD_UUID_TEXT_BYTES + 1];
    if (evd_uuid_is_nil(id)) return evd_text_print(evd_call_arena(call), "no %s", what);
    evd_uuid_format(id, text);
    return evd_text_print(evd_call_arena(call), "%s %s", what, text);
}

bool evd_verify_same(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                     evd_uuid expected, evd_uuid found) {
    if (evd_uuid_equal(expected, found)) return true;
    evd_verify_note(call, check, in, id, evd_verify_id_text(call, "id", expected),
                    evd_verify_id_text(call, "id", found));
    return false;
}

bool evd_verify_number(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                       int64_t expected, int64_t found) {
    if (expected == found) return true;
    evd_verify_note(call, check, in, id, evd_text_print(evd_call_arena(call), "%" PRId64, expected),
                    evd_text_print(evd_call_arena(call), "%" PRId64, found));
    return false;
}

bool evd_verify_there(struct evd_call *call, enum evd_integrity_check check, evd_collection in, evd_uuid id,
                      const void *record) {
    if (record != NULL) return true;
    evd_verify_note(call, check, in, id, EVD_TEXT("a record"), EVD_TEXT("none"));
    return false;
}

/* The command. */

static void read_part(struct evd_call *call) {
    struct evd_verification *verification = call->stream.carried;
    if (verification == NULL) verification = call->stream.carried = EVD_NEW(call->arena, struct evd_verification);
    parts[verification->part]->read(call, verification);
}

static void judge_part(struct evd_call *call) {
    struct evd_verification *verification = call->stream.carried;
    struct evd_buffer out;
    evd_buffer_init(&out, evd_call_arena(call), 4 * EVD_KIB);
    verification->out = &out;
    parts[verification->part]->judge(call, verification);
    call->stream.more = verification->part < PARTS;
    if (!call->stream.more) add_line(verification, &(struct evd_verification_line){.summary = &verification->sum});
    verification->out = NULL;
    call->receipt = evd_buffer_text(&out);
}

const struct evd_command evd_command_verify_project = {
    EVD_VIEW("VerifyProject", "/v1/projects/{project}/verification", EVD_CAN_ADMINISTER),
    .operator_may = true,
    .streamed = true,
    .content_type = "application/x-ndjson",
    .answer = &evd_type_verification_line,
    .read = read_part,
    .derive = judge_part,
};
