/*
 * Files as other programs write them, imported: our own small ones (tests/fixtures/references), and real ones
 * (EVIDENCED_TEST_DATA).
 */
#include "../support/imports.h"
#include "../support/scripted_store.h"

#include "evidenced/base/limits.h"

static struct house house;
static struct imports imports;
static unsigned next_id = 1;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
}

static void end(void) {
    imports_expect_sound(&imports);
    imports_close(&imports);
    house_close(&house);
}

/* To be freed; NULL when it is not there. */
static char *load(const char *folder, const char *name, size_t *ret_bytes) {
    char *path, *content = NULL;
    size_t capacity = 0;
    ck_assert_int_gt(asprintf(&path, "%s/%s", folder, name), 0);
    FILE *file = fopen(path, "re");
    free(path);
    if (file == NULL) return NULL;
    ssize_t size = getdelim(&content, &capacity, EOF, file); /* no such byte: the whole file */
    ck_assert_int_ge(size, 0);
    *ret_bytes = (size_t)size;
    (void)fclose(file);
    return content;
}

static enum evd_media media_of(const char *name) {
    const char *suffix = strrchr(name, '.');
    return strcmp(suffix, ".ris") == 0 ? EVD_MEDIA_RIS : strcmp(suffix, ".tsv") == 0 ? EVD_MEDIA_TSV : EVD_MEDIA_CSV;
}

static long long count_of(const struct reply *operation, const char *name) {
    return json_integer_value(json_object_get(json_object_get(operation->body, "counts"), name));
}

static struct reply done(const struct import_file *file) {
    evd_uuid operation = imports_begin(&imports, next_id++, file);
    imports_run(&imports);
    return imports_look(&imports, operation);
}

/* All or nothing: every refused row is named, by where a person finds it and in a sentence. */
static void expect_all_named(const struct import_file *file, const char *name, long long refused) {
    struct reply reply = imports_ask(&imports, house.admin, next_id++, file);
    ck_assert_msg(reply.code == (refused > 0 ? EVD_VALIDATION_FAILED : EVD_OK), "%s: %s", name,
                  evd_outcome_entry_of(reply.code)->name);
    const json_t *errors = json_object_get(reply.body, "errors");
    const long long most = EVD_LIMIT_VALIDATION_ERRORS;
    ck_assert_uint_eq(json_array_size(errors), (size_t)(refused < most ? refused : most));
    for (size_t i = 0; i < json_array_size(errors); i++)
        ck_assert_int_gt(json_integer_value(json_object_get(json_array_get(errors, i), "row")), 0);
    imports_run(&imports);
    reply_done(&reply);
}

static void expect_rows_tell_why(evd_uuid operation, long long refused) {
    json_t *rows = imports_rows(&imports, operation, "refused");
    ck_assert_uint_eq(json_array_size(rows), (size_t)refused);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *sentence = json_string_value(json_object_get(row, "sentence"));
        ck_assert(sentence != NULL && (strncmp(sentence, "Row ", 4) == 0 || strncmp(sentence, "Line ", 5) == 0));
        ck_assert_ptr_nonnull(json_string_value(json_object_get(row, "code")));
    }
    json_decref(rows);
}

struct expectation {
    const char *name;
    long long added, matched, refused;
};

static void expect(const char *folder, const struct expectation *expected) {
    size_t bytes = 0;
    char *content = load(folder, expected->name, &bytes);
    if (content == NULL) {
        printf("skipped: %s is not here (EVIDENCED_TEST_DATA)\n", expected->name);
        (void)fflush(stdout);
        return;
    }
    begin();
    struct import_file file = {.content = content, .size_bytes = bytes, .media = media_of(expected->name)};
    if (expected->refused > 0) expect_all_named(&file, expected->name, expected->refused);
    file.options.skip_refused = true;
    struct reply reply = done(&file);
    ck_assert_str_eq(text_of(&reply, "status"), "succeeded");
    ck_assert_msg(count_of(&reply, "added") == expected->added && count_of(&reply, "matched") == expected->matched &&
                      count_of(&reply, "refused") == expected->refused,
                  "%s: %lld added, %lld matched, %lld refused", expected->name, count_of(&reply, "added"),
                  count_of(&reply, "matched"), count_of(&reply, "refused"));
    if (expected->refused < 500) expect_rows_tell_why(imports_id(&reply, "id"), expected->refused);
    reply_done(&reply);
    end();
    free(content);
}

static const char *data(void) {
    const char *given = getenv("EVIDENCED_TEST_DATA");
    return given == NULL ? "../shared/data" : given;
}

