#include "evidenced/http/token.h"

#include "evidenced/base/limits.h"

#include "base64url.h"
#include "jwks.h"
#include "strict_json.h"
#include "token_claims.h"

#include <assert.h>

enum { MOST_DEPTH = 16, MOST_VALUES = 1024, DECODED_BYTES = EVD_BASE64URL_DECODED_BYTES(EVD_LIMIT_TOKEN_BYTES) };

struct parts {
    struct evd_text header, payload, signature;
    struct evd_text signed_text; /* header and payload, the dot between them included */
};

const char *evd_token_refusal_text(enum evd_token_refusal refusal) {
    static const char *const texts[] = {[EVD_TOKEN_NOT_REFUSED] = "the token is accepted",
#define TEXT(id, text) [EVD_TOKEN_##id] = (text),
                                        EVD_TOKEN_REFUSALS(TEXT)
#undef TEXT
    };
    assert(refusal < EVD_TOKEN_REFUSAL_COUNT);
    return texts[refusal];
}

/* The text before the next dot; *rest is what comes behind it. False when there is no dot. */
static bool cut(struct evd_text *rest, struct evd_text *ret_part) {
    const char *dot = memchr(rest->bytes, '.', rest->size_bytes);
    if (dot == NULL) return false;
    size_t size_bytes = (size_t)(dot - rest->bytes);
    *ret_part = (struct evd_text){rest->bytes, size_bytes};
    *rest = (struct evd_text){dot + 1, rest->size_bytes - size_bytes - 1};
    return true;
}

static bool split(struct evd_text token, struct parts *ret_parts) {
    struct parts parts;
    struct evd_text rest = token;
    if (token.size_bytes == 0 || !cut(&rest, &parts.header) || !cut(&rest, &parts.payload)) return false;
    parts.signature = rest;
    parts.signed_text = (struct evd_text){token.bytes, parts.header.size_bytes + 1 + parts.payload.size_bytes};
    if (parts.header.size_bytes == 0 || parts.payload.size_bytes == 0 || parts.signature.size_bytes == 0) return false;
    if (memchr(rest.bytes, '.', rest.size_bytes) != NULL) return false;
    *ret_parts = parts;
    return true;
}

/* Decode a part and parse it; `malformed` is the refusal when it is no plain object. */
static enum evd_token_refusal object_of(struct evd_text part, enum evd_token_refusal malformed, json_t **ret_object) {
    uint8_t bytes[DECODED_BYTES];
    size_t size_bytes;
    if (!evd_base64url_decode(part, bytes, sizeof bytes, &size_bytes)) return EVD_TOKEN_ENCODING;
    struct evd_text text = {(const char *)bytes, size_bytes};
    switch (evd_strict_json_object(text, MOST_DEPTH, MOST_VALUES, ret_object)) {
    case EVD_STRICT_JSON_OK: return EVD_TOKEN_NOT_REFUSED;
    case EVD_STRICT_JSON_MALFORMED: return malformed;
    case EVD_STRICT_JSON_NO_MEMORY: return EVD_TOKEN_NO_MEMORY;
    }
    abort();
}

/* RFC 7515 §4.1.9: "application/" may be left out. RFC 9068 §4 wants both spellings of at+jwt accepted. */
static bool is_our_type(const json_t *type) {
    struct evd_text text = evd_strict_json_text(type), prefix = EVD_TEXT("application/");
    if (type == NULL) return true;
    if (!json_is_string(type)) return false;
    if (text.size_bytes > prefix.size_bytes &&
        evd_text_equal_ignoring_case((struct evd_text){text.bytes, prefix.size_bytes}, prefix))
        text = (struct evd_text){text.bytes + prefix.size_bytes, text.size_bytes - prefix.size_bytes};
    return evd_text_equal_ignoring_case(text, EVD_TEXT("JWT")) ||
           evd_text_equal_ignoring_case(text, EVD_TEXT("at+jwt"));
}

static bool is_known_algorithm(struct evd_text name) {
    return evd_text_equal(name, evd_jwk_algorithm_name(EVD_JWK_RS256)) ||
           evd_text_equal(name, evd_jwk_algorithm_name(EVD_JWK_ES256)) ||
           evd_text_equal(name, evd_jwk_algorithm_name(EVD_JWK_EDDSA));
}

