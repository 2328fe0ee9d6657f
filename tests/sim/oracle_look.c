/*
 * What is stored, decoded; and what is said in it, as texts that compare.
 */
#include "oracle.h"

#include "evidenced/records/bson.h"
#include "evidenced/records/keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *sim_list_add(void *items, size_t *count, size_t *capacity, size_t size_bytes) {
    void **list = items;
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 64 : *capacity * 2;
        *list = realloc(*list, *capacity * size_bytes);
        if (*list == NULL) abort();
    }
    return (char *)*list + (*count)++ * size_bytes;
}

static const void *decode(struct sim *sim, const struct evd_key *key, const struct evd_image *image,
                          struct evd_arena *arena) {
    const struct evd_type *type = evd_type_of_collection(key->in);
    void *record = evd_arena_alloc(arena, type->size_bytes);
    if (evd_bson_decode(type, image->bson, image->size_bytes, arena, record) == EVD_DECODED) return record;
    sim_fail(sim, "a %s that was written does not decode", type->name);
    return NULL;
}

const void *sim_decode(struct sim *sim, const struct evd_key *key, const struct evd_image *image) {
    return decode(sim, key, image, &sim->oracle->arena);
}

/* Images in the store. */

static struct sim_kept *slot_of(const struct sim_oracle *oracle, const uint8_t *bson) {
    size_t at = (size_t)(((uintptr_t)bson >> 4) * UINT64_C(0x9E3779B97F4A7C15) % oracle->decoded_size);
    while (oracle->decoded[at].bson != NULL && oracle->decoded[at].bson != bson)
        at = (at + 1) % oracle->decoded_size;
    return &oracle->decoded[at];
}

static void make_room(struct sim_oracle *oracle) {
    enum { FIRST = 4096 };
    struct sim_kept *before = oracle->decoded;
    size_t size = oracle->decoded_size;
    if (2 * oracle->decoded_count < size) return;
    oracle->decoded_size = size == 0 ? FIRST : 2 * size;
    oracle->decoded = calloc(oracle->decoded_size, sizeof *oracle->decoded);
    if (oracle->decoded == NULL) abort();
    for (size_t i = 0; i < size; i++)
        if (before[i].bson != NULL) *slot_of(oracle, before[i].bson) = before[i];
    free(before);
}

static const void *decode_stored(struct sim *sim, const struct evd_key *key, const struct evd_image *image) {
    struct sim_oracle *oracle = sim->oracle;
    make_room(oracle);
    struct sim_kept *slot = slot_of(oracle, image->bson);
    if (slot->bson != NULL) return slot->record;
    oracle->decoded_count++;
    *slot = (struct sim_kept){image->bson, decode(sim, key, image, &oracle->kept)};
    return slot->record;
}

const void *sim_before(struct sim *sim, const struct evd_write *write) {
    return write->before.size_bytes == 0 ? NULL : sim_decode(sim, &write->key, &write->before);
}

const void *sim_after(struct sim *sim, const struct evd_write *write) {
    return write->kind == EVD_DELETE ? NULL : sim_decode(sim, &write->key, &write->after);
}

const struct evd_write *sim_written(const struct simulated_commit *commit, evd_collection in) {
    for (size_t i = 0; i < commit->count; i++)
        if (commit->writes[i].key.in == in) return &commit->writes[i];
    return NULL;
}

/* Looking. */

static void note(void *self, const struct evd_key *key, const struct evd_image *image) {
    struct sim *sim = self;
    struct sim_oracle *oracle = sim->oracle;
    const void *record = decode_stored(sim, key, image);
    if (record == NULL) return;
    struct sim_record *noted = sim_list_add(&oracle->records, &oracle->count, &oracle->capacity, sizeof *noted);
    *noted = (struct sim_record){*key, evd_type_of_collection(key->in), record};
}

static int by_key(const void *a, const void *b) {
    const struct sim_record *left = *(struct sim_record *const *)a, *right = *(struct sim_record *const *)b;
    if (left->key.in != right->key.in) return left->key.in < right->key.in ? -1 : 1;
    return evd_uuid_compare(left->key.id, right->key.id);
}

