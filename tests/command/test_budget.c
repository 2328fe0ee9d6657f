/*
 * Budgets: the exact store calls of every command. That they do not grow is in test_growth.c.
 *
 * A list here changes only on purpose: each line is a round trip on a store that is not in this process.
 */
#include "../support/calls.h"
#include "../support/extraction.h"
#include "../support/typist.h"

#include "evidenced/records/keys.h"

static struct house house;
static struct reply save_answers(unsigned who, unsigned id, const char *base, unsigned last, const char *value) {
    char *body = save_body(&house, base, 1, last, value);
    struct reply reply = ask_ok(&house, &evd_command_save, session_ids(&house), person(who), command_id(id), body);
    free(body);
    return reply;
}

/* Every command. */

static const struct evd_command *pinned[200];
static size_t pinned_count;

/* Compares the store calls since calls_watch. */
static void compare(const struct evd_command *command, const char *expected) {
    const char *calls = calls_watched(&house);
    ck_assert_msg(strcmp(calls, expected) == 0, "%s:\n%s\ninstead of\n%s", command->name, calls, expected);
    ck_assert_uint_lt(pinned_count, sizeof pinned / sizeof *pinned);
    pinned[pinned_count++] = command;
}

/* Asks, and compares the store calls; the reply is the caller's. */
static struct reply pin(const struct evd_command *command, struct evd_ids ids, evd_uuid caller, const char *body,
                        const char *expected) {
    static unsigned id = 500;
    calls_watch(&house);
    struct reply reply = ask_ok(&house, command, ids, caller, command_id(id++), body);
    compare(command, expected);
    return reply;
}

static evd_uuid id_in(struct reply reply, const char *member) {
    evd_uuid id;
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&reply, member)), &id));
    reply_done(&reply);
    return id;
}

static void pin_view(const struct evd_command *command, struct evd_ids ids, evd_uuid caller, const char *expected) {
    struct reply reply = pin(command, ids, caller, NULL, expected);
    reply_done(&reply);
}

static void pin_projects(void) {
    static const struct evd_ids none;
    char body[200], member[EVD_UUID_TEXT_BYTES + 1];
    house.project = id_in(pin(&evd_command_create_project, none, house.admin, "{\"name\":\"P\"}",
                              "get commandLedger 1\n"
                              "insert project 1\n"
                              "insert membership 1\n"
                              "insert commandLedger 1\n"
                              "insert knownProject 1\n"
                              "insert ownProject 1\n"),
                          "id");
    struct evd_ids ids = {.project = house.project};
    evd_uuid_format(person(1), member);
    (void)snprintf(body, sizeof body, "{\"investigatorId\":\"%s\",\"roles\":[\"reviewer\"]}", member);
    static const char *const again[] = {"get project 1\n"
                                        "get membership 2\n"
                                        "get commandLedger 1\n"
                                        "get ownProject 1\n"
                                        "scan membership 1\n"
                                        "insert membership 1\n"
                                        "insert commandLedger 1\n"
                                        "insert ownProject 1\n"
                                        "replace project 1\n",
                                        "get project 1\n"
                                        "get membership 2\n"
                                        "get commandLedger 1\n"
                                        "get ownProject 1\n"
                                        "scan membership 2\n"
                                        "insert commandLedger 1\n"
                                        "replace project 1\n"
                                        "replace membership 1\n"
                                        "replace ownProject 1\n"};
    for (size_t i = 0; i < 2; i++) {
        struct reply reply = pin(&evd_command_set_member, ids, house.admin, body, again[i]);
        reply_done(&reply);
    }
    pin_view(&evd_command_list_projects, none, person(1), "scan ownProject 1\n");
    pin_view(&evd_command_get_project, ids, person(1), "get project 1\nget membership 1\n");
    pin_view(&evd_command_list_members, ids, house.admin, "get membership 1\nscan membership 2\n");
}

