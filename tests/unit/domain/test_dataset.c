/*
 * Datasets: columns of versions, rows of answers, cells.
 */
#include "forms.h"

#include "evidenced/domain/dataset.h"

#define COHORTS                                                                                                        \
    "[{'id':'design','kind':'choice','options':[{'id':'rct','label':'Randomised'},{'id':'obs'}]},"                     \
    "{'id':'outcomes','kind':'multichoice','options':[{'id':'death'},{'id':'stroke'},{'id':'pain'}]},"                 \
    "{'id':'cohort','kind':'unit'},"                                                                                   \
    "{'id':'size','kind':'integer','unit':'cohort'},"                                                                  \
    "{'id':'measured','kind':'multichoice','split':true,'unit':'cohort','options':[{'id':'w','label':'Weight'},"       \
    "{'id':'h','label':'Height'},{'id':'p'}]},"                                                                        \
    "{'id':'unit-of','kind':'text','parent':{'questionId':'measured'}},"                                               \
    "{'id':'course','kind':'series','parent':{'questionId':'measured'}}]"

static struct evd_dataset dataset;

static void add_form(const char *form) {
    if (dataset.arena == NULL) evd_dataset_init(&dataset, &arena);
    ck_assert(evd_dataset_add(&dataset, form_of(form)));
}

static const char *columns(void) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 256);
    for (size_t i = 0; i < dataset.question_count; i++) {
        const struct evd_dataset_question *question = &dataset.questions[i];
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT, i == 0 ? "" : " ",
                         EVD_TEXT_ARG(evd_dataset_column_name(question, NULL, &arena)));
        for (size_t o = 0; evd_dataset_has_option_columns(question) && o < question->option_count; o++)
            evd_buffer_print(&out, " " EVD_TEXT_FMT,
                             EVD_TEXT_ARG(evd_dataset_column_name(question, &question->options[o], &arena)));
    }
    evd_buffer_add_byte(&out, '\0');
    return evd_buffer_text(&out).bytes;
}

static const struct evd_annotation_revision *revisions[64];
static size_t revision_count;

/* {'question', 'path', 'value', 'notes'} */
static void answer(const char *text) {
    json_t *json = quoted(text);
    struct evd_annotation_revision *revision = EVD_NEW(&arena, struct evd_annotation_revision);
    struct evd_answer_change change = {0};
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    (void)json_object_set_new(json, "baseRevision", json_null());
    ck_assert_msg(evd_json_read(&evd_type_answer_change, json, &arena, &change, &fault), "%s: " EVD_TEXT_FMT, text,
                  EVD_TEXT_ARG(fault.message));
    *revision =
        (struct evd_annotation_revision){.question = change.question, .value = change.value, .notes = change.notes};
    revision->path.items = change.path.items;
    revision->path.count = change.path.count;
    revisions[revision_count++] = revision;
    json_decref(json);
}

/* A line a row: its path, its name, its cells that are not empty, its notes. */
static const char *rows(void) {
    struct evd_dataset_session session;
    struct evd_buffer out;
    struct evd_text *cells = EVD_NEW_ARRAY(&arena, struct evd_text, dataset.column_count);
    evd_buffer_init(&out, &arena, 256);
    ck_assert(evd_dataset_arrange(&dataset, revisions, revision_count, &arena, &session));
    ck_assert_uint_eq(session.answer_count, revision_count);
    for (size_t i = 0; i < session.row_count; i++) {
        const struct evd_dataset_row *row = &session.rows[i];
        struct evd_text notes = evd_dataset_notes(row, &arena);
        evd_buffer_print(&out, EVD_TEXT_FMT "(" EVD_TEXT_FMT ")",
                         EVD_TEXT_ARG(evd_dataset_path_text(row->path, row->depth, &arena)), EVD_TEXT_ARG(row->name));
        evd_dataset_cells(&dataset, row, cells, &arena);
        for (size_t column = 0; column < dataset.column_count; column++)
            if (cells[column].size_bytes > 0)
                evd_buffer_print(&out, " %zu:" EVD_TEXT_FMT, column, EVD_TEXT_ARG(cells[column]));
        if (notes.size_bytes > 0) evd_buffer_print(&out, " {" EVD_TEXT_FMT "}", EVD_TEXT_ARG(notes));
        evd_buffer_add_byte(&out, '\n');
    }
    evd_buffer_add_byte(&out, '\0');
    return evd_buffer_text(&out).bytes;
}

START_TEST(each_question_has_a_column_and_each_option_of_a_multichoice) {
    begin();
    add_form(COHORTS);
    ck_assert_str_eq(columns(), "design outcomes outcomes[death] outcomes[stroke] outcomes[pain] cohort size measured "
                                "measured[w] measured[h] measured[p] unit-of course");
    ck_assert_uint_eq(dataset.column_count, 13);
    end();
}
END_TEST

