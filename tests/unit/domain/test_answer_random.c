/*
 * Random forms and sessions, judged a second time by plain recursion and search, without anything of the rules' own.
 */
#include "evidenced/domain/answer.h"

#include "forms.h"

enum { MOST_ANSWERS = 400, MOST_ELEMENTS = 4000, MOST_FINDINGS = 4000 };

struct session {
    const struct evd_form_version *form;
    const struct evd_random *random;
    struct evd_answer answers[MOST_ANSWERS];
    size_t count;
    unsigned instances;
    const char *used[MOST_ELEMENTS]; /* elements, also those that are missing */
    size_t used_count;
};

struct findings {
    const char *items[MOST_FINDINGS];
    size_t count;
};

static const struct evd_question *named(const struct evd_form_version *form, struct evd_text id) {
    for (size_t i = 0; i < form->questions.count; i++)
        if (evd_text_equal(form->questions.items[i].id, id)) return &form->questions.items[i];
    return NULL;
}

static bool makes(const struct evd_question *question) {
    return question->kind.value == EVD_QUESTION_UNIT || question->split;
}

/* A frame, by the definition's words. */
static size_t frame_of(const struct evd_form_version *form, const struct evd_question *question,
                       const struct evd_question **ret_frame) {
    const struct evd_question *by_unit[EVD_LIMIT_QUESTION_DEPTH], *by_parent[EVD_LIMIT_QUESTION_DEPTH];
    size_t unit_count = 0, parent_count = 0;
    if (question->unit.bytes != NULL) {
        const struct evd_question *unit = named(form, question->unit);
        unit_count = frame_of(form, unit, by_unit);
        by_unit[unit_count++] = unit;
    }
    if (question->parent != NULL) {
        const struct evd_question *parent = named(form, question->parent->question);
        parent_count = frame_of(form, parent, by_parent);
        if (makes(parent)) by_parent[parent_count++] = parent;
    }
    size_t count = unit_count > parent_count ? unit_count : parent_count;
    for (size_t i = 0; i < count; i++)
        ret_frame[i] = unit_count > parent_count ? by_unit[i] : by_parent[i];
    return count;
}

/* Making a session. */

static const struct evd_answer_value *random_value(struct session *session, const struct evd_question *question) {
    static struct evd_answer_point point = {.time = EVD_TEXT_INIT("0"), .average = EVD_TEXT_INIT("1")};
    struct evd_answer_value value = text_value("1");
    switch ((enum evd_question_kind)question->kind.value) {
    case EVD_QUESTION_INTEGER: value = integer_value((int64_t)evd_random_below(session->random, 10)); break;
    case EVD_QUESTION_BOOLEAN: value = boolean_value(evd_random_below(session->random, 2) == 0); break;
    case EVD_QUESTION_DATE: value = text_value("2026-03-01"); break;
    case EVD_QUESTION_CHOICE:
        value.text = question->options.items[evd_random_below(session->random, question->options.count)].id;
        break;
    case EVD_QUESTION_MULTICHOICE:
        value = texts_value("");
        if (question->split) value = boolean_value(true);
        for (size_t i = 0; i < question->options.count && !question->split; i++)
            if (i == 0 || evd_random_below(session->random, 2) == 0)
                value.texts.items[value.texts.count++] = question->options.items[i].id;
        break;
    case EVD_QUESTION_REFERENCE:
        value = texts_value("");
        value.texts.items[value.texts.count++] =
            instance_id((unsigned)evd_random_below(session->random, session->instances + 3));
        break;
    case EVD_QUESTION_SERIES:
        value = (struct evd_answer_value){.kind = EVD_ANSWER_POINTS, .points = {&point, 1}};
        break;
    case EVD_NONE_OF_question_kind:
    case EVD_QUESTION_TEXT:
    case EVD_QUESTION_DECIMAL:
    case EVD_QUESTION_UNIT:
    case EVD_END_OF_question_kind: break;
    }
    return evd_arena_copy(&arena, &value, sizeof value);
}

