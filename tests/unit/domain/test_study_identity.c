#include "evidenced/domain/study_identity.h"

#include "../../support/test.h"
#include "evidenced/base/arena.h"

static struct evd_arena arena;

static void begin(void) {
    evd_arena_init(&arena, 64 * EVD_MIB);
}

static void end(void) {
    evd_arena_done(&arena);
}

struct spelling {
    const char *given, *normal; /* NULL: no identifier of that kind */
};

static void each_is(enum evd_identity_kind kind, const struct spelling *spellings, size_t count) {
    begin();
    for (size_t i = 0; i < count; i++) {
        struct evd_text normal = evd_study_identity_normalise(kind, evd_text_from(spellings[i].given), &arena);
        if (spellings[i].normal == NULL)
            ck_assert_msg(normal.bytes == NULL, "[%s] is [" EVD_TEXT_FMT "]", spellings[i].given, EVD_TEXT_ARG(normal));
        else
            ck_assert_msg(normal.bytes != NULL && evd_text_equal(normal, evd_text_from(spellings[i].normal)),
                          "[%s] is [" EVD_TEXT_FMT "]", spellings[i].given, EVD_TEXT_ARG(normal));
    }
    end();
}

#define EACH_IS(kind, ...)                                                                                             \
    do {                                                                                                               \
        static const struct spelling spellings[] = {__VA_ARGS__};                                                      \
        each_is((kind), spellings, sizeof spellings / sizeof *spellings);                                              \
    } while (0)

START_TEST(a_doi_is_found_in_every_spelling_of_it) {
    EACH_IS(EVD_IDENTITY_DOI, {"10.1000/abc", "10.1000/abc"}, {"10.1000/ABC", "10.1000/abc"},
            {"  10.1000/ABC\r\n", "10.1000/abc"},
            {"\xC2\xA0"
             "10.1000/abc\xC2\xA0 ",
             "10.1000/abc"},
            {"\xEF\xBB\xBF"
             "10.1000/abc\xE2\x80\x8B",
             "10.1000/abc"},
            {"doi:10.1000/abc", "10.1000/abc"}, {"DOI: 10.1000/abc", "10.1000/abc"},
            {"Doi:\xC2\xA0"
             "10.1000/abc",
             "10.1000/abc"},
            {"info:doi/10.1000/abc", "10.1000/abc"}, {"https://doi.org/10.1000/ABC", "10.1000/abc"},
            {"http://doi.org/10.1000/abc", "10.1000/abc"}, {"HTTPS://DOI.ORG/10.1000/abc", "10.1000/abc"},
            {"https://www.doi.org/10.1000/abc", "10.1000/abc"}, {"http://dx.doi.org/10.1000/abc", "10.1000/abc"},
            {"https://dx.doi.org/10.1000/abc", "10.1000/abc"}, {"doi.org/10.1000/abc", "10.1000/abc"},
            {"dx.doi.org/10.1000/abc", "10.1000/abc"}, {"doi: https://doi.org/10.1000/abc", "10.1000/abc"},
            {"https://doi.org/doi:10.1000/abc", "10.1000/abc"}, {"https://doi.org/10.1000%2Fabc", "10.1000/abc"},
            {"https://doi.org/10.1000%2fABC%28x%29", "10.1000/abc(x)"},
            {"https://doi.org/10.1000/abc?utm_source=x", "10.1000/abc"}, {"10.1000/abc.", "10.1000/abc"},
            {"https://doi.org/10.1000/abc ,", "10.1000/abc"}, {"doi:10.1000/abc .;", "10.1000/abc"});
}
END_TEST

START_TEST(what_belongs_to_a_doi_stays) {
    EACH_IS(EVD_IDENTITY_DOI, {"10.1000.10/123", "10.1000.10/123"},
            {"10.1037//0022-006x.71.1.31", "10.1037//0022-006x.71.1.31"},
            {"https://doi.org/10.1037//0022-006x.71.1.31", "10.1037//0022-006x.71.1.31"},
            {"https://doi.org/10.1002/(SICI)1099-1077(199908)14:1+<S72::AID-HUP120>3.0.CO;2-#",
             "10.1002/(sici)1099-1077(199908)14:1+<s72::aid-hup120>3.0.co;2-#"},
            {"https://doi.org/10.1002/%28SICI%291099-1077%28199908%2914:1+%3CS72::AID-HUP120%3E3.0.CO;2-%23",
             "10.1002/(sici)1099-1077(199908)14:1+<s72::aid-hup120>3.0.co;2-#"},
            {"10.1000/a%2Fb", "10.1000/a%2fb"}, /* not an address: nothing is encoded */
            {"https://doi.org/10.1000/50%", "10.1000/50%"}, {"https://doi.org/10.1000/5%zz", "10.1000/5%zz"},
            {"10.1000/a?b", "10.1000/a?b"}, {"10.1000/\xC3\x89t\xC3\xA9", "10.1000/\xC3\x89t\xC3\xA9"},
            {"10.1000/doi:10.1000", "10.1000/doi:10.1000"}, {"10.1/x", "10.1/x"});
}
END_TEST

