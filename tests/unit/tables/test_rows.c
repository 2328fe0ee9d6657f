/*
 * What a row says of a study: which column is which field, and what of a cell is taken, refused or left.
 */
#include "reading.h"

#include "tables/given.h"

static const struct evd_reference_options csv = {.format = EVD_REFERENCE_CSV};

/* A row under a header, as one line. */
static void expect_row(const char *header, const char *row, const char *reads) {
    char content[4096], expected[4096];
    (void)snprintf(content, sizeof content, "%s\n%s\n", header, row);
    (void)snprintf(expected, sizeof expected, "2 %s\n", reads);
    expect_reading(evd_text_from(content), &csv, expected);
}

START_TEST(names_are_known_without_case_spaces_and_punctuation) {
    static const struct {
        const char *name, *field, *cell;
    } names[] = {
        {"title", "title", "x"},
        {"TITLE", "title", "x"},
        {" Title ", "title", "x"},
        {"Article Title", "title", "x"},
        {"primary_title", "title", "x"},
        {"Document Title", "title", "x"},
        {"TI", "title", "x"},
        {"abstract", "abstract", "x"},
        {"Abstract Note", "abstract", "x"},
        {"authors", "authors", "x"},
        {"Author/s", "authors", "x"},
        {"Author(s)", "authors", "x"},
        {"AUTHOR NAMES", "authors", "x"},
        {"first_authors", "authors", "x"},
        {"journal", "journal", "x"},
        {"Journal/Book", "journal", "x"},
        {"Source title", "journal", "x"},
        {"Publication Title", "journal", "x"},
        {"year", "year", "2019"},
        {"publication_year", "year", "2019"},
        {"Published Year", "year", "2019"},
        {"PubYear", "year", "2019"},
        {"Date", "year", "2019"},
        {"customId", "customId", "x"},
        {"custom_id", "customId", "x"},
        {"Custom ID", "customId", "x"},
        {"DOI", "doi", "10.1/x"},
        {"DOI Link", "doi", "10.1/x"},
        {"pmid", "pmid", "1"},
        {"PubMed ID", "pmid", "1"},
        {"pubmed_id", "pmid", "1"},
        {"MEDLINE PMID", "pmid", "1"},
        {"openAlexId", "openAlexId", "W1"},
        {"openalex_id", "openAlexId", "W1"},
        {"Url", "url", "x"},
        {"Link", "url", "x"},
        {"pdfRelativePath", "pdf", "x"},
        {"PDF Relative Path", "pdf", "x"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char header[100], row[100], reads[100];
        (void)snprintf(header, sizeof header, "customId,\"%s\"", names[i].name);
        (void)snprintf(row, sizeof row, "k,%s", names[i].cell);
        (void)snprintf(reads, sizeof reads, "customId=k %s=%s", names[i].field, names[i].cell);
        if (strcmp(names[i].field, "customId") == 0) {
            (void)snprintf(header, sizeof header, "%s", names[i].name);
            (void)snprintf(row, sizeof row, "%s", names[i].cell);
            (void)snprintf(reads, sizeof reads, "customId=%s", names[i].cell);
        } else if (strcmp(names[i].field, "title") == 0 || strcmp(names[i].field, "abstract") == 0 ||
                   strcmp(names[i].field, "authors") == 0 || strcmp(names[i].field, "year") == 0 ||
                   strcmp(names[i].field, "journal") == 0) {
            (void)snprintf(reads, sizeof reads, "%s=%s customId=k", names[i].field, names[i].cell);
        }
        expect_row(header, row, reads);
    }
}
END_TEST

START_TEST(a_weaker_name_gives_way_and_two_equal_ones_are_refused) {
    expect_row("title,Author full names,Authors", "A,Moe Anna,Moe A", "title=A authors=Moe A");
    expect_row("title,Source,Source title", "A,Scopus,Rest", "title=A journal=Rest");
    expect_row("title,Date,Year", "A,x,2019", "title=A year=2019");
    expect_row("title,ti,t1", "A,B,C", "title=A");
    expect_row("doi,so,t2", "10.1/x,B,C", "journal=B doi=10.1/x"); /* the first of the weak ones */
    expect_reading(EVD_TEXT("title,year,Title\n"), &csv, "refused sameFieldTwice 1 3 Title also title\n");
    expect_reading(EVD_TEXT("doi,x,DOI\n"), &csv, "refused sameFieldTwice 1 3 DOI also doi\n");
    expect_reading(EVD_TEXT("title,year,publication year\n"), &csv,
                   "refused sameFieldTwice 1 3 publication year also year\n");
    /* Two columns nobody reads may have one name. */
    expect_row("title,notes,notes,,", "A,1,2,3,4", "title=A");
}
END_TEST

START_TEST(a_year_is_found_in_what_people_and_programs_write) {
    static const struct {
        const char *cell;
        int year; /* 0: none, -1: refused */
    } cells[] = {
        {"2019", 2019},
        {" 2019 ", 2019},
        {"\"2019\"", 2019},
        {"1", 1},
        {"9999", 9999},
        {"0800", 800},
        {"800", 800},
        {"2019.0", 2019},
        {"2019.00", 2019},
        {"2019//", 2019},
        {"2019///", 2019},
        {"2019/10//undefined", 2019},
        {"2019-05-03", 2019},
        {"2019-05", 2019},
        {"2019 May", 2019},
        {"2019 Jan-Feb", 2019},
        {"2019-2020", 2019},
        {"2019/2020", 2019},
        {"May 2019", 2019},
        {"3 May 2019", 2019},
        {"03/05/2019", 2019},
        {"03.05.2019", 2019},
        {"20190503", 2019},
        {"JAN-FEB 2019", 2019},
        {"2019a", 2019},
        {"2019 (online)", 2019},
        {"c2019", 2019},
        {"", 0},
        {"  ", 0},
        {"n.d.", 0},
        {"N.D.", 0},
        {"nd", 0},
        {"No date", 0},
        {"in press", 0},
        {"In Press", 0},
        {"forthcoming", 0},
        {"n/a", 0},
        {"NA", 0},
        {"nan", 0},
        {"None", 0},
        {"null", 0},
        {"0", 0},
        {"0000", 0},
        {"0.0", 0},
        {"-", 0},
        {"\xE2\x80\x93", 0},
        {"?", 0},
        {"unknown", 0},
        {"20l9", -1},
        {"43588", -1},
        {"20199", -1},
        {"-2019", 2019},
        {"2019201", -1},
        {"20191399", -1},
        {"19", 19},
        {"twenty", -1},
        {"May", -1},
        {"05/03/19", -1},
        {"Moe A", -1},
        {"1e3", -1},
        {"0000/01", -1},
        {"99999999999999999999", -1},
    };
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char row[100], reads[100] = "title=A";
        (void)snprintf(row, sizeof row, "A,%s", cells[i].cell);
        if (cells[i].year > 0) (void)snprintf(reads, sizeof reads, "title=A year=%d", cells[i].year);
        if (cells[i].year < 0) (void)snprintf(reads, sizeof reads, "refused malformedYear 2 Year");
        expect_row("title,Year", row, reads);
    }
}
END_TEST

