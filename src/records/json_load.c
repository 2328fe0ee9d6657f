#include "evidenced/records/json_load.h"

#include <jansson.h>
#include <pthread.h>
#include <setjmp.h>

static void *(*memory_take)(size_t) = malloc;
static void (*memory_give_back)(void *) = free;

/* What jansson holds, in the order taken; NULL: given back since. */
struct held {
    struct held *older;
    size_t count;
    void *items[510];
};

/*
 * A parse under way. It is left by a jump when memory runs out, because jansson goes on where it must not; what it held
 * by then is released here.
 */
struct parse {
    jmp_buf escape;
    struct held *newest;
};

static _Thread_local struct parse *under_way;

static void *take_or_escape(struct parse *parse, size_t size_bytes) {
    void *memory = memory_take(size_bytes);
    if (memory == NULL) longjmp(parse->escape, 1);
    return memory;
}

static void *take(size_t size_bytes) {
    struct parse *parse = under_way;
    if (parse == NULL) return memory_take(size_bytes);
    struct held *held = parse->newest;
    if (held == NULL || held->count == sizeof held->items / sizeof *held->items) {
        held = take_or_escape(parse, sizeof *held);
        held->older = parse->newest;
        held->count = 0;
        parse->newest = held;
    }
    void *memory = take_or_escape(parse, size_bytes);
    held->items[held->count++] = memory;
    return memory;
}

/* Those at the end that were given back. */
static void trim(struct parse *parse) {
    for (struct held *held = parse->newest; held != NULL; held = parse->newest) {
        while (held->count > 0 && held->items[held->count - 1] == NULL)
            held->count--;
        if (held->count > 0) return;
        parse->newest = held->older;
        memory_give_back(held);
    }
}

/* What is given back was taken lately, as a rule: a name outlives its value, little else what was taken behind it. */
static void forget(struct parse *parse, const void *memory) {
    for (struct held *held = parse->newest; held != NULL; held = held->older)
        for (size_t i = held->count; i-- > 0;)
            if (held->items[i] == memory) {
                held->items[i] = NULL;
                trim(parse);
                return;
            }
}

static void give_back(void *memory) {
    if (under_way != NULL && memory != NULL) forget(under_way, memory);
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

/* The list; with what it names when the parse was left. */
static void release(struct parse *parse, bool left) {
    for (struct held *held = parse->newest, *older; held != NULL; held = older) {
        older = held->older;
        for (size_t i = 0; left && i < held->count; i++)
            memory_give_back(held->items[i]);
        memory_give_back(held);
    }
}

struct json_t *evd_json_load(struct evd_text text, struct json_error_t *ret_error, bool *ret_no_memory) {
    static pthread_once_t prepared = PTHREAD_ONCE_INIT;
    struct parse parse = {.newest = NULL};
    json_t *volatile json = NULL;
    volatile bool ran_out = true;
    (void)pthread_once(&prepared, prepare);
    under_way = &parse;
    if (setjmp(parse.escape) == 0) {
        json = json_loadb(text.bytes == NULL ? "" : text.bytes, text.size_bytes, JSON_REJECT_DUPLICATES, ret_error);
        ran_out = false;
    }
    under_way = NULL;
    release(&parse, ran_out);
    *ret_no_memory = ran_out;
    return json;
}
