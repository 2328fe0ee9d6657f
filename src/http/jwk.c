#include "jwk.h"

#include "base64url.h"
#include "strict_json.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/param_build.h>

enum {
    RSA_LEAST_BITS = 2048,
    RSA_MOST_BITS = 8192,
    RSA_MODULUS_BYTES = RSA_MOST_BITS / 8 + 1, /* some issuers put a zero byte in front */
    RSA_EXPONENT_BYTES = 8,                    /* bounds the work of one verification */
    P256_BYTES = 32,
    ED25519_BYTES = 32,
    ED25519_SIGNATURE_BYTES = 64,
};

static const struct {
    const char *type, *curve; /* curve NULL: the type has none */
    enum evd_jwk_algorithm algorithm;
} kinds[] = {{"RSA", NULL, EVD_JWK_RS256}, {"EC", "P-256", EVD_JWK_ES256}, {"OKP", "Ed25519", EVD_JWK_EDDSA}};

struct evd_text evd_jwk_algorithm_name(enum evd_jwk_algorithm algorithm) {
    static const struct evd_text names[] = {
        [EVD_JWK_RS256] = EVD_TEXT_INIT("RS256"),
        [EVD_JWK_ES256] = EVD_TEXT_INIT("ES256"),
        [EVD_JWK_EDDSA] = EVD_TEXT_INIT("EdDSA"),
    };
    return names[algorithm];
}

static bool member_is(const json_t *member, const char *name, const char *expected) {
    return evd_text_equal(evd_strict_json_text(json_object_get(member, name)), evd_text_from(expected));
}

static bool is_private(const json_t *member) {
    static const char *const secrets[] = {"d", "p", "q", "dp", "dq", "qi", "oth"};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        if (json_object_get(member, secrets[i]) != NULL) return true;
    return false;
}

/* RFC 7517 §4.2, §4.3: both are optional; what is said must allow checking signatures. */
static bool is_for_signatures(const json_t *member) {
    const json_t *operations = json_object_get(member, "key_ops");
    if (json_object_get(member, "use") != NULL && !member_is(member, "use", "sig")) return false;
    if (operations == NULL) return true;
    for (size_t i = 0; i < json_array_size(operations); i++)
        if (evd_text_equal(evd_strict_json_text(json_array_get(operations, i)), EVD_TEXT("verify"))) return true;
    return false;
}

static bool find_algorithm(const json_t *member, enum evd_jwk_algorithm *ret_algorithm) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!member_is(member, "kty", kinds[i].type)) continue;
        if (kinds[i].curve != NULL && !member_is(member, "crv", kinds[i].curve)) continue;
        struct evd_text name = evd_jwk_algorithm_name(kinds[i].algorithm);
        if (json_object_get(member, "alg") != NULL && !member_is(member, "alg", name.bytes)) return false;
        *ret_algorithm = kinds[i].algorithm;
        return true;
    }
    return false;
}

static bool decode(const json_t *member, const char *name, uint8_t *buffer, size_t capacity_bytes,
                   size_t *ret_size_bytes) {
    struct evd_text text = evd_strict_json_text(json_object_get(member, name));
    return text.size_bytes > 0 && evd_base64url_decode(text, buffer, capacity_bytes, ret_size_bytes);
}

