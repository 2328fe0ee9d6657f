#include "evidenced/records/json_load.h"

#include <jansson.h>
#include <pthread.h>

static void *(*memory_take)(size_t) = malloc;
static void (*memory_give_back)(void *) = free;

/* Since the parse on this thread began. */
static _Thread_local bool memory_ran_out;

static void *take(size_t size_bytes) {
    void *memory = memory_take(size_bytes);
    if (memory == NULL) memory_ran_out = true;
    return memory;
}

static void give_back(void *memory) {
    memory_give_back(memory);
}

void evd_json_memory(void *(*take_from)(size_t size_bytes), void (*give_back_to)(void *memory)) {
    memory_take = take_from == NULL ? malloc : take_from;
    memory_give_back = give_back_to == NULL ? free : give_back_to;
}

/* jansson seeds its hash tables once; doing it here keeps threads from racing to. */
static void prepare(void) {
    json_set_alloc_funcs(take, give_back);
    json_object_seed(0);
}

struct json_t *evd_json_load(struct evd_text text, struct json_error_t *ret_error, bool *ret_no_memory) {
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    (void)pthread_once(&prepared, prepare);
    memory_ran_out = false;
    json_t *json = json_loadb(text.bytes == NULL ? "" : text.bytes, text.size_bytes, JSON_REJECT_DUPLICATES, ret_error);
    *ret_no_memory = memory_ran_out;
    if (!memory_ran_out) return json;
    json_decref(json);
    return NULL;
}
