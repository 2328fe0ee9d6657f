/*
 * Imports: a file of 10,000 rows, each new to the project, sent and waited for until the operation is settled. The
 * floor is the same records, the studies and who holds each identifier, put into a store 1,000 rows at a time.
 */
#include "inside.h"

#include "evidenced/domain/study_identity.h"
#include "evidenced/records/bson.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_ROW = 1000000 /* behind the studies it is furnished with */,
    ABSTRACT_BYTES = 1500,
    ROW_BYTES = ABSTRACT_BYTES + 400,
    RECORDS_A_ROW = 3
};

static void write_row(unsigned number, char row[ROW_BYTES]) {
    int size =
        snprintf(row, ROW_BYTES, "Study number %u of many,\"Doe, J; Roe, R\",%u,Journal of Rest,10.1000/bench.%u,%u,\"",
                 number, 1950 + number % 70, number, number + 1);
    memset(row + size, 'a', ABSTRACT_BYTES);
    for (int at = 7; at < ABSTRACT_BYTES; at += 8)
        row[size + at] = ' ';
    memcpy(row + size + ABSTRACT_BYTES, "\"\n", 3);
}

/* Over HTTP. */

struct bench_importer {
    struct bench_process *process;
    char path[BENCH_PATH_BYTES];
    unsigned next_row;
    char *csv;
};

static size_t write_file(struct bench_importer *importer) {
    static const char header[] = "title,authors,year,journal,doi,pmid,abstract\n";
    char *at = importer->csv;
    memcpy(at, header, sizeof header);
    at += sizeof header - 1;
    for (unsigned i = 0; i < BENCH_IMPORT_ROWS; i++) {
        write_row(importer->next_row++, at);
        at += strlen(at);
    }
    return (size_t)(at - importer->csv);
}

static int64_t import_once(struct bench_importer *importer) {
    char *answer, expected[40];
    struct evd_text file = {importer->csv, write_file(importer)};
    int64_t begun_ns = bench_now_ns();
    bench_http_send_file(importer->process, importer->path, file, &answer);
    int64_t took_ns = bench_now_ns() - begun_ns;
    (void)snprintf(expected, sizeof expected, "\"added\":%u,", BENCH_IMPORT_ROWS);
    if (strstr(answer, "\"succeeded\"") == NULL || strstr(answer, expected) == NULL)
        bench_fail("an import came to: %s", answer);
    free(answer);
    return took_ns;
}

/* Whole imports, one after the other, until the time is over: at least one. Rates are in rows. */
static void run_side(void *self, int64_t (*once)(void *self), double seconds, struct bench_round *ret_round) {
    struct bench_samples samples = {.ns = NULL};
    double worked_ns = 0;
    while (worked_ns < seconds * 1e9) {
        int64_t took_ns = once(self);
        bench_sample(&samples, took_ns);
        worked_ns += (double)took_ns;
    }
    bench_round_make(&samples, 1, worked_ns / 1e9, ret_round);
    ret_round->rate *= BENCH_IMPORT_ROWS;
    ret_round->answers *= BENCH_IMPORT_ROWS;
    free(samples.ns);
}

static int64_t import_self(void *self) {
    return import_once(self);
}

static void importer_run(void *self, double seconds, struct bench_round *ret_round) {
    run_side(self, import_self, seconds, ret_round);
}

struct bench_importer *bench_importer_new(struct bench_process *process, const struct bench_project *project) {
    struct bench_importer *importer = bench_alloc(sizeof *importer);
    *importer = (struct bench_importer){.process = process, .next_row = FIRST_ROW};
    importer->csv = bench_alloc((size_t)ROW_BYTES * (BENCH_IMPORT_ROWS + 1));
    (void)snprintf(importer->path, sizeof importer->path, "/v1/projects/%s/imports", project->project);
    return importer;
}

void bench_importer_free(struct bench_importer *importer) {
    free(importer->csv);
    free(importer);
}

struct bench_side bench_importer_side(struct bench_importer *importer) {
    return (struct bench_side){
        .self = importer, .processor = bench_process_processor(importer->process), .run = importer_run};
}

/* The floor. */

struct bench_rows {
    struct evd_store *store;
    struct evd_arena arena; /* of the images */
    struct evd_write writes[BENCH_IMPORT_BATCH * RECORDS_A_ROW];
    struct evd_image images[BENCH_IMPORT_BATCH * RECORDS_A_ROW];
};

