#include "evidenced/http/token_mint.h"

#include "evidenced/base/sha256.h"
#include "evidenced/http/token.h"

#include "base64url.h"
#include "strict_json.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ERROR_BYTES = 256,
    HALF_BYTES = 32, /* of an Ed25519 key, private or public */
    HALF_TEXT_BYTES = EVD_BASE64URL_TEXT_BYTES(HALF_BYTES),
    SIGNATURE_BYTES = 64,
    SIGNATURE_TEXT_BYTES = EVD_BASE64URL_TEXT_BYTES(SIGNATURE_BYTES),
    KEY_FILE_BYTES = 4096,
    HEADER_BYTES = 128,
    PAYLOAD_BYTES = EVD_BASE64URL_DECODED_BYTES(EVD_LIMIT_TOKEN_BYTES),
    KEY_DEPTH = 4,
    KEY_VALUES = 64,
};

struct evd_mint_key {
    EVP_PKEY *pair;
    char id[HALF_TEXT_BYTES + 1];
    char public_text[HALF_TEXT_BYTES + 1];
};

static bool failed(char ret_error[ERROR_BYTES], const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool failed(char ret_error[ERROR_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(ret_error, ERROR_BYTES, format, arguments);
    va_end(arguments);
    ERR_clear_error();
    return false;
}

/* Takes `pair`. */
static struct evd_mint_key *key_new(EVP_PKEY *pair) {
    uint8_t half[HALF_BYTES];
    size_t size_bytes = sizeof half;
    struct evd_mint_key *key = calloc(1, sizeof *key);
    if (key == NULL || pair == NULL || EVP_PKEY_get_raw_public_key(pair, half, &size_bytes) != 1) {
        EVP_PKEY_free(pair);
        free(key);
        return NULL;
    }
    key->pair = pair;
    (void)evd_base64url_encode(half, sizeof half, key->public_text);
    /* RFC 7638 §3: the required members, in this order, without white space. */
    char canonical[HEADER_BYTES];
    int size =
        snprintf(canonical, sizeof canonical, "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"%s\"}", key->public_text);
    struct evd_sha256 thumbprint = evd_sha256_of(canonical, (size_t)size);
    (void)evd_base64url_encode(thumbprint.bytes, sizeof thumbprint.bytes, key->id);
    return key;
}

void evd_mint_key_close(struct evd_mint_key *key) {
    if (key == NULL) return;
    EVP_PKEY_free(key->pair);
    free(key);
}

const char *evd_mint_key_id(const struct evd_mint_key *key) {
    return key->id;
}

static bool write_all(int file, const char *bytes, size_t size_bytes) {
    for (size_t done = 0; done < size_bytes;) {
        ssize_t wrote = write(file, bytes + done, size_bytes - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        done += (size_t)wrote;
    }
    return fsync(file) == 0;
}

/* A new file, whole and synced, or none. */
static bool file_create(const char *path, mode_t mode, const char *text, char ret_error[ERROR_BYTES]) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (file < 0 && errno == EEXIST) return failed(ret_error, "The file %s is there already; it is kept.", path);
    if (file < 0) return failed(ret_error, "The file %s cannot be made: %m.", path);
    bool wrote = write_all(file, text, strlen(text));
    int fault = errno;
    if (close(file) != 0 && wrote) {
        wrote = false;
        fault = errno;
    }
    if (wrote) return true;
    (void)unlink(path);
    errno = fault;
    return failed(ret_error, "The file %s cannot be written: %m.", path);
}

static bool private_create(const struct evd_mint_key *key, const char *path, char ret_error[ERROR_BYTES]) {
    uint8_t half[HALF_BYTES];
    char half_text[HALF_TEXT_BYTES + 1], text[512];
    size_t size_bytes = sizeof half;
    if (EVP_PKEY_get_raw_private_key(key->pair, half, &size_bytes) != 1)
        return failed(ret_error, "OpenSSL does not give the new key out.");
    (void)evd_base64url_encode(half, sizeof half, half_text);
    (void)snprintf(text, sizeof text,
                   "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"alg\":\"EdDSA\",\"use\":\"sig\",\"kid\":\"%s\",\"x\":\"%s\","
                   "\"d\":\"%s\"}\n",
                   key->id, key->public_text, half_text);
    bool made = file_create(path, S_IRUSR | S_IWUSR, text, ret_error);
    OPENSSL_cleanse(half, sizeof half);
    OPENSSL_cleanse(half_text, sizeof half_text);
    OPENSSL_cleanse(text, sizeof text);
    return made;
}

static bool public_create(const struct evd_mint_key *key, const char *path, char ret_error[ERROR_BYTES]) {
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"alg\":\"EdDSA\",\"use\":\"sig\",\"kid\":\"%s\","
                   "\"x\":\"%s\"}]}\n",
                   key->id, key->public_text);
    return file_create(path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH, text, ret_error);
}

bool evd_mint_key_create(const char *path_private, const char *path_jwks, char ret_error[ERROR_BYTES]) {
    struct evd_mint_key *key = key_new(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
    if (key == NULL) return failed(ret_error, "OpenSSL cannot make an Ed25519 key.");
    bool made = private_create(key, path_private, ret_error);
    if (made && !public_create(key, path_jwks, ret_error)) {
        (void)unlink(path_private); /* made just now, of use to nobody */
        made = false;
    }
    evd_mint_key_close(key);
    return made;
}

static bool file_read(const char *path, char text[KEY_FILE_BYTES], size_t *ret_size_bytes,
                      char ret_error[ERROR_BYTES]) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return failed(ret_error, "The key %s cannot be opened: %m.", path);
    const char *fault = NULL;
    ssize_t size = -1;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        fault = "is not a file";
    else if ((status.st_mode & S_IRWXO) != 0)
        fault = "may be read or written by anybody; take that right away first";
    else if (status.st_size >= KEY_FILE_BYTES)
        fault = "is too large for a key";
    else if ((size = pread(file, text, KEY_FILE_BYTES, 0)) != status.st_size)
        fault = "cannot be read whole";
    (void)close(file);
    if (fault != NULL) return failed(ret_error, "The key %s %s.", path, fault);
    *ret_size_bytes = (size_t)size;
    return true;
}

static bool half_read(const json_t *jwk, const char *name, uint8_t half[HALF_BYTES]) {
    size_t size_bytes;
    struct evd_text text = evd_strict_json_text(json_object_get(jwk, name));
    return text.size_bytes == HALF_TEXT_BYTES && evd_base64url_decode(text, half, HALF_BYTES, &size_bytes);
}

static struct evd_mint_key *key_from(const json_t *jwk) {
    uint8_t half[HALF_BYTES];
    struct evd_text type = evd_strict_json_text(json_object_get(jwk, "kty"));
    struct evd_text curve = evd_strict_json_text(json_object_get(jwk, "crv"));
    struct evd_text public_text = evd_strict_json_text(json_object_get(jwk, "x"));
    if (!evd_text_equal(type, EVD_TEXT("OKP")) || !evd_text_equal(curve, EVD_TEXT("Ed25519"))) return NULL;
    if (!half_read(jwk, "d", half)) return NULL;
    struct evd_mint_key *key = key_new(EVP_PKEY_new_raw_private_key_ex(NULL, "ED25519", NULL, half, sizeof half));
    OPENSSL_cleanse(half, sizeof half);
    if (key == NULL || evd_text_equal(public_text, evd_text_from(key->public_text))) return key;
    evd_mint_key_close(key);
    return NULL;
}

struct evd_mint_key *evd_mint_key_open(const char *path_private, char ret_error[ERROR_BYTES]) {
    char text[KEY_FILE_BYTES];
    size_t size_bytes = 0;
    json_t *jwk = NULL;
    struct evd_mint_key *key = NULL;
    if (!file_read(path_private, text, &size_bytes, ret_error)) return NULL;
    if (evd_strict_json_object((struct evd_text){text, size_bytes}, KEY_DEPTH, KEY_VALUES, &jwk) == EVD_STRICT_JSON_OK)
        key = key_from(jwk);
    json_decref(jwk);
    OPENSSL_cleanse(text, sizeof text);
    if (key == NULL) (void)failed(ret_error, "The key %s is not a private Ed25519 key in JWK form.", path_private);
    return key;
}

static bool claims_fault(const struct evd_mint_claims *claims, char ret_error[ERROR_BYTES]) {
    const struct {
        const char *name;
        struct evd_text text;
        size_t least_bytes, most_bytes;
    } texts[] = {{"issuer", claims->issuer, 1, EVD_MINT_TEXT_BYTES},
                 {"audience", claims->audience, 1, EVD_MINT_TEXT_BYTES},
                 {"subject", claims->subject, 1, EVD_TOKEN_SUBJECT_BYTES},
                 {"scope", claims->scope, 0, EVD_MINT_TEXT_BYTES}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t size_bytes = texts[i].text.size_bytes;
        if (size_bytes < texts[i].least_bytes || size_bytes > texts[i].most_bytes)
            return !failed(ret_error, "The %s must have %zu to %zu bytes.", texts[i].name, texts[i].least_bytes,
                           texts[i].most_bytes);
        if (size_bytes == 0) continue;
        if (!evd_text_is_utf8(texts[i].text) || memchr(texts[i].text.bytes, 0, size_bytes) != NULL)
            return !failed(ret_error, "The %s is not UTF-8 text.", texts[i].name);
    }
    if (claims->life_seconds < 1 || claims->life_seconds > EVD_MINT_LIFE_SECONDS)
        return !failed(ret_error, "A token lives 1 second to %d days.", EVD_MINT_LIFE_SECONDS / 86400);
    return false;
}

/* The claims as JSON; 0 when there is no memory or they do not fit. */
static size_t payload_print(const struct evd_mint_claims *claims, char payload[PAYLOAD_BYTES]) {
    json_int_t issued = claims->issued_ms / 1000;
    json_t *object =
        json_pack("{s:s%,s:s%,s:s%,s:I,s:I}", "iss", claims->issuer.bytes, claims->issuer.size_bytes, "aud",
                  claims->audience.bytes, claims->audience.size_bytes, "sub", claims->subject.bytes,
                  claims->subject.size_bytes, "iat", issued, "exp", issued + (json_int_t)claims->life_seconds);
    size_t size_bytes = 0;
    if (claims->scope.size_bytes == 0 ||
        json_object_set_new(object, "scope", json_stringn(claims->scope.bytes, claims->scope.size_bytes)) == 0)
        size_bytes = json_dumpb(object, payload, PAYLOAD_BYTES, JSON_COMPACT);
    json_decref(object);
    return size_bytes > PAYLOAD_BYTES ? 0 : size_bytes;
}

static bool sign(const struct evd_mint_key *key, const char *message, size_t message_bytes,
                 uint8_t signature[SIGNATURE_BYTES]) {
    size_t size_bytes = SIGNATURE_BYTES;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool done = context != NULL && EVP_DigestSignInit_ex(context, NULL, NULL, NULL, NULL, key->pair, NULL) == 1 &&
                EVP_DigestSign(context, signature, &size_bytes, (const uint8_t *)message, message_bytes) == 1;
    EVP_MD_CTX_free(context);
    return done && size_bytes == SIGNATURE_BYTES;
}

bool evd_mint_token(const struct evd_mint_key *key, const struct evd_mint_claims *claims,
                    char ret_token[EVD_LIMIT_TOKEN_BYTES + 1], char ret_error[ERROR_BYTES]) {
    char header[HEADER_BYTES], payload[PAYLOAD_BYTES];
    char token[EVD_BASE64URL_TEXT_BYTES(HEADER_BYTES) + EVD_BASE64URL_TEXT_BYTES(PAYLOAD_BYTES) + SIGNATURE_TEXT_BYTES +
               3];
    uint8_t signature[SIGNATURE_BYTES];
    if (claims_fault(claims, ret_error)) return false;
    size_t payload_bytes = payload_print(claims, payload);
    int header_bytes = snprintf(header, sizeof header, "{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\"%s\"}", key->id);
    if (payload_bytes == 0) return failed(ret_error, "The claims do not fit into one token.");
    size_t size_bytes = evd_base64url_encode(header, (size_t)header_bytes, token);
    token[size_bytes++] = '.';
    size_bytes += evd_base64url_encode(payload, payload_bytes, token + size_bytes);
    if (!sign(key, token, size_bytes, signature)) return failed(ret_error, "OpenSSL cannot sign with this key.");
    token[size_bytes++] = '.';
    size_bytes += evd_base64url_encode(signature, sizeof signature, token + size_bytes);
    if (size_bytes > EVD_LIMIT_TOKEN_BYTES) return failed(ret_error, "The claims do not fit into one token.");
    memcpy(ret_token, token, size_bytes + 1);
    return true;
}