START_TEST(what_is_no_doi_is_none) {
    EACH_IS(EVD_IDENTITY_DOI, {"", NULL}, {"  ", NULL}, {"doi:", NULL}, {"https://doi.org/", NULL}, {"10.1000", NULL},
            {"10.1000/", NULL}, {"10.1000/.", NULL}, {"10./abc", NULL}, {"10/abc", NULL}, {"11.1000/abc", NULL},
            {"10.1000a/abc", NULL}, {"10.1000./abc", NULL}, {"10.1000/a b", NULL}, {"10.1000/a\tb", NULL},
            {"https://doi.org/10.1000/a%20b", NULL}, {"https://doi.org/10.1000/a%00b", NULL},
            {"https://doi.org/10.1000/%ff", NULL}, {"10.1000/\xff", NULL}, {"https://example.org/10.1000/abc", NULL},
            {"https://notdoi.org/10.1000/abc", NULL}, {"see 10.1000/abc", NULL}, {"n/a", NULL}, {"12345678", NULL});
}
END_TEST

START_TEST(a_pmid_is_found_in_every_spelling_of_it) {
    EACH_IS(EVD_IDENTITY_PMID, {"123", "123"}, {" 0123 ", "123"}, {"PMID: 0123", "123"}, {"PMID:123", "123"},
            {"pmid 123", "123"}, {"PMID123", "123"},
            {"PMID :\xC2\xA0"
             "123",
             "123"},
            {"https://pubmed.ncbi.nlm.nih.gov/123", "123"}, {"https://pubmed.ncbi.nlm.nih.gov/123/", "123"},
            {"http://pubmed.ncbi.nlm.nih.gov/00123/?term=x#abstract", "123"},
            {"https://pubmed.ncbi.nlm.nih.gov/123/#affiliation-1", "123"},
            {"https://www.ncbi.nlm.nih.gov/pubmed/123", "123"},
            {"http://www.ncbi.nlm.nih.gov/pubmed/123?dopt=Abstract", "123"}, {"pubmed.ncbi.nlm.nih.gov/123", "123"},
            {"PMID: https://pubmed.ncbi.nlm.nih.gov/123", "123"}, {"", NULL}, {"0", NULL}, {"000", NULL}, {"-1", NULL},
            {"+1", NULL}, {"12.0", NULL}, {"1e5", NULL}, {"PMC123", NULL}, {"PMID:", NULL}, {"pmid::1", NULL},
            {"123 456", NULL}, {"https://pubmed.ncbi.nlm.nih.gov/", NULL},
            {"https://pubmed.ncbi.nlm.nih.gov/123/456", NULL}, {"https://example.org/123", NULL}, {"\xD9\xA1", NULL});
}
END_TEST

START_TEST(an_openalex_id_is_found_in_every_spelling_of_it) {
    EACH_IS(EVD_IDENTITY_OPENALEX, {"W123", "W123"}, {"w123", "W123"}, {" W123 ", "W123"},
            {"https://openalex.org/W123", "W123"}, {"http://openalex.org/w123", "W123"},
            {"https://openalex.org/works/w123", "W123"}, {"https://api.openalex.org/works/W123?select=id", "W123"},
            {"https://api.openalex.org/W123/", "W123"}, {"https://openalex.org/W123#x", "W123"},
            {"openalex.org/W123", "W123"}, {"openalex:W123", "W123"}, {"", NULL}, {"W", NULL}, {"123", NULL},
            {"A123", NULL}, {"W12x", NULL}, {"W-1", NULL}, {"https://openalex.org/", NULL},
            {"https://openalex.org/A123", NULL}, {"https://example.org/W123", NULL});
}
END_TEST

START_TEST(a_custom_id_is_trimmed_and_otherwise_kept) {
    EACH_IS(EVD_IDENTITY_CUSTOM, {" 007 ", "007"}, {"a B", "a B"}, {"Ab", "Ab"}, {"ab", "ab"},
            {"\xC2\xA0x\xC2\xA0\xE2\x80\xAF", "x"}, {"x\xC2\xA0y", "x\xC2\xA0y"},
            {"doi:10.1000/abc", "doi:10.1000/abc"}, {"", NULL}, {" \t\xC2\xA0", NULL}, {"a\nb", NULL}, {"a\x7F", NULL},
            {"\xff", NULL});
}
END_TEST

