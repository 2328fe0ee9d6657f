/*
 * The compact form of a token, its signature and its key: what arrives before anything it claims is looked at.
 */
#include "forge.h"

#include "../../../src/http/jwks.h"
#include "evidenced/base/limits.h"
#include "evidenced/records/json_load.h"

#include <jansson.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <pthread.h>

#define NOW_MS INT64_C(1772355600000)
#define ISSUER "https://login.example.org/realms/review"
#define CLAIMS                                                                                                         \
    "{\"iss\":\"" ISSUER "\",\"aud\":\"evidenced\",\"sub\":\"ada\",\"exp\":1772355900,\"nbf\":1772355590,"             \
    "\"iat\":1772355590,\"scope\":\"openid\"}"

static const struct evd_token_rules rules = {
    .issuer = EVD_TEXT_INIT(ISSUER), .audience = EVD_TEXT_INIT("evidenced"), .leeway_ms = 30000};

static enum evd_token_refusal refusal_of_bytes(const struct evd_jwks *jwks, struct evd_text token) {
    struct evd_identity identity = {0};
    enum evd_token_refusal refusal = EVD_TOKEN_NOT_REFUSED;
    bool accepted = evd_token_verify(jwks, &rules, token, NOW_MS, &identity, &refusal);
    ck_assert_int_eq(accepted, refusal == EVD_TOKEN_NOT_REFUSED);
    return refusal;
}

static enum evd_token_refusal refusal_of(const struct evd_jwks *jwks, const char *token) {
    return refusal_of_bytes(jwks, evd_text_from(token));
}

static void header_for(const char *algorithm, const char *id, char ret_header[256]) {
    (void)snprintf(ret_header, 256, "{\"alg\":\"%s\",\"kid\":\"%s\"}", algorithm, id);
}

static void plain_token(enum forge_key key, char token[FORGE_TOKEN_BYTES]) {
    char header[256];
    header_for(forge_algorithm(key), forge_id(key), header);
    forge_token(key, header, CLAIMS, token);
}

/* ---- the three parts ---- */

