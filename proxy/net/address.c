/*
 * net/address.c - texts to socket addresses and back.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

int
address_resolve(struct address *address, const char *host, uint16_t port,
                bool passive, struct error *error)
{
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | (passive ? AI_PASSIVE : 0),
    };
    struct addrinfo *found;
    char service[8];

    if (host != NULL && strcmp(host, "*") == 0)
        host = NULL;
    snprintf(service, sizeof(service), "%u", port);
    int failed = getaddrinfo(host, service, &hints, &found);
    if (failed != 0)
        return error_set(error, "cannot resolve %s: %s",
                         host == NULL ? "*" : host, gai_strerror(failed));
    memcpy(&address->sa, found->ai_addr, found->ai_addrlen);
    address->len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

bool
address_from_literal(struct address *address, const char *host, uint16_t port)
{
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICHOST,
    };
    struct addrinfo *found;

    if (getaddrinfo(host, NULL, &hints, &found) != 0)
        return false;
    memset(address, 0, sizeof(*address));
    memcpy(&address->sa, found->ai_addr, found->ai_addrlen);
    address->len = found->ai_addrlen;
    freeaddrinfo(found);
    address_set_port(address, port);
    return true;
}

bool
address_equal(const struct address *a, const struct address *b)
{
    return a->len == b->len && memcmp(&a->sa, &b->sa, a->len) == 0;
}

void
address_set_port(struct address *address, uint16_t port)
{
    if (address->sa.any.sa_family == AF_INET6)
        address->sa.v6.sin6_port = htons(port);
    else
        address->sa.v4.sin_port = htons(port);
}

int
address_unix(struct address *address, const char *path, struct error *error)
{
    size_t len = strlen(path);

    if (len >= sizeof(address->sa.un.sun_path))
        return error_set(error, "path of UNIX socket is too long: %s", path);
    memset(address, 0, sizeof(*address));
    address->sa.un.sun_family = AF_UNIX;
    memcpy(address->sa.un.sun_path, path, len + 1);
    address->len = sizeof(address->sa.un);
    return 0;
}

static void
format_inet(char text[ADDRESS_TEXT_MAX], const char *host, uint16_t port)
{
    bool is_v6 = strchr(host, ':') != NULL;

    if (port == 0)
        snprintf(text, ADDRESS_TEXT_MAX, "%s", host);
    else
        snprintf(text, ADDRESS_TEXT_MAX, is_v6 ? "[%s]:%u" : "%s:%u", host,
                 port);
}

const char *
address_format(const struct address *address, char text[ADDRESS_TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN] = "?";

    switch (address->sa.any.sa_family) {
    case AF_INET:
        inet_ntop(AF_INET, &address->sa.v4.sin_addr, host, sizeof(host));
        format_inet(text, host, ntohs(address->sa.v4.sin_port));
        break;
    case AF_INET6:
        inet_ntop(AF_INET6, &address->sa.v6.sin6_addr, host, sizeof(host));
        format_inet(text, host, ntohs(address->sa.v6.sin6_port));
        break;
    case AF_UNIX:
        snprintf(text, ADDRESS_TEXT_MAX, "%s",
                 address->len > offsetof(struct sockaddr_un, sun_path)
                     ? address->sa.un.sun_path
                     : "");
        break;
    default:
        snprintf(text, ADDRESS_TEXT_MAX, "?");
    }
    return text;
}

const char *
address_of_local(int fd, char text[ADDRESS_TEXT_MAX])
{
    struct address address = {.len = sizeof(address.sa)};

    if (getsockname(fd, &address.sa.any, &address.len) < 0)
        address.sa.any.sa_family = AF_UNSPEC;
    return address_format(&address, text);
}

bool
address_of_local_host(int fd, char host[INET6_ADDRSTRLEN], uint16_t *port)
{
    struct address address = {.len = sizeof(address.sa)};

    if (getsockname(fd, &address.sa.any, &address.len) < 0)
        return false;
    if (address.sa.any.sa_family == AF_INET) {
        inet_ntop(AF_INET, &address.sa.v4.sin_addr, host, INET6_ADDRSTRLEN);
        *port = ntohs(address.sa.v4.sin_port);
        return true;
    }
    if (address.sa.any.sa_family != AF_INET6)
        return false;
    const struct in6_addr *v6 = &address.sa.v6.sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(v6))
        inet_ntop(AF_INET, &v6->s6_addr[12], host, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, v6, host, INET6_ADDRSTRLEN);
    *port = ntohs(address.sa.v6.sin6_port);
    return true;
}

const char *
address_of_peer(int fd, char text[ADDRESS_TEXT_MAX])
{
    struct address address = {.len = sizeof(address.sa)};

    if (getpeername(fd, &address.sa.any, &address.len) < 0)
        address.sa.any.sa_family = AF_UNSPEC;
    if (address.sa.any.sa_family != AF_UNIX)
        return address_format(&address, text);

    char path[ADDRESS_TEXT_MAX - 2];
    char local[ADDRESS_TEXT_MAX];
    snprintf(path, sizeof(path), "%.*s", (int)sizeof(path) - 1,
             address_of_local(fd, local));
    snprintf(text, ADDRESS_TEXT_MAX, "%s:0", path);
    return text;
}
