#include "damages.h"

#include "behind.h"

#include "evidenced/domain/pins.h"
#include "evidenced/domain/study_identity.h"
#include "evidenced/records/keys.h"

static struct damaged damaged;

void damages_on(const struct damaged *given) {
    damaged = *given;
}

static evd_uuid session_of(evd_uuid version) {
    return BEHIND_READ(damaged.house, form_session_version, version, damaged.arena)->session;
}

/* The revision of that question that a version pins. */
static struct evd_annotation_revision *revision_of(evd_uuid version, const char *question) {
    struct evd_pins pins;
    ck_assert(evd_pins_unpack(BEHIND_READ(damaged.house, pin_map, version, damaged.arena)->pins, &pins));
    for (size_t i = 0; i < pins.count; i++) {
        struct evd_annotation_revision *revision =
            BEHIND_READ(damaged.house, annotation_revision, pins.items[i].revision, damaged.arena);
        if (revision != NULL && evd_text_equal(revision->question, evd_text_from(question))) return revision;
    }
    ck_abort_msg("no %s", question);
}

#define CHANGE(T, of, statement)                                                                                       \
    do {                                                                                                               \
        struct evd_##T *record = BEHIND_READ(damaged.house, T, (of), damaged.arena);                                   \
        ck_assert_ptr_nonnull(record);                                                                                 \
        statement;                                                                                                     \
        BEHIND_REPLACE(damaged.house, T, record);                                                                      \
    } while (0)

static void another_question(void) {
    CHANGE(form_version, damaged.house->form_version,
           record->questions.items[1].label = EVD_TEXT("not what was published"));
}

static void no_form_version(void) {
    behind_lose(damaged.house, EVD_IN_FORM_VERSION, damaged.house->form_version);
}

static void unbound_stage(void) {
    CHANGE(settings_version, evd_settings_version_id(damaged.house->project, damaged.house->stage, 1),
           record->form = person(1));
}

static void unbound_form(void) {
    CHANGE(form, damaged.house->form, record->bound_stages.count = 0);
}

static void no_settings(void) {
    behind_lose(damaged.house, EVD_IN_SETTINGS_VERSION,
                evd_settings_version_id(damaged.house->project, damaged.house->stage, 1));
}

evd_uuid damages_identity_of(evd_uuid study) {
    return evd_study_identity_id(damaged.house->project, EVD_IDENTITY_CUSTOM,
                                 BEHIND_READ(damaged.house, study, study, damaged.arena)->custom_id);
}

static void no_identity(void) {
    behind_lose(damaged.house, EVD_IN_STUDY_IDENTITY, damages_identity_of(damaged.studies[3]));
}

static void identity_of_another(void) {
    CHANGE(study_identity, damages_identity_of(damaged.studies[3]), record->study = damaged.studies[2]);
}

static void identity_left_behind(void) {
    CHANGE(study, damaged.studies[3], record->custom_id = (struct evd_text){0});
}

static void identity_of_a_removed_study(void) {
    struct evd_study_removal removal = {.operation = person(9), .at = 1};
    CHANGE(study, damaged.studies[3], record->removed = &removal; record->random_key = 0);
}

static void summary_counts_more(void) {
    CHANGE(study, damaged.studies[0], record->summary->forms.items[0].places++);
}

static void summary_without_a_member(void) {
    CHANGE(study, damaged.studies[0], record->summary->forms.items[0].members.count = 1);
}

static void summary_with_a_stranger(void) {
    struct evd_study *study = BEHIND_READ(damaged.house, study, damaged.studies[4], damaged.arena);
    struct evd_form_summary *entry = &study->summary->forms.items[0];
    struct evd_summary_member *members = EVD_NEW_ARRAY(damaged.arena, struct evd_summary_member, 2);
    members[0] = members[1] = entry->members.items[0];
    members[1].reviewer = person(44);
    entry->members.items = members;
    entry->members.count = 2;
    BEHIND_REPLACE(damaged.house, study, study);
}

static void no_summary(void) {
    CHANGE(study, damaged.studies[0], record->summary = NULL);
}

static void projection_says_more(void) {
    CHANGE(study, damaged.studies[0], record->summary->stages.items[0].completed++);
}

static void head_of_an_old_version(void) {
    CHANGE(form_session, session_of(damaged.second), record->current_version = damaged.first);
}

static void no_version(void) {
    behind_lose(damaged.house, EVD_IN_FORM_SESSION_VERSION, damaged.other);
}

static void another_form_version(void) {
    CHANGE(form_session, session_of(damaged.second), record->pinned_form_version = 7);
}

static void no_draft(void) {
    behind_lose(damaged.house, EVD_IN_SESSION_DRAFT, session_of(damaged.other));
}

static void draft_of_no_version(void) {
    CHANGE(session_draft, session_of(damaged.other), record->base_version = person(3));
}

static void draft_of_another_session(void) {
    CHANGE(session_draft, session_of(damaged.other), record->base_version = damaged.second);
}

static void version_without_base(void) {
    CHANGE(form_session_version, damaged.second, record->base_version = evd_uuid_nil());
}

static void no_base(void) {
    behind_lose(damaged.house, EVD_IN_FORM_SESSION_VERSION, damaged.first);
}

static void version_of_another_author(void) {
    CHANGE(form_session_version, damaged.second, record->author = person(7));
}

static void version_ahead_of_its_head(void) {
    CHANGE(form_session, session_of(damaged.second), record->version_seq = 1; record->current_version = damaged.first);
}

static void version_of_an_unpublished_form(void) {
    CHANGE(form_session_version, damaged.second, record->form_version_seq = 2);
}