START_TEST(all_files_of_the_test_data_import_or_are_refused_with_the_reason_a_librarian_understands) {
    static const struct expectation files[] = {
        {"references/baseline_empty_values.ris", 2, 0, 2}, {"references/baseline_reference_types.ris", 0, 0, 61},
        {"references/duplicate_records.csv", 7, 0, 7},     {"references/generic.csv", 2, 0, 0},
        {"references/generic_labels.csv", 6, 0, 0},        {"references/generic_semicolon.csv", 2, 0, 0},
        {"references/generic_tab.tsv", 2, 0, 0},           {"references/missing_values.csv", 2, 0, 2},
        {"references/ovid_zotero.ris", 6, 0, 0},           {"references/proquest.ris", 6, 0, 0},
        {"references/pubmed_zotero.ris", 6, 0, 0},         {"references/record_id.csv", 10, 0, 0},
        {"synergy/Jeyaraman_2020.csv", 1175, 1, 18},       {"synergy/van_de_Schoot_2018.csv", 4544, 342, 1339}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        expect(data(), &files[i]);
}
END_TEST

START_TEST(files_as_other_programs_write_them_are_imported_and_their_studies_are_one) {
    /* First one that says all there is to say of it: two half known ones would be two studies. */
    static const char *const files[] = {"pubmed.csv",    "web_of_science.tsv", "asreview.ris", "cochrane.ris",
                                        "covidence.csv", "endnote.ris",        "openalex.csv", "ovid.ris",
                                        "rayyan.csv",    "scopus.csv",         "zotero.csv"};
    long long added = 0, matched = 0;
    begin();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t bytes = 0;
        char *content = load("tests/fixtures/references", files[i], &bytes);
        ck_assert_msg(content != NULL, "%s is not there", files[i]);
        struct import_file file = {.content = content, .size_bytes = bytes, .media = media_of(files[i])};
        struct reply reply = done(&file);
        ck_assert_msg(strcmp(text_of(&reply, "status"), "succeeded") == 0, "%s", files[i]);
        ck_assert_int_eq(count_of(&reply, "refused"), 0);
        added += count_of(&reply, "added");
        matched += count_of(&reply, "matched");
        reply_done(&reply);
        free(content);
    }
    ck_assert_int_gt(matched, 0); /* one study, exported by all of them */
    ck_assert_int_gt(added, 0);
    end();
}
END_TEST

/* Refused whole, with what the person can do about it. */

static struct reply refusal_of(const struct import_file *file, const char *code) {
    struct reply reply = imports_ask(&imports, house.admin, next_id++, file);
    ck_assert_int_eq(reply.code, EVD_VALIDATION_FAILED);
    const json_t *errors = json_object_get(reply.body, "errors");
    ck_assert_uint_eq(json_array_size(errors), 1);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(errors, 0), "code")), code);
    return reply;
}

static const json_t *member_of(const struct reply *reply, const char *name) {
    return json_object_get(json_array_get(json_object_get(reply->body, "errors"), 0), name);
}

START_TEST(a_file_that_cannot_be_read_is_refused_whole_also_when_refused_rows_are_skipped) {
    static const struct evd_text missing = EVD_TEXT_INIT("source");
    const struct {
        struct import_file file;
        const char *code;
    } files[] = {{{.content = ""}, "noHeader"},
                 {{.content = "title\n"}, "empty"},
                 {{.content = "title\n\n\n"}, "empty"},
                 {{.content = "colour;shape\nred;round\n"}, "noKnownColumn"},
                 {{.content = "title\nT\0\n", .size_bytes = 9}, "nulByte"},
                 {{.content = "title\nT\n\xFF\n"}, "invalidUtf8"},
                 {{.content = "\xFF\xFEt"}, "utf16"},
                 {{.content = "title\n\"T\n"}, "unterminatedQuote"},
                 {{.content = "TY  - JOUR\n", .media = EVD_MEDIA_CSV}, "noKnownColumn"},
                 {{.content = "title\nT\n", .media = EVD_MEDIA_RIS}, "noRecord"},
                 {{.content = "title\nT\n", .options = {.labels = &missing, .label_count = 1}}, "unknownColumn"}};
    begin();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int skips = 0; skips < 2; skips++) {
            struct import_file file = files[i].file;
            file.options.skip_refused = skips == 1;
            struct reply reply = refusal_of(&file, files[i].code);
            reply_done(&reply);
        }
    end();
}
END_TEST

