/*
 * Bearer tokens: JWTs, checked against a set of public keys.
 *
 * Small and strict on purpose. RS256 (keys of 2,048 to 8,192 bits), ES256 and EdDSA (Ed25519) only; the algorithm is
 * the key's, never the token's choice; `crit` is refused; a token without `exp` is refused. The signature is checked
 * before a byte of the payload is decoded. Sizes, depth and number of values are bounded before anything is parsed.
 *
 * Threads: a key set is immutable and shared by reference; a verification holds nothing between calls.
 */
#ifndef EVIDENCED_HTTP_TOKEN_H
#define EVIDENCED_HTTP_TOKEN_H

#include "evidenced/base/text.h"
#include "evidenced/base/uuid.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evd_jwks;

enum {
    EVD_JWKS_BYTES = 256 * 1024, /* a key set's text at most */
    EVD_JWKS_KEYS = 64,          /* skipped ones included */
    EVD_TOKEN_SUBJECT_BYTES = 255,
};

struct evd_token_rules {
    struct evd_text issuer;             /* `iss` must equal it */
    struct evd_text audience;           /* `aud` must be it or contain it */
    struct evd_text investigator_claim; /* the top-level claim that names the person; empty: `sub` */
    int64_t leeway_ms;                  /* for `exp`, `nbf` and `iat`; 0 to 600,000 */
};

struct evd_identity {
    evd_uuid investigator;    /* the claim when it is a UUID, neither nil nor of version 8; else H(issuer, claim) */
    bool may_create_projects; /* evidenced:create-project, in `scope` or `scp` (space-separated text or list) */
    int64_t expires_ms;       /* wall clock, `exp` without leeway */
};

/** Whom the daemon takes the subject of a token of that issuer for: `investigator` as told above. Pure. */
evd_uuid evd_token_investigator(struct evd_text issuer, struct evd_text subject);

/* Why a token is refused. The texts are all that is ever said about a token: they quote nothing of it, and fit a log
 * line and the quoted error_description of `WWW-Authenticate` (RFC 6750 §3). */
#define EVD_TOKEN_REFUSALS(X)                                                                                          \
    X(TOO_LARGE, "the token is larger than 8 KiB")                                                                     \
    X(SHAPE, "the token does not have three parts")                                                                    \
    X(ENCODING, "a part of the token is not base64url")                                                                \
    X(HEADER, "the header of the token is not a plain JSON object")                                                    \
    X(CRITICAL, "the token demands extensions that are not supported")                                                 \
    X(TYPE, "the token is of another type than JWT or at+jwt")                                                         \
    X(ALGORITHM, "the algorithm of the token is not RS256, ES256 or EdDSA")                                            \
    X(KEY_ID, "the key id of the token is not a text")                                                                 \
    X(KEY_UNNAMED, "the token names no key, and there are several")                                                    \
    X(KEY_UNKNOWN, "the token names a key that is not known")                                                          \
    X(KEY_ALGORITHM, "the algorithm of the token is not that of its key")                                              \
    X(SIGNATURE, "the signature of the token is wrong")                                                                \
    X(CLAIMS, "the claims of the token are not a plain JSON object")                                                   \
    X(ISSUER, "the token was not issued by the expected issuer")                                                       \
    X(AUDIENCE, "the token is not meant for this service")                                                             \
    X(NO_EXPIRY, "the token does not say when it expires")                                                             \
    X(TIME, "a time in the token is not a number of seconds")                                                          \
    X(EXPIRED, "the token has expired")                                                                                \
    X(NOT_YET_VALID, "the token is not valid yet")                                                                     \
    X(ISSUED_LATER, "the token was issued in the future")                                                              \
    X(SUBJECT, "the token does not name its subject in 1 to 255 bytes")                                                \
    X(SCOPE, "the scopes of the token are not texts")                                                                  \
    X(NO_MEMORY, "there is no memory to check the token")

enum evd_token_refusal {
    EVD_TOKEN_NOT_REFUSED,
#define EVD_TOKEN_ENUM(id, text) EVD_TOKEN_##id,
    EVD_TOKEN_REFUSALS(EVD_TOKEN_ENUM)
#undef EVD_TOKEN_ENUM
        EVD_TOKEN_REFUSAL_COUNT
};

/** The sentence of a refusal, as listed above; static. NO_MEMORY is the machine's failure (503), not the token's. */
const char *evd_token_refusal_text(enum evd_token_refusal refusal);

/**
 * Parse a JWKS.
 *
 * Skipped and counted: symmetric keys, keys of other types, curves and algorithms, keys whose `use` or `key_ops` are
 * for something else. A failure, with a sentence in ret_error (256 bytes): a private key anywhere (it has leaked), a
 * key of ours that is malformed, weak or off its curve, two keys with one `kid`, a key without `kid` beside others, no
 * key left, more than EVD_JWKS_BYTES or EVD_JWKS_KEYS. Leading zero bytes of an RSA modulus are tolerated.
 *
 * Immutable afterwards, shared by reference; the caller owns the first one.
 */
struct evd_jwks *evd_jwks_new(struct evd_text json, char ret_error[256]);
struct evd_jwks *evd_jwks_ref(struct evd_jwks *jwks);
void evd_jwks_unref(struct evd_jwks *jwks);           /* NULL is fine */
size_t evd_jwks_count(const struct evd_jwks *jwks);   /* keys in use */
size_t evd_jwks_skipped(const struct evd_jwks *jwks); /* keys left out */

/**
 * Check a compact JWS at now_ms (wall clock). True and *ret_identity, or false and *ret_refusal, the first that holds
 * in the order of the list above.
 *
 * `kid` selects the key; without it the set must hold exactly one. `typ`, if there, is JWT or at+jwt in any case, with
 * or without "application/". `aud` is a text or a list of texts. Times are integers or reals of seconds within ±2^53;
 * a token is valid from nbf − leeway, inclusive, to exp + leeway, exclusive, and iat may lie up to the leeway ahead.
 * Header members that bring or point to a key (`jwk`, `jku`, `x5c`, …) are never looked at.
 *
 * Uses about 8 KiB of stack and OpenSSL's and jansson's own allocations, all given back before it returns.
 */
bool evd_token_verify(const struct evd_jwks *jwks, const struct evd_token_rules *rules, struct evd_text token,
                      int64_t now_ms, struct evd_identity *ret_identity, enum evd_token_refusal *ret_refusal)
    __attribute__((warn_unused_result));

#endif