static enum evd_token_refusal header_judge(const json_t *header, const struct evd_jwks *jwks,
                                           const struct evd_jwk **ret_key) {
    struct evd_text algorithm = evd_strict_json_text(json_object_get(header, "alg"));
    const json_t *id = json_object_get(header, "kid");
    const struct evd_jwk *key = id == NULL ? evd_jwks_only(jwks) : evd_jwks_find(jwks, evd_strict_json_text(id));
    if (json_object_get(header, "crit") != NULL) return EVD_TOKEN_CRITICAL;
    if (!is_our_type(json_object_get(header, "typ"))) return EVD_TOKEN_TYPE;
    if (!is_known_algorithm(algorithm)) return EVD_TOKEN_ALGORITHM;
    if (id != NULL && !json_is_string(id)) return EVD_TOKEN_KEY_ID;
    if (key == NULL) return id == NULL ? EVD_TOKEN_KEY_UNNAMED : EVD_TOKEN_KEY_UNKNOWN;
    if (!evd_text_equal(algorithm, evd_jwk_algorithm_name(key->algorithm))) return EVD_TOKEN_KEY_ALGORITHM;
    *ret_key = key;
    return EVD_TOKEN_NOT_REFUSED;
}

static enum evd_token_refusal header_check(struct evd_text part, const struct evd_jwks *jwks,
                                           const struct evd_jwk **ret_key) {
    json_t *header = NULL;
    enum evd_token_refusal refusal = object_of(part, EVD_TOKEN_HEADER, &header);
    if (refusal == EVD_TOKEN_NOT_REFUSED) refusal = header_judge(header, jwks, ret_key);
    json_decref(header);
    return refusal;
}

static enum evd_token_refusal signature_check(const struct parts *parts, const struct evd_jwk *key) {
    uint8_t signature[DECODED_BYTES];
    size_t size_bytes;
    if (!evd_base64url_decode(parts->signature, signature, sizeof signature, &size_bytes)) return EVD_TOKEN_ENCODING;
    switch (evd_jwk_verify(key, parts->signed_text, signature, size_bytes)) {
    case EVD_JWK_SIGNATURE_HOLDS: return EVD_TOKEN_NOT_REFUSED;
    case EVD_JWK_SIGNATURE_FAILS: return EVD_TOKEN_SIGNATURE;
    case EVD_JWK_SIGNATURE_NO_MEMORY: return EVD_TOKEN_NO_MEMORY;
    }
    abort();
}

static enum evd_token_refusal claims_check(struct evd_text part, const struct evd_token_rules *rules, int64_t now_ms,
                                           struct evd_identity *ret_identity) {
    json_t *claims = NULL;
    enum evd_token_refusal refusal = object_of(part, EVD_TOKEN_CLAIMS, &claims);
    if (refusal == EVD_TOKEN_NOT_REFUSED) refusal = evd_token_claims_judge(claims, rules, now_ms, ret_identity);
    json_decref(claims);
    return refusal;
}

static enum evd_token_refusal check(const struct evd_jwks *jwks, const struct evd_token_rules *rules,
                                    struct evd_text token, int64_t now_ms, struct evd_identity *ret_identity) {
    struct parts parts;
    const struct evd_jwk *key = NULL;
    if (token.size_bytes > EVD_LIMIT_TOKEN_BYTES) return EVD_TOKEN_TOO_LARGE;
    if (!split(token, &parts)) return EVD_TOKEN_SHAPE;
    enum evd_token_refusal refusal = header_check(parts.header, jwks, &key);
    if (refusal == EVD_TOKEN_NOT_REFUSED) refusal = signature_check(&parts, key);
    if (refusal == EVD_TOKEN_NOT_REFUSED) refusal = claims_check(parts.payload, rules, now_ms, ret_identity);
    return refusal;
}

bool evd_token_verify(const struct evd_jwks *jwks, const struct evd_token_rules *rules, struct evd_text token,
                      int64_t now_ms, struct evd_identity *ret_identity, enum evd_token_refusal *ret_refusal) {
    enum evd_token_refusal refusal = check(jwks, rules, token, now_ms, ret_identity);
    if (refusal != EVD_TOKEN_NOT_REFUSED) *ret_refusal = refusal;
    return refusal == EVD_TOKEN_NOT_REFUSED;
}
