/*
 * Every row of the tables below is one change to a token that verifies, signed again with the right key unless the
 * row says otherwise: so a refusal is the work of the one check the row names.
 */
#include "forge.h"

#include "evidenced/base/limits.h"

#include <jansson.h>

#define NOW_S  INT64_C(1772355600) /* 2026-03-01T09:00:00Z */
#define ISSUER "https://login.example.org/realms/review"
#define CLAIMS                                                                                                         \
    "{\"iss\":\"" ISSUER "\",\"aud\":\"evidenced\",\"sub\":\"ada\",\"exp\":1772355900,\"nbf\":1772355590,"             \
    "\"iat\":1772355590,\"scope\":\"openid\"}"

enum { LEEWAY_MS = 30000, JSON_BYTES = 12 * 1024 };

static const struct evd_token_rules rules = {
    .issuer = EVD_TEXT_INIT(ISSUER), .audience = EVD_TEXT_INIT("evidenced"), .leeway_ms = LEEWAY_MS};

static enum evd_token_refusal refusal_of(const struct evd_jwks *jwks, const struct evd_token_rules *with,
                                         struct evd_text token, struct evd_identity *ret_identity) {
    const struct evd_identity untouched = *ret_identity;
    enum evd_token_refusal refusal = EVD_TOKEN_NOT_REFUSED;
    bool accepted = evd_token_verify(jwks, with, token, NOW_S * 1000, ret_identity, &refusal);
    ck_assert_int_eq(accepted, refusal == EVD_TOKEN_NOT_REFUSED);
    if (!accepted) ck_assert_mem_eq(&untouched, ret_identity, sizeof untouched);
    return refusal;
}

static enum evd_token_refusal plain_refusal_of(const struct evd_jwks *jwks, const char *token) {
    struct evd_identity identity = {0};
    return refusal_of(jwks, &rules, evd_text_from(token), &identity);
}

/* ---- one member changed, added or removed ---- */

enum target { HEADER, CLAIM };

struct member_row {
    enum target target;
    const char *name, *value; /* JSON; NULL: the member is removed */
    enum evd_token_refusal expected;
};

#define TEN     "aaaaaaaaaa"
#define FIFTY   TEN TEN TEN TEN TEN
#define TEXT255 FIFTY FIFTY FIFTY FIFTY FIFTY "aaaaa"