void sim_look(struct sim *sim) {
    struct sim_oracle *oracle = sim->oracle;
    oracle->count = 0;
    simulated_store_visit(sim->store, SIM_NOW, 0, note, sim);
    oracle->by_key = realloc(oracle->by_key, (oracle->count + 1) * sizeof(struct sim_record *));
    if (oracle->by_key == NULL) abort();
    for (size_t i = 0; i < oracle->count; i++)
        oracle->by_key[i] = &oracle->records[i];
    qsort(oracle->by_key, oracle->count, sizeof(struct sim_record *), by_key);
}

const void *sim_find(const struct sim *sim, evd_collection in, evd_uuid id) {
    const struct sim_oracle *oracle = sim->oracle;
    struct sim_record wanted = {.key = {.in = in, .id = id}}, *key = &wanted;
    struct sim_record **found = bsearch(&key, oracle->by_key, oracle->count, sizeof(struct sim_record *), by_key);
    return found == NULL ? NULL : (*found)->record;
}

const void *sim_at(struct sim *sim, uint64_t instant, evd_collection in, evd_uuid id) {
    struct evd_key key = {.project = evd_collection_project(in, sim->project), .in = in, .id = id};
    struct evd_image image;
    return simulated_store_read(sim->store, instant, &key, &image) ? decode_stored(sim, &key, &image) : NULL;
}

struct collecting {
    struct sim *sim;
    const void **records;
    size_t count, capacity;
};

static void count_one(void *self, const struct evd_key *key, const struct evd_image *image) {
    struct collecting *collecting = self;
    (void)key;
    (void)image;
    collecting->capacity++;
}

static void collect(void *self, const struct evd_key *key, const struct evd_image *image) {
    struct collecting *collecting = self;
    const void *record = decode_stored(collecting->sim, key, image);
    if (record != NULL) collecting->records[collecting->count++] = record;
}

const void **sim_all(struct sim *sim, uint64_t instant, evd_collection in, size_t *ret_count) {
    struct collecting collecting = {.sim = sim};
    simulated_store_visit(sim->store, instant, in, count_one, &collecting);
    collecting.records = EVD_NEW_ARRAY(&sim->oracle->arena, const void *, collecting.capacity + 1);
    simulated_store_visit(sim->store, instant, in, collect, &collecting);
    *ret_count = collecting.count;
    return collecting.records;
}

/* Texts. */

static void add(char text[SIM_SAID_BYTES], struct evd_text more) {
    size_t used = strlen(text);
    (void)snprintf(text + used, SIM_SAID_BYTES - used, EVD_TEXT_FMT, EVD_TEXT_ARG(more));
}

void sim_name_of(struct evd_text question, const struct evd_path_step *path, size_t count, char ret[SIM_SAID_BYTES]) {
    ret[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        add(ret, path[i].question);
        add(ret, EVD_TEXT("="));
        add(ret, path[i].element);
        add(ret, EVD_TEXT("/"));
    }
    add(ret, question);
}

static void add_value(char said[SIM_SAID_BYTES], const struct evd_answer_value *value) {
    if (value == NULL) add(said, EVD_TEXT("-"));
    if (value == NULL) return;
    if (value->kind == EVD_ANSWER_TEXT) add(said, value->text);
    if (value->kind == EVD_ANSWER_BOOLEAN && value->boolean) add(said, EVD_TEXT("true"));
    for (size_t i = 0; value->kind == EVD_ANSWER_TEXTS && i < value->texts.count; i++) {
        add(said, value->texts.items[i]);
        add(said, EVD_TEXT("=;"));
    }
    for (size_t i = 0; value->kind == EVD_ANSWER_POINTS && i < value->points.count; i++) {
        add(said, value->points.items[i].time);
        add(said, EVD_TEXT("="));
        add(said, value->points.items[i].average);
        add(said, EVD_TEXT(";"));
    }
}

void sim_said_of(struct evd_text question, const struct evd_path_step *path, size_t count,
                 const struct evd_answer_value *value, char ret[SIM_SAID_BYTES]) {
    sim_name_of(question, path, count, ret);
    add(ret, EVD_TEXT(":"));
    add_value(ret, value);
}

