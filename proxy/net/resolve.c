/*
 * net/resolve.c - c-ares behind our own names.
 */
#include "net/resolve.h"

#include <ares.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/time.h>

#include "base/mem.h"

#define TRIES 2

/* A socket of c-ares that it wants to hear of. */
struct resolve_socket {
    TAILQ_ENTRY(resolve_socket) link;
    struct resolver *resolver;
    struct fd_watch watch;
    ares_socket_t fd;
};

struct resolver {
    struct loop *loop;
    ares_channel channel;
    TAILQ_HEAD(, resolve_socket) sockets;
    struct timer timer; /* c-ares has something to do */
    bool is_ending;
};

struct question {
    struct resolver *resolver;
    resolve_fn fn;
    void *arg;
};

/* --- sockets and time ------------------------------------------------------- */

static void
plan(struct resolver *resolver)
{
    struct timeval room, *next = ares_timeout(resolver->channel, NULL, &room);

    if (next == NULL)
        timer_stop(&resolver->timer);
    else
        timer_start(&resolver->timer,
                    next->tv_sec * 1000 + (next->tv_usec + 999) / 1000);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct resolver *resolver = arg;

    (void)timer;
    ares_process_fd(resolver->channel, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    plan(resolver);
}

/* It may close the socket, and free what belongs to it. */
static void
on_socket(struct fd_watch *watch, void *arg)
{
    struct resolve_socket *socket = arg;
    struct resolver *resolver = socket->resolver;

    ares_process_fd(resolver->channel,
                    watch->can_read ? socket->fd : ARES_SOCKET_BAD,
                    watch->can_write ? socket->fd : ARES_SOCKET_BAD);
    plan(resolver);
}

static struct resolve_socket *
find_socket(struct resolver *resolver, ares_socket_t fd)
{
    struct resolve_socket *socket;

    TAILQ_FOREACH(socket, &resolver->sockets, link)
    {
        if (socket->fd == fd)
            break;
    }
    return socket;
}

static struct resolve_socket *
open_socket(struct resolver *resolver, ares_socket_t fd)
{
    struct resolve_socket *socket = MEM_NEW(struct resolve_socket);

    socket->resolver = resolver;
    socket->fd = fd;
    TAILQ_INSERT_TAIL(&resolver->sockets, socket, link);
    fd_watch_start(&socket->watch, resolver->loop, fd, on_socket, socket);
    return socket;
}

static void
close_socket(struct resolve_socket *socket)
{
    fd_watch_stop(&socket->watch);
    TAILQ_REMOVE(&socket->resolver->sockets, socket, link);
    mem_free(socket);
}

/* Neither: it is about to be closed. */
static void
on_socket_state(void *arg, ares_socket_t fd, int reading, int writing)
{
    struct resolver *resolver = arg;
    struct resolve_socket *socket = find_socket(resolver, fd);

    if (!reading && !writing) {
        if (socket != NULL)
            close_socket(socket);
        return;
    }
    if (socket == NULL)
        socket = open_socket(resolver, fd);
    fd_watch_await(&socket->watch, reading != 0, writing != 0);
}

/* --- answers ---------------------------------------------------------------- */

static enum resolve_result
result_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return RESOLVE_FOUND;
    case ARES_ENOTFOUND:
    case ARES_EBADNAME:
        return RESOLVE_NO_NAME;
    case ARES_ENODATA:
        return RESOLVE_NO_ADDRESS;
    case ARES_ETIMEOUT:
        return RESOLVE_TIMEOUT;
    }
    return RESOLVE_FAILED;
}

static void
append(struct address_list *list, const struct ares_addrinfo_node *node)
{
    struct address address = {.len = node->ai_addrlen};

    if (list->count == ADDRESS_LIST_MAX ||
        node->ai_addrlen > sizeof(address.sa))
        return;
    memcpy(&address.sa, node->ai_addr, node->ai_addrlen);
    if (address_list_find(list, &address) == list->count)
        list->items[list->count++] = address;
}

/* IPv4 first, since servers listen there unless they are told otherwise; of one
 * kind as they were given. */
