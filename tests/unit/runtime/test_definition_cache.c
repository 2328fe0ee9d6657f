/*
 * The cache of published definitions: bounded, counted, never wrong.
 */
#include "../../support/test.h"

#include "evidenced/records/bson.h"
#include "runtime/definition_cache.h"

#include <pthread.h>

static struct evd_arena arena;
static const evd_uuid project = {{9}}, other_project = {{8}};

static evd_uuid id_of(uint8_t number) {
    return (evd_uuid){{number, 1}};
}

/* A version with one text question of that id. kind_text: instead of a known kind. */
static struct evd_image image_of(uint8_t number, const char *question, const char *kind_text) {
    struct evd_form_version *version = EVD_NEW(&arena, struct evd_form_version);
    struct evd_question *asked = EVD_NEW(&arena, struct evd_question);
    asked->id = asked->label = evd_text_from(question);
    asked->kind =
        kind_text == NULL ? evd_name_of(EVD_QUESTION_TEXT) : (struct evd_name){.text = evd_text_from(kind_text)};
    version->base = (struct evd_record){.id = id_of(number), .project_id = project, .version = 1, .stamp = number};
    version->form = (evd_uuid){{77}};
    version->seq = 1;
    version->questions.items = asked;
    version->questions.count = 1;
    return evd_bson_encode(&evd_type_form_version, version, &arena);
}

static struct evd_definition_cache *begin(size_t cap_bytes) {
    evd_arena_init(&arena, 64 * EVD_MIB);
    return evd_definition_cache_new(cap_bytes);
}

static void end(struct evd_definition_cache *cache) {
    evd_definition_cache_free(cache);
    evd_arena_done(&arena);
}

START_TEST(what_was_added_is_found_by_project_and_id) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    ck_assert_ptr_null(evd_definition_cache_ref(cache, project, id_of(1)));
    struct evd_cached_definition *added = evd_definition_cache_add(cache, project, id_of(1), image_of(1, "q1", NULL));
    ck_assert_ptr_nonnull(added);
    ck_assert(!added->met_unknown_name);
    ck_assert_ptr_eq(evd_definition_cache_ref(cache, project, id_of(1)), added);
    ck_assert_ptr_null(evd_definition_cache_ref(cache, other_project, id_of(1)));
    ck_assert_ptr_null(evd_definition_cache_ref(cache, project, id_of(2)));
    ck_assert_ptr_nonnull(evd_definition_question(added->definition, EVD_TEXT("q1")));
    evd_definition_cache_unref(cache, added);
    evd_definition_cache_unref(cache, added);
    end(cache);
}
END_TEST

START_TEST(a_cached_definition_owns_all_it_holds) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    struct evd_image image = image_of(1, "q1", NULL);
    struct evd_cached_definition *added = evd_definition_cache_add(cache, project, id_of(1), image);
    memset((uint8_t *)(uintptr_t)image.bson, 0xEE, image.size_bytes); /* the reader's memory is gone by then */
    ck_assert_ptr_nonnull(evd_definition_question(added->definition, EVD_TEXT("q1")));
    evd_definition_cache_unref(cache, added);
    end(cache);
}
END_TEST

START_TEST(added_twice_the_first_one_stays) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    struct evd_cached_definition *first = evd_definition_cache_add(cache, project, id_of(1), image_of(1, "q1", NULL));
    struct evd_cached_definition *second = evd_definition_cache_add(cache, project, id_of(1), image_of(1, "q1", NULL));
    ck_assert_ptr_eq(first, second);
    evd_definition_cache_unref(cache, first);
    evd_definition_cache_unref(cache, second);
    end(cache);
}
END_TEST

START_TEST(a_damaged_document_is_not_kept) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    struct evd_image image = image_of(1, "q1", NULL);
    image.size_bytes -= 2;
    ck_assert_ptr_null(evd_definition_cache_add(cache, project, id_of(1), image));
    ck_assert_ptr_null(evd_definition_cache_ref(cache, project, id_of(1)));
    end(cache);
}
END_TEST

START_TEST(a_name_of_a_newer_version_is_remembered_with_the_definition) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    struct evd_cached_definition *added =
        evd_definition_cache_add(cache, project, id_of(1), image_of(1, "q1", "hologram"));
    ck_assert(added->met_unknown_name);
    evd_definition_cache_unref(cache, added);
    struct evd_cached_definition *again = evd_definition_cache_ref(cache, project, id_of(1));
    ck_assert(again->met_unknown_name);
    evd_definition_cache_unref(cache, again);
    end(cache);
}
END_TEST

