/*
 * Keys and tokens of one's own, for trying the daemon out. Asks nobody.
 */
#include "say.h"

#include "evidenced/base/clock.h"
#include "evidenced/base/limits.h"
#include "evidenced/http/token_mint.h"

enum { USUAL_TTL = 3600, ERROR_BYTES = 256 };

static enum evd_ctl_exit key_new(struct evd_ctl *ctl) {
    char error[ERROR_BYTES];
    bool made = evd_mint_key_create(evd_ctl_value(ctl, EVD_CTL_OPTION_KEY_FILE),
                                    evd_ctl_value(ctl, EVD_CTL_OPTION_JWKS), error);
    return made ? EVD_CTL_DONE : EVD_CTL_FAIL(ctl, "%s", error);
}

const struct evd_ctl_verb evd_ctl_verb_key_new = {
    .name = "key new",
    .operands = "",
    .takes = EVD_CTL_TAKES(KEY_FILE) | EVD_CTL_TAKES(JWKS),
    .needs = EVD_CTL_TAKES(KEY_FILE) | EVD_CTL_TAKES(JWKS),
    .summary = "Make a key pair for trying the daemon out.",
    .details = "The private key goes to --key, which only you can read, the public key set to --jwks. Nothing is "
               "overwritten.",
    .example = "evidencectl key new --key ./key.json --jwks ./jwks.json",
    .run = key_new,
};

static struct evd_text text_of(const struct evd_ctl *ctl, enum evd_ctl_option option) {
    return evd_text_from(evd_ctl_value(ctl, option));
}

static enum evd_ctl_exit token(struct evd_ctl *ctl) {
    char error[ERROR_BYTES], minted[EVD_LIMIT_TOKEN_BYTES + 1];
    struct evd_mint_claims claims = {.issuer = text_of(ctl, EVD_CTL_OPTION_ISSUER),
                                     .audience = text_of(ctl, EVD_CTL_OPTION_AUDIENCE),
                                     .subject = text_of(ctl, EVD_CTL_OPTION_SUBJECT),
                                     .scope = text_of(ctl, EVD_CTL_OPTION_SCOPE),
                                     .issued_ms = evd_clock_wall_ms(evd_clock_system()),
                                     .life_seconds = (int64_t)evd_ctl_number(ctl, EVD_CTL_OPTION_TTL, USUAL_TTL)};
    struct evd_mint_key *key = evd_mint_key_open(evd_ctl_value(ctl, EVD_CTL_OPTION_KEY_FILE), error);
    if (key == NULL) return EVD_CTL_FAIL(ctl, "%s", error);
    bool signed_it = evd_mint_token(key, &claims, minted, error);
    evd_mint_key_close(key);
    if (!signed_it) return EVD_CTL_FAIL(ctl, "%s", error);
    evd_ctl_print_line(minted);
    return EVD_CTL_DONE;
}

const struct evd_ctl_verb evd_ctl_verb_token = {
    .name = "token",
    .operands = "",
    .takes = EVD_CTL_TAKES(KEY_FILE) | EVD_CTL_TAKES(ISSUER) | EVD_CTL_TAKES(AUDIENCE) | EVD_CTL_TAKES(SUBJECT) |
             EVD_CTL_TAKES(SCOPE) | EVD_CTL_TAKES(TTL),
    .needs = EVD_CTL_TAKES(KEY_FILE) | EVD_CTL_TAKES(ISSUER) | EVD_CTL_TAKES(AUDIENCE) | EVD_CTL_TAKES(SUBJECT),
    .summary = "Sign a bearer token and print it.",
    .details = "Issuer and audience are what the daemon was told with --token-issuer and --token-audience.",
    .example = "evidencectl token --key ./key.json --issuer me --audience evidenced --subject ada > ada.token",
    .run = token,
};

_Static_assert(EVD_MINT_LIFE_SECONDS == 31622400, "options.def says so");
