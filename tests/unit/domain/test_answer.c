#include "evidenced/domain/answer.h"

#include "forms.h"

/* Contexts and digests. */

static const char *hex_of(const void *bytes, size_t size_bytes) {
    struct evd_buffer hex;
    evd_buffer_init(&hex, &arena, 80);
    for (size_t i = 0; i < size_bytes; i++)
        evd_buffer_print(&hex, "%02x", ((const uint8_t *)bytes)[i]);
    evd_buffer_add_byte(&hex, '\0');
    return evd_buffer_text(&hex).bytes;
}

static struct evd_path_step step(const char *question, const char *element) {
    return (struct evd_path_step){.question = evd_text_from(question), .element = evd_text_from(element)};
}

START_TEST(a_context_is_the_same_for_ever) {
    struct evd_path_step path[] = {step("treatment", "4a1f"), step("outcomes", "weight")};
    char text[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(evd_answer_context(EVD_TEXT("dose"), NULL, 0), text);
    ck_assert_str_eq(text, "eb68d0af-5e5f-84ca-ae90-11f52d9d7475");
    evd_uuid_format(evd_answer_context(EVD_TEXT("dose"), path, 1), text);
    ck_assert_str_eq(text, "e8d84310-5921-8137-988b-df8c1e427344");
    evd_uuid_format(evd_answer_context(EVD_TEXT("dose"), path, 2), text);
    ck_assert_str_eq(text, "fd7e029a-a18a-849f-b962-59aff7764773");
}
END_TEST

START_TEST(contexts_differ_when_a_border_or_a_step_moves) {
    static const struct {
        const char *question;
        struct evd_path_step path[2];
        size_t count;
    } places[] = {
#define STEP(q, e) {EVD_TEXT_INIT(q), EVD_TEXT_INIT(e), {NULL}}
        {"abc", {STEP("", "")}, 0},
        {"abc", {STEP("", "")}, 1},
        {"ab", {STEP("c", "")}, 1},
        {"a", {STEP("bc", "")}, 1},
        {"a", {STEP("b", "c")}, 1},
        {"a", {STEP("", "bc")}, 1},
        {"ab", {STEP("", "c")}, 1},
        {"", {STEP("abc", "")}, 1},
        {"", {STEP("", "abc")}, 1},
        {"a", {STEP("b", "c"), STEP("", "")}, 2},
        {"a", {STEP("b", ""), STEP("c", "")}, 2},
        {"a", {STEP("", ""), STEP("b", "c")}, 2},
        {"a", {STEP("b", "c"), STEP("d", "e")}, 2},
        {"a", {STEP("d", "e"), STEP("b", "c")}, 2},
        {"a", {STEP("c", "b"), STEP("d", "e")}, 2},
#undef STEP
    };
    enum { COUNT = sizeof places / sizeof *places };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++) {
            evd_uuid a = evd_answer_context(evd_text_from(places[i].question), places[i].path, places[i].count);
            evd_uuid b = evd_answer_context(evd_text_from(places[k].question), places[k].path, places[k].count);
            ck_assert_msg(evd_uuid_equal(a, b) == (i == k), "%zu %zu", i, k);
        }
}
END_TEST

START_TEST(one_string_cut_into_places_in_every_way_gives_as_many_contexts) {
    enum { LENGTH = 8, CUTS = LENGTH * LENGTH };
    static const char bytes[] = "aaaaaaaa";
    evd_uuid seen[CUTS];
    size_t count = 0;
    for (size_t i = 0; i <= LENGTH; i++)
        for (size_t k = i; k <= LENGTH; k++) {
            struct evd_path_step path = {.question = {bytes + i, k - i}, .element = {bytes + k, LENGTH - k}};
            seen[count] = evd_answer_context((struct evd_text){bytes, i}, &path, 1);
            for (size_t before = 0; before < count; before++)
                ck_assert(!evd_uuid_equal(seen[before], seen[count]));
            count++;
        }
    ck_assert_uint_eq(count, (LENGTH + 1) * (LENGTH + 2) / 2);
}
END_TEST

