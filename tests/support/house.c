#include "house.h"

#include "scripted_store.h"

#include "evidenced/base/limits.h"
#include "evidenced/base/sha256.h"
#include "evidenced/records/keys.h"
#include "evidenced/store/embedded.h"

#include <pthread.h>

static const int64_t wall_ms = INT64_C(1800000000000);

struct asked {
    struct evd_call call;
    struct evd_arena arena;
    struct evd_task task;
    struct house *house;
    char *body;
    pthread_mutex_t mutex; /* of order */
    pthread_cond_t answered;
    unsigned order; /* 0: not answered yet */
};

static void start(struct house *house, bool scripted) {
    char error[EVD_EMBEDDED_ERROR_BYTES];
    struct evd_embedded_options store = {
        .directory = house->directory, .catalogue = evd_catalogue_stored(), .clock = house->time};
    house->store = evd_embedded_open(&store, error);
    ck_assert_msg(house->store != NULL, "%s", error);
    if (scripted) house->store = scripted_store_new(house->store, &house->script);
    struct evd_runtime_options options = {.store = house->store,
                                          .clock = house->time,
                                          .random = house->workers == 0 ? &house->random.random : evd_random_system(),
                                          .workers = house->workers,
                                          .queue = 10000,
                                          .conformance = true};
    house->runtime = evd_runtime_open(&options);
}

static void open_house(struct house *house, unsigned workers, bool scripted) {
    char *path;
    *house = (struct house){.workers = workers};
    evd_test_clock_init(&house->clock, wall_ms);
    house->time = workers == 0 ? &house->clock.clock : evd_clock_system();
    evd_test_random_init(&house->random, 1);
    ck_assert_int_gt(asprintf(&path, "%s/store", evd_test_directory()), 0);
    house->directory = path;
    start(house, scripted);
}

void house_open(struct house *house, unsigned workers) {
    open_house(house, workers, false);
}

void house_open_scripted(struct house *house, unsigned workers) {
    open_house(house, workers, true);
}

void house_restart(struct house *house) {
    evd_runtime_close(house->runtime);
    evd_store_close(house->store);
    start(house, house->script != NULL);
}

void house_close(struct house *house) {
    evd_runtime_close(house->runtime);
    evd_store_close(house->store);
    free((char *)(uintptr_t)house->directory);
}

static evd_uuid numbered(const char *what, unsigned number) {
    struct evd_text part = {(const char *)&number, sizeof number};
    evd_uuid id = evd_uuid_derive(what, &part, 1);
    id.bytes[6] = (uint8_t)(0x40 | (id.bytes[6] & 0x0F)); /* a random one's version: derived ids are refused */
    return id;
}

evd_uuid person(unsigned number) {
    return numbered("person", number);
}

evd_uuid command_id(unsigned number) {
    return numbered("command", number);
}

static void done(struct evd_call *call) {
    struct asked *asked = call->owner;
    (void)pthread_mutex_lock(&asked->mutex);
    asked->order = atomic_fetch_add(&asked->house->answered, 1) + 1;
    (void)pthread_cond_signal(&asked->answered);
    (void)pthread_mutex_unlock(&asked->mutex);
}

static void run_task(struct evd_task *task) {
    struct asked *asked = (struct asked *)((char *)task - offsetof(struct asked, task));
    evd_runtime_run(asked->house->runtime, &asked->call);
}

struct asked *asked_new(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                        evd_uuid id, const char *body) {
    struct asked *asked = calloc(1, sizeof *asked);
    if (asked == NULL) abort();
    asked->house = house;
    asked->task.run = run_task;
    asked->body = body == NULL ? NULL : strdup(body);
    (void)pthread_mutex_init(&asked->mutex, NULL);
    (void)pthread_cond_init(&asked->answered, NULL);
    evd_arena_init(&asked->arena, EVD_LIMIT_CALL_ARENA_BYTES);
    evd_arena_init(&asked->call.attempt_arena, EVD_LIMIT_CALL_ARENA_BYTES);
    asked->call.command = command;
    asked->call.arena = &asked->arena;
    asked->call.ids = ids;
    asked->call.caller = caller;
    asked->call.command_id = id;
    asked->call.may_create_projects = true;
    asked->call.body = evd_text_from(asked->body);
    asked->call.page.limit = EVD_LIMIT_PAGE_DEFAULT;
    asked->call.deadline_ms = evd_clock_monotonic_ms(house->time) + EVD_LIMIT_DEADLINE_MS;
    asked->call.done = done;
    asked->call.owner = asked;
    return asked;
}

