#include "../../../src/base/config_table.h"

#include "../../support/test.h"
#include "evidenced/base/arena.h"
#include "evidenced/base/limits.h"

static const struct {
    enum evd_config_option option;
    const char *text;
    bool is_right;
} values[] = {
    {EVD_CONFIG_WORKERS, "1", true},
    {EVD_CONFIG_WORKERS, "256", true},
    {EVD_CONFIG_WORKERS, "0", false},
    {EVD_CONFIG_WORKERS, "257", false},
    {EVD_CONFIG_WORKERS, "", false},
    {EVD_CONFIG_WORKERS, "8k", false},
    {EVD_CONFIG_WORKERS, "+8", false},
    {EVD_CONFIG_WORKERS, " 8", false},
    {EVD_CONFIG_WORKERS, "0x8", false},
    {EVD_CONFIG_WORKERS, "99999999999999999999", false},
    {EVD_CONFIG_DRAIN_SECONDS, "0", true},
    {EVD_CONFIG_LOG_LEVEL, "debug", true},
    {EVD_CONFIG_LOG_LEVEL, "Debug", false},
    {EVD_CONFIG_LOG_LEVEL, "erro", false},
    {EVD_CONFIG_LOG_LEVEL, "error warn", false},
    {EVD_CONFIG_LOG_LEVEL, "", false},
    {EVD_CONFIG_STORE, "embedded", true},
    {EVD_CONFIG_STORE, "paper", false},
    {EVD_CONFIG_DATA, "/var/lib/evidenced", true},
    {EVD_CONFIG_DATA, "", false},
    {EVD_CONFIG_DATA, "a\nb", false},
    {EVD_CONFIG_DATA, "a\x7f", false},
    {EVD_CONFIG_DATA, "a\xFF", false},
    {EVD_CONFIG_TOKEN_INVESTIGATOR_CLAIM, "", true},
    {EVD_CONFIG_LISTEN, "127.0.0.1:0", true},
    {EVD_CONFIG_LISTEN, "127.255.0.9:65535", true},
    {EVD_CONFIG_LISTEN, "[::1]:8080", true},
    {EVD_CONFIG_LISTEN, "[::ffff:127.0.0.1]:8080", true},
    {EVD_CONFIG_LISTEN, "unix:/run/evidenced.sock", true},
    {EVD_CONFIG_LISTEN, "unix:", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1:", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1:65536", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1:-1", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1:80 ", false},
    {EVD_CONFIG_LISTEN, "127.0.0.1:000080", false},
    {EVD_CONFIG_LISTEN, "127.1:80", false},
    {EVD_CONFIG_LISTEN, "localhost:80", false},
    {EVD_CONFIG_LISTEN, "*:80", false},
    {EVD_CONFIG_LISTEN, ":80", false},
    {EVD_CONFIG_LISTEN, "::1:80", false},
    {EVD_CONFIG_LISTEN, "[::1]80", false},
    {EVD_CONFIG_LISTEN, "[::1", false},
    {EVD_CONFIG_LISTEN, "[]:80", false},
    {EVD_CONFIG_LISTEN, "[127.0.0.1]:80", false},
    {EVD_CONFIG_LISTEN, "fd:", false},
    {EVD_CONFIG_LISTEN, "fd:x", false},
    {EVD_CONFIG_LISTEN, "", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "*", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "null", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example/", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://A.example", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example:443", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "http://a.example:80", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "http://a.example:443", true},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example:0", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example:", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://:80", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "ftp://a.example", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example,", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, ",https://a.example", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, "https://a.example,,https://b.example", false},
    {EVD_CONFIG_ALLOWED_ORIGINS, ",", false},
    {EVD_CONFIG_TRUSTED_PROXIES, "10.0.0.1", true},
    {EVD_CONFIG_TRUSTED_PROXIES, "10.0.0.0/32", true},
    {EVD_CONFIG_TRUSTED_PROXIES, "10.0.0.0/33", false},
    {EVD_CONFIG_TRUSTED_PROXIES, "::/0", true},
    {EVD_CONFIG_TRUSTED_PROXIES, "::/129", false},
    {EVD_CONFIG_TRUSTED_PROXIES, "10.0.0.0/", false},
    {EVD_CONFIG_TRUSTED_PROXIES, "/8", false},
    {EVD_CONFIG_TRUSTED_PROXIES, "proxy.example", false},
};

START_TEST(each_type_takes_what_it_should_and_nothing_else) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct evd_config_value value = {.number = 42};
        bool taken =
            evd_config_value_parse(&evd_config_rows[values[i].option], evd_text_from(values[i].text), &arena, &value);
        ck_assert_msg(taken == values[i].is_right, "%s `%s`", evd_config_name(values[i].option), values[i].text);
        if (taken)
            ck_assert_str_eq(value.text.bytes, values[i].text);
        else
            ck_assert_uint_eq(value.number, 42);
    }
    evd_arena_done(&arena);
}
END_TEST

