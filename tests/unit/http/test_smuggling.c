#include "../../support/http_application.h"
#include "../../support/raw_client.h"

/* What would run if the server and a proxy before it disagreed on where the first request ends. */
#define SECOND "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"

struct attempt {
    const char *what, *bytes;
    int status;        /* 0: anything but success */
    size_t size_bytes; /* 0: bytes is terminated */
};

#define WITH_NUL(what, literal, status)                                                                                \
    { what, literal, status, sizeof(literal) - 1 }

static const struct attempt attempts[] = {
    {"two lengths", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 36\r\n\r\n" SECOND, 400, 0},
    {"two equal lengths", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n" SECOND, 400,
     0},
    {"length and coding",
     "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 400,
     0},
    {"coding and length",
     "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" SECOND, 400,
     0},
    {"two codings",
     "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
     "identity\r\n\r\n0\r\n\r\n" SECOND,
     400, 0},
    {"an unknown coding", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n" SECOND, 501, 0},
    {"a coding in a list", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n" SECOND,
     501, 0},
    {"an obscured coding", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" SECOND, 501,
     0},
    {"a coding with a tab", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n" SECOND, 411,
     0},
    {"a coding with a vertical tab",
     "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n" SECOND, 400, 0},
    {"a coding in quotes", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n" SECOND,
     501, 0},
    {"an empty coding", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n" SECOND, 501, 0},
    {"a coding in HTTP/1.0",
     "POST /now HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND,
     400, 0},
    {"chunked", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 411, 0},
    {"chunked GET", "GET /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 411, 0},
    {"a space before the colon", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SECOND,
     400, 0},
    {"a tab before the colon", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length\t: 36\r\n\r\n" SECOND, 400, 0},
    {"a space in a name", "POST /now HTTP/1.1\r\nHost: x\r\nContent Length: 36\r\n\r\n" SECOND, 400, 0},
    {"no name", "GET /now HTTP/1.1\r\nHost: x\r\n: 36\r\n\r\n" SECOND, 400, 0},
    {"no colon", "GET /now HTTP/1.1\r\nHost: x\r\nContent-Length\r\n\r\n" SECOND, 400, 0},
    {"a folded header", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n 6\r\n\r\n" SECOND, 400, 0},
    {"a folded coding", "POST /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n" SECOND, 400,
     0},
    {"a first header with a space", "GET /now HTTP/1.1\r\n Content-Length: 36\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"bare line feeds", "GET /now HTTP/1.1\nHost: x\n\n" SECOND, 400, 0},
    {"a header behind a bare line feed", "POST /now HTTP/1.1\r\nHost: x\r\nX: a\nContent-Length: 36\r\n\r\n" SECOND,
     400, 0},
    {"a bare line feed at the end", "GET /now HTTP/1.1\r\nHost: x\r\nX: a\n\r\n" SECOND, 400, 0},
    {"an empty value and a bare line feed", "GET /now HTTP/1.1\r\nHost: x\r\nX:\n\r\n" SECOND, 400, 0},
    {"a head that ends with a bare line feed", "GET /now HTTP/1.1\r\nHost: x\r\n\n" SECOND, 400, 0},
    {"a bare carriage return", "POST /now HTTP/1.1\r\nHost: x\r\nX: a\rContent-Length: 36\r\n\r\n" SECOND, 400, 0},
    WITH_NUL("a NUL in a value", "POST /now HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n" SECOND, 400),
    WITH_NUL("a NUL in a name", "POST /now HTTP/1.1\r\nHost: x\r\nX\0: a\r\n\r\n" SECOND, 400),
    WITH_NUL("a NUL in the target", "GET /now\0/x HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 400),
    WITH_NUL("a NUL in the length", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0\0006\r\n\r\n" SECOND, 400),
    {"a control character", "GET /now HTTP/1.1\r\nHost: x\r\nX: a\x01\r\n\r\n" SECOND, 400, 0},
    {"two hosts", "GET /now HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n" SECOND, 400, 0},
    {"no host", "GET /now HTTP/1.1\r\nX: y\r\n\r\n" SECOND, 400, 0},
    {"no header at all", "GET /now HTTP/1.1\r\n\r\n" SECOND, 400, 0},
    {"a list of hosts", "GET /now HTTP/1.1\r\nHost: x, y\r\n\r\n" SECOND, 400, 0},
    {"two hosts in HTTP/1.0", "GET /now HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n" SECOND, 400, 0},
    {"a signed length", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: +0\r\n\r\n" SECOND, 400, 0},
    {"a negative length", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n" SECOND, 400, 0},
    {"a hexadecimal length", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0x24\r\n\r\n" SECOND, 400, 0},
    {"a list of lengths", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 36\r\n\r\n" SECOND, 400, 0},
    {"an empty length", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n" SECOND, 400, 0},
    {"a length with a space behind it", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0 \r\n\r\n" SECOND, 400, 0},
    {"a length that overflows", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551652\r\n\r\n" SECOND,
     0, 0},
    {"a length that just fits", "POST /now HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n" SECOND,
     400, 0},
    {"two spaces before the target", "GET  /now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"a space in the target", "GET /now /x HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"another version", "GET /now HTTP/1.2\r\nHost: x\r\n\r\n" SECOND, 505, 0},
    {"a much later version", "GET /now HTTP/3.0\r\nHost: x\r\n\r\n" SECOND, 505, 0},
    {"no version", "GET /now\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"a lower-case version", "GET /now http/1.1\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"an unknown method", "SMUGGLE /now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 501, 0},
    {"a lower-case method", "get /now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 501, 0},
    {"CONNECT", "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 501, 0},
    {"TRACE", "TRACE /now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 501, 0},
    {"a body on a request that takes none", "GET /none HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n" SECOND, 413,
     0},
    {"PUT with two lengths", "PUT /now HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 36\r\n\r\n" SECOND,
     400, 0},
    {"PATCH with a length and a coding",
     "PATCH /now HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 400,
     0},
    {"PATCH in chunks", "PATCH /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 411, 0},
    {"DELETE in chunks", "DELETE /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" SECOND, 411,
     0},
    {"DELETE with an obscured coding",
     "DELETE /now HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" SECOND, 400, 0},
    {"PUT with a body where none is taken", "PUT /none HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n" SECOND, 413,
     0},
    {"PATCH with a body where none is taken", "PATCH /none HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n" SECOND,
     413, 0},
    {"DELETE with a body where none is taken", "DELETE /none HTTP/1.1\r\nHost: x\r\nContent-Length: 36\r\n\r\n" SECOND,
     413, 0},
    {"a method that begins as one", "PATCHX /now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 501, 0},
    {"an escaped NUL", "GET /now%00 HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 400, 0},
    {"an absolute target", "GET http://x/now HTTP/1.1\r\nHost: x\r\n\r\n" SECOND, 400, 0},
};

static void try(const struct attempt *attempt) {
    struct evd_app app;
    struct evd_raw_client client;
    struct evd_raw_response response;
    evd_app_init(&app);
    evd_app_open(&app);
    evd_raw_open(&client, app.port);
    size_t size = attempt->size_bytes > 0 ? attempt->size_bytes : strlen(attempt->bytes);
    ck_assert(evd_raw_send(&client, attempt->bytes, size));
    ck_assert_msg(evd_raw_receive(&client, true, &response), "%s: no answer", attempt->what);
    ck_assert_msg(attempt->status == 0 ? response.status >= 400 : response.status == attempt->status, "%s: %d, not %d",
                  attempt->what, response.status, attempt->status);
    const char *connection = evd_raw_header(&response, "Connection");
    ck_assert_msg(connection != NULL && strcasecmp(connection, "close") == 0, "%s: kept alive", attempt->what);
    ck_assert_msg(evd_raw_drain(&client), "%s: not closed", attempt->what);
    evd_raw_close(&client);
    evd_app_close(&app);
    ck_assert_msg(!app.saw_smuggled, "%s: the second request ran", attempt->what);
    ck_assert_msg(app.wholes == 0, "%s: the first request ran", attempt->what);
}

START_TEST(what_can_be_read_in_two_ways_is_refused_and_the_connection_closed) {
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        try(&attempts[i]);
}
END_TEST

EVD_TEST_MAIN("http: smuggling", what_can_be_read_in_two_ways_is_refused_and_the_connection_closed)
