/*
 * The data dictionary: what is part of stored keys and documents for ever, and that its parts fit together.
 */
#include "../../support/test.h"
#include "evidenced/records/dictionary.h"
#include "specimen.h"

/* Part of every stored key. A new collection gets a new line here; a line that was released never changes. */
static const struct {
    unsigned number;
    const char *name;
} pinned_collections[] = {
    {1, "project"},
    {2, "membership"},
    {3, "commandLedger"},
    {4, "form"},
    {5, "formVersion"},
    {6, "stage"},
    {7, "settingsVersion"},
    {8, "study"},
    {9, "studyIdentity"},
    {10, "formSession"},
    {11, "formSessionVersion"},
    {12, "pinMap"},
    {13, "annotationHead"},
    {14, "annotationRevision"},
    {15, "sessionDraft"},
    {16, "formDraft"},
    {17, "draftCopy"},
    {18, "draftEvent"},
    {19, "exposure"},
    {20, "operation"},
    {21, "importBatch"},
    {128, "openOperation"},
    {140, "knownProject"},
    {141, "ownProject"},
};

/* The same of indexes. */
static const struct {
    unsigned number, collection;
    const char *paths[EVD_STORE_INDEX_PATHS + 1];
} pinned_indexes[] = {
    {1, EVD_IN_MEMBERSHIP, {"investigatorId"}},
    {2, EVD_IN_FORM, {"name"}},
    {3, EVD_IN_STAGE, {"name"}},
    {4, EVD_IN_STUDY, {"randomKey"}},
    {5, EVD_IN_FORM_SESSION, {"studyId", "formId"}},
    {6, EVD_IN_FORM_SESSION_VERSION, {"sessionId", "seq"}},
    {7, EVD_IN_DRAFT_COPY, {"sessionId", "state"}},
    {8, EVD_IN_FORM_SESSION_VERSION, {"studyId", "stamp"}},
    {9, EVD_IN_DRAFT_EVENT, {"studyId", "stamp"}},
    {10, EVD_IN_EXPOSURE, {"sessionId", "versionSeq"}},
    {11, EVD_IN_OPERATION, {"requestedAt"}},
    {12, EVD_IN_OPEN_OPERATION, {"operationId"}},
    {13, EVD_IN_STUDY_IDENTITY, {"studyId"}},
    {14, EVD_IN_FORM_SESSION_VERSION, {"studyId", "authorId", "stamp"}},
    {15, EVD_IN_DRAFT_EVENT, {"studyId", "authorId", "stamp"}},
    {16, EVD_IN_KNOWN_PROJECT, {"name"}},
    {17, EVD_IN_OWN_PROJECT, {"investigatorId", "name"}},
};

enum {
    PINNED_COLLECTIONS = sizeof pinned_collections / sizeof *pinned_collections,
    PINNED_INDEXES = sizeof pinned_indexes / sizeof *pinned_indexes
};

START_TEST(collections_keep_their_numbers_and_names) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    size_t used = 0;
    for (size_t i = 0; i < PINNED_COLLECTIONS; i++) {
        ck_assert_uint_lt(pinned_collections[i].number, catalogue->collection_count);
        ck_assert_str_eq(catalogue->collection_names[pinned_collections[i].number], pinned_collections[i].name);
    }
    for (size_t i = 0; i < catalogue->collection_count; i++)
        used += catalogue->collection_names[i] != NULL;
    ck_assert_msg(used == PINNED_COLLECTIONS, "pin the new collection's number and name in this test");
}
END_TEST

static const struct evd_index *index_numbered(unsigned number) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    for (size_t i = 0; i < catalogue->index_count; i++)
        if (catalogue->indexes[i].number == number) return &catalogue->indexes[i];
    return NULL;
}

START_TEST(indexes_keep_their_numbers_and_paths) {
    for (size_t i = 0; i < PINNED_INDEXES; i++) {
        const struct evd_index *index = index_numbered(pinned_indexes[i].number);
        ck_assert_msg(index != NULL, "index %u is gone", pinned_indexes[i].number);
        ck_assert_uint_eq(index->on, pinned_indexes[i].collection);
        for (size_t p = 0; p < index->path_count; p++) {
            ck_assert_msg(pinned_indexes[i].paths[p] != NULL, "index %u has more paths", index->number);
            ck_assert_str_eq(index->paths[p], pinned_indexes[i].paths[p]);
        }
        ck_assert_ptr_null(pinned_indexes[i].paths[index->path_count]);
    }
    ck_assert_msg(evd_catalogue_stored()->index_count == PINNED_INDEXES, "pin the new index in this test");
}
END_TEST

