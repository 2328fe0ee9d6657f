/*
 * A trace again and again, on a store of its own: open, get its keys at once, commit writes of its sizes and kinds.
 *
 * Each thread has its own copy of every record the trace replaces, an answer's head one a place in the form; what the
 * trace inserts gets a new key each turn; a version and its pins are read where the turn before inserted them; all
 * else is read by everybody. A key is the trace's, moved by the thread and the turn.
 */
#include "inside.h"
#include "trace.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/dictionary.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* First come, first served. */
struct queue_lock {
    pthread_mutex_t mutex;
    bool held;
    struct queue_place {
        pthread_cond_t granted;
        bool is_granted;
        struct queue_place *next;
    } * first, *last;
};

static void queue_enter(struct queue_lock *lock, struct queue_place *place) {
    (void)pthread_mutex_lock(&lock->mutex);
    if (lock->held) {
        place->is_granted = false;
        place->next = NULL;
        if (lock->last == NULL)
            lock->first = place;
        else
            lock->last->next = place;
        lock->last = place;
        while (!place->is_granted)
            (void)pthread_cond_wait(&place->granted, &lock->mutex);
    }
    lock->held = true;
    (void)pthread_mutex_unlock(&lock->mutex);
}

static void queue_leave(struct queue_lock *lock) {
    (void)pthread_mutex_lock(&lock->mutex);
    struct queue_place *next = lock->first;
    lock->held = next != NULL;
    if (next != NULL) {
        lock->first = next->next;
        if (lock->first == NULL) lock->last = NULL;
        next->is_granted = true;
        (void)pthread_cond_signal(&next->granted);
    }
    (void)pthread_mutex_unlock(&lock->mutex);
}

enum { NOT_WRITTEN = BENCH_MOST_RECORDS };

struct thread {
    struct bench_floor *floor;
    unsigned number;
    uint64_t turn;
    pthread_t id;
    struct evd_arena arena;
    struct queue_place place;
    struct evd_write writes[BENCH_MOST_RECORDS];
    uint8_t *images[BENCH_MOST_RECORDS]; /* of the writes: own copies, to set versions in */
    struct evd_key keys[BENCH_MOST_RECORDS];
    struct evd_image read[BENCH_MOST_RECORDS];
};

struct bench_floor {
    struct evd_store *store;
    const struct bench_trace *trace;
    size_t writes_of_reads[BENCH_MOST_RECORDS]; /* the write under a read's key; NOT_WRITTEN */
    size_t reads_of_writes[BENCH_MOST_RECORDS];
    size_t versions_at[BENCH_MOST_RECORDS]; /* where a write's document has its version */
    unsigned count, places;
    bool one_study, with_parse;
    struct queue_lock lock;
    uint64_t epoch; /* of this floor among all on the store */
    struct thread *threads;
    struct bench_samples *samples;
    int64_t end_ns;
};

static bool same_key(const struct evd_key *a, const struct evd_key *b) {
    return a->in == b->in && evd_uuid_equal(a->id, b->id);
}

static size_t version_offset(const struct evd_image *image) {
    static const char element[] = "\x12version"; /* an int64; NUL behind it */
    const uint8_t *at = memmem(image->bson, image->size_bytes, element, sizeof element);
    if (at == NULL) bench_fail("a document has no version");
    return (size_t)(at - image->bson) + sizeof element;
}

static void relate(struct bench_floor *floor) {
    const struct bench_trace *trace = floor->trace;
    for (size_t r = 0; r < trace->read_count; r++)
        floor->writes_of_reads[r] = NOT_WRITTEN;
    for (size_t w = 0; w < trace->write_count; w++) {
        floor->versions_at[w] = version_offset(&trace->writes[w].after);
        floor->reads_of_writes[w] = NOT_WRITTEN;
        for (size_t r = 0; r < trace->read_count; r++) {
            if (!same_key(&trace->reads[r].key, &trace->writes[w].key)) continue;
            floor->reads_of_writes[w] = r;
            floor->writes_of_reads[r] = w;
        }
        if (trace->writes[w].kind == EVD_REPLACE && floor->reads_of_writes[w] == NOT_WRITTEN)
            bench_fail("a command replaces what it did not read by key");
    }
}

static struct evd_key moved(const struct bench_floor *floor, struct evd_key key, uint64_t thread, uint64_t turn) {
    uint64_t words[2];
    memcpy(words, key.id.bytes, sizeof words);
    words[0] ^= (turn + 1) * UINT64_C(0x9E3779B97F4A7C15);
    words[1] ^= (thread + 1 + (floor->epoch << 32)) * UINT64_C(0xBF58476D1CE4E5B9);
    memcpy(key.id.bytes, words, sizeof words);
    return key;
}

