/*
 * Forms and answers for the domain's tests, written as JSON with single quotes.
 */
#ifndef EVIDENCED_TESTS_UNIT_DOMAIN_FORMS_H
#define EVIDENCED_TESTS_UNIT_DOMAIN_FORMS_H

#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/buffer.h"
#include "evidenced/domain/answer.h"
#include "evidenced/records/json.h"

#include <jansson.h>

/* The one arena of a test; each test runs in a process of its own. */
static struct evd_arena arena;

static inline void begin(void) {
    evd_arena_init(&arena, 512 * EVD_MIB);
}

static inline void end(void) {
    evd_arena_done(&arena);
}

/* Parsed, single quotes standing for double ones. The caller's to json_decref. */
static inline json_t *quoted(const char *text) {
    struct evd_text json = evd_text_copy(&arena, evd_text_from(text));
    char *bytes = evd_arena_copy(&arena, json.bytes, json.size_bytes + 1);
    for (char *at = bytes; *at != '\0'; at++)
        if (*at == '\'') *at = '"';
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    json_t *parsed = evd_json_parse((struct evd_text){bytes, json.size_bytes}, &arena, &fault);
    ck_assert_msg(parsed != NULL, "%s: " EVD_TEXT_FMT, text, EVD_TEXT_ARG(fault.message));
    return parsed;
}

static inline void add_label(json_t *item) {
    if (json_object_get(item, "label") == NULL) (void)json_object_set_new(item, "label", json_string("Label"));
}

/* A form's questions from a JSON list; labels may be left out. */
static inline struct evd_form_version *form_of(const char *text) {
    json_t *list = quoted(text), *item;
    size_t i;
    struct evd_form_version *form = EVD_NEW(&arena, struct evd_form_version);
    form->questions.count = json_array_size(list);
    form->questions.items = EVD_NEW_ARRAY(&arena, struct evd_question, form->questions.count);
    json_array_foreach(list, i, item) {
        add_label(item);
        json_t *options = json_object_get(item, "options");
        for (size_t k = 0; k < json_array_size(options); k++)
            add_label(json_array_get(options, k));
        struct evd_json_fault fault = {.message = EVD_TEXT("")};
        ck_assert_msg(evd_json_read(&evd_type_question, item, &arena, &form->questions.items[i], &fault),
                      "%s: " EVD_TEXT_FMT, text, EVD_TEXT_ARG(fault.message));
    }
    json_decref(list);
    return form;
}

/* `pointer code` of every error, joined by `; `. */
static inline const char *summary_of(const struct evd_errors *errors) {
    struct evd_buffer buffer;
    evd_buffer_init(&buffer, &arena, 256);
    for (size_t i = 0; i < errors->count; i++)
        evd_buffer_print(&buffer, "%s" EVD_TEXT_FMT " %s", i == 0 ? "" : "; ", EVD_TEXT_ARG(errors->items[i].pointer),
                         errors->items[i].code);
    evd_buffer_add_byte(&buffer, '\0');
    return evd_buffer_text(&buffer).bytes;
}

/* The members of an error as an object. The caller's to json_decref. */
static inline json_t *members_of(const struct evd_error *error) {
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    struct evd_text object = evd_text_print(&arena, "{" EVD_TEXT_FMT "}", EVD_TEXT_ARG(error->members));
    json_t *members = evd_json_parse(object, &arena, &fault);
    ck_assert_msg(members != NULL, EVD_TEXT_FMT ": " EVD_TEXT_FMT, EVD_TEXT_ARG(object), EVD_TEXT_ARG(fault.message));
    return members;
}

static inline struct evd_text number_text(const char *prefix, uint64_t number) {
    return evd_text_print(&arena, "%s%llu", prefix, (unsigned long long)number);
}

static inline struct evd_answer_value text_value(const char *text) {
    return (struct evd_answer_value){.kind = EVD_ANSWER_TEXT, .text = evd_text_from(text)};
}

static inline struct evd_answer_value integer_value(int64_t integer) {
    return (struct evd_answer_value){.kind = EVD_ANSWER_INTEGER, .integer = integer};
}

