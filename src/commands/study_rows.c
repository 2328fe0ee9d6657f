#include "commands/study_rows.h"

#include "evidenced/base/canary.h"
#include "evidenced/records/keys.h"

static const enum evd_identity_kind kinds[EVD_ROW_IDENTIFIERS] = {EVD_IDENTITY_CUSTOM, EVD_IDENTITY_DOI,
                                                                  EVD_IDENTITY_PMID, EVD_IDENTITY_OPENALEX};

/* What the study's own field holds at most (src/records/study.def). */
static size_t stored_bytes(enum evd_identity_kind kind) {
    return kind == EVD_IDENTITY_PMID ? 40 : kind == EVD_IDENTITY_OPENALEX ? 80 : EVD_LIMIT_NAME_BYTES;
}

/* The member is called as the kind is. */
struct evd_row_identifier evd_row_identifier_of(struct evd_call *call, enum evd_identity_kind kind,
                                                struct evd_text given) {
    struct evd_row_identifier identifier = {.kind = kind, .member = evd_names_identity_kind.names[kind]};
    if (evd_text_is_blank(given)) return identifier;
    struct evd_text normal = evd_study_identity_normalise(kind, given, evd_call_arena(call));
    identifier.malformed = normal.bytes == NULL || normal.size_bytes > stored_bytes(kind);
    if (identifier.malformed) return identifier;
    identifier.normal = normal;
    identifier.id = evd_study_identity_id(call->ids.project, kind, normal);
    return identifier;
}

void evd_study_row_want(struct evd_call *call, struct evd_judged_row *row) {
    const struct evd_study_row *given = row->given;
    struct evd_text texts[EVD_ROW_IDENTIFIERS] = {given->custom_id, given->doi, given->pmid, given->open_alex_id};
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        row->identifiers[at] = evd_row_identifier_of(call, kinds[at], texts[at]);
        EVD_WANT(call, STUDY_IDENTITY, row->identifiers[at].id, &row->identifiers[at].held);
    }
}

void evd_study_identifiers_want(struct evd_call *call, const struct evd_study *study,
                                struct evd_row_identifier ret_identifiers[EVD_ROW_IDENTIFIERS]) {
    struct evd_text texts[EVD_ROW_IDENTIFIERS] = {study->custom_id, study->doi, study->pmid, study->open_alex_id};
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        struct evd_row_identifier *identifier = &ret_identifiers[at];
        *identifier = (struct evd_row_identifier){
            .kind = kinds[at], .member = evd_names_identity_kind.names[kinds[at]], .normal = texts[at]};
        if (texts[at].bytes != NULL) identifier->id = evd_study_identity_id(call->ids.project, kinds[at], texts[at]);
        EVD_WANT(call, STUDY_IDENTITY, identifier->id, &identifier->held);
    }
}

struct evd_taken_identifiers evd_taken_new(struct evd_arena *arena, size_t rows) {
    struct evd_taken_identifiers taken = {.size = rows * EVD_ROW_IDENTIFIERS * 2 + 1};
    taken.slots = EVD_NEW_ARRAY(arena, struct evd_taken_identifier, taken.size);
    return taken;
}

static struct evd_taken_identifier *find_taken(const struct evd_taken_identifiers *taken, evd_uuid id) {
    uint64_t hash;
    memcpy(&hash, id.bytes + 8, sizeof hash);
    size_t at = hash % taken->size;
    while (!evd_uuid_is_nil(taken->slots[at].id) && !evd_uuid_equal(taken->slots[at].id, id))
        at = (at + 1) % taken->size;
    return &taken->slots[at];
}

static void refuse(struct evd_judged_row *row, enum evd_error_code code) {
    row->result = EVD_ROW_REFUSED;
    row->code = code;
    row->study = evd_uuid_nil();
}

/* The study that holds the row's identifiers, from the store or from a row above. */
static void match(struct evd_judged_row *row, const struct evd_taken_identifiers *taken) {
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        const struct evd_row_identifier *identifier = &row->identifiers[at];
        if (identifier->normal.bytes == NULL) continue;
        evd_uuid holder = identifier->held != NULL ? identifier->held->study : find_taken(taken, identifier->id)->study;
        if (evd_uuid_is_nil(holder)) continue;
        if (!evd_uuid_is_nil(row->study) && !evd_uuid_equal(row->study, holder)) {
            refuse(row, EVD_ERROR_MATCHES_TWO_STUDIES);
            return;
        }
        row->study = holder;
        row->result = EVD_ROW_MATCHED;
        row->is_stored |= identifier->held != NULL;
    }
}

static bool has_identifier(const struct evd_judged_row *row) {
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++)
        if (row->identifiers[at].normal.bytes != NULL) return true;
    return false;
}

static const struct evd_row_identifier *malformed_identifier(const struct evd_judged_row *row) {
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++)
        if (row->identifiers[at].malformed) return &row->identifiers[at];
    return NULL;
}

void evd_study_row_judge(struct evd_judged_row *row, struct evd_taken_identifiers *taken) {
    row->result = EVD_ROW_ADDED;
    row->study = evd_uuid_nil();
    row->is_stored = false;
    if (malformed_identifier(row) != NULL)
        refuse(row, EVD_ERROR_MALFORMED_IDENTIFIER);
    else if (!has_identifier(row) && evd_text_is_blank(row->given->title))
        refuse(row, EVD_ERROR_NEITHER_TITLE_NOR_IDENTIFIER);
    else
        match(row, taken);
    if (row->result != EVD_ROW_ADDED) return;
    row->study = row->would_be;
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        const struct evd_row_identifier *identifier = &row->identifiers[at];
        if (identifier->normal.bytes != NULL)
            *find_taken(taken, identifier->id) =
                (struct evd_taken_identifier){.id = identifier->id, .study = row->study};
    }
}

const char *evd_study_row_member(const struct evd_judged_row *row) {
    const struct evd_row_identifier *malformed = malformed_identifier(row);
    return malformed == NULL ? NULL : malformed->member;
}

int64_t evd_study_random_key(evd_uuid study) {
    uint64_t key;
    memcpy(&key, study.bytes + 8, sizeof key);
    return (int64_t)((key & INT64_MAX) | 1); /* 0 is no place */
}

void evd_row_identifier_insert(struct evd_call *call, const struct evd_row_identifier *identifier, evd_uuid study) {
    struct evd_study_identity identity = {
        .base.id = identifier->id, .kind = evd_name_of(identifier->kind), .value = identifier->normal, .study = study};
    if (!EVD_CANARY(IDENTIFIER_NOT_TAKEN)) EVD_INSERT_RECORD(call, study_identity, &identity);
}

void evd_study_row_write(struct evd_call *call, const struct evd_judged_row *row, struct evd_study_origin origin) {
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
                                .imported_by = origin.operation,
                                .random_key = evd_study_random_key(row->study),
                                .added_at = call->now_ms};
    study->labels.items =
        evd_arena_copy(evd_call_arena(call), origin.labels, origin.label_count * sizeof *origin.labels);
    study->labels.count = origin.label_count;
    EVD_INSERT_RECORD(call, study, study);
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++)
        if (row->identifiers[at].normal.bytes != NULL)
            evd_row_identifier_insert(call, &row->identifiers[at], row->study);
}
