/*
 * Canaries: deliberate bugs of test builds, to prove that the tests can fail. Each stands where a real one would, as a
 * condition `EVD_CANARY(id)` that is false unless it was chosen; in other builds it is false and compiles to nothing.
 *
 * `EVIDENCED_CANARY=name` chooses one for a process; evd_canary_choose for whoever runs many. `make sim-canaries`
 * fails unless the simulator catches each.
 */
#ifndef EVIDENCED_BASE_CANARY_H
#define EVIDENCED_BASE_CANARY_H

#include <stdbool.h>

/* EVD_CANARIES(X): X(id, "name", "what it breaks"), in the order of a command's life. */
#define EVD_CANARIES(X)                                                                                                \
    X(MEMBERSHIP_NOT_CHECKED, "membership-not-checked", "who is no member any more may go on")                         \
    X(REVOCATION_NOT_AWAITED, "revocation-not-awaited", "a revocation is answered while attempts before it run")       \
    X(LEDGER_NOT_READ, "ledger-not-read", "a command that took effect runs again when it is sent again")               \
    X(DIGEST_NOT_COMPARED, "digest-not-compared",                                                                      \
      "a command id used for another request gets the first one's receipt")                                            \
    X(REPLAY_RENDERED_ANEW, "replay-rendered-anew", "a command that is sent again gets another receipt")               \
    X(UNKNOWN_RUN_AGAIN, "unknown-run-again", "a commit of unknown fate is run again without asking the ledger")       \
    X(UNKNOWN_TAKEN_FOR_DONE, "unknown-taken-for-done", "a commit of unknown fate is answered as a success")           \
    X(STAMP_OF_HOST_ONLY, "stamp-of-host-only", "a stamp is of the host's clock, whatever was read")                   \
    X(READS_LATEST, "reads-latest", "a view is read from several instants")                                            \
    X(LANE_NOT_HANDED_ON, "lane-not-handed-on", "a call that is done leaves those behind it in its lane")              \
    X(SESSION_BASE_IGNORED, "session-base-ignored", "a version is made from another base than it was declared from")   \
    X(DRAFT_BASE_IGNORED, "draft-base-ignored", "a Save consumes another draft than it declares")                      \
    X(DRAFT_HELD_IGNORED, "draft-held-ignored", "a Save consumes a draft that another tab holds")                      \
    X(STALE_ANSWER_TAKEN, "stale-answer-taken", "an answer that another form changed meanwhile is overwritten")        \
    X(HEAD_WITHOUT_STUDY, "head-without-study", "an author's answers of two studies have one head")                    \
    X(ADMISSION_SKIPPED, "admission-skipped", "a first version needs no place")                                        \
    X(WITHDRAWN_HOLDS_PLACE, "withdrawn-holds-place", "admission counts who withdrew")                                 \
    X(WITHDRAWN_COUNTED, "withdrawn-counted", "the summary counts who withdrew")                                       \
    X(PINS_NOT_KEPT, "pins-not-kept", "answers a request does not name are not in its version")                        \
    X(REVISION_NOT_WRITTEN, "revision-not-written", "a version pins a value that is not there")                        \
    X(BELOW_NOT_WITHDRAWN, "below-not-withdrawn", "what stands under an element stays when that is taken back")        \
    X(ELEMENTS_NOT_CHECKED, "elements-not-checked", "an answer may stand under an element that is not there")          \
    X(REFERENCES_NOT_CHECKED, "references-not-checked", "a reference may point at an instance that is not there")      \
    X(REQUIRED_NOT_ASKED, "required-not-asked", "Complete takes a session without what is required")                   \
    X(STUDY_NOT_WRITTEN, "study-not-written", "evidence is written without its Study")                                 \
    X(DRAFT_NOT_WRITTEN, "draft-not-written", "a draft is consumed without being written")                             \
    X(DRAFT_NOT_EMPTIED, "draft-not-emptied", "a draft still holds what was saved")                                    \
    X(LEFT_OUT_NOT_KEPT, "left-out-not-kept", "what a draft held and its Save left out is gone")                       \
    X(AUTOSAVE_HOLDER_IGNORED, "autosave-holder-ignored", "a draft that another tab holds is overwritten")             \
    X(AUTOSAVE_BASE_IGNORED, "autosave-base-ignored", "an autosave of an older version is taken")                      \
    X(AUTOSAVE_SEQUENCE_IGNORED, "autosave-sequence-ignored", "an autosave is taken out of its order")                 \
    X(AUTOSAVE_ETAG_IGNORED, "autosave-etag-ignored", "an autosave overwrites a draft it does not know")               \
    X(AUTOSAVE_ETAG_FIRST, "autosave-etag-first", "an autosave that is sent again is refused for its own effect")      \
    X(REPETITION_OF_WHAT_IS_GONE, "repetition-of-what-is-gone", "an autosave repeats one that was adopted over")       \
    X(REFUSED_AUTOSAVE_NOT_KEPT, "refused-autosave-not-kept", "what came too late is not kept beside the draft")       \
    X(PATCH_REPLACES, "patch-replaces", "a PATCH drops what it does not name")                                         \
    X(ADOPTING_FORGETS, "adopting-forgets", "what a copy overwrites in the draft is gone")                             \
    X(SETTLED_WHILE_HELD, "settled-while-held", "a draft is discarded, or a copy adopted, while another tab holds it") \
    X(DISCARD_NOT_NOTED, "discard-not-noted", "a draft is discarded without a trace")                                  \
    X(TAKE_OVER_ANY_GENERATION, "take-over-any-generation", "a draft is taken over from who was not seen holding it")  \
    X(GENERATION_NOT_RAISED, "generation-not-raised", "a draft changes hands and its lease does not tell")             \
    X(RECEIPT_OF_OLD_DRAFT, "receipt-of-old-draft", "a receipt names the draft as it was before")                      \
    X(EXPOSURES_NOT_KEPT, "exposures-not-kept", "what a reviewer was shown is not told with the version")              \
    X(IDENTIFIER_NOT_TAKEN, "identifier-not-taken", "two studies may have one identifier")                             \
    X(OPERATION_LEFT_OPEN, "operation-left-open", "what is settled is taken up again with each start")                 \
    X(UNDO_NOT_LOOKED_AGAIN, "undo-not-looked-again", "a study is taken away that somebody began to work on")          \
    X(FORM_WRITTEN, "form-written", "a Save writes its form, so that all of a form's reviewers wait for each other")   \
    X(PINS_WRITTEN_TWICE, "pins-written-twice", "one commit writes a record twice")                                    \
    X(REFERENCE_NOT_READ, "reference-not-read", "a record refers to one its command did not look at")

enum evd_canary {
#define EVD_CANARY_ENUM(id, name, what) EVD_CANARY_##id,
    EVD_CANARIES(EVD_CANARY_ENUM)
#undef EVD_CANARY_ENUM
        EVD_CANARY_COUNT
};

/** `ledger-not-read`, … */
const char *evd_canary_name(enum evd_canary canary);
const char *evd_canary_meaning(enum evd_canary canary);

#ifdef EVD_TEST
/** From now on this one, or none (EVD_CANARY_COUNT); for a thread that has no others beside it. */
void evd_canary_choose(enum evd_canary canary);

bool evd_canary_is_chosen(enum evd_canary canary);
#define EVD_CANARY(id) evd_canary_is_chosen(EVD_CANARY_##id)
#else
#define EVD_CANARY(id) false
#endif

#endif