START_TEST(an_ambiguous_delimiter_is_refused_with_the_candidates_and_taken_when_it_is_named) {
    begin();
    struct import_file file = {.content = "title,doi;year\nA,10.1/a;2020\n"};
    struct reply reply = refusal_of(&file, "ambiguousDelimiter");
    ck_assert_str_eq(json_string_value(member_of(&reply, "candidates")), ",;");
    file.options.delimiter = ',';
    struct reply named = done(&file);
    ck_assert_int_eq(count_of(&named, "added"), 1);
    reply_done(&named);
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(a_bad_byte_is_named_by_its_row_and_column) {
    begin();
    struct import_file file = {.content = "title,doi\nA,10.1/a\nB\xFF,10.1/b\n"};
    struct reply reply = refusal_of(&file, "invalidUtf8");
    ck_assert_int_eq(json_integer_value(member_of(&reply, "row")), 3);
    ck_assert_str_eq(json_string_value(member_of(&reply, "column")), "title");
    reply_done(&reply);
    end();
}
END_TEST

START_TEST(all_refused_rows_are_counted_and_the_first_thousand_named) {
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    (void)fprintf(out, "title,doi\n");
    for (unsigned i = 0; i < 1500; i++)
        (void)fprintf(out, ",bad%u\n", i);
    (void)fclose(out);
    begin();
    struct evd_ids ids = {.project = house.project};
    struct asked *asked = asked_new(&house, &evd_command_create_import, ids, house.admin, command_id(1), NULL);
    asked_call(asked)->body = (struct evd_text){csv, size};
    asked_call(asked)->media = EVD_MEDIA_CSV;
    asked_go(asked);
    asked_await(asked);
    ck_assert_uint_eq(asked_call(asked)->outcome.errors->total, 1500);
    struct reply reply = asked_end(asked);
    ck_assert_uint_eq(json_array_size(json_object_get(reply.body, "errors")), EVD_LIMIT_VALIDATION_ERRORS);
    reply_done(&reply);
    free(csv);
    end();
}
END_TEST

/* What is kept of a file. */

struct kept {
    size_t batches, largest;
};

static void look_at_writes(void *self, const struct evd_write *writes, size_t count) {
    struct kept *kept = self;
    for (size_t i = 0; i < count; i++) {
        if (writes[i].key.in != EVD_IN_IMPORT_BATCH || writes[i].kind != EVD_INSERT) continue;
        kept->batches++;
        if (writes[i].after.size_bytes > kept->largest) kept->largest = writes[i].after.size_bytes;
    }
}

static void print_many(FILE *out, char what, size_t count) {
    for (size_t i = 0; i < count; i++)
        (void)fputc(what, out);
}

START_TEST(no_batch_is_larger_than_it_may_be_however_long_the_rows_are) {
    char *csv = NULL;
    size_t size = 0;
    struct kept kept = {0};
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    (void)fprintf(out, "title,abstract,authors\n");
    for (unsigned i = 0; i < 120; i++) {
        print_many(out, 't', 20000);
        (void)fputc(',', out);
        print_many(out, 'a', 60000);
        (void)fputc(',', out);
        print_many(out, 'b', 20000);
        (void)fputc('\n', out);
    }
    (void)fclose(out);
    house_open_scripted(&house, 0);
    house_furnish(&house, 1, 2);
    imports_open(&imports, &house);
    scripted_before_commit(house.script, look_at_writes, &kept);
    struct import_file file = {.content = csv};
    struct reply reply = done(&file);
    ck_assert_int_eq(count_of(&reply, "added"), 120);
    ck_assert_uint_eq(kept.batches, 3);
    ck_assert_uint_le(kept.largest, EVD_LIMIT_IMPORT_BATCH_BYTES);
    ck_assert_uint_gt(kept.largest, EVD_LIMIT_IMPORT_BATCH_BYTES - 200000);
    reply_done(&reply);
    end();
    free(csv);
}
END_TEST

START_TEST(a_file_that_its_labels_would_multiply_is_refused) {
    enum { LABELS = 50, NAME = 399, LINES = 5000 };
    static char names[LABELS][NAME + 1];
    struct evd_text labels[LABELS];
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    (void)fprintf(out, "title");
    for (unsigned i = 0; i < LABELS; i++) {
        memset(names[i], 'n', NAME);
        names[i][0] = (char)('A' + i % 26);
        names[i][1] = (char)('A' + i / 26);
        labels[i] = (struct evd_text){names[i], NAME};
        (void)fprintf(out, ",%s", names[i]);
    }
    for (unsigned line = 0; line < LINES; line++) {
        (void)fprintf(out, "\nT");
        for (unsigned i = 0; i < LABELS; i++)
            (void)fprintf(out, ",1");
    }
    (void)fclose(out);
    begin();
    struct import_file file = {.content = csv, .options = {.labels = labels, .label_count = LABELS}};
    ck_assert_uint_lt(size, 1 << 20);
    struct reply reply = refusal_of(&file, "tooManyBytes");
    reply_done(&reply);
    end();
    free(csv);
}
END_TEST

EVD_TEST_MAIN("commands: import files",
              all_files_of_the_test_data_import_or_are_refused_with_the_reason_a_librarian_understands,
              files_as_other_programs_write_them_are_imported_and_their_studies_are_one,
              a_file_that_cannot_be_read_is_refused_whole_also_when_refused_rows_are_skipped,
              an_ambiguous_delimiter_is_refused_with_the_candidates_and_taken_when_it_is_named,
              a_bad_byte_is_named_by_its_row_and_column, all_refused_rows_are_counted_and_the_first_thousand_named,
              no_batch_is_larger_than_it_may_be_however_long_the_rows_are,
              a_file_that_its_labels_would_multiply_is_refused)