START_TEST(a_token_that_is_not_three_parts_is_refused) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char token[FORGE_TOKEN_BYTES], changed[2 * FORGE_TOKEN_BYTES];
    plain_token(FORGE_ED, token);
    ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
    const char *second = strchr(token, '.') + 1, *third = strchr(second, '.') + 1;
    const int first_bytes = (int)(second - token - 1), second_bytes = (int)(third - second - 1);
    const struct {
        const char *before;
        int header_bytes, payload_bytes;
        const char *between, *signature, *after;
    } rows[] = {
        {"", first_bytes, second_bytes, "", "", ""},
        {"", first_bytes, 0, ".", third, ""},
        {"", 0, second_bytes, ".", third, ""},
        {"", first_bytes, second_bytes, ".", "", ""},
        {"", first_bytes, second_bytes, ".", third, "."},
        {".", first_bytes, second_bytes, ".", third, ""},
        {"", first_bytes, second_bytes, "..", third, ""},
        {"", first_bytes, second_bytes, ".", third, ".e.e"},
        {"", first_bytes, second_bytes, "", third, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        (void)snprintf(changed, sizeof changed, "%s%.*s.%.*s%s%s%s", rows[i].before, rows[i].header_bytes, token,
                       rows[i].payload_bytes, second, rows[i].between, rows[i].signature, rows[i].after);
        ck_assert_msg(refusal_of(jwks, changed) == EVD_TOKEN_SHAPE, "row %zu: %s", i, changed);
    }
    static const char *const others[] = {"", ".", "..", "...", "a", "a.b", "a..", ".b.", "..c", "Bearer"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(refusal_of(jwks, others[i]) == EVD_TOKEN_SHAPE, "%s", others[i]);
    ck_assert_int_eq(refusal_of_bytes(jwks, (struct evd_text){0}), EVD_TOKEN_SHAPE);
    evd_jwks_unref(jwks);
}
END_TEST

/* Put `insert` into a part, at its start, in its middle or at its end, and sign afterwards when that is a signed one.
 */
static void spoilt(unsigned part, unsigned where, const char *insert, size_t insert_bytes, struct evd_text *ret_token,
                   char token[FORGE_TOKEN_BYTES]) {
    char header[256];
    header_for("EdDSA", "ed", header);
    forge_unsigned(evd_text_from(header), evd_text_from(CLAIMS), token);
    if (part == 2) forge_sign(FORGE_ED, token);
    char *start = token;
    for (unsigned i = 0; i < part; i++)
        start = strchr(start, '.') + 1;
    char *at = start + strcspn(start, ".") * where / 2;
    memmove(at + insert_bytes, at, strlen(at) + 1);
    memcpy(at, insert, insert_bytes);
    if (part != 2 && memchr(insert, '\0', insert_bytes) == NULL) forge_sign(FORGE_ED, token);
    ret_token->bytes = token;
    ret_token->size_bytes = strlen(token);
    if (memchr(insert, '\0', insert_bytes) != NULL) ret_token->size_bytes += 1 + strlen(token + strlen(token) + 1);
}

START_TEST(nothing_but_base64url_is_decoded_in_any_part) {
    static const char *const inserts[] = {"=", "==", " ", "\n", "\t", "\r\n", "+", "/", "%", "\x80", "\xC3\xA9", "\""};
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char token[FORGE_TOKEN_BYTES];
    struct evd_text text;
    for (unsigned part = 0; part < 3; part++)
        for (unsigned where = 0; where < 3; where++)
            for (size_t i = 0; i < sizeof inserts / sizeof *inserts; i++) {
                spoilt(part, where, inserts[i], strlen(inserts[i]), &text, token);
                ck_assert_msg(refusal_of_bytes(jwks, text) == EVD_TOKEN_ENCODING, "part %u, place %u, %zu", part, where,
                              i);
            }
    for (unsigned where = 0; where < 3; where++) {
        spoilt(2, where, "\0", 1, &text, token);
        ck_assert_int_eq(refusal_of_bytes(jwks, text), EVD_TOKEN_ENCODING);
    }
    evd_jwks_unref(jwks);
}
END_TEST

/* The same bytes, spelt with a last character whose spare bits are set. */
static void respell(char *end) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *at = strchr(letters, *end);
    ck_assert(at != NULL && (at - letters) % 4 == 0); /* at least two spare bits, all zero */
    *end = at[1];
}