struct asked *asked_twin(struct asked *asked) {
    const struct evd_call *call = &asked->call;
    struct asked *twin = asked_new(asked->house, call->command, call->ids, call->caller, call->command_id, NULL);
    twin->call.body = call->body;
    twin->call.media = call->media;
    twin->call.page = call->page;
    twin->call.options = call->options;
    twin->call.conditions = call->conditions;
    twin->call.is_operator = call->is_operator;
    return twin;
}

struct evd_call *asked_call(struct asked *asked) {
    return &asked->call;
}

void asked_go(struct asked *asked) {
    void (*before)(struct asked *) = asked->house->before;
    asked->house->before = NULL; /* whoever is called may ask too */
    if (before != NULL) before(asked);
    asked->house->before = before;
    if (asked->house->workers == 0)
        evd_runtime_run(asked->house->runtime, &asked->call);
    else
        ck_assert(evd_runtime_post(asked->house->runtime, &asked->task));
}

unsigned asked_order(struct asked *asked) {
    (void)pthread_mutex_lock(&asked->mutex);
    unsigned order = asked->order;
    (void)pthread_mutex_unlock(&asked->mutex);
    return order;
}

void house_run(struct house *house) {
    evd_runtime_tick(house->runtime);
    while (evd_runtime_work(house->runtime)) {
    }
}

void asked_await(struct asked *asked) {
    struct house *house = asked->house;
    while (house->workers == 0 && asked_order(asked) == 0) {
        evd_test_clock_advance(&house->clock, 1);
        house_run(house);
    }
    (void)pthread_mutex_lock(&asked->mutex);
    while (asked->order == 0)
        (void)pthread_cond_wait(&asked->answered, &asked->mutex);
    (void)pthread_mutex_unlock(&asked->mutex);
}

static json_t *object_of(struct evd_text members) {
    char *text;
    json_error_t error;
    ck_assert_int_gt(asprintf(&text, "{" EVD_TEXT_FMT "}", EVD_TEXT_ARG(members)), 0);
    json_t *object = json_loads(text, 0, &error);
    ck_assert_msg(object != NULL, "%s: %s", error.text, text);
    free(text);
    return object;
}

static json_t *errors_of(const struct evd_errors *errors) {
    json_t *list = json_array();
    for (size_t i = 0; i < errors->count; i++) {
        const struct evd_error *error = &errors->items[i];
        json_t *entry = object_of(error->members),
               *pointer = json_stringn(error->pointer.bytes, error->pointer.size_bytes);
        (void)json_object_set_new(entry, "pointer", pointer);
        (void)json_object_set_new(entry, "code", json_string(error->code));
        (void)json_array_append_new(list, entry);
    }
    return list;
}

static json_t *members_of(const struct evd_outcome *outcome) {
    json_t *members = object_of(outcome->members);
    if (outcome->errors != NULL) (void)json_object_set_new(members, "errors", errors_of(outcome->errors));
    return members;
}

