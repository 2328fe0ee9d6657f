/*
 * Whole files: the layouts of other programs (tests/fixtures/references), and real exports (EVIDENCED_TEST_DATA).
 */
#include "reading.h"

static const char studies[] = "tests/fixtures/references";

/* The file's bytes in the arena; bytes NULL when it is not there. */
static struct evd_text load(struct evd_arena *arena, const char *folder, const char *name) {
    char *path = NULL;
    ck_assert_int_gt(asprintf(&path, "%s/%s", folder, name), 0);
    FILE *file = fopen(path, "rbe");
    free(path);
    if (file == NULL) return (struct evd_text){NULL, 0};
    struct evd_buffer out;
    evd_buffer_init(&out, arena, 1 << 16);
    for (char part[4096];;) {
        size_t size_bytes = fread(part, 1, sizeof part, file);
        if (size_bytes == 0) break;
        evd_buffer_add(&out, part, size_bytes);
    }
    ck_assert_int_eq(fclose(file), 0);
    return evd_buffer_text(&out);
}

static enum evd_reference_format format_of(const char *name) {
    size_t size = strlen(name);
    if (strcmp(name + size - 4, ".ris") == 0) return EVD_REFERENCE_RIS;
    return strcmp(name + size - 4, ".tsv") == 0 ? EVD_REFERENCE_TSV : EVD_REFERENCE_CSV;
}

START_TEST(the_layouts_of_other_programs_are_read) {
#define SLEEP "title=Sleep in shift workers"
    static const struct {
        const char *name, *reads;
    } files[] = {
        {"asreview.ris", "1-7 " SLEEP "\n8-11 title=Naps\n"},
        {"cochrane.ris",
         "5-16 " SLEEP " abstract=An abstract. authors=Moe, A; Doe, B year=2019 journal=Journal of Rest "
         "customId=CN-00000001 pmid=12345678\n"},
        {"covidence.csv", "2 " SLEEP " abstract=One, two.\nThree. authors=Moe, A.; Doe, B. year=2019 "
                          "journal=Journal of Rest customId=CN-00000001 doi=10.5555/rest.1\n"
                          "3 title=Naps authors=Roe, C.\n"},
        {"endnote.ris",
         "1-18 " SLEEP " abstract=An abstract with a second paragraph. authors=Moe, A.; Doe, B. year=2019 "
         "journal=Journal of Rest doi=10.5555/rest.1 pmid=12345678 url=https://example.org/rest/1\n"},
        {"openalex.csv", "2 " SLEEP " authors=Anna Moe|Ben Doe year=2019 journal=Journal of Rest "
                         "doi=https://doi.org/10.5555/rest.1 pmid=https://pubmed.ncbi.nlm.nih.gov/12345678 "
                         "openAlexId=https://openalex.org/W1000000001\n"},
        {"ovid.ris", "1-9 " SLEEP " abstract=II - is a numeral here. authors=Moe, A year=2019 doi=10.5555/rest.1 "
                     "pmid=12345678\n"},
        {"pubmed.csv",
         "2 " SLEEP ". authors=Moe A, Doe B. year=2019 journal=J Rest doi=10.5555/rest.1 pmid=12345678\n"},
        {"rayyan.csv",
         "2 " SLEEP " abstract=An abstract. authors=Moe, A. and Doe, B. year=2019 journal=Journal of Rest "
         "pmid=12345678 url=https://example.org/rest/1\n"},
        {"scopus.csv", "2 " SLEEP " abstract=An abstract. authors=Moe, A.; Doe, B. year=2019 journal=Journal of Rest "
                       "customId=2-s2.0-1 doi=10.5555/rest.1 pmid=12345678 "
                       "url=https://www.scopus.com/inward/record.uri?eid=2-s2.0-1\n"},
        {"web_of_science.tsv", "2 " SLEEP " abstract=An abstract; with a semicolon, and commas. authors=Moe, A; Doe, B "
                               "year=2019 journal=JOURNAL OF REST customId=WOS:000000000000001 doi=10.5555/rest.1 "
                               "pmid=12345678\n"},
        {"zotero.csv",
         "2 " SLEEP " abstract=An abstract. authors=Moe, Anna; Doe, Ben year=2019 journal=Journal of Rest "
         "doi=10.5555/rest.1 url=https://example.org/rest/1\n3 title=Naps authors=Roe, C.\n"},
    };
#undef SLEEP
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct evd_reference_options options = {.format = format_of(files[i].name)};
        struct evd_arena arena;
        evd_arena_init(&arena, SIZE_MAX);
        struct evd_text content = load(&arena, studies, files[i].name);
        ck_assert_msg(content.bytes != NULL, "%s is not there", files[i].name);
        expect_reading(content, &options, files[i].reads);
        evd_arena_done(&arena);
    }
}
END_TEST

static const char *data(void) {
    const char *given = getenv("EVIDENCED_TEST_DATA");
    return given == NULL ? "../shared/data" : given;
}

