#include "config_table.h"

#include "evidenced/base/arena.h"

#include <arpa/inet.h>
#include <assert.h>

const struct evd_config_row evd_config_rows[EVD_CONFIG_COUNT] = {
#define EVD_OPTION(id, row_name, row_type, row_fallback, row_least, row_most, row_words, row_when, row_meaning)        \
    [EVD_CONFIG_##id] = {.name = (row_name),                                                                           \
                         .fallback = (row_fallback),                                                                   \
                         .words = (row_words),                                                                         \
                         .meaning = (row_meaning),                                                                     \
                         .type = EVD_CONFIG_TYPE_##row_type,                                                           \
                         .when = EVD_CONFIG_WHEN_##row_when,                                                           \
                         .least = (row_least),                                                                         \
                         .most = (row_most)},
#include "evidenced/base/config.def"
};

static struct evd_text cut(struct evd_text text, size_t from, size_t to) {
    assert(from <= to && to <= text.size_bytes);
    return (struct evd_text){text.bytes + from, to - from};
}

/* The place of the first, or last, such byte; SIZE_MAX when there is none. */
static size_t first_of(struct evd_text text, char byte) {
    const char *at = text.size_bytes == 0 ? NULL : memchr(text.bytes, byte, text.size_bytes);
    return at == NULL ? SIZE_MAX : (size_t)(at - text.bytes);
}

static size_t last_of(struct evd_text text, char byte) {
    const char *at = text.size_bytes == 0 ? NULL : memrchr(text.bytes, byte, text.size_bytes);
    return at == NULL ? SIZE_MAX : (size_t)(at - text.bytes);
}

/* What may stand in any value: it ends up in paths, headers, terminals. */
static bool is_clean(struct evd_text text) {
    for (size_t i = 0; i < text.size_bytes; i++)
        if ((uint8_t)text.bytes[i] < 0x20 || text.bytes[i] == 0x7F) return false;
    return text.size_bytes <= EVD_CONFIG_VALUE_BYTES && evd_text_is_utf8(text);
}

static bool parse_numeric_host(struct evd_text text, int family, uint8_t ret_bytes[sizeof(struct in6_addr)]) {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size_bytes >= sizeof terminated) return false;
    memcpy(terminated, text.bytes, text.size_bytes);
    terminated[text.size_bytes] = '\0';
    return inet_pton(family, terminated, ret_bytes) == 1;
}

/* `127.0.0.1` of `127.0.0.1:80`, `::1` of `[::1]:80`; false when it is no such address or the port is none. */
static bool parse_host_and_port(struct evd_text text, int *ret_family, uint8_t ret_bytes[sizeof(struct in6_addr)]) {
    uint64_t port;
    size_t colon = last_of(text, ':');
    if (colon == SIZE_MAX || text.size_bytes - colon > sizeof ":65535" - 1) return false;
    if (!evd_text_to_u64(cut(text, colon + 1, text.size_bytes), &port) || port > UINT16_MAX) return false;
    struct evd_text host = cut(text, 0, colon);
    bool in_brackets = host.size_bytes >= 2 && host.bytes[0] == '[' && host.bytes[host.size_bytes - 1] == ']';
    *ret_family = in_brackets ? AF_INET6 : AF_INET;
    return parse_numeric_host(in_brackets ? cut(host, 1, host.size_bytes - 1) : host, *ret_family, ret_bytes);
}

static bool is_address(struct evd_text text) {
    uint8_t bytes[sizeof(struct in6_addr)];
    int family;
    uint64_t descriptor;
    if (evd_text_starts_with(text, EVD_TEXT("unix:")))
        return text.size_bytes > 5 && text.size_bytes - 5 <= EVD_CONFIG_SOCKET_PATH_BYTES;
    if (evd_text_starts_with(text, EVD_TEXT("fd:")))
        return evd_text_to_u64(cut(text, 3, text.size_bytes), &descriptor) && descriptor <= INT32_MAX;
    return parse_host_and_port(text, &family, bytes);
}

bool evd_config_is_local(struct evd_text address) {
    static const uint8_t loopback[16] = {[15] = 1}, mapped[13] = {[10] = 0xFF, [11] = 0xFF, [12] = 127};
    uint8_t bytes[sizeof(struct in6_addr)];
    int family;
    if (evd_text_starts_with(address, EVD_TEXT("unix:"))) return true;
    if (!parse_host_and_port(address, &family, bytes)) return false;
    if (family == AF_INET) return bytes[0] == 127;
    return memcmp(bytes, loopback, sizeof loopback) == 0 || memcmp(bytes, mapped, sizeof mapped) == 0;
}

/* As browsers send it in `Origin`: scheme and host in lower case, a port only where it is not the scheme's, no path. */
static bool is_origin(struct evd_text text) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]";
    bool secure = evd_text_starts_with(text, EVD_TEXT("https://"));
    if (!secure && !evd_text_starts_with(text, EVD_TEXT("http://"))) return false;
    struct evd_text rest = cut(text, secure ? 8 : 7, text.size_bytes);
    for (size_t i = 0; i < rest.size_bytes; i++)
        if (rest.bytes[i] == '\0' || strchr(plain, rest.bytes[i]) == NULL) return false;
    size_t colon = last_of(rest, ':'), bracket = last_of(rest, ']');
    if (colon == SIZE_MAX || (bracket != SIZE_MAX && colon < bracket)) return rest.size_bytes > 0;
    uint64_t port;
    bool fits = evd_text_to_u64(cut(rest, colon + 1, rest.size_bytes), &port) && port > 0 && port <= UINT16_MAX;
    return colon > 0 && fits && port != (secure ? 443 : 80);
}