static const struct member_row refused_members[] = {
    {HEADER, "alg", "\"none\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"None\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"NONE\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"HS256\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"HS384\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"HS512\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"RS384\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"RS512\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"PS256\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"ES384\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"ES256K\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"rs256\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"ES256 \"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"eddsa\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "\"\"", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "null", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "256", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", "[\"EdDSA\"]", EVD_TOKEN_ALGORITHM},
    {HEADER, "alg", NULL, EVD_TOKEN_ALGORITHM},
    {HEADER, "kid", NULL, EVD_TOKEN_KEY_UNNAMED},
    {HEADER, "kid", "null", EVD_TOKEN_KEY_ID},
    {HEADER, "kid", "7", EVD_TOKEN_KEY_ID},
    {HEADER, "kid", "[\"ed\"]", EVD_TOKEN_KEY_ID},
    {HEADER, "kid", "\"\"", EVD_TOKEN_KEY_UNKNOWN},
    {HEADER, "kid", "\"ED\"", EVD_TOKEN_KEY_UNKNOWN},
    {HEADER, "kid", "\"ed \"", EVD_TOKEN_KEY_UNKNOWN},
    {HEADER, "kid", "\"../../dev/null\"", EVD_TOKEN_KEY_UNKNOWN},
    {HEADER, "crit", "[\"exp\"]", EVD_TOKEN_CRITICAL},
    {HEADER, "crit", "[\"b64\"]", EVD_TOKEN_CRITICAL},
    {HEADER, "crit", "[]", EVD_TOKEN_CRITICAL},
    {HEADER, "crit", "null", EVD_TOKEN_CRITICAL},
    {HEADER, "typ", "\"JWE\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"id+jwt\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"logout+jwt\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"JWT \"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"application/\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"application/application/jwt\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "\"\"", EVD_TOKEN_TYPE},
    {HEADER, "typ", "null", EVD_TOKEN_TYPE},
    {HEADER, "typ", "1", EVD_TOKEN_TYPE},
    {HEADER, "x", "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", EVD_TOKEN_HEADER},
    {CLAIM, "iss", NULL, EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "null", EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "\"\"", EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "\"https://login.example.org/realms\"", EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "\"" ISSUER "/\"", EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "\"HTTPS://login.example.org/realms/review\"", EVD_TOKEN_ISSUER},
    {CLAIM, "iss", "[\"" ISSUER "\"]", EVD_TOKEN_ISSUER},
    {CLAIM, "aud", NULL, EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "null", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "3", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "\"\"", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "\"evidence\"", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "\"Evidenced\"", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "\"evidenced other\"", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "[]", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "[\"other\",\"another\"]", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "[\"evidenced\",1]", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "[[\"evidenced\"]]", EVD_TOKEN_AUDIENCE},
    {CLAIM, "aud", "{\"evidenced\":\"evidenced\"}", EVD_TOKEN_AUDIENCE},
    {CLAIM, "exp", NULL, EVD_TOKEN_NO_EXPIRY},
    {CLAIM, "exp", "null", EVD_TOKEN_TIME},
    {CLAIM, "exp", "\"1772355900\"", EVD_TOKEN_TIME},
    {CLAIM, "exp", "true", EVD_TOKEN_TIME},
    {CLAIM, "exp", "[1772355900]", EVD_TOKEN_TIME},
    {CLAIM, "exp", "9007199254740993", EVD_TOKEN_TIME},
    {CLAIM, "exp", "9223372036854775807", EVD_TOKEN_TIME},
    {CLAIM, "exp", "-9007199254740993", EVD_TOKEN_TIME},
    {CLAIM, "exp", "1e300", EVD_TOKEN_TIME},
    {CLAIM, "exp", "-1e300", EVD_TOKEN_TIME},
    {CLAIM, "exp", "1772355570", EVD_TOKEN_EXPIRED}, /* now − leeway, to the millisecond */
    {CLAIM, "exp", "1772355570.0", EVD_TOKEN_EXPIRED},
    {CLAIM, "exp", "0", EVD_TOKEN_EXPIRED},
    {CLAIM, "exp", "-1", EVD_TOKEN_EXPIRED},
    {CLAIM, "exp", "-9007199254740992", EVD_TOKEN_EXPIRED},
    {CLAIM, "nbf", "null", EVD_TOKEN_TIME},
    {CLAIM, "nbf", "\"0\"", EVD_TOKEN_TIME},
    {CLAIM, "nbf", "1772355630.001", EVD_TOKEN_NOT_YET_VALID}, /* now + leeway and a millisecond */
    {CLAIM, "nbf", "9007199254740992", EVD_TOKEN_NOT_YET_VALID},
    {CLAIM, "iat", "false", EVD_TOKEN_TIME},
    {CLAIM, "iat", "{}", EVD_TOKEN_TIME},
    {CLAIM, "iat", "1772355630.001", EVD_TOKEN_ISSUED_LATER},
    {CLAIM, "iat", "9007199254740992", EVD_TOKEN_ISSUED_LATER},
    {CLAIM, "sub", NULL, EVD_TOKEN_SUBJECT},
    {CLAIM, "sub", "null", EVD_TOKEN_SUBJECT},
    {CLAIM, "sub", "\"\"", EVD_TOKEN_SUBJECT},
    {CLAIM, "sub", "17", EVD_TOKEN_SUBJECT},
    {CLAIM, "sub", "[\"ada\"]", EVD_TOKEN_SUBJECT},
    {CLAIM, "sub", "\"" TEXT255 "a\"", EVD_TOKEN_SUBJECT},
    {CLAIM, "scope", "null", EVD_TOKEN_SCOPE},
    {CLAIM, "scope", "1", EVD_TOKEN_SCOPE},
    {CLAIM, "scope", "[\"openid\",1]", EVD_TOKEN_SCOPE},
    {CLAIM, "scp", "{}", EVD_TOKEN_SCOPE},
    {CLAIM, "scp", "[[\"evidenced:create-project\"]]", EVD_TOKEN_SCOPE},
    {CLAIM, "x", "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", EVD_TOKEN_CLAIMS},
};

/* The neighbours of the rows above, on the right side of their line. */
static const struct member_row accepted_members[] = {
    {HEADER, "typ", NULL, EVD_TOKEN_NOT_REFUSED},
    {HEADER, "typ", "\"jwt\"", EVD_TOKEN_NOT_REFUSED},
    {HEADER, "typ", "\"AT+jwt\"", EVD_TOKEN_NOT_REFUSED},
    {HEADER, "typ", "\"application/at+JWT\"", EVD_TOKEN_NOT_REFUSED},
    {HEADER, "jku", "\"https://attacker.example/keys\"", EVD_TOKEN_NOT_REFUSED},
    {HEADER, "x", "[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "aud", "[\"other\",\"evidenced\"]", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "exp", "1772355570.001", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "exp", "1772355571", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "exp", "9007199254740992", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "exp", "9007199254740992.0", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "exp", "1.7723559e9", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "nbf", NULL, EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "nbf", "1772355630", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "nbf", "-9007199254740992", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "iat", NULL, EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "iat", "1772355630", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "sub", "\"" TEXT255 "\"", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "sub", "\" \"", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "scope", NULL, EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "scope", "\"\"", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "scope", "[]", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "x", "[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]", EVD_TOKEN_NOT_REFUSED},
    {CLAIM, "x", "\"[[[[[[[[[[ \\\" [[[[[[[[[[[[[[[[[[[[\"", EVD_TOKEN_NOT_REFUSED},
};

static void base_header(enum forge_key key, char header[JSON_BYTES]) {
    (void)snprintf(header, JSON_BYTES, "{\"alg\":\"%s\",\"kid\":\"%s\",\"typ\":\"JWT\"}", forge_algorithm(key),
                   forge_id(key));
}

static void member_change(const struct member_row *row, char json[JSON_BYTES]) {
    json_t *object = json_loads(json, 0, NULL);
    if (row->value == NULL) ck_assert_int_eq(json_object_del(object, row->name), 0);
    if (row->value != NULL) {
        json_t *value = json_loads(row->value, JSON_DECODE_ANY, NULL);
        ck_assert_int_eq(json_object_set_new(object, row->name, value), 0);
    }
    size_t size_bytes = json_dumpb(object, json, JSON_BYTES - 1, JSON_COMPACT);
    ck_assert_uint_lt(size_bytes, JSON_BYTES);
    json[size_bytes] = '\0';
    json_decref(object);
}

static void check_members(const struct member_row *rows, size_t count) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    for (unsigned key = 0; key < FORGE_KEYS; key++) {
        char base[JSON_BYTES], token[FORGE_TOKEN_BYTES];
        base_header(key, base);
        forge_token(key, base, CLAIMS, token);
        ck_assert_int_eq(plain_refusal_of(jwks, token), EVD_TOKEN_NOT_REFUSED);
        for (size_t i = 0; i < count; i++) {
            char header[JSON_BYTES], claims[JSON_BYTES] = CLAIMS;
            memcpy(header, base, sizeof header);
            member_change(&rows[i], rows[i].target == HEADER ? header : claims);
            forge_token(key, header, claims, token);
            enum evd_token_refusal refusal = plain_refusal_of(jwks, token);
            ck_assert_msg(refusal == rows[i].expected, "%s: %s = %s: \"%s\", expected \"%s\"", forge_algorithm(key),
                          rows[i].name, rows[i].value == NULL ? "(removed)" : rows[i].value,
                          evd_token_refusal_text(refusal), evd_token_refusal_text(rows[i].expected));
        }
    }
    evd_jwks_unref(jwks);
}

START_TEST(one_wrong_member_refuses_a_token_for_its_own_reason) {
    check_members(refused_members, sizeof refused_members / sizeof *refused_members);
}
END_TEST

START_TEST(what_lies_just_within_the_rules_is_accepted) {
    check_members(accepted_members, sizeof accepted_members / sizeof *accepted_members);
}
END_TEST

/* ---- the JSON itself ---- */

struct text_row {
    const char *what;
    const char *before; /* put before the object */
    const char *inside; /* put behind its opening brace */
    const char *after;  /* put behind it */
    bool accepted;
};

static const struct text_row text_rows[] = {
    {"white space around it", " \r\n\t", " ", " ", true},
    {"an unknown member", "", "\"unknown\":[1,2.5,null,\"x\"],", "", true},
    {"a member twice", "", "\"twice\":1,\"twice\":1,", "", false},
    {"an algorithm twice", "", "\"alg\":\"none\",", "", true}, /* only a header has another one */
    {"an issuer twice", "", "\"iss\":\"x\",", "", true},       /* only the claims have another one */
    {"a nested member twice", "", "\"x\":{\"a\":1,\"a\":2},", "", false},
    {"the same member, escaped", "", "\"twice\":1,\"tw\\u0069ce\":1,", "", false},
    {"a list around it", "[", "", "]", false},
    {"something behind it", "", "", "x", false},
    {"an object behind it", "", "", "{}", false},
    {"a byte order mark", "\xEF\xBB\xBF", "", "", false},
    {"a comment", "", "/**/", "", false},
    {"a bare word", "", "\"x\":NaN,", "", false},
    {"a number too large", "", "\"x\":1e400,", "", false},
    {"an integer too large", "", "\"x\":99999999999999999999,", "", false},
    {"an escaped NUL", "", "\"x\":\"\\u0000\",", "", false},
    {"half a surrogate pair", "", "\"x\":\"\\ud800\",", "", false},
    {"overlong UTF-8", "", "\"x\":\"\xC0\xAF\",", "", false},
    {"a control character", "", "\"x\":\"\x01\",", "", false},
    {"single quotes", "", "'x':1,", "", false},
    {"no end", "{\"x\":", "", "", false},
};

static void text_change(const struct text_row *row, const char *json, char ret_changed[JSON_BYTES]) {
    (void)snprintf(ret_changed, JSON_BYTES, "%s{%s%s%s", row->before, row->inside, json + 1, row->after);
}

START_TEST(a_header_or_payload_that_is_no_plain_object_is_refused) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char base[JSON_BYTES], changed[JSON_BYTES], token[FORGE_TOKEN_BYTES];
    base_header(FORGE_ED, base);
    for (size_t i = 0; i < sizeof text_rows / sizeof *text_rows; i++) {
        const struct text_row *row = &text_rows[i];
        bool doubles_header = strstr(row->inside, "alg") != NULL, doubles_claim = strstr(row->inside, "iss") != NULL;
        text_change(row, base, changed);
        forge_token(FORGE_ED, changed, CLAIMS, token);
        ck_assert_msg(plain_refusal_of(jwks, token) ==
                          (row->accepted && !doubles_header ? EVD_TOKEN_NOT_REFUSED : EVD_TOKEN_HEADER),
                      "header: %s", row->what);
        text_change(row, CLAIMS, changed);
        forge_token(FORGE_ED, base, changed, token);
        ck_assert_msg(plain_refusal_of(jwks, token) ==
                          (row->accepted && !doubles_claim ? EVD_TOKEN_NOT_REFUSED : EVD_TOKEN_CLAIMS),
                      "claims: %s", row->what);
    }
    evd_jwks_unref(jwks);
}
END_TEST

