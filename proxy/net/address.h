/*
 * net/address.h - where a socket listens or connects.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"

/* Longest text of an address, final NUL included. */
#define ADDRESS_TEXT_MAX 128

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un un;
    } sa;
    socklen_t len;
};

/*
 * Look a host up; `host` may be a name, an IPv4 or IPv6 literal, "*" or NULL
 * for every local address.  Blocks for names: only while starting or reloading,
 * on the control thread.
 */
int address_resolve(struct address *address, const char *host, uint16_t port,
                    bool passive, struct error *error) MUST_CHECK;

/* From an IPv4 or IPv6 literal, as the system reads them.  False: it is a
 * name.  Never blocks. */
bool address_from_literal(struct address *address, const char *host,
                          uint16_t port) MUST_CHECK;

bool address_equal(const struct address *a,
                   const struct address *b) MUST_CHECK;
/* Of an IPv4 or IPv6 address. */
void address_set_port(struct address *address, uint16_t port);

int address_unix(struct address *address, const char *path,
                 struct error *error) MUST_CHECK;

/* "127.0.0.1:6379", "[::1]:6379" or "/path", or without a port "127.0.0.1" and
 * "::1"; returns text. */
const char *address_format(const struct address *address,
                           char text[ADDRESS_TEXT_MAX]);

/* Of the two ends of a connected socket; "?" when the system cannot tell.  A
 * UNIX client has no name of its own: its peer is shown as "/path:0". */
const char *address_of_peer(int fd, char text[ADDRESS_TEXT_MAX]);
const char *address_of_local(int fd, char text[ADDRESS_TEXT_MAX]);

/* The same end of a TCP socket in parts, where an IPv4 address looks like one
 * even when the listener is IPv6.  False: it is of another kind. */
bool address_of_local_host(int fd, char host[INET6_ADDRSTRLEN],
                           uint16_t *port) MUST_CHECK;

#endif