static bool same_digest(struct evd_answer_value a, const char *notes_a, struct evd_answer_value b,
                        const char *notes_b) {
    struct evd_sha256 left = evd_answer_digest(&a, evd_text_from(notes_a));
    struct evd_sha256 right = evd_answer_digest(&b, evd_text_from(notes_b));
    return evd_sha256_equal(&left, &right);
}

START_TEST(a_digest_is_the_same_for_ever) {
    begin();
    struct {
        struct evd_answer_value value;
        const char *notes, *digest;
    } pinned[] = {
        {text_value("1.50"), "", "d4ff2bffc49182b0171135902b6ca00fd1708c2f052d318bfc4287e898d0271f"},
        {integer_value(-7), "p. 3", "7828b6529687110151209969689ed762ff70f4cba76133ce7106a6baa10e277b"},
        {boolean_value(true), "", "4bec7e1a101898e93e46bb29cd0515162d4414b8ee97a4a6b9032d9f3ff24f57"},
        {texts_value("b,a"), "", "d840f5752f9bf043e8d5d9d7ae638802ff1a7ae4b8baf91738b200b1793bc963"},
        {{.kind = EVD_ANSWER_NONE}, NULL, "1a2b9e006a0ad9d1a3f40ea5cb34aec0329beb32eb71b614160a4048c0c09e3e"},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++) {
        struct evd_sha256 digest = evd_answer_digest(&pinned[i].value, evd_text_from(pinned[i].notes));
        ck_assert_str_eq(hex_of(digest.bytes, sizeof digest.bytes), pinned[i].digest);
    }
    end();
}
END_TEST

START_TEST(answers_that_differ_have_different_digests) {
    begin();
    struct {
        struct evd_answer_value value;
        const char *notes;
    } different[] = {
        {{.kind = EVD_ANSWER_NONE}, ""}, {text_value(""), ""},       {text_value("1.50"), ""},
        {text_value("1.5"), ""},         {text_value("1"), ""},      {text_value("1"), "1"},
        {text_value(""), "1"},           {text_value("11"), ""},     {integer_value(1), ""},
        {integer_value(-1), ""},         {integer_value(256), ""},   {boolean_value(true), ""},
        {boolean_value(false), ""},      {text_value("true"), ""},   {texts_value(""), ""},
        {texts_value("1"), ""},          {texts_value("ab,c"), ""},  {texts_value("a,bc"), ""},
        {texts_value("abc"), ""},        {texts_value("a,b,c"), ""}, {texts_value("a,b"), "c"},
    };
    enum { COUNT = sizeof different / sizeof *different };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < COUNT; k++)
            ck_assert_msg(same_digest(different[i].value, different[i].notes, different[k].value, different[k].notes) ==
                              (i == k),
                          "%zu %zu", i, k);
    end();
}
END_TEST

START_TEST(the_order_of_chosen_options_does_not_count) {
    begin();
    struct evd_test_random random;
    evd_test_random_init(&random, 11);
    struct evd_answer_value sorted = texts_value(""), mixed = texts_value("");
    for (size_t count = 0; count <= EVD_ANSWER_TEXTS_MOST; count += count < 20 ? 1 : 160) {
        sorted.texts.count = mixed.texts.count = count;
        for (size_t i = 0; i < count; i++)
            sorted.texts.items[i] = mixed.texts.items[i] = number_text("option-", i);
        for (size_t i = count; i > 1; i--) {
            size_t k = evd_random_below(&random.random, i);
            struct evd_text other = mixed.texts.items[k];
            mixed.texts.items[k] = mixed.texts.items[i - 1];
            mixed.texts.items[i - 1] = other;
        }
        struct evd_text first = count == 0 ? EVD_TEXT("") : mixed.texts.items[0];
        ck_assert(same_digest(sorted, "n", mixed, "n"));
        if (count == 0) continue;
        ck_assert(evd_text_equal(mixed.texts.items[0], first)); /* the answer itself keeps its order */
        mixed.texts.items[count / 2] = EVD_TEXT("another");
        ck_assert(!same_digest(sorted, "n", mixed, "n"));
    }
    end();
}
END_TEST

START_TEST(absent_notes_are_empty_notes) {
    struct evd_answer_value value = text_value("x");
    struct evd_sha256 absent = evd_answer_digest(&value, (struct evd_text){NULL, 0});
    struct evd_sha256 empty = evd_answer_digest(&value, EVD_TEXT(""));
    ck_assert(evd_sha256_equal(&absent, &empty));
}
END_TEST

