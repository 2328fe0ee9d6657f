/*
 * Exports of units, split options, references and series: rows for elements, columns that join them, points.
 */
#include "../support/csv_rows.h"
#include "../support/review.h"

static struct house house;

enum { PAGE = 100 };

/* Cohorts with treatments; what was measured of a cohort, by when; a comparison that points at treatments. */
#define FORM                                                                                                           \
    "[{'id':'design','kind':'text'},"                                                                                  \
    "{'id':'treatment','kind':'unit'},"                                                                                \
    "{'id':'dose','kind':'decimal','unit':'treatment'},"                                                               \
    "{'id':'cohort','kind':'unit'},"                                                                                   \
    "{'id':'size','kind':'integer','unit':'cohort'},"                                                                  \
    "{'id':'given','kind':'reference','target':'treatment','unit':'cohort'},"                                          \
    "{'id':'measured','kind':'multichoice','split':true,'unit':'cohort','options':[{'id':'weight'},{'id':'pain'},"     \
    "{'id':'death'}]},"                                                                                                \
    "{'id':'scale','kind':'text','parent':{'questionId':'measured'}},"                                                 \
    "{'id':'course','kind':'series','parent':{'questionId':'measured'}}]"

#define T1      "11111111-1111-4111-8111-111111111111"
#define T2      "22222222-2222-4222-8222-222222222222"
#define C1      "33333333-3333-4333-8333-333333333333"
#define C2      "44444444-4444-4444-8444-444444444444"
#define OLD     "{'question':'cohort','element':'" C1 "'}"
#define YOUNG   "{'question':'cohort','element':'" C2 "'}"
#define ASPIRIN "{'question':'treatment','element':'" T1 "'}"
#define PLACEBO "{'question':'treatment','element':'" T2 "'}"
#define ANSWERS                                                                                                        \
    "[{'question':'design','value':'parallel'},"                                                                       \
    "{'question':'treatment','path':[" ASPIRIN "],'value':'Aspirin, 100 mg'},"                                         \
    "{'question':'dose','path':[" ASPIRIN "],'value':'100.0'},"                                                        \
    "{'question':'treatment','path':[" PLACEBO "],'value':'Placebo'},"                                                 \
    "{'question':'cohort','path':[" YOUNG "],'value':'Younger than 60'},"                                              \
    "{'question':'cohort','path':[" OLD "],'value':'60 and older'},"                                                   \
    "{'question':'size','path':[" OLD "],'value':120},"                                                                \
    "{'question':'given','path':[" OLD "],'value':['" T1 "','" T2 "']},"                                               \
    "{'question':'measured','path':[" OLD ",{'question':'measured','element':'weight'}],'value':true},"                \
    "{'question':'measured','path':[" OLD ",{'question':'measured','element':'pain'}],'value':true,'notes':'p. 4'},"   \
    "{'question':'scale','path':[" OLD ",{'question':'measured','element':'pain'}],'value':'VAS'},"                    \
    "{'question':'course','path':[" OLD ",{'question':'measured','element':'pain'}],'value':"                          \
    "[{'time':'0','average':'7.5','error':'0.3'},{'time':'24','average':'-3'}]}]"

static const char *const expected_rows[][3] = {
    /* element/path, element/name, the cells that are not empty */
    {"", "", "design=parallel"},
    {"treatment=" T1, "Aspirin, 100 mg", "treatment=Aspirin, 100 mg dose=100.0"},
    {"treatment=" T2, "Placebo", "treatment=Placebo"},
    {"cohort=" C1, "60 and older",
     "cohort=60 and older size=120 given=" T1 ";" T2 " measured=weight;pain measured[weight]=1 measured[pain]=1 "
     "measured[death]=0 answers/notes=measured[pain]: p. 4"},
    {"cohort=" C1 "/measured=pain", "pain", "scale=VAS course=0 7.5 0.3;24 -3"},
    {"cohort=" C2, "Younger than 60", "cohort=Younger than 60"}};
enum { ROWS = sizeof expected_rows / sizeof *expected_rows, FIXED = 16 };

static evd_uuid *studies;