START_TEST(thousands_of_values_in_a_small_token_are_refused_before_they_are_parsed) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    char base[JSON_BYTES], changed[2 * JSON_BYTES] = "{\"x\":[", token[FORGE_TOKEN_BYTES];
    size_t at = strlen(changed);
    base_header(FORGE_ED, base);
    for (unsigned i = 0; i < 1024; i++, at += 2)
        memcpy(changed + at, "1,", 2);
    (void)snprintf(changed + at, sizeof changed - at, "1],%s", base + 1);
    forge_token(FORGE_ED, changed, CLAIMS, token);
    ck_assert_uint_lt(strlen(token), EVD_LIMIT_TOKEN_BYTES);
    ck_assert_int_eq(plain_refusal_of(jwks, token), EVD_TOKEN_HEADER);
    evd_jwks_unref(jwks);
}
END_TEST

/* ---- the identity ---- */

static struct evd_identity identity_of(const struct evd_token_rules *with, const char *claims,
                                       enum evd_token_refusal expected) {
    struct evd_jwks *jwks = forge_jwks_of(forge_jwks);
    struct evd_identity identity = {0};
    char header[JSON_BYTES], token[FORGE_TOKEN_BYTES];
    base_header(FORGE_ED, header);
    forge_token(FORGE_ED, header, claims, token);
    ck_assert_int_eq(refusal_of(jwks, with, evd_text_from(token), &identity), expected);
    evd_jwks_unref(jwks);
    return identity;
}

