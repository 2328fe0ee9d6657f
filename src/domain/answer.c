#include "evidenced/domain/answer.h"

#include <assert.h>

evd_uuid evd_answer_context(struct evd_text question, const struct evd_path_step *path, size_t path_count) {
    struct evd_text parts[1 + 2 * EVD_LIMIT_QUESTION_DEPTH];
    size_t count = 0;
    assert(path_count <= EVD_LIMIT_QUESTION_DEPTH);
    parts[count++] = question;
    for (size_t i = 0; i < path_count; i++) {
        parts[count++] = path[i].question;
        parts[count++] = path[i].element;
    }
    struct evd_sha256 place = evd_sha256_of_parts(parts, count);
    struct evd_text part = {(const char *)place.bytes, sizeof place.bytes};
    return evd_uuid_derive("answerContext", &part, 1);
}

static void sift_down(struct evd_text *texts, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && evd_text_compare(texts[child], texts[child + 1]) < 0) child++;
        if (evd_text_compare(texts[at], texts[child]) >= 0) return;
        struct evd_text larger = texts[child];
        texts[child] = texts[at];
        texts[at] = larger;
    }
}

/* A heap sort: in place, n log n whatever the order it is given. */
static void sort(struct evd_text *texts, size_t count) {
    for (size_t at = count / 2; at-- > 0;)
        sift_down(texts, at, count);
    for (size_t end = count; end > 1;) {
        struct evd_text largest = texts[0];
        texts[0] = texts[--end];
        texts[end] = largest;
        sift_down(texts, 0, end);
    }
}

static const char *kind_name(enum evd_answer_kind kind) {
    switch (kind) {
    case EVD_ANSWER_NONE: return "none";
    case EVD_ANSWER_TEXT: return "text";
    case EVD_ANSWER_INTEGER: return "integer";
    case EVD_ANSWER_BOOLEAN: return "boolean";
    case EVD_ANSWER_TEXTS: return "texts";
    }
    return "";
}

static void put_big_endian(uint64_t number, uint8_t ret_bytes[8]) {
    for (unsigned i = 0; i < 8; i++)
        ret_bytes[i] = (uint8_t)(number >> (56 - 8 * i));
}

struct evd_sha256 evd_answer_digest(const struct evd_answer_value *value, struct evd_text notes) {
    enum { FIRST_VALUE = 3 };
    struct evd_text parts[FIRST_VALUE + EVD_ANSWER_TEXTS_MOST];
    size_t count = FIRST_VALUE;
    uint8_t integer[8], boolean = value->boolean ? 1 : 0;
    parts[0] = EVD_TEXT("answer");
    parts[1] = notes;
    parts[2] = evd_text_from(kind_name(value->kind));
    switch (value->kind) {
    case EVD_ANSWER_NONE: break;
    case EVD_ANSWER_TEXT: parts[count++] = value->text; break;
    case EVD_ANSWER_INTEGER:
        put_big_endian((uint64_t)value->integer, integer);
        parts[count++] = (struct evd_text){(const char *)integer, sizeof integer};
        break;
    case EVD_ANSWER_BOOLEAN: parts[count++] = (struct evd_text){(const char *)&boolean, 1}; break;
    case EVD_ANSWER_TEXTS:
        assert(value->texts.count <= EVD_ANSWER_TEXTS_MOST);
        for (size_t i = 0; i < value->texts.count; i++)
            parts[count++] = value->texts.items[i];
        sort(parts + FIRST_VALUE, value->texts.count);
        break;
    }
    return evd_sha256_of_parts(parts, count);
}
