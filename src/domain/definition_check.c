/*
 * The rules of a definition, question by question, in the form's order.
 */
#include "domain/answer_bound.h"
#include "domain/definition_private.h"
#include "domain/finding.h"

struct check {
    const struct evd_question *questions;
    struct evd_question_index index;
    struct evd_question_tree tree;
    struct evd_question_frames frames;
    struct evd_errors *errors;
};

/* Note it at `/questions/<at><member>`. */
static void note(const struct check *check, uint32_t at, struct evd_text member, struct evd_finding finding) {
    finding.question = check->questions[at].id;
    struct evd_text pointer =
        evd_text_print(check->errors->arena, "/questions/%u" EVD_TEXT_FMT, (unsigned)at, EVD_TEXT_ARG(member));
    evd_finding_note(&finding, pointer, check->errors);
}

static enum evd_question_kind kind_of(const struct evd_question *question) {
    return (enum evd_question_kind)question->kind.value;
}

static struct evd_text kind_text(const struct evd_question *question) {
    return evd_name_text(&evd_names_question_kind, question->kind);
}

static bool has_options(enum evd_question_kind kind) {
    return kind == EVD_QUESTION_CHOICE || kind == EVD_QUESTION_MULTICHOICE;
}

static bool is_id_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
}

static bool is_id(struct evd_text id) {
    if (id.size_bytes == 0 || id.size_bytes > EVD_LIMIT_ID_BYTES) return false;
    for (size_t i = 0; i < id.size_bytes; i++)
        if (!is_id_byte(id.bytes[i])) return false;
    return true;
}

static bool is_blank(struct evd_text text) {
    return evd_text_trim(text).size_bytes == 0;
}

static void check_names(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    if (!is_id(question->id)) {
        note(check, at, EVD_TEXT("/id"),
             (struct evd_finding){.code = EVD_ERROR_MALFORMED_ID, .rule = "id", .found = question->id});
    } else if (evd_question_index_find(&check->index, question->id) != at) {
        note(check, at, EVD_TEXT("/id"),
             (struct evd_finding){.code = EVD_ERROR_DUPLICATE_ID, .rule = "id", .found = question->id});
    }
    if (is_blank(question->label))
        note(check, at, EVD_TEXT("/label"),
             (struct evd_finding){.code = EVD_ERROR_BLANK_LABEL, .rule = "label", .found = question->label});
    if (question->kind.value == EVD_NONE_OF_question_kind)
        note(check, at, EVD_TEXT("/kind"),
             (struct evd_finding){.code = EVD_ERROR_UNKNOWN_KIND, .rule = "kind", .found = question->kind.text});
}

static struct evd_text option_member(const struct check *check, size_t option, const char *member) {
    return evd_text_print(check->errors->arena, "/options/%zu/%s", option, member);
}

static void check_option(const struct check *check, uint32_t at, uint32_t option) {
    const struct evd_question_option *given = &check->questions[at].options.items[option];
    if (!is_id(given->id)) {
        note(check, at, option_member(check, option, "id"),
             (struct evd_finding){.code = EVD_ERROR_MALFORMED_ID, .rule = "options", .found = given->id});
    } else if (evd_question_index_find_option(&check->index, at, given->id) != check->index.first_option[at] + option) {
        note(check, at, option_member(check, option, "id"),
             (struct evd_finding){.code = EVD_ERROR_DUPLICATE_ID, .rule = "options", .found = given->id});
    }
    if (is_blank(given->label))
        note(check, at, option_member(check, option, "label"),
             (struct evd_finding){.code = EVD_ERROR_BLANK_LABEL, .rule = "options", .found = given->label});
}

