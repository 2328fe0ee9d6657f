/*
 * Verification: nothing is found in a healthy project, and each kind of damage is found where it is.
 */
#include "../support/behind.h"
#include "../support/extraction.h"

#include "evidenced/domain/pins.h"
#include "evidenced/domain/study_identity.h"
#include "evidenced/records/keys.h"

static struct house house;
static struct evd_arena arena;
static evd_uuid *studies, first, second, other; /* versions of two reviewers on studies[0] */

enum { STUDIES = 5, PAGE = 100 };

#define FORM "[{'id':'design','kind':'text','required':true},{'id':'n','kind':'integer'},{'id':'extra','kind':'text'}]"

/* Two versions of one session, one of another, a form shared by nobody, exposures, identities. */
static void begin(void) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    extraction_form(&house, FORM);
    evd_arena_init(&arena, 8 * EVD_MIB);
    studies = extraction_studies(&house, STUDIES);
    first = extraction_save(&house, &evd_command_save, 1, studies[0], NULL,
                            "[{'question':'design','value':'rct'},{'question':'n','value':1}]");
    other = extraction_complete(&house, 2, studies[0], "[{'question':'design','value':'obs'}]");
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(&house, pin_map, first, &arena)->pins, &pins));
    for (size_t i = 0; i < pins.count; i++) {
        struct evd_annotation_revision *revision =
            BEHIND_READ(&house, annotation_revision, pins.items[i].revision, &arena);
        char answers[300], id[EVD_UUID_TEXT_BYTES + 1];
        if (!evd_text_equal(revision->question, EVD_TEXT("n"))) continue;
        evd_uuid_format(revision->base.id, id);
        (void)snprintf(answers, sizeof answers, "[{'question':'n','value':2,'baseRevision':'%s'}]", id);
        second = extraction_save(&house, &evd_command_complete, 1, studies[0], &first, answers);
    }
    for (size_t i = 1; i < STUDIES; i++)
        (void)extraction_complete(&house, 1 + i % 3, studies[i], "[{'question':'design','value':'rct'}]");
}

static void end(void) {
    free(studies);
    evd_arena_done(&arena);
    house_close(&house);
}

/* Lines. */

static struct streamed verify(size_t page) {
    struct evd_ids ids = {.project = house.project};
    struct streamed streamed = ask_streamed(&house, &evd_command_verify_project, ids, house.admin, page);
    ck_assert_int_eq(streamed.code, EVD_OK);
    return streamed;
}

/* The lines as a JSON list; the last one is the summary. */
static json_t *lines_of(const struct streamed *streamed) {
    json_t *lines = json_array();
    for (char *at = streamed->bytes, *line_end; *at != '\0'; at = line_end + 1) {
        line_end = strchr(at, '\n');
        ck_assert_ptr_nonnull(line_end);
        json_t *line = json_loadb(at, (size_t)(line_end - at), JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(line != NULL, "%.*s", (int)(line_end - at), at);
        (void)json_array_append_new(lines, line);
    }
    return lines;
}

static json_int_t summed(json_t *lines, const char *member) {
    json_t *last = json_array_get(lines, json_array_size(lines) - 1);
    json_t *number = json_object_get(json_object_get(last, "summary"), member);
    ck_assert_msg(json_is_integer(number), "no %s in the summary", member);
    return json_integer_value(number);
}

static size_t count_findings(json_t *lines, const char *check, const char *record) {
    size_t i, count = 0;
    json_t *line;
    json_array_foreach(lines, i, line) {
        const char *of = json_string_value(json_object_get(line, "check"));
        const char *in = json_string_value(json_object_get(line, "record"));
        count += of != NULL && strcmp(of, check) == 0 && strcmp(in, record) == 0;
    }
    return count;
}

START_TEST(nothing_is_found_in_a_healthy_project) {
    static const size_t pages[] = {1, 3, PAGE};
    begin();
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct streamed streamed = verify(pages[i]);
        json_t *lines = lines_of(&streamed);
        ck_assert_msg(json_array_size(lines) == 1, "%s", streamed.bytes);
        ck_assert_int_eq(summed(lines, "findings"), 0);
        ck_assert_int_eq(summed(lines, "forms"), 2);
        ck_assert_int_eq(summed(lines, "stages"), 3);
        ck_assert_int_eq(summed(lines, "studies"), STUDIES + 2);
        ck_assert_int_eq(summed(lines, "identities"), STUDIES);
        ck_assert_int_eq(summed(lines, "sessions"), STUDIES + 1);
        ck_assert_int_eq(summed(lines, "versions"), STUDIES + 2);
        ck_assert_int_eq(summed(lines, "revisions"), STUDIES + 3);
        json_decref(lines);
        streamed_done(&streamed);
    }
    end();
}
END_TEST

