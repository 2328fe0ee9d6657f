/*
 * Histories: many clients on few studies, a daemon that is killed again and again, and everything that was asked and
 * answered judged by a checker of its own (tests/support/history.h). EVIDENCED_CLIENTS: how many, 8 unless it says so.
 */
#include "../support/desk.h"
#include "../support/history.h"
#include "../support/test.h"

enum { CLIENTS = 8, CLIENTS_MOST = 32, STUDIES = 3, TURNS = 40, KILLS = 5, BODY_BYTES = 1024 };

/* What a client knows of its session on one study. */
struct seat {
    history_id base;
    long long etag, write_seq; /* of its draft; etag 0: none yet */
    bool typed;                /* the draft holds what no version has yet */
};

struct reviewer {
    unsigned number;
    bool types;                      /* autosaves before each command */
    struct evd_daemon_process where; /* ports as they were when it last looked: the original changes at a restart */
    struct evd_client client;
    history_id holder;
    struct seat seats[STUDIES];
    struct evd_test_random random;
    pthread_t thread;
};

static struct evd_daemon_process process;
static struct desk desk;
static struct history history;
static struct reviewer reviewers[CLIENTS_MOST];
static unsigned clients;

/* The daemon is there, or is being started again; and how much was answered so far. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool down;
    unsigned answered, finished;
} run = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void note_answer(bool finished) {
    (void)pthread_mutex_lock(&run.mutex);
    run.answered += !finished;
    run.finished += finished;
    (void)pthread_cond_broadcast(&run.changed);
    (void)pthread_mutex_unlock(&run.mutex);
}

static void await_daemon(struct reviewer *reviewer) {
    (void)pthread_mutex_lock(&run.mutex);
    while (run.down)
        (void)pthread_cond_wait(&run.changed, &run.mutex);
    reviewer->where.api_port = process.api_port;
    reviewer->where.admin_port = process.admin_port;
    (void)pthread_mutex_unlock(&run.mutex);
}

static unsigned draw(struct reviewer *reviewer, unsigned below) {
    return (unsigned)evd_random_below(&reviewer->random.random, below);
}

static int64_t number_of(const struct evd_reply *reply, const char *member) {
    return json_integer_value(json_object_get(reply->json, member));
}

static enum history_answer answer_of(const struct evd_reply *reply) {
    if (reply->status == 200) return HISTORY_OK;
    bool unknown = reply->status == 0 || reply->status >= 500 || reply->status == 429 ||
                   strcmp(evd_reply_text(reply, "outcome"), "OutcomeUnknown") == 0;
    return unknown ? HISTORY_UNKNOWN : HISTORY_REFUSED;
}

static void take_id(history_id to, const char *text) {
    (void)snprintf(to, sizeof(history_id), "%s", text);
}

/* Asks once, and records it. */
static void ask_once(struct reviewer *reviewer, const char *method, const char *path, const char *body,
                     const char *extra, struct history_event event, struct evd_reply *ret_reply) {
    await_daemon(reviewer);
    event.asked_at = history_now(&history);
    evd_client_ask(&reviewer->client, method, path, event.key[0] == '\0' ? NULL : event.key, body, extra, ret_reply);
    event.answered_at = history_now(&history);
    event.answer = answer_of(ret_reply);
    event.stamp = strtoull(evd_reply_text(ret_reply, "stamp"), NULL, 10);
    event.seq = number_of(ret_reply, event.kind == HISTORY_AUTOSAVE ? "etag" : "versionSeq");
    event.study_version = number_of(ret_reply, "studyVersion");
    take_id(event.version, evd_reply_text(ret_reply, "versionId"));
    if (event.answer == HISTORY_OK) event.receipt = strdup(ret_reply->body);
    history_add(&history, &event);
    note_answer(false);
}

/* Asks until the answer says what became of it. */
static enum history_answer ask_until_known(struct reviewer *reviewer, const char *method, const char *path,
                                           const char *body, const char *extra, struct history_event event,
                                           struct evd_reply *ret_reply) {
    for (;;) {
        ask_once(reviewer, method, path, body, extra, event, ret_reply);
        enum history_answer answer = answer_of(ret_reply);
        if (answer != HISTORY_UNKNOWN) return answer;
        evd_reply_done(ret_reply);
    }
}

