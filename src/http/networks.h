/*
 * Networks: addresses and prefixes, and which of them a client's address belongs to. IPv4 addresses inside IPv6 count
 * as IPv4.
 */
#ifndef EVIDENCED_SRC_HTTP_NETWORKS_H
#define EVIDENCED_SRC_HTTP_NETWORKS_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As IPv6; IPv4 is mapped into it. */
struct evd_network {
    uint8_t bytes[16];
    unsigned bits;
};

/** `10.0.0.0/8`, `2001:db8::/32`, or an address alone. False when it is none. */
bool evd_network_parse(struct evd_text text, struct evd_network *ret_network);

/** Is the numeric address in one of them? False for what is no address. */
bool evd_networks_contain(const struct evd_network *networks, size_t count, struct evd_text address);

/** Who limits by address count as one: an IPv4 address, an IPv6 network of 64 bits. Anything else is its own. */
evd_uuid evd_network_client(struct evd_text address);

#endif
