/*
 * Keyring: the key set tokens are checked against, read from a file, and the tokens verified with it.
 *
 * Any thread authenticates; one thread loads and reloads. A file that cannot be used at a reload leaves the key set as
 * it was.
 */
#ifndef EVIDENCED_HTTP_KEYRING_H
#define EVIDENCED_HTTP_KEYRING_H

#include "evidenced/http/token.h"

struct evd_keyring;

enum { EVD_KEYRING_ERROR_BYTES = 512 };

/** rules: copied; their texts are borrowed for the keyring's life. Without a key set every token is refused. NULL
 * without memory. */
struct evd_keyring *evd_keyring_new(const struct evd_token_rules *rules);

/** NULL is fine. */
void evd_keyring_free(struct evd_keyring *keyring);

/** Read the key set in `path`. False with a sentence that names the path in ret_error, and nothing changed. */
bool evd_keyring_load(struct evd_keyring *keyring, const char *path, char ret_error[EVD_KEYRING_ERROR_BYTES])
    __attribute__((warn_unused_result));

/** Is the file another one than the last that was looked at (time, size, inode)? Says so once for each change, also
 * when the file then turns out to be unusable. */
bool evd_keyring_has_changed(struct evd_keyring *keyring, const char *path);

/** Keys in use, 0 without a key set. */
size_t evd_keyring_count(struct evd_keyring *keyring);

/** Was this token verified a moment ago? Cheap. */
bool evd_keyring_recall(struct evd_keyring *keyring, struct evd_text token, int64_t now_ms,
                        struct evd_identity *ret_identity);

/** Verify the token and remember it. Costs a signature. False: *ret_refusal says why. */
bool evd_keyring_verify(struct evd_keyring *keyring, struct evd_text token, int64_t now_ms,
                        struct evd_identity *ret_identity, enum evd_token_refusal *ret_refusal)
    __attribute__((warn_unused_result));

#endif
