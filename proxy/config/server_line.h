/*
 * config/server_line.h - twemproxy's way to write a server.
 *
 *   host:port:weight [name]      /path:weight [name]
 *
 * taken apart from the end, to the letter as twemproxy does it, since the name
 * decides which keys the server gets.  A host may stand in brackets.
 */
#ifndef CONFIG_SERVER_LINE_H
#define CONFIG_SERVER_LINE_H

#include "base/base.h"
#include "base/view.h"
#include "config/settings.h"

#define SERVER_WEIGHT_MAX INT32_MAX
#define SERVER_NAME_MAX 1024

/* Fill name, address and weight and return NULL; or return what is allowed,
 * with `server` untouched. */
const char *server_line_parse(struct view line,
                              struct server_settings *server) MUST_CHECK;

/* The name of a server that has none: "host:port" as written, but "host" when
 * the port is 11211, and "/path:" for a UNIX socket.  The caller frees. */
char *server_line_default_name(const struct address_text *address) MUST_CHECK;

/* Names are words in statistics and on the console. */
bool server_line_is_name(struct view name) MUST_CHECK;

#endif
