/*
 * The rules every command keeps, proved on what it really read and writes. Test builds run this before each commit
 * and die on a violation: it is a programmer's error, and no test of the command's outcome would show it.
 *
 *   - a record refers only to records that were read in the attempt or are written with it, and to immutable ones that
 *     a record that was read names
 *   - a command on a study writes that Study (CR-1) and no per-project or per-form record (CR-2)
 *   - a command on exposures writes exposures and nothing else
 *   - a command on a draft writes drafts and nothing else; a refusal writes copies of drafts and nothing else
 *   - no key is written twice, and every replaced record was read
 */
#include "evidenced/records/bson.h"
#include "runtime/private.h"

static _Noreturn void violated(const struct evd_call *call, const char *rule, const char *what) {
    (void)fprintf(stderr, "conformance: %s: %s (%s)\n", call->command->name, rule, what);
    abort();
}

static const void *member(const void *from, const struct evd_field *field) {
    return (const uint8_t *)from + field->offset;
}

typedef bool reference_visitor(const void *self, evd_collection in, evd_uuid id);

/* Calls visit for every reference in the struct, nested ones too, until it returns false. */
static bool walk_references(const struct evd_type *type, const void *from, reference_visitor *visit, const void *self) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct evd_field *field = &type->fields[i];
        if (field->kind == EVD_KIND_UUID && field->refers != 0) {
            const evd_uuid *id = member(from, field);
            if (!evd_uuid_is_nil(*id) && !visit(self, field->refers, *id)) return false;
        } else if (field->kind == EVD_KIND_UUIDS && field->refers != 0) {
            const struct evd_list *list = member(from, field);
            for (size_t at = 0; at < list->count; at++)
                if (!visit(self, field->refers, ((const evd_uuid *)list->items)[at])) return false;
        } else if (field->kind == EVD_KIND_NEST) {
            const void *const *nest = member(from, field);
            if (*nest != NULL && !walk_references(field->of, *nest, visit, self)) return false;
        } else if (field->kind == EVD_KIND_LIST) {
            const struct evd_list *list = member(from, field);
            const uint8_t *items = list->items;
            for (size_t at = 0; at < list->count; at++)
                if (!walk_references(field->of, items + at * field->of->size_bytes, visit, self)) return false;
        }
    }
    return true;
}

struct sought {
    evd_collection in;
    evd_uuid id;
};

static bool is_not_sought(const void *self, evd_collection in, evd_uuid id) {
    const struct sought *sought = self;
    return in != sought->in || !evd_uuid_equal(id, sought->id);
}

struct checking {
    struct evd_call *call;
    const struct evd_written *written;
    const void *before; /* decoded; NULL for an insert */
};

static bool is_written(const struct evd_call *call, evd_collection in, evd_uuid id) {
    for (size_t i = 0; i < call->writes->count; i++) {
        const struct evd_key *key = &call->writes->items[i].write.key;
        if (key->in == in && evd_uuid_equal(key->id, id)) return true;
    }
    return false;
}

static bool is_immutable(evd_collection in) {
    return in == EVD_IN_FORM_VERSION || in == EVD_IN_SETTINGS_VERSION || in == EVD_IN_FORM_SESSION_VERSION ||
           in == EVD_IN_PIN_MAP || in == EVD_IN_ANNOTATION_REVISION || in == EVD_IN_EXPOSURE ||
           in == EVD_IN_DRAFT_EVENT;
}

/*
 * A record that was read vouches for the immutable ones it names: they cannot have changed, and its stamp is not
 * smaller than theirs. So a revision may name its predecessor, which its head names, without reading it.
 */
static bool is_vouched_for(const struct evd_call *call, const struct sought *sought) {
    for (size_t i = 0; i < call->reads->count; i++) {
        const struct evd_read_entry *entry = &call->reads->entries[i];
        if (entry->record == NULL) continue;
        if (!walk_references(evd_type_of_collection(entry->key.in), entry->record, is_not_sought, sought)) return true;
    }
    return false;
}