static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, FORM);
    studies = review_studies(&house, 2);
    (void)review_complete(&house, 1, studies[0], ANSWERS);
}

static void end(void) {
    free(studies);
    house_close(&house);
}

static void expect_row(const struct csv_rows *rows, size_t row, const char *const expected[3]) {
    char cells[500] = "";
    for (size_t i = FIXED; i < rows->columns; i++) {
        const char *cell = rows->cells[row * rows->columns + i];
        size_t size = strlen(cells);
        if (cell[0] != '\0')
            (void)snprintf(cells + size, sizeof cells - size, "%s%s=%s", size == 0 ? "" : " ", rows->cells[i], cell);
    }
    ck_assert_str_eq(csv_cell(rows, row, "element/path"), expected[0]);
    ck_assert_str_eq(csv_cell(rows, row, "element/name"), expected[1]);
    ck_assert_str_eq(cells, expected[2]);
}

START_TEST(each_element_has_a_row_behind_the_one_it_is_under) {
    begin();
    struct streamed csv = review_export(&house, &evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.count, ROWS + 1);
    for (size_t i = 0; i < ROWS; i++)
        expect_row(&rows, i + 1, expected_rows[i]);
    csv_rows_done(&rows);
    streamed_done(&csv);
    end();
}
END_TEST

/* What an analyst joins by: every row's parent is a row of the same study and reviewer. */
START_TEST(every_rows_parent_is_a_row) {
    begin();
    (void)review_complete(&house, 2, studies[0], ANSWERS);
    (void)review_complete(&house, 2, studies[1], ANSWERS);
    struct streamed csv = review_export(&house, &evd_command_export_answers_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    static const char *const key[] = {"study/id", "reviewer/id"};
    ck_assert_uint_eq(rows.count, 3 * ROWS + 1);
    for (size_t row = 1; row < rows.count; row++) {
        const char *parent = csv_cell(&rows, row, "element/parent"), *path = csv_cell(&rows, row, "element/path");
        size_t found = 0;
        for (size_t other = 1; other < rows.count; other++) {
            bool same = strcmp(csv_cell(&rows, other, "element/path"), parent) == 0;
            for (size_t i = 0; i < 2; i++)
                same = same && strcmp(csv_cell(&rows, other, key[i]), csv_cell(&rows, row, key[i])) == 0;
            found += same;
        }
        ck_assert_uint_eq(found, 1);
        ck_assert(path[0] == '\0' || strncmp(path, parent, strlen(parent)) == 0);
    }
    csv_rows_done(&rows);
    streamed_done(&csv);
    end();
}
END_TEST

START_TEST(lines_of_ndjson_hold_paths_and_points) {
    begin();
    struct streamed ndjson = review_export(&house, &evd_command_export_answers_ndjson, PAGE);
    json_t *line = json_loads(ndjson.bytes, JSON_REJECT_DUPLICATES, NULL);
    json_t *answers = json_object_get(line, "answers"), *last = NULL, *answer;
    size_t i;
    ck_assert_uint_eq(json_array_size(answers), 12);
    json_array_foreach(answers, i, answer) {
        if (strcmp(json_string_value(json_object_get(answer, "question")), "course") == 0) last = answer;
    }
    json_t *path = json_object_get(last, "path"), *points = json_object_get(last, "value");
    ck_assert_uint_eq(json_array_size(path), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(path, 1), "element")), "pain");
    ck_assert_uint_eq(json_array_size(points), 2);
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(points, 1), "average")), "-3");
    ck_assert_ptr_null(json_object_get(json_array_get(points, 1), "error"));
    json_decref(line);
    streamed_done(&ndjson);
    end();
}
END_TEST