static evd_uuid derived(const char *subject) {
    struct evd_text parts[] = {rules.issuer, evd_text_from(subject)};
    return evd_uuid_derive("investigator", parts, 2);
}

static void check_investigator(const char *claim, const char *value, const char *expected_uuid) {
    char claims[JSON_BYTES] = CLAIMS, quoted[JSON_BYTES], text[EVD_UUID_TEXT_BYTES + 1], expected[sizeof text];
    struct evd_token_rules with = rules;
    (void)snprintf(quoted, sizeof quoted, "\"%s\"", value);
    member_change(&(struct member_row){CLAIM, claim, quoted, EVD_TOKEN_NOT_REFUSED}, claims);
    if (strcmp(claim, "sub") != 0) with.investigator_claim = evd_text_from(claim);
    evd_uuid_format(identity_of(&with, claims, EVD_TOKEN_NOT_REFUSED).investigator, text);
    evd_uuid_format(derived(value), expected);
    ck_assert_str_eq(text, expected_uuid == NULL ? expected : expected_uuid);
}

START_TEST(a_subject_that_is_a_uuid_is_the_investigator_and_any_other_is_hashed_with_the_issuer) {
    check_investigator("sub", "ada", NULL);
    check_investigator("sub", "6f1c0d52-9a3b-4c1e-8f00-0123456789ab", "6f1c0d52-9a3b-4c1e-8f00-0123456789ab");
    check_investigator("sub", "6F1C0D52-9A3B-7C1E-8F00-0123456789AB", "6f1c0d52-9a3b-7c1e-8f00-0123456789ab");
    check_investigator("sub", "6f1c0d52-9a3b-8c1e-8f00-0123456789ab", NULL); /* version 8 is ours to make */
    check_investigator("sub", "00000000-0000-0000-0000-000000000000", NULL);
    check_investigator("sub", "{6f1c0d52-9a3b-4c1e-8f00-0123456789ab}", NULL);
    check_investigator("sub", "6f1c0d529a3b4c1e8f000123456789ab", NULL);
    check_investigator("https://example.org/person", "6f1c0d52-9a3b-4c1e-8f00-0123456789ab",
                       "6f1c0d52-9a3b-4c1e-8f00-0123456789ab");
    check_investigator("employee", "E-1815", NULL);
    ck_assert(!evd_uuid_equal(derived("ada"), derived("adb")));
}
END_TEST