static struct address_list *
list_of(const struct ares_addrinfo *found)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct address_list *list = address_list_new(ADDRESS_LIST_MAX);

    list->count = 0;
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        for (const struct ares_addrinfo_node *node = found->nodes;
             node != NULL; node = node->ai_next) {
            if (node->ai_family == families[i])
                append(list, node);
        }
    }
    return list;
}

static uint32_t
ttl_of(const struct ares_addrinfo *found)
{
    int ttl = INT32_MAX;

    for (const struct ares_addrinfo_node *node = found->nodes; node != NULL;
         node = node->ai_next)
        ttl = MIN(ttl, MAX(node->ai_ttl, 0));
    return (uint32_t)ttl;
}

static void
on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *found)
{
    struct question *question = arg;
    struct resolve_answer answer = {
        .result = result_of(status),
        .detail = ares_strerror(status),
    };

    (void)timeouts;
    if (answer.result == RESOLVE_FOUND) {
        answer.found = list_of(found);
        answer.ttl_s = ttl_of(found);
        if (answer.found->count == 0)
            answer.result = RESOLVE_NO_ADDRESS;
    }
    if (found != NULL)
        ares_freeaddrinfo(found);
    if (!question->resolver->is_ending)
        question->fn(question->arg, &answer);
    address_list_unref(&answer.found);
    mem_free(question);
}

/* --- questions -------------------------------------------------------------- */

void
resolver_ask(struct resolver *resolver, const char *host, int family,
             resolve_fn fn, void *arg)
{
    const struct ares_addrinfo_hints hints = {
        .ai_flags = ARES_AI_NOSORT,
        .ai_family = family,
        .ai_socktype = SOCK_STREAM,
    };
    struct question *question = MEM_NEW(struct question);

    question->resolver = resolver;
    question->fn = fn;
    question->arg = arg;
    ares_getaddrinfo(resolver->channel, host, NULL, &hints, on_answer,
                     question);
    plan(resolver);
}

/* --- life ------------------------------------------------------------------- */

static int
open_channel(struct resolver *resolver, const char *servers,
             int64_t timeout_ms)
{
    struct ares_options options = {
        .timeout = (int)timeout_ms,
        .tries = TRIES,
        .sock_state_cb = on_socket_state,
        .sock_state_cb_data = resolver,
    };
    int status = ares_init_options(
        &resolver->channel, &options,
        ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB);

    if (status == ARES_SUCCESS && servers != NULL)
        status = ares_set_servers_ports_csv(resolver->channel, servers);
    return status;
}

struct resolver *
resolver_new(struct loop *loop, const char *servers, int64_t timeout_ms,
             struct error *error)
{
    struct resolver *resolver = MEM_NEW(struct resolver);

    (void)ares_library_init(ARES_LIB_INIT_ALL);
    resolver->loop = loop;
    TAILQ_INIT(&resolver->sockets);
    timer_init(&resolver->timer, loop, on_timer, resolver);
    int status = open_channel(resolver, servers, timeout_ms);
    if (status != ARES_SUCCESS) {
        error_set(error, "cannot resolve names by %s: %s",
                  servers != NULL ? servers : "the system's name servers",
                  ares_strerror(status));
        resolver_free(&resolver);
    }
    return resolver;
}

void
resolver_free(struct resolver **resolverp)
{
    struct resolver *resolver = *resolverp;
    struct resolve_socket *socket;

    *resolverp = NULL;
    if (resolver == NULL)
        return;
    resolver->is_ending = true;
    timer_stop(&resolver->timer);
    if (resolver->channel != NULL)
        ares_destroy(resolver->channel);
    while ((socket = TAILQ_FIRST(&resolver->sockets)) != NULL)
        close_socket(socket);
    ares_library_cleanup();
    mem_free(resolver);
}

const char *
resolve_result_name(enum resolve_result result)
{
    static const char *const names[] = {
        [RESOLVE_FOUND] = "found",
        [RESOLVE_NO_NAME] = "no_name",
        [RESOLVE_NO_ADDRESS] = "no_address",
        [RESOLVE_FAILED] = "failed",
        [RESOLVE_TIMEOUT] = "timeout",
    };

    return result < RESOLVE_RESULT_COUNT ? names[result] : "?";
}
