#include "../support/daemon.h"
#include "../support/desk.h"
#include "../support/program.h"
#include "../support/test.h"

#include <sys/wait.h>

/* evidencectl against the real daemon: over the control socket as the operator, and to a server with a token. */

#define NOBODY "018f4e3a-7c1b-4d2e-9a6f-0123456789ab"
#define FORM                                                                                                           \
    "{\"name\":\"Extraction\",\"capacity\":{\"target\":2},\"questions\":[{\"id\":\"a\",\"label\":\"Anything?\","       \
    "\"kind\":\"text\"}]}"

static struct evd_daemon_process daemon_process;
static struct evd_program ctl;
static char control[320], server[320], token_file[320], project_variable[80];

/* The daemon, and evidencectl with its control socket in the environment. */
static void begin(void) {
    evd_daemon_process_init(&daemon_process);
    evd_daemon_process_start(&daemon_process);
    (void)snprintf(control, sizeof control, "EVIDENCED_CONTROL=%s", daemon_process.control);
    ctl = (struct evd_program){.name = "evidencectl", .variables = {control}};
}

static void end(void) {
    evd_daemon_process_done(&daemon_process);
}

static char *path_of(const char *name) {
    static char path[512];
    (void)snprintf(path, sizeof path, "%s/%s", daemon_process.directory, name);
    return path;
}