static struct history_event event_of(const struct reviewer *reviewer, unsigned study, enum history_kind kind) {
    return (struct history_event){.kind = kind, .study = study, .session = reviewer->number * STUDIES + study};
}

static void quoted_base(const struct seat *seat, char ret_text[60]) {
    (void)snprintf(ret_text, 60, seat->base[0] == '\0' ? "null%s" : "\"%s\"", seat->base);
}

static void autosave(struct reviewer *reviewer, unsigned study) {
    struct seat *seat = &reviewer->seats[study];
    struct evd_reply reply;
    char body[BODY_BYTES], base[60], condition[60], *path = desk_session_path(&desk, study, "draft");
    quoted_base(seat, base);
    (void)snprintf(body, sizeof body,
                   "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":%s,\"holder\":\"%s\",\"writeSeq\":%lld,"
                   "\"content\":{\"answers\":[{\"question\":\"q1\",\"value\":\"typed\",\"baseRevision\":null}]}}",
                   desk.stage, base, reviewer->holder, seat->write_seq + 1);
    (void)snprintf(condition, sizeof condition, seat->etag == 0 ? "If-None-Match: *\r\n" : "If-Match: \"%lld\"\r\n",
                   seat->etag);
    if (ask_until_known(reviewer, "PUT", path, body, condition, event_of(reviewer, study, HISTORY_AUTOSAVE), &reply) ==
        HISTORY_OK) {
        seat->etag = number_of(&reply, "etag");
        seat->write_seq = number_of(&reply, "writeSeq");
        seat->typed = true;
    }
    evd_reply_done(&reply);
    free(path);
}

static void command(struct reviewer *reviewer, unsigned study, const char *verb) {
    struct seat *seat = &reviewer->seats[study];
    struct history_event event = event_of(reviewer, study, HISTORY_COMMAND);
    struct evd_reply reply, again;
    char body[BODY_BYTES], base[60], draft[160] = "null", *path = desk_session_path(&desk, study, verb);
    bool withdraws = strcmp(verb, "withdraw") == 0;
    quoted_base(seat, base);
    if (seat->typed)
        (void)snprintf(draft, sizeof draft, "{\"etag\":%lld,\"holder\":\"%s\",\"writeSeq\":%lld}", seat->etag,
                       reviewer->holder, seat->write_seq);
    (void)snprintf(body, sizeof body, "{\"stage\":\"%s\",%s\"baseVersion\":%s,\"draft\":%s%s}", desk.stage,
                   withdraws ? "" : "\"formVersion\":1,", base, draft, withdraws ? "" : ",\"answers\":[]");
    take_id(event.base, seat->base);
    (void)evd_test_uuid(event.key);
    if (ask_until_known(reviewer, "POST", path, body, NULL, event, &reply) == HISTORY_OK) {
        if (draw(reviewer, 4) == 0) {
            (void)ask_until_known(reviewer, "POST", path, body, NULL, event, &again);
            evd_reply_done(&again);
        }
        take_id(seat->base, evd_reply_text(&reply, "versionId"));
        seat->etag = number_of(&reply, "draftEtag");
        seat->typed = false;
    }
    evd_reply_done(&reply);
    free(path);
}

static void look(struct reviewer *reviewer, unsigned study) {
    struct evd_reply reply;
    char *path = desk_session_path(&desk, study, "");
    path[strlen(path) - 1] = '\0';
    (void)ask_until_known(reviewer, "GET", path, NULL, NULL, event_of(reviewer, study, HISTORY_READ), &reply);
    evd_reply_done(&reply);
    free(path);
}

static void *review(void *self) {
    struct reviewer *reviewer = self;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        unsigned study = draw(reviewer, STUDIES), what = draw(reviewer, 10);
        if (reviewer->types) autosave(reviewer, study);
        if (what == 0 && reviewer->seats[study].base[0] != '\0')
            command(reviewer, study, "withdraw");
        else if (what < 4)
            command(reviewer, study, "complete");
        else
            command(reviewer, study, "save");
        if (what % 3 == 0) look(reviewer, study);
    }
    note_answer(true);
    return NULL;
}

