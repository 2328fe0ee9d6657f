/*
 * Exports: a form's completed sessions, walked page by page in one stable order and written in one of several formats.
 *
 * Order: studies by id, a study's sessions by id. A page is a snapshot of its own; what is written of a session is one
 * version, and a version never changes: where a piece ends inside one, the next goes on with that same version.
 */
#ifndef EVIDENCED_SRC_READ_EXPORT_H
#define EVIDENCED_SRC_READ_EXPORT_H

#include "evidenced/base/buffer.h"
#include "evidenced/base/sha256.h"
#include "evidenced/domain/dataset.h"
#include "read/support.h"

#define EVD_EXPORT_CSV_TYPE    "text/csv; charset=utf-8; header=present"
#define EVD_EXPORT_NDJSON_TYPE "application/x-ndjson"

/* One session of a page. */
struct evd_export_entry {
    evd_uuid study_id, session_id, version_id;
    const struct evd_study *study;
    const struct evd_form_session_version *version;
    const struct evd_pin_map *map;
    struct evd_pins pins;
    const struct evd_annotation_revision **revisions; /* by pin */
    struct evd_dataset_session answers;
    bool left_out; /* its study was removed */
};

/* What is carried from run to run, in the call's arena. */
struct evd_export {
    struct evd_dataset dataset;
    struct evd_text form_name;
    struct evd_text *cells;                          /* of a row being written: one a column */
    int64_t published_seq, unread_seq;               /* versions from this one down are not in the dataset yet */
    evd_uuid after_study, after_form, after_session; /* the head the walk goes on behind; nil: from the beginning */
    struct {
        evd_uuid study, session, version;
        size_t item; /* the next */
    } open;          /* the version that is half written; nil: none */
    bool headed;     /* the file's head is written */
    bool spreadsheet_safe;
    struct evd_export_summary *summary; /* the manifest's; else NULL */
};

/* One run. */
struct evd_export_page {
    const struct evd_form *form;            /* the first run's only */
    const struct evd_form_version *version; /* of a run that reads columns */
    const struct evd_form_session *const *heads;
    size_t head_count;
    struct evd_export_entry *entries; /* to be written, in order */
    size_t count, written;
    bool whole; /* all that is to be exported of the heads is among the entries */
    bool ends;  /* there are no heads behind them */
    bool corrupt;
};

/* A session is written an item at a time: a row, an answer, a point. Items that are records count, else sessions do. */
struct evd_export_format {
    const char *file, *content_type;
    bool items_are_records;
    void (*head)(const struct evd_export *export, struct evd_buffer *out); /* NULL: none */
    size_t (*items)(const struct evd_export_entry *entry);
    void (*item)(const struct evd_export *export, const struct evd_export_entry *entry, size_t at,
                 struct evd_buffer *out);
};

extern const struct evd_export_format evd_export_csv, evd_export_ndjson, evd_export_series;

/** Read the page the export stands before: four store calls and a scan at most, however many answers there are. */
void evd_export_read(struct evd_call *call);

/** NotFound, StoreCorrupt, or what else keeps it from going on; else the page's answers are arranged. */
struct evd_outcome evd_export_refuse(struct evd_call *call);

/** A run that reads columns takes them; true when it was one. *ret_complete: they are all there now. */
bool evd_export_take_columns(struct evd_call *call, bool *ret_complete);

/** The page's next entry is written whole. */
void evd_export_pass(struct evd_export *export, struct evd_export_page *page);

/** At the end of a run that wrote sessions: is there another? */
bool evd_export_goes_on(struct evd_export *export, const struct evd_export_page *page);

/** One piece of a file. */
void evd_export_write(struct evd_call *call, const struct evd_export_format *format);

/** The manifest: what the files hold, walked without writing them; all but the last piece are empty. */
void evd_export_manifest_derive(struct evd_call *call);

#endif
