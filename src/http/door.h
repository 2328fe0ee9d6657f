/*
 * The server's door, for files that also see the store's: both name an enumerator EVD_DELETE, and nothing here uses
 * either. Include this one, first, in place of the server's own header.
 */
#ifndef EVIDENCED_SRC_HTTP_DOOR_H
#define EVIDENCED_SRC_HTTP_DOOR_H

#define EVD_DELETE EVD_HTTP_DELETE
#include "evidenced/http/server.h"
#undef EVD_DELETE

#endif