START_TEST(nothing_is_found_in_a_project_with_nothing_in_it) {
    house_open(&house, 0);
    house_furnish(&house, 1, 1);
    struct evd_ids none = {0};
    struct reply made =
        ask_ok(&house, &evd_command_create_project, none, house.admin, command_id(1), "{\"name\":\"Empty\"}");
    ck_assert(evd_uuid_parse(evd_text_from(text_of(&made, "id")), &house.project));
    struct streamed streamed = verify(PAGE);
    json_t *lines = lines_of(&streamed);
    ck_assert_uint_eq(json_array_size(lines), 1);
    json_decref(lines);
    streamed_done(&streamed);
    reply_done(&made);
    house_close(&house);
}
END_TEST

/* Damage. */

static evd_uuid session_of(evd_uuid version) {
    return BEHIND_READ(&house, form_session_version, version, &arena)->session;
}

/* The revision of that question that a version pins. */
static struct evd_annotation_revision *revision_of(evd_uuid version, const char *question) {
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(&house, pin_map, version, &arena)->pins, &pins));
    for (size_t i = 0; i < pins.count; i++) {
        struct evd_annotation_revision *revision =
            BEHIND_READ(&house, annotation_revision, pins.items[i].revision, &arena);
        if (revision != NULL && evd_text_equal(revision->question, evd_text_from(question))) return revision;
    }
    ck_abort_msg("no %s", question);
}

#define CHANGE(T, of, statement)                                                                                       \
    do {                                                                                                               \
        struct evd_##T *record = BEHIND_READ(&house, T, (of), &arena);                                                 \
        ck_assert_ptr_nonnull(record);                                                                                 \
        statement;                                                                                                     \
        BEHIND_REPLACE(&house, T, record);                                                                             \
    } while (0)

static void another_question(void) {
    CHANGE(form_version, house.form_version, record->questions.items[1].label = EVD_TEXT("not what was published"));
}

static void no_form_version(void) {
    behind_delete(&house, EVD_IN_FORM_VERSION, house.form_version);
}

static void unbound_stage(void) {
    CHANGE(settings_version, evd_settings_version_id(house.project, house.stage, 1), record->form = person(1));
}

static void unbound_form(void) {
    CHANGE(form, house.form, record->bound_stages.count = 0);
}

static void no_settings(void) {
    behind_delete(&house, EVD_IN_SETTINGS_VERSION, evd_settings_version_id(house.project, house.stage, 1));
}

static evd_uuid identity_of(evd_uuid study) {
    return evd_study_identity_id(house.project, EVD_IDENTITY_CUSTOM,
                                 BEHIND_READ(&house, study, study, &arena)->custom_id);
}

static void no_identity(void) {
    behind_delete(&house, EVD_IN_STUDY_IDENTITY, identity_of(studies[3]));
}

static void identity_of_another(void) {
    CHANGE(study_identity, identity_of(studies[3]), record->study = studies[2]);
}

static void identity_left_behind(void) {
    CHANGE(study, studies[3], record->custom_id = (struct evd_text){0});
}