/* Lets them go on until so many answers were given, then kills the daemon and starts it again. */
static void kill_after(unsigned answers) {
    (void)pthread_mutex_lock(&run.mutex);
    while (run.answered < answers && run.finished < clients)
        (void)pthread_cond_wait(&run.changed, &run.mutex);
    run.down = true;
    (void)pthread_mutex_unlock(&run.mutex);
    evd_daemon_process_kill(&process);
    evd_daemon_process_start(&process);
    (void)pthread_mutex_lock(&run.mutex);
    run.down = false;
    (void)pthread_cond_broadcast(&run.changed);
    (void)pthread_mutex_unlock(&run.mutex);
}

static void join(struct reviewer *reviewer) {
    char subject[32], key[EVD_UUID_TEXT_BYTES + 1], id[EVD_UUID_TEXT_BYTES + 1], path[100], body[120];
    struct evd_reply reply;
    (void)snprintf(subject, sizeof subject, "historian %u", reviewer->number);
    evd_uuid_format(evd_daemon_process_investigator(subject), id);
    (void)snprintf(path, sizeof path, "/v1/projects/%s/members", desk.project);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[\"reviewer\"]}", id);
    ck_assert_int_eq(evd_client_post(&desk.admin, path, evd_test_uuid(key), body, &reply), 200);
    evd_reply_done(&reply);
    reviewer->types = reviewer->number % 2 == 1;
    (void)evd_test_uuid(reviewer->holder);
    evd_test_random_init(&reviewer->random, reviewer->number + 1);
    evd_client_init(&reviewer->client, &process, subject, false);
    reviewer->where = (struct evd_daemon_process){.api_port = process.api_port, .admin_port = process.admin_port};
    reviewer->client.process = &reviewer->where;
}

static void list_versions(struct reviewer *reviewer, unsigned study) {
    struct evd_reply reply;
    char *path = desk_session_path(&desk, study, "versions?limit=200");
    await_daemon(reviewer);
    int status = evd_client_get(&reviewer->client, path, &reply);
    ck_assert_msg(status == 200 || status == 404, "%d %s", status, reply.body);
    ck_assert(!json_is_string(json_object_get(reply.json, "next")));
    const json_t *items = json_object_get(reply.json, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *row = json_array_get(items, i);
        struct history_event event = event_of(reviewer, study, HISTORY_FINAL);
        event.answer = HISTORY_OK;
        event.stamp = strtoull(json_string_value(json_object_get(row, "stamp")), NULL, 10);
        event.seq = json_integer_value(json_object_get(row, "versionSeq"));
        take_id(event.key, json_string_value(json_object_get(row, "commandId")));
        take_id(event.version, json_string_value(json_object_get(row, "versionId")));
        history_add(&history, &event);
    }
    evd_reply_done(&reply);
    free(path);
}

static void verify(void) {
    struct evd_reply reply;
    char path[100];
    (void)snprintf(path, sizeof path, "/v1/projects/%s/verification", desk.project);
    ck_assert_int_eq(evd_client_get(&desk.admin, path, &reply), 200);
    ck_assert_msg(strstr(reply.body, "\"findings\":0") != NULL, "%s", reply.body);
    evd_reply_done(&reply);
}

static void record(void) {
    const char *wish = getenv("EVIDENCED_CLIENTS");
    clients = wish == NULL ? CLIENTS : (unsigned)strtoul(wish, NULL, 10);
    ck_assert(clients >= 1 && clients <= CLIENTS_MOST);
    history_init(&history);
    evd_daemon_process_init(&process);
    evd_daemon_process_start(&process);
    desk_open(&desk, &process, 3, clients * 3 / 4); /* some find no place until others withdraw */
    for (unsigned i = 0; i < clients; i++) {
        reviewers[i].number = i;
        join(&reviewers[i]);
    }
    for (unsigned i = 0; i < clients; i++)
        ck_assert_int_eq(pthread_create(&reviewers[i].thread, NULL, review, &reviewers[i]), 0);
    for (unsigned i = 1; i <= KILLS; i++)
        kill_after(clients * TURNS * i / (KILLS + 1));
    for (unsigned i = 0; i < clients; i++)
        ck_assert_int_eq(pthread_join(reviewers[i].thread, NULL), 0);
    for (unsigned i = 0; i < clients * STUDIES; i++)
        list_versions(&reviewers[i / STUDIES], i % STUDIES);
    desk_close(&desk);
    verify();
}

static void forget(void) {
    for (unsigned i = 0; i < clients; i++)
        evd_client_done(&reviewers[i].client);
    desk_close(&desk);
    evd_daemon_process_done(&process);
    history_done(&history);
}

