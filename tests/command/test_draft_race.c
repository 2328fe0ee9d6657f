/*
 * Drafts under races: several tabs at once on real workers and a real store. Nothing here depends on who wins; what is
 * typed is afterwards in the draft, in a version or in a copy, and a draft is always one of the current version.
 */
#include "../support/typist.h"

#include "evidenced/base/limits.h"

#include <pthread.h>

enum { WORKERS = 8, TABS = 6, ROUNDS = 40 };

static struct house house;

struct tab {
    pthread_t thread;
    struct typist typist;
    const struct evd_command *save; /* NULL: it autosaves */
    unsigned id;
    char value[24];
    struct reply reply;
};

static void *run(void *self) {
    struct tab *tab = self;
    char *content = typed("q1", tab->value);
    tab->reply = tab->save == NULL ? typist_put(&tab->typist, content)
                                   : typist_save(&tab->typist, tab->save, tab->id, "q1", tab->value, NULL);
    free(content);
    return NULL;
}

static void race(struct tab *tabs, size_t count) {
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_create(&tabs[i].thread, NULL, run, &tabs[i]), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_int_eq(pthread_join(tabs[i].thread, NULL), 0);
}

static struct tab tab_of(unsigned who, unsigned number, unsigned round) {
    struct tab tab = {.typist = typist_new(&house, who, number), .id = round * 100 + number};
    (void)snprintf(tab.value, sizeof tab.value, "tab %u", number);
    return tab;
}

static const char *first_answer(const struct reply *reply) {
    json_t *content = json_object_get(reply->body, "content");
    return json_string_value(json_object_get(json_array_get(json_object_get(content, "answers"), 0), "value"));
}

/* A draft that is not empty is a change of the session's current version. */
static void expect_no_zombie(const struct typist *typist) {
    struct reply draft = typist_read(typist);
    struct reply session =
        ask_ok(&house, &evd_command_get_session, typist->ids, person(typist->who), evd_uuid_nil(), NULL);
    ck_assert(json_equal(json_object_get(draft.body, "baseVersion"), json_object_get(session.body, "versionId")));
    ck_assert_int_eq(number_of(&draft, "etag"), number_of(&session, "draftEtag"));
    reply_done(&session);
    reply_done(&draft);
}

static bool is_kept(const struct tab *tab) {
    if (tab->reply.code == EVD_OK) return true;
    struct reply copy = typist_copy(&tab->typist, text_of(&tab->reply, "copyId"));
    bool kept = strcmp(first_answer(&copy), tab->value) == 0;
    reply_done(&copy);
    return kept;
}

START_TEST(of_many_tabs_that_race_the_first_draft_one_wins_and_the_others_are_kept) {
    struct tab tabs[TABS];
    unsigned won = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (unsigned i = 0; i < TABS; i++)
        tabs[i] = tab_of(1, i, 1);
    race(tabs, TABS);
    for (unsigned i = 0; i < TABS; i++) {
        won += tabs[i].reply.code == EVD_OK;
        ck_assert(is_kept(&tabs[i]));
    }
    ck_assert_uint_eq(won, 1);
    expect_no_zombie(&tabs[0].typist);
    for (unsigned i = 0; i < TABS; i++)
        reply_done(&tabs[i].reply);
    house_close(&house);
}
END_TEST

static void add_study(unsigned round) {
    struct evd_ids ids = {.project = house.project};
    struct reply reply = ask_ok(&house, &evd_command_add_studies, ids, house.admin, command_id(50000 + round),
                                "{\"studies\":[{\"title\":\"T\"}]}");
    json_t *row = json_array_get(json_object_get(reply.body, "rows"), 0);
    ck_assert(evd_uuid_parse(evd_text_from(json_string_value(json_object_get(row, "studyId"))), &house.study));
    reply_done(&reply);
}

START_TEST(a_racing_first_autosave_and_save_leave_no_zombie_draft) {
    unsigned saved_first = 0, typed_first = 0;
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        add_study(round);
        struct tab tabs[2] = {tab_of(1, 1, round), tab_of(1, 2, round)};
        tabs[1].save = &evd_command_save;
        race(tabs, 2);
        bool typed_won = tabs[0].reply.code == EVD_OK, saved_won = tabs[1].reply.code == EVD_OK;
        ck_assert(typed_won != saved_won);
        ck_assert_int_eq(saved_won ? tabs[0].reply.code : tabs[1].reply.code,
                         saved_won ? EVD_STALE_AUTOSAVE : EVD_DRAFT_LEASE_HELD);
        ck_assert(is_kept(&tabs[0]) && is_kept(&tabs[1]));
        expect_no_zombie(&tabs[0].typist);
        saved_first += saved_won;
        typed_first += typed_won;
        reply_done(&tabs[0].reply);
        reply_done(&tabs[1].reply);
    }
    ck_assert_uint_eq(saved_first + typed_first, ROUNDS);
    house_close(&house);
}
END_TEST

START_TEST(an_autosave_racing_a_save_that_consumes_the_draft_is_in_it_or_kept_beside_it) {
    house_open(&house, WORKERS);
    house_furnish(&house, 3, 2);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        add_study(round);
        struct tab typing = tab_of(1, 1, round);
        char *first = typed("q1", "first");
        typist_put_ok(&typing.typist, first);
        free(first);
        struct tab saving = typing;
        char *draft = typist_draft(&saving.typist);
        ck_assert_int_eq(pthread_create(&typing.thread, NULL, run, &typing), 0);
        saving.reply = typist_save(&saving.typist, &evd_command_save, 900000 + round, "q1", "first", draft);
        ck_assert_int_eq(pthread_join(typing.thread, NULL), 0);
        if (saving.reply.code == EVD_OK) {
            ck_assert_int_eq(typing.reply.code, EVD_STALE_AUTOSAVE);
        } else {
            ck_assert_int_eq(saving.reply.code, EVD_STALE_BASE); /* of the draft: the autosave came first */
            ck_assert_int_eq(typing.reply.code, EVD_OK);
        }
        ck_assert(is_kept(&typing));
        expect_no_zombie(&typing.typist);
        free(draft);
        reply_done(&saving.reply);
        reply_done(&typing.reply);
    }
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: drafts that race", of_many_tabs_that_race_the_first_draft_one_wins_and_the_others_are_kept,
              a_racing_first_autosave_and_save_leave_no_zombie_draft,
              an_autosave_racing_a_save_that_consumes_the_draft_is_in_it_or_kept_beside_it)