static EVP_PKEY *key_from(const char *type, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (context != NULL && EVP_PKEY_fromdata_init(context) == 1 &&
        EVP_PKEY_fromdata(context, &key, EVP_PKEY_PUBLIC_KEY, parameters) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

static EVP_PKEY *key_from_numbers(const BIGNUM *modulus, const BIGNUM *exponent) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (builder != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        parameters = OSSL_PARAM_BLD_to_param(builder);
    if (parameters != NULL) key = key_from("RSA", parameters);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static const char *numbers_fault(const BIGNUM *modulus, const BIGNUM *exponent) {
    if (modulus == NULL || exponent == NULL) return "could not be read for want of memory";
    if (BN_num_bits(modulus) < RSA_LEAST_BITS) return "is an RSA key of fewer than 2048 bits";
    if (BN_num_bits(modulus) > RSA_MOST_BITS) return "is an RSA key of more than 8192 bits";
    if (!BN_is_odd(modulus)) return "is an RSA key with an even modulus";
    if (!BN_is_odd(exponent) || BN_is_one(exponent)) return "is an RSA key whose exponent is even or less than 3";
    return NULL;
}

static EVP_PKEY *rsa_new(const json_t *member, const char **ret_why) {
    uint8_t n[RSA_MODULUS_BYTES], e[RSA_EXPONENT_BYTES];
    size_t n_bytes, e_bytes;
    if (!decode(member, "n", n, sizeof n, &n_bytes) || !decode(member, "e", e, sizeof e, &e_bytes)) {
        *ret_why = "is an RSA key without a readable \"n\" (up to 8192 bits) and \"e\" (up to 64 bits)";
        return NULL;
    }
    EVP_PKEY *key = NULL;
    BIGNUM *modulus = BN_bin2bn(n, (int)n_bytes, NULL), *exponent = BN_bin2bn(e, (int)e_bytes, NULL);
    const char *fault = numbers_fault(modulus, exponent);
    if (fault == NULL) key = key_from_numbers(modulus, exponent);
    BN_free(modulus);
    BN_free(exponent);
    if (key == NULL) *ret_why = fault != NULL ? fault : "is an RSA key that OpenSSL does not take";
    return key;
}

/* Is it a point of the curve, and not the one at infinity? OpenSSL's own provider has asked that already when it took
 * the point; here it does not rest on which provider is configured. */
static bool is_sound(EVP_PKEY *key) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool sound = context != NULL && EVP_PKEY_public_check(context) == 1;
    EVP_PKEY_CTX_free(context);
    return sound;
}

static EVP_PKEY *p256_new(const json_t *member, const char **ret_why) {
    uint8_t point[1 + 2 * P256_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};
    size_t x_bytes, y_bytes;
    if (!decode(member, "x", point + 1, P256_BYTES, &x_bytes) || x_bytes != P256_BYTES ||
        !decode(member, "y", point + 1 + P256_BYTES, P256_BYTES, &y_bytes) || y_bytes != P256_BYTES) {
        *ret_why = "is a P-256 key without \"x\" and \"y\" of 32 bytes each";
        return NULL;
    }
    char group[] = "P-256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, group, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point),
        OSSL_PARAM_construct_end(),
    };
    EVP_PKEY *key = key_from("EC", parameters);
    if (key != NULL && is_sound(key)) return key;
    EVP_PKEY_free(key);
    *ret_why = "is a P-256 key whose point is not on the curve";
    return NULL;
}

static EVP_PKEY *ed25519_new(const json_t *member, const char **ret_why) {
    uint8_t point[ED25519_BYTES];
    size_t x_bytes;
    EVP_PKEY *key = NULL;
    if (decode(member, "x", point, sizeof point, &x_bytes) && x_bytes == sizeof point)
        key = EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, point, sizeof point);
    if (key == NULL) *ret_why = "is an Ed25519 key without an \"x\" of 32 bytes";
    return key;
}

static EVP_PKEY *key_new(const json_t *member, enum evd_jwk_algorithm algorithm, const char **ret_why) {
    switch (algorithm) {
    case EVD_JWK_RS256: return rsa_new(member, ret_why);
    case EVD_JWK_ES256: return p256_new(member, ret_why);
    case EVD_JWK_EDDSA: return ed25519_new(member, ret_why);
    }
    abort();
}

static enum evd_jwk_reading refused(const char **ret_why, const char *why) {
    *ret_why = why;
    return EVD_JWK_REFUSED;
}

