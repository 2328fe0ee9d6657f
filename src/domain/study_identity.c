#include "evidenced/domain/study_identity.h"

#include "evidenced/base/arena.h"

#include <assert.h>

static const struct evd_text none = {NULL, 0};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool all_digits(struct evd_text text) {
    for (size_t i = 0; i < text.size_bytes; i++)
        if (!is_digit(text.bytes[i])) return false;
    return text.size_bytes > 0;
}

static struct evd_text without(struct evd_text text, size_t first_bytes) {
    return (struct evd_text){text.bytes + first_bytes, text.size_bytes - first_bytes};
}

/* White space of spreadsheets and web pages that is not ASCII: NBSP, zero-width space, narrow NBSP, byte order mark. */
static const struct evd_text wide_spaces[] = {EVD_TEXT_INIT("\xC2\xA0"), EVD_TEXT_INIT("\xE2\x80\x8B"),
                                              EVD_TEXT_INIT("\xE2\x80\xAF"), EVD_TEXT_INIT("\xEF\xBB\xBF")};

/* One wide space less at either end, if there is one. */
static struct evd_text trim_wide(struct evd_text text) {
    for (size_t i = 0; i < sizeof wide_spaces / sizeof *wide_spaces; i++) {
        size_t size_bytes = wide_spaces[i].size_bytes;
        if (evd_text_starts_with(text, wide_spaces[i])) text = without(text, size_bytes);
        if (text.size_bytes >= size_bytes &&
            evd_text_equal(without(text, text.size_bytes - size_bytes), wide_spaces[i]))
            text.size_bytes -= size_bytes;
    }
    return text;
}

static struct evd_text trim(struct evd_text text) {
    for (;;) {
        struct evd_text trimmed = trim_wide(evd_text_trim(text));
        if (trimmed.size_bytes == text.size_bytes) return trimmed;
        text = trimmed;
    }
}

/* Take the prefix off, in any case; true when it was there. */
static bool take(struct evd_text *text, struct evd_text prefix) {
    if (text->size_bytes < prefix.size_bytes) return false;
    if (!evd_text_equal_ignoring_case((struct evd_text){text->bytes, prefix.size_bytes}, prefix)) return false;
    *text = without(*text, prefix.size_bytes);
    return true;
}

/* Take an address off, `https://` or `http://` and `www.` in front being optional, and cut the query behind. The
 * addresses are tried in order, so a longer one comes first. */
static bool take_address(struct evd_text *text, const struct evd_text *addresses, size_t count) {
    struct evd_text rest = *text;
    if (!take(&rest, EVD_TEXT("https://"))) (void)take(&rest, EVD_TEXT("http://"));
    (void)take(&rest, EVD_TEXT("www."));
    for (size_t i = 0; i < count; i++) {
        if (!take(&rest, addresses[i])) continue;
        const char *query = memchr(rest.bytes, '?', rest.size_bytes);
        if (query != NULL) rest.size_bytes = (size_t)(query - rest.bytes);
        *text = rest;
        return true;
    }
    return false;
}

/* A page's address may end in a slash and a place on the page. */
static struct evd_text without_page_end(struct evd_text text) {
    const char *place = text.size_bytes == 0 ? NULL : memchr(text.bytes, '#', text.size_bytes);
    if (place != NULL) text.size_bytes = (size_t)(place - text.bytes);
    if (text.size_bytes > 0 && text.bytes[text.size_bytes - 1] == '/') text.size_bytes--;
    return text;
}

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Percent-decoded; a percent sign that begins no byte stands for itself. */
static struct evd_text decoded(struct evd_text text, struct evd_arena *arena) {
    char *bytes = evd_arena_alloc(arena, text.size_bytes + 1);
    size_t size_bytes = 0;
    for (size_t at = 0; at < text.size_bytes; at++) {
        char c = text.bytes[at];
        if (c == '%' && text.size_bytes - at > 2) {
            int high = hex_digit(text.bytes[at + 1]), low = hex_digit(text.bytes[at + 2]);
            if (high >= 0 && low >= 0) {
                c = (char)(high << 4 | low);
                at += 2;
            }
        }
        bytes[size_bytes++] = c;
    }
    return (struct evd_text){bytes, size_bytes};
}

static struct evd_text lower_case(struct evd_text text, struct evd_arena *arena) {
    char *bytes = evd_arena_alloc(arena, text.size_bytes + 1);
    for (size_t i = 0; i < text.size_bytes; i++) {
        bool is_upper = text.bytes[i] >= 'A' && text.bytes[i] <= 'Z';
        bytes[i] = text.bytes[i];
        if (is_upper) bytes[i] = (char)(bytes[i] + ('a' - 'A'));
    }
    return (struct evd_text){bytes, text.size_bytes};
}

static bool has_control(struct evd_text text) {
    for (size_t i = 0; i < text.size_bytes; i++)
        if ((uint8_t)text.bytes[i] < ' ' || text.bytes[i] == 0x7F) return true;
    return false;
}

