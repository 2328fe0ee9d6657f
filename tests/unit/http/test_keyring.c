#include "../../support/test.h"

#include "evidenced/http/keyring.h"
#include "evidenced/http/token_mint.h"

#include <unistd.h>

static char directory[256], path[300], error[EVD_KEYRING_ERROR_BYTES];
static struct evd_keyring *keyring;
static char token[EVD_LIMIT_TOKEN_BYTES + 1], other_token[EVD_LIMIT_TOKEN_BYTES + 1];

enum { NOW_MS = 1000000 };

/* Makes a key pair, its public half in `<directory>/<name>.jwks`, and a token signed with it. */
static void make_pair(const char *name, char ret_token[EVD_LIMIT_TOKEN_BYTES + 1]) {
    char private_path[300], jwks_path[300];
    const struct evd_mint_claims claims = {.issuer = EVD_TEXT("i"),
                                           .audience = EVD_TEXT("a"),
                                           .subject = EVD_TEXT("ada"),
                                           .issued_ms = NOW_MS,
                                           .life_seconds = 60};
    (void)snprintf(private_path, sizeof private_path, "%s/%s.key", directory, name);
    (void)snprintf(jwks_path, sizeof jwks_path, "%s/%s.jwks", directory, name);
    ck_assert_msg(evd_mint_key_create(private_path, jwks_path, error), "%s", error);
    struct evd_mint_key *key = evd_mint_key_open(private_path, error);
    ck_assert_msg(key != NULL, "%s", error);
    ck_assert(evd_mint_token(key, &claims, ret_token, error));
    evd_mint_key_close(key);
}

static void open_keyring(void) {
    const struct evd_token_rules rules = {.issuer = EVD_TEXT("i"), .audience = EVD_TEXT("a")};
    (void)snprintf(directory, sizeof directory, "%s", evd_test_directory());
    (void)snprintf(path, sizeof path, "%s/one.jwks", directory);
    make_pair("one", token);
    make_pair("two", other_token);
    keyring = evd_keyring_new(&rules);
    ck_assert_ptr_nonnull(keyring);
}

static bool verifies(const char *which) {
    struct evd_identity identity;
    enum evd_token_refusal refusal;
    return evd_keyring_verify(keyring, evd_text_from(which), NOW_MS, &identity, &refusal);
}

static bool recalls(const char *which, int64_t now_ms) {
    struct evd_identity identity;
    return evd_keyring_recall(keyring, evd_text_from(which), now_ms, &identity);
}

/* As editors and cluster secrets do it: a new file in place of the old one. */
static void replace_with(const char *name) {
    char from[300];
    (void)snprintf(from, sizeof from, "%s/%s", directory, name);
    ck_assert_int_eq(rename(from, path), 0);
}

static void write_file(const char *name, const char *text) {
    char at[300];
    (void)snprintf(at, sizeof at, "%s/%s", directory, name);
    FILE *file = fopen(at, "we");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(text, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

START_TEST(without_a_key_set_every_token_is_refused) {
    open_keyring();
    ck_assert(!verifies(token));
    ck_assert_uint_eq(evd_keyring_count(keyring), 0);
    evd_keyring_free(keyring);
}
END_TEST

START_TEST(a_verified_token_is_recalled_until_it_expires) {
    open_keyring();
    ck_assert_msg(evd_keyring_load(keyring, path, error), "%s", error);
    ck_assert_uint_eq(evd_keyring_count(keyring), 1);
    ck_assert(!recalls(token, NOW_MS));
    ck_assert(verifies(token));
    ck_assert(recalls(token, NOW_MS) && recalls(token, NOW_MS + 59999) && !recalls(token, NOW_MS + 60000));
    ck_assert(!verifies(other_token) && !recalls(other_token, NOW_MS));
    evd_keyring_free(keyring);
}
END_TEST

START_TEST(a_new_key_set_forgets_what_the_old_one_verified) {
    open_keyring();
    ck_assert(evd_keyring_load(keyring, path, error));
    ck_assert(verifies(token));
    ck_assert(!evd_keyring_has_changed(keyring, path));
    replace_with("two.jwks");
    ck_assert(evd_keyring_has_changed(keyring, path));
    ck_assert(!evd_keyring_has_changed(keyring, path)); /* once for each change */
    ck_assert(evd_keyring_load(keyring, path, error));
    ck_assert(!recalls(token, NOW_MS) && !verifies(token) && verifies(other_token));
    evd_keyring_free(keyring);
}
END_TEST

START_TEST(a_key_set_that_cannot_be_used_leaves_the_old_one) {
    static const char *const bad[] = {"", "{", "{\"keys\":[]}", "[]"};
    open_keyring();
    ck_assert(evd_keyring_load(keyring, path, error));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("bad", bad[i]);
        replace_with("bad");
        ck_assert(!evd_keyring_load(keyring, path, error));
        ck_assert_ptr_nonnull(strstr(error, path));
        ck_assert(verifies(token));
    }
    ck_assert_int_eq(unlink(path), 0);
    ck_assert(!evd_keyring_has_changed(keyring, path));
    ck_assert(!evd_keyring_load(keyring, path, error));
    ck_assert_ptr_nonnull(strstr(error, "No such file"));
    ck_assert(verifies(token));
    evd_keyring_free(keyring);
}
END_TEST

EVD_TEST_MAIN("http: keyring", without_a_key_set_every_token_is_refused, a_verified_token_is_recalled_until_it_expires,
              a_new_key_set_forgets_what_the_old_one_verified, a_key_set_that_cannot_be_used_leaves_the_old_one)
