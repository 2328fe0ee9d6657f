#include "operation.h"

#include "interrupt.h"
#include "problem.h"
#include "progress.h"
#include "say.h"

/* Without a bar to move the service may as well hold the answer back until there is something to say. */
enum { HOLD_SECONDS = 10, USUAL_PAUSE_SECONDS = 1, SHOWN_ROWS = 20 };

static bool has_status(const struct evd_ctl_answer *answer, const char *status) {
    return strcmp(evd_ctl_member(answer->json, "status"), status) == 0;
}

static const char *id_of(struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    evd_uuid id;
    const char *text = evd_ctl_member(answer->json, "id");
    return evd_uuid_parse(evd_text_from(text), &id) ? evd_ctl_canonical_id(ctl, text) : NULL;
}

static void show_progress(struct evd_ctl_progress *progress, const struct evd_ctl_answer *answer) {
    const json_t *told = json_object_get(answer->json, "progress");
    json_int_t done = json_integer_value(json_object_get(told, "done"));
    json_int_t total = json_integer_value(json_object_get(told, "total"));
    if (done >= 0 && total >= 0) evd_ctl_progress_rows(progress, (uint64_t)done, (uint64_t)total);
}

static enum evd_ctl_exit look_again(struct evd_ctl *ctl, const char *id, struct evd_ctl_answer *answer) {
    long pause_s = answer->retry_after_s >= 0 ? answer->retry_after_s : USUAL_PAUSE_SECONDS;
    evd_ctl_answer_done(answer);
    if (!evd_ctl_pause_ms((int64_t)pause_s * 1000)) return EVD_CTL_FAIL(ctl, "Interrupted.");
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_GET_OPERATION, id, NULL);
    return evd_ctl_ask(ctl, &call, answer);
}

enum evd_ctl_exit evd_ctl_operation_run(struct evd_ctl *ctl, const struct evd_ctl_call *call, const char *doing,
                                        struct evd_ctl_answer *ret_answer) {
    struct evd_ctl_call first = *call;
    struct evd_ctl_progress sending, working;
    struct evd_ctl_answer answer;
    evd_ctl_progress_init(&sending, "Sending", call->is_file);
    evd_ctl_progress_init(&working, doing, true);
    first.progress = &sending;
    first.prefer_wait_s = evd_ctl_progress_is_wanted() ? 0 : HOLD_SECONDS;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &first, &answer);
    if (status != EVD_CTL_DONE) return status;
    const char *id = id_of(ctl, &answer);
    while (status == EVD_CTL_DONE && id != NULL && has_status(&answer, "running")) {
        show_progress(&working, &answer);
        status = look_again(ctl, id, &answer);
    }
    evd_ctl_progress_clear(&working);
    if (status != EVD_CTL_DONE) {
        if (status != EVD_CTL_NOT_FOUND)
            evd_ctl_add(ctl, "The operation goes on; to look at it: evidencectl import show %s", id);
        return status;
    }
    *ret_answer = answer;
    return EVD_CTL_DONE;
}

/* What came of it. */

static const struct evd_ctl_column row_columns[] = {{"ROW", "place"},   {"TO", "lastPlace"},  {"RESULT", "result"},
                                                    {"CODE", "code"},   {"COLUMN", "column"}, {"STUDY", "studyId"},
                                                    {"WHY", "sentence"}};

static void show_rows(struct evd_ctl *ctl, const json_t *rows) {
    if (json_array_size(rows) > 0) (void)fputc('\n', stdout);
    evd_ctl_show_table(ctl, rows, row_columns, sizeof row_columns / sizeof *row_columns);
}

static json_int_t count_of(const struct evd_ctl_answer *answer, const char *name) {
    return json_integer_value(json_object_get(json_object_get(answer->json, "counts"), name));
}

/* The first rows of the result that matters most: what was refused, else what stayed, else what was there already. */
static enum evd_ctl_exit show_first_rows(struct evd_ctl *ctl, const struct evd_ctl_answer *operation, const char *id) {
    static const char *const results[] = {"refused", "stayed", "matched"};
    size_t at = 0, count = sizeof results / sizeof *results;
    while (at < count && count_of(operation, results[at]) == 0)
        at++;
    if (at == count) return EVD_CTL_DONE;
    struct evd_ctl_call call = evd_ctl_call_of(ctl, EVD_CTL_PATH_OPERATION_ROWS, id, NULL);
    struct evd_ctl_answer answer;
    call.path = evd_text_print(&ctl->arena, "%s?limit=%d&result=%s", call.path, SHOWN_ROWS, results[at]).bytes;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    show_rows(ctl, json_object_get(answer.json, "items"));
    if (json_is_string(json_object_get(answer.json, "next")))
        (void)printf("and more: evidencectl import show %s\n", id);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit show_all_rows(struct evd_ctl *ctl, const char *id) {
    json_t *rows = NULL;
    enum evd_ctl_exit status = evd_ctl_ask_all(ctl, EVD_CTL_PATH_OPERATION_ROWS, id, &rows);
    if (status != EVD_CTL_DONE) return status;
    show_rows(ctl, rows);
    json_decref(rows);
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit end_of(struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    const char *why = evd_ctl_member(answer->json, "refusal");
    if (has_status(answer, "succeeded") || has_status(answer, "running")) return EVD_CTL_DONE;
    if (!has_status(answer, "refused"))
        return EVD_CTL_FAIL(ctl, "The operation has ended as `%s`.", evd_ctl_member(answer->json, "status"));
    evd_ctl_complain(ctl, "Refused, and nothing was changed%s%s.", why[0] == '\0' ? "" : ": ", why);
    return EVD_CTL_REFUSED;
}

enum evd_ctl_exit evd_ctl_operation_tell(struct evd_ctl *ctl, struct evd_ctl_answer *answer, bool all_rows) {
    const char *id = id_of(ctl, answer);
    bool is_json = evd_ctl_print_json(ctl, answer);
    enum evd_ctl_exit status = EVD_CTL_DONE;
    if (!is_json) evd_ctl_show_object(ctl, answer->json, NULL);
    if (id != NULL && !has_status(answer, "running") && all_rows)
        status = show_all_rows(ctl, id);
    else if (id != NULL && !has_status(answer, "running") && !is_json)
        status = show_first_rows(ctl, answer, id);
    if (status == EVD_CTL_DONE) status = end_of(ctl, answer);
    evd_ctl_answer_done(answer);
    return status;
}