START_TEST(a_second_spelling_of_the_same_bytes_is_refused) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    for (unsigned part = 0; part < 3; part++) {
        char header[256] = "{\"alg\":\"EdDSA\",\"kid\":\"ed\"}", claims[512] = CLAIMS, token[FORGE_TOKEN_BYTES];
        while (strlen(header) % 3 == 0)
            (void)memcpy(header + strlen(header), " ", 2);
        while (strlen(claims) % 3 == 0)
            (void)memcpy(claims + strlen(claims), " ", 2);
        forge_unsigned(evd_text_from(header), evd_text_from(claims), token);
        if (part == 0) respell(strchr(token, '.') - 1);
        if (part == 1) respell(token + strlen(token) - 1);
        forge_sign(FORGE_ED, token);
        if (part == 2) respell(token + strlen(token) - 1);
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_ENCODING);
    }
    for (unsigned part = 0; part < 2; part++) { /* whole groups of four, and one character that says nothing */
        char header[256] = "{\"alg\":\"EdDSA\",\"kid\":\"ed\"}", claims[512] = CLAIMS, token[FORGE_TOKEN_BYTES];
        char *padded = part == 0 ? header : claims;
        while (strlen(padded) % 3 != 0)
            (void)memcpy(padded + strlen(padded), " ", 2);
        forge_unsigned(evd_text_from(header), evd_text_from(claims), token);
        char *end = part == 0 ? strchr(token, '.') : token + strlen(token);
        memmove(end + 1, end, strlen(end) + 1);
        *end = 'A';
        forge_sign(FORGE_ED, token);
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_ENCODING);
    }
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(a_token_may_be_as_large_as_the_limit_and_no_byte_larger) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char token[FORGE_TOKEN_BYTES], claims[12 * 1024];
    bool met = false;
    for (unsigned wide = 0; wide < 2; wide++) /* a part never has one character more than a multiple of four */
        for (int pad = 5500; pad < 6100; pad++) {
            (void)snprintf(claims, sizeof claims, "%*s%s", pad, "", CLAIMS);
            forge_token(FORGE_ED, wide ? "{\"alg\":\"EdDSA\",\"kid\":\"ed\"} " : "{\"alg\":\"EdDSA\",\"kid\":\"ed\"}",
                        claims, token);
            bool fits = strlen(token) <= EVD_LIMIT_TOKEN_BYTES;
            met = met || strlen(token) == EVD_LIMIT_TOKEN_BYTES;
            ck_assert_int_eq(refusal_of(jwks, token), fits ? EVD_TOKEN_NOT_REFUSED : EVD_TOKEN_TOO_LARGE);
        }
    ck_assert(met);
    size_t huge_bytes = 64 * EVD_MIB;
    char *huge = malloc(huge_bytes);
    memset(huge, 'A', huge_bytes);
    ck_assert_int_eq(refusal_of_bytes(jwks, (struct evd_text){huge, huge_bytes}), EVD_TOKEN_TOO_LARGE);
    free(huge);
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(no_character_of_a_token_can_be_changed_or_cut_off) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    static const char others[] = "A_9z.=";
    for (unsigned key = 0; key < FORGE_KEYS; key++) {
        char token[FORGE_TOKEN_BYTES];
        plain_token(key, token);
        size_t size_bytes = strlen(token);
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
        for (size_t at = 0; at < size_bytes; at++) {
            ck_assert_int_ne(refusal_of_bytes(jwks, (struct evd_text){token, at}), EVD_TOKEN_NOT_REFUSED);
            char kept = token[at];
            for (size_t i = 0; i < sizeof others - 1; i++) {
                if (others[i] == kept) continue;
                token[at] = others[i];
                ck_assert_msg(refusal_of(jwks, token) != EVD_TOKEN_NOT_REFUSED, "%s: %s", forge_algorithm(key), token);
            }
            token[at] = kept;
        }
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
    }
    evd_jwks_unref(jwks);
}
END_TEST

/* ---- key and algorithm ---- */

START_TEST(a_key_takes_no_algorithm_but_its_own_and_no_signature_but_its_own) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    for (unsigned named = 0; named < FORGE_KEYS; named++)
        for (unsigned algorithm = 0; algorithm < FORGE_KEYS; algorithm++)
            for (unsigned signer = 0; signer < FORGE_KEYS; signer++) {
                char header[256], token[FORGE_TOKEN_BYTES];
                header_for(forge_algorithm(algorithm), forge_id(named), header);
                forge_token(signer, header, CLAIMS, token);
                enum evd_token_refusal expected = algorithm != named ? EVD_TOKEN_KEY_ALGORITHM
                                                  : signer != named  ? EVD_TOKEN_SIGNATURE
                                                                     : EVD_TOKEN_NOT_REFUSED;
                ck_assert_int_eq(refusal_of(jwks, token), expected);
            }
    evd_jwks_unref(jwks);
}
END_TEST

static void sign_symmetrically(const void *secret, size_t secret_bytes, char token[FORGE_TOKEN_BYTES]) {
    uint8_t signature[EVP_MAX_MD_SIZE];
    unsigned size_bytes = 0;
    size_t at = strlen(token);
    ck_assert_ptr_nonnull(
        HMAC(EVP_sha256(), secret, (int)secret_bytes, (const uint8_t *)token, at, signature, &size_bytes));
    token[at++] = '.';
    (void)evd_base64url_encode(signature, size_bytes, token + at);
}

