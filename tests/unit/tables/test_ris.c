/*
 * RIS: where records begin and end, which tag is which field, what may be guessed and what not.
 */
#include "reading.h"

static const struct evd_reference_options ris = {.format = EVD_REFERENCE_RIS};

struct example {
    const char *content, *reads;
};

static void expect_all(const struct example *examples, size_t count, const struct evd_reference_options *options) {
    for (size_t i = 0; i < count; i++)
        expect_reading(evd_text_from(examples[i].content), options, examples[i].reads);
}
#define EXPECT_ALL(examples, options) expect_all(examples, sizeof(examples) / sizeof *(examples), options)

/* One record of these lines. */
static void expect_record(const char *lines, const char *reads) {
    char content[4096], expected[4096];
    (void)snprintf(content, sizeof content, "TY  - JOUR\nTI  - A\n%s\nER  - \n", lines);
    struct reading reading;
    const char *told = reading_tell(&reading, evd_text_from(content), &ris);
    const char *gives = strchr(told, ' ');
    (void)snprintf(expected, sizeof expected, " %s\n", reads);
    ck_assert_msg(gives != NULL && strcmp(gives, expected) == 0, "of:\n%s\nread:\n%s\nexpected:\n%s", content, told,
                  expected);
    reading_done(&reading);
}

START_TEST(a_record_goes_from_ty_to_er) {
    static const struct example examples[] = {
        {"TY  - JOUR\nTI  - A\nER  - \n\nTY  - BOOK\nTI  - B\nER  -\n", "1-3 title=A\n5-7 title=B\n"},
        {"TY  - JOUR\r\nTI  - A\r\nER  - \r\n", "1-3 title=A\n"},
        {"TY  - JOUR\rTI  - A\rER  - \rTY  -\rER  - x", "1-3 title=A\n4-5 refused neitherTitleNorIdentifier 0 \n"},
        {"\xEF\xBB\xBFTY  - JOUR\nTI  - A\nER  - \n\xEF\xBB\xBFTY  - JOUR\nTI  - B\nER  -",
         "1-3 title=A\n4-6 title=B\n"},
        {"TY  - JOUR\n\nTI  - A\n\n\nER  - \nER  - \n\n", "1-6 title=A\n"},
        {"  TY  - JOUR\n\tTI  - A  \n ER  -\n", "1-3 title=A\n"},
    };
    EXPECT_ALL(examples, &ris);
}
END_TEST

START_TEST(a_missing_er_is_no_loss_before_the_next_record_and_a_refusal_at_the_end) {
    static const struct example examples[] = {
        {"TY  - JOUR\nTI  - A\n\n\nTY  - JOUR\nTI  - B\nER  - \n", "1-2 title=A\n5-7 title=B\n"},
        {"TY  - JOUR\nTI  - A\nER  - \nTY  - JOUR\nTI  - B\n", "1-3 title=A\n4-5 refused unterminatedRecord 0 \n"},
        {"TY  - JOUR\nTI  - A\nER  -\nTY  - JOUR", "1-3 title=A\n4 refused unterminatedRecord 0 \n"},
    };
    EXPECT_ALL(examples, &ris);
}
END_TEST

START_TEST(lines_outside_records_are_refused_when_they_have_a_tag_and_skipped_when_not) {
    static const struct example examples[] = {
        {"Provider: Somebody\nContent: text/plain\n\n1.\nTY  - JOUR\nTI  - A\nER  - \n\n2.\nTY  - JOUR\nTI  - B\nER  - "
         "\n",
         "5-7 title=A\n10-12 title=B\n"},
        {"TI  - A\nAU  - B\n\nTY  - JOUR\nTI  - C\nER  - \n", "1-2 refused outsideRecord 0 \n4-6 title=C\n"},
        {"TY  - JOUR\nTI  - A\nER  - \nTI  - B\nAU  - C\nER  - \n", "1-3 title=A\n4-5 refused outsideRecord 0 \n"},
        {"TI  - A\n\n", "refused noRecord 0 0 \n"},
        {"title,doi\nA,10.1/x\n", "refused noRecord 0 0 \n"},
        {"", "refused noRecord 0 0 \n"},
        {"\xEF\xBB\xBF\n", "refused noRecord 0 0 \n"},
    };
    EXPECT_ALL(examples, &ris);
}
END_TEST