static struct reply reply_of(const struct evd_call *call) {
    struct reply reply = {.code = call->outcome.code,
                          .reason = call->outcome.reason,
                          .replayed = call->replayed,
                          .charged = call->attempts_charged,
                          .free = call->attempts_free};
    uint64_t bit = EVD_OUTCOME_BIT(call->outcome.code);
    ck_assert_msg(reply.code == EVD_OK || (evd_command_outcomes(call->command) & bit) != 0, "%s may not answer %s",
                  call->command->name, evd_outcome_entry_of(reply.code)->name);
    if (reply.code != EVD_OK) {
        reply.body = members_of(&call->outcome);
        return reply;
    }
    if (call->command->streamed) { /* a piece of one; see ask_streamed */
        reply.text = strndup(call->receipt.bytes, call->receipt.size_bytes);
        return reply;
    }
    json_error_t error;
    reply.text = strndup(call->receipt.bytes, call->receipt.size_bytes);
    reply.body = json_loads(reply.text, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(reply.body != NULL, "%s: %s", error.text, reply.text);
    return reply;
}

void reply_done(struct reply *reply) {
    json_decref(reply->body);
    free(reply->text);
    *reply = (struct reply){0};
}

void asked_drop(struct asked *asked) {
    evd_arena_done(&asked->call.attempt_arena);
    evd_arena_done(&asked->arena);
    (void)pthread_cond_destroy(&asked->answered);
    (void)pthread_mutex_destroy(&asked->mutex);
    free(asked->body);
    free(asked);
}

struct reply asked_end(struct asked *asked) {
    asked_await(asked);
    struct reply reply = reply_of(&asked->call);
    asked_drop(asked);
    return reply;
}

static void add_piece(struct streamed *streamed, struct evd_text piece) {
    streamed->bytes = realloc(streamed->bytes, streamed->size_bytes + piece.size_bytes + 1);
    if (streamed->bytes == NULL) abort();
    if (piece.size_bytes > 0) memcpy(streamed->bytes + streamed->size_bytes, piece.bytes, piece.size_bytes);
    streamed->size_bytes += piece.size_bytes;
    streamed->bytes[streamed->size_bytes] = '\0';
    streamed->pieces++;
    if (piece.size_bytes > streamed->largest_bytes) streamed->largest_bytes = piece.size_bytes;
}

static void run_task_again(struct evd_task *task) {
    struct asked *asked = (struct asked *)((char *)task - offsetof(struct asked, task));
    evd_runtime_run_again(asked->house->runtime, &asked->call);
}

static void go_again(struct asked *asked) {
    asked->order = 0;
    asked->call.deadline_ms = evd_clock_monotonic_ms(asked->house->time) + EVD_LIMIT_DEADLINE_MS;
    asked->task.run = run_task_again;
    if (asked->house->workers == 0)
        run_task_again(&asked->task);
    else
        evd_runtime_go_on(asked->house->runtime, &asked->task);
}

bool asked_piece(struct asked *asked, struct streamed *streamed) {
    static const struct evd_text none = {"", 0};
    const struct evd_call *call = &asked->call;
    if (streamed->pieces == 0)
        asked_go(asked);
    else
        go_again(asked);
    asked_await(asked);
    streamed->code = call->outcome.code;
    streamed->reason = call->outcome.reason;
    uint64_t bit = EVD_OUTCOME_BIT(streamed->code);
    ck_assert_msg(streamed->code == EVD_OK || (evd_command_outcomes(call->command) & bit) != 0, "%s may not answer %s",
                  call->command->name, evd_outcome_entry_of(streamed->code)->name);
    add_piece(streamed, streamed->code == EVD_OK ? call->receipt : none);
    return streamed->code == EVD_OK && call->stream.more;
}

struct streamed ask_streamed(struct house *house, const struct evd_command *command, struct evd_ids ids,
                             evd_uuid caller, size_t page) {
    struct streamed streamed = {0};
    struct asked *asked = asked_new(house, command, ids, caller, evd_uuid_nil(), NULL);
    asked_call(asked)->page.limit = page;
    while (asked_piece(asked, &streamed)) {
    }
    asked_drop(asked);
    return streamed;
}

void streamed_equal(const struct streamed *a, const struct streamed *b) {
    ck_assert_uint_eq(a->size_bytes, b->size_bytes);
    ck_assert(memcmp(a->bytes, b->bytes, a->size_bytes) == 0);
}

void streamed_done(struct streamed *streamed) {
    free(streamed->bytes);
    *streamed = (struct streamed){0};
}

struct reply ask(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                 evd_uuid id, const char *body) {
    struct asked *asked = asked_new(house, command, ids, caller, id, body);
    asked_go(asked);
    return asked_end(asked);
}

struct reply ask_ok(struct house *house, const struct evd_command *command, struct evd_ids ids, evd_uuid caller,
                    evd_uuid id, const char *body) {
    struct reply reply = ask(house, command, ids, caller, id, body);
    char *members = reply.code == EVD_OK ? NULL : json_dumps(reply.body, 0);
    ck_assert_msg(reply.code == EVD_OK, "%s: %s %s", command->name, evd_outcome_entry_of(reply.code)->name, members);
    return reply;
}

const char *text_of(const struct reply *reply, const char *member) {
    const char *text = json_string_value(json_object_get(reply->body, member));
    ck_assert_msg(text != NULL, "no %s in the reply", member);
    return text;
}

long long number_of(const struct reply *reply, const char *member) {
    const json_t *number = json_object_get(reply->body, member);
    ck_assert_msg(json_is_integer(number), "no %s in the reply", member);
    return json_integer_value(number);
}

static evd_uuid id_of(struct reply reply, const char *member) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, member)), &id));
    reply_done(&reply);
    return id;
}

