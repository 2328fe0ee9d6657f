/*
 * Key sets: which keys are taken, which are left out, and which spoil the whole set.
 */
#include "forge.h"

#define RSA_N                                                                                                          \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-"   \
    "pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2Cap"  \
    "Hg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h"  \
    "4FRWyuXpoQ"
#define EC_X  "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define EC_Y  "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define ED_X  "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

#define RSA_REST "\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAB\"}"
#define EC_REST  "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_Y "\"}"
#define ED_REST  "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" ED_X "\"}"
#define ED       "{\"kid\":\"ed\"," ED_REST

struct row {
    const char *keys; /* the members of "keys" */
    size_t count, skipped;
    const char *error; /* a part of the sentence; NULL: the set is taken */
};

static const struct row rows[] = {
    {ED, 1, 0, NULL},
    {"{" ED_REST, 1, 0, NULL}, /* one key needs no name */
    {"{\"kid\":\"r\"," RSA_REST ",{\"kid\":\"e\"," EC_REST "," ED, 3, 0, NULL},
    {"{\"alg\":\"RS256\"," RSA_REST, 1, 0, NULL},
    {"{\"alg\":\"ES256\"," EC_REST, 1, 0, NULL},
    {"{\"alg\":\"EdDSA\",\"use\":\"sig\",\"key_ops\":[\"sign\",\"verify\"],\"x5t\":\"x\"," ED_REST, 1, 0, NULL},

    {ED ",{\"kid\":\"ed\",\"use\":\"enc\"," RSA_REST, 1, 1, NULL}, /* a name counts only among keys in use */
    {ED ",{\"use\":\"SIG\"," RSA_REST, 1, 1, NULL},
    {ED ",{\"use\":null," RSA_REST, 1, 1, NULL},
    {ED ",{\"key_ops\":[\"sign\"]," RSA_REST, 1, 1, NULL},
    {ED ",{\"key_ops\":[]," RSA_REST, 1, 1, NULL},
    {ED ",{\"key_ops\":\"verify\"," RSA_REST, 1, 1, NULL},
    {ED ",{\"alg\":\"RS512\"," RSA_REST, 1, 1, NULL},
    {ED ",{\"alg\":\"PS256\"," RSA_REST, 1, 1, NULL},
    {ED ",{\"alg\":\"HS256\"," RSA_REST, 1, 1, NULL},
    {ED ",{\"alg\":\"RS256\"," EC_REST, 1, 1, NULL},
    {ED ",{\"alg\":1," EC_REST, 1, 1, NULL},
    {ED ",{\"kty\":\"oct\",\"k\":\"AAAA\"}", 1, 1, NULL},
    {ED ",{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"AA\",\"y\":\"AA\"}", 1, 1, NULL},
    {ED ",{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"AA\",\"y\":\"AA\"}", 1, 1, NULL},
    {ED ",{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"AA\"}", 1, 1, NULL},
    {ED ",{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"AA\"}", 1, 1, NULL},
    {ED ",{\"kty\":\"unheard-of\"}", 1, 1, NULL},

    {"", 0, 0, "no key that checks"},
    {"{\"kty\":\"oct\",\"k\":\"AAAA\"}", 0, 0, "no key that checks"},
    {"{\"use\":\"enc\"," ED_REST, 0, 0, "no key that checks"},
    {"7", 0, 0, "Key 1 of the key set is not an object"},
    {"{}", 0, 0, "has no \"kty\""},
    {"{\"kty\":[\"RSA\"]}", 0, 0, "has no \"kty\""},
    {ED "," ED, 0, 0, "Key 2 of the key set has the \"kid\" of an earlier key"},
    {ED ",{" EC_REST, 0, 0, "one of them has no \"kid\""},
    {"{\"kid\":1," ED_REST, 0, 0, "\"kid\" that is not a text"},
    {"{\"kid\":\"\"," ED_REST, 0, 0, "\"kid\" that is not a text"},
    {"{\"kid\":\"a\",\"kid\":\"b\"," ED_REST, 0, 0, "has a member twice"},

    {"{\"d\":\"" ED_X "\"," ED_REST, 0, 0, "Key 1 of the key set is a private key"},
    {ED ",{\"kid\":\"e\",\"d\":\"" EC_X "\"," EC_REST, 0, 0, "Key 2 of the key set is a private key"},
    {ED ",{\"p\":\"AQ\"," RSA_REST, 0, 0, "is a private key"},
    {ED ",{\"use\":\"enc\",\"d\":\"AQ\"," RSA_REST, 0, 0, "is a private key"},
    {ED ",{\"kty\":\"EC\",\"crv\":\"P-521\",\"d\":null}", 0, 0, "is a private key"},
    {ED ",{\"kty\":\"oct\",\"d\":\"AQ\"}", 0, 0, "is a private key"},

    {"{\"kty\":\"RSA\",\"e\":\"AQAB\"}", 0, 0, "without a readable"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\"}", 0, 0, "without a readable"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "=\",\"e\":\"AQAB\"}", 0, 0, "without a readable"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":65537}", 0, 0, "without a readable"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAAAAAAAAAB\"}", 0, 0, "without a readable"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"Aw\"}", 1, 0, NULL},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQ\"}", 0, 0, "exponent is even or less than 3"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AA\"}", 0, 0, "exponent is even or less than 3"},
    {"{\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAA\"}", 0, 0, "exponent is even or less than 3"},

    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\"}", 0, 0, "\"x\" and \"y\" of 32 bytes"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAA\",\"y\":\"" EC_Y "\"}", 0, 0, "\"x\" and \"y\" of 32 bytes"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA" EC_X "\",\"y\":\"" EC_Y "\"}", 0, 0, "of 32 bytes"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_Y "\",\"y\":\"" EC_X "\"}", 0, 0, "not on the curve"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" ZEROS "\",\"y\":\"" ZEROS "\"}", 0, 0, "not on the curve"},
    {"{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" EC_X "\",\"y\":\"" EC_X "\"}", 0, 0, "not on the curve"},

    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\"}", 0, 0, "without an \"x\" of 32 bytes"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}", 0, 0, "without an \"x\" of 32 bytes"},
    {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA" ED_X "\"}", 0, 0, "without an \"x\" of 32 bytes"},
};