static void pin_forms_and_stages(void) {
    char body[200], form[EVD_UUID_TEXT_BYTES + 1];
    struct evd_ids ids = {.project = house.project};
    house.form = ids.form = id_in(pin(&evd_command_create_form, ids, house.admin,
                                      "{\"name\":\"F\",\"capacity\":{\"target\":2},\"questions\":[{\"id\":\"q1\","
                                      "\"label\":\"Q\",\"kind\":\"text\"}]}",
                                      "get membership 1\n"
                                      "get commandLedger 1\n"
                                      "insert commandLedger 1\n"
                                      "insert form 1\n"
                                      "insert formDraft 1\n"),
                                  "id");
    evd_uuid_format(house.form, form);
    (void)snprintf(body, sizeof body, "{\"name\":\"S\",\"formId\":\"%s\"}", form);
    house.stage = ids.stage = id_in(pin(&evd_command_create_stage, ids, house.admin, body,
                                        "get membership 1\n"
                                        "get commandLedger 1\n"
                                        "get form 1\n"
                                        "insert commandLedger 1\n"
                                        "insert stage 1\n"
                                        "insert settingsVersion 1\n"
                                        "replace form 1\n"),
                                    "id");
    house.form_version = ids.version = id_in(pin(&evd_command_publish_form, ids, house.admin, "{\"baseVersion\":2}",
                                                 "get membership 1\n"
                                                 "get commandLedger 1\n"
                                                 "get form 1\n"
                                                 "get formDraft 1\n"
                                                 "insert commandLedger 1\n"
                                                 "insert formVersion 1\n"
                                                 "replace form 1\n"),
                                             "formVersionId");
    pin_view(&evd_command_get_form, ids, person(1), "get membership 1\nget form 1\nget formDraft 1\n");
    pin_view(&evd_command_list_forms, ids, person(1), "get membership 1\nscan form 1\n");
    pin_view(&evd_command_get_form_version, ids, person(1), "get membership 1\nget formVersion 1\n");
    pin_view(&evd_command_get_form_version, ids, person(1), "get membership 1\n"); /* from the cache */
    pin_view(&evd_command_get_stage, ids, person(1), "get membership 1\nget stage 1\nget settingsVersion 1\n");
    pin_view(&evd_command_list_stages, ids, person(1), "get membership 1\nscan stage 1\nget settingsVersion 1\n");
}

static void pin_studies(void) {
    struct evd_ids ids = {.project = house.project};
    struct reply added = pin(&evd_command_add_studies, ids, house.admin,
                             "{\"studies\":[{\"title\":\"A\",\"doi\":\"10.1/a\",\"pmid\":\"1\"},{\"title\":\"B\"}]}",
                             "get membership 1\n"
                             "get commandLedger 1\n"
                             "get studyIdentity 2\n"
                             "insert commandLedger 1\n"
                             "insert study 2\n"
                             "insert studyIdentity 2\n");
    for (size_t i = 0; i < 2; i++) {
        json_t *row = json_array_get(json_object_get(added.body, "rows"), i);
        ck_assert(evd_uuid_parse(evd_text_from(json_string_value(json_object_get(row, "studyId"))),
                                 i == 0 ? &house.study : &house.other_study));
    }
    ids.study = house.study;
    pin_view(&evd_command_get_study, ids, person(1), "get membership 1\nget study 1\n");
    pin_view(&evd_command_list_studies, ids, person(1), "get membership 1\nscan study 2\n");
    reply_done(&added);
}

static struct reply pin_on_session(const struct evd_command *command, char *body, const char *expected) {
    struct reply reply = pin(command, session_ids(&house), person(1), body, expected);
    free(body);
    return reply;
}

