/*
 * Studies, in batches: each row is added, matched to a study that holds one of its identifiers, or refused.
 *
 * A match is reported and never merged. All or nothing, unless refused rows are to be skipped. Identifiers are
 * inserted with their study, so two batches at once cannot both take one: the second runs again and finds a match.
 */
#include "commands/support.h"
#include "evidenced/domain/study_identity.h"
#include "evidenced/records/keys.h"

struct identifier {
    enum evd_identity_kind kind;
    const char *member;
    struct evd_text normal; /* bytes NULL: none given */
    evd_uuid id;
    const struct evd_study_identity *held; /* by a stored study */
    bool malformed;
};

enum { IDENTIFIERS = 4 };

struct row {
    const struct evd_study_row *given;
    struct identifier identifiers[IDENTIFIERS];
    enum evd_row_result result;
    evd_uuid study;
    enum evd_error_code code; /* why it is refused */
};

struct add_studies {
    struct row *rows;
    size_t count;
    struct evd_errors errors;
};

/* What the study's own field holds at most (src/records/study.def). */
static size_t stored_bytes(enum evd_identity_kind kind) {
    return kind == EVD_IDENTITY_PMID ? 40 : kind == EVD_IDENTITY_OPENALEX ? 80 : EVD_LIMIT_NAME_BYTES;
}

static void set_identifier(struct evd_call *call, struct identifier *identifier, enum evd_identity_kind kind,
                           const char *member, struct evd_text given) {
    *identifier = (struct identifier){.kind = kind, .member = member};
    if (evd_text_is_blank(given)) return;
    struct evd_text normal = evd_study_identity_normalise(kind, given, evd_call_arena(call));
    identifier->malformed = normal.bytes == NULL || normal.size_bytes > stored_bytes(kind);
    if (identifier->malformed) return;
    identifier->normal = normal;
    identifier->id = evd_study_identity_id(call->ids.project, kind, normal);
}

static void add_read(struct evd_call *call) {
    const struct evd_add_studies_request *request = call->request;
    struct add_studies *state = EVD_CALL_STATE(call, add_studies);
    state->count = request->studies.count;
    state->rows = EVD_NEW_ARRAY(evd_call_arena(call), struct row, state->count);
    for (size_t i = 0; i < state->count; i++) {
        struct row *row = &state->rows[i];
        row->given = &request->studies.items[i];
        set_identifier(call, &row->identifiers[0], EVD_IDENTITY_CUSTOM, "customId", row->given->custom_id);
        set_identifier(call, &row->identifiers[1], EVD_IDENTITY_DOI, "doi", row->given->doi);
        set_identifier(call, &row->identifiers[2], EVD_IDENTITY_PMID, "pmid", row->given->pmid);
        set_identifier(call, &row->identifiers[3], EVD_IDENTITY_OPENALEX, "openAlexId", row->given->open_alex_id);
        for (size_t at = 0; at < IDENTIFIERS; at++)
            EVD_WANT(call, STUDY_IDENTITY, row->identifiers[at].id, &row->identifiers[at].held);
    }
    evd_reader_fetch(call);
}

/* Which row of this batch took an identifier: open addressing over the identifiers' ids. */
struct taken {
    evd_uuid id, study;
};

static struct taken *find_taken(struct taken *table, size_t size, evd_uuid id) {
    uint64_t hash;
    memcpy(&hash, id.bytes + 8, sizeof hash);
    size_t at = hash % size;
    while (!evd_uuid_is_nil(table[at].id) && !evd_uuid_equal(table[at].id, id))
        at = (at + 1) % size;
    return &table[at];
}

static void refuse_row(struct row *row, enum evd_error_code code) {
    row->result = EVD_ROW_REFUSED;
    row->code = code;
}

/* The study that holds the row's identifiers, from the store or from a row above. */
static void match(struct row *row, struct taken *table, size_t size) {
    row->study = evd_uuid_nil();
    for (size_t at = 0; at < IDENTIFIERS; at++) {
        const struct identifier *identifier = &row->identifiers[at];
        if (identifier->normal.bytes == NULL) continue;
        evd_uuid holder =
            identifier->held != NULL ? identifier->held->study : find_taken(table, size, identifier->id)->study;
        if (evd_uuid_is_nil(holder)) continue;
        if (!evd_uuid_is_nil(row->study) && !evd_uuid_equal(row->study, holder)) {
            refuse_row(row, EVD_ERROR_MATCHES_TWO_STUDIES);
            return;
        }
        row->study = holder;
        row->result = EVD_ROW_MATCHED;
    }
}

static bool has_identifier(const struct row *row) {
    for (size_t at = 0; at < IDENTIFIERS; at++)
        if (row->identifiers[at].normal.bytes != NULL) return true;
    return false;
}

static const struct identifier *malformed_identifier(const struct row *row) {
    for (size_t at = 0; at < IDENTIFIERS; at++)
        if (row->identifiers[at].malformed) return &row->identifiers[at];
    return NULL;
}

