#include "../../support/test.h"

#include "evidenced/commands/table.h"
#include "evidenced/http/router.h"

#define P "018f3b1e-0000-7000-8000-000000000001"
#define S "018f3b1e-0000-7000-8000-000000000002"

static const struct evd_command list = {
    .name = "List", .method = EVD_COMMAND_GET, .path = "/v1/projects/{project}/studies"};
static const struct evd_command add = {
    .name = "Add", .method = EVD_COMMAND_POST, .path = "/v1/projects/{project}/studies"};
static const struct evd_command batch = {
    .name = "Batch", .method = EVD_COMMAND_POST, .path = "/v1/projects/{project}/studies/batch"};
static const struct evd_command study = {
    .name = "Study", .method = EVD_COMMAND_GET, .path = "/v1/projects/{project}/studies/{study}"};
static const struct evd_command draft = {
    .name = "Draft", .method = EVD_COMMAND_GET, .path = "/v1/projects/{project}/studies/{study}/draft"};
static const struct evd_command put = {
    .name = "Put", .method = EVD_COMMAND_PUT, .path = "/v1/projects/{project}/studies/{study}/draft"};
static const struct evd_command patch = {
    .name = "Patch", .method = EVD_COMMAND_PATCH, .path = "/v1/projects/{project}/studies/{study}/draft"};
static const struct evd_command begin = {
    .name = "Begin", .method = EVD_COMMAND_POST, .path = "/v1/projects/{project}/studies/{study}/draft"};
static const struct evd_command discard = {
    .name = "Discard", .method = EVD_COMMAND_DELETE, .path = "/v1/projects/{project}/studies/{study}/draft"};
static const struct evd_command drop = {
    .name = "Drop", .method = EVD_COMMAND_DELETE, .path = "/v1/projects/{project}/studies/{study}/copies/{copy}"};
static const struct evd_command inner = {.name = "Inner", .method = EVD_COMMAND_POST};
static const struct evd_command *const commands[] = {&list, &add,   &batch, &study, &discard, &inner,
                                                     &put,  &draft, &drop,  &patch, &begin};

static struct evd_router *router;

static void open_router(void) {
    router = evd_router_new(commands, sizeof commands / sizeof *commands);
}

static const struct {
    const char *path;
    const struct evd_command *commands[EVD_ROUTE_METHODS]; /* GET, POST, PUT, PATCH, DELETE */
    const char *allow;
} routes[] = {
    {"/v1/projects/" P "/studies", {&list, &add}, "GET, HEAD, POST, OPTIONS"},
    {"/v1/projects/" P "/studies/batch", {NULL, &batch}, "POST, OPTIONS"},
    {"/v1/projects/" P "/studies/" S, {&study}, "GET, HEAD, OPTIONS"},
    {"/v1/projects/018F3B1E-0000-7000-8000-000000000001/studies", {&list, &add}, "GET, HEAD, POST, OPTIONS"},
    {"/v1/projects/" P "/studies/" S "/draft", {&draft, &begin, &put, &patch, &discard}, EVD_ROUTE_ALLOW_ALL},
    {"/v1/projects/" P "/studies/" S "/copies/" P, {NULL, NULL, NULL, NULL, &drop}, "DELETE, OPTIONS"},
};

START_TEST(a_path_finds_its_commands_and_its_methods) {
    open_router();
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        struct evd_route route;
        ck_assert_msg(evd_router_find(router, evd_text_from(routes[i].path), &route), "%s", routes[i].path);
        ck_assert_str_eq(route.allow, routes[i].allow);
        for (size_t method = 0; method < EVD_ROUTE_METHODS; method++) {
            ck_assert_ptr_eq(route.commands[method], routes[i].commands[method]);
            if (route.commands[method] != NULL)
                ck_assert_ptr_eq(commands[route.numbers[method]], route.commands[method]);
        }
    }
    evd_router_free(router);
}
END_TEST

START_TEST(the_ids_a_path_names_are_taken_and_no_others) {
    struct evd_route route;
    char text[EVD_UUID_TEXT_BYTES + 1];
    open_router();
    ck_assert(evd_router_find(router, EVD_TEXT("/v1/projects/" P "/studies/" S), &route));
    evd_uuid_format(route.ids.project, text);
    ck_assert_str_eq(text, P);
    evd_uuid_format(route.ids.study, text);
    ck_assert_str_eq(text, S);
    ck_assert(evd_uuid_is_nil(route.ids.form) && evd_uuid_is_nil(route.ids.version));
    evd_router_free(router);
}
END_TEST

static const char *const unknown[] = {"",
                                      "*",
                                      "/",
                                      "//",
                                      "/v1",
                                      "/v1/",
                                      "/v1/projects",
                                      "/v1/projects/",
                                      "/v1/projects/" P,
                                      "/v1/projects/" P "/studies/",
                                      "/v1/projects/" P "/studies//",
                                      "/v1/projects//studies",
                                      "/v1//projects/" P "/studies",
                                      "/v1/projects/{project}/studies",
                                      "/v1/projects/018f3b1e-0000-7000-8000-00000000000/studies",
                                      "/v1/projects/018f3b1e-0000-7000-8000-0000000000011/studies",
                                      "/v1/projects/018f3b1e000070008000000000000001/studies",
                                      "/v1/projects/" P "/studies/Batch",
                                      "/v1/projects/" P "/studies/batch/more",
                                      "/v1/projects/" P "/studies/" S "/more",
                                      "/V1/projects/" P "/studies",
                                      "v1/projects/" P "/studies"};

START_TEST(what_no_template_says_is_unknown) {
    struct evd_route route;
    open_router();
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ck_assert_msg(!evd_router_find(router, evd_text_from(unknown[i]), &route), "%s", unknown[i]);
    evd_router_free(router);
}
END_TEST

/* A template with every parameter filled in. */
static void fill_in(const char *template, char *path, size_t path_bytes) {
    size_t size = 0;
    for (const char *at = template; *at != '\0' && size + sizeof P < path_bytes;) {
        if (*at != '{') {
            path[size++] = *at++;
            continue;
        }
        memcpy(path + size, P, sizeof P - 1);
        size += sizeof P - 1;
        at = strchr(at, '}') + 1;
    }
    path[size] = '\0';
}

START_TEST(every_command_of_the_table_is_found_at_its_own_path) {
    size_t count;
    const struct evd_command *const *table = evd_command_table(&count);
    router = evd_router_new(table, count);
    ck_assert_uint_gt(count, 0);
    for (size_t i = 0; i < count; i++) {
        char path[512];
        struct evd_route route;
        if (table[i]->path == NULL) continue;
        fill_in(table[i]->path, path, sizeof path);
        ck_assert_msg(evd_router_find(router, evd_text_from(path), &route), "%s", path);
        ck_assert_ptr_eq(route.commands[table[i]->method], table[i]);
    }
    evd_router_free(router);
}
END_TEST

EVD_TEST_MAIN("http: router", a_path_finds_its_commands_and_its_methods, the_ids_a_path_names_are_taken_and_no_others,
              what_no_template_says_is_unknown, every_command_of_the_table_is_found_at_its_own_path)
