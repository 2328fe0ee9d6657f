#include "networks.h"

#include <arpa/inet.h>

enum { MAPPED_BITS = 96, CLIENT_BITS = 64 };

static const uint8_t mapped[MAPPED_BITS / 8] = {[10] = 0xFF, [11] = 0xFF}; /* how IPv4 looks inside IPv6 */

static bool parse_address(struct evd_text text, uint8_t ret_bytes[16], bool *ret_is_v4) {
    char terminated[INET6_ADDRSTRLEN];
    if (text.size_bytes == 0 || text.size_bytes >= sizeof terminated) return false;
    memcpy(terminated, text.bytes, text.size_bytes);
    terminated[text.size_bytes] = '\0';
    *ret_is_v4 = inet_pton(AF_INET, terminated, ret_bytes + sizeof mapped) == 1;
    if (*ret_is_v4) memcpy(ret_bytes, mapped, sizeof mapped);
    return *ret_is_v4 || inet_pton(AF_INET6, terminated, ret_bytes) == 1;
}

bool evd_network_parse(struct evd_text text, struct evd_network *ret_network) {
    struct evd_network network;
    bool is_v4;
    uint64_t bits;
    const char *slash = text.size_bytes == 0 ? NULL : memchr(text.bytes, '/', text.size_bytes);
    struct evd_text host = {text.bytes, slash == NULL ? text.size_bytes : (size_t)(slash - text.bytes)};
    if (!parse_address(host, network.bytes, &is_v4)) return false;
    network.bits = 128;
    if (slash != NULL) {
        struct evd_text prefix = {slash + 1, text.size_bytes - host.size_bytes - 1};
        if (!evd_text_to_u64(prefix, &bits) || bits > (is_v4 ? 32 : 128)) return false;
        network.bits = (unsigned)bits + (is_v4 ? MAPPED_BITS : 0);
    }
    *ret_network = network;
    return true;
}

static bool contains(const struct evd_network *network, const uint8_t bytes[16]) {
    unsigned whole = network->bits / 8, rest = network->bits % 8;
    if (memcmp(network->bytes, bytes, whole) != 0) return false;
    return rest == 0 || ((network->bytes[whole] ^ bytes[whole]) >> (8 - rest)) == 0;
}

bool evd_networks_contain(const struct evd_network *networks, size_t count, struct evd_text address) {
    uint8_t bytes[16];
    bool is_v4;
    if (!parse_address(address, bytes, &is_v4)) return false;
    for (size_t i = 0; i < count; i++)
        if (contains(&networks[i], bytes)) return true;
    return false;
}

evd_uuid evd_network_client(struct evd_text address) {
    evd_uuid client = {{0}};
    bool is_v4;
    if (!parse_address(address, client.bytes, &is_v4)) return evd_uuid_derive("address", &address, 1);
    bool is_whole = memcmp(client.bytes, mapped, sizeof mapped) == 0;
    if (!is_whole) memset(client.bytes + CLIENT_BITS / 8, 0, sizeof client.bytes - CLIENT_BITS / 8);
    return client;
}