/* One file of the test data, read; false, and said so, when it is not there. */
static bool read_real(struct reading *reading, struct evd_arena *arena, const char *name,
                      const struct evd_reference_options *options) {
    evd_arena_init(arena, SIZE_MAX);
    struct evd_text content = load(arena, data(), name);
    if (content.bytes == NULL) {
        printf("skipped: %s is not here (EVIDENCED_TEST_DATA)\n", name);
        (void)fflush(stdout);
        evd_arena_done(arena);
        return false;
    }
    (void)reading_tell(reading, content, options);
    return true;
}

/* How often the reason was given. */
static size_t times(const struct reading *reading, const char *code) {
    char reason[100];
    size_t count = 0;
    (void)snprintf(reason, sizeof reason, " refused %s ", code);
    for (const char *at = (const char *)reading->out.bytes; (at = strstr(at, reason)) != NULL; at++)
        count++;
    return count;
}

START_TEST(every_file_of_the_test_data_is_read_or_refused_with_its_reason) {
    static const struct {
        const char *name;
        char delimiter;
        size_t read, nothing, malformed; /* rows refused for one reason or the other */
    } files[] = {
        {"references/baseline_empty_values.ris", 0, 2, 2, 0},
        {"references/baseline_reference_types.ris", 0, 0, 61, 0},
        {"references/duplicate_records.csv", ';', 7, 0, 7}, /* `10.1` is no DOI */
        {"references/generic.csv", ',', 2, 0, 0},
        {"references/generic_labels.csv", ',', 6, 0, 0},
        {"references/generic_semicolon.csv", ';', 2, 0, 0},
        {"references/generic_tab.tsv", '\t', 2, 0, 0},
        {"references/missing_values.csv", ',', 2, 2, 0},
        {"references/ovid_zotero.ris", 0, 6, 0, 0},
        {"references/proquest.ris", 0, 6, 0, 0},
        {"references/pubmed_zotero.ris", 0, 6, 0, 0},
        {"references/record_id.csv", ',', 10, 0, 0},
        {"synergy/Jeyaraman_2020.csv", ',', 1176, 18, 0},
        {"synergy/van_Dis_2020.csv", ',', 9666, 554, 0},
        {"synergy/van_de_Schoot_2018.csv", ',', 4886, 1339, 0},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const struct evd_reference_options options = {.format = format_of(files[i].name)};
        struct evd_arena arena;
        struct reading reading;
        if (!read_real(&reading, &arena, files[i].name, &options)) continue;
        ck_assert_msg(!reading.file_refused, "%s: " EVD_TEXT_FMT, files[i].name, EVD_TEXT_ARG(reading.refusal.message));
        ck_assert_int_eq(reading.delimiter, files[i].delimiter);
        ck_assert_msg(reading.read == files[i].read, "%s: %zu read", files[i].name, reading.read);
        ck_assert_uint_eq(times(&reading, "neitherTitleNorIdentifier"), files[i].nothing);
        ck_assert_uint_eq(times(&reading, "malformedIdentifier"), files[i].malformed);
        ck_assert_uint_eq(reading.refused, files[i].nothing + files[i].malformed);
        ck_assert_uint_eq(reading.empty, 0);
        reading_done(&reading);
        evd_arena_done(&arena);
    }
}
END_TEST

/* Does the told reading hold this text? */
static void expect_in(const struct reading *reading, const char *text) {
    ck_assert_msg(strstr((const char *)reading->out.bytes, text) != NULL, "not told: %s", text);
}

START_TEST(what_real_files_say_arrives) {
    static const struct evd_text label = EVD_TEXT_INIT("label_included");
    static const struct {
        const char *name, *holds;
    } files[] = {
        {"references/generic_labels.csv",
         "authors=['Marx, Karl', 'Lindgren, Astrid'] year=2014 url=http://example_url.com "
         "label:label_included=1\n"},
        {"references/generic_labels.csv", "year=2006 url=http://example_url.com label:label_included=0\n"},
        {"references/ovid_zotero.ris", "authors=Trindade, Ines A; Irons, Chris; Ferreira, Claudia; Portela, Francisco; "
                                       "Pinto-Gouveia, Jose year=2019 journal=Clinical Psychology & Psychotherapy "
                                       "doi=10.1002/cpp.2398\n"},
        {"references/proquest.ris",
         "year=2019 journal=Journal of Traumatic Stress doi=http://dx.doi.org/10.1002/jts.22387 "
         "url=https://search.proquest.com/docview/2214991469?accountid=14772\n"},
        {"references/pubmed_zotero.ris",
         "year=2019 journal=Techniques in coloproctology doi=10.1007/s10151-019-02080-0\n"},
        {"synergy/van_Dis_2020.csv", "\n4 doi=https://doi.org/10.1176/appi.ajp.2007.06122057 "
                                     "openAlexId=https://openalex.org/W2104250389 label:label_included=1\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct evd_reference_options options = {.format = format_of(files[i].name), .labels = &label};
        struct evd_arena arena;
        struct reading reading;
        options.label_count = options.format == EVD_REFERENCE_CSV;
        if (!read_real(&reading, &arena, files[i].name, &options)) continue;
        expect_in(&reading, files[i].holds);
        reading_done(&reading);
        evd_arena_done(&arena);
    }
}
END_TEST

EVD_TEST_MAIN("tables: whole files", the_layouts_of_other_programs_are_read,
              every_file_of_the_test_data_is_read_or_refused_with_its_reason, what_real_files_say_arrives)
