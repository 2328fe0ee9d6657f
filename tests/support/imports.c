#include "imports.h"

#include "evidenced/base/limits.h"
#include "evidenced/commands/plans.h"

enum { MOST_MOVES = 100000 };

static void note_begun(void *self, const struct evd_driven *driven, bool taken_over) {
    struct imports *imports = self;
    (void)driven;
    imports->begun++;
    imports->taken_over += taken_over;
}

static void note_step(void *self, const struct evd_driven *driven, const struct evd_command *command,
                      enum evd_outcome_code code) {
    struct imports *imports = self;
    imports->last_step = command;
    imports->last_code = code;
    if (code != EVD_OK) return;
    if (imports->steps < sizeof imports->turns / sizeof *imports->turns)
        imports->turns[imports->steps] = driven->project;
    imports->steps++;
}

static void note_settled(void *self, const struct evd_driven *driven) {
    (void)driven;
    ((struct imports *)self)->settled++;
}

static void note_stuck(void *self, const struct evd_driven *driven, const struct evd_command *command,
                       enum evd_outcome_code code) {
    (void)driven;
    (void)command;
    (void)code;
    ((struct imports *)self)->stuck++;
}

void imports_open(struct imports *imports, struct house *house) {
    *imports = (struct imports){.house = house};
    struct evd_driver_options options = {
        .runtime = house->runtime,
        .clock = house->time,
        .observer = {
            .self = imports, .begun = note_begun, .stepped = note_step, .settled = note_settled, .stuck = note_stuck}};
    options.plans = evd_operation_plans(&options.plan_count);
    imports->driver = evd_driver_open(&options);
}

void imports_close(struct imports *imports) {
    evd_driver_close(imports->driver);
}

struct reply imports_ask(struct imports *imports, evd_uuid caller, unsigned id, const struct import_file *file) {
    struct evd_ids ids = {.project = imports->house->project};
    struct asked *asked = asked_new(imports->house, &evd_command_create_import, ids, caller, command_id(id), NULL);
    struct evd_call *call = asked_call(asked);
    call->body = evd_text_from(file->content);
    if (file->size_bytes > 0) call->body.size_bytes = file->size_bytes;
    call->media = file->media == EVD_MEDIA_JSON ? EVD_MEDIA_CSV : file->media;
    call->options = file->options;
    asked_go(asked);
    asked_await(asked);
    if (call->outcome.code == EVD_OK) evd_driver_poke(imports->driver, ids.project, call->made);
    return asked_end(asked);
}

evd_uuid imports_id(const struct reply *reply, const char *member) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(reply, member)), &id));
    return id;
}

evd_uuid imports_begin(struct imports *imports, unsigned id, const struct import_file *file) {
    struct reply reply = imports_ask(imports, imports->house->admin, id, file);
    char *members = reply.code == EVD_OK ? NULL : json_dumps(reply.body, 0);
    ck_assert_msg(reply.code == EVD_OK, "%s %s", evd_outcome_entry_of(reply.code)->name, members);
    evd_uuid operation = imports_id(&reply, "id");
    reply_done(&reply);
    return operation;
}

struct reply imports_undo(struct imports *imports, evd_uuid caller, unsigned id, evd_uuid import) {
    struct evd_ids ids = {.project = imports->house->project, .operation = import};
    struct asked *asked = asked_new(imports->house, &evd_command_undo_import, ids, caller, command_id(id), NULL);
    asked_go(asked);
    asked_await(asked);
    struct evd_call *call = asked_call(asked);
    if (call->outcome.code == EVD_OK) evd_driver_poke(imports->driver, ids.project, call->made);
    return asked_end(asked);
}

bool imports_step(struct imports *imports) {
    for (unsigned moves = 0; moves < MOST_MOVES; moves++) {
        struct evd_driver_figures figures;
        house_run(imports->house);
        if (evd_driver_step(imports->driver)) return true;
        evd_driver_figures(imports->driver, &figures);
        if (figures.open == figures.stuck && figures.in_hand == 0) return false;
        evd_test_clock_advance(&imports->house->clock, 10);
    }
    ck_abort_msg("an operation does not end");
}

bool imports_step_until(struct imports *imports, const struct evd_command *command) {
    imports->last_step = NULL;
    while (imports->last_step != command)
        if (!imports_step(imports)) return false;
    return true;
}

void imports_run(struct imports *imports) {
    while (imports_step(imports)) {
    }
}

struct reply imports_look(struct imports *imports, evd_uuid operation) {
    struct evd_ids ids = {.project = imports->house->project, .operation = operation};
    return ask_ok(imports->house, &evd_command_get_operation, ids, imports->house->admin, command_id(0), NULL);
}

struct reply imports_do(struct imports *imports, unsigned id, const char *csv, struct evd_options options) {
    evd_uuid operation = imports_begin(imports, id, &(struct import_file){.content = csv, .options = options});
    imports_run(imports);
    return imports_look(imports, operation);
}

static struct reply rows_page(struct imports *imports, evd_uuid operation, const char *result, const char *cursor) {
    struct evd_ids ids = {.project = imports->house->project, .operation = operation};
    struct asked *asked =
        asked_new(imports->house, &evd_command_list_operation_rows, ids, imports->house->admin, command_id(0), NULL);
    asked_call(asked)->page.limit = 99;
    if (result != NULL) asked_call(asked)->page.result = evd_text_from(result);
    if (cursor != NULL) asked_call(asked)->page.cursor = evd_text_from(cursor);
    asked_go(asked);
    return asked_end(asked);
}

json_t *imports_rows(struct imports *imports, evd_uuid operation, const char *result) {
    json_t *all = json_array();
    char *cursor = NULL;
    do {
        struct reply page = rows_page(imports, operation, result, cursor);
        ck_assert_int_eq(page.code, EVD_OK);
        (void)json_array_extend(all, json_object_get(page.body, "items"));
        const char *next = json_string_value(json_object_get(page.body, "next"));
        free(cursor);
        cursor = next == NULL ? NULL : strdup(next);
        reply_done(&page);
    } while (cursor != NULL);
    return all;
}

/* One line, the summary, and no findings before it. */
void imports_expect_sound(struct imports *imports) {
    struct evd_ids ids = {.project = imports->house->project};
    struct streamed lines =
        ask_streamed(imports->house, &evd_command_verify_project, ids, imports->house->admin, EVD_LIMIT_PAGE);
    ck_assert_int_eq(lines.code, EVD_OK);
    ck_assert_msg(strstr(lines.bytes, "\"findings\":0") != NULL && strstr(lines.bytes, "\"check\"") == NULL, "%s",
                  lines.bytes);
    streamed_done(&lines);
}

char *imports_csv(unsigned first, unsigned count) {
    char *csv = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&csv, &size);
    if (out == NULL) abort();
    (void)fprintf(out, "title,doi\n");
    for (unsigned i = first; i < first + count; i++)
        (void)fprintf(out, "T%u,10.1/%u\n", i, i);
    (void)fclose(out);
    return csv;
}