START_TEST(a_column_that_may_hold_something_else_is_read_only_where_it_does_not) {
    expect_row("title,date", "A,2019-05-03", "title=A year=2019");
    expect_row("title,date", "A,sometime in May", "title=A");
    expect_row("title,id", "A,https://openalex.org/W12", "title=A openAlexId=https://openalex.org/W12");
    expect_row("title,id", "A,12", "title=A");
    expect_row("title,id", "A,W12", "title=A");
    expect_row("title,UT (Unique WOS ID)", "A,WOS:0001", "title=A customId=WOS:0001");
    expect_row("title,EID", "A,2-s2.0-85", "title=A customId=2-s2.0-85");
    expect_row("title,Accession Number", "A,CN-0001", "title=A customId=CN-0001");
    expect_row("title,Accession Number", "A,12", "title=A");
    expect_row("title,EID,customId", "A,2-s2.0-85,mine", "title=A customId=mine");
}
END_TEST

START_TEST(numbers_that_every_file_counts_from_1_are_no_identity_unless_told) {
    struct evd_reference_options options = {.custom_id = EVD_TEXT_INIT("Record_ID")};
    expect_row("record_id,title", "1,A", "title=A");
    expect_row("id,title", "1,A", "title=A");
    expect_row("key,title", "rayyan-1,A", "title=A");
    expect_reading(EVD_TEXT("record_id,title\n007,A\n,B\n"), &options, "2 title=A customId=007\n3 title=B\n");
    /* It replaces every other column, and may be read for what it is besides. */
    expect_reading(EVD_TEXT("customId,record_id,title\nx,1,A\n"), &options, "2 title=A customId=1\n");
    options.custom_id = EVD_TEXT("pmid");
    expect_reading(EVD_TEXT("title,pmid\nA,12\n"), &options, "2 title=A customId=12 pmid=12\n");
    options.custom_id = EVD_TEXT("Study");
    expect_reading(EVD_TEXT("title,pmid\nA,12\n"), &options, "refused unknownColumn 0 0 Study\n");
    expect_reading(EVD_TEXT("study,STUDY,title\nA,12,B\n"), &options, "refused sameFieldTwice 1 2 STUDY also study\n");
}
END_TEST

