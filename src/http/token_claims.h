/*
 * What a token says, once its signature holds.
 */
#ifndef EVIDENCED_HTTP_TOKEN_CLAIMS_H
#define EVIDENCED_HTTP_TOKEN_CLAIMS_H

#include "evidenced/http/token.h"

#include <jansson.h>

/** Judge the claims at now_ms: EVD_TOKEN_NOT_REFUSED and *ret_identity, or the first refusal that holds. Pure. */
enum evd_token_refusal evd_token_claims_judge(const json_t *claims, const struct evd_token_rules *rules, int64_t now_ms,
                                              struct evd_identity *ret_identity) __attribute__((warn_unused_result));

#endif
