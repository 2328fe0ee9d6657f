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

typedef int compare_items(const void *a, const void *b);

static void sift_down(const void **items, size_t at, size_t count, compare_items *compare) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(items[child], items[child + 1]) < 0) child++;
        if (compare(items[at], items[child]) >= 0) return;
        const void *larger = items[child];
        items[child] = items[at];
        items[at] = larger;
    }
}

/* A heap sort: in place, n log n whatever the order it is given. */
static void sort(const void **items, size_t count, compare_items *compare) {
    for (size_t at = count / 2; at-- > 0;)
        sift_down(items, at, count, compare);
    for (size_t end = count; end > 1;) {
        const void *largest = items[0];
        items[0] = items[--end];
        items[end] = largest;
        sift_down(items, 0, end, compare);
    }
}

static int by_bytes(const void *a, const void *b) {
    return evd_text_compare(*(const struct evd_text *)a, *(const struct evd_text *)b);
}

/* An absent error comes before one without bytes. */
static int by_point(const void *a, const void *b) {
    const struct evd_answer_point *left = a, *right = b;
    int order = evd_text_compare(left->time, right->time);
    if (order == 0) order = evd_text_compare(left->average, right->average);
    if (order == 0) order = (left->error.bytes != NULL) - (right->error.bytes != NULL);
    return order != 0 ? order : evd_text_compare(left->error, right->error);
}

/* One digest for all points: of each, in their own order, with the digest of those before it. */
static struct evd_sha256 digest_of_points(const struct evd_answer_points *points) {
    const void *sorted[EVD_ANSWER_POINTS_MOST];
    struct evd_sha256 digest = {{0}};
    assert(points->count <= EVD_ANSWER_POINTS_MOST);
    for (size_t i = 0; i < points->count; i++)
        sorted[i] = &points->items[i];
    sort(sorted, points->count, by_point);
    for (size_t i = 0; i < points->count; i++) {
        const struct evd_answer_point *point = sorted[i];
        struct evd_text before = {(const char *)digest.bytes, sizeof digest.bytes};
        struct evd_text parts[] = {before, point->time, point->average, point->error};
        digest = evd_sha256_of_parts(parts, point->error.bytes == NULL ? 3 : 4);
    }
    return digest;
}

static size_t add_texts(const struct evd_texts *texts, struct evd_text *ret_parts) {
    const void *sorted[EVD_ANSWER_TEXTS_MOST];
    assert(texts->count <= EVD_ANSWER_TEXTS_MOST);
    for (size_t i = 0; i < texts->count; i++)
        sorted[i] = &texts->items[i];
    sort(sorted, texts->count, by_bytes);
    for (size_t i = 0; i < texts->count; i++)
        ret_parts[i] = *(const struct evd_text *)sorted[i];
    return texts->count;
}

static const char *kind_name(enum evd_answer_kind kind) {
    switch (kind) {
    case EVD_ANSWER_NONE: return "none";
    case EVD_ANSWER_TEXT: return "text";
    case EVD_ANSWER_INTEGER: return "integer";
    case EVD_ANSWER_BOOLEAN: return "boolean";
    case EVD_ANSWER_TEXTS: return "texts";
    case EVD_ANSWER_POINTS: return "points";
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
    struct evd_sha256 points;
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
    case EVD_ANSWER_TEXTS: count += add_texts(&value->texts, parts + FIRST_VALUE); break;
    case EVD_ANSWER_POINTS:
        points = digest_of_points(&value->points);
        parts[count++] = (struct evd_text){(const char *)points.bytes, sizeof points.bytes};
        break;
    }
    return evd_sha256_of_parts(parts, count);
}