static bool is_network(struct evd_text text) {
    uint8_t bytes[sizeof(struct in6_addr)];
    size_t slash = first_of(text, '/');
    struct evd_text host = slash == SIZE_MAX ? text : cut(text, 0, slash);
    bool is_v4 = parse_numeric_host(host, AF_INET, bytes);
    if (!is_v4 && !parse_numeric_host(host, AF_INET6, bytes)) return false;
    uint64_t bits = 0;
    if (slash == SIZE_MAX) return true;
    return evd_text_to_u64(cut(text, slash + 1, text.size_bytes), &bits) && bits <= (is_v4 ? 32 : 128);
}

static bool parse_list(struct evd_text text, bool (*is_item)(struct evd_text), struct evd_arena *arena,
                       struct evd_config_value *ret_value) {
    struct evd_text *items = EVD_NEW_ARRAY(arena, struct evd_text, EVD_CONFIG_LIST_MOST);
    size_t count = 0;
    for (size_t comma = 0; comma != SIZE_MAX && text.size_bytes > 0;) {
        comma = first_of(text, ',');
        struct evd_text item = evd_text_trim(comma == SIZE_MAX ? text : cut(text, 0, comma));
        if (count == EVD_CONFIG_LIST_MOST || !is_item(item)) return false;
        items[count++] = evd_text_copy(arena, item);
        if (comma == text.size_bytes - 1) return false; /* an item was forgotten behind the last comma */
        if (comma != SIZE_MAX) text = cut(text, comma + 1, text.size_bytes);
    }
    ret_value->items = items;
    ret_value->item_count = count;
    return true;
}

static bool parse_number(const struct evd_config_row *row, struct evd_text text, uint64_t *ret_number) {
    uint64_t number;
    if (!evd_text_to_u64(text, &number) || number < row->least || number > row->most) return false;
    *ret_number = number;
    return true;
}

static bool parse_choice(struct evd_text words, struct evd_text text, uint64_t *ret_number) {
    for (uint64_t at = 0; words.size_bytes > 0; at++) {
        size_t space = first_of(words, ' ');
        struct evd_text word = space == SIZE_MAX ? words : cut(words, 0, space);
        if (evd_text_equal(word, text)) {
            *ret_number = at;
            return true;
        }
        words = space == SIZE_MAX ? EVD_TEXT("") : cut(words, space + 1, words.size_bytes);
    }
    return false;
}

static bool parse_typed(const struct evd_config_row *row, struct evd_text text, struct evd_arena *arena,
                        struct evd_config_value *ret_value) {
    switch (row->type) {
    case EVD_CONFIG_TYPE_TEXT:
    case EVD_CONFIG_TYPE_FILE: return true;
    case EVD_CONFIG_TYPE_ADDRESS: return is_address(text);
    case EVD_CONFIG_TYPE_ORIGINS: return parse_list(text, is_origin, arena, ret_value);
    case EVD_CONFIG_TYPE_NETWORKS: return parse_list(text, is_network, arena, ret_value);
    case EVD_CONFIG_TYPE_NUMBER: return parse_number(row, text, &ret_value->number);
    case EVD_CONFIG_TYPE_CHOICE: return parse_choice(evd_text_from(row->words), text, &ret_value->number);
    }
    abort();
}

bool evd_config_value_parse(const struct evd_config_row *row, struct evd_text text, struct evd_arena *arena,
                            struct evd_config_value *ret_value) {
    struct evd_config_value value = {.items = NULL};
    if (!is_clean(text) || (text.size_bytes == 0 && row->fallback[0] != '\0')) return false;
    if (!parse_typed(row, text, arena, &value)) return false;
    value.text = evd_text_copy(arena, text);
    *ret_value = value;
    return true;
}

static struct evd_text with_commas(const char *words, struct evd_arena *arena) {
    struct evd_text listed = EVD_TEXT("");
    for (struct evd_text rest = evd_text_from(words); rest.size_bytes > 0;) {
        size_t space = first_of(rest, ' ');
        struct evd_text word = space == SIZE_MAX ? rest : cut(rest, 0, space);
        listed = evd_text_print(arena, EVD_TEXT_FMT "%s" EVD_TEXT_FMT, EVD_TEXT_ARG(listed),
                                listed.size_bytes == 0 ? "" : ", ", EVD_TEXT_ARG(word));
        rest = space == SIZE_MAX ? EVD_TEXT("") : cut(rest, space + 1, rest.size_bytes);
    }
    return listed;
}

struct evd_text evd_config_expected(const struct evd_config_row *row, struct evd_arena *arena) {
    switch (row->type) {
    case EVD_CONFIG_TYPE_TEXT: return EVD_TEXT("text without control characters");
    case EVD_CONFIG_TYPE_FILE: return EVD_TEXT("a path");
    case EVD_CONFIG_TYPE_ADDRESS:
        return EVD_TEXT("a numeric address such as 127.0.0.1:8080 or [::1]:8080, or unix:PATH, or fd:NUMBER");
    case EVD_CONFIG_TYPE_ORIGINS:
        return EVD_TEXT("at most 64 origins such as https://review.example.org, separated by commas");
    case EVD_CONFIG_TYPE_NETWORKS:
        return EVD_TEXT("at most 64 addresses or networks such as 10.0.0.0/8, separated by commas");
    case EVD_CONFIG_TYPE_NUMBER:
        return evd_text_print(arena, "a number from %llu to %llu", (unsigned long long)row->least,
                              (unsigned long long)row->most);
    case EVD_CONFIG_TYPE_CHOICE: {
        struct evd_text words = with_commas(row->words, arena);
        return evd_text_print(arena, strchr(row->words, ' ') == NULL ? "" EVD_TEXT_FMT : "one of " EVD_TEXT_FMT,
                              EVD_TEXT_ARG(words));
    }
    }
    abort();
}
