#include "evidenced/http/token_mint.h"

#include "../../support/test.h"
#include "evidenced/http/token.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOW_MS INT64_C(1772355600999)

enum { PATH_BYTES = 512, FILE_BYTES = 4096 };

static const struct evd_mint_claims plain = {
    .issuer = EVD_TEXT_INIT("https://mint.example"),
    .audience = EVD_TEXT_INIT("evidenced"),
    .subject = EVD_TEXT_INIT("6f1c0d52-9a3b-4c1e-8f00-0123456789ab"),
    .scope = EVD_TEXT_INIT("openid evidenced:create-project"),
    .issued_ms = NOW_MS,
    .life_seconds = 600,
};

static const struct evd_token_rules rules = {.issuer = EVD_TEXT_INIT("https://mint.example"),
                                             .audience = EVD_TEXT_INIT("evidenced")};

struct paths {
    char private_key[PATH_BYTES], jwks[PATH_BYTES];
};

static struct paths fresh_paths(void) {
    const char *directory = evd_test_directory();
    struct paths paths;
    (void)snprintf(paths.private_key, PATH_BYTES, "%s/key.jwk", directory);
    (void)snprintf(paths.jwks, PATH_BYTES, "%s/jwks.json", directory);
    return paths;
}

static size_t file_text(const char *path, char ret_text[FILE_BYTES]) {
    FILE *file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    size_t size_bytes = fread(ret_text, 1, FILE_BYTES - 1, file);
    ret_text[size_bytes] = '\0';
    (void)fclose(file);
    return size_bytes;
}

static void file_write(const char *path, const char *text, mode_t mode) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(fchmod(file, mode), 0);
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    ck_assert_int_eq(close(file), 0);
}

static struct paths fresh_key(void) {
    struct paths paths = fresh_paths();
    char error[256] = "";
    ck_assert_msg(evd_mint_key_create(paths.private_key, paths.jwks, error), "%s", error);
    return paths;
}

static struct evd_mint_key *opened(const char *path) {
    char error[256] = "";
    struct evd_mint_key *key = evd_mint_key_open(path, error);
    ck_assert_msg(key != NULL, "%s", error);
    return key;
}

START_TEST(a_minted_token_verifies_with_the_public_half_and_no_other) {
    char jwks_text[FILE_BYTES], token[EVD_LIMIT_TOKEN_BYTES + 1], error[256] = "";
    for (unsigned other = 0; other < 2; other++) {
        struct paths paths = fresh_key(), others = fresh_key();
        size_t size_bytes = file_text(other ? others.jwks : paths.jwks, jwks_text);
        struct evd_jwks *jwks = evd_jwks_new((struct evd_text){jwks_text, size_bytes}, error);
        struct evd_mint_key *key = opened(paths.private_key);
        struct evd_identity identity = {0};
        enum evd_token_refusal refusal = EVD_TOKEN_NOT_REFUSED;
        ck_assert_msg(evd_mint_token(key, &plain, token, error), "%s", error);
        bool accepted = evd_token_verify(jwks, &rules, evd_text_from(token), NOW_MS, &identity, &refusal);
        ck_assert_int_eq(refusal, other ? EVD_TOKEN_KEY_UNKNOWN : EVD_TOKEN_NOT_REFUSED);
        ck_assert_int_eq(accepted, !other);
        ck_assert_int_eq(identity.may_create_projects, !other);
        if (accepted) ck_assert_int_eq(identity.expires_ms, NOW_MS / 1000 * 1000 + 600000);
        evd_mint_key_close(key);
        evd_jwks_unref(jwks);
    }
}
END_TEST