START_TEST(a_configured_claim_never_falls_back_to_the_subject) {
    struct evd_token_rules with = rules;
    with.investigator_claim = EVD_TEXT("employee");
    (void)identity_of(&with, CLAIMS, EVD_TOKEN_SUBJECT);
}
END_TEST

START_TEST(only_the_exact_scope_lets_somebody_create_projects) {
    static const struct {
        const char *name, *value;
        bool granted;
    } rows[] = {
        {"scope", "\"evidenced:create-project\"", true},
        {"scope", "\"openid evidenced:create-project profile\"", true},
        {"scope", "\"openid  evidenced:create-project\"", true},
        {"scope", "[\"openid\",\"evidenced:create-project\"]", true},
        {"scp", "\"evidenced:create-project email\"", true},
        {"scp", "[\"evidenced:create-project\"]", true},
        {"scope", "\"openid\"", false},
        {"scope", "\"\"", false},
        {"scope", "\"evidenced:create-projects\"", false},
        {"scope", "\"Evidenced:create-project\"", false},
        {"scope", "\"evidenced:create-project,openid\"", false},
        {"scope", "\"openid\\tevidenced:create-project\"", false},
        {"scp", "[\"evidenced:create-project email\"]", false},
        {"scopes", "\"evidenced:create-project\"", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char claims[JSON_BYTES] = CLAIMS;
        member_change(&(struct member_row){CLAIM, rows[i].name, rows[i].value, EVD_TOKEN_NOT_REFUSED}, claims);
        struct evd_identity identity = identity_of(&rules, claims, EVD_TOKEN_NOT_REFUSED);
        ck_assert_msg(identity.may_create_projects == rows[i].granted, "%s = %s", rows[i].name, rows[i].value);
        ck_assert_int_eq(identity.expires_ms, (NOW_S + 300) * 1000);
    }
}
END_TEST

START_TEST(a_sentence_about_a_token_fits_a_quoted_header_parameter) {
    for (unsigned refusal = 0; refusal < EVD_TOKEN_REFUSAL_COUNT; refusal++) {
        const char *text = evd_token_refusal_text(refusal);
        ck_assert_uint_gt(strlen(text), 10);
        for (const char *at = text; *at != '\0'; at++)
            ck_assert_msg(*at >= ' ' && *at <= '~' && *at != '"' && *at != '\\', "%s", text);
    }
}
END_TEST

EVD_TEST_MAIN("http: what a token says", one_wrong_member_refuses_a_token_for_its_own_reason,
              what_lies_just_within_the_rules_is_accepted, a_header_or_payload_that_is_no_plain_object_is_refused,
              thousands_of_values_in_a_small_token_are_refused_before_they_are_parsed,
              a_subject_that_is_a_uuid_is_the_investigator_and_any_other_is_hashed_with_the_issuer,
              a_configured_claim_never_falls_back_to_the_subject, only_the_exact_scope_lets_somebody_create_projects,
              a_sentence_about_a_token_fits_a_quoted_header_parameter)