/* One's own by the study and the form, and the same by the session's id. */
static void pin_views_of_session(struct evd_ids ids, const char *version) {
    static const char *const whole = "get membership 1\n"
                                     "get formSession 1\n"
                                     "get sessionDraft 1\n"
                                     "get formSessionVersion 1\n"
                                     "get pinMap 1\n"
                                     "get annotationHead 1\n"
                                     "get annotationRevision 1\n"
                                     "scan exposure 0\n";
    static const char *const versions = "get membership 1\n"
                                        "get formSession 1\n"
                                        "scan formSessionVersion 3\n"
                                        "scan exposure 0\n";
    static const char *const one = "get membership 1\n"
                                   "get formSessionVersion 1\n"
                                   "get pinMap 1\n"
                                   "get annotationRevision 1\n";
    ck_assert(evd_uuid_parse(evd_text_from(version), &ids.version));
    struct evd_ids by_id = {.project = ids.project, .version = ids.version};
    by_id.session = evd_form_session_id(ids.project, ids.study, ids.form, person(1));
    pin_view(&evd_command_get_session, ids, person(1), whole);
    pin_view(&evd_command_get_session_by_id, by_id, person(1), whole);
    pin_view(&evd_command_list_session_versions, ids, person(1), versions);
    pin_view(&evd_command_list_session_versions_by_id, by_id, person(1), versions);
    pin_view(&evd_command_get_session_version, ids, person(1), one);
    pin_view(&evd_command_get_session_version_by_id, by_id, person(1), one);
    pin_view(&evd_command_get_session_changes, ids, person(1), one);
    pin_view(&evd_command_get_session_changes_by_id, by_id, person(1), one);
    pin_view(&evd_command_get_study_history, ids, person(1),
             "get membership 1\nget study 1\nscan formSessionVersion 3\nscan draftEvent 0\n");
}

static void pin_sessions(void) {
    struct reply saved = pin_on_session(&evd_command_save, save_body(&house, NULL, 1, 1, "a"),
                                        "get membership 1\n"
                                        "get commandLedger 1\n"
                                        "get form 1\n"
                                        "get stage 1\n"
                                        "get study 1\n"
                                        "get formSession 1\n"
                                        "get annotationHead 1\n"
                                        "get sessionDraft 1\n"
                                        "scan formSession 0\n"
                                        "insert commandLedger 1\n"
                                        "insert formSession 1\n"
                                        "insert formSessionVersion 1\n"
                                        "insert pinMap 1\n"
                                        "insert annotationHead 1\n"
                                        "insert annotationRevision 1\n"
                                        "insert sessionDraft 1\n"
                                        "replace study 1\n");
    struct reply completed =
        pin_on_session(&evd_command_complete, save_body(&house, text_of(&saved, "versionId"), 1, 0, ""),
                       "get membership 1\n"
                       "get commandLedger 1\n"
                       "get form 1\n"
                       "get stage 1\n"
                       "get study 1\n"
                       "get formSession 1\n"
                       "get formSessionVersion 1\n"
                       "get pinMap 1\n"
                       "get sessionDraft 1\n"
                       "get annotationRevision 1\n" /* the answers it judges */
                       "scan formSession 1\n"
                       "insert commandLedger 1\n"
                       "insert formSessionVersion 1\n"
                       "insert pinMap 1\n"
                       "replace study 1\n"
                       "replace formSession 1\n"
                       "replace sessionDraft 1\n");
    char *withdraw = extraction_body(extraction_of_house(&house), text_of(&completed, "versionId"), "");
    struct reply withdrawn = pin_on_session(&evd_command_withdraw, withdraw,
                                            "get membership 1\n"
                                            "get commandLedger 1\n"
                                            "get form 1\n"
                                            "get stage 1\n"
                                            "get study 1\n"
                                            "get formSession 1\n"
                                            "get formSessionVersion 1\n"
                                            "get pinMap 1\n"
                                            "get sessionDraft 1\n"
                                            "scan formSession 1\n"
                                            "insert commandLedger 1\n"
                                            "insert formSessionVersion 1\n"
                                            "insert pinMap 1\n"
                                            "replace study 1\n"
                                            "replace formSession 1\n"
                                            "replace sessionDraft 1\n");
    pin_views_of_session(session_ids(&house), text_of(&saved, "versionId"));
    reply_done(&withdrawn);
    reply_done(&completed);
    reply_done(&saved);
}

/* A second form that shares q1; the first changes it. */
static struct extraction share_answer(char **ret_base, char **ret_revision) {
    struct extraction f = extraction_of_house(&house),
                      g = extraction_add(&house, 1, "[{'id':'q1','label':'Q','kind':'text'}]");
    struct reply in_f = extraction_read(&house, f, 1);
    struct reply in_g = extraction_save(&house, g, 1, 700, NULL, "q1", "a", NULL);
    struct reply changed = extraction_save(&house, f, 1, 701, text_of(&in_f, "versionId"), "q1", "b",
                                           member_of(extraction_answer(&in_f, "q1"), "revision"));
    *ret_base = strdup(text_of(&in_g, "versionId"));
    *ret_revision = strdup(member_of(extraction_answer(&changed, "q1"), "revision"));
    reply_done(&changed);
    reply_done(&in_g);
    reply_done(&in_f);
    return g;
}