START_TEST(a_row_needs_a_title_or_an_identifier) {
    expect_row("title,abstract,doi", ",B,", "refused neitherTitleNorIdentifier 0 ");
    expect_row("title,abstract,doi", "  ,B,   ", "refused neitherTitleNorIdentifier 0 ");
    expect_row("abstract,url,year", "B,http://example.org,2019", "refused neitherTitleNorIdentifier 0 ");
    expect_row("title,abstract,doi", ",B,10.1/x", "abstract=B doi=10.1/x");
    expect_row("title,pmid", ",1", "pmid=1");
    expect_row("title,customId", ",1", "customId=1");
    expect_row("title,openAlexId", ",W1", "openAlexId=W1");
}
END_TEST

START_TEST(an_identifier_is_given_as_it_stands_and_refused_when_it_is_none) {
    static const char ones[] = "11111111111111111111111111111111111111111"; /* 41 */
    expect_row("title,doi", "A,https://doi.org/10.1000/ABC", "title=A doi=https://doi.org/10.1000/ABC");
    expect_row("title,doi", "A,10.1", "refused malformedIdentifier 2 doi");
    expect_row("title,x,doi", "A,,none", "refused malformedIdentifier 3 doi");
    expect_row("title,PMID", "A,PMC12", "refused malformedIdentifier 2 PMID");
    expect_row("title,openalex_id", "A,A12", "refused malformedIdentifier 2 openalex_id");
    expect_row("title,customId", "A,\"a\nb\"", "refused malformedIdentifier 2 customId");
    /* The first in the order of a study's members, not of the columns. */
    expect_row("pmid,doi,title", "x,y,A", "refused malformedIdentifier 2 doi");
    /* No longer in its normal form than the study's own member holds. */
    expect_row("title,pmid", &ones[1], "title=1111111111111111111111111111111111111111");
    char row[100];
    (void)snprintf(row, sizeof row, "A,%s", &ones[1]);
    expect_row("title,pmid", row, "title=A pmid=1111111111111111111111111111111111111111");
    (void)snprintf(row, sizeof row, "A,%s", ones);
    expect_row("title,pmid", row, "refused malformedIdentifier 2 pmid");
}
END_TEST