/* A command that was asked once and accepted. */
static bool is_plain(const struct history *in, const struct history_event *event) {
    size_t asked = 0;
    if (event->kind != HISTORY_COMMAND || event->answer != HISTORY_OK) return false;
    for (size_t i = 0; i < in->count; i++)
        asked += in->events[i].kind == HISTORY_COMMAND && strcmp(in->events[i].key, event->key) == 0;
    return asked == 1;
}

/* One on the same study that was asked after that one was answered. */
static struct history_event *behind(struct history *in, const struct history_event *first) {
    for (size_t i = 0; i < in->count; i++) {
        struct history_event *event = &in->events[i];
        if (event->study == first->study && event->session != first->session && event->asked_at > first->answered_at &&
            is_plain(in, event))
            return event;
    }
    return NULL;
}

/* The second version of a session that has others behind it. */
static struct history_event *chosen(struct history *in) {
    for (size_t i = 0; i < in->count; i++) {
        struct history_event *event = &in->events[i];
        if (event->seq != 2 || !is_plain(in, event) || behind(in, event) == NULL) continue;
        for (size_t j = 0; j < in->count; j++)
            if (in->events[j].kind == HISTORY_FINAL && in->events[j].session == event->session &&
                in->events[j].seq == 3)
                return event;
    }
    ck_abort_msg("no such command");
}

static void remove_at(struct history *in, struct history_event *event) {
    free(event->receipt);
    *event = in->events[--in->count];
}

static struct history_event *final_of(struct history *in, const char *version) {
    for (size_t i = 0; i < in->count; i++)
        if (in->events[i].kind == HISTORY_FINAL && strcmp(in->events[i].version, version) == 0) return &in->events[i];
    return NULL;
}

static void swap_order(struct history *in, struct history_event *first, bool stamps, bool versions) {
    struct history_event *second = behind(in, first), was = *first;
    if (stamps) {
        final_of(in, first->version)->stamp = first->stamp = second->stamp;
        final_of(in, second->version)->stamp = second->stamp = was.stamp;
    }
    if (versions) {
        first->study_version = second->study_version;
        second->study_version = was.study_version;
    }
}

/* X(what is planted, what the checker is to say) */
#define PLANTED(X)                                                                                                     \
    X(SWAP_ORDER, "a command comes before one answered before it was asked")                                           \
    X(SWAP_STAMPS, "stamps and versions of a study disagree")                                                          \
    X(SWAP_VERSIONS, "stamps and versions of a study disagree")                                                        \
    X(LOSE_VERSION, "an accepted version is missing or another")                                                       \
    X(LOSE_RECEIPT, "a session has a gap")                                                                             \
    X(LOSE_LAST_RECEIPT, "a version is there that nobody was told of")                                                 \
    X(ALTER_RECEIPT, "a retry was given another receipt")                                                              \
    X(ALTER_BASE, "a version was not made on the one before")                                                          \
    X(REFUSE_TOO, "a command was refused and accepted")                                                                \
    X(DOUBLE_VERSION, "two commands made the same version of a study")                                                 \
    X(MISS_READ, "a read misses what was accepted before")                                                             \
    X(TURN_BACK_DRAFT, "a draft went back")

#define PLANT_NAME(name, said) name,
#define PLANT_SAID(name, said) said,
enum plant { PLANTED(PLANT_NAME) PLANTS };
static const char *const planted_said[] = {PLANTED(PLANT_SAID)};

static void plant_read(struct history *in, const struct history_event *first) {
    struct history_event read = {.kind = HISTORY_READ,
                                 .answer = HISTORY_OK,
                                 .session = first->session,
                                 .study = first->study,
                                 .asked_at = first->answered_at + 1,
                                 .answered_at = first->answered_at + 2};
    read.seq = first->seq - 1;
    history_add(in, &read);
}

static void plant_draft(struct history *in) {
    for (size_t i = 0; i < in->count; i++) {
        struct history_event event = in->events[i];
        if (event.kind != HISTORY_AUTOSAVE || event.answer != HISTORY_OK) continue;
        event.receipt = NULL;
        event.asked_at = event.answered_at + 1;
        event.seq--;
        history_add(in, &event);
        return;
    }
    ck_abort_msg("no autosave");
}