static struct reply pin_in(struct extraction where, const struct evd_command *command, const char *base, char *members,
                           const char *expected) {
    char *body = extraction_body(where, base, members);
    struct reply reply = pin(command, extraction_ids(&house, where), person(1), body, expected);
    free(body);
    free(members);
    return reply;
}

#define ADMISSION    "get membership 1\nget commandLedger 1\nget form 1\n"
#define SESSION_READ "get stage 1\nget study 1\nget formSession 1\nget formSessionVersion 1\nget pinMap 1\n"
#define VERSION_WRITTEN                                                                                                \
    "insert commandLedger 1\ninsert formSessionVersion 1\ninsert pinMap 1\n"                                           \
    "replace study 1\nreplace formSession 1\nreplace sessionDraft 1\n"

static void pin_fix_and_upgrade(void) {
    char *base, *revision;
    struct extraction g = share_answer(&base, &revision);
    pin_view(&evd_command_get_session, extraction_ids(&house, g), person(1),
             "get membership 1\nget formSession 1\nget sessionDraft 1\n"
             "get formSessionVersion 1\nget pinMap 1\n"
             "get annotationHead 1\nget annotationRevision 1\n"
             "get annotationRevision 1\n" /* what it is now */
             "scan exposure 0\n");
    struct reply fixed =
        pin_in(g, &evd_command_fix, base, json_of("'answers':[{'question':'q1','revision':'%s'}]", revision),
               ADMISSION SESSION_READ "get annotationHead 1\n"
                                      "get sessionDraft 1\n"
                                      "get annotationRevision 1\n"
                                      "scan formSession 1\n" VERSION_WRITTEN);
    extraction_publish_again(&house, g.form);
    struct reply upgraded = pin_in(g, &evd_command_upgrade, text_of(&fixed, "versionId"), json_of("'formVersion':2"),
                                   ADMISSION "get formVersion 1\n" SESSION_READ "get sessionDraft 1\n"
                                             "scan formSession 1\n" VERSION_WRITTEN);
    reply_done(&upgraded);
    reply_done(&fixed);
    free(base);
    free(revision);
}

/* Another reviewer's answer, shown to the first. */
static void pin_exposures(void) {
    char member[EVD_UUID_TEXT_BYTES + 1];
    struct extraction f = extraction_of_house(&house);
    evd_uuid_format(person(2), member);
    char *join = json_of("{'investigatorId':'%s','roles':['reviewer']}", member);
    struct reply joined = ask_ok(&house, &evd_command_set_member, (struct evd_ids){.project = house.project},
                                 house.admin, command_id(710), join);
    struct reply theirs = extraction_save(&house, f, 2, 711, NULL, "q1", "theirs", NULL);
    struct reply own = extraction_read(&house, f, 1);
    char *late = json_of("{'version':'%s','revisions':['%s']}", text_of(&own, "versionId"),
                         member_of(extraction_answer(&theirs, "q1"), "revision"));
    struct reply told = pin(&evd_command_record_exposures, session_ids(&house), person(1), late,
                            "get membership 1\n"
                            "get commandLedger 1\n"
                            "get formSession 1\n"
                            "get formSessionVersion 1\n"
                            "get annotationRevision 1\n"
                            "get annotationHead 1\n"
                            "insert commandLedger 1\n"
                            "insert exposure 1\n");
    reply_done(&told);
    free(late);
    reply_done(&own);
    reply_done(&theirs);
    reply_done(&joined);
    free(join);
}

static struct reply autosave(struct typist *typist, bool whole, const char *value) {
    char *content = typed("q1", value);
    struct reply reply = whole ? typist_put(typist, content) : typist_patch(typist, content);
    free(content);
    return reply;
}