static struct evd_key key_of_write(const struct thread *thread, size_t w, uint64_t turn) {
    const struct bench_floor *floor = thread->floor;
    const struct evd_write *write = &floor->trace->writes[w];
    if (write->kind == EVD_INSERT) return moved(floor, write->key, thread->number, turn);
    if (write->key.in == EVD_IN_ANNOTATION_HEAD) return moved(floor, write->key, thread->number, turn % floor->places);
    bool shared = floor->one_study && write->key.in == EVD_IN_STUDY;
    return moved(floor, write->key, shared ? BENCH_MOST_CLIENTS : thread->number, 0);
}

static bool is_of_version(evd_collection in) {
    return in == EVD_IN_PIN_MAP || in == EVD_IN_FORM_SESSION_VERSION;
}

/* The write that inserts what the next turn reads as its base. */
static size_t write_of_version(const struct bench_floor *floor, evd_collection in) {
    for (size_t w = 0; w < floor->trace->write_count; w++)
        if (floor->trace->writes[w].key.in == in) return w;
    bench_fail("a command writes no version");
}

static struct evd_key key_of_read(const struct thread *thread, size_t r) {
    const struct bench_floor *floor = thread->floor;
    const struct bench_traced_read *read = &floor->trace->reads[r];
    if (floor->writes_of_reads[r] != NOT_WRITTEN) return key_of_write(thread, floor->writes_of_reads[r], thread->turn);
    if (is_of_version(read->key.in))
        return key_of_write(thread, write_of_version(floor, read->key.in), thread->turn - 1);
    return moved(floor, read->key, BENCH_MOST_CLIENTS, 0);
}

/* Loading what the first turns read. */

static void put(const struct bench_floor *floor, struct evd_key key, const struct evd_image *image) {
    struct evd_write write = {.kind = EVD_INSERT_ONCE, .key = key, .after = *image};
    write.after.version = 1;
    uint8_t *bytes = bench_alloc(image->size_bytes);
    int64_t one = 1;
    memcpy(bytes, image->bson, image->size_bytes);
    memcpy(bytes + version_offset(image), &one, sizeof one);
    write.after.bson = bytes;
    struct evd_store_result result = evd_store_swap(floor->store, &write, INT64_MAX);
    if (result.status != EVD_STORE_OK) bench_fail("the floor's store: %s", evd_store_status_name(result.status));
    free(bytes);
}

static void load_thread(struct thread *thread) {
    const struct bench_floor *floor = thread->floor;
    for (size_t w = 0; w < floor->trace->write_count; w++) {
        const struct evd_write *write = &floor->trace->writes[w];
        bool is_base = is_of_version(write->key.in);
        unsigned places = write->kind == EVD_REPLACE && write->key.in == EVD_IN_ANNOTATION_HEAD ? floor->places : 1;
        if (write->kind == EVD_INSERT && !is_base) continue;
        for (unsigned place = 0; place < places; place++)
            put(floor, key_of_write(thread, w, is_base ? thread->turn - 1 : place), &write->after);
    }
}

static void load_shared(const struct bench_floor *floor) {
    for (size_t r = 0; r < floor->trace->read_count; r++) {
        const struct bench_traced_read *read = &floor->trace->reads[r];
        if (floor->writes_of_reads[r] != NOT_WRITTEN || is_of_version(read->key.in) || read->image.size_bytes == 0)
            continue;
        put(floor, moved(floor, read->key, BENCH_MOST_CLIENTS, 0), &read->image);
    }
}

/* Threads. */

static void thread_init(struct thread *thread, struct bench_floor *floor, unsigned number) {
    const struct bench_trace *trace = floor->trace;
    memset(thread, 0, sizeof *thread);
    thread->floor = floor;
    thread->number = number;
    thread->turn = 1;
    (void)pthread_cond_init(&thread->place.granted, NULL);
    for (size_t w = 0; w < trace->write_count; w++) {
        uint32_t size_bytes = trace->writes[w].after.size_bytes;
        thread->writes[w] = trace->writes[w];
        thread->images[w] = bench_alloc(size_bytes);
        memcpy(thread->images[w], trace->writes[w].after.bson, size_bytes);
        thread->writes[w].after.bson = thread->images[w];
    }
    load_thread(thread);
}

static void prepare_writes(struct thread *thread) {
    const struct bench_floor *floor = thread->floor;
    for (size_t w = 0; w < floor->trace->write_count; w++) {
        struct evd_write *write = &thread->writes[w];
        write->key = key_of_write(thread, w, thread->turn);
        write->after.version = 1;
        if (write->kind == EVD_REPLACE) {
            write->before = thread->read[floor->reads_of_writes[w]];
            write->after.version = write->before.version + 1;
        }
        memcpy(thread->images[w] + floor->versions_at[w], &write->after.version, sizeof write->after.version);
    }
}