enum evd_jwk_reading evd_jwk_init(const json_t *member, struct evd_jwk *ret_key, const char **ret_why) {
    struct evd_jwk key = {0};
    const json_t *id = json_object_get(member, "kid");
    struct evd_text id_text = evd_strict_json_text(id);
    if (!json_is_object(member)) return refused(ret_why, "is not an object");
    if (!json_is_string(json_object_get(member, "kty"))) return refused(ret_why, "has no \"kty\"");
    if (is_private(member)) return refused(ret_why, "is a private key, which no key set may hold: replace it");
    if (member_is(member, "kty", "oct")) return EVD_JWK_SKIPPED;
    if (!is_for_signatures(member)) return EVD_JWK_SKIPPED;
    if (!find_algorithm(member, &key.algorithm)) return EVD_JWK_SKIPPED;
    if (id != NULL && (id_text.size_bytes == 0 || id_text.size_bytes > EVD_JWK_ID_BYTES))
        return refused(ret_why, "has a \"kid\" that is not a text of 1 to 255 bytes");
    key.id_size_bytes = id_text.size_bytes;
    if (id_text.size_bytes > 0) memcpy(key.id, id_text.bytes, id_text.size_bytes);
    key.key = key_new(member, key.algorithm, ret_why);
    ERR_clear_error();
    if (key.key == NULL) return EVD_JWK_REFUSED;
    *ret_key = key;
    return EVD_JWK_TAKEN;
}

void evd_jwk_done(struct evd_jwk *key) {
    if (key != NULL) EVP_PKEY_free(key->key);
}

/* Two unsigned numbers as an ASN.1 sequence: 32 bytes each make at most 70 bytes, so every length is one byte. */
enum { DER_SIGNATURE_BYTES = 2 + 2 * (2 + 1 + P256_BYTES) };

static size_t der_add(const uint8_t *number, uint8_t *out) {
    size_t skip = 0;
    while (skip < P256_BYTES - 1 && number[skip] == 0)
        skip++;
    size_t pad = number[skip] >> 7, size = pad + P256_BYTES - skip;
    out[0] = 0x02;
    out[1] = (uint8_t)size;
    out[2] = 0;
    memcpy(out + 2 + pad, number + skip, P256_BYTES - skip);
    return 2 + size;
}

static size_t der_of(const uint8_t *signature, uint8_t der[DER_SIGNATURE_BYTES]) {
    size_t size = der_add(signature, der + 2);
    size += der_add(signature + P256_BYTES, der + 2 + size);
    der[0] = 0x30;
    der[1] = (uint8_t)size;
    return 2 + size;
}

static enum evd_jwk_signature verify(EVP_PKEY *key, const char *digest, struct evd_text message,
                                     const uint8_t *signature, size_t signature_bytes) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    enum evd_jwk_signature result = EVD_JWK_SIGNATURE_NO_MEMORY;
    if (context != NULL && EVP_DigestVerifyInit_ex(context, NULL, digest, NULL, NULL, key, NULL) == 1)
        result = EVP_DigestVerify(context, signature, signature_bytes, (const uint8_t *)message.bytes,
                                  message.size_bytes) == 1
                     ? EVD_JWK_SIGNATURE_HOLDS
                     : EVD_JWK_SIGNATURE_FAILS;
    EVP_MD_CTX_free(context);
    ERR_clear_error();
    return result;
}

enum evd_jwk_signature evd_jwk_verify(const struct evd_jwk *key, struct evd_text message, const uint8_t *signature,
                                      size_t signature_bytes) {
    uint8_t der[DER_SIGNATURE_BYTES];
    switch (key->algorithm) {
    case EVD_JWK_RS256:
        if (signature_bytes != (size_t)EVP_PKEY_get_size(key->key)) return EVD_JWK_SIGNATURE_FAILS;
        return verify(key->key, "SHA256", message, signature, signature_bytes);
    case EVD_JWK_ES256:
        if (signature_bytes != 2 * P256_BYTES) return EVD_JWK_SIGNATURE_FAILS;
        return verify(key->key, "SHA256", message, der, der_of(signature, der));
    case EVD_JWK_EDDSA:
        if (signature_bytes != ED25519_SIGNATURE_BYTES) return EVD_JWK_SIGNATURE_FAILS;
        return verify(key->key, NULL, message, signature, signature_bytes);
    }
    abort();
}