/* What may be saved. */

/* Pins of two instances of `u`, 1 and 2. */
static struct evd_pins instances_of_u(void) {
    struct evd_pin *pins = EVD_NEW_ARRAY(&arena, struct evd_pin, 2);
    for (unsigned i = 0; i < 2; i++) {
        struct evd_path_step path = step("u", instance_id(i + 1).bytes);
        pins[i] = (struct evd_pin){evd_answer_context(EVD_TEXT("u"), &path, 1), {{1}}};
    }
    return evd_pins_overlay((struct evd_pins){NULL, 0}, pins, 2, &arena);
}

static struct evd_errors check_one(const struct evd_definition *definition, const char *question,
                                   const struct evd_answer_value *value) {
    struct evd_errors errors;
    struct place place = place_of(question);
    struct evd_answer answer = {.question = place.question,
                                .path = place.path,
                                .path_count = place.path_count,
                                .value = value,
                                .pointer = EVD_TEXT("/answers/3")};
    evd_errors_init(&errors, &arena);
    evd_answer_check(definition, &answer, instances_of_u(), &errors);
    return errors;
}

START_TEST(an_answer_is_saved_when_it_is_of_its_questions_kind) {
    begin();
    const struct evd_definition *definition = definition_of(PLAIN_FORM);
    struct {
        const char *question;
        struct evd_answer_value value;
        const char *errors;
    } answers[] = {
        {"t", text_value("abc"), ""},
        {"t", text_value("äöü"), ""},
        {"t", text_value("😀😀😀"), ""},
        {"t", text_value(" "), ""},
        {"t", text_value("abcd"), "/answers/3/value tooLong"},
        {"t", text_value("äöüß"), "/answers/3/value tooLong"},
        {"t", text_value(""), "/answers/3/value emptyAnswer"},
        {"t", integer_value(1), "/answers/3/value wrongType"},
        {"t", boolean_value(true), "/answers/3/value wrongType"},
        {"t", texts_value("a"), "/answers/3/value wrongType"},
        {"t", {.kind = EVD_ANSWER_NONE}, "/answers/3/value emptyAnswer"},
        {"i", integer_value(5), ""},
        {"i", integer_value(-1000), ""}, /* a range is Complete's business */
        {"i", integer_value(9007199254740991), ""},
        {"i", integer_value(9007199254740992), "/answers/3/value integerTooLarge"},
        {"i", integer_value(INT64_MIN), "/answers/3/value integerTooLarge"},
        {"i", text_value("5"), "/answers/3/value wrongType"},
        {"d", text_value("1.50"), ""},
        {"d", text_value("-1"), ""},
        {"d", text_value("1e5"), "/answers/3/value notADecimal"},
        {"d", text_value("12345678901234567890123456789012345"), "/answers/3/value notADecimal"},
        {"d", integer_value(1), "/answers/3/value wrongType"},
        {"b", boolean_value(false), ""},
        {"b", text_value("true"), "/answers/3/value wrongType"},
        {"b", integer_value(1), "/answers/3/value wrongType"},
        {"c", text_value("x"), ""},
        {"c", text_value("z"), "/answers/3/value unknownOption"},
        {"c", text_value(""), "/answers/3/value emptyAnswer"},
        {"c", texts_value("x"), "/answers/3/value wrongType"},
        {"m", texts_value("x"), ""},
        {"m", texts_value("z,x,y"), ""},
        {"m", texts_value("z,q,z,x,z"),
         "/answers/3/value/1 unknownOption; /answers/3/value/2 repeatedOption; /answers/3/value/4 repeatedOption"},
        {"m", texts_value(""), "/answers/3/value emptyAnswer"},
        {"m", text_value("x"), "/answers/3/value wrongType"},
        {"day", text_value("2019-02-28"), ""},
        {"day", text_value("2019-02-29"), "/answers/3/value notADate"},
        {"day", text_value("28.02.2019"), "/answers/3/value notADate"},
        {"day", text_value("2019-2-8"), "/answers/3/value notADate"},
        {"u=3", text_value("Aspirin 100 mg"), ""},
        {"u=3", text_value(""), "/answers/3/value emptyAnswer"},
        {"u=3", boolean_value(true), "/answers/3/value wrongType"},
        {"split=x", boolean_value(true), ""},
        {"split=x", boolean_value(false), "/answers/3/value emptyAnswer"},
        {"split=x", text_value("x"), "/answers/3/value wrongType"},
        {"split=x", texts_value("x"), "/answers/3/value wrongType"},
        {"r", text_value("x"), "/answers/3/value wrongType"},
        {"r", texts_value(""), "/answers/3/value emptyAnswer"},
        {"s", text_value("1"), "/answers/3/value wrongType"},
        {"s", texts_value(""), "/answers/3/value emptyAnswer"}, /* an empty list is one of texts */
        {"s", texts_value("1"), "/answers/3/value wrongType"},
        {"u=1/below", text_value("x"), ""},
        {"u=1/below", integer_value(1), "/answers/3/value wrongType"},
        {"only.b", text_value("saved although nothing asks for it"), ""},
        {"gone", text_value("x"), "/answers/3/question unknownQuestion"},
        {"", text_value("x"), "/answers/3/question unknownQuestion"},
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct evd_errors errors = check_one(definition, answers[i].question, &answers[i].value);
        ck_assert_msg(strcmp(summary_of(&errors), answers[i].errors) == 0, "%zu, %s: %s", i, answers[i].question,
                      summary_of(&errors));
    }
    end();
}
END_TEST