static const char *write_file(const char *name, const char *text) {
    char *path = path_of(name);
    FILE *file = fopen(path, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

/* From now on as this subject, over TCP. */
static void become(const char *subject, const char *scope) {
    char token[DAEMON_TOKEN_BYTES + 1];
    evd_daemon_process_token(&daemon_process, subject, scope, token);
    (void)snprintf(token_file, sizeof token_file, "EVIDENCED_TOKEN_FILE=%s", write_file("token", token));
    (void)snprintf(server, sizeof server, "EVIDENCED_SERVER=http://127.0.0.1:%u", (unsigned)daemon_process.api_port);
    ctl.variables[0] = server;
    ctl.variables[1] = token_file;
}

static void use_project(const char *id) {
    (void)snprintf(project_variable, sizeof project_variable, "EVIDENCED_PROJECT=%.36s", id);
    for (size_t i = 0; i < PROGRAM_VARIABLES; i++) {
        bool is_free = ctl.variables[i] == NULL;
        if (!is_free && ctl.variables[i] != project_variable) continue;
        ctl.variables[i] = project_variable;
        return;
    }
}

/* One line that is a UUID, and nothing on standard error. */
static void assert_id_alone(char ret_id[EVD_UUID_TEXT_BYTES + 1]) {
    evd_uuid id;
    ck_assert_msg(ctl.status == 0 && ctl.err[0] == '\0', "%d %s", ctl.status, ctl.err);
    ck_assert_uint_eq(ctl.out_bytes, EVD_UUID_TEXT_BYTES + 1);
    ck_assert(evd_uuid_parse((struct evd_text){ctl.out, EVD_UUID_TEXT_BYTES}, &id));
    (void)snprintf(ret_id, EVD_UUID_TEXT_BYTES + 1, "%.36s", ctl.out);
}

static void make_project(char ret_id[EVD_UUID_TEXT_BYTES + 1]) {
    (void)evd_program_run(&ctl, "project create 'A review'");
    assert_id_alone(ret_id);
    use_project(ret_id);
}

START_TEST(an_operator_sets_up_a_project_over_the_control_socket) {
    char project[EVD_UUID_TEXT_BYTES + 1], form[EVD_UUID_TEXT_BYTES + 1], stage[EVD_UUID_TEXT_BYTES + 1];
    begin();
    make_project(project);
    ck_assert_int_eq(evd_program_run(&ctl, "project show"), 0);
    ck_assert(evd_program_said(&ctl, "name       A review\n") && evd_program_said(&ctl, "roles      admin\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "project list"), 0);
    ck_assert(evd_program_said(&ctl, project) && evd_program_said(&ctl, "A review"));
    ck_assert_int_eq(evd_program_run(&ctl, "form create %s", write_file("form.json", FORM)), 0);
    assert_id_alone(form);
    ck_assert_int_eq(evd_program_run(&ctl, "stage create 'Full text' --form %s --session-timeout 30", form), 0);
    assert_id_alone(stage);
    ck_assert_int_eq(evd_program_run(&ctl, "form publish --form %s", form), 0);
    ck_assert_str_eq(ctl.out, "formVersion  1\n");
    ck_assert_int_eq(evd_program_run(&ctl, "stage list"), 0);
    ck_assert(strncmp(ctl.out, "STAGE ", 6) == 0 && evd_program_said(&ctl, stage) && evd_program_said(&ctl, form));
    ck_assert_int_eq(evd_program_run(&ctl, "form list"), 0);
    ck_assert(evd_program_said(&ctl, "PUBLISHED") && evd_program_said(&ctl, "Extraction\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "form show %s", form), 0);
    ck_assert(evd_program_said(&ctl, "capacity.target     2\n") && evd_program_said(&ctl, "Anything?\n"));
    end();
}
END_TEST

START_TEST(a_form_is_made_from_a_file_with_its_stages_and_published_in_one_go) {
    char project[EVD_UUID_TEXT_BYTES + 1], first[1024];
    const char *key = "--key 0b4e7e0a-3c47-4a39-9a5e-0f6d0a6c1d2e";
    begin();
    make_project(project);
    (void)write_file("form.json", FORM);
    /* An earlier try that broke off behind the form: the whole run goes on from there. */
    ck_assert_int_eq(evd_program_run(&ctl, "form create %s %s", path_of("form.json"), key), 0);
    for (unsigned i = 0; i < 3; i++) {
        ck_assert_int_eq(evd_program_run(&ctl, "form publish %s --stage Screening --stage 'Full text' %s",
                                         path_of("form.json"), key),
                         0);
        if (i == 0) (void)snprintf(first, sizeof first, "%.1000s", ctl.out);
        ck_assert_str_eq(ctl.out, first);
    }
    ck_assert_int_eq(evd_program_run(&ctl, "form list --json"), 0);
    json_t *forms = json_loadb(ctl.out, ctl.out_bytes, 0, NULL);
    const json_t *form = json_array_get(json_object_get(forms, "items"), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(forms, "items")), 1);
    ck_assert_uint_eq(json_array_size(json_object_get(form, "stages")), 2);
    ck_assert_int_eq(json_integer_value(json_object_get(form, "publishedVersion")), 1);
    json_decref(forms);
    end();
}
END_TEST

START_TEST(a_form_that_may_not_be_published_says_why_and_that_it_was_created) {
    char project[EVD_UUID_TEXT_BYTES + 1];
    begin();
    make_project(project);
    (void)write_file("form.json", "{\"name\":\"x\",\"capacity\":{\"target\":1},\"questions\":[]}");
    ck_assert_int_eq(evd_program_run(&ctl, "form publish %s", path_of("form.json")), 3);
    ck_assert(evd_program_said(&ctl, "ValidationFailed") && evd_program_said(&ctl, "/questions: "));
    ck_assert(evd_program_said(&ctl, "was created and is not published"));
    end();
}
END_TEST

START_TEST(a_command_repeated_with_its_key_takes_effect_once) {
    char first[EVD_UUID_TEXT_BYTES + 1], second[EVD_UUID_TEXT_BYTES + 1];
    begin();
    (void)evd_program_run(&ctl, "project create Once --key " NOBODY);
    assert_id_alone(first);
    (void)evd_program_run(&ctl, "project create Once --key " NOBODY);
    assert_id_alone(second);
    ck_assert_str_eq(first, second);
    ck_assert_int_eq(evd_program_run(&ctl, "project create Twice --key " NOBODY), 3);
    ck_assert(evd_program_said(&ctl, "CommandDigestMismatch") && evd_program_said(&ctl, "Leave --key out"));
    (void)evd_program_run(&ctl, "project create Once");
    assert_id_alone(second);
    ck_assert_str_ne(first, second);
    end();
}
END_TEST

START_TEST(a_member_is_set_by_the_subject_of_their_tokens_and_works_over_a_server) {
    char project[EVD_UUID_TEXT_BYTES + 1], member[EVD_UUID_TEXT_BYTES + 1], expected[EVD_UUID_TEXT_BYTES + 1];
    begin();
    make_project(project);
    (void)evd_program_run(&ctl, "member set --issuer https://issuer.test ada reviewer observer");
    assert_id_alone(member);
    evd_uuid_format(evd_daemon_process_investigator("ada"), expected);
    ck_assert_str_eq(member, expected);
    ck_assert_int_eq(evd_program_run(&ctl, "member list"), 0);
    ck_assert(evd_program_said(&ctl, member) && evd_program_said(&ctl, "  reviewer, observer  "));

    ctl = (struct evd_program){.name = "evidencectl"};
    become("ada", "");
    use_project(project);
    ck_assert_int_eq(evd_program_run(&ctl, "project show"), 0);
    ck_assert(evd_program_said(&ctl, "roles      reviewer, observer\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "stage create Mine"), 3);
    ck_assert(evd_program_said(&ctl, "Refused (permission)") && evd_program_said(&ctl, "as a member whose role may"));
    ck_assert_int_eq(evd_program_run(&ctl, "project create Mine"), 3);

    ctl = (struct evd_program){.name = "evidencectl", .variables = {control}};
    use_project(project);
    ck_assert_int_eq(evd_program_run(&ctl, "member remove %s", member), 0);
    become("ada", "");
    ctl.variables[2] = project_variable;
    ck_assert_int_eq(evd_program_run(&ctl, "project show"), 4);
    end();
}
END_TEST

START_TEST(json_is_what_the_service_said_byte_for_byte) {
    struct evd_client administrator;
    struct evd_reply reply;
    char project[EVD_UUID_TEXT_BYTES + 1], path[128];
    begin();
    make_project(project);
    (void)snprintf(path, sizeof path, "/v1/projects/%s", project);
    evd_client_init_operator(&administrator, &daemon_process);
    ck_assert_int_eq(evd_client_get(&administrator, path, &reply), 200);
    ck_assert_int_eq(evd_program_run(&ctl, "--json project show"), 0);
    ck_assert_uint_eq(ctl.out_bytes, reply.body_bytes + 1);
    ck_assert_int_eq(memcmp(ctl.out, reply.body, reply.body_bytes), 0);
    evd_reply_done(&reply);
    ck_assert_int_eq(evd_program_run(&ctl, "--json project show --project " NOBODY), 4);
    json_t *problem = json_loadb(ctl.out, ctl.out_bytes, 0, NULL);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "outcome")), "NotFound");
    json_decref(problem);
    evd_client_done(&administrator);
    end();
}
END_TEST

START_TEST(a_reviewer_sees_their_session_and_its_versions) {
    struct desk desk;
    struct evd_reply reply;
    char key[EVD_UUID_TEXT_BYTES + 1], place[256];
    begin();
    desk_open(&desk, &daemon_process, 3, 2);
    ck_assert_int_eq(desk_save(&desk, 0, 0, evd_test_uuid(key), "", 2, "something", &reply), 200);
    evd_reply_done(&reply);
    become("reviewer 0", "");
    (void)snprintf(place, sizeof place, "--project %s --study %s --form %s", desk.project, desk.studies[0], desk.form);
    ck_assert_int_eq(evd_program_run(&ctl, "session show %s", place), 0);
    ck_assert(evd_program_said(&ctl, "answers        2\n") && evd_program_said(&ctl, "q2        something\n"));
    ck_assert_int_eq(evd_program_run(&ctl, "history %s", place), 0);
    ck_assert(evd_program_said(&ctl, "WHEN ") && evd_program_said(&ctl, "Save"));
    desk_close(&desk);
    end();
}
END_TEST

START_TEST(the_operator_releases_a_draft_that_a_lost_tab_holds) {
    struct desk desk;
    struct evd_reply reply;
    char *path, *body, session[EVD_UUID_TEXT_BYTES + 1];
    begin();
    desk_open(&desk, &daemon_process, 3, 2);
    path = desk_session_path(&desk, 0, "draft");
    ck_assert_int_gt(asprintf(&body,
                              "{\"stage\":\"%s\",\"formVersion\":1,\"baseVersion\":null,\"holder\":\"" NOBODY
                              "\",\"writeSeq\":1,\"content\":{\"answers\":[{\"question\":\"q1\",\"value\":"
                              "\"secret\",\"baseRevision\":null}]}}",
                              desk.stage),
                     0);
    evd_client_ask(&desk.reviewers[0], "PUT", path, NULL, body, "If-None-Match: *\r\n", &reply);
    ck_assert_msg(reply.status == 200, "%d %s", reply.status, reply.body);
    (void)snprintf(session, sizeof session, "%.36s", evd_reply_text(&reply, "sessionId"));
    evd_reply_done(&reply);
    use_project(desk.project);
    ck_assert_int_eq(evd_program_run(&ctl, "draft show %s", session), 0);
    ck_assert(evd_program_said(&ctl, "holder           " NOBODY "\n") && !evd_program_said(&ctl, "secret"));
    ck_assert_int_eq(evd_program_run(&ctl, "draft release %s", session), 0);
    ck_assert(evd_program_said(&ctl, session));
    ck_assert_int_eq(evd_program_run(&ctl, "draft show %s", session), 0);
    ck_assert(!evd_program_said(&ctl, "holder"));
    free(path);
    free(body);
    desk_close(&desk);
    end();
}
END_TEST

/* Exit statuses. `@` in the arguments stands for the fresh directory. */

static const struct {
    const char *arguments;
    int status;
    const char *says;
} rows[] = {
    {"project show --project " NOBODY, 4, "Check the ids. The operator sees"},
    {"form list --project " NOBODY, 4, "NotFound"},
    {"member set " NOBODY " boss", 2, "A role is one of"},
    {"member set " NOBODY, 2, "takes: INVESTIGATOR ROLE..."},
    {"member set ada reviewer", 2, "with --issuer"},
    {"member remove " NOBODY, 0, NOBODY},
    {"stage create ''", 2, "must not be empty"},
    {"stage create ' '", 3, "/name: A name is needed. (blank)"},
    {"stage create x --form " NOBODY, 3, "unknownForm"},
    {"form create @/missing.json", 1, "missing.json: No such file or directory."},
    {"form create @", 1, "Is a directory"},
    {"form create @/broken.json", 1, "broken.json, line 2, column 0: no JSON"},
    {"form create @/odd.json", 3, "pointer: /surprise"},
    {"form create @/form.json --wait 0", 0, ""},
    {"form publish", 2, "takes FILE, or --form"},
    {"form publish @/form.json --form " NOBODY, 2, "takes FILE, or --form"},
    {"form publish --form " NOBODY, 4, "NotFound"},
    {"form show nonsense", 2, "FORM is a UUID"},
    {"form show " NOBODY, 4, "NotFound"},
    {"import @/form.json", 2, "--format csv, tsv or ris"},
    {"import @/missing.csv", 1, "missing.csv: No such file"},
    {"import @/form.json --format word", 2, "--format is one of: csv tsv ris."},
    {"import show x", 2, "OPERATION is a UUID"},
    {"export answers", 2, "needs --form"},
    {"export answers --form " NOBODY " --ndjson --spreadsheet-safe", 2, "no spreadsheet opens"},
    {"export answers --form " NOBODY " --json", 2, "`export answers` does not take --json."},
    {"session show --study " NOBODY " --form " NOBODY, 4, "NotFound"},
    {"draft release", 2, "takes: SESSION"},
    {"draft show " NOBODY, 4, "NotFound"},
    {"session show", 2, "takes the id of a SESSION; or --study and --form"},
    {"session show --study " NOBODY, 2, "--study and --form"},
    {"session show " NOBODY " --form " NOBODY, 2, "the id of a SESSION"},
    {"history", 2, "takes --study"},
    {"history " NOBODY " --study " NOBODY, 2, "the id of a SESSION"},
    {"history a b", 2, "takes: [SESSION]"},
    {"restore x", 2, "needs --data"},
    {"backup", 2, "takes: DIRECTORY"},
    {"project show --wait x", 2, "--wait is a whole number from 0 to 86400."},
    {"project show --wait", 2, "--wait needs a value: SECONDS."},
    {"project show --json=yes", 2, "--json takes no value."},
    {"project show --jsn", 2, "There is no option --jsn."},
    {"project show -x", 2, "There is no option -x."},
    {"project show more", 2, "takes no words"},
    {"project", 2, "There is no such verb, but: project create, project list, project show."},
    {"project show --project=" NOBODY " --", 4, "NotFound"},
    {"project show --control @/nobody.sock --wait 0", 5, "nobody.sock: No such file or directory."},
    {"project create x --control @/nobody.sock --wait 0", 5, "To repeat it, add: --key "},
    {"project show --control @/form.json --wait 0", 5, "Is evidenced running"},
    {"project show --control @ --server http://127.0.0.1:1", 2, "not both"},
    {"project show --server http://127.0.0.1:1", 2, "needs --token-file"},
    {"project show --server ftp://127.0.0.1 --token-file @/good", 2, "--server is a URL"},
    {"project show --server nonsense --token-file @/good", 2, "--server is a URL"},
    {"project show --server http://a:b@127.0.0.1:1 --token-file @/good", 2, "no name and password"},
    {"project show --server http://127.0.0.1:1?x=y --token-file @/good", 2, "without a query"},
    {"project show --server http://review.example.org --token-file @/good", 2, "use https, or --plain-http"},
    {"project show --server http://127.0.0.1:1 --token-file @/good --wait 0", 5,
     "There is no connection to http://127"},
    {"project show --server http://127.0.0.1:1 --token-file @/missing --wait 0", 1, "missing: No such file"},
    {"project show --server http://127.0.0.1:1 --token-file @/form.json --wait 0", 1, "holds no token"},
    {"project show --server %s --token-file @/good", 4, "Get a new token"},
    {"backup @/b --server %s --token-file @/good", 2, "over the control socket only"},
    {"verify --server %s/nowhere/ --token-file @/good", 4, "NotFound"},
};

static void spell_out(const char *from, char *to, size_t to_bytes) {
    char *at = to;
    for (; *from != '\0'; from++) {
        int size = *from == '@' && (from[1] == '/' || from[1] == '\0' || from[1] == ' ')
                       ? snprintf(at, to_bytes, "%s", daemon_process.directory)
                   : *from == '%' ? snprintf(at, to_bytes, "http://127.0.0.1:%u", (unsigned)daemon_process.api_port)
                                  : snprintf(at, to_bytes, "%c", *from);
        from += *from == '%';
        ck_assert_int_lt(size, (int)to_bytes);
        at += size;
        to_bytes -= (size_t)size;
    }
}

START_TEST(every_way_to_fail_has_its_exit_status_and_says_what_to_do) {
    char project[EVD_UUID_TEXT_BYTES + 1], arguments[2048];
    begin();
    (void)write_file("form.json", FORM);
    (void)write_file("broken.json", "{\"name\": \"x\"\n");
    (void)write_file("odd.json", "{\"name\":\"x\",\"capacity\":{\"target\":1},\"questions\":[],\"surprise\":1}");
    (void)write_file("good", "eyJ.a-made-up.token\n");
    make_project(project);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        spell_out(rows[i].arguments, arguments, sizeof arguments);
        int status = evd_program_run(&ctl, "%s", arguments);
        ck_assert_msg(status == rows[i].status, "%s: %d %s", arguments, status, ctl.err);
        ck_assert_msg(evd_program_said(&ctl, rows[i].says), "%s: %s %s", arguments, ctl.out, ctl.err);
        ck_assert_msg((status == 0) == (ctl.err[0] == '\0'), "%s: %s", arguments, ctl.err);
        ck_assert_msg(status == 0 || ctl.out[0] == '\0', "%s: %s", arguments, ctl.out);
        ck_assert_msg(!evd_program_said(&ctl, "made-up"), "%s tells the token: %s", arguments, ctl.err);
    }
    end();
}
END_TEST

START_TEST(without_anything_said_it_asks_where_the_daemon_would_listen) {
    begin();
    ctl = (struct evd_program){.name = "evidencectl", .directory = daemon_process.directory};
    ck_assert_int_eq(evd_program_run(&ctl, "project create x --wait 0"), 0);
    char data[320];
    (void)snprintf(data, sizeof data, "EVIDENCED_DATA=%s/data", daemon_process.directory);
    ctl = (struct evd_program){.name = "evidencectl", .variables = {data}};
    ck_assert_int_eq(evd_program_run(&ctl, "project create x --wait 0"), 0);
    end();
}
END_TEST

START_TEST(it_goes_on_asking_while_the_daemon_starts) {
    char project[EVD_UUID_TEXT_BYTES + 1];
    begin();
    (void)evd_daemon_process_stop(&daemon_process);
    evd_program_start(&ctl, "project create Patience");
    evd_daemon_process_start(&daemon_process);
    (void)evd_program_wait(&ctl);
    assert_id_alone(project);
    end();
}
END_TEST

START_TEST(a_backup_is_restored_by_the_daemon_beside_it) {
    char project[EVD_UUID_TEXT_BYTES + 1], store[400], data[400];
    begin();
    make_project(project);
    ck_assert_int_eq(evd_daemon_process_stop(&daemon_process), 0);
    (void)snprintf(store, sizeof store, "%s/data/store", daemon_process.directory);
    ck_assert_int_eq(evd_program_run(&ctl, "restore %s --data %s", store, path_of("fresh")), 0);
    ck_assert_int_eq(evd_program_run(&ctl, "restore %s --data %s", store, path_of("fresh")), 1);
    ck_assert(evd_program_said(&ctl, "evidenced: ") && evd_program_said(&ctl, "there is a store already"));
    (void)snprintf(data, sizeof data, "%s/data", daemon_process.directory);
    ck_assert_int_eq(rename(data, path_of("lost")), 0);
    ck_assert_int_eq(rename(path_of("fresh"), data), 0);
    evd_daemon_process_start(&daemon_process);
    ck_assert_int_eq(evd_program_run(&ctl, "project show"), 0);
    ck_assert(evd_program_said(&ctl, project));
    end();
}
END_TEST

START_TEST(what_cannot_be_written_is_not_called_done) {
    char command[1200], path[EVD_TEST_PROGRAM_BYTES];
    evd_test_program("evidencectl", path);
    (void)snprintf(command, sizeof command, "'%s' --help 2>&1 >/dev/full", path);
    FILE *pipe = popen(command, "re");
    ck_assert_ptr_nonnull(pipe);
    size_t got = fread(ctl.err, 1, sizeof ctl.err - 1, pipe);
    ctl.err[got] = '\0';
    ck_assert_int_eq(WEXITSTATUS(pclose(pipe)), 1);
    ck_assert(evd_program_said(&ctl, "No space left on device"));
}
END_TEST

EVD_TEST_MAIN("evidencectl: against the daemon", an_operator_sets_up_a_project_over_the_control_socket,
              a_form_is_made_from_a_file_with_its_stages_and_published_in_one_go,
              a_form_that_may_not_be_published_says_why_and_that_it_was_created,
              a_command_repeated_with_its_key_takes_effect_once,
              a_member_is_set_by_the_subject_of_their_tokens_and_works_over_a_server,
              json_is_what_the_service_said_byte_for_byte, the_operator_releases_a_draft_that_a_lost_tab_holds,
              a_reviewer_sees_their_session_and_its_versions, every_way_to_fail_has_its_exit_status_and_says_what_to_do,
              without_anything_said_it_asks_where_the_daemon_would_listen, it_goes_on_asking_while_the_daemon_starts,
              a_backup_is_restored_by_the_daemon_beside_it, what_cannot_be_written_is_not_called_done)
