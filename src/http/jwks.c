#include "jwks.h"

#include "strict_json.h"

#include <assert.h>
#include <stdatomic.h>

enum { MOST_DEPTH = 16, MOST_VALUES = 8192, ERROR_BYTES = 256 };

struct evd_jwks {
    atomic_uint references;
    size_t count, skipped;
    struct evd_jwk keys[EVD_JWKS_KEYS];
};

static bool failed(char ret_error[ERROR_BYTES], const char *what) {
    (void)snprintf(ret_error, ERROR_BYTES, "%s", what);
    return false;
}

static bool key_add(struct evd_jwks *jwks, const json_t *member, size_t place, char ret_error[ERROR_BYTES]) {
    const char *why = NULL;
    struct evd_jwk *key = &jwks->keys[jwks->count];
    switch (evd_jwk_init(member, key, &why)) {
    case EVD_JWK_SKIPPED: jwks->skipped++; return true;
    case EVD_JWK_REFUSED:
        (void)snprintf(ret_error, ERROR_BYTES, "Key %zu of the key set %s.", place, why);
        return false;
    case EVD_JWK_TAKEN: break;
    }
    struct evd_text id = {key->id, key->id_size_bytes};
    bool twice = id.size_bytes > 0 && evd_jwks_find(jwks, id) != NULL;
    jwks->count++; /* the set owns it from here on, whatever happens */
    if (!twice) return true;
    (void)snprintf(ret_error, ERROR_BYTES, "Key %zu of the key set has the \"kid\" of an earlier key.", place);
    return false;
}

/* A key that no token could name would be there to no effect, and somebody would wonder why. */
static bool all_can_be_named(const struct evd_jwks *jwks) {
    for (size_t i = 0; i < jwks->count; i++)
        if (jwks->count > 1 && jwks->keys[i].id_size_bytes == 0) return false;
    return true;
}

static bool keys_read(struct evd_jwks *jwks, const json_t *set, char ret_error[ERROR_BYTES]) {
    const json_t *keys = json_object_get(set, "keys");
    if (!json_is_array(keys)) return failed(ret_error, "The key set has no list \"keys\".");
    if (json_array_size(keys) > EVD_JWKS_KEYS) return failed(ret_error, "The key set has more than 64 keys.");
    for (size_t i = 0; i < json_array_size(keys); i++)
        if (!key_add(jwks, json_array_get(keys, i), i + 1, ret_error)) return false;
    if (jwks->count == 0)
        return failed(ret_error, "The key set has no key that checks RS256, ES256 or EdDSA signatures.");
    if (!all_can_be_named(jwks))
        return failed(ret_error, "The key set has several keys, and one of them has no \"kid\".");
    return true;
}

struct evd_jwks *evd_jwks_new(struct evd_text json, char ret_error[ERROR_BYTES]) {
    json_t *set = NULL;
    enum evd_strict_json parsed = EVD_STRICT_JSON_MALFORMED;
    if (json.size_bytes > EVD_JWKS_BYTES) {
        (void)failed(ret_error, "The key set is larger than 256 KiB.");
        return NULL;
    }
    struct evd_jwks *jwks = calloc(1, sizeof *jwks);
    if (jwks != NULL) parsed = evd_strict_json_object(json, MOST_DEPTH, MOST_VALUES, &set);
    if (jwks == NULL || parsed != EVD_STRICT_JSON_OK) {
        bool no_memory = jwks == NULL || parsed == EVD_STRICT_JSON_NO_MEMORY;
        (void)failed(ret_error, no_memory ? "There is no memory to read the key set."
                                          : "The key set is not a JSON object, or has a member twice.");
        free(jwks);
        return NULL;
    }
    atomic_init(&jwks->references, 1);
    bool read = keys_read(jwks, set, ret_error);
    json_decref(set);
    if (read) return jwks;
    evd_jwks_unref(jwks);
    return NULL;
}

struct evd_jwks *evd_jwks_ref(struct evd_jwks *jwks) {
    unsigned before = atomic_fetch_add_explicit(&jwks->references, 1, memory_order_relaxed);
    assert(before > 0);
    (void)before;
    return jwks;
}

void evd_jwks_unref(struct evd_jwks *jwks) {
    if (jwks == NULL || atomic_fetch_sub_explicit(&jwks->references, 1, memory_order_acq_rel) > 1) return;
    for (size_t i = 0; i < jwks->count; i++)
        evd_jwk_done(&jwks->keys[i]);
    free(jwks);
}

size_t evd_jwks_count(const struct evd_jwks *jwks) {
    return jwks->count;
}

size_t evd_jwks_skipped(const struct evd_jwks *jwks) {
    return jwks->skipped;
}

const struct evd_jwk *evd_jwks_find(const struct evd_jwks *jwks, struct evd_text id) {
    for (size_t i = 0; i < jwks->count; i++) {
        struct evd_text other = {jwks->keys[i].id, jwks->keys[i].id_size_bytes};
        if (other.size_bytes > 0 && evd_text_equal(other, id)) return &jwks->keys[i];
    }
    return NULL;
}

const struct evd_jwk *evd_jwks_only(const struct evd_jwks *jwks) {
    return jwks->count == 1 ? &jwks->keys[0] : NULL;
}