START_TEST(numbers_and_names_are_used_once) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    for (size_t a = 0; a < catalogue->collection_count; a++)
        for (size_t b = 0; b < a; b++) {
            if (catalogue->collection_names[a] == NULL || catalogue->collection_names[b] == NULL) continue;
            ck_assert_str_ne(catalogue->collection_names[a], catalogue->collection_names[b]);
            ck_assert_ptr_ne(evd_type_of_collection((evd_collection)a), evd_type_of_collection((evd_collection)b));
        }
    for (size_t a = 0; a < catalogue->index_count; a++) {
        ck_assert_ptr_eq(evd_index_of((enum evd_index_number)a), &catalogue->indexes[a]);
        ck_assert_uint_gt(catalogue->indexes[a].number, 0);
        for (size_t b = 0; b < a; b++) {
            ck_assert_uint_ne(catalogue->indexes[a].number, catalogue->indexes[b].number);
            ck_assert_str_ne(catalogue->indexes[a].name, catalogue->indexes[b].name);
        }
    }
}
END_TEST

START_TEST(every_collection_has_a_record_and_every_record_its_collection) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    for (unsigned in = 0; in < MOST_COLLECTIONS; in++) {
        const struct evd_type *type = evd_type_of_collection((evd_collection)in);
        bool named = in < catalogue->collection_count && catalogue->collection_names[in] != NULL;
        ck_assert_msg((type != NULL) == named, "collection %u", in);
        if (type != NULL) ck_assert_uint_eq(type->in, in);
    }
    ck_assert_ptr_null(evd_type_of_collection(0));
}
END_TEST

/* Every type the dictionary declares, of records and of what is nested in them. */
static const struct evd_type *const declared[] = {
#define EVD_RECORD(T, COLLECTION) &evd_type_##T,
#define EVD_STRUCT(T)             &evd_type_##T,
#define EVD_FIELD(...)
#define EVD_REF(...)
#define EVD_NUMBER(...)
#define EVD_STRING(...)
#define EVD_BYTES(...)
#define EVD_ENUM(...)
#define EVD_NEST(...)
#define EVD_LIST(...)
#define EVD_STRINGS(...)
#define EVD_REFS(...)
#define EVD_VALUE(...)
#define EVD_MEMBERS(...)
#define EVD_END(T)
#include "records/dictionary.def"

#include "evidenced/records/schema_undefine.h"
};

/* The round trips of test_bson, a newer version's documents among them, go over what the specimens list. */
START_TEST(every_type_that_is_declared_is_round_tripped) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
        bool listed = false;
        for (size_t t = 0; t < types.count; t++)
            listed = listed || types.items[t] == declared[i];
        ck_assert_msg(listed, "%s is stored in no record, or its record has no collection", declared[i]->name);
    }
}
END_TEST

START_TEST(every_record_begins_with_what_the_store_needs) {
    static const struct {
        const char *key;
        enum evd_kind kind;
        size_t offset;
    } head[] = {
        {"_id", EVD_KIND_UUID, offsetof(struct evd_record, id)},
        {"projectId", EVD_KIND_UUID, offsetof(struct evd_record, project_id)},
        {"version", EVD_KIND_NUMBER, offsetof(struct evd_record, version)},
        {"stamp", EVD_KIND_STAMP, offsetof(struct evd_record, stamp)},
    };
    struct specimen_types records = specimen_records();
    for (size_t i = 0; i < records.count; i++)
        for (size_t f = 0; f < sizeof head / sizeof *head; f++) {
            const struct evd_field *field = &records.items[i]->fields[f];
            ck_assert_str_eq(field->key, head[f].key);
            ck_assert_int_eq(field->kind, head[f].kind);
            ck_assert_uint_eq(field->offset, head[f].offset);
        }
}
END_TEST

static const struct evd_field *field_named(const struct evd_type *type, const char *key, size_t key_bytes) {
    for (size_t i = 0; type != NULL && i < type->field_count; i++)
        if (strlen(type->fields[i].key) == key_bytes && memcmp(type->fields[i].key, key, key_bytes) == 0)
            return &type->fields[i];
    return NULL;
}

/* The field at the end of a dotted path, NULL when there is none. */
static const struct evd_field *field_at(const struct evd_type *type, const char *path) {
    for (;;) {
        size_t key_bytes = strcspn(path, ".");
        const struct evd_field *field = field_named(type, path, key_bytes);
        if (field == NULL || path[key_bytes] == '\0') return field;
        type = field->of;
        path += key_bytes + 1;
    }
}

