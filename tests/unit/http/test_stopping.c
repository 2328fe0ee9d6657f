/*
 * Many clients, clients that leave, where a server listens, and how it stops.
 */
#include "../../support/http_application.h"
#include "../../support/raw_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { CLIENTS = 64, REQUESTS = 50, MANY = 32, BUSY = 8, ROUNDS = 20 };

static struct evd_app app;
static struct evd_raw_client client;
static struct evd_raw_response response;

static void open_all(void) {
    evd_app_init(&app);
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
}

static void close_all(void) {
    evd_raw_close(&client);
    evd_app_close(&app);
}

static bool says_close(void) {
    const char *connection = evd_raw_header(&response, "Connection");
    return connection != NULL && strcasecmp(connection, "close") == 0;
}

static void wait_for_connections(size_t count) {
    while (evd_http_server_connections(app.server) != count)
        (void)sched_yield();
}

/* One client of many; returns NULL when every answer was the right one. */
static void *ask_often(void *self) {
    struct evd_raw_client *own = malloc(sizeof *own);
    struct evd_raw_response *answer = malloc(sizeof *answer);
    bool right = true;
    evd_raw_open(own, app.port);
    for (int i = 0; i < REQUESTS && right; i++) {
        char request[128], expected[64];
        const char *path = i % 3 == 0 ? "now" : "worker";
        int size =
            snprintf(request, sizeof request, "POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\n%02d-%03d",
                     path, (int)(uintptr_t)self, i);
        (void)snprintf(expected, sizeof expected, "POST /%s %02d-%03d", path, (int)(uintptr_t)self, i);
        right = evd_raw_send(own, request, (size_t)size) && evd_raw_receive(own, true, answer) &&
                answer->status == 200 && strcmp(answer->body, expected) == 0;
    }
    evd_raw_close(own);
    free(own);
    free(answer);
    return right ? NULL : self;
}

START_TEST(many_clients_at_once_get_each_their_own_answers) {
    pthread_t threads[CLIENTS];
    open_all();
    for (uintptr_t i = 0; i < CLIENTS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_often, (void *)(i + 1)), 0);
    for (size_t i = 0; i < CLIENTS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        ck_assert_ptr_null(wrong);
    }
    close_all();
    ck_assert_uint_eq(app.wholes, (unsigned)CLIENTS * REQUESTS);
    ck_assert_uint_eq(app.ended_sent, (unsigned)CLIENTS * REQUESTS);
}
END_TEST

