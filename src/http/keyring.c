#include "evidenced/http/keyring.h"

#include "evidenced/http/token_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

struct evd_keyring {
    struct evd_token_rules rules;
    struct evd_token_cache *cache;
    pthread_mutex_t mutex; /* of jwks: held to take a reference only */
    struct evd_jwks *jwks;

    struct stat seen; /* the loading thread's */
};

struct evd_keyring *evd_keyring_new(const struct evd_token_rules *rules) {
    struct evd_keyring *keyring = calloc(1, sizeof *keyring);
    if (keyring == NULL) return NULL;
    keyring->rules = *rules;
    keyring->cache = evd_token_cache_new(0);
    if (keyring->cache == NULL) {
        free(keyring);
        return NULL;
    }
    (void)pthread_mutex_init(&keyring->mutex, NULL);
    return keyring;
}

void evd_keyring_free(struct evd_keyring *keyring) {
    if (keyring == NULL) return;
    evd_jwks_unref(keyring->jwks);
    evd_token_cache_free(keyring->cache);
    (void)pthread_mutex_destroy(&keyring->mutex);
    free(keyring);
}

static bool read_whole(int fd, char *bytes, size_t capacity_bytes, size_t *ret_size_bytes) {
    size_t size_bytes = 0;
    while (size_bytes < capacity_bytes) {
        ssize_t got = read(fd, bytes + size_bytes, capacity_bytes - size_bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        size_bytes += (size_t)got;
    }
    *ret_size_bytes = size_bytes;
    return true;
}

static bool read_file(const char *path, char *bytes, size_t capacity_bytes, size_t *ret_size_bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool got = read_whole(fd, bytes, capacity_bytes, ret_size_bytes);
    int error = errno;
    (void)close(fd);
    errno = error;
    return got;
}

/* Published first, then the cache forgets: see token_cache.h. */
static void publish(struct evd_keyring *keyring, struct evd_jwks *jwks) {
    (void)pthread_mutex_lock(&keyring->mutex);
    struct evd_jwks *before = keyring->jwks;
    keyring->jwks = jwks;
    (void)pthread_mutex_unlock(&keyring->mutex);
    evd_token_cache_invalidate(keyring->cache);
    evd_jwks_unref(before);
}

bool evd_keyring_load(struct evd_keyring *keyring, const char *path, char ret_error[EVD_KEYRING_ERROR_BYTES]) {
    size_t size_bytes = 0;
    char why[256] = "";
    char *bytes = malloc(EVD_JWKS_BYTES + 1);
    (void)evd_keyring_has_changed(keyring, path);
    if (bytes == NULL || !read_file(path, bytes, EVD_JWKS_BYTES + 1, &size_bytes)) {
        (void)snprintf(ret_error, EVD_KEYRING_ERROR_BYTES, "The key set %.200s cannot be read: %s.", path,
                       strerrordesc_np(bytes == NULL ? ENOMEM : errno));
        free(bytes);
        return false;
    }
    struct evd_jwks *jwks = evd_jwks_new((struct evd_text){bytes, size_bytes}, why);
    free(bytes);
    if (jwks == NULL) {
        (void)snprintf(ret_error, EVD_KEYRING_ERROR_BYTES, "The key set %.200s cannot be used: %s", path, why);
        return false;
    }
    publish(keyring, jwks);
    return true;
}

bool evd_keyring_has_changed(struct evd_keyring *keyring, const char *path) {
    struct stat now;
    if (stat(path, &now) != 0) return false; /* being replaced; the next look tells */
    const struct stat *seen = &keyring->seen;
    bool same = now.st_ino == seen->st_ino && now.st_dev == seen->st_dev && now.st_size == seen->st_size &&
                now.st_mtim.tv_sec == seen->st_mtim.tv_sec && now.st_mtim.tv_nsec == seen->st_mtim.tv_nsec;
    keyring->seen = now;
    return !same;
}

static struct evd_jwks *jwks_of(struct evd_keyring *keyring) {
    (void)pthread_mutex_lock(&keyring->mutex);
    struct evd_jwks *jwks = keyring->jwks == NULL ? NULL : evd_jwks_ref(keyring->jwks);
    (void)pthread_mutex_unlock(&keyring->mutex);
    return jwks;
}

size_t evd_keyring_count(struct evd_keyring *keyring) {
    struct evd_jwks *jwks = jwks_of(keyring);
    size_t count = jwks == NULL ? 0 : evd_jwks_count(jwks);
    evd_jwks_unref(jwks);
    return count;
}

bool evd_keyring_recall(struct evd_keyring *keyring, struct evd_text token, int64_t now_ms,
                        struct evd_identity *ret_identity) {
    struct evd_sha256 digest = evd_sha256_of(token.bytes, token.size_bytes);
    return evd_token_cache_find(keyring->cache, &digest, now_ms, ret_identity);
}

bool evd_keyring_verify(struct evd_keyring *keyring, struct evd_text token, int64_t now_ms,
                        struct evd_identity *ret_identity, enum evd_token_refusal *ret_refusal) {
    struct evd_sha256 digest = evd_sha256_of(token.bytes, token.size_bytes);
    uint64_t generation = evd_token_cache_generation(keyring->cache);
    struct evd_jwks *jwks = jwks_of(keyring);
    if (jwks == NULL) {
        *ret_refusal = EVD_TOKEN_KEY_UNKNOWN;
        return false;
    }
    bool holds = evd_token_verify(jwks, &keyring->rules, token, now_ms, ret_identity, ret_refusal);
    evd_jwks_unref(jwks);
    if (holds) evd_token_cache_put(keyring->cache, generation, &digest, now_ms, ret_identity);
    return holds;
}