/* A cap that holds two: the third drops the one unused longest. */
START_TEST(past_its_bound_the_one_unused_longest_goes) {
    struct evd_definition_cache *cache = begin(EVD_DEFINITION_CACHE_BYTES);
    struct evd_cached_definition *sample = evd_definition_cache_add(cache, project, id_of(9), image_of(9, "q1", NULL));
    size_t size_bytes = sample->arena.held_bytes;
    evd_definition_cache_unref(cache, sample);
    end(cache);
    cache = begin(2 * size_bytes + size_bytes / 2);
    for (uint8_t i = 1; i <= 2; i++)
        evd_definition_cache_unref(cache, evd_definition_cache_add(cache, project, id_of(i), image_of(i, "q1", NULL)));
    evd_definition_cache_unref(cache, evd_definition_cache_ref(cache, project, id_of(1))); /* 2 is the older one now */
    evd_definition_cache_unref(cache, evd_definition_cache_add(cache, project, id_of(3), image_of(3, "q1", NULL)));
    ck_assert_ptr_null(evd_definition_cache_ref(cache, project, id_of(2)));
    for (uint8_t i = 1; i <= 3; i += 2) {
        struct evd_cached_definition *kept = evd_definition_cache_ref(cache, project, id_of(i));
        ck_assert_ptr_nonnull(kept);
        evd_definition_cache_unref(cache, kept);
    }
    end(cache);
}
END_TEST

START_TEST(what_is_in_use_is_never_dropped) {
    struct evd_definition_cache *cache = begin(1); /* nothing fits */
    struct evd_cached_definition *held = evd_definition_cache_add(cache, project, id_of(1), image_of(1, "q1", NULL));
    struct evd_cached_definition *more = evd_definition_cache_add(cache, project, id_of(2), image_of(2, "q2", NULL));
    ck_assert_ptr_nonnull(evd_definition_question(held->definition, EVD_TEXT("q1")));
    ck_assert_ptr_nonnull(evd_definition_question(more->definition, EVD_TEXT("q2")));
    evd_definition_cache_unref(cache, held);
    struct evd_cached_definition *third = evd_definition_cache_add(cache, project, id_of(3), image_of(3, "q3", NULL));
    ck_assert_ptr_null(evd_definition_cache_ref(cache, project, id_of(1))); /* dropped once nobody held it */
    evd_definition_cache_unref(cache, third);
    evd_definition_cache_unref(cache, more);
    end(cache);
}
END_TEST

/* Threads look up, add and let go of a few definitions in a cache too small for them. */
enum { THREADS = 4, DEFINITIONS = 6, ROUNDS = 400 };

static struct evd_image images[DEFINITIONS];

static void *use(void *self) {
    struct evd_definition_cache *cache = self;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint8_t number = (uint8_t)(i % DEFINITIONS);
        struct evd_cached_definition *held = evd_definition_cache_ref(cache, project, id_of(number));
        if (held == NULL) held = evd_definition_cache_add(cache, project, id_of(number), images[number]);
        bool right = evd_definition_version(held->definition)->base.stamp == number;
        evd_definition_cache_unref(cache, held);
        if (!right) return self;
    }
    return NULL;
}

START_TEST(threads_that_share_a_crowded_cache_each_hold_what_they_asked_for) {
    struct evd_definition_cache *cache = begin(40 * EVD_KIB);
    pthread_t threads[THREADS];
    void *wrong;
    for (uint8_t i = 0; i < DEFINITIONS; i++)
        images[i] = image_of(i, "q1", NULL);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, use, cache), 0);
    for (size_t i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    end(cache);
}
END_TEST

EVD_TEST_MAIN("runtime: the cache of definitions", what_was_added_is_found_by_project_and_id,
              a_cached_definition_owns_all_it_holds, added_twice_the_first_one_stays, a_damaged_document_is_not_kept,
              a_name_of_a_newer_version_is_remembered_with_the_definition, past_its_bound_the_one_unused_longest_goes,
              what_is_in_use_is_never_dropped, threads_that_share_a_crowded_cache_each_hold_what_they_asked_for)