START_TEST(a_client_that_leaves_while_it_is_waited_for_leaves_nothing) {
    open_all();
    for (unsigned i = 1; i <= MANY; i++) {
        ck_assert(evd_raw_say(&client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
        evd_app_wait(&app, &app.wholes, i);
        evd_raw_close(&client);
        evd_raw_open(&client, app.port);
    }
    ck_assert_uint_eq(evd_http_server_in_flight(app.server), MANY);
    evd_app_release(&app);
    wait_for_connections(1);
    ck_assert_uint_eq(evd_http_server_in_flight(app.server), 0);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    close_all();
    ck_assert_uint_eq(app.ended_sent + app.ended_unsent, MANY + 1);
}
END_TEST

START_TEST(a_client_that_leaves_in_mid_body_leaves_nothing) {
    open_all();
    for (unsigned i = 1; i <= MANY; i++) {
        ck_assert(evd_raw_say(&client, "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel"));
        evd_app_wait(&app, &app.heads, i);
        evd_raw_close(&client);
        evd_app_wait(&app, &app.ended_unsent, i);
        evd_raw_open(&client, app.port);
    }
    close_all();
    ck_assert_uint_eq(app.wholes, 0);
}
END_TEST

START_TEST(a_full_server_serves_who_waits_once_somebody_leaves) {
    struct evd_raw_client first, second, third;
    evd_app_init(&app);
    app.options.connections = 2;
    evd_app_open(&app);
    evd_raw_open(&first, app.port);
    evd_raw_open(&second, app.port);
    ck_assert_int_eq(evd_raw_get(&first, "/now", &response), 200);
    ck_assert_int_eq(evd_raw_get(&second, "/now", &response), 200);
    evd_raw_open(&third, app.port);
    ck_assert(evd_raw_say(&third, "GET /third HTTP/1.1\r\nHost: x\r\n\r\n"));
    ck_assert_int_eq(evd_raw_get(&first, "/now", &response), 200);
    ck_assert_uint_eq(evd_app_count(&app, &app.heads), 3);
    evd_raw_close(&second);
    ck_assert(evd_raw_receive(&third, true, &response));
    ck_assert_str_eq(response.body, "GET /third ");
    evd_raw_close(&first);
    evd_raw_close(&third);
    evd_app_close(&app);
}
END_TEST

static bool can_connect(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool connected = connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    (void)close(fd);
    return connected;
}

START_TEST(a_quiesced_server_answers_who_is_there_and_takes_nobody_new) {
    struct evd_raw_client idle;
    open_all();
    evd_raw_open(&idle, app.port);
    ck_assert_int_eq(evd_raw_get(&idle, "/now", &response), 200);
    ck_assert(!says_close());
    ck_assert(evd_raw_say(&client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
    evd_app_wait(&app, &app.wholes, 2);
    evd_http_server_quiesce(app.server);
    ck_assert(!can_connect(app.port));
    ck_assert_int_eq(evd_raw_get(&idle, "/worker", &response), 200);
    ck_assert(says_close() && evd_raw_is_closed(&idle));
    ck_assert_uint_ge(evd_http_server_in_flight(app.server), 1);
    evd_app_release(&app);
    ck_assert(evd_raw_receive(&client, true, &response));
    ck_assert_str_eq(response.body, "released");
    ck_assert(says_close() && evd_raw_is_closed(&client));
    evd_app_wait(&app, &app.ended_sent, 3);
    wait_for_connections(0);
    ck_assert_uint_eq(evd_http_server_in_flight(app.server), 0);
    evd_raw_close(&idle);
    close_all();
}
END_TEST

START_TEST(whoever_had_connected_before_the_server_quiesced_is_answered) {
    for (int round = 0; round < ROUNDS; round++) {
        struct evd_raw_client early[BUSY];
        evd_app_init(&app);
        evd_app_open(&app);
        for (size_t i = 0; i < BUSY; i++)
            evd_raw_open(&early[i], app.port);
        evd_http_server_quiesce(app.server);
        for (size_t i = 0; i < BUSY; i++) {
            ck_assert_int_eq(evd_raw_get(&early[i], "/worker", &response), 200);
            evd_raw_close(&early[i]);
        }
        evd_app_close(&app);
    }
}
END_TEST

START_TEST(one_thread_serves_everybody_too) {
    struct evd_raw_client some[BUSY];
    evd_app_init(&app);
    app.options.threads = 1;
    evd_app_open(&app);
    for (size_t i = 0; i < BUSY; i++) {
        evd_raw_open(&some[i], app.port);
        ck_assert(evd_raw_say(&some[i], "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
    }
    evd_app_wait(&app, &app.wholes, BUSY);
    evd_app_release(&app);
    for (size_t i = 0; i < BUSY; i++) {
        ck_assert(evd_raw_receive(&some[i], true, &response));
        ck_assert_int_eq(evd_raw_get(&some[i], "/worker", &response), 200);
        evd_raw_close(&some[i]);
    }
    evd_app_close(&app);
}
END_TEST

START_TEST(closing_with_idle_connections_neither_hangs_nor_aborts) {
    struct evd_raw_client idle[MANY];
    evd_app_init(&app);
    evd_app_open(&app);
    for (size_t i = 0; i < MANY; i++) {
        evd_raw_open(&idle[i], app.port);
        if (i % 2 == 0) ck_assert_int_eq(evd_raw_get(&idle[i], "/worker", &response), 200);
        if (i % 4 == 1) ck_assert(evd_raw_say(&idle[i], "GET /half HTTP/1.1\r\nHo"));
    }
    evd_app_close(&app);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert(evd_raw_is_closed(&idle[i]));
        evd_raw_close(&idle[i]);
    }
}
END_TEST

static void *ask_until_closed(void *self) {
    struct evd_raw_response *answer = malloc(sizeof *answer);
    while (evd_raw_get(self, "/worker", answer) == 200)
        continue;
    evd_raw_close(self);
    free(answer);
    return NULL;
}

START_TEST(closing_under_load_loses_no_exchange_and_aborts_nothing) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[BUSY];
        struct evd_raw_client busy[BUSY];
        evd_app_init(&app);
        evd_app_open(&app);
        for (size_t i = 0; i < BUSY; i++)
            evd_raw_open(&busy[i], app.port);
        for (size_t i = 0; i < BUSY; i++)
            ck_assert_int_eq(pthread_create(&threads[i], NULL, ask_until_closed, &busy[i]), 0);
        evd_app_wait(&app, &app.ended_sent, 100);
        evd_app_close(&app);
        for (size_t i = 0; i < BUSY; i++)
            pthread_join(threads[i], NULL);
        ck_assert_uint_eq(app.heads + app.refusals, app.ended_sent + app.ended_unsent);
    }
}
END_TEST

static void *close_server(void *server) {
    evd_http_server_close(server);
    return NULL;
}

START_TEST(an_exchange_still_with_the_application_is_waited_for) {
    open_all();
    ck_assert(evd_raw_say(&client, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n"));
    evd_app_wait(&app, &app.wholes, 1);
    pthread_t closer;
    ck_assert_int_eq(pthread_create(&closer, NULL, close_server, app.server), 0);
    while (can_connect(app.port)) /* until it has begun to close */
        (void)sched_yield();
    evd_app_release(&app);
    pthread_join(closer, NULL);
    ck_assert_uint_eq(app.ended_sent + app.ended_unsent, 1);
    app.server = NULL;
    evd_raw_close(&client);
}
END_TEST

START_TEST(a_unix_socket_is_private_and_knows_its_peers_uid) {
    struct stat status;
    static char where[200], path[100];
    (void)snprintf(path, sizeof path, "%s/control.sock", evd_test_directory());
    (void)snprintf(where, sizeof where, "unix:%s", path);
    evd_app_init(&app);
    app.options.listen = where;
    evd_app_open(&app);
    ck_assert_uint_eq(app.port, 0);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    evd_raw_open_unix(&client, path);
    ck_assert_int_eq(evd_raw_get(&client, "/worker", &response), 200);
    evd_app_wait(&app, &app.ended_sent, 1);
    ck_assert_str_eq(app.last_peer, "unix");
    ck_assert_uint_eq(app.last_uid, getuid());
    close_all();
    ck_assert_int_ne(lstat(path, &status), 0);
}
END_TEST

/* A socket file at path, as a process that died leaves it; or, listening, as one that lives. */
static int leave_socket(const char *path, bool listening) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    if (listening) ck_assert_int_eq(listen(fd, 1), 0);
    return fd;
}

START_TEST(a_stale_socket_is_replaced_and_a_live_one_is_not) {
    static char where[200], path[100], error[256];
    (void)snprintf(path, sizeof path, "%s/control.sock", evd_test_directory());
    (void)snprintf(where, sizeof where, "unix:%s", path);
    evd_app_init(&app);
    app.options.listen = where;
    (void)close(leave_socket(path, false));
    evd_app_open(&app);
    evd_raw_open_unix(&client, path);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    ck_assert_ptr_null(evd_http_server_open(&app.options, error));
    ck_assert_ptr_nonnull(strstr(error, "Another process serves"));
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    ck_assert_int_eq(unlink(path), 0);
    int successor = leave_socket(path, true);
    close_all();
    ck_assert_int_eq(access(path, F_OK), 0); /* the successor's, left alone */
    (void)close(successor);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_lt(file, 0);
}
END_TEST

START_TEST(a_file_in_the_way_of_a_socket_is_left_alone) {
    static char where[200], error[256];
    (void)snprintf(where, sizeof where, "unix:%s/precious", evd_test_directory());
    int file = open(where + 5, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    ck_assert_int_ge(file, 0);
    (void)close(file);
    evd_app_init(&app);
    app.options.listen = where;
    ck_assert_ptr_null(evd_http_server_open(&app.options, error));
    ck_assert_ptr_nonnull(strstr(error, "no socket"));
    ck_assert_int_eq(access(where + 5, F_OK), 0);
}
END_TEST

START_TEST(an_inherited_socket_is_served) {
    static char where[32];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 8), 0);
    (void)snprintf(where, sizeof where, "fd:%d", fd);
    evd_app_init(&app);
    app.options.listen = where;
    evd_app_open(&app);
    ck_assert_uint_ne(app.port, 0);
    evd_raw_open(&client, app.port);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    close_all();
    ck_assert_int_lt(fcntl(fd, F_GETFD), 0);
}
END_TEST

START_TEST(an_ipv6_address_is_served) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    evd_app_init(&app);
    app.options.listen = "[::1]:0";
    char error[256];
    app.server = evd_http_server_open(&app.options, error);
    if (app.server == NULL) return; /* a host without IPv6 */
    address.sin6_port = htons(evd_http_server_port(app.server));
    client.held_bytes = 0;
    client.fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(client.fd, (const struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(evd_raw_get(&client, "/now", &response), 200);
    evd_app_wait(&app, &app.ended_sent, 1);
    ck_assert_str_eq(app.last_peer, "::1");
    evd_raw_close(&client);
    evd_http_server_close(app.server);
}
END_TEST

static const char *const nowhere[] = {
    "",
    "127.0.0.1",
    "127.0.0.1:",
    "127.0.0.1:http",
    "127.0.0.1:65536",
    ":8080",
    "localhost:0",
    "::1:0",
    "[::1]",
    "256.0.0.1:0",
    "unix:",
    "fd:",
    "fd:x",
    "fd:99999",
    "fd:-1",
    "127.0.0.1:-1",
    "127.0.0.1:0000000",
};

START_TEST(an_address_that_is_none_is_named_in_a_sentence) {
    evd_app_init(&app);
    for (size_t i = 0; i < sizeof nowhere / sizeof *nowhere; i++) {
        char error[256] = "";
        app.options.listen = nowhere[i];
        ck_assert_msg(evd_http_server_open(&app.options, error) == NULL, "%s", nowhere[i]);
        ck_assert_msg(error[0] != '\0', "%s", nowhere[i]);
    }
}
END_TEST

EVD_TEST_MAIN("http: clients and stopping", many_clients_at_once_get_each_their_own_answers,
              a_client_that_leaves_while_it_is_waited_for_leaves_nothing,
              a_client_that_leaves_in_mid_body_leaves_nothing, a_full_server_serves_who_waits_once_somebody_leaves,
              a_quiesced_server_answers_who_is_there_and_takes_nobody_new,
              whoever_had_connected_before_the_server_quiesced_is_answered, one_thread_serves_everybody_too,
              closing_with_idle_connections_neither_hangs_nor_aborts,
              closing_under_load_loses_no_exchange_and_aborts_nothing,
              an_exchange_still_with_the_application_is_waited_for, a_unix_socket_is_private_and_knows_its_peers_uid,
              a_stale_socket_is_replaced_and_a_live_one_is_not, a_file_in_the_way_of_a_socket_is_left_alone,
              an_inherited_socket_is_served, an_ipv6_address_is_served, an_address_that_is_none_is_named_in_a_sentence)
