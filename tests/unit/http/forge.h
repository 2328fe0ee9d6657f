/*
 * Tokens for tests: three key pairs, made once for each test program, and a signer that signs whatever it is given.
 */
#ifndef EVIDENCED_TESTS_UNIT_HTTP_FORGE_H
#define EVIDENCED_TESTS_UNIT_HTTP_FORGE_H

#include "../../../src/http/base64url.h"
#include "../../support/test.h"
#include "evidenced/http/token.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>

enum forge_key { FORGE_RSA, FORGE_EC, FORGE_ED, FORGE_KEYS };

enum { FORGE_TOKEN_BYTES = 32 * 1024, FORGE_JWK_BYTES = 1024 };

static EVP_PKEY *forge_pairs[FORGE_KEYS];
static char forge_jwks[4 * FORGE_JWK_BYTES]; /* the three public keys, called "rsa", "ec" and "ed" */

static inline const char *forge_algorithm(enum forge_key key) {
    static const char *const names[] = {"RS256", "ES256", "EdDSA"};
    return names[key];
}

static inline const char *forge_id(enum forge_key key) {
    static const char *const ids[] = {"rsa", "ec", "ed"};
    return ids[key];
}

static inline void forge_number(const EVP_PKEY *pair, const char *name, size_t size_bytes, char *ret_text) {
    uint8_t bytes[1024];
    BIGNUM *number = NULL;
    if (EVP_PKEY_get_bn_param(pair, name, &number) != 1) abort();
    if (size_bytes == 0) size_bytes = (size_t)BN_num_bytes(number);
    if (BN_bn2binpad(number, bytes, (int)size_bytes) < 0) abort();
    (void)evd_base64url_encode(bytes, size_bytes, ret_text);
    BN_free(number);
}

static inline int forge_public(enum forge_key key, char ret_jwk[FORGE_JWK_BYTES]) {
    char first[FORGE_JWK_BYTES], second[FORGE_JWK_BYTES];
    uint8_t point[32];
    size_t size_bytes = sizeof point;
    switch (key) {
    case FORGE_RSA:
        forge_number(forge_pairs[key], OSSL_PKEY_PARAM_RSA_N, 0, first);
        forge_number(forge_pairs[key], OSSL_PKEY_PARAM_RSA_E, 0, second);
        return snprintf(ret_jwk, FORGE_JWK_BYTES, "{\"kid\":\"rsa\",\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}", first,
                        second);
    case FORGE_EC:
        forge_number(forge_pairs[key], OSSL_PKEY_PARAM_EC_PUB_X, sizeof point, first);
        forge_number(forge_pairs[key], OSSL_PKEY_PARAM_EC_PUB_Y, sizeof point, second);
        return snprintf(ret_jwk, FORGE_JWK_BYTES,
                        "{\"kid\":\"ec\",\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}", first, second);
    case FORGE_ED:
        if (EVP_PKEY_get_raw_public_key(forge_pairs[key], point, &size_bytes) != 1) abort();
        (void)evd_base64url_encode(point, size_bytes, first);
        return snprintf(ret_jwk, FORGE_JWK_BYTES, "{\"kid\":\"ed\",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"}",
                        first);
    case FORGE_KEYS: break;
    }
    abort();
}

/* Before main, so that the tests' processes share what takes a while to make. */
__attribute__((constructor)) static void forge_init(void) {
    char jwks[FORGE_KEYS][FORGE_JWK_BYTES];
    forge_pairs[FORGE_RSA] = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)2048);
    forge_pairs[FORGE_EC] = EVP_PKEY_Q_keygen(NULL, NULL, "EC", "P-256");
    forge_pairs[FORGE_ED] = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    for (unsigned key = 0; key < FORGE_KEYS; key++)
        if (forge_pairs[key] == NULL || forge_public(key, jwks[key]) >= FORGE_JWK_BYTES) abort();
    (void)snprintf(forge_jwks, sizeof forge_jwks, "{\"keys\":[%s,%s,%s]}", jwks[0], jwks[1], jwks[2]);
}

__attribute__((destructor)) static void forge_done(void) {
    for (unsigned key = 0; key < FORGE_KEYS; key++)
        EVP_PKEY_free(forge_pairs[key]);
}

static inline struct evd_jwks *forge_jwks_of(const char *json) {
    char error[256] = "";
    struct evd_jwks *jwks = evd_jwks_new(evd_text_from(json), error);
    ck_assert_msg(jwks != NULL, "%s", error);
    return jwks;
}

/* DER to r and s. */
static inline size_t forge_raw_signature(uint8_t *signature, size_t size_bytes) {
    const uint8_t *at = signature;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)size_bytes);
    if (pair == NULL) abort();
    uint8_t raw[64];
    if (BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32) != 32) abort();
    if (BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32) != 32) abort();
    ECDSA_SIG_free(pair);
    memcpy(signature, raw, sizeof raw);
    return sizeof raw;
}

/* Append ".signature" to the header and payload, encoded already, in `token`. */
static inline void forge_sign(enum forge_key key, char token[FORGE_TOKEN_BYTES]) {
    uint8_t signature[512];
    size_t size_bytes = sizeof signature, message_bytes = strlen(token);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (EVP_DigestSignInit_ex(context, NULL, key == FORGE_ED ? NULL : "SHA256", NULL, NULL, forge_pairs[key], NULL) !=
        1)
        abort();
    if (EVP_DigestSign(context, signature, &size_bytes, (const uint8_t *)token, message_bytes) != 1) abort();
    EVP_MD_CTX_free(context);
    if (key == FORGE_EC) size_bytes = forge_raw_signature(signature, size_bytes);
    token[message_bytes++] = '.';
    (void)evd_base64url_encode(signature, size_bytes, token + message_bytes);
}

/* header.claims, without a signature. */
static inline void forge_unsigned(struct evd_text header, struct evd_text claims, char token[FORGE_TOKEN_BYTES]) {
    ck_assert_uint_lt(header.size_bytes + claims.size_bytes, FORGE_TOKEN_BYTES / 2);
    size_t at = evd_base64url_encode(header.bytes, header.size_bytes, token);
    token[at++] = '.';
    (void)evd_base64url_encode(claims.bytes, claims.size_bytes, token + at);
}

static inline void forge_token(enum forge_key key, const char *header, const char *claims,
                               char token[FORGE_TOKEN_BYTES]) {
    forge_unsigned(evd_text_from(header), evd_text_from(claims), token);
    forge_sign(key, token);
}

#endif