static void identity_of_a_removed_study(void) {
    struct evd_study_removal removal = {.operation = person(9), .at = 1};
    CHANGE(study, studies[3], record->removed = &removal; record->random_key = 0);
}

static void summary_counts_more(void) {
    CHANGE(study, studies[0], record->summary->forms.items[0].places++);
}

static void summary_without_a_member(void) {
    CHANGE(study, studies[0], record->summary->forms.items[0].members.count = 1);
}

static void summary_with_a_stranger(void) {
    struct evd_study *study = BEHIND_READ(&house, study, studies[4], &arena);
    struct evd_form_summary *entry = &study->summary->forms.items[0];
    struct evd_summary_member *members = EVD_NEW_ARRAY(&arena, struct evd_summary_member, 2);
    members[0] = members[1] = entry->members.items[0];
    members[1].reviewer = person(44);
    entry->members.items = members;
    entry->members.count = 2;
    BEHIND_REPLACE(&house, study, study);
}

static void no_summary(void) {
    CHANGE(study, studies[0], record->summary = NULL);
}

static void projection_says_more(void) {
    CHANGE(study, studies[0], record->summary->stages.items[0].completed++);
}

static void head_of_an_old_version(void) {
    CHANGE(form_session, session_of(second), record->current_version = first);
}

static void no_version(void) {
    behind_delete(&house, EVD_IN_FORM_SESSION_VERSION, other);
}

static void another_form_version(void) {
    CHANGE(form_session, session_of(second), record->pinned_form_version = 7);
}

static void no_draft(void) {
    behind_delete(&house, EVD_IN_SESSION_DRAFT, session_of(other));
}

static void draft_of_no_version(void) {
    CHANGE(session_draft, session_of(other), record->base_version = person(3));
}

static void draft_of_another_session(void) {
    CHANGE(session_draft, session_of(other), record->base_version = second);
}

static void version_without_base(void) {
    CHANGE(form_session_version, second, record->base_version = evd_uuid_nil());
}

static void no_base(void) {
    behind_delete(&house, EVD_IN_FORM_SESSION_VERSION, first);
}

static void version_of_another_author(void) {
    CHANGE(form_session_version, second, record->author = person(7));
}

static void version_ahead_of_its_head(void) {
    CHANGE(form_session, session_of(second), record->version_seq = 1; record->current_version = first);
}

static void version_of_an_unpublished_form(void) {
    CHANGE(form_session_version, second, record->form_version_seq = 2);
}

static void no_ledger(void) {
    behind_delete(&house, EVD_IN_COMMAND_LEDGER,
                  evd_ledger_id(house.project, BEHIND_READ(&house, form_session_version, second, &arena)->command_id));
}

static void another_command(void) {
    evd_uuid id = BEHIND_READ(&house, form_session_version, second, &arena)->command_id;
    CHANGE(command_ledger, evd_ledger_id(house.project, id), record->command_id = person(4));
}

static void no_pins(void) {
    behind_delete(&house, EVD_IN_PIN_MAP, second);
}

static void fewer_pins(void) {
    CHANGE(pin_map, second, record->pins.size_bytes -= sizeof(struct evd_pin));
}

static void half_a_pin(void) {
    CHANGE(pin_map, second, record->pins.size_bytes -= 5);
}

static void no_revision(void) {
    behind_delete(&house, EVD_IN_ANNOTATION_REVISION, revision_of(second, "n")->base.id);
}

static void another_value(void) {
    CHANGE(annotation_revision, revision_of(second, "n")->base.id, record->value.integer = 3);
}

static void another_place(void) {
    CHANGE(annotation_revision, revision_of(second, "n")->base.id, record->question = EVD_TEXT("extra"));
}

static void no_previous(void) {
    CHANGE(annotation_revision, revision_of(second, "n")->base.id, record->previous = evd_uuid_nil());
}

static void no_head(void) {
    behind_delete(&house, EVD_IN_ANNOTATION_HEAD, revision_of(second, "n")->head);
}