static inline struct evd_answer_value boolean_value(bool boolean) {
    return (struct evd_answer_value){.kind = EVD_ANSWER_BOOLEAN, .boolean = boolean};
}

/* Options by a text of comma-separated ids; "" is none. */
static inline struct evd_answer_value texts_value(const char *commas) {
    struct evd_answer_value value = {.kind = EVD_ANSWER_TEXTS};
    value.texts.items = EVD_NEW_ARRAY(&arena, struct evd_text, EVD_ANSWER_TEXTS_MOST);
    while (*commas != '\0') {
        size_t size_bytes = strcspn(commas, ",");
        value.texts.items[value.texts.count++] = (struct evd_text){commas, size_bytes};
        commas += size_bytes + (commas[size_bytes] == ',');
    }
    return value;
}

/* Places, written as `cohort=1/arm=x/dose`: a number stands for an instance's id, all else for itself. The place of an
 * element has no question behind its own step: `cohort=1`. */

static inline struct evd_text instance_id(unsigned number) {
    return evd_text_print(&arena, "00000000-0000-4000-8000-%012u", number);
}

static inline bool is_number(struct evd_text text) {
    uint64_t number;
    return text.size_bytes < 5 && evd_text_to_u64(text, &number);
}

static inline struct evd_text element_of(struct evd_text text) {
    uint64_t number;
    bool is_instance = is_number(text) && evd_text_to_u64(text, &number);
    return is_instance ? instance_id((unsigned)number) : evd_text_copy(&arena, text);
}

struct place {
    struct evd_text question;
    struct evd_path_step *path;
    size_t path_count;
};

static inline struct place place_of(const char *text) {
    struct place place = {.path = EVD_NEW_ARRAY(&arena, struct evd_path_step, EVD_LIMIT_QUESTION_DEPTH + 1)};
    while (text != NULL) {
        size_t size = strcspn(text, "/"), name = strcspn(text, "=/");
        place.question = evd_text_copy(&arena, (struct evd_text){text, name});
        if (name < size)
            place.path[place.path_count++] = (struct evd_path_step){
                .question = place.question, .element = element_of((struct evd_text){text + name + 1, size - name - 1})};
        text = text[size] == '/' ? text + size + 1 : NULL;
    }
    return place;
}

/* The other way round. */
static inline const char *place_text(struct evd_text question, const struct evd_path_step *path, size_t path_count) {
    static const char instance[] = "00000000-0000-4000-8000-";
    struct evd_buffer out;
    evd_buffer_init(&out, &arena, 64);
    for (size_t i = 0; i < path_count; i++) {
        struct evd_text element = path[i].element;
        bool is_instance = evd_text_starts_with(element, evd_text_from(instance));
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT "=", i == 0 ? "" : "/", EVD_TEXT_ARG(path[i].question));
        if (is_instance)
            evd_buffer_print(&out, "%lu", strtoul(element.bytes + sizeof instance - 1, NULL, 10));
        else
            evd_buffer_add_text(&out, element);
    }
    if (!evd_answer_is_element(question, path, path_count))
        evd_buffer_print(&out, "%s" EVD_TEXT_FMT, path_count == 0 ? "" : "/", EVD_TEXT_ARG(question));
    evd_buffer_add_byte(&out, 0);
    return evd_buffer_text(&out).bytes;
}

/* An answer's value; numbers in a list of strings stand for instances' ids. */
static inline const struct evd_answer_value *value_of(const json_t *json) {
    struct evd_answer_change change = {.question = {NULL, 0}};
    struct evd_json_fault fault = {.message = EVD_TEXT("")};
    if (json_is_null(json)) return EVD_NEW(&arena, struct evd_answer_value);
    json_t *object = json_pack("{s:s, s:O, s:n}", "question", "q", "value", json, "baseRevision");
    bool taken = evd_json_read(&evd_type_answer_change, object, &arena, &change, &fault);
    ck_assert_msg(taken, EVD_TEXT_FMT " " EVD_TEXT_FMT, EVD_TEXT_ARG(fault.pointer), EVD_TEXT_ARG(fault.message));
    json_decref(object);
    for (size_t i = 0; i < change.value.texts.count; i++)
        change.value.texts.items[i] = element_of(change.value.texts.items[i]);
    return evd_arena_copy(&arena, &change.value, sizeof change.value);
}