static bool can_be_indexed(const struct evd_field *field) {
    switch (field->kind) {
    case EVD_KIND_UUID:
    case EVD_KIND_BOOLEAN:
    case EVD_KIND_STAMP:
    case EVD_KIND_TIME:
    case EVD_KIND_NUMBER:
    case EVD_KIND_STRING:
    case EVD_KIND_ENUM:
    case EVD_KIND_STRINGS:
    case EVD_KIND_UUIDS: return true;
    case EVD_KIND_BYTES:
    case EVD_KIND_NEST:
    case EVD_KIND_LIST:
    case EVD_KIND_VALUE:
    case EVD_KIND_MEMBERS: return false;
    }
    return false;
}

START_TEST(every_index_path_leads_to_a_member_that_has_an_order) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct evd_index *index = &catalogue->indexes[i];
        ck_assert_uint_ge(index->path_count, 1);
        ck_assert_uint_le(index->path_count, EVD_STORE_INDEX_PATHS);
        for (size_t p = 0; p < index->path_count; p++) {
            const struct evd_field *field = field_at(evd_type_of_collection(index->on), index->paths[p]);
            ck_assert_msg(field != NULL, "%s: no %s", index->name, index->paths[p]);
            ck_assert_msg(can_be_indexed(field), "%s: %s", index->name, index->paths[p]);
            ck_assert_str_ne(index->paths[p], "projectId"); /* it is implied */
        }
    }
    ck_assert_ptr_null(field_at(&evd_type_study, "canonicalSummary.stageProjection.nothing"));
    ck_assert_ptr_null(field_at(&evd_type_study, "title.stageId"));
}
END_TEST

START_TEST(every_reference_leads_to_a_collection) {
    struct specimen_types types = specimen_stored_types();
    size_t references = 0;
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++) {
            const struct evd_field *field = &types.items[i]->fields[f];
            if (field->refers == 0) continue;
            references++;
            ck_assert_msg(evd_type_of_collection(field->refers) != NULL, "%s.%s", types.items[i]->name, field->key);
            ck_assert(field->kind == EVD_KIND_UUID || field->kind == EVD_KIND_UUIDS);
        }
    ck_assert_uint_gt(references, 15);
}
END_TEST

static size_t arrays_on(const struct evd_type *type, const char *path) {
    size_t arrays = 0;
    for (;;) {
        size_t key_bytes = strcspn(path, ".");
        const struct evd_field *field = field_named(type, path, key_bytes);
        arrays += field->kind == EVD_KIND_LIST || field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_UUIDS;
        if (path[key_bytes] == '\0') return arrays;
        type = field->of;
        path += key_bytes + 1;
    }
}

START_TEST(an_index_goes_through_one_array_at_most) {
    const struct evd_catalogue *catalogue = evd_catalogue_stored();
    for (size_t i = 0; i < catalogue->index_count; i++) {
        const struct evd_index *index = &catalogue->indexes[i];
        size_t arrays = 0;
        for (size_t p = 0; p < index->path_count; p++)
            arrays += arrays_on(evd_type_of_collection(index->on), index->paths[p]);
        ck_assert_msg(arrays <= 1, "%s", index->name);
    }
    ck_assert_uint_eq(arrays_on(&evd_type_study, "canonicalSummary.stageProjection.stageId"), 1);
    ck_assert_uint_eq(arrays_on(&evd_type_study, "canonicalSummary.forms.members.state"), 2);
}
END_TEST

/* A key may be walked by a dotted path and must be sayable in every store. */
static bool is_plain_key(const char *key) {
    if (key[0] == '\0' || strlen(key) > 60) return false;
    return strspn(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(key);
}

START_TEST(keys_are_plain_and_unique_in_their_type) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++)
        for (size_t a = 0; a < types.items[i]->field_count; a++) {
            const struct evd_field *fields = types.items[i]->fields;
            ck_assert_msg(is_plain_key(fields[a].key), "%s.%s", types.items[i]->name, fields[a].key);
            for (size_t b = 0; b < a; b++)
                ck_assert_msg(strcmp(fields[a].key, fields[b].key) != 0, "%s.%s", types.items[i]->name, fields[a].key);
        }
}
END_TEST