START_TEST(questions_and_options_of_older_versions_come_behind_the_newest_ones) {
    begin();
    add_form("[{'id':'b','kind':'text'},{'id':'m','kind':'multichoice','options':[{'id':'y'},{'id':'x'}]}]");
    add_form("[{'id':'a','kind':'text'},{'id':'m','kind':'multichoice','options':[{'id':'z'},{'id':'x'}]},"
             "{'id':'b','kind':'integer'}]");
    ck_assert_str_eq(columns(), "b m m[y] m[x] m[z] a");
    ck_assert_int_eq(evd_dataset_question(&dataset, EVD_TEXT("b"))->kind, EVD_QUESTION_TEXT);
    ck_assert_ptr_null(evd_dataset_question(&dataset, EVD_TEXT("c")));
    end();
}
END_TEST

START_TEST(many_versions_of_many_questions_are_found_by_their_ids) {
    begin();
    evd_dataset_init(&dataset, &arena);
    for (size_t version = 3; version > 0; version--)
        ck_assert(evd_dataset_add(&dataset, form_of_texts(version * 300)));
    ck_assert_uint_eq(dataset.question_count, 900);
    for (size_t i = 0; i < 900; i++) {
        const struct evd_dataset_question *question = evd_dataset_question(&dataset, number_text("q", i));
        ck_assert_ptr_nonnull(question);
        ck_assert_uint_eq(question->column, i);
    }
    end();
}
END_TEST

START_TEST(more_columns_than_an_export_may_have_are_refused) {
    begin();
    struct evd_form_version *form = form_of_texts(EVD_LIMIT_EXPORT_COLUMNS / EVD_LIMIT_OPTIONS);
    struct evd_question_option *options = EVD_NEW_ARRAY(&arena, struct evd_question_option, EVD_LIMIT_OPTIONS);
    for (size_t i = 0; i < EVD_LIMIT_OPTIONS; i++)
        options[i] = (struct evd_question_option){number_text("o", i), EVD_TEXT("Label"), {NULL}};
    for (size_t i = 0; i < form->questions.count; i++) {
        form->questions.items[i].kind = evd_name_of(EVD_QUESTION_MULTICHOICE);
        form->questions.items[i].options.items = options;
        form->questions.items[i].options.count = EVD_LIMIT_OPTIONS - 1;
    }
    evd_dataset_init(&dataset, &arena);
    ck_assert(evd_dataset_add(&dataset, form));
    ck_assert_uint_eq(dataset.column_count, EVD_LIMIT_EXPORT_COLUMNS);
    form->questions.items[0].options.count++;
    ck_assert(!evd_dataset_add(&dataset, form));
    end();
}
END_TEST

START_TEST(the_studys_own_row_is_there_even_when_nothing_is_answered) {
    begin();
    add_form(COHORTS);
    ck_assert_str_eq(rows(), "()\n");
    end();
}
END_TEST

START_TEST(each_instance_has_a_row_and_an_option_with_something_under_it) {
    begin();
    add_form(COHORTS);
    answer("{'question':'size','path':[{'question':'cohort','element':'c2'}],'value':7}");
    answer("{'question':'cohort','path':[{'question':'cohort','element':'c2'}],'value':'Older'}");
    answer("{'question':'cohort','path':[{'question':'cohort','element':'c1'}],'value':'Younger'}");
    answer("{'question':'measured','path':[{'question':'cohort','element':'c2'},{'question':'measured','element':'h'}],"
           "'value':true}");
    answer("{'question':'measured','path':[{'question':'cohort','element':'c2'},{'question':'measured','element':'w'}],"
           "'value':true}");
    answer("{'question':'unit-of','path':[{'question':'cohort','element':'c2'},{'question':'measured','element':'h'}],"
           "'value':'cm'}");
    answer("{'question':'design','value':'rct'}");
    ck_assert_str_eq(rows(), "() 0:rct\n"
                             "cohort=c1(Younger) 5:Younger\n"
                             "cohort=c2(Older) 5:Older 6:7 7:w;h 8:1 9:1 10:0\n"
                             "cohort=c2/measured=h(Height) 11:cm\n");
    end();
}
END_TEST

START_TEST(options_are_one_or_nought_and_empty_when_nothing_is_answered) {
    begin();
    add_form(COHORTS);
    answer("{'question':'outcomes','value':['pain','death']}");
    ck_assert_str_eq(rows(), "() 1:death;pain 2:1 3:0 4:1\n");
    revision_count = 0;
    answer("{'question':'outcomes','value':[]}");
    ck_assert_str_eq(rows(), "() 2:0 3:0 4:0\n");
    end();
}
END_TEST

