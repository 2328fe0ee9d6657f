/*
 * CSV and TSV: what separates columns, what ends rows, how rows are counted, and what no reader should guess.
 */
#include "reading.h"

static const struct evd_reference_options csv = {.format = EVD_REFERENCE_CSV};
static const struct evd_reference_options tsv = {.format = EVD_REFERENCE_TSV};

struct example {
    const char *content, *reads;
};

static void expect_all(const struct example *examples, size_t count, const struct evd_reference_options *options) {
    for (size_t i = 0; i < count; i++)
        expect_reading(evd_text_from(examples[i].content), options, examples[i].reads);
}
#define EXPECT_ALL(examples, options) expect_all(examples, sizeof(examples) / sizeof *(examples), options)

START_TEST(the_header_alone_decides_what_separates_columns) {
    static const struct example examples[] = {
        {"title,year\nA,2019\n", "2 title=A year=2019\n"},
        {"title;year\nA;2019\n", "2 title=A year=2019\n"},
        {"title\tyear\nA\t2019\n", "2 title=A year=2019\n"},
        /* Rows full of the others change nothing, nor do others in quoted names. */
        {"title,authors\nA,Moe; Doe; Roe; Poe\n", "2 title=A authors=Moe; Doe; Roe; Poe\n"},
        {"title;authors\nA, B, C;Moe, A, B\n", "2 title=A, B, C authors=Moe, A, B\n"},
        {"title,\"authors; ordered\",doi\nA,Moe; Doe,10.1/x\n", "2 title=A doi=10.1/x\n"},
        {"\"title\";\"year\"\n\"A;B\";2019\n", "2 title=A;B year=2019\n"},
        /* Names nobody knows make no columns: the semicolon here is part of one. */
        {"title,authors;editors,year\nA,B;C,2019\n", "2 title=A year=2019\n"},
        /* One column. */
        {"title\nA\n", "2 title=A\n"},
        {"title\n\"A, and B\"\n", "2 title=A, and B\n"},
        {"title\nA, and B\n", "2 refused tooManyCells 0 \n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(an_ambiguous_delimiter_is_refused_with_its_candidates) {
    static const struct example examples[] = {
        {"title;abstract,doi\nA;B,10.1/x\n", "refused ambiguousDelimiter 1 0 [,;]\n"},
        {"title;abstract\tdoi\n", "refused ambiguousDelimiter 1 0 [;\t]\n"},
        {"\n\ntitle,x;abstract;y\tz,doi\tpmid\n", "refused ambiguousDelimiter 3 0 [,;\t]\n"},
    };
    EXPECT_ALL(examples, &csv);
    struct reading reading;
    (void)reading_tell(&reading, evd_text_from(examples[0].content), &csv);
    ck_assert(evd_text_equal(reading.refusal.message,
                             EVD_TEXT("More than one character may separate the columns; say which one does. "
                                      "It may be: comma, semicolon.")));
    reading_done(&reading);
}
END_TEST

START_TEST(a_delimiter_that_is_told_is_taken) {
    struct evd_reference_options options = {.format = EVD_REFERENCE_CSV, .delimiter = ';'};
    expect_reading(EVD_TEXT("title;abstract,doi\nA;B\n"), &options, "2 title=A\n");
    options.delimiter = ',';
    expect_reading(EVD_TEXT("title;abstract,doi\nA;B,10.1/x\n"), &options, "2 doi=10.1/x\n");
    expect_reading(EVD_TEXT("title;year\nA;2019\n"), &options, "refused noKnownColumn 1 0 \n");
    options.delimiter = '\t';
    expect_reading(EVD_TEXT("title\tyear\nA, B; C\t2019\n"), &options, "2 title=A, B; C year=2019\n");
    expect_reading(EVD_TEXT("title,doi\tyear,x\nA\t2019\n"), &tsv, "refused noKnownColumn 1 0 \n");
    expect_reading(EVD_TEXT("title\tyear\n\"A\tB\"\t2019\n"), &tsv, "2 title=A\tB year=2019\n");
}
END_TEST

START_TEST(a_line_for_spreadsheets_is_obeyed_and_not_counted) {
    static const struct example examples[] = {
        {"sep=;\ntitle;abstract,doi\nA;B\n", "2 title=A\n"},
        {"\xEF\xBB\xBFSEP=,\r\ntitle;abstract,doi\r\nA;B,10.1/x\r\n", "2 doi=10.1/x\n"},
        {"sep=\t\ntitle\tyear\nA\t2019\n", "2 title=A year=2019\n"},
        {"sep=;", "refused noHeader 0 0 \n"},
        {"sep=", "refused noKnownColumn 1 0 \n"},
        {"sep=|\ntitle|year\n", "refused noKnownColumn 1 0 \n"},
        {"sep=;title;year\nx;A;2019\n", "2 title=A year=2019\n"}, /* no such line: more stands on it */
    };
    EXPECT_ALL(examples, &csv);
    const struct evd_reference_options told = {.format = EVD_REFERENCE_CSV, .delimiter = ','};
    expect_reading(EVD_TEXT("sep=;\ntitle;abstract,doi\nA;B,10.1/x\n"), &told, "2 doi=10.1/x\n");
}
END_TEST

START_TEST(the_delimiter_found_can_be_asked_for) {
    static const char *const contents[] = {"title,doi\n", "title;doi\n", "title\tdoi\n", "title\n"};
    static const char delimiters[] = {',', ';', '\t', ','};
    for (size_t i = 0; i < sizeof delimiters; i++) {
        struct reading reading;
        ck_assert_str_eq(reading_tell(&reading, evd_text_from(contents[i]), &csv), "");
        ck_assert_int_eq(reading.delimiter, delimiters[i]);
        reading_done(&reading);
    }
}
END_TEST

START_TEST(lines_end_in_lf_cr_or_both_and_the_last_need_not) {
    static const char *const ends[] = {"\n", "\r", "\r\n"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        for (int last = 0; last < 2; last++) {
            char content[200];
            (void)snprintf(content, sizeof content, "title,year%sA,2019%s\"B\",%s,%s \"D\" ,2020%s", ends[i], ends[i],
                           ends[i], ends[i], last ? ends[i] : "");
            expect_reading(evd_text_from(content), &csv,
                           "2 title=A year=2019\n3 title=B\n4 empty\n5 title=D year=2020\n");
        }
    }
}
END_TEST

START_TEST(a_byte_order_mark_is_no_part_of_the_first_name) {
    static const struct example examples[] = {
        {"\xEF\xBB\xBFtitle,year\nA,2019\n", "2 title=A year=2019\n"},
        {"\xEF\xBB\xBF\"title\",year\nA,2019\n", "2 title=A year=2019\n"},
        {"\xEF\xBB\xBF", "refused noHeader 0 0 \n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(quoted_cells_hold_delimiters_newlines_and_doubled_quotes) {
    static const struct example examples[] = {
        {"title,abstract\n\"A, B\",\"one\ntwo\r\nthree\rfour\"\nC,\n",
         "2 title=A, B abstract=one\ntwo\r\nthree\rfour\n3 title=C\n"},
        {"title\n\"say \"\"so\"\"\"\n\"\"\"\"\"\"\n\"\"\"a\"\n", "2 title=say \"so\"\n3 title=\"\"\n4 title=\"a\n"},
        {"\"Custom\nID\",doi,\"x\r\n\r\ny\"\nA,10.1/x,\n", "2 customId=A doi=10.1/x\n"},
        {"title,doi\n  \"A\"  ,  10.1/x  \n", "2 title=A doi=10.1/x\n"},
        {"title,doi\n\"  A  \",\"\t10.1/x\n\"\n", "2 title=A doi=10.1/x\n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(a_quotation_mark_out_of_place_is_refused_where_its_cell_begins) {
    static const struct example examples[] = {
        {"title,year\nA,2019\nStents of 5\" length,2020\n", "2 title=A year=2019\nrefused strayQuote 3 1 title\n"},
        {"title,abstract\n\"A\" B,\n", "refused strayQuote 2 1 title\n"},
        {"title,abstract\nA,\"B\" C\n", "refused strayQuote 2 2 abstract\n"},
        /* The mark that lacks its end takes in what follows, up to the next one. */
        {"title,year\nA,2019\n\"B,2020\n\"C\",2021\n", "2 title=A year=2019\nrefused strayQuote 3 1 title\n"},
        {"ti\"tle,year\n", "refused strayQuote 1 1 \n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(a_quotation_mark_without_end_is_named_by_the_row_it_begins_in) {
    static const struct example examples[] = {
        {"title,year\nA,2019\nB,\"2020\nC,2021\nD,2022\n", "2 title=A year=2019\nrefused unterminatedQuote 3 2 year\n"},
        {"title,year\nA,\"", "refused unterminatedQuote 2 2 year\n"},
        {"title,year\n\"A\"\"", "refused unterminatedQuote 2 1 title\n"},
        {"title,\"year\nA,2019\n", "refused unterminatedQuote 1 2 \n"},
        {"title\n\"one\ntwo\"\n\n\"three\n", "2 title=one\ntwo\nrefused unterminatedQuote 4 1 title\n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(rows_are_counted_as_a_spreadsheet_does) {
    static const struct example examples[] = {
        /* A cell of several lines is in one row; empty rows count. */
        {"title,abstract\n\"A\nA\nA\",\nB,\"1\n2\"\n\nC,\n,,,\n",
         "2 title=A\nA\nA\n3 title=B abstract=1\n2\n4 empty\n5 title=C\n"},
        {"\n\r\n\ntitle\nA\n", "5 title=A\n"},
        {"title\r\n\r\n\r\nA\r\n", "2-3 empty\n4 title=A\n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(empty_rows_are_reported_in_the_middle_and_ignored_at_the_end) {
    static const struct example examples[] = {
        {"title,year\n\nA,2019\n", "2 empty\n3 title=A year=2019\n"},
        {"title,year\nA,\n\n,\n  , \t \n\"\",\" \"\nB,\n", "2 title=A\n3-6 empty\n7 title=B\n"},
        {"title,year\nA,\n\n,,,,\nB,\n\n", "2 title=A\n3-4 empty\n5 title=B\n"},
        {"title,year\nA,\n\n\n,\n \n", "2 title=A\n"},
        {"title,year\n\n\n\n", ""},
        {"title,year", ""},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(a_row_of_more_cells_than_names_is_refused_and_one_of_fewer_is_filled_up) {
    static const struct example examples[] = {
        {"title,year,doi\nA, B,2019,10.1/x\nC,2020\nD\n",
         "2 refused tooManyCells 0 \n3 title=C year=2020\n4 title=D\n"},
        /* Even when the last is empty: the comma in the title has moved the year. */
        {"title,year,doi\nA, B,2019,\nC,2019,,\nD,2019,\n",
         "2 refused tooManyCells 0 \n3 refused tooManyCells 0 \n4 title=D year=2019\n"},
        {"title,year,\nA,2019,x\nB,2020,,\n", "2 title=A year=2019\n3 refused tooManyCells 0 \n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(digits_stay_text) {
    static const struct example examples[] = {
        {"title,customId,pmid\n007,00042,0012345678\n12345678901234567890123,0.10,1\n1e5,1e5,1\n",
         "2 title=007 customId=00042 pmid=0012345678\n3 title=12345678901234567890123 customId=0.10 pmid=1\n"
         "4 title=1e5 customId=1e5 pmid=1\n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(bytes_that_are_no_text_are_named_by_row_and_column) {
    static const struct example examples[] = {
        {"title,authors\nA,B\nC,M\xFCller\n", "2 title=A authors=B\nrefused invalidUtf8 3 2 authors\n"},
        {"title,authors,x\nA,B,\xC3\n", "refused invalidUtf8 2 3 x\n"},
        {"title,\x80\n", "refused invalidUtf8 1 2 \n"},
        {"title,authors\nA,\xED\xA0\x80\n", "refused invalidUtf8 2 2 authors\n"},
        {"title,authors\nA,\xC0\xAF\n", "refused invalidUtf8 2 2 authors\n"},
        {"title\nA,\xFF\n", "refused invalidUtf8 2 2 \n"}, /* more cells than names; still no text */
        {"\xFF\xFEt\0i\0", "refused utf16 0 0 \n"},
        {"\xFE\xFF", "refused utf16 0 0 \n"},
    };
    EXPECT_ALL(examples, &csv);
    expect_reading(EVD_TEXT("title,year\nA,2019\nB\0C,2020\n"), &csv,
                   "2 title=A year=2019\nrefused nulByte 3 1 title\n");
    expect_reading(EVD_TEXT("t\0i\0t\0l\0e\0\n"), &csv, "refused nulByte 1 1 \n");
    expect_reading(EVD_TEXT("title,year\nA,2\xC3\xA9\0\n"), &csv, "refused nulByte 2 2 year\n");
}
END_TEST

START_TEST(a_file_without_header_or_known_names_is_refused) {
    static const struct example examples[] = {
        {"", "refused noHeader 0 0 \n"},
        {"\n \n,,\n", "refused noHeader 0 0 \n"},
        {"Titel,Autoren,Jahr\nA,B,2019\n", "refused noKnownColumn 1 0 \n"},
        {"Titel;Autoren;Jahr\nA;B;2019\n", "refused noKnownColumn 1 0 \n"},
        {"\nid,record_id\n1,2\n", "refused noKnownColumn 2 0 \n"},
    };
    EXPECT_ALL(examples, &csv);
}
END_TEST

START_TEST(bounds_are_the_callers_and_never_more_than_the_house_allows) {
    struct evd_reference_options options = {.limits = {.bytes = 24, .rows = 2, .columns = 3, .cell_bytes = 5}};
    expect_reading(EVD_TEXT("title,year,doi\nA,2019,  "), &options, "2 title=A year=2019\n");
    expect_reading(EVD_TEXT("title,year,doi\nA,2019,   "), &options, "refused tooManyBytes 0 0 \n");
    options.limits.bytes = 0;
    expect_reading(EVD_TEXT("title\nA\n\nB\n\nC\n"), &options,
                   "2 title=A\n3 empty\n4 title=B\n5 empty\nrefused tooManyRows 6 0 \n");
    expect_reading(EVD_TEXT("title,a,b\n1,2,3\n"), &options, "2 title=1\n");
    expect_reading(EVD_TEXT("title,a,b,\n1,2,3\n"), &options, "refused tooManyColumns 1 0 \n");
    expect_reading(EVD_TEXT("title\n12345\n\"12345\""), &options, "2 title=12345\n3 title=12345\n");
    expect_reading(EVD_TEXT("title\n\"1\"\"345\"\n"), &options, "2 title=1\"345\n");
    expect_reading(EVD_TEXT("title\n123456\n"), &options, "refused cellTooLarge 2 1 title\n");
    expect_reading(EVD_TEXT("title\n\"123456\"\n"), &options, "refused cellTooLarge 2 1 title\n");
    expect_reading(EVD_TEXT("title\n1234567\n"), &options, "refused cellTooLarge 2 1 title\n");
    expect_reading(EVD_TEXT("title\n\"1234567\"\n"), &options, "refused cellTooLarge 2 1 title\n");
    expect_reading(EVD_TEXT("title\n\"\"\"\"\"\"\"\"\"\"\"\"\"\"\n"), &options, "refused cellTooLarge 2 1 title\n");
    expect_reading(EVD_TEXT("title\n\"123456789,\n"), &options, "refused unterminatedQuote 2 1 title\n");
    expect_reading(EVD_TEXT("title\n\"\"\"\"\"\"\"\"\"\"\"\"\"\n"), &options, "refused unterminatedQuote 2 1 title\n");
    options.limits =
        (struct evd_reference_limits){.bytes = SIZE_MAX, .rows = SIZE_MAX, .columns = SIZE_MAX, .cell_bytes = SIZE_MAX};
    expect_reading(EVD_TEXT("title\nA\n"), &options, "2 title=A\n");
}
END_TEST

#define EACUTE_13 "\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9"
#define EACUTE_39 EACUTE_13 EACUTE_13 EACUTE_13
#define EACUTE_40 EACUTE_39 "\u00E9"

START_TEST(a_place_is_told_in_words) {
    static const struct {
        const char *content, *message;
    } examples[] = {
        {"title,year\nA,x\n\xFF,2019\n", "Row 3, column 1 (title): The file is not in UTF-8. Save it in UTF-8."},
        {"title,year\n\"", "Row 2, column 1 (title): A cell begins with a quotation mark and nothing ends it."},
        {"title,Primary Title\n",
         "Row 1, column 2 (Primary Title): Two columns mean the same; rename or remove one of them. The other one is "
         "column 1 (title)."},
        /* A long name is cut between its characters. */
        {"title,x" EACUTE_40 EACUTE_40 "\nA,\"",
         "Row 2, column 2 (x" EACUTE_39 "): A cell begins with a quotation mark and nothing ends it."},
    };
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        struct reading reading;
        (void)reading_tell(&reading, evd_text_from(examples[i].content), &csv);
        ck_assert_msg(evd_text_equal(reading.refusal.message, evd_text_from(examples[i].message)), EVD_TEXT_FMT,
                      EVD_TEXT_ARG(reading.refusal.message));
        reading_done(&reading);
    }
}
END_TEST

EVD_TEST_MAIN("tables: CSV", the_header_alone_decides_what_separates_columns,
              an_ambiguous_delimiter_is_refused_with_its_candidates, a_delimiter_that_is_told_is_taken,
              a_line_for_spreadsheets_is_obeyed_and_not_counted, the_delimiter_found_can_be_asked_for,
              lines_end_in_lf_cr_or_both_and_the_last_need_not, a_byte_order_mark_is_no_part_of_the_first_name,
              quoted_cells_hold_delimiters_newlines_and_doubled_quotes,
              a_quotation_mark_out_of_place_is_refused_where_its_cell_begins,
              a_quotation_mark_without_end_is_named_by_the_row_it_begins_in, rows_are_counted_as_a_spreadsheet_does,
              empty_rows_are_reported_in_the_middle_and_ignored_at_the_end,
              a_row_of_more_cells_than_names_is_refused_and_one_of_fewer_is_filled_up, digits_stay_text,
              bytes_that_are_no_text_are_named_by_row_and_column, a_file_without_header_or_known_names_is_refused,
              bounds_are_the_callers_and_never_more_than_the_house_allows, a_place_is_told_in_words)