static void assert_field_is_whole(const struct evd_type *type, const struct evd_field *field) {
    bool sized = field->kind == EVD_KIND_STRING || field->kind == EVD_KIND_BYTES || field->kind == EVD_KIND_LIST ||
                 field->kind == EVD_KIND_STRINGS || field->kind == EVD_KIND_UUIDS;
    bool nested = field->kind == EVD_KIND_NEST || field->kind == EVD_KIND_LIST;
    ck_assert_msg((field->max > 0) == sized, "%s.%s: its bound", type->name, field->key);
    ck_assert_msg((field->max_bytes > 0) == (field->kind == EVD_KIND_STRINGS), "%s.%s", type->name, field->key);
    ck_assert_msg((field->of != NULL) == nested, "%s.%s: its type", type->name, field->key);
    ck_assert_msg((field->names != NULL) == (field->kind == EVD_KIND_ENUM), "%s.%s", type->name, field->key);
    ck_assert_msg(field->least <= field->most, "%s.%s: its range", type->name, field->key);
    ck_assert_msg(field->kind != EVD_KIND_NUMBER || field->least < field->most, "%s.%s", type->name, field->key);
    ck_assert_uint_lt(field->offset, type->size_bytes);
    ck_assert_msg(field->kind != EVD_KIND_MEMBERS, "%s: rendered JSON is not stored", type->name);
}

START_TEST(every_stored_member_has_its_bounds_and_none_is_rendered_json) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++) {
        const struct evd_type *type = types.items[i];
        ck_assert_uint_ge(type->field_count, 1);
        ck_assert_uint_le(type->unknown_offset + sizeof(struct evd_unknown), type->size_bytes);
        for (size_t f = 0; f < type->field_count; f++)
            assert_field_is_whole(type, &type->fields[f]);
    }
}
END_TEST

/* Members must not overlap: each is written alone into zeroes, and no other may then differ from zero. */
START_TEST(members_stand_beside_each_other) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++)
        for (size_t a = 0; a < types.items[i]->field_count; a++) {
            const struct evd_type *type = types.items[i];
            struct evd_arena arena;
            evd_arena_init(&arena, SPECIMEN_ARENA_BYTES);
            struct specimen_maker maker = {.arena = &arena, .state = a};
            const uint8_t *zero = evd_arena_alloc(&arena, type->size_bytes);
            uint8_t *made = evd_arena_alloc(&arena, type->size_bytes);
            specimen_member(&maker, &type->fields[a], made + type->fields[a].offset);
            for (size_t b = 0; b < type->field_count; b++) {
                uint32_t offset = type->fields[b].offset;
                if (b != a) ck_assert(specimen_same_member(&type->fields[b], made + offset, zero + offset));
            }
            evd_arena_done(&arena);
        }
}
END_TEST

/* Stored as these texts; a set may grow, but what was released stays. */
static const struct {
    const struct evd_names *names;
    const char *const texts[16];
} pinned_names[] = {
    {&evd_names_role, {"admin", "reviewer", "reconciler", "queryReviewer", "observer"}},
    {&evd_names_question_kind,
     {"text", "integer", "decimal", "boolean", "choice", "multichoice", "date", "unit", "reference", "series"}},
    {&evd_names_stage_status, {"Active", "Completing", "Completed"}},
    {&evd_names_session_state, {"savedIncomplete", "completed", "withdrawn"}},
    {&evd_names_version_kind, {"Save", "Complete", "Fix", "Withdraw", "Upgrade"}},
    {&evd_names_standing,
     {"qualifying", "needsUpdating", "pinnedOlderCounted", "pinnedOlderNotCounted", "notApplicable"}},
    {&evd_names_identity_kind, {"customId", "doi", "pmid", "openAlexId"}},
    {&evd_names_evidence_scope, {"author", "gold"}},
};

START_TEST(names_once_stored_are_still_known) {
    for (size_t i = 0; i < sizeof pinned_names / sizeof *pinned_names; i++)
        for (const char *const *text = pinned_names[i].texts; *text != NULL; text++) {
            int value = evd_names_find(pinned_names[i].names, evd_text_from(*text));
            ck_assert_msg(value > 0, "%s: %s", pinned_names[i].names->set, *text);
            struct evd_text back = evd_name_text(pinned_names[i].names, evd_name_of(value));
            ck_assert(evd_text_equal(back, evd_text_from(*text)));
        }
}
END_TEST

