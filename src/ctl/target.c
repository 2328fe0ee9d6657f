#define CURL_DISABLE_TYPECHECK 1 /* its macros hide our own warnings */

#include "target.h"

#include "file.h"
#include "say.h"

#include "evidenced/base/limits.h"

#include <arpa/inet.h>
#include <curl/curl.h>

enum { SOCKET_PATH_BYTES = 107 }; /* sun_path, with room for the NUL */

bool evd_ctl_target_is_control(const struct evd_ctl *ctl) {
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_CONTROL)) return true;
    return evd_ctl_value(ctl, EVD_CTL_OPTION_SERVER) == NULL;
}

static enum evd_ctl_exit find_socket(struct evd_ctl *ctl, struct evd_ctl_target *ret_target) {
    const char *path = evd_ctl_value(ctl, EVD_CTL_OPTION_CONTROL), *data = getenv("EVIDENCED_DATA");
    if (path == NULL)
        path = evd_text_print(&ctl->arena, "%s/control.sock", data == NULL || data[0] == '\0' ? "./data" : data).bytes;
    if (strlen(path) > SOCKET_PATH_BYTES)
        return evd_ctl_misuse(ctl,
                              "The path of the control socket is longer than %d bytes: use a shorter or relative one.",
                              SOCKET_PATH_BYTES);
    ret_target->socket = ctl->place = path;
    return EVD_CTL_DONE;
}

bool evd_ctl_target_is_loopback(const char *host) {
    struct in_addr address;
    if (strcasecmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0) return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* The parts of a URL; each a text of libcurl's, or NULL. */
struct parts {
    char *scheme, *host, *user, *password, *query, *fragment;
};

static void parts_done(struct parts *parts) {
    curl_free(parts->scheme);
    curl_free(parts->host);
    curl_free(parts->user);
    curl_free(parts->password);
    curl_free(parts->query);
    curl_free(parts->fragment);
}

static bool parts_read(const char *url, struct parts *ret_parts) {
    CURLU *parsed = curl_url();
    if (parsed == NULL) return false;
    bool fits = curl_url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK;
    if (fits) {
        (void)curl_url_get(parsed, CURLUPART_SCHEME, &ret_parts->scheme, 0);
        (void)curl_url_get(parsed, CURLUPART_HOST, &ret_parts->host, 0);
        (void)curl_url_get(parsed, CURLUPART_USER, &ret_parts->user, 0);
        (void)curl_url_get(parsed, CURLUPART_PASSWORD, &ret_parts->password, 0);
        (void)curl_url_get(parsed, CURLUPART_QUERY, &ret_parts->query, 0);
        (void)curl_url_get(parsed, CURLUPART_FRAGMENT, &ret_parts->fragment, 0);
    }
    curl_url_cleanup(parsed);
    return fits && ret_parts->scheme != NULL && ret_parts->host != NULL;
}

/* The URL is not quoted: it might carry a password. */
static enum evd_ctl_exit check_url(struct evd_ctl *ctl, const char *url) {
    struct parts parts = {.scheme = NULL};
    enum evd_ctl_exit status = EVD_CTL_DONE;
    bool fits = parts_read(url, &parts);
    bool is_plain = fits && strcmp(parts.scheme, "http") == 0;
    if (!fits || (!is_plain && strcmp(parts.scheme, "https") != 0))
        status = evd_ctl_misuse(ctl, "--server is a URL such as https://review.example.org.");
    else if (parts.user != NULL || parts.password != NULL)
        status = evd_ctl_misuse(ctl, "--server takes no name and password: who calls is in the token of --token-file.");
    else if (parts.query != NULL || parts.fragment != NULL)
        status = evd_ctl_misuse(ctl, "--server takes a URL without a query or a fragment.");
    else if (is_plain && !evd_ctl_target_is_loopback(parts.host) && !evd_ctl_has(ctl, EVD_CTL_OPTION_PLAIN_HTTP))
        status = evd_ctl_misuse(ctl, "Over http the token could be read on the way to another host: use https, or "
                                     "--plain-http if that is how it must be.");
    parts_done(&parts);
    return status;
}

/* RFC 6750 §2.1, and all that fits a header: whatever else a file holds is not sent anywhere. */
static bool is_token(struct evd_text text) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=";
    for (size_t i = 0; i < text.size_bytes; i++)
        if (memchr(plain, text.bytes[i], sizeof plain - 1) == NULL) return false;
    return text.size_bytes > 0;
}

static enum evd_ctl_exit read_token(struct evd_ctl *ctl, const char **ret_token) {
    const char *path = evd_ctl_value(ctl, EVD_CTL_OPTION_TOKEN_FILE);
    struct evd_text text;
    if (path == NULL) return evd_ctl_misuse(ctl, "--server needs --token-file, or the variable EVIDENCED_TOKEN_FILE.");
    enum evd_ctl_exit status = evd_ctl_file_read(ctl, path, EVD_LIMIT_TOKEN_BYTES + 2, &text);
    if (status != EVD_CTL_DONE) return status;
    text = evd_text_trim(text);
    if (!is_token(text))
        return EVD_CTL_FAIL(ctl, "%s holds no token: it is one word, as `evidencectl token` prints it.", path);
    *ret_token = evd_text_copy(&ctl->arena, text).bytes;
    return EVD_CTL_DONE;
}

static enum evd_ctl_exit find_server(struct evd_ctl *ctl, struct evd_ctl_target *ret_target) {
    struct evd_text url = evd_text_from(evd_ctl_value(ctl, EVD_CTL_OPTION_SERVER));
    enum evd_ctl_exit status = check_url(ctl, url.bytes);
    while (url.size_bytes > 0 && url.bytes[url.size_bytes - 1] == '/')
        url.size_bytes--;
    ret_target->url = ctl->place = evd_text_copy(&ctl->arena, url).bytes;
    ret_target->ca_file = evd_ctl_value(ctl, EVD_CTL_OPTION_CA_FILE);
    return status == EVD_CTL_DONE ? read_token(ctl, &ret_target->token) : status;
}

enum evd_ctl_exit evd_ctl_target_find(struct evd_ctl *ctl, struct evd_ctl_target *ret_target) {
    *ret_target = (struct evd_ctl_target){.socket = NULL};
    if (evd_ctl_has(ctl, EVD_CTL_OPTION_CONTROL) && evd_ctl_has(ctl, EVD_CTL_OPTION_SERVER))
        return evd_ctl_misuse(ctl, "Either --control or --server, not both.");
    return evd_ctl_target_is_control(ctl) ? find_socket(ctl, ret_target) : find_server(ctl, ret_target);
}
