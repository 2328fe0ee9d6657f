/*
 * A call is sent again only when that cannot do a thing twice: reads always, commands because every one carries a key
 * and the service replays the receipt of a key it has seen. So a lost answer, a restart and OutcomeUnknown are all
 * settled in one way: by asking again.
 */
#include "ask.h"

#include "interrupt.h"
#include "problem.h"
#include "progress.h"
#include "say.h"
#include "target.h"

#include "evidenced/base/buffer.h"
#include "evidenced/base/clock.h"
#include "evidenced/base/random.h"

enum { WAIT_SECONDS = 60, FIRST_PAUSE_MS = 100, LARGEST_PAUSE_MS = 5000, MOST_PAGES = 100000, UUID_RANDOM = 4 };

/* Paths. */

static const char *parameter(struct evd_ctl *ctl, struct evd_text name, const char *id) {
    if (evd_text_equal(name, EVD_TEXT("project"))) return evd_ctl_id(ctl, EVD_CTL_OPTION_PROJECT);
    if (evd_text_equal(name, EVD_TEXT("study"))) return evd_ctl_id(ctl, EVD_CTL_OPTION_STUDY);
    if (evd_text_equal(name, EVD_TEXT("form")) && id == NULL) return evd_ctl_id(ctl, EVD_CTL_OPTION_FORM);
    return id;
}

const char *evd_ctl_path(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id) {
    struct evd_buffer text;
    evd_buffer_init(&text, &ctl->arena, 0);
    for (const char *at = evd_ctl_paths[path].path; *at != '\0';) {
        size_t literal = strcspn(at, "{"), name = at[literal] == '\0' ? 0 : strcspn(at + literal + 1, "}");
        evd_buffer_add_text(&text, (struct evd_text){at, literal});
        at += literal;
        if (*at == '\0') break;
        evd_buffer_add_text(&text, evd_text_from(parameter(ctl, (struct evd_text){at + 1, name}, id)));
        at += name + 2;
    }
    evd_buffer_add_byte(&text, '\0');
    return evd_buffer_text(&text).bytes;
}

void evd_ctl_query(struct evd_buffer *path, const char *name, struct evd_text value) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    struct evd_text so_far = evd_buffer_text(path);
    bool is_first = memchr(so_far.bytes, '?', so_far.size_bytes) == NULL;
    evd_buffer_print(path, "%c%s=", is_first ? '?' : '&', name);
    for (size_t i = 0; i < value.size_bytes; i++) {
        if (memchr(plain, value.bytes[i], sizeof plain - 1) != NULL)
            evd_buffer_add_byte(path, (uint8_t)value.bytes[i]);
        else
            evd_buffer_print(path, "%%%02X", (unsigned)(unsigned char)value.bytes[i]);
    }
}

/* Keys. */

static void mint_key(struct evd_ctl *ctl) {
    const char *given = evd_ctl_value(ctl, EVD_CTL_OPTION_COMMAND_KEY);
    if (given == NULL || !evd_uuid_parse(evd_text_from(given), &ctl->key))
        ctl->key = evd_uuid_random(evd_random_system());
}

const char *evd_ctl_key(struct evd_ctl *ctl, const char *step) {
    char *text = evd_arena_alloc(&ctl->arena, EVD_UUID_TEXT_BYTES + 1);
    if (evd_uuid_is_nil(ctl->key)) mint_key(ctl);
    evd_uuid key = ctl->key;
    if (step != NULL) {
        struct evd_text parts[] = {evd_uuid_part(&ctl->key), evd_text_from(step)};
        key = evd_uuid_derive("evidencectl", parts, 2);
        key.bytes[6] = (uint8_t)((key.bytes[6] & 0x0f) | UUID_RANDOM << 4); /* version 8 is the service's own */
    }
    evd_uuid_format(key, text);
    return text;
}

struct evd_ctl_call evd_ctl_call_of(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, const char *step) {
    struct evd_ctl_call call = {.method = evd_ctl_paths[path].method, .path = evd_ctl_path(ctl, path, id)};
    if (strcmp(call.method, "POST") == 0) call.key = evd_ctl_key(ctl, step);
    return call;
}

/* Asking. */

static enum evd_ctl_exit open_wire(struct evd_ctl *ctl) {
    struct evd_ctl_target target;
    if (ctl->wire != NULL) return EVD_CTL_DONE;
    enum evd_ctl_exit status = evd_ctl_target_find(ctl, &target);
    if (status != EVD_CTL_DONE) return status;
    ctl->wire = evd_ctl_wire_open(&target);
    return ctl->wire == NULL ? EVD_CTL_FAIL(ctl, "There is no memory left.") : EVD_CTL_DONE;
}

/* As long as the service asks for; else longer each time, and never the same as everybody else. */
static int64_t pause_of(const struct evd_ctl_answer *answer, unsigned tries) {
    if (answer->retry_after_s >= 0) return (int64_t)answer->retry_after_s * 1000;
    int64_t most_ms = FIRST_PAUSE_MS;
    for (unsigned i = 0; i < tries && most_ms < LARGEST_PAUSE_MS; i++)
        most_ms *= 2;
    if (most_ms > LARGEST_PAUSE_MS) most_ms = LARGEST_PAUSE_MS;
    return 1 + (int64_t)evd_random_below(evd_random_system(), (uint64_t)most_ms);
}

