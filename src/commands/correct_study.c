/*
 * Correct a study's bibliographic fields. Identifiers move with their study: what it gives up is free for another at
 * once, and what another holds is refused.
 */
#include "commands/study_rows.h"
#include "evidenced/domain/study.h"

#include <assert.h>

/* A text as the request gives it and as the study keeps it. */
struct text_field {
    const char *member;
    size_t given, kept;
};

#define TEXT_FIELD(name, member)                                                                                       \
    { (member), offsetof(struct evd_study_row, name), offsetof(struct evd_study, name) }

static const struct text_field texts[] = {
    TEXT_FIELD(title, "title"),     TEXT_FIELD(abstract, "abstract"), TEXT_FIELD(authors, "authors"),
    TEXT_FIELD(journal, "journal"), TEXT_FIELD(url, "url"),           TEXT_FIELD(pdf_relative_path, "pdfRelativePath")};

static const struct text_field identifiers[EVD_ROW_IDENTIFIERS] = {TEXT_FIELD(custom_id, "customId"),
                                                                   TEXT_FIELD(doi, "doi"), TEXT_FIELD(pmid, "pmid"),
                                                                   TEXT_FIELD(open_alex_id, "openAlexId")};

enum { TEXTS = sizeof texts / sizeof *texts };

struct correct_study {
    const struct evd_study *study;
    struct evd_row_identifier before[EVD_ROW_IDENTIFIERS]; /* as the study has them */
    struct evd_row_identifier after[EVD_ROW_IDENTIFIERS];  /* as the request gives them; none: not given */
    struct evd_errors errors;
};

static struct evd_text given_of(const struct evd_study_row *row, const struct text_field *field) {
    struct evd_text text;
    memcpy(&text, (const uint8_t *)row + field->given, sizeof text);
    return text;
}

static struct evd_text *kept_of(struct evd_study *study, const struct text_field *field) {
    return (struct evd_text *)(void *)((uint8_t *)study + field->kept);
}

static void correct_read(struct evd_call *call) {
    const struct evd_correct_study_request *request = call->request;
    struct correct_study *state = EVD_CALL_STATE(call, correct_study);
    EVD_WANT(call, STUDY, call->ids.study, &state->study);
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        struct evd_row_identifier *after = &state->after[at];
        enum evd_identity_kind kind = (enum evd_identity_kind)(EVD_IDENTITY_CUSTOM + (int)at);
        *after = evd_row_identifier_of(call, kind, given_of(request->set, &identifiers[at]));
        assert(strcmp(after->member, identifiers[at].member) == 0);
        EVD_WANT(call, STUDY_IDENTITY, after->id, &after->held);
    }
    evd_reader_fetch(call);
    if (!evd_study_is_there(state->study)) return;
    evd_study_identifiers_want(call, state->study, state->before);
    evd_reader_fetch(call);
}

static bool is_cleared(const struct evd_correct_study_request *request, const char *member) {
    for (size_t i = 0; i < request->clear.count; i++)
        if (evd_text_equal(request->clear.items[i], evd_text_from(member))) return true;
    return false;
}

static void note(struct evd_call *call, struct correct_study *state, const char *member, enum evd_error_code code) {
    (void)evd_errors_note(&state->errors, evd_text_print(evd_call_arena(call), "/set/%s", member), code);
}

static bool is_set(const struct evd_study_row *row, struct evd_text name) {
    for (size_t i = 0; i < TEXTS; i++)
        if (evd_text_equal(name, evd_text_from(texts[i].member))) return given_of(row, &texts[i]).bytes != NULL;
    for (size_t i = 0; i < EVD_ROW_IDENTIFIERS; i++)
        if (evd_text_equal(name, evd_text_from(identifiers[i].member)))
            return given_of(row, &identifiers[i]).bytes != NULL;
    return evd_text_equal(name, EVD_TEXT("year")) && row->year != 0;
}

static bool is_member(struct evd_text name) {
    for (size_t i = 0; i < TEXTS; i++)
        if (evd_text_equal(name, evd_text_from(texts[i].member))) return true;
    for (size_t i = 0; i < EVD_ROW_IDENTIFIERS; i++)
        if (evd_text_equal(name, evd_text_from(identifiers[i].member))) return true;
    return evd_text_equal(name, EVD_TEXT("year"));
}

static void check_clear(struct evd_call *call, struct correct_study *state) {
    const struct evd_correct_study_request *request = call->request;
    for (size_t i = 0; i < request->clear.count; i++) {
        struct evd_text name = request->clear.items[i], pointer = evd_text_print(evd_call_arena(call), "/clear/%zu", i);
        if (!is_member(name))
            (void)evd_errors_note(&state->errors, pointer, EVD_ERROR_UNKNOWN_MEMBER);
        else if (is_set(request->set, name))
            (void)evd_errors_note(&state->errors, pointer, EVD_ERROR_SET_AND_CLEARED);
    }
}

static void check_texts(struct evd_call *call, struct correct_study *state) {
    const struct evd_correct_study_request *request = call->request;
    for (size_t i = 0; i < TEXTS + EVD_ROW_IDENTIFIERS; i++) {
        const struct text_field *field = i < TEXTS ? &texts[i] : &identifiers[i - TEXTS];
        struct evd_text given = given_of(request->set, field);
        if (given.bytes != NULL && evd_text_is_blank(given)) note(call, state, field->member, EVD_ERROR_BLANK_VALUE);
    }
}

