#include "problem.h"

#include "ask.h"
#include "say.h"
#include "target.h"

enum { SHOWN_ERRORS = 50 };

static struct evd_ctl_verdict verdict(enum evd_ctl_exit exit, bool may_again) {
    return (struct evd_ctl_verdict){.exit = exit, .may_again = may_again};
}

static struct evd_ctl_verdict judge_trouble(const struct evd_ctl_call *call, const struct evd_ctl_answer *answer) {
    switch (answer->trouble) {
    case EVD_CTL_NO_TROUBLE: break;
    case EVD_CTL_UNREACHED: return verdict(EVD_CTL_UNAVAILABLE, true);
    case EVD_CTL_BROKEN: return verdict(EVD_CTL_UNAVAILABLE, !call->is_once);
    case EVD_CTL_CUT_SHORT:
    case EVD_CTL_NOT_TRUSTED:
    case EVD_CTL_SINK_FAILED:
    case EVD_CTL_TOO_LONG:
    case EVD_CTL_INTERRUPTED:
    case EVD_CTL_IMPOSSIBLE: return verdict(EVD_CTL_FAILED, false);
    }
    abort();
}

/* What a proxy says for a server that is down carries no problem document; what the service says itself does. */
static bool is_retryable(const struct evd_ctl_answer *answer) {
    const json_t *told = json_object_get(answer->json, "retryable");
    if (json_is_boolean(told)) return json_is_true(told);
    return answer->status == 408 || answer->status == 429 || (answer->status >= 502 && answer->status <= 504);
}

struct evd_ctl_verdict evd_ctl_judge(const struct evd_ctl_call *call, const struct evd_ctl_answer *answer) {
    long status = answer->status;
    if (answer->trouble != EVD_CTL_NO_TROUBLE) return judge_trouble(call, answer);
    if (status >= 200 && status <= 299)
        return verdict(call->sink != NULL || json_is_object(answer->json) ? EVD_CTL_DONE : EVD_CTL_FAILED, false);
    if (is_retryable(answer)) return verdict(EVD_CTL_UNAVAILABLE, true);
    if (status == 401 || status == 403 || status == 404) return verdict(EVD_CTL_NOT_FOUND, false);
    if (status == 503) return verdict(EVD_CTL_UNAVAILABLE, false);
    return verdict(status >= 400 && status <= 499 ? EVD_CTL_REFUSED : EVD_CTL_FAILED, false);
}

/* Sentences. */

const char *evd_ctl_why(struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    const char *outcome = evd_ctl_member(answer->json, "outcome"), *detail = evd_ctl_member(answer->json, "detail");
    if (answer->trouble != EVD_CTL_NO_TROUBLE) return evd_text_print(&ctl->arena, "%s", answer->why).bytes;
    if (outcome[0] == '\0') return evd_text_print(&ctl->arena, "HTTP status %ld", answer->status).bytes;
    return evd_text_print(&ctl->arena, "%s: %s", outcome, detail).bytes;
}

/* `/questions/1/id: There is … (code)`, `row 7, column doi: …`. */
static void tell_error(struct evd_ctl *ctl, const json_t *error) {
    const char *pointer = evd_ctl_member(error, "pointer"), *column = evd_ctl_member(error, "column");
    struct evd_text row = evd_ctl_cell(ctl, error, "row"), candidates = evd_ctl_cell(ctl, error, "candidates");
    bool has_row = row.size_bytes > 0, has_column = column[0] != '\0', has_pointer = pointer[0] != '\0';
    evd_ctl_add(ctl, "%s%s%s%s%s%s%s%s (%s)%s%s", pointer, has_row ? "row " : "", row.bytes,
                has_row && has_column ? ", " : "", has_column ? "column " : "", column,
                has_row || has_column || has_pointer ? ": " : "", evd_ctl_member(error, "message"),
                evd_ctl_member(error, "code"), candidates.size_bytes > 0 ? ": " : "", candidates.bytes);
}

static void tell_errors(struct evd_ctl *ctl, const json_t *problem) {
    const json_t *errors = json_object_get(problem, "errors");
    size_t count = json_array_size(errors);
    json_int_t total = json_integer_value(json_object_get(problem, "errorCount"));
    for (size_t i = 0; i < count && i < SHOWN_ERRORS; i++)
        tell_error(ctl, json_array_get(errors, i));
    if (total < (json_int_t)count) total = (json_int_t)count;
    size_t shown = count < SHOWN_ERRORS ? count : SHOWN_ERRORS;
    if (total > (json_int_t)shown)
        evd_ctl_add(ctl, "and %lld more; --json shows all that were told", (long long)total - (long long)shown);
}

/* What else the problem says that helps to go on. */
static void tell_members(struct evd_ctl *ctl, const json_t *problem) {
    static const char *const names[] = {"pointer", "header", "parameter", "declared", "current"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct evd_text value = evd_ctl_cell(ctl, problem, names[i]);
        if (value.size_bytes > 0) evd_ctl_add(ctl, "%s: " EVD_TEXT_FMT, names[i], EVD_TEXT_ARG(value));
    }
}

static void tell_key(struct evd_ctl *ctl, const struct evd_ctl_call *call) {
    if (call->key == NULL) return;
    evd_ctl_add(ctl, "To repeat it, add: --key %s%s", evd_ctl_key(ctl, NULL), ctl->repeat == NULL ? "" : ctl->repeat);
}