static void add(struct session *session, const struct evd_question *question, const struct evd_path_step *path,
                size_t path_count) {
    if (session->count == MOST_ANSWERS) return;
    session->answers[session->count++] =
        (struct evd_answer){.question = question->id,
                            .path = evd_arena_copy(&arena, path, (path_count + 1) * sizeof *path),
                            .path_count = path_count,
                            .value = random_value(session, question)};
}

static bool is_framed_by(const struct evd_form_version *form, const struct evd_question *question,
                         const struct evd_path_step *path, size_t path_count) {
    const struct evd_question *frame[EVD_LIMIT_QUESTION_DEPTH];
    if (frame_of(form, question, frame) != path_count) return false;
    for (size_t i = 0; i < path_count; i++)
        if (!evd_text_equal(frame[i]->id, path[i].question)) return false;
    return true;
}

static void fill(struct session *session, struct evd_path_step *path, size_t path_count);

static bool is_used(struct session *session, const char *element) {
    for (size_t i = 0; i < session->used_count; i++)
        if (strcmp(session->used[i], element) == 0) return true;
    session->used[session->used_count++] = element;
    return false;
}

/* Some elements, each with what is below it; now and then one is missing although what is below it is there. */
static void add_elements(struct session *session, const struct evd_question *question, struct evd_path_step *path,
                         size_t path_count) {
    bool is_unit = question->kind.value == EVD_QUESTION_UNIT;
    size_t most = is_unit ? 3 : question->options.count;
    for (size_t i = 0; i < most && session->count < MOST_ANSWERS; i++) {
        if (evd_random_below(session->random, 2) == 0) continue;
        bool again = session->instances > 0 && evd_random_below(session->random, 8) == 0;
        unsigned number =
            again ? (unsigned)evd_random_below(session->random, session->instances) : session->instances++;
        path[path_count] = (struct evd_path_step){
            .question = question->id, .element = is_unit ? instance_id(number) : question->options.items[i].id};
        if (is_used(session, place_text(question->id, path, path_count + 1))) continue; /* a context once */
        if (evd_random_below(session->random, 12) > 0) add(session, question, path, path_count + 1);
        fill(session, path, path_count + 1);
    }
}

static void fill(struct session *session, struct evd_path_step *path, size_t path_count) {
    for (size_t i = 0; i < session->form->questions.count; i++) {
        const struct evd_question *question = &session->form->questions.items[i];
        if (!is_framed_by(session->form, question, path, path_count)) continue;
        if (makes(question))
            add_elements(session, question, path, path_count);
        else if (evd_random_below(session->random, 3) > 0)
            add(session, question, path, path_count);
    }
}

static void shuffle(struct session *session) {
    for (size_t i = session->count; i > 1; i--) {
        size_t k = evd_random_below(session->random, i);
        struct evd_answer other = session->answers[k];
        session->answers[k] = session->answers[i - 1];
        session->answers[i - 1] = other;
    }
}

/* Judging it. */

static const struct evd_answer *answer_at(const struct session *session, struct evd_text question,
                                          const struct evd_path_step *path, size_t path_count) {
    const char *wanted = place_text(question, path, path_count);
    for (size_t i = 0; i < session->count; i++) {
        const struct evd_answer *answer = &session->answers[i];
        if (answer->path_count != path_count || !evd_text_equal(answer->question, question)) continue;
        if (strcmp(place_text(question, answer->path, path_count), wanted) == 0) return answer;
    }
    return NULL;
}

static bool exists(const struct session *session, const struct evd_path_step *path, size_t path_count) {
    for (size_t i = 1; i <= path_count; i++)
        if (answer_at(session, path[i - 1].question, path, i) == NULL) return false;
    return true;
}

static bool says(const struct evd_question *parent, const struct evd_answer_value *value, struct evd_text wanted) {
    if (parent->kind.value == EVD_QUESTION_BOOLEAN)
        return evd_text_equal(wanted, value->boolean ? EVD_TEXT("true") : EVD_TEXT("false"));
    if (parent->kind.value == EVD_QUESTION_CHOICE) return evd_text_equal(wanted, value->text);
    for (size_t i = 0; i < value->texts.count; i++)
        if (evd_text_equal(wanted, value->texts.items[i])) return true;
    return false;
}

