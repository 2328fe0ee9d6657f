/*
 * What stands where anything may stand is taken only with a mark that says what it is.
 */
#include "evidenced/domain/study_identity.h"
#include "tables/given.h"

static bool begins_with_one_of(struct evd_text text, const struct evd_text *marks, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (evd_begins_ignoring_case(text, marks[i])) return true;
    return false;
}

static bool is_address(struct evd_text text) {
    static const struct evd_text marks[] = {EVD_TEXT_INIT("http://"), EVD_TEXT_INIT("https://")};
    return begins_with_one_of(text, marks, sizeof marks / sizeof *marks);
}

/* Web of Science, Scopus, Cochrane CENTRAL: their numbers begin so everywhere, and never mean two records. */
static bool is_marked_accession(struct evd_text text) {
    static const struct evd_text marks[] = {EVD_TEXT_INIT("WOS:"), EVD_TEXT_INIT("2-s2.0-"), EVD_TEXT_INIT("CN-")};
    return begins_with_one_of(text, marks, sizeof marks / sizeof *marks);
}

static bool is(enum evd_identity_kind kind, struct evd_text text, struct evd_arena *arena) {
    return evd_study_identity_normalise(kind, text, arena).bytes != NULL;
}

bool evd_reference_guess(enum evd_reference_field field, struct evd_text text, struct evd_arena *arena) {
    int64_t year;
    text = evd_text_trim(text);
    if (text.size_bytes == 0 || text.size_bytes > EVD_LIMIT_NAME_BYTES) return false;
    switch (field) {
    case EVD_REFERENCE_YEAR: return evd_year_read(text, &year) == EVD_YEAR_GIVEN;
    case EVD_REFERENCE_CUSTOM_ID: return is_marked_accession(text) && is(EVD_IDENTITY_CUSTOM, text, arena);
    case EVD_REFERENCE_DOI: return is(EVD_IDENTITY_DOI, text, arena);
    case EVD_REFERENCE_PMID:
        return (is_address(text) || evd_begins_ignoring_case(text, EVD_TEXT("PMID"))) &&
               is(EVD_IDENTITY_PMID, text, arena);
    case EVD_REFERENCE_OPEN_ALEX_ID: return is_address(text) && is(EVD_IDENTITY_OPENALEX, text, arena);
    case EVD_REFERENCE_TITLE:
    case EVD_REFERENCE_ABSTRACT:
    case EVD_REFERENCE_AUTHORS:
    case EVD_REFERENCE_JOURNAL:
    case EVD_REFERENCE_URL:
    case EVD_REFERENCE_PDF_RELATIVE_PATH:
    case EVD_REFERENCE_FIELDS: break;
    }
    return false;
}