START_TEST(a_set_has_each_name_once_and_knows_no_other) {
    struct specimen_types types = specimen_stored_types();
    for (size_t i = 0; i < types.count; i++)
        for (size_t f = 0; f < types.items[i]->field_count; f++) {
            const struct evd_names *names = types.items[i]->fields[f].names;
            if (names == NULL) continue;
            ck_assert_ptr_null(names->names[0]);
            ck_assert_uint_ge(names->count, 2);
            for (size_t value = 1; value < names->count; value++)
                ck_assert_int_eq(evd_names_find(names, evd_text_from(names->names[value])), (int)value);
            ck_assert_int_eq(evd_names_find(names, EVD_TEXT("")), 0);
            ck_assert_int_eq(evd_names_find(names, EVD_TEXT("ADMIN")), 0);
            ck_assert_int_eq(evd_names_find(names, EVD_TEXT("text\0")), 0);
            ck_assert_ptr_null(evd_name_text(names, (struct evd_name){.value = 0}).bytes);
            ck_assert_ptr_null(evd_name_text(names, evd_name_of((int)names->count)).bytes);
            ck_assert_ptr_null(evd_name_text(names, evd_name_of(-1)).bytes);
        }
}
END_TEST

static struct evd_answer_value text_value(const char *text) {
    return (struct evd_answer_value){.kind = EVD_ANSWER_TEXT, .text = evd_text_from(text)};
}

START_TEST(answers_are_equal_when_kind_and_content_are) {
    struct evd_text ab[] = {EVD_TEXT_INIT("a"), EVD_TEXT_INIT("b")}, ac[] = {EVD_TEXT_INIT("a"), EVD_TEXT_INIT("c")};
#define POINT(a, b)                                                                                                    \
    { .time = EVD_TEXT_INIT(a), .average = EVD_TEXT_INIT(b) }
#define POINT_OF(a, b, c)                                                                                              \
    { .time = EVD_TEXT_INIT(a), .average = EVD_TEXT_INIT(b), .error = EVD_TEXT_INIT(c) }
    struct evd_answer_point points[] = {POINT("0", "1"),        POINT("1", "1"),         POINT("0", "1.0"),
                                        POINT_OF("0", "1", ""), POINT_OF("0", "1", "2"), POINT_OF("0", "1", "2.0")};
    const struct evd_answer_value values[] = {
        {.kind = EVD_ANSWER_NONE},
        text_value(""),
        text_value("1"),
        text_value("1.50"),
        text_value("1.5"),
        {.kind = EVD_ANSWER_INTEGER, .integer = 0},
        {.kind = EVD_ANSWER_INTEGER, .integer = 1},
        {.kind = EVD_ANSWER_BOOLEAN, .boolean = false},
        {.kind = EVD_ANSWER_BOOLEAN, .boolean = true},
        {.kind = EVD_ANSWER_TEXTS},
        {.kind = EVD_ANSWER_TEXTS, .texts = {ab, 1}},
        {.kind = EVD_ANSWER_TEXTS, .texts = {ab, 2}},
        {.kind = EVD_ANSWER_TEXTS, .texts = {ac, 2}},
        {.kind = EVD_ANSWER_POINTS, .points = {points, 1}},
        {.kind = EVD_ANSWER_POINTS, .points = {points, 2}},
        {.kind = EVD_ANSWER_POINTS, .points = {points + 1, 1}},
        {.kind = EVD_ANSWER_POINTS, .points = {points + 2, 1}},
        {.kind = EVD_ANSWER_POINTS, .points = {points + 3, 1}},
        {.kind = EVD_ANSWER_POINTS, .points = {points + 4, 1}},
        {.kind = EVD_ANSWER_POINTS, .points = {points + 5, 1}},
    };
    for (size_t a = 0; a < sizeof values / sizeof *values; a++)
        for (size_t b = 0; b < sizeof values / sizeof *values; b++)
            ck_assert_msg(evd_answer_value_equal(&values[a], &values[b]) == (a == b), "%zu and %zu", a, b);
}
END_TEST

EVD_TEST_MAIN("records: the data dictionary", collections_keep_their_numbers_and_names,
              indexes_keep_their_numbers_and_paths, numbers_and_names_are_used_once,
              every_collection_has_a_record_and_every_record_its_collection,
              every_type_that_is_declared_is_round_tripped, every_record_begins_with_what_the_store_needs,
              every_index_path_leads_to_a_member_that_has_an_order, an_index_goes_through_one_array_at_most,
              every_reference_leads_to_a_collection, keys_are_plain_and_unique_in_their_type,
              every_stored_member_has_its_bounds_and_none_is_rendered_json, members_stand_beside_each_other,
              names_once_stored_are_still_known, a_set_has_each_name_once_and_knows_no_other,
              answers_are_equal_when_kind_and_content_are)