/* Is the question asked under these elements, which are its frame's? */
static bool is_asked(const struct session *session, const struct evd_question *question,
                     const struct evd_path_step *path, size_t path_count) {
    const struct evd_question *frame[EVD_LIMIT_QUESTION_DEPTH];
    for (size_t i = 0; i < path_count; i++)
        if (!is_asked(session, named(session->form, path[i].question), path, i)) return false;
    if (question->parent == NULL) return true;
    const struct evd_question *parent = named(session->form, question->parent->question);
    size_t above = frame_of(session->form, parent, frame);
    const struct evd_texts *any_of = &question->parent->any_of;
    if (!is_asked(session, parent, path, above)) return false;
    if (makes(parent)) {
        for (size_t i = 0; i < any_of->count; i++)
            if (evd_text_equal(any_of->items[i], path[above].element)) return true;
        return any_of->count == 0;
    }
    const struct evd_answer *answer = answer_at(session, parent->id, path, above);
    if (answer == NULL) return false;
    for (size_t i = 0; i < any_of->count; i++)
        if (says(parent, answer->value, any_of->items[i])) return true;
    return any_of->count == 0;
}

static void find(struct findings *findings, struct evd_text question, const struct evd_path_step *path,
                 size_t path_count, const char *code) {
    ck_assert_uint_lt(findings->count, MOST_FINDINGS);
    findings->items[findings->count++] =
        evd_text_print(&arena, "%s %s", place_text(question, path, path_count), code).bytes;
}

static const struct evd_answer *instance_of(const struct session *session, struct evd_text id) {
    for (size_t i = 0; i < session->count; i++) {
        const struct evd_answer *answer = &session->answers[i];
        if (named(session->form, answer->question)->kind.value == EVD_QUESTION_UNIT &&
            evd_text_equal(answer->path[answer->path_count - 1].element, id))
            return answer;
    }
    return NULL;
}

static void judge_answer(const struct session *session, const struct evd_answer *answer, struct findings *findings) {
    const struct evd_question *question = named(session->form, answer->question);
    size_t above = answer->path_count - (makes(question) ? 1 : 0);
    const char *code = NULL;
    if (!exists(session, answer->path, above))
        code = "unknownElement";
    else if (!is_asked(session, question, answer->path, above))
        code = "notApplicable";
    if (code != NULL) find(findings, answer->question, answer->path, answer->path_count, code);
    if (question->kind.value == EVD_QUESTION_UNIT &&
        instance_of(session, answer->path[answer->path_count - 1].element) != answer)
        find(findings, answer->question, answer->path, answer->path_count, "repeatedElement");
    if (question->kind.value != EVD_QUESTION_REFERENCE) return;
    const struct evd_answer *found = instance_of(session, answer->value->texts.items[0]);
    if (found == NULL || !evd_text_equal(found->question, question->target))
        find(findings, answer->question, answer->path, answer->path_count, "brokenReference");
}

static bool is_answered(const struct session *session, const struct evd_question *question,
                        const struct evd_path_step *path, size_t path_count) {
    if (!makes(question)) return answer_at(session, question->id, path, path_count) != NULL;
    const char *above = place_text(EVD_TEXT(""), path, path_count);
    for (size_t i = 0; i < session->count; i++) {
        const struct evd_answer *answer = &session->answers[i];
        if (evd_text_equal(answer->question, question->id) && answer->path_count == path_count + 1 &&
            strcmp(place_text(EVD_TEXT(""), answer->path, path_count), above) == 0)
            return true;
    }
    return false;
}

/* What is missing in the form itself, path NULL, and in every element. */
static void judge_missing(const struct session *session, const struct evd_path_step *path, size_t path_count,
                          struct findings *findings) {
    if (!exists(session, path, path_count)) return;
    for (size_t i = 0; i < session->form->questions.count; i++) {
        const struct evd_question *question = &session->form->questions.items[i];
        if (question->required && is_framed_by(session->form, question, path, path_count) &&
            is_asked(session, question, path, path_count) && !is_answered(session, question, path, path_count))
            find(findings, question->id, path, path_count, "required");
    }
}