static void say_waiting(struct evd_ctl *ctl, const struct evd_ctl_call *call, const struct evd_ctl_answer *answer) {
    if (!evd_ctl_progress_is_wanted()) return;
    const char *outcome = evd_ctl_member(answer->json, "outcome");
    if (call->progress != NULL) evd_ctl_progress_clear(call->progress);
    evd_ctl_complain(ctl, "%s; trying again for up to %llu s.", outcome[0] == '\0' ? evd_ctl_why(ctl, answer) : outcome,
                     (unsigned long long)evd_ctl_number(ctl, EVD_CTL_OPTION_WAIT, WAIT_SECONDS));
}

/* Wait before the next try. False: there is no time left for one, or the person has had enough. The time counts from
 * the first failure: what was long in sending is not given up for that. */
static bool wait_again(struct evd_ctl *ctl, const struct evd_ctl_call *call, struct evd_ctl_answer *answer,
                       int64_t *deadline_ms, unsigned tries) {
    int64_t pause_ms = pause_of(answer, tries), now_ms = evd_clock_monotonic_ms(evd_clock_system());
    if (tries == 0) *deadline_ms = now_ms + (int64_t)evd_ctl_number(ctl, EVD_CTL_OPTION_WAIT, WAIT_SECONDS) * 1000;
    if (now_ms + pause_ms >= *deadline_ms) return false; /* --wait 0 asks once */
    if (tries == 0) say_waiting(ctl, call, answer);
    if (evd_ctl_pause_ms(pause_ms)) return true;
    answer->trouble = EVD_CTL_INTERRUPTED;
    return false;
}

enum evd_ctl_exit evd_ctl_ask(struct evd_ctl *ctl, const struct evd_ctl_call *call, struct evd_ctl_answer *ret_answer) {
    enum evd_ctl_exit status = open_wire(ctl);
    if (status != EVD_CTL_DONE) return status;
    int64_t deadline_ms = 0;
    for (unsigned tries = 0;; tries++) {
        struct evd_ctl_answer answer;
        evd_ctl_wire_ask(ctl->wire, call, &answer);
        struct evd_ctl_verdict verdict = evd_ctl_judge(call, &answer);
        if (verdict.exit == EVD_CTL_DONE) {
            if (call->progress != NULL) evd_ctl_progress_clear(call->progress);
            *ret_answer = answer;
            return EVD_CTL_DONE;
        }
        bool again = verdict.may_again && wait_again(ctl, call, &answer, &deadline_ms, tries);
        if (!again) {
            if (call->progress != NULL) evd_ctl_progress_clear(call->progress);
            if (answer.trouble == EVD_CTL_INTERRUPTED) verdict.exit = EVD_CTL_FAILED;
            evd_ctl_tell(ctl, call, &answer, verdict.exit);
        }
        evd_ctl_answer_done(&answer);
        if (!again) return verdict.exit;
    }
}

bool evd_ctl_print_json(const struct evd_ctl *ctl, const struct evd_ctl_answer *answer) {
    if (!evd_ctl_has(ctl, EVD_CTL_OPTION_JSON)) return false;
    if (answer->body_bytes == 0) return true;
    (void)fwrite(answer->body, 1, answer->body_bytes, stdout);
    if (answer->body[answer->body_bytes - 1] != '\n') (void)fputc('\n', stdout);
    return true;
}

/* Lists. */

static const char *next_path(struct evd_ctl *ctl, const char *first, const json_t *page) {
    struct evd_buffer path;
    const json_t *next = json_object_get(page, "next");
    if (!json_is_string(next)) return NULL;
    evd_buffer_init(&path, &ctl->arena, 0);
    evd_buffer_add_text(&path, evd_text_from(first));
    evd_ctl_query(&path, "cursor", (struct evd_text){json_string_value(next), json_string_length(next)});
    evd_buffer_add_byte(&path, '\0');
    return evd_buffer_text(&path).bytes;
}

enum evd_ctl_exit evd_ctl_ask_all(struct evd_ctl *ctl, enum evd_ctl_path path, const char *id, json_t **ret_items) {
    struct evd_ctl_call call = evd_ctl_call_of(ctl, path, id, NULL);
    const char *first = evd_text_print(&ctl->arena, "%s?limit=500", call.path).bytes;
    json_t *items = json_array();
    enum evd_ctl_exit status = EVD_CTL_DONE;
    call.path = first;
    for (unsigned pages = 0; call.path != NULL && status == EVD_CTL_DONE; pages++) {
        struct evd_ctl_answer answer;
        status = pages < MOST_PAGES ? evd_ctl_ask(ctl, &call, &answer) : EVD_CTL_FAIL(ctl, "The list does not end.");
        if (status != EVD_CTL_DONE) break;
        const json_t *page = json_object_get(answer.json, "items");
        if (!evd_ctl_print_json(ctl, &answer)) (void)json_array_extend(items, (json_t *)(uintptr_t)page);
        const char *next = next_path(ctl, first, answer.json);
        if (!json_is_array(page) || (next != NULL && strcmp(next, call.path) == 0))
            status = EVD_CTL_FAIL(ctl, "The service answered with something that is no page of a list.");
        call.path = next;
        evd_ctl_answer_done(&answer);
    }
    if (status == EVD_CTL_DONE)
        *ret_items = items;
    else
        json_decref(items);
    return status;
}
