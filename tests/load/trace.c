/*
 * The store's adapter is replaced by one that looks on, for the time of one command.
 */
#include "trace.h"

#include "evidenced/store/adapter.h"
#include "inside.h"

#include <stdlib.h>
#include <string.h>

static const struct evd_store_adapter *real;
static struct bench_trace *kept;

static struct evd_image copy_of(const struct evd_image *image) {
    struct evd_image copy = *image;
    if (image->size_bytes == 0) return copy;
    uint8_t *bytes = bench_alloc(image->size_bytes);
    memcpy(bytes, image->bson, image->size_bytes);
    copy.bson = bytes;
    return copy;
}

static struct evd_store_result on_get(struct evd_txn *txn, const struct evd_key *keys, size_t count,
                                      struct evd_image *ret_images) {
    struct evd_store_result result = real->txn_get(txn, keys, count, ret_images);
    for (size_t i = 0; i < count && result.status == EVD_STORE_OK; i++) {
        if (kept->read_count == BENCH_MOST_RECORDS) bench_fail("a command reads too much");
        kept->reads[kept->read_count++] = (struct bench_traced_read){keys[i], copy_of(&ret_images[i])};
    }
    return result;
}

static struct evd_store_result on_commit(struct evd_txn *txn, const struct evd_write *writes, size_t count) {
    if (count > BENCH_MOST_RECORDS) bench_fail("a command writes too much");
    for (size_t i = 0; i < count; i++) {
        kept->writes[i] = (struct evd_write){.kind = writes[i].kind, .key = writes[i].key};
        kept->writes[i].after = copy_of(&writes[i].after);
    }
    kept->write_count = count;
    return real->txn_commit(txn, writes, count);
}

struct bench_trace *bench_trace_take(struct bench_inside *inside, const struct bench_project *project,
                                     struct bench_author *author, const char *study, enum bench_verb verb) {
    char path[BENCH_PATH_BYTES], etag[BENCH_ETAG_BYTES], *receipt = NULL;
    struct bench_asker asker = bench_inside_asker(inside);
    kept = bench_alloc(sizeof *kept);
    memset(kept, 0, sizeof *kept);
    bench_session_path(project, study, verb, path);
    bench_author_write(author);
    kept->body_bytes = author->body_bytes;
    kept->body = bench_alloc(author->body_bytes + 1);
    memcpy(kept->body, author->body, author->body_bytes);
    kept->body[kept->body_bytes] = '\0';
    real = inside->store->adapter;
    struct evd_store_adapter looking = *real;
    looking.txn_get = on_get;
    looking.txn_commit = on_commit;
    inside->store->adapter = &looking;
    asker.ask(asker.self, author->number, path, bench_author_condition(author, etag), kept->body, &receipt);
    inside->store->adapter = real;
    bench_author_keep(author, evd_text_from(receipt));
    free(receipt);
    return kept;
}

void bench_trace_free(struct bench_trace *trace) {
    for (size_t i = 0; i < trace->read_count; i++)
        free((uint8_t *)(uintptr_t)trace->reads[i].image.bson);
    for (size_t i = 0; i < trace->write_count; i++)
        free((uint8_t *)(uintptr_t)trace->writes[i].after.bson);
    free(trace->body);
    free(trace);
}