/* `10.<digits>[.<digits>…]/<something>`, without spaces. */
static bool is_doi(struct evd_text text) {
    if (has_control(text) || !evd_text_is_utf8(text)) return false;
    if (memchr(text.bytes, ' ', text.size_bytes) != NULL || !take(&text, EVD_TEXT("10"))) return false;
    bool has_registrant = false;
    while (text.size_bytes > 1 && text.bytes[0] == '.' && is_digit(text.bytes[1])) {
        has_registrant = true;
        text = without(text, 1);
        while (text.size_bytes > 0 && is_digit(text.bytes[0]))
            text = without(text, 1);
    }
    return has_registrant && text.size_bytes > 1 && text.bytes[0] == '/';
}

static bool is_punctuation(char c) {
    return c == '.' || c == ',' || c == ';';
}

/* Without what the sentence it was copied from put behind it. */
static struct evd_text without_punctuation(struct evd_text text) {
    while (text.size_bytes > 0 && is_punctuation(text.bytes[text.size_bytes - 1]))
        text = trim((struct evd_text){text.bytes, text.size_bytes - 1});
    return text;
}

static struct evd_text normal_doi(struct evd_text text, struct evd_arena *arena) {
    static const struct evd_text addresses[] = {EVD_TEXT_INIT("doi.org/"), EVD_TEXT_INIT("dx.doi.org/")};
    if (take(&text, EVD_TEXT("doi:")) || take(&text, EVD_TEXT("info:doi/"))) text = trim(text);
    if (take_address(&text, addresses, sizeof addresses / sizeof *addresses)) {
        text = trim(decoded(text, arena));
        if (take(&text, EVD_TEXT("doi:"))) text = trim(text);
    }
    text = without_punctuation(text);
    if (text.size_bytes == 0 || text.size_bytes > EVD_LIMIT_NAME_BYTES || !is_doi(text)) return none;
    return lower_case(text, arena);
}

static struct evd_text normal_pmid(struct evd_text text, struct evd_arena *arena) {
    static const struct evd_text addresses[] = {EVD_TEXT_INIT("pubmed.ncbi.nlm.nih.gov/"),
                                                EVD_TEXT_INIT("ncbi.nlm.nih.gov/pubmed/"),
                                                EVD_TEXT_INIT("ncbi.nlm.nih.gov/m/pubmed/")};
    if (take(&text, EVD_TEXT("pmid"))) {
        text = trim(text);
        if (take(&text, EVD_TEXT(":"))) text = trim(text);
    }
    if (take_address(&text, addresses, sizeof addresses / sizeof *addresses)) text = without_page_end(text);
    if (!all_digits(text)) return none;
    while (text.size_bytes > 0 && text.bytes[0] == '0')
        text = without(text, 1);
    if (text.size_bytes == 0 || text.size_bytes > EVD_LIMIT_NAME_BYTES) return none;
    return evd_text_copy(arena, text);
}

static struct evd_text normal_openalex(struct evd_text text, struct evd_arena *arena) {
    static const struct evd_text addresses[] = {EVD_TEXT_INIT("openalex.org/works/"),
                                                EVD_TEXT_INIT("api.openalex.org/works/"),
                                                EVD_TEXT_INIT("openalex.org/"), EVD_TEXT_INIT("api.openalex.org/")};
    if (take(&text, EVD_TEXT("openalex:"))) text = trim(text);
    if (take_address(&text, addresses, sizeof addresses / sizeof *addresses)) text = without_page_end(text);
    if (!take(&text, EVD_TEXT("W")) || !all_digits(text) || text.size_bytes >= EVD_LIMIT_NAME_BYTES) return none;
    return evd_text_print(arena, "W" EVD_TEXT_FMT, EVD_TEXT_ARG(text));
}

struct evd_text evd_study_identity_normalise(enum evd_identity_kind kind, struct evd_text given,
                                             struct evd_arena *arena) {
    struct evd_text text = trim(given);
    if (text.size_bytes == 0 || !evd_text_is_utf8(text)) return none;
    switch (kind) {
    case EVD_IDENTITY_CUSTOM:
        if (text.size_bytes > EVD_LIMIT_NAME_BYTES || has_control(text)) return none;
        return evd_text_copy(arena, text);
    case EVD_IDENTITY_DOI: return normal_doi(text, arena);
    case EVD_IDENTITY_PMID: return normal_pmid(text, arena);
    case EVD_IDENTITY_OPENALEX: return normal_openalex(text, arena);
    case EVD_NONE_OF_identity_kind:
    case EVD_END_OF_identity_kind: break;
    }
    assert(!"a kind of identifier");
    return none;
}

evd_uuid evd_study_identity_id(evd_uuid project, enum evd_identity_kind kind, struct evd_text normal) {
    assert(kind > EVD_NONE_OF_identity_kind && kind < EVD_END_OF_identity_kind);
    struct evd_text parts[] = {evd_uuid_part(&project), evd_text_from(evd_names_identity_kind.names[kind]), normal};
    return evd_uuid_derive("studyIdentity", parts, sizeof parts / sizeof *parts);
}
