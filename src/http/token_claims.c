#include "token_claims.h"

#include "strict_json.h"

#include <assert.h>

static const int64_t most_seconds = INT64_C(1) << 53; /* NumericDate is a JSON number: exact up to here */
static const int64_t most_leeway_ms = 600000;

enum { UUID_DERIVED = 8 };

struct times {
    int64_t expires_ms, not_before_ms, issued_ms;
};

/* RFC 7519 §2: NumericDate may have a fraction. Rounded to the millisecond. */
static bool time_of(const json_t *value, int64_t *ret_ms) {
    if (json_is_integer(value)) {
        json_int_t seconds = json_integer_value(value);
        if (seconds < -most_seconds || seconds > most_seconds) return false;
        *ret_ms = seconds * 1000;
        return true;
    }
    double seconds = json_is_real(value) ? json_real_value(value) : (double)most_seconds * 2;
    if (!(seconds >= (double)-most_seconds && seconds <= (double)most_seconds)) return false;
    *ret_ms = (int64_t)(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5));
    return true;
}

static bool optional_time(const json_t *value, int64_t absent_ms, int64_t *ret_ms) {
    if (value != NULL) return time_of(value, ret_ms);
    *ret_ms = absent_ms;
    return true;
}

static bool is_for(const json_t *audience, struct evd_text expected) {
    bool found = false;
    if (json_is_string(audience)) return evd_text_equal(evd_strict_json_text(audience), expected);
    for (size_t i = 0; i < json_array_size(audience); i++) {
        const json_t *one = json_array_get(audience, i);
        if (!json_is_string(one)) return false;
        if (evd_text_equal(evd_strict_json_text(one), expected)) found = true;
    }
    return found;
}

/* Among words separated by spaces (RFC 6749 §3.3). */
static bool has_word(struct evd_text words, struct evd_text word) {
    for (size_t from = 0; from <= words.size_bytes;) {
        size_t to = from;
        while (to < words.size_bytes && words.bytes[to] != ' ')
            to++;
        if (evd_text_equal((struct evd_text){words.bytes + from, to - from}, word)) return true;
        from = to + 1;
    }
    return false;
}

/* A text of words or a list of texts; absent is fine. False when it is something else. */
static bool scope_read(const json_t *scopes, struct evd_text wanted, bool *granted) {
    if (scopes == NULL) return true;
    if (json_is_string(scopes)) *granted = *granted || has_word(evd_strict_json_text(scopes), wanted);
    if (json_is_string(scopes)) return true;
    if (!json_is_array(scopes)) return false;
    for (size_t i = 0; i < json_array_size(scopes); i++) {
        const json_t *one = json_array_get(scopes, i);
        if (!json_is_string(one)) return false;
        if (evd_text_equal(evd_strict_json_text(one), wanted)) *granted = true;
    }
    return true;
}

static const json_t *subject_of(const json_t *claims, struct evd_text name) {
    return name.size_bytes == 0 ? json_object_get(claims, "sub")
                                : json_object_getn(claims, name.bytes, name.size_bytes);
}

/* Ids of version 8 are ours, made from keys: nobody may bring one, so that nobody can take another's. */
evd_uuid evd_token_investigator(struct evd_text issuer, struct evd_text subject) {
    evd_uuid given;
    if (evd_uuid_parse(subject, &given) && !evd_uuid_is_nil(given) && evd_uuid_version(given) != UUID_DERIVED)
        return given;
    struct evd_text parts[] = {issuer, subject};
    return evd_uuid_derive("investigator", parts, 2);
}

enum evd_token_refusal evd_token_claims_judge(const json_t *claims, const struct evd_token_rules *rules, int64_t now_ms,
                                              struct evd_identity *ret_identity) {
    struct times times;
    bool may_create = false;
    const json_t *issuer = json_object_get(claims, "iss"), *expiry = json_object_get(claims, "exp");
    struct evd_text subject = evd_strict_json_text(subject_of(claims, rules->investigator_claim));
    struct evd_text create = EVD_TEXT("evidenced:create-project");
    assert(rules->issuer.size_bytes > 0 && rules->audience.size_bytes > 0);
    assert(rules->leeway_ms >= 0 && rules->leeway_ms <= most_leeway_ms);

    if (!evd_text_equal(evd_strict_json_text(issuer), rules->issuer)) return EVD_TOKEN_ISSUER;
    if (!is_for(json_object_get(claims, "aud"), rules->audience)) return EVD_TOKEN_AUDIENCE;
    if (expiry == NULL) return EVD_TOKEN_NO_EXPIRY;
    if (!time_of(expiry, &times.expires_ms)) return EVD_TOKEN_TIME;
    if (!optional_time(json_object_get(claims, "nbf"), now_ms, &times.not_before_ms)) return EVD_TOKEN_TIME;
    if (!optional_time(json_object_get(claims, "iat"), now_ms, &times.issued_ms)) return EVD_TOKEN_TIME;
    if (now_ms - rules->leeway_ms >= times.expires_ms) return EVD_TOKEN_EXPIRED;
    if (now_ms + rules->leeway_ms < times.not_before_ms) return EVD_TOKEN_NOT_YET_VALID;
    if (now_ms + rules->leeway_ms < times.issued_ms) return EVD_TOKEN_ISSUED_LATER;
    if (subject.size_bytes == 0 || subject.size_bytes > EVD_TOKEN_SUBJECT_BYTES) return EVD_TOKEN_SUBJECT;
    if (!scope_read(json_object_get(claims, "scope"), create, &may_create)) return EVD_TOKEN_SCOPE;
    if (!scope_read(json_object_get(claims, "scp"), create, &may_create)) return EVD_TOKEN_SCOPE;

    *ret_identity = (struct evd_identity){
        .investigator = evd_token_investigator(rules->issuer, subject),
        .may_create_projects = may_create,
        .expires_ms = times.expires_ms,
    };
    return EVD_TOKEN_NOT_REFUSED;
}