static void check_options(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    enum evd_question_kind kind = kind_of(question);
    if (has_options(kind) && question->options.count == 0)
        note(check, at, EVD_TEXT("/options"),
             (struct evd_finding){.code = EVD_ERROR_OPTIONS_MISSING, .rule = "options", .found = kind_text(question)});
    if (!has_options(kind) && question->options.count > 0)
        note(check, at, EVD_TEXT("/options"),
             (struct evd_finding){
                 .code = EVD_ERROR_OPTIONS_NOT_ALLOWED, .rule = "options", .found = kind_text(question)});
    if (question->split && kind != EVD_QUESTION_MULTICHOICE)
        note(check, at, EVD_TEXT("/split"),
             (struct evd_finding){.code = EVD_ERROR_SPLIT_NOT_ALLOWED,
                                  .rule = "split",
                                  .expected = EVD_TEXT("multichoice"),
                                  .found = kind_text(question)});
    for (uint32_t i = 0; i < question->options.count; i++)
        check_option(check, at, i);
}

/* One of min and max; absent is fine. Is it there and right? */
static bool check_bound(const struct check *check, uint32_t at, const char *rule, struct evd_text bound) {
    const struct evd_question *question = &check->questions[at];
    if (bound.bytes == NULL) return false;
    if (evd_bound_is_allowed(kind_of(question)) && evd_bound_is_valid(kind_of(question), bound)) return true;
    bool allowed = evd_bound_is_allowed(kind_of(question));
    note(check, at, evd_text_print(check->errors->arena, "/%s", rule),
         (struct evd_finding){.code = allowed ? EVD_ERROR_MALFORMED_BOUND : EVD_ERROR_BOUND_NOT_ALLOWED,
                              .rule = rule,
                              .expected = allowed ? kind_text(question) : (struct evd_text){NULL, 0},
                              .found = bound});
    return false;
}

static void check_range(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    bool has_min = check_bound(check, at, "min", question->min);
    bool has_max = check_bound(check, at, "max", question->max);
    if (has_min && has_max && evd_bound_compare(kind_of(question), question->min, question->max) > 0)
        note(check, at, EVD_TEXT("/min"),
             (struct evd_finding){
                 .code = EVD_ERROR_BOUNDS_REVERSED, .rule = "min", .expected = question->max, .found = question->min});
    if (question->max_length != 0 && kind_of(question) != EVD_QUESTION_TEXT)
        note(check, at, EVD_TEXT("/maxLength"),
             (struct evd_finding){.code = EVD_ERROR_MAX_LENGTH_NOT_ALLOWED,
                                  .rule = "maxLength",
                                  .expected = EVD_TEXT("text"),
                                  .found = kind_text(question)});
}

static bool is_an_answer_of(const struct check *check, uint32_t parent, struct evd_text answer) {
    if (kind_of(&check->questions[parent]) == EVD_QUESTION_BOOLEAN)
        return evd_text_equal(answer, EVD_TEXT("true")) || evd_text_equal(answer, EVD_TEXT("false"));
    return evd_question_index_find_option(&check->index, parent, answer) != EVD_NOT_THERE;
}

static void check_any_of(const struct check *check, uint32_t at, uint32_t parent) {
    const struct evd_texts *any_of = &check->questions[at].parent->any_of;
    enum evd_question_kind kind = kind_of(&check->questions[parent]);
    if (any_of->count == 0 || kind == EVD_NONE_OF_question_kind) return;
    if (!has_options(kind) && kind != EVD_QUESTION_BOOLEAN) {
        note(check, at, EVD_TEXT("/parent/anyOf"),
             (struct evd_finding){.code = EVD_ERROR_ANY_OF_NOT_ALLOWED,
                                  .rule = "parent",
                                  .found = kind_text(&check->questions[parent])});
        return;
    }
    for (size_t i = 0; i < any_of->count; i++)
        if (!is_an_answer_of(check, parent, any_of->items[i]))
            note(check, at, evd_text_print(check->errors->arena, "/parent/anyOf/%zu", i),
                 (struct evd_finding){.code = EVD_ERROR_UNKNOWN_ANY_OF, .rule = "parent", .found = any_of->items[i]});
}