START_TEST(the_first_record_decides_how_tags_are_spaced) {
    static const struct example examples[] = {
        {"TY - JOUR\nTI - A\nAB - one\nII - two\nER - \n", "1-5 title=A abstract=one\n"},
        {"TY  - JOUR\nTI  - A\nAB  - one\nII - two\nER  - \n", "1-5 title=A abstract=one II - two\n"},
        {"TY  - JOUR\nTI  - A\nAB  - one\nII  -- two\nab  - three\nER  - \n",
         "1-6 title=A abstract=one II  -- two ab  - three\n"},
    };
    EXPECT_ALL(examples, &ris);
}
END_TEST

START_TEST(a_line_without_tag_goes_on_with_the_one_before) {
    expect_record("AB  - one\ntwo\n\n   three\nPY  - 2019", "title=A abstract=one two three year=2019");
    expect_record("AB  -\none", "title=A abstract=one");
    expect_record("AU  - Moe,\nA\nAU  - Doe", "title=A authors=Moe, A; Doe");
    expect_record("XX  - one\ntwo\nDO  - 10.1/x", "title=A doi=10.1/x");
    expect_reading(EVD_TEXT("TY  - JOUR\nnobody's\nTI  - A\nER  - \n"), &ris, "1-4 title=A\n");
}
END_TEST