static enum evd_store_status take_turn(struct thread *thread) {
    const struct bench_trace *trace = thread->floor->trace;
    struct evd_txn *txn = NULL;
    evd_arena_init(&thread->arena, EVD_LIMIT_CALL_ARENA_BYTES);
    struct evd_store_result result =
        evd_txn_open(thread->floor->store, EVD_READ_SNAPSHOT, INT64_MAX, &thread->arena, &txn);
    for (size_t r = 0; r < trace->read_count; r++)
        thread->keys[r] = key_of_read(thread, r);
    if (result.status == EVD_STORE_OK) result = evd_txn_get(txn, thread->keys, trace->read_count, thread->read);
    if (result.status == EVD_STORE_OK) {
        prepare_writes(thread);
        result = evd_txn_commit(txn, thread->writes, trace->write_count);
    }
    evd_txn_close(txn);
    evd_arena_done(&thread->arena);
    thread->turn++;
    return result.status;
}

static void parse(const struct bench_trace *trace) {
    json_t *parsed = json_loadb(trace->body, trace->body_bytes, JSON_REJECT_DUPLICATES, NULL);
    if (parsed == NULL) bench_fail("a body is no JSON");
    json_decref(parsed);
}

static void *thread_main(void *self) {
    struct thread *thread = self;
    struct bench_floor *floor = thread->floor;
    int64_t begun_ns = bench_now_ns();
    while (begun_ns < floor->end_ns) {
        if (floor->with_parse) parse(floor->trace);
        if (floor->one_study) queue_enter(&floor->lock, &thread->place);
        enum evd_store_status status = take_turn(thread);
        if (floor->one_study) queue_leave(&floor->lock);
        if (status != EVD_STORE_OK) bench_fail("the floor's store: %s", evd_store_status_name(status));
        int64_t now_ns = bench_now_ns();
        bench_sample(&floor->samples[thread->number], now_ns - begun_ns);
        begun_ns = now_ns;
    }
    return NULL;
}

static void floor_run(void *self, double seconds, struct bench_round *ret_round) {
    struct bench_floor *floor = self;
    int64_t begun_ns = bench_now_ns();
    floor->end_ns = begun_ns + (int64_t)(seconds * 1e9);
    for (unsigned i = 0; i < floor->count; i++)
        if (pthread_create(&floor->threads[i].id, NULL, thread_main, &floor->threads[i]) != 0) bench_fail("no thread");
    for (unsigned i = 0; i < floor->count; i++)
        (void)pthread_join(floor->threads[i].id, NULL);
    bench_round_make(floor->samples, floor->count, (double)(bench_now_ns() - begun_ns) / 1e9, ret_round);
}

struct bench_side bench_floor_side(struct bench_floor *floor) {
    return (struct bench_side){.self = floor, .processor = CLOCK_PROCESS_CPUTIME_ID, .run = floor_run};
}

struct bench_floor *bench_floor_new(struct bench_inside *inside, const struct bench_trace *trace, unsigned clients,
                                    bool one_study, bool with_parse) {
    static uint64_t epoch;
    struct bench_floor *floor = bench_alloc(sizeof *floor);
    memset(floor, 0, sizeof *floor);
    floor->store = inside->store;
    floor->trace = trace;
    floor->count = clients;
    floor->one_study = one_study;
    floor->with_parse = with_parse;
    floor->epoch = ++epoch;
    (void)pthread_mutex_init(&floor->lock.mutex, NULL);
    relate(floor);
    size_t heads = 0;
    for (size_t w = 0; w < trace->write_count; w++)
        heads += trace->writes[w].key.in == EVD_IN_ANNOTATION_HEAD;
    floor->places = heads == 0 || heads > BENCH_QUESTIONS ? 1 : (unsigned)(BENCH_QUESTIONS / heads);
    floor->threads = bench_alloc(clients * sizeof *floor->threads);
    floor->samples = bench_alloc(clients * sizeof *floor->samples);
    memset(floor->samples, 0, clients * sizeof *floor->samples);
    load_shared(floor);
    for (unsigned i = 0; i < clients; i++)
        thread_init(&floor->threads[i], floor, i);
    return floor;
}

void bench_floor_free(struct bench_floor *floor) {
    for (unsigned i = 0; i < floor->count; i++) {
        struct thread *thread = &floor->threads[i];
        for (size_t w = 0; w < floor->trace->write_count; w++)
            free(thread->images[w]);
        (void)pthread_cond_destroy(&thread->place.granted);
        free(floor->samples[i].ns);
    }
    (void)pthread_mutex_destroy(&floor->lock.mutex);
    free(floor->samples);
    free(floor->threads);
    free(floor);
}