bool sim_saying_at(const struct evd_draft_content *content, size_t at, struct sim_saying *ret) {
    if (content == NULL) return false;
    if (at < content->answers.count) {
        const struct evd_answer_change *answer = &content->answers.items[at];
        sim_name_of(answer->question, answer->path.items, answer->path.count, ret->name);
        sim_said_of(answer->question, answer->path.items, answer->path.count, &answer->value, ret->said);
        return true;
    }
    at -= content->answers.count;
    if (at >= content->withdrawn.count) return false;
    const struct evd_answer_place *place = &content->withdrawn.items[at];
    sim_name_of(place->question, place->path.items, place->path.count, ret->name);
    sim_said_of(place->question, place->path.items, place->path.count, NULL, ret->said);
    return true;
}

bool sim_content_says(const struct evd_draft_content *content, const char *said) {
    struct sim_saying saying;
    for (size_t i = 0; sim_saying_at(content, i, &saying); i++)
        if (strcmp(saying.said, said) == 0) return true;
    return false;
}

bool sim_content_names(const struct evd_draft_content *content, const char *name) {
    struct sim_saying saying;
    for (size_t i = 0; sim_saying_at(content, i, &saying); i++)
        if (strcmp(saying.name, name) == 0) return true;
    return false;
}

/* Bodies. */

const json_t *sim_entry(const json_t *list, const char *name) {
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) {
        char other[SIM_SAID_BYTES];
        sim_place_name_of(entry, other);
        if (strcmp(name, other) == 0) return entry;
    }
    return NULL;
}

bool sim_body_names(const struct sim_intent *intent, const char *name) {
    const json_t *body = intent->asked_for, *content = json_object_get(body, "content");
    return sim_entry(json_object_get(body, "answers"), name) != NULL ||
           sim_entry(json_object_get(body, "withdrawn"), name) != NULL ||
           sim_entry(json_object_get(body, "reverted"), name) != NULL ||
           sim_entry(json_object_get(content, "answers"), name) != NULL ||
           sim_entry(json_object_get(content, "withdrawn"), name) != NULL;
}

/* An element's own name is its path and its question: what stands under it begins with its path. */
bool sim_body_withdraws_above(const struct sim_intent *intent, const char *name) {
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(intent->asked_for, "withdrawn"), i, entry) {
        char element[SIM_SAID_BYTES];
        sim_place_name_of(entry, element);
        const char *slash = strrchr(element, '/');
        if (slash == NULL || strcmp(element, name) == 0) continue;
        const char *last = slash;
        while (last > element && last[-1] != '/')
            last--;
        bool own = strncmp(last, slash + 1, strlen(slash + 1)) == 0 && last[strlen(slash + 1)] == '=';
        if (own && strncmp(name, element, (size_t)(slash - element) + 1) == 0) return true;
    }
    return false;
}

evd_uuid sim_uuid_in(const json_t *body, const char *member) {
    evd_uuid id = evd_uuid_nil();
    const char *text = json_string_value(json_object_get(body, member));
    if (text != NULL && !evd_uuid_parse(evd_text_from(text), &id)) return evd_uuid_nil();
    return id;
}

long long sim_number_in(const json_t *body, const char *member) {
    return json_integer_value(json_object_get(body, member));
}

unsigned sim_study_number(const struct sim *sim, evd_uuid study) {
    unsigned number = 0;
    while (number < sim->study_count && !evd_uuid_equal(sim->studies[number], study))
        number++;
    return number < sim->study_count ? number : SIM_STUDIES_MOST;
}

unsigned sim_form_number(const struct sim *sim, evd_uuid form) {
    unsigned number = 0;
    while (number < SIM_FORMS && !evd_uuid_equal(sim->forms[number], form))
        number++;
    return number;
}

evd_uuid sim_session_of(const struct sim_intent *intent) {
    return evd_form_session_id(intent->ids.project, intent->ids.study, intent->ids.form, intent->caller);
}