static struct evd_image identity_image(struct bench_rows *rows, enum evd_identity_kind kind, struct evd_text value,
                                       evd_uuid study) {
    struct evd_study_identity identity = {
        .base = {.id = bench_key(), .project_id = bench_person(0), .version = 1, .stamp = 1},
        .kind = evd_name_of(kind),
        .value = value,
        .study = study};
    return evd_bson_encode(&evd_type_study_identity, &identity, &rows->arena);
}

/* What an import makes of that row. */
static void make_images(struct bench_rows *rows, unsigned number) {
    char abstract[ABSTRACT_BYTES + 1], doi[40], pmid[20], title[60];
    memset(abstract, 'a', ABSTRACT_BYTES);
    abstract[ABSTRACT_BYTES] = '\0';
    (void)snprintf(title, sizeof title, "Study number %u of many", number);
    (void)snprintf(doi, sizeof doi, "10.1000/bench.%u", number);
    (void)snprintf(pmid, sizeof pmid, "%u", number + 1);
    struct evd_study study = {.base = {.id = bench_key(), .project_id = bench_person(0), .version = 1, .stamp = 1},
                              .title = evd_text_from(title),
                              .abstract = evd_text_from(abstract),
                              .authors = EVD_TEXT("Doe, J; Roe, R"),
                              .year = 2000,
                              .journal = EVD_TEXT("Journal of Rest"),
                              .doi = evd_text_from(doi),
                              .pmid = evd_text_from(pmid),
                              .imported_by = bench_person(0),
                              .random_key = number + 1,
                              .added_at = 1};
    struct evd_image *images = &rows->images[(size_t)number * RECORDS_A_ROW];
    images[0] = evd_bson_encode(&evd_type_study, &study, &rows->arena);
    images[1] = identity_image(rows, EVD_IDENTITY_DOI, study.doi, study.base.id);
    images[2] = identity_image(rows, EVD_IDENTITY_PMID, study.pmid, study.base.id);
}

static void put_batch(struct bench_rows *rows) {
    static const evd_collection in[RECORDS_A_ROW] = {EVD_IN_STUDY, EVD_IN_STUDY_IDENTITY, EVD_IN_STUDY_IDENTITY};
    struct evd_arena arena;
    struct evd_txn *txn = NULL;
    enum { COUNT = BENCH_IMPORT_BATCH * RECORDS_A_ROW };
    for (size_t i = 0; i < COUNT; i++)
        rows->writes[i] =
            (struct evd_write){.kind = EVD_INSERT,
                               .key = {.project = bench_person(0), .id = bench_key(), .in = in[i % RECORDS_A_ROW]},
                               .after = rows->images[i]};
    evd_arena_init(&arena, SIZE_MAX);
    struct evd_store_result result = evd_txn_open(rows->store, EVD_READ_SNAPSHOT, INT64_MAX, &arena, &txn);
    if (result.status == EVD_STORE_OK) result = evd_txn_commit(txn, rows->writes, COUNT);
    if (result.status != EVD_STORE_OK) bench_fail("the floor's store: %s", evd_store_status_name(result.status));
    evd_txn_close(txn);
    evd_arena_done(&arena);
}

static int64_t put_all(void *self) {
    int64_t begun_ns = bench_now_ns();
    for (unsigned i = 0; i < BENCH_IMPORT_ROWS / BENCH_IMPORT_BATCH; i++)
        put_batch(self);
    return bench_now_ns() - begun_ns;
}

static void rows_run(void *self, double seconds, struct bench_round *ret_round) {
    run_side(self, put_all, seconds, ret_round);
}

struct bench_rows *bench_rows_new(struct bench_inside *inside) {
    struct bench_rows *rows = bench_alloc(sizeof *rows);
    rows->store = inside->store;
    evd_arena_init(&rows->arena, SIZE_MAX);
    for (unsigned i = 0; i < BENCH_IMPORT_BATCH; i++)
        make_images(rows, i);
    return rows;
}

void bench_rows_free(struct bench_rows *rows) {
    evd_arena_done(&rows->arena);
    free(rows);
}

struct bench_side bench_rows_side(struct bench_rows *rows) {
    return (struct bench_side){.self = rows, .processor = CLOCK_PROCESS_CPUTIME_ID, .run = rows_run};
}