static void head_of_an_old_revision(void) {
    struct evd_annotation_revision *revision = revision_of(second, "n");
    CHANGE(annotation_head, revision->head, record->current_revision = revision->previous);
}

static void head_with_another_digest(void) {
    CHANGE(annotation_head, revision_of(second, "n")->head,
           record->digest = BEHIND_READ(&house, annotation_revision, revision_of(first, "n")->base.id, &arena)->digest);
}

static void head_of_another_author(void) {
    CHANGE(annotation_head, revision_of(second, "n")->head, record->author = person(8));
}

static void version_before_its_base(void) {
    evd_stamp stamp = BEHIND_READ(&house, form_session_version, first, &arena)->base.stamp;
    CHANGE(form_session_version, second, record->base.stamp = stamp - 1);
}

static void two_versions_at_once(void) {
    evd_stamp stamp = BEHIND_READ(&house, form_session_version, first, &arena)->base.stamp;
    CHANGE(form_session_version, other, record->base.stamp = stamp);
}

static void study_before_its_version(void) {
    CHANGE(study, studies[0], record->base.stamp = 1);
}

static void revision_after_its_version(void) {
    CHANGE(annotation_revision, revision_of(second, "n")->base.id, record->base.stamp += 1000);
}

static void revision_before_its_previous(void) {
    CHANGE(annotation_revision, revision_of(second, "n")->base.id, record->base.stamp = 1);
}

static void head_before_its_revision(void) {
    CHANGE(annotation_head, revision_of(second, "n")->head, record->base.stamp = 1);
}

static void ledger_at_another_time(void) {
    evd_uuid id = BEHIND_READ(&house, form_session_version, second, &arena)->command_id;
    CHANGE(command_ledger, evd_ledger_id(house.project, id), record->base.stamp++);
}

static void insert_exposure(evd_uuid session, evd_uuid revision) {
    struct evd_exposure exposure = {.base.id = evd_exposure_id(second, revision),
                                    .session = session,
                                    .version_id = second,
                                    .version_seq = 2,
                                    .revision = revision};
    BEHIND_INSERT(&house, exposure, &exposure);
}

static void exposure_of_no_revision(void) {
    insert_exposure(session_of(second), person(5));
}

static void exposure_of_another_session(void) {
    insert_exposure(session_of(other), revision_of(other, "design")->base.id);
}

static void insert_operation(enum evd_operation_status status, evd_uuid command) {
    struct evd_operation operation = {.base.id = person(50),
                                      .kind = evd_name_of(EVD_OPERATION_IMPORT),
                                      .status = evd_name_of(status),
                                      .phase = evd_name_of(EVD_PHASE_SETTLED),
                                      .command_id = command,
                                      .requested_at = 1,
                                      .generation = 1};
    BEHIND_INSERT(&house, operation, &operation);
}

static void insert_open_operation(void) {
    struct evd_open_operation open = {.base.id = person(50), .operation = person(50), .project = house.project};
    BEHIND_INSERT(&house, open_operation, &open);
}

static void operation_of_no_command(void) {
    insert_operation(EVD_OPERATION_SUCCEEDED, person(51));
}

static evd_uuid some_command(void) {
    return BEHIND_READ(&house, form_session_version, second, &arena)->command_id;
}

static void running_and_not_open(void) {
    insert_operation(EVD_OPERATION_RUNNING, some_command());
}

static void settled_and_open(void) {
    insert_operation(EVD_OPERATION_SUCCEEDED, some_command());
    insert_open_operation();
}

