/*
 * One public key of a JWKS, and the signatures it made.
 */
#ifndef EVIDENCED_HTTP_JWK_H
#define EVIDENCED_HTTP_JWK_H

#include "evidenced/base/text.h"

#include <jansson.h>
#include <openssl/evp.h>

enum { EVD_JWK_ID_BYTES = 255 };

enum evd_jwk_algorithm { EVD_JWK_RS256, EVD_JWK_ES256, EVD_JWK_EDDSA };

struct evd_jwk {
    enum evd_jwk_algorithm algorithm; /* the key's, from its type and curve; a token has no say in it */
    EVP_PKEY *key;                    /* shared by all threads, never changed */
    size_t id_size_bytes;             /* 0: the key has no `kid` */
    char id[EVD_JWK_ID_BYTES];
};

enum evd_jwk_reading {
    EVD_JWK_TAKEN,   /* *ret_key is set */
    EVD_JWK_SKIPPED, /* of a kind, use or algorithm that signs no token here */
    EVD_JWK_REFUSED, /* *ret_why says what is wrong with it: "is …", a static text */
};

/** Read one member of `keys`. Borrows `member`. */
enum evd_jwk_reading evd_jwk_init(const json_t *member, struct evd_jwk *ret_key, const char **ret_why)
    __attribute__((warn_unused_result));
void evd_jwk_done(struct evd_jwk *key);

/** "RS256", "ES256", "EdDSA". */
struct evd_text evd_jwk_algorithm_name(enum evd_jwk_algorithm algorithm);

enum evd_jwk_signature { EVD_JWK_SIGNATURE_HOLDS, EVD_JWK_SIGNATURE_FAILS, EVD_JWK_SIGNATURE_NO_MEMORY };

/** Did this key sign `message`? `signature` is in the form JOSE gives it (ES256: r and s, 32 bytes each). */
enum evd_jwk_signature evd_jwk_verify(const struct evd_jwk *key, struct evd_text message, const uint8_t *signature,
                                      size_t signature_bytes) __attribute__((warn_unused_result));

#endif
