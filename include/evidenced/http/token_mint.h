/*
 * Minting tokens of one's own: for trying the daemon out and for tests, where there is no identity provider.
 *
 * The daemon itself never mints. A key is an Ed25519 pair; its private half is a JWK in a file only its owner can
 * read, its public half a JWKS the daemon is given. `kid` is the key's thumbprint (RFC 7638).
 */
#ifndef EVIDENCED_HTTP_TOKEN_MINT_H
#define EVIDENCED_HTTP_TOKEN_MINT_H

#include "evidenced/base/limits.h"
#include "evidenced/base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct evd_mint_key;

enum { EVD_MINT_TEXT_BYTES = 1000, EVD_MINT_LIFE_SECONDS = 366 * 86400 };

struct evd_mint_claims {
    struct evd_text issuer, audience; /* 1 to EVD_MINT_TEXT_BYTES bytes, as all texts here */
    struct evd_text subject;          /* 1 to 255 bytes */
    struct evd_text scope;            /* space separated; empty: no `scope` */
    int64_t issued_ms;                /* wall clock; `iat`, in whole seconds, rounded down */
    int64_t life_seconds;             /* 1 to EVD_MINT_LIFE_SECONDS; `exp` = `iat` + this */
};

/**
 * Make a new key pair: the private JWK in path_private (mode 0600), the public JWKS in path_jwks (mode 0644).
 *
 * Neither file may exist: nothing is ever overwritten. Both are synced before success is told. On failure returns
 * false with a sentence in ret_error (256 bytes), and no file made here is left behind.
 */
bool evd_mint_key_create(const char *path_private, const char *path_jwks, char ret_error[256])
    __attribute__((warn_unused_result));

/**
 * Read a private key. A file that others may access, that is no private Ed25519 JWK, or whose halves do not belong
 * together, is refused with a sentence in ret_error (256 bytes), which names the path and never the key.
 */
struct evd_mint_key *evd_mint_key_open(const char *path_private, char ret_error[256]);
void evd_mint_key_close(struct evd_mint_key *key); /* NULL is fine */

/** The key's `kid`, NUL-terminated. Lives as long as the key. */
const char *evd_mint_key_id(const struct evd_mint_key *key);

/** Sign a token with these claims. On failure returns false with a sentence in ret_error (256 bytes). */
bool evd_mint_token(const struct evd_mint_key *key, const struct evd_mint_claims *claims,
                    char ret_token[EVD_LIMIT_TOKEN_BYTES + 1], char ret_error[256]) __attribute__((warn_unused_result));

#endif