START_TEST(only_its_owner_may_read_a_new_key_and_the_public_half_holds_no_secret) {
    char text[FILE_BYTES];
    struct stat status;
    (void)umask(0);
    struct paths paths = fresh_key();
    ck_assert_int_eq(stat(paths.private_key, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    ck_assert_int_eq(stat(paths.jwks, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0644);
    (void)file_text(paths.private_key, text);
    ck_assert_ptr_nonnull(strstr(text, "\"d\""));
    (void)file_text(paths.jwks, text);
    ck_assert_ptr_null(strstr(text, "\"d\""));
}
END_TEST

START_TEST(no_file_is_ever_overwritten_and_none_is_left_half_made) {
    char before[FILE_BYTES], after[FILE_BYTES], error[256];
    struct paths paths = fresh_key(), half = fresh_paths(), target = fresh_paths();
    (void)file_text(paths.private_key, before);
    ck_assert(!evd_mint_key_create(paths.private_key, half.jwks, error));
    ck_assert_ptr_nonnull(strstr(error, "is there already"));
    (void)file_text(paths.private_key, after);
    ck_assert_str_eq(before, after);
    ck_assert_int_ne(access(half.jwks, F_OK), 0);

    ck_assert(!evd_mint_key_create(half.private_key, paths.jwks, error));
    ck_assert_int_ne(access(half.private_key, F_OK), 0);

    ck_assert_int_eq(symlink(target.private_key, half.private_key), 0); /* nor is a link followed */
    ck_assert(!evd_mint_key_create(half.private_key, half.jwks, error));
    ck_assert_int_ne(access(target.private_key, F_OK), 0);

    ck_assert(!evd_mint_key_create("/nonexistent/key.jwk", half.jwks, error));
    ck_assert_str_eq(error, "The file /nonexistent/key.jwk cannot be made: No such file or directory.");
}
END_TEST

/* RFC 8037 A.1 and A.3. */
#define RFC_D  "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"
#define RFC_X  "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
#define RFC_ID "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"

START_TEST(the_key_of_the_standard_has_the_thumbprint_of_the_standard) {
    struct paths paths = fresh_paths();
    file_write(paths.private_key,
               "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"" RFC_D "\",\"x\":\"" RFC_X "\",\"kid\":\"mine\"}", 0600);
    struct evd_mint_key *key = opened(paths.private_key);
    ck_assert_str_eq(evd_mint_key_id(key), RFC_ID);
    evd_mint_key_close(key);
    evd_mint_key_close(NULL);
}
END_TEST

START_TEST(what_is_no_private_key_of_ones_own_is_refused_and_not_quoted) {
    static const struct {
        const char *text;
        mode_t mode;
        const char *error;
    } rows[] = {
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"" RFC_D "\",\"x\":\"" RFC_X "\"}", 0604, "by anybody"},
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"" RFC_D "\",\"x\":\"" RFC_X "\"}", 0602, "by anybody"},
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" RFC_X "\"}", 0600, "not a private Ed25519 key"},
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"" RFC_D "\"}", 0600, "not a private Ed25519 key"},
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"" RFC_X "\",\"x\":\"" RFC_X "\"}", 0600, "not a private"},
        {"{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"d\":\"AA" RFC_D "\",\"x\":\"" RFC_X "\"}", 0600, "not a private"},
        {"{\"kty\":\"OKP\",\"crv\":\"X25519\",\"d\":\"" RFC_D "\",\"x\":\"" RFC_X "\"}", 0600, "not a private"},
        {"{\"kty\":\"EC\",\"crv\":\"Ed25519\",\"d\":\"" RFC_D "\",\"x\":\"" RFC_X "\"}", 0600, "not a private"},
        {"", 0600, "not a private Ed25519 key"},
        {"-----BEGIN PRIVATE KEY-----", 0600, "not a private Ed25519 key"},
    };
    char error[256];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct paths paths = fresh_paths();
        file_write(paths.private_key, rows[i].text, rows[i].mode);
        ck_assert_ptr_null(evd_mint_key_open(paths.private_key, error));
        ck_assert_msg(strstr(error, rows[i].error) != NULL, "row %zu: %s", i, error);
        ck_assert_ptr_null(strstr(error, RFC_D));
    }
    ck_assert_ptr_null(evd_mint_key_open(evd_test_directory(), error));
    ck_assert_ptr_nonnull(strstr(error, "is not a file"));
    ck_assert_ptr_null(evd_mint_key_open("/nonexistent/key", error));
    ck_assert_str_eq(error, "The key /nonexistent/key cannot be opened: No such file or directory.");
}
END_TEST