static char *questions_of(unsigned count) {
    json_t *list = json_array();
    for (unsigned i = 1; i <= count; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "q%u", i);
        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:b}", "id", id, "label", id, "kind", "text", "required", i == 1));
    }
    char *text = json_dumps(list, 0);
    json_decref(list);
    return text;
}

static void furnish_form(struct house *house, const char *questions, unsigned target) {
    char *body, form[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house->project};
    ck_assert_int_gt(
        asprintf(&body, "{\"name\":\"Extraction\",\"capacity\":{\"target\":%u},\"questions\":%s}", target, questions),
        0);
    ids.form = house->form =
        id_of(ask_ok(house, &evd_command_create_form, ids, house->admin, command_id(9001), body), "id");
    free(body);
    evd_uuid_format(house->form, form);
    for (unsigned i = 0; i < 2; i++) {
        ck_assert_int_gt(asprintf(&body, "{\"name\":\"Stage %u\",\"formId\":\"%s\"}", i, form), 0);
        *(i == 0 ? &house->stage : &house->other_stage) =
            id_of(ask_ok(house, &evd_command_create_stage, ids, house->admin, command_id(9002 + i), body), "id");
        free(body);
    }
    house->form_version =
        id_of(ask_ok(house, &evd_command_publish_form, ids, house->admin, command_id(9004), "{\"baseVersion\":3}"),
              "formVersionId");
}

static void furnish_studies(struct house *house) {
    struct evd_ids ids = {.project = house->project};
    struct reply reply = ask_ok(house, &evd_command_add_studies, ids, house->admin, command_id(9005),
                                "{\"studies\":[{\"title\":\"First\"},{\"title\":\"Second\"}]}");
    json_t *rows = json_object_get(reply.body, "rows");
    for (size_t i = 0; i < 2; i++) {
        const char *id = json_string_value(json_object_get(json_array_get(rows, i), "studyId"));
        ck_assert(evd_uuid_parse(evd_text_from(id), i == 0 ? &house->study : &house->other_study));
    }
    reply_done(&reply);
}

void house_furnish(struct house *house, unsigned questions, unsigned target) {
    char *list = questions_of(questions);
    house_furnish_with(house, list, target);
    free(list);
}

void house_furnish_with(struct house *house, const char *questions, unsigned target) {
    static const struct evd_ids none;
    house->admin = person(0);
    house->project = id_of(
        ask_ok(house, &evd_command_create_project, none, house->admin, command_id(9000), "{\"name\":\"A review\"}"),
        "id");
    for (unsigned i = 1; i < 10; i++) {
        char body[200], id[EVD_UUID_TEXT_BYTES + 1];
        struct evd_ids ids = {.project = house->project};
        evd_uuid_format(person(i), id);
        (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[\"reviewer\"]}", id);
        struct reply reply = ask_ok(house, &evd_command_set_member, ids, house->admin, command_id(9100 + i), body);
        reply_done(&reply);
    }
    furnish_form(house, questions, target);
    furnish_studies(house);
}

struct evd_ids session_ids(const struct house *house) {
    return (struct evd_ids){.project = house->project, .study = house->study, .form = house->form};
}

char *save_body(const struct house *house, const char *base, unsigned first, unsigned last, const char *value) {
    char stage[EVD_UUID_TEXT_BYTES + 1];
    json_t *answers = json_array();
    evd_uuid_format(house->stage, stage);
    for (unsigned i = first; i <= last; i++) {
        char id[16];
        (void)snprintf(id, sizeof id, "q%u", i);
        (void)json_array_append_new(answers,
                                    json_pack("{s:s, s:s, s:n}", "question", id, "value", value, "baseRevision"));
    }
    json_t *body = json_pack("{s:s, s:i, s:s?, s:n, s:o}", "stage", stage, "formVersion", 1, "baseVersion", base,
                             "draft", "answers", answers);
    char *text = json_dumps(body, 0);
    json_decref(body);
    return text;
}