START_TEST(each_point_of_a_series_has_a_row_of_its_own) {
    begin();
    static const char *const expected[2][4] = {{"course", "0", "7.5", "0.3"}, {"course", "24", "-3", ""}};
    struct streamed csv = review_export(&house, &evd_command_export_series_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_uint_eq(rows.columns, FIXED + 4);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_str_eq(csv_cell(&rows, i + 1, "element/path"), "cohort=" C1 "/measured=pain");
        ck_assert_str_eq(csv_cell(&rows, i + 1, "study/title"), "Study 0");
        ck_assert_str_eq(csv_cell(&rows, i + 1, "series/question"), expected[i][0]);
        ck_assert_str_eq(csv_cell(&rows, i + 1, "series/time"), expected[i][1]);
        ck_assert_str_eq(csv_cell(&rows, i + 1, "series/average"), expected[i][2]);
        ck_assert_str_eq(csv_cell(&rows, i + 1, "series/error"), expected[i][3]);
    }
    csv_rows_done(&rows);
    streamed_done(&csv);
    end();
}
END_TEST

/* More points than fit a piece, over several series: the pieces are the whole. */
enum { MANY_SERIES = 8, MANY_POINTS = 1500 };

static char *many_points(unsigned option) {
    char *text = NULL;
    size_t size_bytes;
    FILE *out = open_memstream(&text, &size_bytes);
    (void)fprintf(out, "[{'question':'measured','path':[{'question':'measured','element':'o%u'}],'value':true},",
                  option);
    (void)fprintf(out, "{'question':'course','path':[{'question':'measured','element':'o%u'}],'value':", option);
    for (unsigned i = 0; i < MANY_POINTS; i++)
        (void)fprintf(out, "%c{'time':'%u','average':'%u.%u'}", i == 0 ? '[' : ',', i, option, i);
    (void)fputs("]}]", out);
    (void)fclose(out);
    return text;
}

START_TEST(a_series_export_larger_than_a_piece_is_cut_between_points) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    review_form(&house, "[{'id':'measured','kind':'multichoice','split':true,'options':[{'id':'o0'},{'id':'o1'},"
                        "{'id':'o2'},{'id':'o3'},{'id':'o4'},{'id':'o5'},{'id':'o6'},{'id':'o7'}]},"
                        "{'id':'course','kind':'series','parent':{'questionId':'measured'}}]");
    studies = review_studies(&house, 1);
    evd_uuid version = evd_uuid_nil();
    for (unsigned i = 0; i < MANY_SERIES; i++) {
        char *answers = many_points(i);
        const struct evd_command *command = i + 1 < MANY_SERIES ? &evd_command_save : &evd_command_complete;
        version = review_save(&house, command, 1, studies[0], i == 0 ? NULL : &version, answers);
        free(answers);
    }
    struct streamed csv = review_export(&house, &evd_command_export_series_csv, PAGE);
    struct csv_rows rows = csv_rows_of(csv.bytes, csv.size_bytes);
    ck_assert_uint_gt(csv.size_bytes, 2 * EVD_LIMIT_EXPORT_PIECE);
    ck_assert_uint_lt(csv.largest_bytes, EVD_LIMIT_EXPORT_PIECE + EVD_KIB);
    ck_assert_uint_eq(rows.count, MANY_SERIES * MANY_POINTS + 1);
    for (size_t row = 1; row < rows.count; row++) {
        char average[40];
        (void)snprintf(average, sizeof average, "%zu.%zu", (row - 1) / MANY_POINTS, (row - 1) % MANY_POINTS);
        if (strcmp(csv_cell(&rows, row, "series/average"), average) != 0)
            ck_abort_msg("row %zu is no %s", row, average);
    }
    csv_rows_done(&rows);
    streamed_done(&csv);
    end();
}
END_TEST

START_TEST(a_healthy_project_with_elements_has_no_findings) {
    begin();
    struct evd_ids ids = {.project = house.project};
    struct streamed lines = ask_streamed(&house, &evd_command_verify_project, ids, house.admin, 2);
    ck_assert_int_eq(lines.code, EVD_OK);
    ck_assert_ptr_eq(strstr(lines.bytes, "{\"summary\""), lines.bytes);
    ck_assert_ptr_nonnull(strstr(lines.bytes, "\"findings\":0"));
    streamed_done(&lines);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: exports of elements", each_element_has_a_row_behind_the_one_it_is_under,
              every_rows_parent_is_a_row, lines_of_ndjson_hold_paths_and_points,
              each_point_of_a_series_has_a_row_of_its_own, a_series_export_larger_than_a_piece_is_cut_between_points,
              a_healthy_project_with_elements_has_no_findings)