START_TEST(a_key_file_too_large_is_refused_unread) {
    char error[256], text[FILE_BYTES + 1];
    struct paths paths = fresh_paths();
    memset(text, ' ', FILE_BYTES);
    text[FILE_BYTES] = '\0';
    file_write(paths.private_key, text, 0600);
    ck_assert_ptr_null(evd_mint_key_open(paths.private_key, error));
    ck_assert_ptr_nonnull(strstr(error, "too large"));
}
END_TEST

static char long_text[EVD_MINT_TEXT_BYTES + 1];

static const char *mint_error(const struct evd_mint_key *key, struct evd_mint_claims claims, char error[256]) {
    char token[EVD_LIMIT_TOKEN_BYTES + 1] = "untouched";
    error[0] = '\0';
    if (!evd_mint_token(key, &claims, token, error)) ck_assert_str_eq(token, "untouched");
    return error;
}

START_TEST(claims_that_no_verifier_would_take_are_not_minted) {
    struct paths paths = fresh_key();
    struct evd_mint_key *key = opened(paths.private_key);
    char error[256];
    struct evd_mint_claims claims = plain;
    memset(long_text, 'a', sizeof long_text);
    const struct evd_text too_long = {long_text, sizeof long_text}, longest = {long_text, EVD_MINT_TEXT_BYTES};
#define REFUSES(member, value, expected)                                                                               \
    claims = plain;                                                                                                    \
    claims.member = (value);                                                                                           \
    ck_assert_str_eq(mint_error(key, claims, error), expected)
    REFUSES(issuer, EVD_TEXT(""), "The issuer must have 1 to 1000 bytes.");
    REFUSES(issuer, too_long, "The issuer must have 1 to 1000 bytes.");
    REFUSES(issuer, longest, "");
    REFUSES(audience, (struct evd_text){0}, "The audience must have 1 to 1000 bytes.");
    REFUSES(subject, EVD_TEXT(""), "The subject must have 1 to 255 bytes.");
    REFUSES(subject, ((struct evd_text){long_text, 256}), "The subject must have 1 to 255 bytes.");
    REFUSES(subject, ((struct evd_text){long_text, 255}), "");
    REFUSES(subject, EVD_TEXT("a\0b"), "The subject is not UTF-8 text.");
    REFUSES(subject, EVD_TEXT("\xFF"), "The subject is not UTF-8 text.");
    REFUSES(scope, too_long, "The scope must have 0 to 1000 bytes.");
    REFUSES(scope, (struct evd_text){0}, "");
    REFUSES(life_seconds, 0, "A token lives 1 second to 366 days.");
    REFUSES(life_seconds, -5, "A token lives 1 second to 366 days.");
    REFUSES(life_seconds, EVD_MINT_LIFE_SECONDS, "");
    REFUSES(life_seconds, EVD_MINT_LIFE_SECONDS + 1, "A token lives 1 second to 366 days.");
#undef REFUSES
    static char controls[3 * EVD_MINT_TEXT_BYTES]; /* each is six characters in JSON, eight in base64url */
    memset(controls, 1, sizeof controls);
    claims = plain;
    claims.issuer = claims.audience = (struct evd_text){controls, EVD_MINT_TEXT_BYTES};
    ck_assert_str_eq(mint_error(key, claims, error), "The claims do not fit into one token.");
    claims.audience = EVD_TEXT("evidenced"); /* a payload that just fits, in a token that does not */
    claims.subject = EVD_TEXT("a");
    claims.scope = EVD_TEXT("");
    ck_assert_str_eq(mint_error(key, claims, error), "The claims do not fit into one token.");
    evd_mint_key_close(key);
}
END_TEST

EVD_TEST_MAIN("http: minting tokens", a_minted_token_verifies_with_the_public_half_and_no_other,
              only_its_owner_may_read_a_new_key_and_the_public_half_holds_no_secret,
              no_file_is_ever_overwritten_and_none_is_left_half_made,
              the_key_of_the_standard_has_the_thumbprint_of_the_standard,
              what_is_no_private_key_of_ones_own_is_refused_and_not_quoted, a_key_file_too_large_is_refused_unread,
              claims_that_no_verifier_would_take_are_not_minted)