static void tell_trouble(struct evd_ctl *ctl, const struct evd_ctl_call *call, const struct evd_ctl_answer *answer) {
    bool is_control = evd_ctl_target_is_control(ctl);
    switch (answer->trouble) {
    case EVD_CTL_NO_TROUBLE: break;
    case EVD_CTL_UNREACHED:
        evd_ctl_complain(ctl, "There is no connection to %s: %s.", ctl->place, answer->why);
        evd_ctl_add(ctl, is_control ? "Is evidenced running, as this user? --control names its socket; --server asks a "
                                      "server instead."
                                    : "Is --server right, and is the server up?");
        break;
    case EVD_CTL_BROKEN:
        evd_ctl_complain(ctl, "The connection to %s broke: %s.", ctl->place, answer->why);
        if (call->is_once) evd_ctl_add(ctl, "It may have been done or not: look before you repeat it.");
        break;
    case EVD_CTL_CUT_SHORT:
        evd_ctl_complain(ctl, "The answer was cut short: %s.", answer->why);
        evd_ctl_add(ctl, "What had come so far is not whole; run it again.");
        return;
    case EVD_CTL_NOT_TRUSTED:
        evd_ctl_complain(ctl, "The server cannot be trusted: %s.", answer->why);
        evd_ctl_add(ctl, "--ca-file names the certificates to check it against.");
        return;
    case EVD_CTL_SINK_FAILED:
        if (call->is_file) evd_ctl_complain(ctl, "The file changed or could not be read while it was sent.");
        break; /* what could not be written was said where it failed */
    case EVD_CTL_TOO_LONG: evd_ctl_complain(ctl, "The answer is longer than 64 MiB."); return;
    case EVD_CTL_INTERRUPTED: evd_ctl_complain(ctl, "Interrupted."); break;
    case EVD_CTL_IMPOSSIBLE: evd_ctl_complain(ctl, "It could not be asked: %s.", answer->why); return;
    }
    tell_key(ctl, call);
}

static void tell_unavailable(struct evd_ctl *ctl, const struct evd_ctl_call *call,
                             const struct evd_ctl_answer *answer) {
    bool is_unknown = strcmp(evd_ctl_member(answer->json, "outcome"), "OutcomeUnknown") == 0;
    evd_ctl_complain(ctl, "%s", evd_ctl_why(ctl, answer));
    if (is_unknown)
        evd_ctl_add(ctl, "Repeating it with the same key settles it, and does nothing twice.");
    else if (answer->retry_after_s > 0)
        evd_ctl_add(ctl, "The service asks to be left alone for %ld s; --wait says how long to go on.",
                    answer->retry_after_s);
    tell_key(ctl, call);
}

static void tell_refused(struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    const char *outcome = evd_ctl_member(answer->json, "outcome"), *reason = evd_ctl_member(answer->json, "reason");
    if (reason[0] == '\0')
        evd_ctl_complain(ctl, "%s", evd_ctl_why(ctl, answer));
    else
        evd_ctl_complain(ctl, "%s (%s): %s", outcome, reason, evd_ctl_member(answer->json, "detail"));
    tell_members(ctl, answer->json);
    tell_errors(ctl, answer->json);
    if (strcmp(outcome, "CommandDigestMismatch") == 0)
        evd_ctl_add(ctl, "Leave --key out to ask for something new.");
    else if (strcmp(reason, "permission") == 0)
        evd_ctl_add(ctl, "Ask as a member whose role may: --server with their token.");
}

static void tell_not_found(struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    evd_ctl_complain(ctl, "%s", evd_ctl_why(ctl, answer));
    if (answer->status == 401)
        evd_ctl_add(ctl, "Get a new token and put it in the file of --token-file.");
    else if (evd_ctl_target_is_control(ctl))
        evd_ctl_add(ctl, "Check the ids. The operator sees the projects made over the control socket; for others ask "
                         "with --server as a member.");
    else
        evd_ctl_add(ctl, "Check the ids, and that the caller is a member of the project.");
}

void evd_ctl_tell(struct evd_ctl *ctl, const struct evd_ctl_call *call, const struct evd_ctl_answer *answer,
                  enum evd_ctl_exit exit) {
    if (answer->trouble != EVD_CTL_NO_TROUBLE) {
        tell_trouble(ctl, call, answer);
        return;
    }
    if (answer->json != NULL) (void)evd_ctl_print_json(ctl, answer);
    switch (exit) {
    case EVD_CTL_UNAVAILABLE: tell_unavailable(ctl, call, answer); break;
    case EVD_CTL_REFUSED: tell_refused(ctl, answer); break;
    case EVD_CTL_NOT_FOUND: tell_not_found(ctl, answer); break;
    case EVD_CTL_DONE:
    case EVD_CTL_FAILED:
    case EVD_CTL_MISUSED:
    case EVD_CTL_FOUND:
        evd_ctl_complain(ctl, "%s answered with HTTP status %ld, and nothing evidenced says.", ctl->place,
                         answer->status);
        evd_ctl_add(ctl, "Is that the address of evidenced?");
        tell_key(ctl, call);
        break;
    }
    const char *instance = evd_ctl_member(answer->json, "instance");
    bool is_ours = exit == EVD_CTL_FAILED || exit == EVD_CTL_UNAVAILABLE; /* nothing the caller could correct */
    if (is_ours && instance[0] != '\0') evd_ctl_add(ctl, "In the service's log: %s", instance);
}