static void check_identifiers(struct evd_call *call, struct correct_study *state) {
    char holder[EVD_UUID_TEXT_BYTES + 1];
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++) {
        const struct evd_row_identifier *after = &state->after[at];
        if (after->malformed) note(call, state, after->member, EVD_ERROR_MALFORMED_IDENTIFIER);
        if (after->held == NULL || evd_uuid_equal(after->held->study, state->study->base.id)) continue;
        evd_uuid_format(after->held->study, holder);
        struct evd_error *error =
            evd_errors_note(&state->errors, evd_text_print(evd_call_arena(call), "/set/%s", after->member),
                            EVD_ERROR_HELD_BY_ANOTHER_STUDY);
        if (error != NULL) error->members = evd_text_print(evd_call_arena(call), "\"studyId\":\"%s\"", holder);
    }
}

/* The study as it will be. */
static struct evd_study *corrected(struct evd_call *call, const struct correct_study *state) {
    const struct evd_correct_study_request *request = call->request;
    struct evd_study *study = EVD_CHANGE(call, study, state->study);
    for (size_t i = 0; i < TEXTS; i++) {
        struct evd_text given = given_of(request->set, &texts[i]);
        if (given.bytes != NULL) *kept_of(study, &texts[i]) = given;
        if (is_cleared(request, texts[i].member)) *kept_of(study, &texts[i]) = (struct evd_text){0};
    }
    for (size_t i = 0; i < EVD_ROW_IDENTIFIERS; i++) {
        if (state->after[i].normal.bytes != NULL) *kept_of(study, &identifiers[i]) = state->after[i].normal;
        if (is_cleared(request, identifiers[i].member)) *kept_of(study, &identifiers[i]) = (struct evd_text){0};
    }
    if (request->set->year != 0) study->year = request->set->year;
    if (is_cleared(request, "year")) study->year = 0;
    study->metadata_seq++;
    return study;
}

static bool can_be_known(const struct evd_study *study) {
    return !evd_text_is_blank(study->title) || study->custom_id.bytes != NULL || study->doi.bytes != NULL ||
           study->pmid.bytes != NULL || study->open_alex_id.bytes != NULL;
}

static bool asks_for_nothing(const struct evd_correct_study_request *request) {
    for (size_t i = 0; i < TEXTS; i++)
        if (given_of(request->set, &texts[i]).bytes != NULL) return false;
    for (size_t i = 0; i < EVD_ROW_IDENTIFIERS; i++)
        if (given_of(request->set, &identifiers[i]).bytes != NULL) return false;
    return request->set->year == 0 && request->clear.count == 0;
}

static struct evd_outcome correct_refuse(struct evd_call *call) {
    const struct evd_correct_study_request *request = call->request;
    struct correct_study *state = call->state;
    if (!evd_study_is_there(state->study)) return evd_outcome_of(EVD_NOT_FOUND);
    if (state->study->metadata_seq != request->metadata_version)
        return (struct evd_outcome){
            .code = EVD_STALE_BASE,
            .members = evd_text_print(evd_call_arena(call), "\"base\":\"metadata\",\"declared\":%lld,\"current\":%lld",
                                      (long long)request->metadata_version, (long long)state->study->metadata_seq)};
    if (asks_for_nothing(request)) return evd_invalid(call, "", EVD_ERROR_EMPTY);
    evd_errors_init(&state->errors, evd_call_arena(call));
    check_texts(call, state);
    check_clear(call, state);
    check_identifiers(call, state);
    if (state->errors.total == 0 && !can_be_known(corrected(call, state)))
        (void)evd_errors_note(&state->errors, EVD_TEXT(""), EVD_ERROR_NEITHER_TITLE_NOR_IDENTIFIER);
    return evd_errors_outcome(&state->errors);
}

/* What the study gives up is free; what it takes is its own. */
static void move_identifier(struct evd_call *call, const struct correct_study *state, size_t at) {
    const struct evd_row_identifier *before = &state->before[at], *after = &state->after[at];
    bool changes = after->normal.bytes != NULL || is_cleared(call->request, before->member);
    if (!changes || (after->normal.bytes != NULL && evd_uuid_equal(after->id, before->id))) return;
    bool held = before->held != NULL && evd_uuid_equal(before->held->study, state->study->base.id);
    if (held) EVD_DELETE_RECORD(call, study_identity, before->held);
    if (after->normal.bytes != NULL) evd_row_identifier_insert(call, after, state->study->base.id);
}

static void correct_derive(struct evd_call *call) {
    const struct correct_study *state = call->state;
    struct evd_study *study = corrected(call, state);
    for (size_t at = 0; at < EVD_ROW_IDENTIFIERS; at++)
        move_identifier(call, state, at);
    EVD_REPLACE_RECORD(call, study, study);
    struct evd_study_receipt receipt = {.command_id = call->command_id,
                                        .stamp = call->stamp,
                                        .id = study->base.id,
                                        .version = study->base.version,
                                        .metadata_version = study->metadata_seq};
    evd_call_receipt(call, &evd_type_study_receipt, &receipt);
}

const struct evd_command evd_command_correct_study = {
    .name = "CorrectStudy",
    .method = EVD_COMMAND_POST,
    .path = "/v1/projects/{project}/studies/{study}/correction",
    .needs = EVD_CAN_ADMINISTER,
    .commit = EVD_COMMIT_TXN,
    .scope = EVD_WRITES_STUDY,
    .body_limit_bytes = EVD_LIMIT_COMMAND_BODY_BYTES,
    .request = &evd_type_correct_study_request,
    .answer = &evd_type_study_receipt,
    .outcomes = EVD_OUTCOME_BIT(EVD_STALE_BASE) | EVD_OUTCOME_BIT(EVD_VALIDATION_FAILED),
    .lanes = evd_lane_of_study,
    .read = correct_read,
    .refuse = correct_refuse,
    .derive = correct_derive,
};