START_TEST(a_public_key_used_as_a_shared_secret_forges_nothing) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    for (unsigned key = 0; key < FORGE_KEYS; key++) {
        BIO *pem = BIO_new(BIO_s_mem());
        ck_assert_int_eq(PEM_write_bio_PUBKEY(pem, forge_pairs[key]), 1);
        char *secret = NULL;
        long secret_bytes = BIO_get_mem_data(pem, &secret);
        static const char *const algorithms[] = {"HS256", NULL};
        for (unsigned i = 0; i < 2; i++) { /* under its true name, and under the key's */
            char header[256], token[FORGE_TOKEN_BYTES];
            header_for(algorithms[i] == NULL ? forge_algorithm(key) : algorithms[i], forge_id(key), header);
            forge_unsigned(evd_text_from(header), evd_text_from(CLAIMS), token);
            sign_symmetrically(secret, (size_t)secret_bytes, token);
            ck_assert_int_eq(refusal_of(jwks, token), i == 0 ? EVD_TOKEN_ALGORITHM : EVD_TOKEN_SIGNATURE);
        }
        BIO_free(pem);
    }
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(a_signature_of_a_wrong_length_or_all_zero_is_wrong) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    static const size_t sizes[] = {1, 2, 63, 64, 65, 70, 72, 255, 256, 257, 512, 4096};
    static const uint8_t bytes[4096];
    for (unsigned key = 0; key < FORGE_KEYS; key++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char header[256], token[FORGE_TOKEN_BYTES];
            header_for(forge_algorithm(key), forge_id(key), header);
            forge_unsigned(evd_text_from(header), evd_text_from(CLAIMS), token);
            size_t at = strlen(token);
            token[at++] = '.';
            (void)evd_base64url_encode(bytes, sizes[i], token + at);
            ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_SIGNATURE);
        }
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(a_signature_with_a_byte_more_or_less_is_wrong) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    for (unsigned key = 0; key < FORGE_KEYS; key++)
        for (unsigned more = 0; more < 2; more++) {
            char token[FORGE_TOKEN_BYTES];
            uint8_t signature[512] = {0};
            size_t size_bytes;
            plain_token(key, token);
            char *at = strrchr(token, '.') + 1;
            ck_assert(evd_base64url_decode(evd_text_from(at), signature, sizeof signature, &size_bytes));
            (void)evd_base64url_encode(signature, size_bytes, at);
            ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
            (void)evd_base64url_encode(signature, more ? size_bytes + 1 : size_bytes - 1, at);
            ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_SIGNATURE);
        }
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(an_ecdsa_signature_in_der_is_wrong) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char token[FORGE_TOKEN_BYTES], header[256];
    uint8_t signature[128];
    size_t size_bytes = sizeof signature;
    header_for("ES256", "ec", header);
    forge_unsigned(evd_text_from(header), evd_text_from(CLAIMS), token);
    size_t at = strlen(token);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    ck_assert_int_eq(EVP_DigestSignInit_ex(context, NULL, "SHA256", NULL, NULL, forge_pairs[FORGE_EC], NULL), 1);
    ck_assert_int_eq(EVP_DigestSign(context, signature, &size_bytes, (const uint8_t *)token, at), 1);
    EVP_MD_CTX_free(context);
    token[at++] = '.';
    (void)evd_base64url_encode(signature, size_bytes, token + at);
    ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_SIGNATURE);
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(an_ecdsa_signature_holds_whatever_its_numbers_begin_with) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    bool high_seen = false, low_seen = false, short_seen = false;
    for (unsigned i = 0; i < 3000 && !(high_seen && low_seen && short_seen); i++) {
        char token[FORGE_TOKEN_BYTES];
        uint8_t raw[64];
        size_t size_bytes;
        plain_token(FORGE_EC, token); /* a fresh nonce each time */
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
        ck_assert(evd_base64url_decode(evd_text_from(strrchr(token, '.') + 1), raw, sizeof raw, &size_bytes));
        for (unsigned half = 0; half < sizeof raw; half += 32) {
            high_seen = high_seen || raw[half] >= 0x80;
            low_seen = low_seen || (raw[half] < 0x80 && raw[half] > 0);
            short_seen = short_seen || raw[half] == 0;
        }
    }
    ck_assert(high_seen && low_seen && short_seen);
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(a_token_may_leave_its_key_unnamed_only_when_there_is_one_key) {
    struct evd_jwks *three = forge_jwks_of(forge_jwks);
    for (unsigned key = 0; key < FORGE_KEYS; key++) {
        char header[256], token[FORGE_TOKEN_BYTES], jwk[FORGE_JWK_BYTES], json[2 * FORGE_JWK_BYTES];
        ck_assert_int_lt(forge_public(key, jwk), FORGE_JWK_BYTES);
        (void)snprintf(json, sizeof json, "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"},%s]}", jwk);
        struct evd_jwks *one = forge_jwks_of(json);
        (void)snprintf(header, sizeof header, "{\"alg\":\"%s\"}", forge_algorithm(key));
        forge_token(key, header, CLAIMS, token);
        ck_assert_int_eq(refusal_of(one, token), EVD_TOKEN_NOT_REFUSED);
        ck_assert_int_eq(refusal_of(three, token), EVD_TOKEN_KEY_UNNAMED);
        (void)snprintf(header, sizeof header, "{\"alg\":\"%s\",\"kid\":\"other\"}", forge_algorithm(key));
        forge_token(key, header, CLAIMS, token);
        ck_assert_int_eq(refusal_of(one, token), EVD_TOKEN_KEY_UNKNOWN);
        evd_jwks_unref(one);
    }
    evd_jwks_unref(three);
}
END_TEST