static const struct damage {
    const char *name;
    void (*plant)(void);
    const char *check, *record;
} damages[] = {
    {"another question", another_question, "formVersion", "formVersion"},
    {"no form version", no_form_version, "formVersion", "formVersion"},
    {"unbound stage", unbound_stage, "binding", "form"},
    {"unbound form", unbound_form, "binding", "form"},
    {"no settings", no_settings, "binding", "settingsVersion"},
    {"no identity", no_identity, "identity", "studyIdentity"},
    {"identity of another", identity_of_another, "identity", "studyIdentity"},
    {"identity left behind", identity_left_behind, "identity", "studyIdentity"},
    {"identity of a removed study", identity_of_a_removed_study, "identity", "studyIdentity"},
    {"summary counts more", summary_counts_more, "summary", "study"},
    {"summary without a member", summary_without_a_member, "summary", "study"},
    {"summary with a stranger", summary_with_a_stranger, "summary", "study"},
    {"no summary", no_summary, "summary", "study"},
    {"projection says more", projection_says_more, "summary", "study"},
    {"head of an old version", head_of_an_old_version, "session", "formSession"},
    {"no version", no_version, "session", "formSessionVersion"},
    {"another form version", another_form_version, "session", "formSession"},
    {"no draft", no_draft, "draft", "sessionDraft"},
    {"draft of no version", draft_of_no_version, "draft", "formSessionVersion"},
    {"draft of another session", draft_of_another_session, "draft", "formSessionVersion"},
    {"version without base", version_without_base, "version", "formSessionVersion"},
    {"no base", no_base, "version", "formSessionVersion"},
    {"version of another author", version_of_another_author, "version", "formSessionVersion"},
    {"version ahead of its head", version_ahead_of_its_head, "version", "formSessionVersion"},
    {"version of an unpublished form", version_of_an_unpublished_form, "version", "formSessionVersion"},
    {"no ledger", no_ledger, "ledger", "commandLedger"},
    {"another command", another_command, "ledger", "commandLedger"},
    {"no pins", no_pins, "pins", "pinMap"},
    {"fewer pins", fewer_pins, "pins", "pinMap"},
    {"half a pin", half_a_pin, "pins", "pinMap"},
    {"no revision", no_revision, "revision", "annotationRevision"},
    {"another value", another_value, "revision", "annotationRevision"},
    {"another place", another_place, "revision", "annotationRevision"},
    {"no previous", no_previous, "revision", "annotationRevision"},
    {"no head", no_head, "head", "annotationHead"},
    {"head of an old revision", head_of_an_old_revision, "head", "annotationHead"},
    {"head with another digest", head_with_another_digest, "head", "annotationHead"},
    {"head of another author", head_of_another_author, "head", "annotationHead"},
    {"version before its base", version_before_its_base, "stamp", "formSessionVersion"},
    {"two versions at once", two_versions_at_once, "stamp", "formSessionVersion"},
    {"study before its version", study_before_its_version, "stamp", "study"},
    {"revision after its version", revision_after_its_version, "stamp", "annotationRevision"},
    {"revision before its previous", revision_before_its_previous, "stamp", "annotationRevision"},
    {"head before its revision", head_before_its_revision, "stamp", "annotationHead"},
    {"ledger at another time", ledger_at_another_time, "stamp", "commandLedger"},
    {"exposure of no revision", exposure_of_no_revision, "exposure", "annotationRevision"},
    {"exposure of another session", exposure_of_another_session, "exposure", "exposure"},
    {"operation of no command", operation_of_no_command, "ledger", "commandLedger"},
    {"running and not open", running_and_not_open, "operation", "operation"},
    {"open without an operation", insert_open_operation, "operation", "operation"},
    {"settled and open", settled_and_open, "operation", "openOperation"},
};

/* What is found says ids and numbers, and never what a person typed. */
static void expect_nothing_typed(const struct streamed *streamed) {
    static const char *const typed[] = {"rct", "obs", "Study ", "Ay, B", "design", "Every kind", "Extraction"};
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++)
        ck_assert_msg(strstr(streamed->bytes, typed[i]) == NULL, "%s", streamed->bytes);
}

