/* Shared by the two halves of the codec. */
#ifndef EVIDENCED_SRC_RECORDS_BSON_PRIVATE_H
#define EVIDENCED_SRC_RECORDS_BSON_PRIVATE_H

#include "evidenced/records/schema.h"

#include <bson/bson.h>
#include <endian.h>

/* Elements that stood side by side and are unknown here; borrowed from the document. */
struct evd_unknown_part {
    const uint8_t *bytes;
    size_t size_bytes;
    struct evd_unknown_part *next;
};

/* A struct's member, as its field's kind says. */
union evd_member {
    const void *any;
    const evd_uuid *uuid;
    const bool *boolean;
    const evd_stamp *stamp;
    const int64_t *number;
    const struct evd_text *text;
    const struct evd_name *name;
    const void *const *nest;
    const struct evd_list *list;
    const struct evd_texts *texts;
    const struct evd_answer_value *value;
};

#endif
