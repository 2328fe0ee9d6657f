/*
 * What the tags of a RIS record are to a study.
 *
 * The table is by preference: of two tags for one field that with the smaller rank counts, of two of one rank the first
 * that is not empty. What is not in the specification comes from what EBSCO, EndNote, Ovid, ProQuest, Cochrane, Web of
 * Science, Mendeley and Zotero write.
 */
#include "evidenced/base/arena.h"
#include "evidenced/domain/study_identity.h"
#include "tables/private.h"

enum {
    GUESSED = 10,      /* ranks behind all that say what they are */
    TOLD_ELSEWHERE,    /* by another tag */
    MOST_GUESSES = 64, /* of a record: each takes memory */
};

static const struct {
    const char tag[EVD_RIS_TAG_BYTES + 1];
    enum evd_reference_field field;
    uint8_t rank;
} fields[] = {
    {"TI", EVD_REFERENCE_TITLE, 1},    {"T1", EVD_REFERENCE_TITLE, 2},    {"BT", EVD_REFERENCE_TITLE, 3},
    {"AB", EVD_REFERENCE_ABSTRACT, 1}, {"N2", EVD_REFERENCE_ABSTRACT, 2}, {"PY", EVD_REFERENCE_YEAR, 1},
    {"Y1", EVD_REFERENCE_YEAR, 2},     {"JF", EVD_REFERENCE_JOURNAL, 1},  {"T2", EVD_REFERENCE_JOURNAL, 2},
    {"JO", EVD_REFERENCE_JOURNAL, 3},  {"JA", EVD_REFERENCE_JOURNAL, 4},  {"J2", EVD_REFERENCE_JOURNAL, 5},
    {"J1", EVD_REFERENCE_JOURNAL, 6},  {"DO", EVD_REFERENCE_DOI, 1},      {"DI", EVD_REFERENCE_DOI, 2},
    {"UR", EVD_REFERENCE_URL, 1},      {"LK", EVD_REFERENCE_URL, 2},      {"L2", EVD_REFERENCE_URL, 3},
};

/* Where an identifier may stand among other things. */
static const struct {
    enum evd_reference_field field;
    const char *tags; /* two letters each */
} guessed[] = {
    {EVD_REFERENCE_YEAR, "DA"},
    {EVD_REFERENCE_DOI, "IDM3L3URL2LK"},
    {EVD_REFERENCE_PMID, "ANIDN1M1M2C1C2C3C4C5C6C7C8URL2LK"},
    {EVD_REFERENCE_OPEN_ALEX_ID, "IDURL2LK"},
    {EVD_REFERENCE_CUSTOM_ID, "ANIDUT"},
};

static bool is(struct evd_text tag, const char *this_one) {
    return memcmp(tag.bytes, this_one, EVD_RIS_TAG_BYTES) == 0;
}

static bool is_among(struct evd_text tag, const char *tags) {
    for (; *tags != '\0'; tags += EVD_RIS_TAG_BYTES)
        if (is(tag, tags)) return true;
    return false;
}

static bool contains_ignoring_case(struct evd_text text, struct evd_text word) {
    for (; text.size_bytes >= word.size_bytes; text = (struct evd_text){text.bytes + 1, text.size_bytes - 1})
        if (evd_begins_ignoring_case(text, word)) return true;
    return false;
}

static struct evd_text without(struct evd_text text, size_t first_bytes) {
    return evd_text_trim((struct evd_text){text.bytes + first_bytes, text.size_bytes - first_bytes});
}

static struct evd_text digits_in_front(struct evd_text text) {
    size_t count = 0;
    while (count < text.size_bytes && text.bytes[count] >= '0' && text.bytes[count] <= '9')
        count++;
    return (struct evd_text){text.bytes, count};
}

void evd_ris_begin_record(struct evd_references *references) {
    struct evd_ris *ris = &references->ris;
    ris->in_record = ris->is_joined = ris->is_pubmed = false;
    ris->first_line = ris->last_line = 0;
    ris->tag = ris->value = ris->accession = (struct evd_text){NULL, 0};
    ris->joined = ris->authors = (struct evd_buffer){0};
    ris->guesses = 0;
    memset(ris->ranks, 0, sizeof ris->ranks);
    for (size_t i = 0; i < references->options.label_count; i++)
        ris->labels[i] = (struct evd_buffer){0};
}

static void put(struct evd_references *references, enum evd_reference_field field, uint8_t rank, struct evd_text tag,
                struct evd_text value) {
    uint8_t *held = &references->ris.ranks[field];
    if (*held != 0 && *held <= rank) return;
    bool too_long = value.size_bytes > evd_reference_field_bytes(field);
    *held = rank;
    references->given.fields[field] =
        (struct evd_given){.name = tag,
                           .too_long = too_long,
                           .text = too_long ? (struct evd_text){NULL, 0} : evd_text_copy(references->rows, value)};
}

/* One more of several values, with "; " between them. */
static void append(struct evd_references *references, struct evd_buffer *values, struct evd_given *given,
                   size_t most_bytes, struct evd_text tag, struct evd_text value) {
    if (given->too_long) return;
    if (values->bytes == NULL) evd_buffer_init(values, references->rows, value.size_bytes < 256 ? 256 : 1024);
    given->name = tag;
    given->too_long = value.size_bytes > most_bytes || values->size_bytes + 2 > most_bytes - value.size_bytes;
    given->text = (struct evd_text){NULL, 0};
    if (given->too_long) return;
    if (values->size_bytes > 0) evd_buffer_add_text(values, EVD_TEXT("; "));
    evd_buffer_add_text(values, value);
    given->text = evd_buffer_text(values);
}