/* A session's answers from `{"place": value, …}`. */
static inline struct evd_answer *answers_of(const char *text, size_t *ret_count) {
    json_t *object = quoted(text), *json;
    const char *key;
    struct evd_answer *answers = EVD_NEW_ARRAY(&arena, struct evd_answer, json_object_size(object));
    size_t count = 0;
    json_object_foreach(object, key, json) {
        struct place place = place_of(key);
        answers[count++] = (struct evd_answer){
            .question = place.question, .path = place.path, .path_count = place.path_count, .value = value_of(json)};
    }
    json_decref(object);
    *ret_count = count;
    return answers;
}

/* `place code` of every error, joined by `; `. */
static inline const char *places_in(const struct evd_errors *errors) {
    struct evd_buffer buffer;
    evd_buffer_init(&buffer, &arena, 256);
    for (size_t i = 0; i < errors->count; i++) {
        json_t *members = members_of(&errors->items[i]), *path = json_object_get(members, "path");
        struct evd_path_step steps[EVD_LIMIT_QUESTION_DEPTH];
        for (size_t k = 0; k < json_array_size(path); k++) {
            const json_t *step = json_array_get(path, k);
            steps[k] =
                (struct evd_path_step){.question = evd_text_from(json_string_value(json_object_get(step, "question"))),
                                       .element = evd_text_from(json_string_value(json_object_get(step, "element")))};
        }
        struct evd_text question = evd_text_from(json_string_value(json_object_get(members, "question")));
        evd_buffer_print(&buffer, "%s%s %s", i == 0 ? "" : "; ", place_text(question, steps, json_array_size(path)),
                         errors->items[i].code);
        json_decref(members);
    }
    evd_buffer_add_byte(&buffer, '\0');
    return evd_buffer_text(&buffer).bytes;
}

#define PLAIN_FORM                                                                                                     \
    "[{'id':'t','kind':'text','maxLength':3},{'id':'free','kind':'text'},"                                             \
    "{'id':'i','kind':'integer','min':'1','max':'10'},"                                                                \
    "{'id':'d','kind':'decimal','min':'0.10','max':'9999999999999999999999999999999999'},"                             \
    "{'id':'b','kind':'boolean'},"                                                                                     \
    "{'id':'c','kind':'choice','options':[{'id':'x'},{'id':'y'}]},"                                                    \
    "{'id':'m','kind':'multichoice','options':[{'id':'x'},{'id':'y'},{'id':'z'}]},"                                    \
    "{'id':'day','kind':'date','min':'2020-02-29','max':'2020-12-31'},"                                                \
    "{'id':'u','kind':'unit'},{'id':'r','kind':'reference','target':'u'},{'id':'s','kind':'series'},"                  \
    "{'id':'split','kind':'multichoice','split':true,'options':[{'id':'x'}]},"                                         \
    "{'id':'below','kind':'text','unit':'u'},"                                                                         \
    "{'id':'only.b','kind':'text','parent':{'questionId':'b','anyOf':['true']}}]"

static inline const struct evd_definition *definition_of(const char *form) {
    return evd_definition_compile(form_of(form), &arena);
}

/* count plain text questions q0, q1, … */
static inline struct evd_form_version *form_of_texts(size_t count) {
    struct evd_form_version *form = EVD_NEW(&arena, struct evd_form_version);
    form->questions.count = count;
    form->questions.items = EVD_NEW_ARRAY(&arena, struct evd_question, count);
    for (size_t i = 0; i < count; i++)
        form->questions.items[i] = (struct evd_question){
            .id = number_text("q", i), .label = EVD_TEXT("Label"), .kind = evd_name_of(EVD_QUESTION_TEXT)};
    return form;
}