START_TEST(labels_are_carried_as_they_stand) {
    static const struct evd_text labels[] = {EVD_TEXT_INIT("Label_Included"), EVD_TEXT_INIT("notes"),
                                             EVD_TEXT_INIT("title")};
    struct evd_reference_options options = {.labels = labels, .label_count = 3};
    expect_reading(EVD_TEXT("title,label_included, Notes ,x\nA,1,\" so, \",y\nB,,,\nC,0\n"), &options,
                   "2 title=A label:Label_Included=1 label:notes=so, label:title=A\n"
                   "3 title=B label:title=B\n4 title=C label:Label_Included=0 label:title=C\n");
    expect_reading(EVD_TEXT("title,label_included\nA,1\n"), &options, "refused unknownColumn 0 0 notes\n");
    expect_reading(EVD_TEXT("title,label_included,notes,Notes\n"), &options,
                   "refused sameFieldTwice 1 4 Notes also notes\n");
    /* A label alone makes no study, but its name is known when the delimiter is decided. */
    options.label_count = 2;
    expect_reading(EVD_TEXT("label_included;notes\n1;x\n"), &options, "2 refused neitherTitleNorIdentifier 0 \n");
    expect_reading(EVD_TEXT("label_included;notes,title\n1;x\n"), &options, "refused ambiguousDelimiter 1 0 [,;]\n");
}
END_TEST

/* `count` times the byte. */
static struct evd_text filled(struct evd_arena *arena, const char *before, char byte, size_t count) {
    struct evd_buffer out;
    evd_buffer_init(&out, arena, count + 100);
    evd_buffer_add_text(&out, evd_text_from(before));
    memset(evd_buffer_extend(&out, count), byte, count);
    return evd_buffer_text(&out);
}

