/*
 * evidencectl: the operator's command line. It never opens the store.
 */
#include "evidenced/base/clock.h"
#include "evidenced/http/token_mint.h"

#include <getopt.h>

enum { DONE = 0, FAILED = 1, MISUSED = 2 };

static const char help[] =
    "evidencectl: the operator's command line of evidenced\n"
    "\n"
    "  evidencectl key new --key FILE --jwks FILE\n"
    "      Make a key pair for trying the daemon out: the private key in --key, which only you can read,\n"
    "      and the public key set in --jwks, for evidenced --token-jwks. Nothing is overwritten.\n"
    "\n"
    "  evidencectl token --key FILE --issuer I --audience A --subject S [--scope SCOPES] [--ttl SECONDS]\n"
    "      Sign a bearer token and print it. --issuer and --audience are the daemon's --token-issuer and\n"
    "      --token-audience; --subject says who calls. --scope evidenced:create-project lets them create\n"
    "      projects. --ttl is 3600 unless given.\n"
    "\n"
    "  evidencectl --help, --version\n"
    "\n"
    "For example:\n"
    "\n"
    "  evidencectl key new --key ./key.json --jwks ./jwks.json\n"
    "  evidenced --token-jwks ./jwks.json --token-issuer me --token-audience evidenced &\n"
    "  TOKEN=$(evidencectl token --key ./key.json --issuer me --audience evidenced --subject ada \\\n"
    "          --scope evidenced:create-project)\n"
    "  curl -H \"Authorization: Bearer $TOKEN\" -H \"Idempotency-Key: $(uuidgen)\" \\\n"
    "       -H 'Content-Type: application/json' -d '{\"name\":\"My review\"}' http://127.0.0.1:8080/v1/projects\n"
    "\n"
    "Exit status: 0 done; 1 it failed, and why is on standard error; 2 the command line is wrong.\n";

static int misuse(const char *what) {
    (void)fprintf(stderr, "evidencectl: %s\nTry: evidencectl --help\n", what);
    return MISUSED;
}

static int failed(const char *why) {
    (void)fprintf(stderr, "evidencectl: %s\n", why);
    return FAILED;
}

static int say(const char *text) {
    return fputs(text, stdout) >= 0 && fflush(stdout) == 0 ? DONE : FAILED;
}

enum option_id { KEY = 1, JWKS, ISSUER, AUDIENCE, SUBJECT, SCOPE, TTL, OPTION_COUNT };

/* Takes the options of a verb apart; values[id] is NULL for those not given. */
static bool take_options(int argc, char *argv[], const char *values[OPTION_COUNT]) {
    static const struct option options[] = {
        {"key", required_argument, NULL, KEY},         {"jwks", required_argument, NULL, JWKS},
        {"issuer", required_argument, NULL, ISSUER},   {"audience", required_argument, NULL, AUDIENCE},
        {"subject", required_argument, NULL, SUBJECT}, {"scope", required_argument, NULL, SCOPE},
        {"ttl", required_argument, NULL, TTL},         {NULL, 0, NULL, 0}};
    for (;;) {
        int id = getopt_long(argc, argv, "", options, NULL);
        if (id < 0) return optind == argc;
        if (id <= 0 || id >= OPTION_COUNT) return false;
        values[id] = optarg;
    }
}

static int key_new(int argc, char *argv[]) {
    const char *values[OPTION_COUNT] = {NULL};
    char error[256];
    bool fits = argc >= 2 && strcmp(argv[1], "new") == 0 && take_options(argc - 1, argv + 1, values);
    if (!fits || values[KEY] == NULL || values[JWKS] == NULL)
        return misuse("`key new` needs --key and --jwks, each a file that does not exist yet.");
    return evd_mint_key_create(values[KEY], values[JWKS], error) ? DONE : failed(error);
}

static int print_token(const char *path, const struct evd_mint_claims *claims) {
    char error[256], token[EVD_LIMIT_TOKEN_BYTES + 1];
    struct evd_mint_key *key = evd_mint_key_open(path, error);
    if (key == NULL) return failed(error);
    bool signed_it = evd_mint_token(key, claims, token, error);
    evd_mint_key_close(key);
    if (!signed_it) return failed(error);
    int status = say(token);
    return status == DONE ? say("\n") : status;
}

static int token(int argc, char *argv[]) {
    const char *values[OPTION_COUNT] = {[TTL] = "3600", [SCOPE] = ""};
    uint64_t seconds = 0;
    if (!take_options(argc, argv, values) || values[KEY] == NULL || values[ISSUER] == NULL ||
        values[AUDIENCE] == NULL || values[SUBJECT] == NULL)
        return misuse("`token` needs --key, --issuer, --audience and --subject.");
    if (!evd_text_to_u64(evd_text_from(values[TTL]), &seconds) || seconds < 1 || seconds > EVD_MINT_LIFE_SECONDS)
        return misuse("--ttl is a number of seconds, from 1 to a year.");
    struct evd_mint_claims claims = {.issuer = evd_text_from(values[ISSUER]),
                                     .audience = evd_text_from(values[AUDIENCE]),
                                     .subject = evd_text_from(values[SUBJECT]),
                                     .scope = evd_text_from(values[SCOPE]),
                                     .issued_ms = evd_clock_wall_ms(evd_clock_system()),
                                     .life_seconds = (int64_t)seconds};
    return print_token(values[KEY], &claims);
}

int main(int argc, char *argv[]) {
    const char *verb = argc < 2 ? "" : argv[1];
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0) return say(help);
    if (strcmp(verb, "--version") == 0) return say("evidencectl " EVD_VERSION "\n");
    if (strcmp(verb, "key") == 0) return key_new(argc - 1, argv + 1);
    if (strcmp(verb, "token") == 0) return token(argc - 1, argv + 1);
    return misuse(verb[0] == '\0' ? "A verb is needed." : "There is no such verb.");
}
