/*
 * admin/http.c - libmicrohttpd on our loop.
 *
 *   loop --(epoll descriptor readable, or timer)--> MHD_run --> on_request
 *
 * The library watches its sockets by an epoll descriptor of its own, which our
 * loop watches; after each run it says when it wants to run again at the
 * latest.
 */
#include "admin/http.h"

#include <fcntl.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"

/* Of a connection: more than any scraper's request needs. */
#define MEMORY_LIMIT 16384

struct http {
    struct MHD_Daemon *daemon;
    struct fd_watch watch;
    struct timer timer;
    http_answer_fn answer;
    void *arg;
};

/* --- requests ------------------------------------------------------------ */

static enum MHD_Result
queue_answer(struct MHD_Connection *connection, struct answer *answer)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer_with_free_callback(answer->body.len,
                                                           answer->body.data,
                                                           mem_free);

    if (response == NULL) {
        buf_fini(&answer->body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE,
                            answer->type);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            "no-store");
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result result =
        MHD_queue_response(connection, answer->status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result
refuse_method(struct MHD_Connection *connection)
{
    struct answer answer = {
        .status = MHD_HTTP_METHOD_NOT_ALLOWED,
        .type = "text/plain; charset=utf-8",
    };

    buf_append_str(&answer.body, "only GET and HEAD are understood\n");
    return queue_answer(connection, &answer);
}

static enum MHD_Result
answer_request(struct http *http, struct MHD_Connection *connection,
               const char *path)
{
    struct answer answer = {0};
    struct answer_request request = {
        .path = path,
        .pool = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND,
                                            "pool"),
        .accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                              MHD_HTTP_HEADER_ACCEPT),
    };

    http->answer(http->arg, &request, &answer);
    return queue_answer(connection, &answer);
}

/* Library callback: once when the head is here, then for each part of a body,
 * then to answer.  The number of parameters is the library's choice. */
static enum MHD_Result /* NOLINTNEXTLINE(readability-function-size) */
on_request(void *arg, struct MHD_Connection *connection, const char *path,
           const char *method, const char *version, const char *body,
           size_t *body_size, void **state)
{
    static char seen;

    (void)version;
    (void)body;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse_method(connection);
    if (*state == NULL) {
        *state = &seen;
        return MHD_YES;
    }
    if (*body_size > 0)
        return MHD_NO;
    return answer_request(arg, connection, path);
}

/* --- the loop ------------------------------------------------------------ */

static void
http_run(struct http *http)
{
    MHD_UNSIGNED_LONG_LONG timeout_ms;

    MHD_run(http->daemon);
    if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES)
        timer_start(&http->timer, (int64_t)MIN(timeout_ms, INT_MAX));
    else
        timer_stop(&http->timer);
}

static void
on_ready(struct fd_watch *watch, void *arg)
{
    (void)watch;
    http_run(arg);
}

static void
on_timer(struct timer *timer, void *arg)
{
    (void)timer;
    http_run(arg);
}

struct http *
http_new(struct loop *loop, unsigned connections, unsigned idle_s,
         http_answer_fn answer, void *arg)
{
    struct http *http = MEM_NEW(struct http);

    http->answer = answer;
    http->arg = arg;
    timer_init(&http->timer, loop, on_timer, http);
    http->daemon =
        MHD_start_daemon(MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET, 0, NULL,
                         NULL, on_request, http, MHD_OPTION_CONNECTION_LIMIT,
                         connections, MHD_OPTION_CONNECTION_TIMEOUT, idle_s,
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)MEMORY_LIMIT,
                         MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
    if (http->daemon == NULL) {
        mem_free(http);
        return NULL;
    }
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    fd_watch_start(&http->watch, loop, info->epoll_fd, on_ready, http);
    return http;
}

void
http_free(struct http **httpp)
{
    struct http *http = *httpp;

    *httpp = NULL;
    if (http == NULL)
        return;
    fd_watch_stop(&http->watch);
    timer_stop(&http->timer);
    MHD_stop_daemon(http->daemon);
    mem_free(http);
}

static bool
has_peer_ended(int fd)
{
    struct pollfd poller = {.fd = fd, .events = POLLRDHUP};

    return poll(&poller, 1, 0) > 0 && (poller.revents & POLLRDHUP) != 0;
}

static void
add_and_run(struct http *http, int fd)
{
    struct sockaddr_storage peer;
    socklen_t len = sizeof(peer);

    if (getpeername(fd, (struct sockaddr *)&peer, &len) < 0)
        len = 0;
    /* On failure the library has closed the descriptor. */
    if (MHD_add_connection(http->daemon, fd, (struct sockaddr *)&peer, len) ==
        MHD_YES)
        http_run(http);
}

void
http_take(struct http *http, int fd)
{
    /* The library waits for a change after each short read, and would wait in
     * vain when the end stands behind the bytes already: so make a change, by
     * a second descriptor, since it may close the first one meanwhile. */
    int again = has_peer_ended(fd) ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;

    add_and_run(http, fd);
    if (again < 0)
        return;
    shutdown(again, SHUT_RD);
    close(again);
}

unsigned
http_count(const struct http *http)
{
    return MHD_get_daemon_info(http->daemon,
                               MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
        ->num_connections;
}