START_TEST(each_kind_of_damage_is_found_where_it_is_and_told_without_answers_or_names) {
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        begin();
        damages[i].plant();
        struct streamed streamed = verify(PAGE), paged = verify(1);
        json_t *lines = lines_of(&streamed);
        ck_assert_msg(count_findings(lines, damages[i].check, damages[i].record) > 0, "%s: %s", damages[i].name,
                      streamed.bytes);
        ck_assert_int_eq(summed(lines, "findings"), (json_int_t)json_array_size(lines) - 1);
        ck_assert_msg(strcmp(streamed.bytes, paged.bytes) == 0, "%s:\n%s\n%s", damages[i].name, streamed.bytes,
                      paged.bytes);
        expect_nothing_typed(&streamed);
        json_decref(lines);
        streamed_done(&paged);
        streamed_done(&streamed);
        end();
    }
}
END_TEST

/* Every kind of check is among them: none that cannot fail. */
START_TEST(every_check_has_a_damage_that_it_finds) {
    for (int check = 1; check < (int)evd_names_integrity_check.count; check++) {
        size_t count = 0;
        for (size_t i = 0; i < sizeof damages / sizeof *damages; i++)
            count += strcmp(damages[i].check, evd_names_integrity_check.names[check]) == 0;
        ck_assert_msg(count > 0, "%s", evd_names_integrity_check.names[check]);
    }
}
END_TEST

START_TEST(more_findings_than_are_shown_are_counted) {
    house_open(&house, 0);
    house_furnish(&house, 3, 2);
    extraction_form(&house, FORM);
    evd_arena_init(&arena, 8 * EVD_MIB);
    enum { MANY = EVD_LIMIT_FINDINGS + 50 };
    studies = extraction_studies(&house, MANY);
    for (size_t i = 0; i < MANY; i++)
        behind_delete(&house, EVD_IN_STUDY_IDENTITY, identity_of(studies[i]));
    struct streamed streamed = verify(PAGE);
    json_t *lines = lines_of(&streamed);
    ck_assert_uint_eq(json_array_size(lines), EVD_LIMIT_FINDINGS + 1);
    ck_assert_int_eq(summed(lines, "findings"), MANY);
    ck_assert_int_eq(summed(lines, "shown"), EVD_LIMIT_FINDINGS);
    ck_assert_int_eq(summed(lines, "studies"), MANY + 2);
    json_decref(lines);
    streamed_done(&streamed);
    end();
}
END_TEST

START_TEST(administrators_and_the_operator_may_verify_and_nobody_else) {
    begin();
    struct evd_ids ids = {.project = house.project};
    extraction_roles(&house, 2, "['reconciler','reviewer','observer']");
    struct streamed reviewer = ask_streamed(&house, &evd_command_verify_project, ids, person(2), PAGE);
    ck_assert_int_eq(reviewer.code, EVD_REFUSED);
    struct streamed stranger = ask_streamed(&house, &evd_command_verify_project, ids, person(60), PAGE);
    ck_assert_int_eq(stranger.code, EVD_NOT_FOUND);
    struct streamed operators = {0};
    struct asked *asked = asked_new(&house, &evd_command_verify_project, ids, person(61), evd_uuid_nil(), NULL);
    asked_call(asked)->is_operator = true;
    while (asked_piece(asked, &operators)) {
    }
    ck_assert_int_eq(operators.code, EVD_OK);
    struct streamed own = verify(PAGE);
    ck_assert_str_eq(operators.bytes, own.bytes);
    asked_drop(asked);
    streamed_done(&reviewer);
    streamed_done(&stranger);
    streamed_done(&operators);
    streamed_done(&own);
    end();
}
END_TEST

EVD_TEST_MAIN("commands: verification", nothing_is_found_in_a_healthy_project,
              nothing_is_found_in_a_project_with_nothing_in_it,
              each_kind_of_damage_is_found_where_it_is_and_told_without_answers_or_names,
              every_check_has_a_damage_that_it_finds, more_findings_than_are_shown_are_counted,
              administrators_and_the_operator_may_verify_and_nobody_else)
