/*
 * A set of public keys, seen from the verifier.
 */
#ifndef EVIDENCED_HTTP_JWKS_H
#define EVIDENCED_HTTP_JWKS_H

#include "evidenced/http/token.h"
#include "jwk.h"

/** The key called `id`, or NULL. Borrowed from the set. */
const struct evd_jwk *evd_jwks_find(const struct evd_jwks *jwks, struct evd_text id);

/** The set's only key, or NULL when it has several. Borrowed from the set. */
const struct evd_jwk *evd_jwks_only(const struct evd_jwks *jwks);

#endif