static void judge(struct evd_call *call, struct add_studies *state) {
    size_t size = state->count * IDENTIFIERS * 2 + 1;
    struct taken *table = EVD_NEW_ARRAY(evd_call_arena(call), struct taken, size);
    for (size_t i = 0; i < state->count; i++) {
        struct row *row = &state->rows[i];
        row->result = EVD_ROW_ADDED;
        if (malformed_identifier(row) != NULL)
            refuse_row(row, EVD_ERROR_MALFORMED_IDENTIFIER);
        else if (!has_identifier(row) && evd_text_is_blank(row->given->title))
            refuse_row(row, EVD_ERROR_NEITHER_TITLE_NOR_IDENTIFIER);
        else
            match(row, table, size);
        if (row->result != EVD_ROW_ADDED) continue;
        row->study = evd_made_id("study", call->ids.project, call->command_id, i);
        for (size_t at = 0; at < IDENTIFIERS; at++)
            if (row->identifiers[at].normal.bytes != NULL)
                *find_taken(table, size, row->identifiers[at].id) =
                    (struct taken){.id = row->identifiers[at].id, .study = row->study};
    }
}

static void note_refused(struct evd_call *call, struct add_studies *state, size_t at) {
    const struct row *row = &state->rows[at];
    const struct identifier *malformed = malformed_identifier(row);
    struct evd_text pointer = malformed == NULL
                                  ? evd_text_print(evd_call_arena(call), "/studies/%zu", at)
                                  : evd_text_print(evd_call_arena(call), "/studies/%zu/%s", at, malformed->member);
    (void)evd_errors_note(&state->errors, pointer, row->code);
}

static struct evd_outcome add_refuse(struct evd_call *call) {
    const struct evd_add_studies_request *request = call->request;
    struct add_studies *state = call->state;
    evd_errors_init(&state->errors, evd_call_arena(call));
    if (state->count == 0) return evd_invalid(call, "/studies", EVD_ERROR_EMPTY);
    judge(call, state);
    for (size_t i = 0; i < state->count; i++)
        if (state->rows[i].result == EVD_ROW_REFUSED) note_refused(call, state, i);
    return request->skip_refused ? evd_ok() : evd_errors_outcome(&state->errors);
}

/* Spreads studies evenly and for ever, and needs no randomness in a derivation: the id is a hash. */
static int64_t random_key_of(evd_uuid study) {
    uint64_t key;
    memcpy(&key, study.bytes + 8, sizeof key);
    return (int64_t)((key & INT64_MAX) | 1); /* 0 is no place */
}

static void write_study(struct evd_call *call, const struct row *row) {
    const struct evd_study_row *given = row->given;
    struct evd_study *study = EVD_NEW(evd_call_arena(call), struct evd_study);
    *study = (struct evd_study){.base.id = row->study,
                                .title = given->title,
                                .abstract = given->abstract,
                                .authors = given->authors,
                                .year = given->year,
                                .journal = given->journal,
                                .custom_id = row->identifiers[0].normal,
                                .doi = row->identifiers[1].normal,
                                .pmid = row->identifiers[2].normal,
                                .open_alex_id = row->identifiers[3].normal,
                                .url = given->url,
                                .pdf_relative_path = given->pdf_relative_path,
                                .random_key = random_key_of(row->study),
                                .added_at = call->now_ms};
    EVD_INSERT_RECORD(call, study, study);
    for (size_t at = 0; at < IDENTIFIERS; at++) {
        if (row->identifiers[at].normal.bytes == NULL) continue;
        struct evd_study_identity identity = {.base.id = row->identifiers[at].id,
                                              .kind = evd_name_of(row->identifiers[at].kind),
                                              .value = row->identifiers[at].normal,
                                              .study = row->study};
        EVD_INSERT_RECORD(call, study_identity, &identity);
    }
}

static void add_derive(struct evd_call *call) {
    const struct add_studies *state = call->state;
    struct evd_batch_receipt receipt = {.command_id = call->command_id, .stamp = call->stamp};
    receipt.rows.items = EVD_NEW_ARRAY(evd_call_arena(call), struct evd_row_receipt, state->count);
    receipt.rows.count = state->count;
    for (size_t i = 0; i < state->count; i++) {
        const struct row *row = &state->rows[i];
        receipt.added += row->result == EVD_ROW_ADDED;
        receipt.matched += row->result == EVD_ROW_MATCHED;
        receipt.refused += row->result == EVD_ROW_REFUSED;
        struct evd_row_receipt *shown = &receipt.rows.items[i];
        shown->index = (int64_t)i;
        shown->result = evd_name_of(row->result);
        if (row->result != EVD_ROW_REFUSED) shown->study = row->study;
        if (row->result == EVD_ROW_REFUSED) shown->code = evd_text_from(evd_error_code_name(row->code));
        if (row->result == EVD_ROW_ADDED) write_study(call, row);
    }
    evd_call_receipt(call, &evd_type_batch_receipt, &receipt);
}

const struct evd_command evd_command_add_studies = {
    .name = "AddStudies",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/studies/batch",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_STUDY,
    .body_limit_bytes = EVD_LIMIT_STUDY_BATCH_BODY_BYTES,
    .request = &evd_type_add_studies_request,
    .answer = &evd_type_batch_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .read = add_read,
    .refuse = add_refuse,
    .derive = add_derive,
};