static void pin_autosave(struct typist *typist, bool whole, const char *value, enum evd_outcome_code code,
                         const char *expected) {
    calls_watch(&house);
    struct reply reply = autosave(typist, whole, value);
    ck_assert_int_eq(reply.code, code);
    reply_done(&reply);
    compare(whole ? &evd_command_put_draft : &evd_command_patch_draft, expected);
}

/* A copy of what another tab typed. */
static evd_uuid pin_copy(struct typist *other, const char *value, const char *expected) {
    calls_watch(&house);
    struct reply reply = autosave(other, true, value);
    ck_assert_int_eq(reply.code, EVD_DRAFT_LEASE_HELD);
    compare(&evd_command_put_draft, expected);
    return id_in(reply, "copyId");
}

#define READS_OF_A_NOTED_ONE                                                                                           \
    "get membership 1\nget commandLedger 1\nget form 1\nget study 1\nget formSession 1\nget sessionDraft 1\n"

static void pin_draft_copies(struct typist *typist, struct typist *other) {
    static const char keeping[] = "get membership 1\nget sessionDraft 1\nget formSession 1\nget draftCopy 1\n"
                                  "scan draftCopy 0\ninsert draftCopy 1\n";
    typist->ids.copy = pin_copy(other, "x", keeping);
    pin_view(&evd_command_list_draft_copies, typist->ids, person(1), "get membership 1\nscan draftCopy 1\n");
    pin_view(&evd_command_get_draft_copy, typist->ids, person(1), "get membership 1\nget draftCopy 1\n");
    calls_watch(&house);
    struct reply adopted = typist_ask(typist, &evd_command_adopt_draft_copy, 600);
    ck_assert_int_eq(adopted.code, EVD_OK);
    reply_done(&adopted);
    compare(&evd_command_adopt_draft_copy, READS_OF_A_NOTED_ONE "get draftCopy 1\nget draftCopy 1\n"
                                                                "insert commandLedger 1\n"
                                                                "insert draftCopy 1\n"
                                                                "insert draftEvent 1\n"
                                                                "replace sessionDraft 1\n"
                                                                "replace draftCopy 1\n");
    typist->ids.copy = pin_copy(other, "y",
                                "get membership 1\nget sessionDraft 1\nget formSession 1\nget draftCopy 1\n"
                                "scan draftCopy 1\ninsert draftCopy 1\n");
    struct reply discarded = pin(&evd_command_discard_draft_copy, typist->ids, person(1), NULL,
                                 READS_OF_A_NOTED_ONE "get draftCopy 1\n"
                                                      "insert commandLedger 1\n"
                                                      "insert draftEvent 1\n"
                                                      "replace draftCopy 1\n");
    reply_done(&discarded);
}

static void pin_leases(struct typist *typist) {
    typist->ids.copy = evd_uuid_nil();
    struct evd_ids ids = {.project = house.project};
    struct reply draft =
        pin(&evd_command_get_draft, typist->ids, person(1), NULL, "get membership 1\nget sessionDraft 1\n");
    ids.session = id_in(draft, "sessionId");
    calls_watch(&house);
    struct reply renewed = typist_ask(typist, &evd_command_renew_draft_lease, 601);
    compare(&evd_command_renew_draft_lease,
            "get membership 1\nget sessionDraft 1\n"); /* it has most of its time left */
    reply_done(&renewed);
    char body[200], holder[EVD_UUID_TEXT_BYTES + 1];
    evd_uuid_format(typist->holder, holder);
    (void)snprintf(body, sizeof body, "{\"holder\":\"%s\",\"leaseGeneration\":%lld}", holder, typist->lease_generation);
    static const char noted[] = "get membership 1\nget commandLedger 1\nget formSession 1\nget sessionDraft 1\n"
                                "get form 1\nget study 1\n"
                                "insert commandLedger 1\ninsert draftEvent 1\nreplace sessionDraft 1\n";
    struct reply taken = pin(&evd_command_take_over_draft, typist->ids, person(1), body, noted);
    reply_done(&taken);
    pin_view(&evd_command_get_draft_lease, ids, house.admin,
             "get membership 1\nget formSession 1\nget sessionDraft 1\n");
    pin_view(&evd_command_release_draft, ids, house.admin, noted);
    calls_watch(&house);
    struct reply discarded = typist_ask(typist, &evd_command_discard_draft, 602);
    ck_assert_int_eq(discarded.code, EVD_OK);
    compare(&evd_command_discard_draft,
            READS_OF_A_NOTED_ONE "insert commandLedger 1\ninsert draftEvent 1\nreplace sessionDraft 1\n");
    reply_done(&discarded);
}