START_TEST(a_field_holds_what_a_study_row_holds_and_not_a_byte_more) {
    static const struct evd_text label = EVD_TEXT_INIT("x");
    const struct evd_reference_options options = {.labels = &label, .label_count = 1};
    static const struct {
        const char *before, *name;
        size_t most;
    } fields[] = {
        {"doi,x,title\n10.1/x,,", "title", 20000},
        {"doi,x,abstract\n10.1/x,,", "abstract", 60000},
        {"doi,x,authors\n10.1/x,,", "authors", 20000},
        {"doi,x,journal\n10.1/x,,", "journal", 400},
        {"doi,x,customId\n10.1/x,,", "customId", 400},
        {"title,x,url\nA,,", "url", 4000},
        {"title,y,x\nA,,", "x", 400},
        {"doi,x,pdfRelativePath\n10.1/x,,", "pdfRelativePath", 1000},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct evd_arena arena;
        struct reading reading;
        char expected[200];
        evd_arena_init(&arena, SIZE_MAX);
        (void)reading_tell(&reading, filled(&arena, fields[i].before, 'a', fields[i].most), &options);
        ck_assert_uint_eq(reading.read, 1);
        ck_assert_uint_gt(reading.out.size_bytes, fields[i].most);
        reading_done(&reading);
        (void)snprintf(expected, sizeof expected, "2 refused fieldTooLong 3 %s\n", fields[i].name);
        expect_reading(filled(&arena, fields[i].before, 'a', fields[i].most + 1), &options, expected);
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(a_cell_nobody_reads_may_be_longer_than_any_field) {
    struct evd_arena arena;
    evd_arena_init(&arena, SIZE_MAX);
    expect_reading(filled(&arena, "title,References\nA,", 'r', 900000), &csv, "2 title=A\n");
    expect_reading(filled(&arena, "title,References\nA,", 'r', EVD_LIMIT_IMPORT_CELL_BYTES), &csv, "2 title=A\n");
    expect_reading(filled(&arena, "title,References\nA,", 'r', EVD_LIMIT_IMPORT_CELL_BYTES + 1), &csv,
                   "refused cellTooLarge 2 2 References\n");
    evd_arena_done(&arena);
}
END_TEST

START_TEST(a_refused_row_says_what_could_be_read_of_it) {
    struct evd_arena arena, rows;
    struct evd_references *references;
    struct evd_reference_row row;
    struct evd_table_refusal refusal;
    evd_arena_init(&arena, EVD_LIMIT_IMPORT_READER_BYTES);
    evd_arena_init(&rows, EVD_LIMIT_IMPORT_ROW_BYTES);
    ck_assert(
        evd_references_open(EVD_TEXT("title,year,doi\nA,20l9,10.1/x"), &csv, &arena, &rows, &references, &refusal));
    ck_assert_int_eq(evd_references_next(references, &row, &refusal), EVD_REFERENCES_ROW);
    ck_assert_int_eq(row.result, EVD_REFERENCE_REFUSED);
    ck_assert(evd_text_equal(row.study.title, EVD_TEXT("A")));
    ck_assert(evd_text_equal(row.study.doi, EVD_TEXT("10.1/x")));
    ck_assert_int_eq(row.study.year, 0);
    ck_assert(evd_text_equal(row.refusal.message, EVD_TEXT("Row 2, column 2 (year): This is not a year.")));
    evd_arena_done(&arena);
    evd_arena_done(&rows);
}
END_TEST

START_TEST(the_fields_are_the_members_of_a_study_row_in_their_order) {
    static const char *const keys[EVD_REFERENCE_FIELDS] = {[EVD_REFERENCE_TITLE] = "title",
                                                           [EVD_REFERENCE_ABSTRACT] = "abstract",
                                                           [EVD_REFERENCE_AUTHORS] = "authors",
                                                           [EVD_REFERENCE_YEAR] = "year",
                                                           [EVD_REFERENCE_JOURNAL] = "journal",
                                                           [EVD_REFERENCE_CUSTOM_ID] = "customId",
                                                           [EVD_REFERENCE_DOI] = "doi",
                                                           [EVD_REFERENCE_PMID] = "pmid",
                                                           [EVD_REFERENCE_OPEN_ALEX_ID] = "openAlexId",
                                                           [EVD_REFERENCE_URL] = "url",
                                                           [EVD_REFERENCE_PDF_RELATIVE_PATH] = "pdfRelativePath"};
    ck_assert_uint_eq(evd_type_study_row.field_count, EVD_REFERENCE_FIELDS);
    for (size_t i = 0; i < EVD_REFERENCE_FIELDS; i++) {
        const struct evd_field *field = &evd_type_study_row.fields[i];
        ck_assert_str_eq(field->key, keys[i]);
        ck_assert_int_eq(field->kind, i == EVD_REFERENCE_YEAR ? EVD_KIND_NUMBER : EVD_KIND_STRING);
        ck_assert_int_eq(field->need, EVD_OPTIONAL);
    }
    ck_assert_int_eq(evd_type_study_row.fields[EVD_REFERENCE_YEAR].least, 1);
    ck_assert_int_eq(evd_type_study_row.fields[EVD_REFERENCE_YEAR].most, 9999);
}
END_TEST

START_TEST(the_codes_are_distinct_names_with_sentences) {
    for (enum evd_error_code code = 0; code < EVD_ERROR_CODE_COUNT; code++) {
        struct evd_text sentence = evd_text_from(evd_error_code_sentence(code));
        ck_assert_uint_gt(sentence.size_bytes, 10);
        ck_assert_int_eq(sentence.bytes[sentence.size_bytes - 1], '.');
        ck_assert_uint_le(strlen(evd_error_code_name(code)), 40); /* as an import keeps it */
        for (enum evd_error_code other = 0; other < code; other++)
            ck_assert_str_ne(evd_error_code_name(code), evd_error_code_name(other));
    }
    ck_assert_str_eq(evd_error_code_name(EVD_ERROR_NEITHER_TITLE_NOR_IDENTIFIER), "neitherTitleNorIdentifier");
    ck_assert_str_eq(evd_error_code_name(EVD_ERROR_MALFORMED_IDENTIFIER), "malformedIdentifier");
}
END_TEST

EVD_TEST_MAIN("tables: rows", names_are_known_without_case_spaces_and_punctuation,
              a_weaker_name_gives_way_and_two_equal_ones_are_refused, a_year_is_found_in_what_people_and_programs_write,
              a_column_that_may_hold_something_else_is_read_only_where_it_does_not,
              numbers_that_every_file_counts_from_1_are_no_identity_unless_told, a_row_needs_a_title_or_an_identifier,
              an_identifier_is_given_as_it_stands_and_refused_when_it_is_none, labels_are_carried_as_they_stand,
              a_field_holds_what_a_study_row_holds_and_not_a_byte_more,
              a_cell_nobody_reads_may_be_longer_than_any_field, a_refused_row_says_what_could_be_read_of_it,
              the_fields_are_the_members_of_a_study_row_in_their_order, the_codes_are_distinct_names_with_sentences)
