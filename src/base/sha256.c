/* The older interface is the only one whose state is plain memory. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "evidenced/base/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <pthread.h>

/* Fetched once: looking an algorithm up by name for each digest costs more than the digest. Kept for ever. */
static EVP_MD *algorithm;
static pthread_once_t fetched = PTHREAD_ONCE_INIT;

static void fetch(void) {
    algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    if (algorithm == NULL) abort();
}

static EVP_MD_CTX *digest_open(void) {
    (void)pthread_once(&fetched, fetch);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (context == NULL || EVP_DigestInit_ex2(context, algorithm, NULL) != 1) abort();
    return context;
}

static void digest_add(EVP_MD_CTX *context, const void *bytes, size_t size_bytes) {
    if (EVP_DigestUpdate(context, bytes, size_bytes) != 1) abort();
}

static struct evd_sha256 digest_close(EVP_MD_CTX *context) {
    struct evd_sha256 digest;
    if (EVP_DigestFinal_ex(context, digest.bytes, NULL) != 1) abort();
    EVP_MD_CTX_free(context);
    return digest;
}

struct evd_sha256 evd_sha256_of(const void *bytes, size_t size_bytes) {
    EVP_MD_CTX *context = digest_open();
    digest_add(context, bytes, size_bytes);
    return digest_close(context);
}

struct evd_sha256 evd_sha256_of_parts(const struct evd_text *parts, size_t count) {
    EVP_MD_CTX *context = digest_open();
    for (size_t i = 0; i < count; i++) {
        uint8_t length[8];
        for (unsigned byte = 0; byte < sizeof length; byte++)
            length[byte] = (uint8_t)((uint64_t)parts[i].size_bytes >> (56 - 8 * byte));
        digest_add(context, length, sizeof length);
        digest_add(context, parts[i].bytes, parts[i].size_bytes);
    }
    return digest_close(context);
}

bool evd_sha256_equal(const struct evd_sha256 *a, const struct evd_sha256 *b) {
    return memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct evd_sha256_running), "OpenSSL's state fits");
_Static_assert(_Alignof(SHA256_CTX) <= _Alignof(struct evd_sha256_running), "and lies where it may");

void evd_sha256_begin(struct evd_sha256_running *running) {
    if (SHA256_Init((SHA256_CTX *)(void *)running) != 1) abort();
}

void evd_sha256_add(struct evd_sha256_running *running, const void *bytes, size_t size_bytes) {
    if (SHA256_Update((SHA256_CTX *)(void *)running, bytes, size_bytes) != 1) abort();
}

struct evd_sha256 evd_sha256_so_far(const struct evd_sha256_running *running) {
    struct evd_sha256_running copy = *running;
    struct evd_sha256 digest;
    if (SHA256_Final(digest.bytes, (SHA256_CTX *)(void *)&copy) != 1) abort();
    return digest;
}