static inline void hang_under(struct evd_question *question, struct evd_text parent) {
    question->parent = EVD_NEW(&arena, struct evd_question_parent);
    question->parent->question = parent;
}

/* The nearest unit question before this one; its own place when there is none. */
static inline size_t unit_before(const struct evd_form_version *form, size_t at) {
    for (size_t i = at; i-- > 0;)
        if (form->questions.items[i].kind.value == EVD_QUESTION_UNIT) return i;
    return at;
}

/* Splits, units and targets as they may be. */
static inline void repeat_under(struct evd_form_version *form, size_t at, const struct evd_random *random) {
    struct evd_question *question = &form->questions.items[at];
    size_t unit = unit_before(form, at);
    if (unit != at && evd_random_below(random, 3) == 0) question->unit = form->questions.items[unit].id;
    if (question->kind.value == EVD_QUESTION_MULTICHOICE) question->split = evd_random_below(random, 2) == 0;
    if (question->kind.value != EVD_QUESTION_REFERENCE) return;
    if (unit == at)
        question->kind = evd_name_of(EVD_QUESTION_TEXT);
    else
        question->target = form->questions.items[unit].id;
}

/* A definition as bad as the codec lets through, mostly sound in parts: kinds, options, parents, units and targets at
 * random, also ones that do not exist. unruly: in how many of a hundred places a rule may be broken. */
static inline struct evd_form_version *random_form(const struct evd_random *random, size_t most, unsigned unruly) {
    struct evd_form_version *form = form_of_texts(evd_random_below(random, most + 1));
    size_t count = form->questions.count;
    for (size_t i = 0; i < count; i++) {
        struct evd_question *question = &form->questions.items[i];
        bool wild = evd_random_below(random, 100) < unruly;
        question->kind = evd_name_of(1 + (int)evd_random_below(random, 10));
        question->required = evd_random_below(random, 2) == 0;
        bool chooses = question->kind.value == EVD_QUESTION_CHOICE || question->kind.value == EVD_QUESTION_MULTICHOICE;
        if (chooses || (wild && evd_random_below(random, 4) == 0)) {
            question->options.count = 1 + evd_random_below(random, 4);
            question->options.items = EVD_NEW_ARRAY(&arena, struct evd_question_option, question->options.count);
            for (size_t k = 0; k < question->options.count; k++)
                question->options.items[k] =
                    (struct evd_question_option){number_text("o", k), EVD_TEXT("Label"), {NULL}};
        }
        repeat_under(form, i, random);
        if (wild && evd_random_below(random, 8) == 0) question->id = number_text("q", evd_random_below(random, count));
        if (wild && evd_random_below(random, 8) == 0) question->kind = evd_name_of(0);
        if (wild && evd_random_below(random, 8) == 0) question->split = true;
        if (wild && evd_random_below(random, 8) == 0) question->min = EVD_TEXT("7");
        if (wild && evd_random_below(random, 8) == 0)
            question->unit = number_text("q", evd_random_below(random, count + 1));
        if (wild && evd_random_below(random, 8) == 0)
            question->target = number_text("q", evd_random_below(random, count));
        if (i == 0 || evd_random_below(random, 3) == 0) continue;
        size_t above = wild ? evd_random_below(random, count + 1) : evd_random_below(random, i);
        hang_under(question, number_text("q", above));
        if (above >= count || evd_random_below(random, 2) == 0) continue;
        const struct evd_question *parent = &form->questions.items[above];
        bool is_boolean = parent->kind.value == EVD_QUESTION_BOOLEAN;
        if (!is_boolean && parent->options.count == 0 && !wild) continue;
        question->parent->any_of.count = 1;
        question->parent->any_of.items = EVD_NEW(&arena, struct evd_text);
        question->parent->any_of.items[0] =
            is_boolean
                ? (evd_random_below(random, 2) == 0 ? EVD_TEXT("true") : EVD_TEXT("false"))
                : number_text("o", parent->options.count == 0 ? 9 : evd_random_below(random, parent->options.count));
    }
    return form;
}

#endif