static void no_ledger(void) {
    behind_lose(
        damaged.house, EVD_IN_COMMAND_LEDGER,
        evd_ledger_id(damaged.house->project,
                      BEHIND_READ(damaged.house, form_session_version, damaged.second, damaged.arena)->command_id));
}

static void another_command(void) {
    evd_uuid id = BEHIND_READ(damaged.house, form_session_version, damaged.second, damaged.arena)->command_id;
    CHANGE(command_ledger, evd_ledger_id(damaged.house->project, id), record->command_id = person(4));
}

static void no_pins(void) {
    behind_lose(damaged.house, EVD_IN_PIN_MAP, damaged.second);
}

static void fewer_pins(void) {
    CHANGE(pin_map, damaged.second, record->pins.size_bytes -= sizeof(struct evd_pin));
}

static void half_a_pin(void) {
    CHANGE(pin_map, damaged.second, record->pins.size_bytes -= 5);
}

static void no_revision(void) {
    behind_lose(damaged.house, EVD_IN_ANNOTATION_REVISION, revision_of(damaged.second, "n")->base.id);
}

static void another_value(void) {
    CHANGE(annotation_revision, revision_of(damaged.second, "n")->base.id, record->value.integer = 3);
}

static void another_place(void) {
    CHANGE(annotation_revision, revision_of(damaged.second, "n")->base.id, record->question = EVD_TEXT("extra"));
}

static void no_previous(void) {
    CHANGE(annotation_revision, revision_of(damaged.second, "n")->base.id, record->previous = evd_uuid_nil());
}

static void no_head(void) {
    behind_lose(damaged.house, EVD_IN_ANNOTATION_HEAD, revision_of(damaged.second, "n")->head);
}

static void head_of_an_old_revision(void) {
    struct evd_annotation_revision *revision = revision_of(damaged.second, "n");
    CHANGE(annotation_head, revision->head, record->current_revision = revision->previous);
}

static void head_with_another_digest(void) {
    CHANGE(annotation_head, revision_of(damaged.second, "n")->head,
           record->digest =
               BEHIND_READ(damaged.house, annotation_revision, revision_of(damaged.first, "n")->base.id, damaged.arena)
                   ->digest);
}

static void head_of_another_author(void) {
    CHANGE(annotation_head, revision_of(damaged.second, "n")->head, record->author = person(8));
}

static void version_before_its_base(void) {
    evd_stamp stamp = BEHIND_READ(damaged.house, form_session_version, damaged.first, damaged.arena)->base.stamp;
    CHANGE(form_session_version, damaged.second, record->base.stamp = stamp - 1);
}

static void two_versions_at_once(void) {
    evd_stamp stamp = BEHIND_READ(damaged.house, form_session_version, damaged.first, damaged.arena)->base.stamp;
    CHANGE(form_session_version, damaged.other, record->base.stamp = stamp);
}

static void study_before_its_version(void) {
    CHANGE(study, damaged.studies[0], record->base.stamp = 1);
}

static void revision_after_its_version(void) {
    CHANGE(annotation_revision, revision_of(damaged.second, "n")->base.id, record->base.stamp += 1000);
}

static void revision_before_its_previous(void) {
    CHANGE(annotation_revision, revision_of(damaged.second, "n")->base.id, record->base.stamp = 1);
}

static void head_before_its_revision(void) {
    CHANGE(annotation_head, revision_of(damaged.second, "n")->head, record->base.stamp = 1);
}

static void ledger_at_another_time(void) {
    evd_uuid id = BEHIND_READ(damaged.house, form_session_version, damaged.second, damaged.arena)->command_id;
    CHANGE(command_ledger, evd_ledger_id(damaged.house->project, id), record->base.stamp++);
}

static void insert_exposure(evd_uuid session, evd_uuid revision) {
    struct evd_exposure exposure = {.base.id = evd_exposure_id(damaged.second, revision),
                                    .session = session,
                                    .version_id = damaged.second,
                                    .version_seq = 2,
                                    .revision = revision};
    BEHIND_INSERT(damaged.house, exposure, &exposure);
}

static void exposure_of_no_revision(void) {
    insert_exposure(session_of(damaged.second), person(5));
}

static void exposure_of_another_session(void) {
    insert_exposure(session_of(damaged.other), revision_of(damaged.other, "design")->base.id);
}

static void insert_operation(enum evd_operation_status status, evd_uuid command) {
    struct evd_operation operation = {.base.id = person(50),
                                      .kind = evd_name_of(EVD_OPERATION_IMPORT),
                                      .status = evd_name_of(status),
                                      .phase = evd_name_of(EVD_PHASE_SETTLED),
                                      .command_id = command,
                                      .requested_at = 1,
                                      .generation = 1};
    BEHIND_INSERT(damaged.house, operation, &operation);
}

static void insert_open_operation(void) {
    struct evd_open_operation open = {
        .base.id = person(50), .operation = person(50), .project = damaged.house->project};
    BEHIND_INSERT(damaged.house, open_operation, &open);
}

static void operation_of_no_command(void) {
    insert_operation(EVD_OPERATION_SUCCEEDED, person(51));
}

static evd_uuid some_command(void) {
    return BEHIND_READ(damaged.house, form_session_version, damaged.second, damaged.arena)->command_id;
}

static void running_and_not_open(void) {
    insert_operation(EVD_OPERATION_RUNNING, some_command());
}

static void settled_and_open(void) {
    insert_operation(EVD_OPERATION_SUCCEEDED, some_command());
    insert_open_operation();
}

const struct damage damages[] = {
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

const size_t damages_count = sizeof damages / sizeof *damages;