/* ---- what others published ---- */

START_TEST(the_examples_of_the_standards_hold_and_their_neighbours_do_not) {
    static const struct {
        const char *jwk, *header, *payload, *signature;
        enum evd_token_refusal expected; /* the first thing wrong with it behind the signature */
    } rows[] = {
        {/* RFC 7515 A.2 */
         "{\"kty\":\"RSA\",\"n\":\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEz"
         "P1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsL"
         "A9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGN"
         "j8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\",\"e\":\"AQAB\"}",
         "eyJhbGciOiJSUzI1NiJ9",
         "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
         "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUA"
         "r7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO-"
         "-xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_"
         "IoypGlUPQGe77Rw",
         EVD_TOKEN_AUDIENCE},
        {/* RFC 7515 A.3 */
         "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
         "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}",
         "eyJhbGciOiJFUzI1NiJ9",
         "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ",
         "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q", EVD_TOKEN_AUDIENCE},
        {/* RFC 8037 A.2, A.4 */
         "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
         "eyJhbGciOiJFZERTQSJ9", "RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc",
         "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg", EVD_TOKEN_CLAIMS},
    };
    struct evd_token_rules joe = {.issuer = EVD_TEXT("joe"), .audience = EVD_TEXT("evidenced")};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[2048], token[4096];
        uint8_t signature[512];
        size_t signature_bytes, message_bytes;
        (void)snprintf(json, sizeof json, "{\"keys\":[%s]}", rows[i].jwk);
        struct evd_jwks *jwks = forge_jwks_of(json);
        message_bytes = (size_t)snprintf(token, sizeof token, "%s.%s", rows[i].header, rows[i].payload);
        ck_assert(
            evd_base64url_decode(evd_text_from(rows[i].signature), signature, sizeof signature, &signature_bytes));
        struct evd_text message = {token, message_bytes};
        ck_assert_int_eq(evd_jwk_verify(evd_jwks_only(jwks), message, signature, signature_bytes),
                         EVD_JWK_SIGNATURE_HOLDS);
        signature[signature_bytes - 2] ^= 1;
        ck_assert_int_eq(evd_jwk_verify(evd_jwks_only(jwks), message, signature, signature_bytes),
                         EVD_JWK_SIGNATURE_FAILS);
        (void)snprintf(token + message_bytes, sizeof token - message_bytes, ".%s", rows[i].signature);
        struct evd_identity identity;
        enum evd_token_refusal refusal = EVD_TOKEN_NOT_REFUSED;
        ck_assert(!evd_token_verify(jwks, &joe, evd_text_from(token), INT64_C(1300819379000), &identity, &refusal));
        ck_assert_int_eq(refusal, rows[i].expected);
        evd_jwks_unref(jwks);
    }
}
END_TEST

