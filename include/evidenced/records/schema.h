/*
 * Schemas: how a struct's members are named, typed and bounded outside this process.
 *
 * A struct is declared once, in a .def file, and everything that must agree with it is made from those lines: the C
 * struct (schema_declare.h), its field table (schema_define.h), the BSON codec of stored records (bson.h), the JSON
 * codec of requests and views (json.h), and the data dictionary. The macros of a .def file:
 *
 *   EVD_RECORD (T, COLLECTION)                        a stored record; begins with `struct evd_record base`
 *   EVD_STRUCT (T)                                    any other struct
 *   EVD_FIELD  (T, kind, name, "key", need)           kind: uuid, boolean, stamp, time
 *   EVD_REF    (T, COLLECTION, name, "key", need)     the id of a record of that collection
 *   EVD_NUMBER (T, name, "key", least, most, need)    int64_t
 *   EVD_STRING (T, name, "key", max_bytes, need)      struct evd_text, UTF-8
 *   EVD_BYTES  (T, name, "key", max_bytes, need)      struct evd_text, any bytes (not in JSON)
 *   EVD_ENUM   (T, names, name, "key", need)          struct evd_name: stored as its name
 *   EVD_NEST   (T, of, name, "key", need)             struct evd_<of> *, NULL when absent
 *   EVD_LIST   (T, of, name, "key", max, need)        { struct evd_<of> *items; size_t count; }
 *   EVD_STRINGS(T, name, "key", max, max_bytes, need) { struct evd_text *items; size_t count; }
 *   EVD_REFS   (T, COLLECTION, name, "key", max, need) { evd_uuid *items; size_t count; }
 *   EVD_VALUE  (T, name, "key", need)                 struct evd_answer_value
 *   EVD_MEMBERS(T, name)                              struct evd_text of rendered JSON members, output only
 *   EVD_END    (T)
 *
 * need: EVD_REQUIRED (always there), EVD_NULLABLE (always there, may be null), EVD_OPTIONAL (may be left out or
 * null). It binds JSON; a stored record may lack any field an older version did not know. An absent member reads as
 * the zero value: nil UUID, 0, false, text without bytes, NULL, empty list.
 */
#ifndef EVIDENCED_RECORDS_SCHEMA_H
#define EVIDENCED_RECORDS_SCHEMA_H

#include "evidenced/base/stamp.h"
#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"
#include "evidenced/store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum evd_need { EVD_REQUIRED, EVD_NULLABLE, EVD_OPTIONAL };

enum evd_kind {
    EVD_KIND_UUID,
    EVD_KIND_BOOLEAN,
    EVD_KIND_STAMP,
    EVD_KIND_TIME,
    EVD_KIND_NUMBER,
    EVD_KIND_STRING,
    EVD_KIND_BYTES,
    EVD_KIND_ENUM,
    EVD_KIND_NEST,
    EVD_KIND_LIST,
    EVD_KIND_STRINGS,
    EVD_KIND_UUIDS,
    EVD_KIND_VALUE,
    EVD_KIND_MEMBERS
};

/* A closed set of names. Value 0 means "unknown or absent" in every set and has no name. */
struct evd_names {
    const char *set;
    const char *const *names; /* by value; names[0] is NULL */
    size_t count;             /* with value 0 */
};

/* One of a set's names. A name this version does not know keeps its text and is written back as it was. */
struct evd_name {
    int value;            /* an enumerator of the set, 0 when unknown or absent */
    struct evd_text text; /* what was read or will be written when value is 0 */
};

struct evd_type;

struct evd_field {
    const char *key;
    enum evd_kind kind;
    enum evd_need need;
    uint32_t offset;
    uint32_t max;       /* bytes of a string, elements of a list */
    uint32_t max_bytes; /* of each string of a list of strings */
    int64_t least, most;
    const struct evd_type *of;
    const struct evd_names *names;
    evd_collection refers; /* 0: to nothing */
};

struct evd_type {
    const char *name;
    size_t size_bytes;
    const struct evd_field *fields;
    size_t field_count;
    uint32_t unknown_offset; /* of its struct evd_unknown */
    evd_collection in;       /* 0: not a record of its own */
};

/* Stored elements this version has no field for, bytes as they were; rewritten behind the known ones. */
struct evd_unknown {
    struct evd_unknown_part *first;
};

/* What every stored record begins with. */
struct evd_record {
    evd_uuid id, project_id;
    int64_t version; /* 1 when inserted, +1 each time it is replaced; a version of 0 is not stored yet */
    evd_stamp stamp;
};

/* An answer's value; which kinds may stand where is the form's business. */
enum evd_answer_kind {
    EVD_ANSWER_NONE,
    EVD_ANSWER_TEXT,    /* text, decimal, date, choice: by the question's kind */
    EVD_ANSWER_INTEGER, /* within ±(2⁵³−1) */
    EVD_ANSWER_BOOLEAN,
    EVD_ANSWER_TEXTS, /* options, instances; a list of none is always one of texts */
    EVD_ANSWER_POINTS /* a series: never none */
};

enum { EVD_ANSWER_TEXT_BYTES = 20000, EVD_ANSWER_TEXTS_MOST = 500, EVD_ANSWER_POINTS_MOST = 2000 };

struct evd_texts {
    struct evd_text *items;
    size_t count;
};

struct evd_answer_points {
    struct evd_answer_point *items; /* a struct of evidence.def */
    size_t count;
};

struct evd_answer_value {
    enum evd_answer_kind kind;
    struct evd_text text;
    int64_t integer;
    bool boolean;
    struct evd_texts texts;
    struct evd_answer_points points;
};

/** The same value in the same order, texts byte for byte. */
bool evd_answer_value_equal(const struct evd_answer_value *a, const struct evd_answer_value *b);

/* A list member, whatever its elements: what EVD_LIST, EVD_STRINGS and EVD_REFS declare has this layout. */
struct evd_list {
    void *items;
    size_t count;
};

/* The C types of EVD_FIELD's kinds. */
typedef evd_uuid evd_field_uuid;
typedef bool evd_field_boolean;
typedef evd_stamp evd_field_stamp;
typedef int64_t evd_field_time;

/** The value of a name in a set; 0 when it is none of them. */
int evd_names_find(const struct evd_names *names, struct evd_text text);

/** The name of a value, `text` when the value is 0. */
struct evd_text evd_name_text(const struct evd_names *names, struct evd_name name);

#endif