static void check_parent(const struct check *check, uint32_t at) {
    const struct evd_question_parent *parent = check->questions[at].parent;
    if (parent == NULL) return;
    uint32_t above = check->tree.parent[at];
    struct evd_finding finding = {.rule = "parent", .found = parent->question};
    if (above == EVD_NOT_THERE) {
        finding.code = EVD_ERROR_UNKNOWN_PARENT;
        note(check, at, EVD_TEXT("/parent/questionId"), finding);
    } else if (kind_of(&check->questions[above]) == EVD_QUESTION_SERIES) {
        finding.code = EVD_ERROR_PARENT_NOT_ALLOWED;
        note(check, at, EVD_TEXT("/parent/questionId"), finding);
    } else {
        check_any_of(check, at, above);
    }
}

/* `unit` or `target`: what it names must be a unit question. */
static void check_is_unit(const struct check *check, uint32_t at, const char *rule, struct evd_text id,
                          enum evd_error_code unknown) {
    uint32_t named = evd_question_index_find(&check->index, id);
    if (named != EVD_NOT_THERE && kind_of(&check->questions[named]) == EVD_QUESTION_UNIT) return;
    note(check, at, evd_text_print(check->errors->arena, "/%s", rule),
         (struct evd_finding){
             .code = named == EVD_NOT_THERE ? unknown : EVD_ERROR_NOT_A_UNIT, .rule = rule, .found = id});
}

static void check_unit_and_target(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    bool points = question->target.bytes != NULL, must_point = kind_of(question) == EVD_QUESTION_REFERENCE;
    if (question->unit.bytes != NULL) check_is_unit(check, at, "unit", question->unit, EVD_ERROR_UNKNOWN_UNIT);
    if (points && must_point) check_is_unit(check, at, "target", question->target, EVD_ERROR_UNKNOWN_TARGET);
    if (!points && must_point)
        note(check, at, EVD_TEXT("/target"), (struct evd_finding){.code = EVD_ERROR_TARGET_MISSING, .rule = "target"});
    if (points && !must_point)
        note(check, at, EVD_TEXT("/target"),
             (struct evd_finding){.code = EVD_ERROR_TARGET_NOT_ALLOWED, .rule = "target", .found = question->target});
}

static void check_frame(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    if (check->frames.reach[at] != EVD_OUT_OF_REACH) return;
    note(check, at, EVD_TEXT("/parent/questionId"),
         (struct evd_finding){.code = EVD_ERROR_PARENT_OUT_OF_REACH,
                              .rule = "parent",
                              .expected = question->unit,
                              .found = question->parent->question});
}

static void check_way_up(const struct check *check, uint32_t at) {
    const struct evd_question *question = &check->questions[at];
    if (check->tree.leads_back[at] & 1U << EVD_EDGE_PARENT)
        note(check, at, EVD_TEXT("/parent/questionId"),
             (struct evd_finding){.code = EVD_ERROR_CYCLE, .rule = "parent", .found = question->parent->question});
    if (check->tree.leads_back[at] & 1U << EVD_EDGE_UNIT)
        note(check, at, EVD_TEXT("/unit"),
             (struct evd_finding){.code = EVD_ERROR_CYCLE, .rule = "unit", .found = question->unit});
    /* Depth means something only where every way up ends. */
    if (!check->tree.has_cycle && check->tree.depth[at] > EVD_LIMIT_QUESTION_DEPTH)
        note(
            check, at, EVD_TEXT(""),
            (struct evd_finding){.code = EVD_ERROR_TOO_DEEP,
                                 .rule = "depth",
                                 .expected = evd_text_print(check->errors->arena, "%d", EVD_LIMIT_QUESTION_DEPTH),
                                 .found = evd_text_print(check->errors->arena, "%u", (unsigned)check->tree.depth[at])});
}

void evd_definition_check(const struct evd_question *questions, size_t count, struct evd_errors *errors) {
    struct check check = {.questions = questions, .errors = errors};
    evd_question_index_init(&check.index, questions, count, errors->arena);
    evd_question_tree_init(&check.tree, &check.index, errors->arena);
    evd_question_frames_init(&check.frames, &check.index, &check.tree, errors->arena);
    for (uint32_t at = 0; at < check.index.count; at++) {
        check_names(&check, at);
        check_options(&check, at);
        check_range(&check, at);
        check_parent(&check, at);
        check_unit_and_target(&check, at);
        check_frame(&check, at);
        check_way_up(&check, at);
    }
}