START_TEST(an_identifier_longer_than_its_record_holds_is_none) {
    char digits[EVD_LIMIT_NAME_BYTES + 2];
    begin();
    for (int kind = EVD_IDENTITY_CUSTOM; kind < EVD_END_OF_identity_kind; kind++) {
        memset(digits, '1', sizeof digits);
        if (kind == EVD_IDENTITY_DOI) memcpy(digits, "10.1/", 5);
        if (kind == EVD_IDENTITY_OPENALEX) digits[0] = 'W';
        struct evd_text given = {digits, EVD_LIMIT_NAME_BYTES};
        ck_assert(evd_text_equal(evd_study_identity_normalise(kind, given, &arena), given));
        given.size_bytes++;
        ck_assert_ptr_null(evd_study_identity_normalise(kind, given, &arena).bytes);
    }
    end();
}
END_TEST

START_TEST(a_missing_text_holds_no_identifier) {
    begin();
    for (int kind = EVD_IDENTITY_CUSTOM; kind < EVD_END_OF_identity_kind; kind++)
        ck_assert_ptr_null(evd_study_identity_normalise(kind, (struct evd_text){NULL, 0}, &arena).bytes);
    end();
}
END_TEST

static struct evd_text with_pieces(struct evd_text text, const struct evd_random *random) {
    static const char *const pieces[] = {"https://",
                                         "www.",
                                         "doi.org/",
                                         "dx.",
                                         "doi:",
                                         "info:doi/",
                                         "10.",
                                         "/",
                                         "abc",
                                         "ABC",
                                         "%2F",
                                         "%",
                                         "%20",
                                         "%64oi:",
                                         "?",
                                         "#",
                                         ".",
                                         ";",
                                         " ",
                                         "\xC2\xA0",
                                         "\xC2",
                                         "PMID:",
                                         "0",
                                         "7",
                                         "W",
                                         "w",
                                         "pubmed.ncbi.nlm.nih.gov/",
                                         "openalex.org/",
                                         "works/",
                                         "\x01"};
    for (uint64_t count = evd_random_below(random, 4); count > 0; count--)
        text = evd_text_print(&arena, EVD_TEXT_FMT "%s", EVD_TEXT_ARG(text),
                              pieces[evd_random_below(random, sizeof pieces / sizeof *pieces)]);
    return text;
}

/* An identifier, and around it what identifiers are made of. */
static struct evd_text random_spelling(const struct evd_random *random) {
    static const char *const identifiers[] = {"10.1000/aB", "123", "W77", ""};
    struct evd_text text = with_pieces(EVD_TEXT(""), random);
    text = evd_text_print(&arena, EVD_TEXT_FMT "%s", EVD_TEXT_ARG(text), identifiers[evd_random_below(random, 4)]);
    return with_pieces(text, random);
}

START_TEST(a_normal_form_is_its_own_normal_form) {
    struct evd_test_random random;
    evd_test_random_init(&random, 17);
    size_t found[EVD_END_OF_identity_kind] = {0};
    for (int round = 0; round < 200000; round++) {
        begin();
        int kind = EVD_IDENTITY_CUSTOM + round % (EVD_END_OF_identity_kind - EVD_IDENTITY_CUSTOM);
        struct evd_text given = random_spelling(&random.random);
        struct evd_text normal = evd_study_identity_normalise(kind, given, &arena);
        if (normal.bytes != NULL) {
            ck_assert_msg(evd_text_equal(evd_study_identity_normalise(kind, normal, &arena), normal),
                          EVD_TEXT_FMT " -> " EVD_TEXT_FMT, EVD_TEXT_ARG(given), EVD_TEXT_ARG(normal));
            ck_assert(evd_text_is_utf8(normal));
            found[kind]++;
        }
        end();
    }
    for (int kind = EVD_IDENTITY_CUSTOM; kind < EVD_END_OF_identity_kind; kind++)
        ck_assert_uint_gt(found[kind], 500);
}
END_TEST

START_TEST(the_key_of_an_identifier_is_the_same_for_ever) {
    evd_uuid project;
    char text[EVD_UUID_TEXT_BYTES + 1];
    for (uint8_t i = 0; i < sizeof project.bytes; i++)
        project.bytes[i] = i;
    evd_uuid_format(evd_study_identity_id(project, EVD_IDENTITY_DOI, EVD_TEXT("10.1000/abc")), text);
    ck_assert_str_eq(text, "0427dc5e-c43a-89ba-9d0f-78030a086e5c");
}
END_TEST

START_TEST(keys_differ_by_project_kind_and_value) {
    evd_uuid a = {{1}}, b = {{2}};
    evd_uuid key = evd_study_identity_id(a, EVD_IDENTITY_PMID, EVD_TEXT("1"));
    ck_assert(evd_uuid_equal(key, evd_study_identity_id(a, EVD_IDENTITY_PMID, EVD_TEXT("1"))));
    ck_assert(!evd_uuid_equal(key, evd_study_identity_id(b, EVD_IDENTITY_PMID, EVD_TEXT("1"))));
    ck_assert(!evd_uuid_equal(key, evd_study_identity_id(a, EVD_IDENTITY_CUSTOM, EVD_TEXT("1"))));
    ck_assert(!evd_uuid_equal(key, evd_study_identity_id(a, EVD_IDENTITY_PMID, EVD_TEXT("2"))));
}
END_TEST