/* ---- threads and memory ---- */

enum { THREADS = 4, ROUNDS = 60 };

static void *verify_many(void *argument) {
    struct evd_jwks *jwks = argument;
    char token[FORGE_TOKEN_BYTES];
    for (unsigned i = 0; i < ROUNDS; i++) {
        plain_token(i % FORGE_KEYS, token);
        ck_assert_int_eq(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
        token[strlen(token) - 20] ^= 1;
        ck_assert_int_ne(refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
    }
    evd_jwks_unref(jwks);
    return NULL;
}

START_TEST(many_threads_share_one_key_set_and_the_last_one_frees_it) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, verify_many, evd_jwks_ref(jwks)), 0);
    evd_jwks_unref(jwks);
    for (unsigned i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

static long allocations_left;

static void *limited_malloc(size_t size_bytes) {
    return allocations_left-- > 0 ? malloc(size_bytes) : NULL;
}

START_TEST(a_token_is_never_accepted_and_nothing_leaks_when_memory_runs_out) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char token[FORGE_TOKEN_BYTES], error[256];
    long needed = 0;
    plain_token(FORGE_ED, token);
    evd_json_memory(limited_malloc, free);
    enum evd_token_refusal refusal = EVD_TOKEN_NO_MEMORY;
    for (; refusal != EVD_TOKEN_NOT_REFUSED; needed++) {
        ck_assert_int_lt(needed, 1000);
        allocations_left = needed;
        refusal = refusal_of(jwks, token);
        ck_assert(refusal == EVD_TOKEN_NOT_REFUSED || refusal == EVD_TOKEN_NO_MEMORY);
    }
    ck_assert_int_gt(needed, 20);
    struct evd_jwks *again = NULL;
    for (long i = 0; again == NULL; i++) {
        ck_assert_int_lt(i, 1000);
        allocations_left = i;
        again = evd_jwks_new(evd_text_from(forge_jwks), error);
    }
    evd_json_memory(NULL, NULL);
    evd_jwks_unref(again);
    evd_jwks_unref(jwks);
}
END_TEST

EVD_TEST_MAIN("http: tokens on the wire", a_token_that_is_not_three_parts_is_refused,
              nothing_but_base64url_is_decoded_in_any_part, a_second_spelling_of_the_same_bytes_is_refused,
              a_token_may_be_as_large_as_the_limit_and_no_byte_larger,
              no_character_of_a_token_can_be_changed_or_cut_off,
              a_key_takes_no_algorithm_but_its_own_and_no_signature_but_its_own,
              a_public_key_used_as_a_shared_secret_forges_nothing, a_signature_of_a_wrong_length_or_all_zero_is_wrong,
              a_signature_with_a_byte_more_or_less_is_wrong, an_ecdsa_signature_in_der_is_wrong,
              an_ecdsa_signature_holds_whatever_its_numbers_begin_with,
              a_token_may_leave_its_key_unnamed_only_when_there_is_one_key,
              the_examples_of_the_standards_hold_and_their_neighbours_do_not,
              many_threads_share_one_key_set_and_the_last_one_frees_it,
              a_token_is_never_accepted_and_nothing_leaks_when_memory_runs_out)