START_TEST(a_list_and_a_value_have_bounds) {
    static const char item[] = "10.0.0.1,";
    enum { ITEM = sizeof item - 1 };
    char networks[(EVD_CONFIG_LIST_MOST + 1) * ITEM], path[EVD_CONFIG_VALUE_BYTES + 1];
    struct evd_arena arena;
    struct evd_config_value value;
    evd_arena_init(&arena, EVD_MIB);
    for (size_t i = 0; i <= EVD_CONFIG_LIST_MOST; i++)
        memcpy(networks + i * ITEM, item, ITEM);
    memset(path, 'a', sizeof path);
    for (size_t more = 0; more < 2; more++) {
        struct evd_text list = {networks, (EVD_CONFIG_LIST_MOST + more) * ITEM - 1};
        struct evd_text text = {path, EVD_CONFIG_VALUE_BYTES + more};
        ck_assert_int_eq(evd_config_value_parse(&evd_config_rows[EVD_CONFIG_TRUSTED_PROXIES], list, &arena, &value),
                         more == 0);
        ck_assert_int_eq(evd_config_value_parse(&evd_config_rows[EVD_CONFIG_DATA], text, &arena, &value), more == 0);
    }
    evd_arena_done(&arena);
}
END_TEST

static const struct {
    const char *address;
    bool is_local;
} doors[] = {
    {"127.0.0.1:80", true},
    {"127.255.255.254:80", true},
    {"128.0.0.1:80", false},
    {"126.0.0.1:80", false},
    {"0.0.0.0:80", false},
    {"10.0.0.1:80", false},
    {"[::1]:80", true},
    {"[::]:80", false},
    {"[::ffff:127.0.0.1]:80", true},
    {"[::ffff:10.0.0.1]:80", false},
    {"[::127.0.0.1]:80", false},
    {"[fe80::1]:80", false},
    {"[1::1]:80", false},
    {"unix:/run/x", true},
    {"fd:3", false},
};

START_TEST(only_loopback_and_sockets_in_the_file_system_are_local) {
    for (size_t i = 0; i < sizeof doors / sizeof *doors; i++)
        ck_assert_msg(evd_config_is_local(evd_text_from(doors[i].address)) == doors[i].is_local, "%s",
                      doors[i].address);
}
END_TEST

/* The table is data: what every row must keep to. */
START_TEST(every_row_of_the_table_is_well_formed) {
    struct evd_arena arena;
    evd_arena_init(&arena, EVD_MIB);
    for (enum evd_config_option option = 0; option < EVD_CONFIG_COUNT; option++) {
        const struct evd_config_row *row = &evd_config_rows[option];
        struct evd_config_value value;
        ck_assert_uint_eq(strspn(row->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(row->name));
        ck_assert_msg(evd_config_value_parse(row, evd_text_from(row->fallback), &arena, &value), "%s", row->name);
        ck_assert_uint_le(strlen(row->meaning), 200);
        ck_assert_msg(row->meaning[strlen(row->meaning) - 1] == '.', "%s", row->name);
        ck_assert_msg(strpbrk(row->meaning, "|`\n\t") == NULL, "%s", row->name);
        ck_assert_int_eq(row->words != NULL, row->type == EVD_CONFIG_TYPE_CHOICE);
        ck_assert(row->type != EVD_CONFIG_TYPE_NUMBER || row->least < row->most);
        for (enum evd_config_option other = 0; other < option; other++)
            ck_assert_str_ne(row->name, evd_config_name(other));
    }
    evd_arena_done(&arena);
}
END_TEST

EVD_TEST_MAIN("base: configuration values", each_type_takes_what_it_should_and_nothing_else,
              a_list_and_a_value_have_bounds, only_loopback_and_sockets_in_the_file_system_are_local,
              every_row_of_the_table_is_well_formed)