static void judge(const struct session *session, struct findings *findings) {
    judge_missing(session, NULL, 0, findings);
    for (size_t i = 0; i < session->count; i++) {
        const struct evd_answer *answer = &session->answers[i];
        judge_answer(session, answer, findings);
        if (makes(named(session->form, answer->question)))
            judge_missing(session, answer->path, answer->path_count, findings);
    }
}

/* Comparing. */

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *sorted(struct findings *findings) {
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 1000);
    qsort(findings->items, findings->count, sizeof *findings->items, by_text);
    for (size_t i = 0; i < findings->count; i++)
        evd_buffer_print(&out, "%s\n", findings->items[i]);
    evd_buffer_add_byte(&out, 0);
    return evd_buffer_text(&out).bytes;
}

static void split_findings(const char *list, struct findings *findings) {
    while (*list != '\0') {
        size_t size = strcspn(list, ";");
        findings->items[findings->count++] = evd_text_copy(&arena, (struct evd_text){list, size}).bytes;
        list += size + (list[size] == ';' ? 2 : 0);
    }
}

static size_t count_of(const char *list, const char *code) {
    size_t count = 0;
    while ((list = strstr(list, code)) != NULL)
        count++, list++;
    return count;
}

static bool is_judged(const struct evd_form_version *form) {
    struct evd_errors errors;
    evd_errors_init(&errors, &arena);
    evd_definition_check(form->questions.items, form->questions.count, &errors);
    for (size_t i = 0; i < form->questions.count; i++) /* ranges have tests of their own */
        if (form->questions.items[i].min.bytes != NULL) return false;
    return errors.total == 0;
}

START_TEST(random_sessions_are_judged_as_by_going_up_from_each_answer) {
    static const char *const codes[] = {"required", "notApplicable", "unknownElement", "brokenReference",
                                        "repeatedElement"};
    enum { CODES = sizeof codes / sizeof *codes };
    struct evd_test_random random;
    size_t sound = 0, met[CODES] = {0}, deepest = 0;
    evd_test_random_init(&random, 5);
    for (int round = 0; round < 10000; round++) {
        begin();
        struct evd_form_version *form = random_form(&random.random, 14, 1);
        if (is_judged(form)) {
            struct session *session = EVD_NEW(&arena, struct session);
            struct findings *expected = EVD_NEW(&arena, struct findings), *actual = EVD_NEW(&arena, struct findings);
            struct evd_path_step path[EVD_LIMIT_QUESTION_DEPTH + 1];
            struct evd_errors errors;
            session->form = form;
            session->random = &random.random;
            fill(session, path, 0);
            shuffle(session);
            evd_errors_init(&errors, &arena);
            evd_answers_check_complete(evd_definition_compile(form, &arena), session->answers, session->count, &errors);
            ck_assert_uint_eq(errors.count, errors.total);
            split_findings(places_in(&errors), actual);
            judge(session, expected);
            const char *found = sorted(actual);
            ck_assert_msg(strcmp(found, sorted(expected)) == 0, "round %d:\n%s\ninstead of\n%s", round, found,
                          sorted(expected));
            for (size_t i = 0; i < CODES; i++)
                met[i] += count_of(found, codes[i]);
            for (size_t i = 0; i < session->count; i++)
                if (session->answers[i].path_count > deepest) deepest = session->answers[i].path_count;
            sound++;
        }
        end();
    }
    ck_assert_uint_gt(sound, 1000);
    ck_assert_uint_ge(deepest, 4);
    for (size_t i = 0; i < CODES; i++)
        ck_assert_msg(met[i] > 100, "%s: %zu", codes[i], met[i]);
}
END_TEST

EVD_TEST_MAIN("domain: random sessions", random_sessions_are_judged_as_by_going_up_from_each_answer)