/* Nothing is left of the command that made some session's newest version. */
static void lose_last(struct history *in) {
    history_id key = "";
    int64_t newest = 0;
    for (size_t i = 0; i < in->count; i++)
        if (in->events[i].kind == HISTORY_FINAL && in->events[i].session == in->events[in->count - 1].session &&
            in->events[i].seq > newest) {
            newest = in->events[i].seq;
            take_id(key, in->events[i].key);
        }
    ck_assert_int_gt(newest, 0);
    for (size_t i = in->count; i-- > 0;)
        if (in->events[i].kind == HISTORY_COMMAND && strcmp(in->events[i].key, key) == 0) remove_at(in, &in->events[i]);
}

static void plant_in(struct history *in, enum plant plant) {
    struct history_event *first = chosen(in), copy = *first;
    copy.receipt = strdup(first->receipt);
    switch (plant) {
    case SWAP_ORDER: swap_order(in, first, true, true); break;
    case SWAP_STAMPS: swap_order(in, first, true, false); break;
    case SWAP_VERSIONS: swap_order(in, first, false, true); break;
    case LOSE_VERSION: remove_at(in, final_of(in, first->version)); break;
    case LOSE_RECEIPT: remove_at(in, first); break;
    case LOSE_LAST_RECEIPT: lose_last(in); break;
    case ALTER_RECEIPT:
        copy.receipt[strlen(copy.receipt) - 2] ^= 1;
        history_add(in, &copy);
        return;
    case ALTER_BASE: first->base[0] = first->base[0] == 'f' ? 'e' : 'f'; break;
    case REFUSE_TOO:
        copy.answer = HISTORY_REFUSED;
        history_add(in, &copy);
        return;
    case DOUBLE_VERSION: first->study_version = behind(in, first)->study_version; break;
    case MISS_READ: plant_read(in, first); break;
    case TURN_BACK_DRAFT: plant_draft(in); break;
    case PLANTS: break;
    }
    free(copy.receipt);
}

/* Unknown answers whose command was accepted when it was asked again. */
static unsigned settled(void) {
    unsigned count = 0;
    for (size_t i = 0; i < history.count; i++) {
        bool accepted = false;
        if (history.events[i].kind != HISTORY_COMMAND || history.events[i].answer != HISTORY_UNKNOWN) continue;
        for (size_t j = 0; j < history.count && !accepted; j++)
            accepted = history.events[j].kind == HISTORY_COMMAND && history.events[j].answer == HISTORY_OK &&
                       strcmp(history.events[j].key, history.events[i].key) == 0;
        count += accepted;
    }
    return count;
}

static void expect_counts(void) {
    unsigned counts[3] = {0}, autosaves = 0, reads = 0, finals = 0;
    for (size_t i = 0; i < history.count; i++) {
        const struct history_event *event = &history.events[i];
        counts[event->answer] += event->kind == HISTORY_COMMAND;
        autosaves += event->kind == HISTORY_AUTOSAVE;
        reads += event->kind == HISTORY_READ;
        finals += event->kind == HISTORY_FINAL;
    }
    (void)printf("history: %u clients, %d kills: %u accepted, %u refused, %u unknown of which %u accepted later; "
                 "%u autosaves, %u reads, %u versions\n",
                 clients, KILLS, counts[HISTORY_OK], counts[HISTORY_REFUSED], counts[HISTORY_UNKNOWN], settled(),
                 autosaves, reads, finals);
    ck_assert_uint_gt(counts[HISTORY_OK], clients * TURNS / 4);
    ck_assert(autosaves > 0 && reads > 0);
}

static void expect_violations_found(void) {
    for (enum plant plant = 0; plant < PLANTS; plant++) {
        struct history damaged;
        history_copy(&history, &damaged);
        plant_in(&damaged, plant);
        const char *said = history_check(&damaged);
        ck_assert_msg(said != NULL, "not found: %s", planted_said[plant]);
        ck_assert_str_eq(said, planted_said[plant]);
        history_done(&damaged);
    }
}

/* The checker is proved on the same history: each violation planted in it is found and named. */
START_TEST(a_daemon_killed_again_and_again_gives_a_history_that_one_order_per_study_explains) {
    record();
    const char *wrong = history_check(&history);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    expect_counts();
    expect_violations_found();
    forget();
}
END_TEST

EVD_TEST_MAIN("crash: histories", a_daemon_killed_again_and_again_gives_a_history_that_one_order_per_study_explains)
