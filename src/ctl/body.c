#include "body.h"

enum evd_ctl_exit evd_ctl_send(struct evd_ctl *ctl, const struct evd_ctl_call *call, json_t *body,
                               struct evd_ctl_answer *ret_answer) {
    char *text = json_dumps(body, JSON_COMPACT);
    json_decref(body);
    if (text == NULL) return EVD_CTL_FAIL(ctl, "A name is not UTF-8, or there is no memory left.");
    struct evd_ctl_call with_body = *call;
    with_body.content_type = "application/json";
    with_body.body = evd_text_copy(&ctl->arena, evd_text_from(text));
    free(text);
    return evd_ctl_ask(ctl, &with_body, ret_answer);
}

enum evd_ctl_exit evd_ctl_make(struct evd_ctl *ctl, const struct evd_ctl_call *call, json_t *body, const char *id) {
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_send(ctl, call, body, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) evd_ctl_print_line(id == NULL ? evd_ctl_member(answer.json, "id") : id);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

enum evd_ctl_exit evd_ctl_show(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, const char *const *but) {
    struct evd_ctl_call call = evd_ctl_call_of(ctl, path, id, NULL);
    struct evd_ctl_answer answer;
    enum evd_ctl_exit status = evd_ctl_ask(ctl, &call, &answer);
    if (status != EVD_CTL_DONE) return status;
    if (!evd_ctl_print_json(ctl, &answer)) evd_ctl_show_object(ctl, answer.json, but);
    evd_ctl_answer_done(&answer);
    return EVD_CTL_DONE;
}

enum evd_ctl_exit evd_ctl_list(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id,
                               const struct evd_ctl_column *columns, size_t count) {
    json_t *items = NULL;
    enum evd_ctl_exit status = evd_ctl_ask_all(ctl, path, id, &items);
    if (status == EVD_CTL_DONE) evd_ctl_show_table(ctl, items, columns, count);
    json_decref(items);
    return status;
}