static void pin_drafts(void) {
    struct typist typist = typist_new(&house, 1, 1), other = typist_new(&house, 1, 2);
    typist.ids.study = other.ids.study = house.other_study;
    pin_autosave(&typist, true, "a", EVD_OK,
                 "get membership 1\nget sessionDraft 1\n"
                 "get form 1\nget stage 1\nget study 1\nget formSession 1\nscan formSession 0\n"
                 "insert formSession 1\ninsert sessionDraft 1\n");
    static const char one_swap[] = "get membership 1\nget sessionDraft 1\nreplace sessionDraft 1\n";
    pin_autosave(&typist, true, "b", EVD_OK, one_swap);
    pin_autosave(&typist, false, "c", EVD_OK, one_swap);
    pin_draft_copies(&typist, &other);
    pin_leases(&typist);
}

/* The first piece of each: what is behind it is in test_export.c and test_verify.c. */
static void pin_exports(void) {
    static const struct evd_command *const exports[] = {&evd_command_export_answers_csv,
                                                        &evd_command_export_answers_ndjson,
                                                        &evd_command_export_series_csv, &evd_command_export_manifest};
    for (size_t i = 0; i < sizeof exports / sizeof *exports; i++)
        pin_view(exports[i], session_ids(&house), house.admin, "get membership 1\nget form 1\nget formVersion 1\n");
    pin_view(&evd_command_verify_project, session_ids(&house), house.admin,
             "get membership 1\nscan form 1\nget formVersion 1\nget stage 1\nget settingsVersion 1\n");
}

/* Pinned in test_import_budget.c. */
static const struct evd_command *const elsewhere[] = {&evd_command_create_import,       &evd_command_undo_import,
                                                      &evd_command_list_operations,     &evd_command_get_operation,
                                                      &evd_command_list_operation_rows, &evd_command_correct_study};

static bool is_pinned(const struct evd_command *command) {
    for (size_t i = 0; i < pinned_count; i++)
        if (pinned[i] == command) return true;
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (elsewhere[i] == command) return true;
    return false;
}

START_TEST(the_store_calls_of_every_command_are_these) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    house_open(&house, 0);
    house.admin = person(0);
    pin_projects();
    pin_forms_and_stages();
    pin_studies();
    pin_sessions();
    pin_fix_and_upgrade();
    pin_exposures();
    pin_exports();
    pin_drafts();
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(is_pinned(table[i]), "the budget of %s is nowhere", table[i]->name);
    house_close(&house);
}
END_TEST

START_TEST(the_store_calls_of_a_first_save_with_other_stages_and_reviewers_are_these) {
    house_open(&house, 0);
    house_furnish(&house, 10, 2);
    struct reply warm = save_answers(2, 1, NULL, 1, "the definition is cached now");
    calls_watch(&house);
    struct reply reply = save_answers(1, 2, NULL, 3, "a");
    ck_assert_str_eq(calls_watched(&house), "get membership 1\n"
                                            "get commandLedger 1\n"
                                            "get form 1\n"
                                            "get stage 1\n"
                                            "get study 1\n"
                                            "get formSession 1\n"
                                            "get annotationHead 3\n"
                                            "get sessionDraft 1\n"
                                            "get stage 1\n"
                                            "scan formSession 1\n"
                                            "insert commandLedger 1\n"
                                            "insert formSession 1\n"
                                            "insert formSessionVersion 1\n"
                                            "insert pinMap 1\n"
                                            "insert annotationHead 3\n"
                                            "insert annotationRevision 3\n"
                                            "insert sessionDraft 1\n"
                                            "replace study 1\n");
    reply_done(&reply);
    reply_done(&warm);
    house_close(&house);
}
END_TEST

EVD_TEST_MAIN("commands: budgets", the_store_calls_of_every_command_are_these,
              the_store_calls_of_a_first_save_with_other_stages_and_reviewers_are_these)