static void check_set(const char *what, struct evd_text json, const struct row *row) {
    char error[256] = "untouched";
    struct evd_jwks *jwks = evd_jwks_new(json, error);
    if (row->error != NULL) {
        ck_assert_msg(jwks == NULL, "taken: %s", what);
        ck_assert_msg(strstr(error, row->error) != NULL, "%s: %s", what, error);
        ck_assert_msg(error[strlen(error) - 1] == '.', "no sentence: %s", error);
        return;
    }
    ck_assert_msg(jwks != NULL, "%s: %s", what, error);
    ck_assert_str_eq(error, "untouched");
    ck_assert_uint_eq(evd_jwks_count(jwks), row->count);
    ck_assert_uint_eq(evd_jwks_skipped(jwks), row->skipped);
    evd_jwks_unref(jwks);
}

START_TEST(each_key_is_taken_left_out_or_refused_by_what_it_says_of_itself) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char json[8192];
        (void)snprintf(json, sizeof json, "{\"keys\":[%s]}", rows[i].keys);
        check_set(rows[i].keys, evd_text_from(json), &rows[i]);
    }
}
END_TEST

START_TEST(what_is_no_key_set_is_refused) {
    static const struct {
        const char *json, *error;
    } others[] = {
        {"", "not a JSON object"},
        {"[]", "not a JSON object"},
        {"null", "not a JSON object"},
        {"{", "not a JSON object"},
        {"{}", "no list \"keys\""},
        {"{\"keys\":{}}", "no list \"keys\""},
        {"{\"keys\":null}", "no list \"keys\""},
        {"{\"keys\":[" ED "]}x", "not a JSON object"},
        {"{\"keys\":[" ED "],\"keys\":[]}", "a member twice"},
        {"{\"x\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]],\"keys\":[" ED "]}", "not a JSON object"},
        {ED, "no list \"keys\""},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check_set(others[i].json, evd_text_from(others[i].json), &(struct row){.error = others[i].error});
}
END_TEST

START_TEST(a_key_set_has_bounds) {
    char *json = calloc(1, EVD_JWKS_BYTES + 2);
    size_t at = (size_t)snprintf(json, EVD_JWKS_BYTES, "{\"keys\":[" ED);
    for (unsigned i = 1; i < EVD_JWKS_KEYS; i++)
        at += (size_t)snprintf(json + at, EVD_JWKS_BYTES - at, ",{\"kty\":\"oct\"}");
    memcpy(json + at, "]}", 3);
    check_set("64 keys", evd_text_from(json), &(struct row){.count = 1, .skipped = EVD_JWKS_KEYS - 1});
    memset(json + at + 2, ' ', EVD_JWKS_BYTES - at - 2);
    check_set("256 KiB", (struct evd_text){json, EVD_JWKS_BYTES}, &(struct row){.count = 1, .skipped = 63});
    json[EVD_JWKS_BYTES] = ' ';
    check_set("a byte more", (struct evd_text){json, EVD_JWKS_BYTES + 1}, &(struct row){.error = "larger than 256"});
    (void)snprintf(json + at, EVD_JWKS_BYTES - at, ",{\"kty\":\"oct\"}]}");
    check_set("65 keys", evd_text_from(json), &(struct row){.error = "more than 64 keys"});
    free(json);
}
END_TEST

/* A modulus of that many bytes, first and last given, zeros between. */
static void check_modulus(size_t size_bytes, uint8_t first, uint8_t second, uint8_t last, const char *error) {
    uint8_t modulus[1100] = {first, second};
    char text[1600], json[2048];
    modulus[size_bytes - 1] = last;
    (void)evd_base64url_encode(modulus, size_bytes, text);
    (void)snprintf(json, sizeof json, "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"AQAB\"}]}", text);
    check_set(text, evd_text_from(json), &(struct row){.count = 1, .error = error});
}

START_TEST(an_rsa_key_has_2048_to_8192_bits) {
    check_modulus(128, 0x80, 0, 1, "fewer than 2048 bits");
    check_modulus(256, 0x7F, 0, 1, "fewer than 2048 bits");
    check_modulus(257, 0, 0x7F, 1, "fewer than 2048 bits");
    check_modulus(256, 0x80, 0, 1, NULL);
    check_modulus(257, 0, 0x80, 1, NULL); /* a zero in front, as some write it */
    check_modulus(256, 0x80, 0, 2, "even modulus");
    check_modulus(1024, 0x80, 0, 1, NULL);
    check_modulus(1025, 0, 0x80, 1, NULL);
    check_modulus(1025, 1, 0, 1, "more than 8192 bits");
    check_modulus(1026, 1, 0, 1, "up to 8192 bits");
}
END_TEST

START_TEST(a_key_id_has_at_most_255_bytes) {
    char id[257], json[1024];
    memset(id, 'k', sizeof id);
    (void)snprintf(json, sizeof json, "{\"keys\":[{\"kid\":\"%.255s\"," ED_REST "]}", id);
    check_set("255", evd_text_from(json), &(struct row){.count = 1});
    (void)snprintf(json, sizeof json, "{\"keys\":[{\"kid\":\"%.256s\"," ED_REST "]}", id);
    check_set("256", evd_text_from(json), &(struct row){.error = "1 to 255 bytes"});
}
END_TEST

START_TEST(an_error_never_quotes_the_key) {
    char error[256];
    static const char json[] = "{\"keys\":[{\"kid\":\"very-private\",\"d\":\"c2VjcmV0\"," ED_REST "]}";
    ck_assert_ptr_null(evd_jwks_new(evd_text_from(json), error));
    ck_assert_ptr_null(strstr(error, "very-private"));
    ck_assert_ptr_null(strstr(error, "c2VjcmV0"));
}
END_TEST

EVD_TEST_MAIN("http: key sets", each_key_is_taken_left_out_or_refused_by_what_it_says_of_itself,
              what_is_no_key_set_is_refused, a_key_set_has_bounds, an_rsa_key_has_2048_to_8192_bits,
              a_key_id_has_at_most_255_bytes, an_error_never_quotes_the_key)