START_TEST(values_of_every_kind_have_their_text) {
    begin();
    static const struct {
        const char *value, *text;
    } cases[] = {{"'1.50'", "1.50"},
                 {"-3", "-3"},
                 {"true", "true"},
                 {"false", "false"},
                 {"['c1','c2']", "c1;c2"},
                 {"[{'time':'0','average':'12.5','error':'0.3'},{'time':'24','average':'-13'}]", "0 12.5 0.3;24 -13"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[200];
        revision_count = 0;
        (void)snprintf(json, sizeof json, "{'question':'q','value':%s}", cases[i].value);
        answer(json);
        struct evd_text text = evd_dataset_value_text(&revisions[0]->value, &arena);
        ck_assert_msg(evd_text_equal(text, evd_text_from(cases[i].text)), "%s: " EVD_TEXT_FMT, cases[i].value,
                      EVD_TEXT_ARG(text));
    }
    end();
}
END_TEST

START_TEST(notes_name_the_question_and_the_option) {
    begin();
    add_form(COHORTS);
    answer("{'question':'design','value':'rct','notes':'p. 3'}");
    answer("{'question':'cohort','path':[{'question':'cohort','element':'c'}],'value':'C','notes':'Table 1'}");
    answer("{'question':'measured','path':[{'question':'cohort','element':'c'},{'question':'measured','element':'p'}],"
           "'value':true,'notes':'by nurses'}");
    ck_assert_str_eq(rows(), "() 0:rct {design: p. 3}\n"
                             "cohort=c(C) 5:C 7:p 8:0 9:0 10:1 {cohort: Table 1\nmeasured[p]: by nurses}\n");
    end();
}
END_TEST

START_TEST(rows_do_not_depend_on_the_order_the_answers_come_in) {
    struct evd_test_random random;
    evd_test_random_init(&random, 11);
    begin();
    add_form(COHORTS);
    for (unsigned c = 0; c < 6; c++) {
        static const char *const options[] = {"w", "h", "p"};
        char text[300];
        (void)snprintf(text, sizeof text,
                       "{'question':'size','path':[{'question':'cohort','element':'c%u'}],'value':%u}", c, c);
        answer(text);
        (void)snprintf(text, sizeof text,
                       "{'question':'cohort','path':[{'question':'cohort','element':'c%u'}],'value':'C%u'}", c, c);
        answer(text);
        for (unsigned o = 0; o < 3; o++) {
            (void)snprintf(text, sizeof text,
                           "{'question':'unit-of','path':[{'question':'cohort','element':'c%u'},"
                           "{'question':'measured','element':'%s'}],'value':'u'}",
                           c, options[o]);
            answer(text);
        }
    }
    const char *first = rows();
    ck_assert_ptr_nonnull(strstr(first, "cohort=c0/measured=p(Label) 11:u\ncohort=c1(C1)"));
    for (unsigned round = 0; round < 50; round++) {
        for (size_t i = revision_count - 1; i > 0; i--) {
            size_t other = evd_random_below(&random.random, i + 1);
            const struct evd_annotation_revision *swapped = revisions[i];
            revisions[i] = revisions[other];
            revisions[other] = swapped;
        }
        ck_assert_str_eq(rows(), first);
    }
    end();
}
END_TEST

START_TEST(an_answer_of_a_question_no_version_has_belongs_elsewhere) {
    begin();
    struct evd_dataset_session session;
    add_form(COHORTS);
    answer("{'question':'design','value':'rct'}");
    answer("{'question':'elsewhere','value':'x'}");
    ck_assert(!evd_dataset_arrange(&dataset, revisions, 2, &arena, &session));
    revision_count = 0;
    answer("{'question':'design','path':[{'question':'elsewhere','element':'x'}],'value':'rct'}");
    ck_assert(!evd_dataset_arrange(&dataset, revisions, 1, &arena, &session));
    end();
}
END_TEST

EVD_TEST_MAIN("domain: datasets", each_question_has_a_column_and_each_option_of_a_multichoice,
              questions_and_options_of_older_versions_come_behind_the_newest_ones,
              many_versions_of_many_questions_are_found_by_their_ids, more_columns_than_an_export_may_have_are_refused,
              the_studys_own_row_is_there_even_when_nothing_is_answered,
              each_instance_has_a_row_and_an_option_with_something_under_it,
              options_are_one_or_nought_and_empty_when_nothing_is_answered, values_of_every_kind_have_their_text,
              notes_name_the_question_and_the_option, rows_do_not_depend_on_the_order_the_answers_come_in,
              an_answer_of_a_question_no_version_has_belongs_elsewhere)