/* A reference that stood in the record before was judged when it was written. */
static bool check_reference(const void *self, evd_collection in, evd_uuid id) {
    const struct checking *checking = self;
    struct sought sought = {.in = in, .id = id};
    if (evd_reader_has(checking->call, in, id) || is_written(checking->call, in, id)) return true;
    if (checking->before != NULL && !walk_references(checking->written->type, checking->before, is_not_sought, &sought))
        return true;
    if (is_immutable(in) && is_vouched_for(checking->call, &sought)) return true;
    violated(checking->call, "a record refers to one that was not read", checking->written->type->name);
}

static const void *decode(struct evd_call *call, const struct evd_type *type, struct evd_image image) {
    void *record = evd_arena_alloc(evd_call_arena(call), type->size_bytes);
    if (evd_bson_decode(type, image.bson, image.size_bytes, evd_call_arena(call), record) == EVD_DECODED_CORRUPT)
        violated(call, "a written record does not decode", type->name);
    return record;
}

static bool is_definition(evd_collection in) {
    return in == EVD_IN_PROJECT || in == EVD_IN_FORM || in == EVD_IN_FORM_DRAFT || in == EVD_IN_STAGE ||
           in == EVD_IN_FORM_VERSION || in == EVD_IN_SETTINGS_VERSION || in == EVD_IN_MEMBERSHIP ||
           in == EVD_IN_KNOWN_PROJECT || in == EVD_IN_OWN_PROJECT;
}

static bool is_of_a_draft(evd_collection in) {
    return in == EVD_IN_SESSION_DRAFT || in == EVD_IN_DRAFT_COPY || in == EVD_IN_DRAFT_EVENT ||
           in == EVD_IN_FORM_SESSION || in == EVD_IN_COMMAND_LEDGER;
}

static void check_scope(const struct evd_call *call, const struct evd_written *written) {
    evd_collection in = written->write.key.in;
    enum evd_write_scope scope = call->command->scope;
    if (is_definition(in) && scope != EVD_WRITES_DEFINITIONS)
        violated(call, "an interactive command writes a per-project or per-form record", written->type->name);
    bool refused = call->outcome.code != EVD_OK;
    if (refused && in != EVD_IN_DRAFT_COPY)
        violated(call, "a refusal writes something but a copy of a draft", written->type->name);
    if (scope == EVD_WRITES_DRAFTS && !is_of_a_draft(in))
        violated(call, "a command on a draft writes something else", written->type->name);
    if (scope == EVD_WRITES_EXPOSURES && in != EVD_IN_EXPOSURE && in != EVD_IN_COMMAND_LEDGER)
        violated(call, "a command on exposures writes something else", written->type->name);
}

static void check_write(struct evd_call *call, const struct evd_written *written) {
    const struct evd_write *write = &written->write;
    struct checking checking = {.call = call, .written = written};
    check_scope(call, written);
    if (write->kind == EVD_DELETE) return;
    if (write->kind == EVD_REPLACE) checking.before = decode(call, written->type, write->before);
    (void)walk_references(written->type, decode(call, written->type, write->after), check_reference, &checking);
}

static void check_distinct(const struct evd_call *call, size_t at) {
    const struct evd_key *key = &call->writes->items[at].write.key;
    for (size_t other = 0; other < at; other++) {
        const struct evd_key *earlier = &call->writes->items[other].write.key;
        if (earlier->in == key->in && evd_uuid_equal(earlier->id, key->id))
            violated(call, "a record is written twice", call->writes->items[at].type->name);
    }
}

void evd_conformance_check(struct evd_call *call) {
    enum { QUADRATIC_UP_TO = 2000 };
    if (call->writes->count > QUADRATIC_UP_TO) return;
    for (size_t i = 0; i < call->writes->count; i++) {
        check_distinct(call, i);
        check_write(call, &call->writes->items[i]);
    }
    if (call->outcome.code != EVD_OK) return; /* what a refusal keeps */
    for (size_t lane = 0; lane < call->lane_count; lane++)
        if (call->command->scope == EVD_WRITES_STUDY && !is_written(call, EVD_IN_STUDY, call->lane_studies[lane]))
            violated(call, "a command on a study does not write its Study", "study");
}