/* `10.1000/1 [doi]` is how Ovid says what an ID is. */
static struct evd_text without_remark(struct evd_text value) {
    static const struct evd_text remark = EVD_TEXT_INIT("[doi]");
    if (value.size_bytes < remark.size_bytes) return value;
    size_t before = value.size_bytes - remark.size_bytes;
    if (!evd_text_equal_ignoring_case((struct evd_text){value.bytes + before, remark.size_bytes}, remark)) return value;
    return evd_text_trim((struct evd_text){value.bytes, before});
}

static void guess(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    struct evd_ris *ris = &references->ris;
    value = without_remark(value);
    for (size_t i = 0; i < sizeof guessed / sizeof *guessed; i++) {
        enum evd_reference_field field = guessed[i].field;
        if (ris->ranks[field] != 0 || !is_among(tag, guessed[i].tags) || ris->guesses == MOST_GUESSES) continue;
        ris->guesses++;
        if (evd_reference_guess(field, value, references->rows)) put(references, field, GUESSED, tag, value);
    }
}

/* An accession number is a PMID when its database is PubMed: named beside it (`PUBMED 1`), or by another tag. */
static void note_accession(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    struct evd_ris *ris = &references->ris;
    static const struct evd_text pubmed = EVD_TEXT_INIT("PUBMED ");
    if (is_among(tag, "DBDP"))
        ris->is_pubmed = ris->is_pubmed || contains_ignoring_case(value, EVD_TEXT("PubMed")) ||
                         contains_ignoring_case(value, EVD_TEXT("MEDLINE")) ||
                         evd_text_equal_ignoring_case(value, EVD_TEXT("cmedm")); /* EBSCO's name of it */
    if (is_among(tag, "ANC3") && evd_begins_ignoring_case(value, pubmed)) {
        struct evd_text digits = digits_in_front(without(value, pubmed.size_bytes));
        if (digits.size_bytes > 0) put(references, EVD_REFERENCE_PMID, GUESSED, tag, digits);
    }
    if (is(tag, "AN") && digits_in_front(value).size_bytes == value.size_bytes && ris->accession.bytes == NULL &&
        value.size_bytes <= evd_reference_field_bytes(EVD_REFERENCE_PMID))
        ris->accession = evd_text_copy(references->rows, value);
}

/* What a label takes of a tag: all of it when the tag was asked for, or what stands behind its name in a note. */
static struct evd_text labelled(struct evd_text name, struct evd_text tag, struct evd_text value) {
    static const char marks[] = {'_', ':', '='};
    const struct evd_text nothing = {NULL, 0};
    name = evd_text_trim(name);
    if (evd_text_equal_ignoring_case(name, tag)) return value;
    if (!is(tag, "N1") || name.size_bytes == 0 || !evd_begins_ignoring_case(value, name)) return nothing;
    value = without(value, name.size_bytes);
    if (value.size_bytes == 0 || memchr(marks, value.bytes[0], sizeof marks) == NULL) return nothing;
    return without(value, 1);
}

static void add_labels(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    for (size_t i = 0; i < references->options.label_count; i++) {
        struct evd_text part = labelled(references->options.labels[i], tag, value);
        if (part.size_bytes > 0)
            append(references, &references->ris.labels[i], &references->given.labels[i], EVD_LIMIT_NAME_BYTES, tag,
                   part);
    }
}

/* A link to a PDF is a path below the reviewers' folder, an address, or a place in somebody's program
 * (internal-pdf://). */
static void add_pdf(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    if (evd_begins_ignoring_case(value, EVD_TEXT("http://")) || evd_begins_ignoring_case(value, EVD_TEXT("https://")))
        put(references, EVD_REFERENCE_URL, GUESSED, tag, value);
    else if (!contains_ignoring_case(value, EVD_TEXT("://")))
        put(references, EVD_REFERENCE_PDF_RELATIVE_PATH, 1, tag, value);
}

void evd_ris_add(struct evd_references *references, struct evd_text tag, struct evd_text value) {
    if (value.size_bytes == 0) return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (is(tag, fields[i].tag)) put(references, fields[i].field, fields[i].rank, tag, value);
    if (is_among(tag, "AUA1"))
        append(references, &references->ris.authors, &references->given.fields[EVD_REFERENCE_AUTHORS],
               evd_reference_field_bytes(EVD_REFERENCE_AUTHORS), tag, value);
    if (is(tag, "L1")) add_pdf(references, tag, value);
    if (evd_text_equal_ignoring_case(references->options.custom_id, tag))
        put(references, EVD_REFERENCE_CUSTOM_ID, 1, tag, value);
    note_accession(references, tag, value);
    guess(references, tag, value);
    add_labels(references, tag, value);
}

void evd_ris_end_record(struct evd_references *references) {
    const struct evd_ris *ris = &references->ris;
    if (ris->is_pubmed && ris->accession.bytes != NULL)
        put(references, EVD_REFERENCE_PMID, TOLD_ELSEWHERE, EVD_TEXT("AN"), ris->accession);
}
