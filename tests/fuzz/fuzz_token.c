/*
 * Tokens and key sets from anywhere.
 *
 * Input: one letter, then
 *   T  a token, as it came: of all the bytes there are, only the three that were signed pass, in one spelling each
 *   C  a header, a line end and claims, signed here: who passes has the claims that another reading of them allows
 *   K  a key set: refused with a sentence, or of as many keys as it says, none of them private
 */
#include "evidenced/base/limits.h"
#include "evidenced/http/token.h"

#include "../../src/http/base64url.h"
#include "expect.h"
#include "token_keys.h"

#include <jansson.h>
#include <openssl/evp.h>

enum { GOOD = sizeof token_good / sizeof *token_good, LEEWAY_MS = 60000, SEED_BYTES = 32, SIGNATURE_BYTES = 64 };
enum { SIGNED_BYTES = 2 * EVD_LIMIT_TOKEN_BYTES, CLAIMS_BYTES = EVD_LIMIT_TOKEN_BYTES };

static const struct evd_token_rules rules = {
    .issuer = EVD_TEXT_INIT(TOKEN_ISSUER), .audience = EVD_TEXT_INIT(TOKEN_AUDIENCE), .leeway_ms = LEEWAY_MS};

/* Both are for the process's life. */
static struct evd_jwks *keys;
static EVP_PKEY *signer;

static bool verify(const struct evd_jwks *with, struct evd_text token, struct evd_identity *ret_identity) {
    enum evd_token_refusal refusal = EVD_TOKEN_NOT_REFUSED;
    bool passed = evd_token_verify(with, &rules, token, TOKEN_NOW_MS, ret_identity, &refusal);
    EXPECT(passed == (refusal == EVD_TOKEN_NOT_REFUSED) && refusal != EVD_TOKEN_NO_MEMORY);
    EXPECT(evd_token_refusal_text(refusal)[0] != '\0');
    return passed;
}

static void begin(void) {
    char error[256];
    struct evd_identity identity;
    if (keys != NULL) return;
    keys = evd_jwks_new(evd_text_from(token_jwks), error);
    signer = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, (const uint8_t *)TOKEN_SEED, SEED_BYTES);
    EXPECT(keys != NULL && evd_jwks_count(keys) == GOOD && signer != NULL);
    for (size_t i = 0; i < GOOD; i++)
        EXPECT(verify(keys, evd_text_from(token_good[i]), &identity) && identity.may_create_projects);
}

static void try_token(struct evd_text token) {
    struct evd_identity identity;
    bool is_good = false;
    for (size_t i = 0; i < GOOD; i++)
        is_good = is_good || evd_text_equal(token, evd_text_from(token_good[i]));
    EXPECT(verify(keys, token, &identity) == is_good);
}

/* The token of this header and these claims. */
static size_t sign(struct evd_text header, struct evd_text claims, char token[SIGNED_BYTES]) {
    uint8_t signature[SIGNATURE_BYTES];
    size_t signature_bytes = sizeof signature;
    size_t size = evd_base64url_encode(header.bytes, header.size_bytes, token);
    token[size++] = '.';
    size += evd_base64url_encode(claims.bytes, claims.size_bytes, token + size);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EXPECT(EVP_DigestSignInit(context, NULL, NULL, NULL, signer) == 1);
    EXPECT(EVP_DigestSign(context, signature, &signature_bytes, (const uint8_t *)token, size) == 1);
    EVP_MD_CTX_free(context);
    token[size++] = '.';
    return size + evd_base64url_encode(signature, signature_bytes, token + size);
}

static bool says(const json_t *in, const char *name, const char *text) {
    const json_t *value = json_object_get(in, name);
    return json_is_string(value) && json_string_length(value) == strlen(text) &&
           strcmp(json_string_value(value), text) == 0;
}

static bool lists(const json_t *in, const char *name, const char *text) {
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(in, name), i,
                       one) if (json_is_string(one) && strcmp(json_string_value(one), text) == 0) return true;
    return false;
}

/* `least` to `most` in seconds, give or take what rounding to the millisecond does. */
static bool lies(const json_t *in, const char *name, double least, double most) {
    const json_t *value = json_object_get(in, name);
    if (value == NULL) return true;
    return json_is_number(value) && json_number_value(value) >= least - 0.001 &&
           json_number_value(value) <= most + 0.001;
}

static void expect_claims(struct evd_text header, struct evd_text claims, const struct evd_identity *identity) {
    const double now = TOKEN_NOW_MS / 1000.0, leeway = LEEWAY_MS / 1000.0, ever = 9007199254740992.0;
    json_t *head = json_loadb(header.bytes, header.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    json_t *json = json_loadb(claims.bytes, claims.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    EXPECT(says(head, "alg", "EdDSA") && says(head, "kid", "ed") && json_object_get(head, "crit") == NULL);
    EXPECT(says(json, "iss", TOKEN_ISSUER));
    EXPECT(says(json, "aud", TOKEN_AUDIENCE) || lists(json, "aud", TOKEN_AUDIENCE));
    EXPECT(json_object_get(json, "exp") != NULL && lies(json, "exp", now - leeway, ever));
    EXPECT(lies(json, "nbf", -ever, now + leeway) && lies(json, "iat", -ever, now + leeway));
    size_t subject_bytes = json_string_length(json_object_get(json, "sub"));
    EXPECT(subject_bytes >= 1 && subject_bytes <= EVD_TOKEN_SUBJECT_BYTES);
    EXPECT(!evd_uuid_is_nil(identity->investigator) && identity->expires_ms > TOKEN_NOW_MS - LEEWAY_MS);
    json_decref(head);
    json_decref(json);
}

static void try_claims(struct evd_text input) {
    char token[SIGNED_BYTES];
    struct evd_identity identity;
    const char *end = input.size_bytes == 0 ? NULL : memchr(input.bytes, '\n', input.size_bytes);
    if (end == NULL || input.size_bytes > CLAIMS_BYTES) return;
    struct evd_text header = {input.bytes, (size_t)(end - input.bytes)};
    struct evd_text claims = {end + 1, input.size_bytes - header.size_bytes - 1};
    struct evd_text whole = {token, sign(header, claims, token)};
    EXPECT(whole.size_bytes < sizeof token);
    if (verify(keys, whole, &identity)) expect_claims(header, claims, &identity);
}

static void try_key_set(struct evd_text input) {
    char error[256] = "";
    struct evd_identity identity;
    size_t i, listed = 0;
    const json_t *key;
    struct evd_jwks *set = evd_jwks_new(input, error);
    if (set == NULL) {
        EXPECT(error[0] != '\0' && strlen(error) < sizeof error && evd_text_is_utf8(evd_text_from(error)));
        return;
    }
    json_t *json = json_loadb(input.bytes, input.size_bytes, JSON_REJECT_DUPLICATES, NULL);
    json_array_foreach(json_object_get(json, "keys"), i, key) {
        EXPECT(json_object_get(key, "d") == NULL);
        listed++;
    }
    EXPECT(evd_jwks_count(set) >= 1 && listed <= EVD_JWKS_KEYS);
    EXPECT(evd_jwks_count(set) + evd_jwks_skipped(set) == listed);
    for (size_t good = 0; good < GOOD; good++)
        (void)verify(set, evd_text_from(token_good[good]), &identity);
    json_decref(json);
    evd_jwks_unref(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const struct evd_text input = {(const char *)data + 1, size - 1};
    begin();
    if (data[0] == 'T') try_token(input);
    if (data[0] == 'C') try_claims(input);
    if (data[0] == 'K') try_key_set(input);
    return 0;
}
