/*
 * Bearer tokens: JWTs, checked against a set of public keys.
 *
 * Small and strict on purpose. RS256 (keys of 2,048 to 8,192 bits), ES256 and EdDSA (Ed25519) only; the algorithm is
 * the key's, never the token's choice; `crit` is refused; a token without `exp` is refused.
 */
#ifndef EVIDENCED_HTTP_TOKEN_H
#define EVIDENCED_HTTP_TOKEN_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_arena;
struct evd_jwks;

struct evd_token_rules {
    struct evd_text issuer;             /* `iss` must equal it */
    struct evd_text audience;           /* `aud` must be it or contain it */
    struct evd_text investigator_claim; /* empty: `sub` */
    int64_t leeway_ms;                  /* for `exp`, `nbf` and `iat` */
};

struct evd_identity {
    evd_uuid investigator;    /* the claim when it is a UUID of a version other than 8, else H(issuer, subject) */
    bool may_create_projects; /* scope evidenced:create-project, in `scope` (space separated) or `scp` (list) */
    int64_t expires_ms;       /* wall clock */
};

enum { EVD_TOKEN_WHY_BYTES = 120 };

/** Parse a JWKS. Keys of other types, uses or algorithms are skipped and counted; none usable, or duplicate `kid`s, is
 * a failure with a sentence in ret_error (256 bytes). Immutable afterwards, shared by reference. */
struct evd_jwks *evd_jwks_new(struct evd_text json, char ret_error[256]);
struct evd_jwks *evd_jwks_ref(struct evd_jwks *jwks);
void evd_jwks_unref(struct evd_jwks *jwks); /* NULL is fine */
size_t evd_jwks_count(const struct evd_jwks *jwks);

/**
 * Check a compact JWS at now_ms (wall clock). True and *ret_identity, or false and in ret_why a short reason fit for a
 * log and for `WWW-Authenticate` (it never quotes the token). Scratch memory comes from arena.
 */
bool evd_token_verify(const struct evd_jwks *jwks, const struct evd_token_rules *rules, struct evd_text token,
                      int64_t now_ms, struct evd_arena *arena, struct evd_identity *ret_identity,
                      char ret_why[EVD_TOKEN_WHY_BYTES]);

#endif