START_TEST(tags_are_fields_by_preference) {
    static const struct example records[] = {
        {"T1  - B", "title=A"},
        {"TI  - B", "title=A"},
        {"N2  - n\nAB  - a", "title=A abstract=a"},
        {"AB  -\nN2  - n", "title=A abstract=n"},
        {"AU  - Moe, A\nA1  - Doe, B\nAU  - Moe, A\nA2  - Editor", "title=A authors=Moe, A; Doe, B; Moe, A"},
        {"J2  - abbr\nT2  - second\nJF  - full\nJO  - old", "title=A journal=full"},
        {"J2  - abbr\nT2  - second", "title=A journal=second"},
        {"JO  - old", "title=A journal=old"},
        {"DA  - 2018/01/02\nPY  - 2019///\nY1  - 2017", "title=A year=2019"},
        {"Y1  - 2017//", "title=A year=2017"},
        {"DA  - 2018/01/02", "title=A year=2018"},
        {"DA  - May 3", "title=A"},
        {"PY  - n.d.", "title=A"},
        {"DO  - 10.1/x", "title=A doi=10.1/x"},
        {"UR  - http://a.example\nUR  - http://b.example", "title=A url=http://a.example"},
        {"L1  - files/1/Moe.pdf", "title=A pdf=files/1/Moe.pdf"},
        {"L1  - https://a.example/1.pdf", "title=A url=https://a.example/1.pdf"},
        {"L1  - internal-pdf://1/Moe.pdf", "title=A"},
        {"KW  - one\nC9  - two\nZZ  - three\nSP  - 1", "title=A"},
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        expect_record(records[i].content, records[i].reads);
    expect_reading(EVD_TEXT("TY  - JOUR\nT1  - B\nBT  - C\nER  -\n"), &ris, "1-4 title=B\n");
}
END_TEST

START_TEST(identifiers_are_found_where_programs_put_them) {
    static const struct example records[] = {
        {"M3  - 10.1/x", "title=A doi=10.1/x"},
        {"M3  - Article\nL3  - http://dx.doi.org/10.1/x", "title=A doi=http://dx.doi.org/10.1/x"},
        {"ID  - 10.1/x [doi]", "title=A doi=10.1/x"},
        {"UR  - https://doi.org/10.1/x", "title=A doi=https://doi.org/10.1/x url=https://doi.org/10.1/x"},
        {"M3  - 10.1/other\nDO  - 10.1/x", "title=A doi=10.1/x"},
        {"N1  - see 10.1/x\nN1  - 10.1/x", "title=A"}, /* a note may be of another study */
        {"C2  - PMID: 12", "title=A pmid=PMID: 12"},
        {"N1  - PMID: 12", "title=A pmid=PMID: 12"},
        {"C3  - PUBMED 12,EMBASE 34", "title=A pmid=12"},
        {"UR  - https://pubmed.ncbi.nlm.nih.gov/12/",
         "title=A pmid=https://pubmed.ncbi.nlm.nih.gov/12/ url=https://pubmed.ncbi.nlm.nih.gov/12/"},
        {"AN  - 12\nDB  - PubMed", "title=A pmid=12"},
        {"DB  - Ovid MEDLINE(R) ALL <1946>\nAN  - 12", "title=A pmid=12"},
        {"AN  - 12\nDP  - EBSCOhost\nDB  - cmedm", "title=A pmid=12"},
        {"AN  - 12\nDB  - Embase", "title=A"},
        {"AN  - 12", "title=A"},
        {"AN  - 2214991469; 51887\nDB  - MEDLINE", "title=A"},
        {"AN  - WOS:0001", "title=A customId=WOS:0001"},
        {"ID  - CN-0001", "title=A customId=CN-0001"},
        {"UR  - https://openalex.org/W12", "title=A openAlexId=https://openalex.org/W12 url=https://openalex.org/W12"},
        {"ID  - 17", "title=A"}, /* counts from 1 in every library */
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        expect_record(records[i].content, records[i].reads);
}
END_TEST

START_TEST(a_record_is_refused_by_its_first_line_and_the_tag) {
    static const struct example examples[] = {
        {"\nTY  - JOUR\nTI  - A\nDO  - none\nER  - \n", "2-5 refused malformedIdentifier 0 DO\n"},
        {"TY  - JOUR\nTI  - A\nY1  - soon\nER  - \n", "1-4 refused malformedYear 0 Y1\n"},
        {"TY  - JOUR\nAB  - A\nPY  - 2019\nER  - \n", "1-4 refused neitherTitleNorIdentifier 0 \n"},
        {"TY  - JOUR\nTI  - A\nER  -\nTY  - JOUR\nTI  - M\xFCller\n", "1-3 title=A\nrefused invalidUtf8 5 0 \n"},
    };
    EXPECT_ALL(examples, &ris);
    expect_reading(EVD_TEXT("TY  - JOUR\nTI  - \0\n"), &ris, "refused nulByte 2 0 \n");
    struct reading reading;
    (void)reading_tell(&reading, evd_text_from(examples[3].content), &ris);
    ck_assert(evd_text_equal(reading.refusal.message, EVD_TEXT("Line 5: The file is not in UTF-8. Save it in UTF-8.")));
    reading_done(&reading);
}
END_TEST

START_TEST(custom_id_is_the_tag_that_was_asked_for) {
    struct evd_reference_options options = {.format = EVD_REFERENCE_RIS, .custom_id = EVD_TEXT_INIT("id")};
    expect_reading(EVD_TEXT("TY  - JOUR\nAN  - WOS:1\nID  - 0017\nER  - \n"), &options, "1-4 customId=0017\n");
    expect_reading(EVD_TEXT("TY  - JOUR\nTI  - A\nER  - \n"), &options, "1-3 title=A\n");
    options.custom_id = EVD_TEXT("record_id");
    expect_reading(EVD_TEXT("TY  - JOUR\nTI  - A\nER  - \n"), &options, "refused unknownColumn 0 0 record_id\n");
}
END_TEST

START_TEST(labels_are_tags_or_what_stands_behind_a_name_in_a_note) {
    static const struct evd_text labels[] = {EVD_TEXT_INIT("ASReview"), EVD_TEXT_INIT("kw"),
                                             EVD_TEXT_INIT("Exclusion reason"), EVD_TEXT_INIT("Reference Type")};
    const struct evd_reference_options options = {.format = EVD_REFERENCE_RIS, .labels = labels, .label_count = 4};
    expect_reading(
        EVD_TEXT("TY  - JOUR\nTI  - A\nN1  - ASReview_relevant\nKW  - one\nKW  - two\nN1  - asreview: again\n"
                 "N1  - ASReviewed\nN1  - Exclusion Reason: none = \nER  - \n"
                 "TY  - JOUR\nTI  - B\nN1  - Reference Type: Abstract\nN1  - ASReview_\nER  - \n"),
        &options,
        "1-9 title=A label:ASReview=relevant; again label:kw=one; two label:Exclusion reason=none =\n"
        "10-14 title=B label:Reference Type=Abstract\n");
}
END_TEST

static void add_many(struct evd_buffer *out, const char *line, size_t count) {
    for (size_t i = 0; i < count; i++)
        evd_buffer_add_text(out, evd_text_from(line));
}

START_TEST(what_is_joined_has_the_bounds_of_its_field) {
    static const struct {
        const char *line;
        size_t most; /* lines that fit */
        const char *tag;
    } values[] = {
        {"AU  - 12345678\n", 2000, "AU"}, /* 8 and a separator of 2: 2,000 of them are 19,998 */
        {"AB  - one\n", SIZE_MAX, NULL},  /* the first counts */
        {"KW  - 12345678\n", 40, "KW"},
        {"TI  - t\n1234567\n", SIZE_MAX, NULL},
    };
    static const struct evd_text label = EVD_TEXT_INIT("KW");
    const struct evd_reference_options options = {.format = EVD_REFERENCE_RIS, .labels = &label, .label_count = 1};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        for (size_t more = 0; more < 2; more++) {
            struct evd_arena arena;
            struct evd_buffer out;
            struct reading reading;
            evd_arena_init(&arena, SIZE_MAX);
            evd_buffer_init(&out, &arena, 1000);
            add_many(&out, "TY  - JOUR\nTI  - A\n", 1);
            add_many(&out, values[i].line, values[i].most == SIZE_MAX ? 50000 : values[i].most + more);
            add_many(&out, "ER  - \n", 1);
            (void)reading_tell(&reading, evd_buffer_text(&out), &options);
            bool fits = values[i].most == SIZE_MAX || more == 0;
            ck_assert_uint_eq(reading.read, fits);
            ck_assert_uint_eq(reading.refused, !fits);
            if (!fits) ck_assert_ptr_nonnull(strstr((const char *)reading.out.bytes, values[i].tag));
            reading_done(&reading);
            evd_arena_done(&arena);
        }
    }
}
END_TEST

START_TEST(a_value_of_many_lines_has_the_bound_of_its_field) {
    struct evd_arena arena;
    struct evd_buffer out;
    for (size_t lines = 5999; lines <= 6000; lines++) {
        evd_arena_init(&arena, SIZE_MAX);
        evd_buffer_init(&out, &arena, 1000);
        add_many(&out, "TY  - JOUR\nTI  - A\nAB  - 12345678\n", 1);
        add_many(&out, "123456789\n", lines);
        add_many(&out, "N2  - 1\nER  - \n", 1);
        struct reading reading;
        (void)reading_tell(&reading, evd_buffer_text(&out), &ris);
        ck_assert_uint_eq(reading.read, lines == 5999); /* 8 and 10 a line: 59,998 and 60,008 */
        reading_done(&reading);
        evd_arena_done(&arena);
    }
}
END_TEST

START_TEST(records_have_a_bound) {
    const struct evd_reference_options options = {.format = EVD_REFERENCE_RIS, .limits = {.rows = 1}};
    expect_reading(EVD_TEXT("TY  - JOUR\nTI  - A\nER  - \n"), &options, "1-3 title=A\n");
    expect_reading(EVD_TEXT("TY  - JOUR\nTI  - A\nTY  - JOUR\nER  - \n"), &options,
                   "1-2 title=A\nrefused tooManyRows 3 0 \n");
    expect_reading(EVD_TEXT("TI  - x\nTY  - JOUR\nTI  - A\nER  - \n"), &options,
                   "1 refused outsideRecord 0 \nrefused tooManyRows 2 0 \n");
}
END_TEST

EVD_TEST_MAIN("tables: RIS", a_record_goes_from_ty_to_er,
              a_missing_er_is_no_loss_before_the_next_record_and_a_refusal_at_the_end,
              lines_outside_records_are_refused_when_they_have_a_tag_and_skipped_when_not,
              the_first_record_decides_how_tags_are_spaced, a_line_without_tag_goes_on_with_the_one_before,
              tags_are_fields_by_preference, identifiers_are_found_where_programs_put_them,
              a_record_is_refused_by_its_first_line_and_the_tag, custom_id_is_the_tag_that_was_asked_for,
              labels_are_tags_or_what_stands_behind_a_name_in_a_note, what_is_joined_has_the_bounds_of_its_field,
              a_value_of_many_lines_has_the_bound_of_its_field, records_have_a_bound)
