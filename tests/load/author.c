#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct bench_author *author, const char *text, size_t size_bytes) {
    if (author->body_bytes + size_bytes > sizeof author->body) bench_fail("a body is too large");
    memcpy(author->body + author->body_bytes, text, size_bytes);
    author->body_bytes += size_bytes;
}

static void add_text(struct bench_author *author, const char *text) {
    add(author, text, strlen(text));
}

static void add_id_or_null(struct bench_author *author, const char *id) {
    if (id[0] == '\0') {
        add_text(author, "null");
        return;
    }
    add_text(author, "\"");
    add(author, id, EVD_UUID_TEXT_BYTES);
    add_text(author, "\"");
}

static void add_answer(struct bench_author *author, unsigned at) {
    char text[96];
    int size = snprintf(text, sizeof text, "%s{\"question\":\"q%u\",\"value\":\"%03u seen %08u\",\"baseRevision\":",
                        at == author->first ? "" : ",", at + 1, author->number, author->turn);
    add(author, text, (size_t)size);
    add_id_or_null(author, author->revisions[at]);
    add_text(author, "}");
}

const char *bench_author_condition(struct bench_author *author, char etag[BENCH_ETAG_BYTES]) {
    if (!author->types) return NULL;
    (void)snprintf(etag, BENCH_ETAG_BYTES, "\"%lld\"", author->etag);
    return etag;
}

static void write_autosave(struct bench_author *author) {
    char head[160], holder[BENCH_TEXT_BYTES];
    evd_uuid_format(bench_person(author->number), holder);
    (void)snprintf(head, sizeof head, "{\"holder\":\"%s\",\"writeSeq\":%u,\"baseVersion\":", holder, ++author->writes);
    add_text(author, head);
    add_id_or_null(author, author->version);
    add_text(author, ",\"content\":{\"answers\":[");
    for (unsigned i = 0; i < author->changed; i++)
        add_answer(author, author->first + i);
    add_text(author, "]}}");
}

void bench_author_write(struct bench_author *author) {
    author->turn++;
    author->body_bytes = 0;
    if (author->types) {
        write_autosave(author);
        return;
    }
    add_text(author, "{\"stage\":\"");
    add_text(author, author->stage);
    add_text(author, "\",\"formVersion\":1,\"draft\":null,\"baseVersion\":");
    add_id_or_null(author, author->version);
    add_text(author, ",\"answers\":[");
    for (unsigned i = 0; i < author->changed; i++)
        add_answer(author, author->first + i);
    add_text(author, "]}");
}

/* Behind `name` from *at on, which moves there. */
static const char *find(const char *at, struct evd_text receipt, const char *name) {
    size_t left = (size_t)(receipt.bytes + receipt.size_bytes - at), size_bytes = strlen(name);
    const char *found = memmem(at, left, name, size_bytes);
    if (found == NULL || left - (size_t)(found - at) < size_bytes + EVD_UUID_TEXT_BYTES)
        bench_fail("no %s in a receipt: " EVD_TEXT_FMT, name, EVD_TEXT_ARG(receipt));
    return found + size_bytes;
}

/* The number behind that name. */
static long long number_in(struct evd_text receipt, const char *name) {
    return strtoll(find(receipt.bytes, receipt, name), NULL, 10);
}

void bench_author_keep(struct bench_author *author, struct evd_text receipt) {
    if (author->types) {
        author->etag = number_in(receipt, "\"etag\":");
        author->first = (author->first + author->changed) % BENCH_QUESTIONS;
        return;
    }
    author->etag = number_in(receipt, "\"draftEtag\":");
    const char *at = find(receipt.bytes, receipt, "\"versionId\":\"");
    memcpy(author->version, at, EVD_UUID_TEXT_BYTES);
    for (unsigned i = 0; i < author->changed; i++) {
        at = find(at, receipt, "\"revision\":\"");
        memcpy(author->revisions[author->first + i], at, EVD_UUID_TEXT_BYTES);
    }
    author->first = (author->first + author->changed) % BENCH_QUESTIONS;
}

static evd_uuid numbered(unsigned kind, uint64_t number) {
    evd_uuid id = {{(uint8_t)kind}};
    for (unsigned byte = 0; byte < 7; byte++)
        id.bytes[15 - byte] = (uint8_t)(number >> 8 * byte);
    id.bytes[6] = 0x40;
    id.bytes[8] = 0x80;
    return id;
}

evd_uuid bench_person(unsigned number) {
    return numbered(1, number);
}

evd_uuid bench_key(void) {
    static atomic_uint_least64_t used;
    return numbered(2, atomic_fetch_add(&used, 1));
}