/* Real identifiers. */

enum { MOST_COLUMNS = 16, MOST_KINDS = EVD_END_OF_identity_kind };

/* The cells of one line of CSV, quotes taken off; the line is written over. */
static size_t cells_of(char *line, struct evd_text cells[MOST_COLUMNS]) {
    size_t count = 0;
    char *in = line;
    for (bool more = true; more && count < MOST_COLUMNS;) {
        char *out = in, *start = in;
        bool quoted = *in == '"';
        if (quoted) in++;
        while (*in != '\0' && (quoted || (*in != ',' && *in != '\n' && *in != '\r'))) {
            if (quoted && *in == '"' && *++in != '"') {
                quoted = false;
                continue;
            }
            *out++ = *in++;
        }
        more = *in == ',';
        in++;
        cells[count++] = (struct evd_text){start, (size_t)(out - start)};
    }
    return count;
}

static int kind_of_column(struct evd_text name) {
    if (evd_text_equal(name, EVD_TEXT("doi"))) return EVD_IDENTITY_DOI;
    if (evd_text_equal(name, EVD_TEXT("pmid"))) return EVD_IDENTITY_PMID;
    if (evd_text_equal(name, EVD_TEXT("openalex_id"))) return EVD_IDENTITY_OPENALEX;
    return EVD_NONE_OF_identity_kind;
}

/* Every cell that is not empty must hold an identifier; counts them by kind. */
static void count_identifiers(const char *path, size_t ret_counts[MOST_KINDS]) {
    char *line = NULL;
    size_t room = 0, columns = 0;
    int kinds[MOST_COLUMNS] = {0};
    struct evd_text cells[MOST_COLUMNS];
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s", path);
    while (getline(&line, &room, file) > 0) {
        size_t count = cells_of(line, cells);
        for (size_t i = 0; i < count; i++) {
            if (columns == 0) {
                kinds[i] = kind_of_column(cells[i]);
            } else if (kinds[i] != 0 && cells[i].size_bytes > 0) {
                begin();
                ck_assert_msg(evd_study_identity_normalise(kinds[i], cells[i], &arena).bytes != NULL,
                              "%s: " EVD_TEXT_FMT, path, EVD_TEXT_ARG(cells[i]));
                end();
                ret_counts[kinds[i]]++;
            }
        }
        if (columns == 0) columns = count;
    }
    free(line);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(every_identifier_of_three_real_reviews_is_found) {
    static const struct {
        const char *file;
        size_t dois, pmids, openalex_ids;
    } reviews[] = {{"van_de_Schoot_2018.csv", 4610, 1185, 4886},
                   {"Jeyaraman_2020.csv", 1141, 1097, 1176},
                   {"van_Dis_2020.csv", 9188, 7698, 9651}};
    const char *data = getenv("EVIDENCED_TEST_DATA");
    if (data == NULL) data = "../shared/data";
    for (size_t i = 0; i < sizeof reviews / sizeof *reviews; i++) {
        size_t counts[MOST_KINDS] = {0};
        char *path = NULL;
        ck_assert_int_gt(asprintf(&path, "%s/synergy/%s", data, reviews[i].file), 0);
        FILE *there = fopen(path, "re");
        if (there == NULL) {
            puts("skipped: the published reviews are not here (EVIDENCED_TEST_DATA)");
            (void)fflush(stdout);
            free(path);
            return;
        }
        (void)fclose(there);
        count_identifiers(path, counts);
        free(path);
        ck_assert_uint_eq(counts[EVD_IDENTITY_DOI], reviews[i].dois);
        ck_assert_uint_eq(counts[EVD_IDENTITY_PMID], reviews[i].pmids);
        ck_assert_uint_eq(counts[EVD_IDENTITY_OPENALEX], reviews[i].openalex_ids);
    }
}
END_TEST

EVD_TEST_MAIN("domain: identifiers of studies", a_doi_is_found_in_every_spelling_of_it, what_belongs_to_a_doi_stays,
              what_is_no_doi_is_none, a_pmid_is_found_in_every_spelling_of_it,
              an_openalex_id_is_found_in_every_spelling_of_it, a_custom_id_is_trimmed_and_otherwise_kept,
              an_identifier_longer_than_its_record_holds_is_none, a_missing_text_holds_no_identifier,
              a_normal_form_is_its_own_normal_form, the_key_of_an_identifier_is_the_same_for_ever,
              keys_differ_by_project_kind_and_value, every_identifier_of_three_real_reviews_is_found)