START_TEST(a_text_without_a_greatest_length_has_the_general_one) {
    begin();
    const struct evd_definition *definition = definition_of(PLAIN_FORM);
    char *bytes = evd_arena_alloc(&arena, EVD_LIMIT_TEXT_BYTES + 1);
    memset(bytes, 'x', EVD_LIMIT_TEXT_BYTES + 1);
    struct evd_answer_value value = {.kind = EVD_ANSWER_TEXT, .text = {bytes, EVD_LIMIT_TEXT_BYTES}};
    ck_assert_uint_eq(check_one(definition, "free", &value).total, 0);
    value.text.size_bytes++;
    struct evd_errors errors = check_one(definition, "free", &value);
    ck_assert_str_eq(summary_of(&errors), "/answers/3/value tooLong");
    json_t *members = members_of(&errors.items[0]);
    json_t *expected = quoted("{'question':'free','path':[],'rule':'maxLength','expected':'20000','found':'20001'}");
    ck_assert(json_equal(members, expected));
    json_decref(members);
    json_decref(expected);
    end();
}
END_TEST

START_TEST(an_error_of_an_answer_tells_what_was_expected_and_found) {
    static const struct {
        const char *question, *text, *members;
    } wrong[] = {
        {"i", "5", "{'question':'i','path':[],'rule':'kind','expected':'integer','found':'text'}"},
        {"c", "\"z\\", "{'question':'c','path':[],'rule':'options','expected':null,'found':'\\'z\\\\'}"},
        {"day", "today", "{'question':'day','path':[],'rule':'kind','expected':'date','found':'today'}"},
        {"t", "", "{'question':'t','path':[],'rule':'kind','expected':'text','found':null}"},
    };
    begin();
    const struct evd_definition *definition = definition_of(PLAIN_FORM);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct evd_answer_value value = text_value(wrong[i].text);
        struct evd_errors errors = check_one(definition, wrong[i].question, &value);
        json_t *members = members_of(&errors.items[0]), *expected = quoted(wrong[i].members);
        ck_assert_msg(json_equal(members, expected), EVD_TEXT_FMT, EVD_TEXT_ARG(errors.items[0].members));
        json_decref(members);
        json_decref(expected);
    }
    end();
}
END_TEST

EVD_TEST_MAIN("domain: answers", a_context_is_the_same_for_ever, contexts_differ_when_a_border_or_a_step_moves,
              one_string_cut_into_places_in_every_way_gives_as_many_contexts, a_digest_is_the_same_for_ever,
              answers_that_differ_have_different_digests, the_order_of_chosen_options_does_not_count,
              absent_notes_are_empty_notes, an_answer_is_saved_when_it_is_of_its_questions_kind,
              a_text_without_a_greatest_length_has_the_general_one,
              an_error_of_an_answer_tells_what_was_expected_and_found)
