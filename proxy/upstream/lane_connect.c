/*
 * upstream/lane_connect.c - one address of a server after the other.
 */
#include <errno.h>
#include <string.h>

#include "base/log_limit.h"
#include "upstream/lane_priv.h"
#include "upstream/pool.h"
#include "upstream/server.h"

static void on_no_socket(struct timer *timer, void *arg);

/* --- trying ----------------------------------------------------------------- */

static int64_t
left_ms(const struct lane *lane)
{
    uint64_t now_us = loop_now_us(lane->server->pool->loop);

    return lane->connect_by_us > now_us
        ? (int64_t)(lane->connect_by_us - now_us) / 1000
        : 0;
}

static uint32_t
left_count(const struct lane *lane)
{
    return lane->trying->count - lane->tried;
}

static void
on_timeout(struct timer *timer, void *arg)
{
    (void)timer;
    lane_on_timeout(arg);
}

static void
try_next(struct lane *lane)
{
    const struct address_list *list = lane->trying;
    struct loop *loop = lane->server->pool->loop;
    int64_t ms = address_list_share_ms(left_ms(lane), left_count(lane));

    lane->address = list->items[(lane->first + lane->tried) % list->count];
    lane->tried++;
    timer_stop(&lane->timer);
    if (stream_connect(&lane->stream, loop, &lane->address,
                       &lane->server->options, &lane_stream_ops) < 0) {
        timer_init(&lane->timer, loop, on_no_socket, lane);
        timer_start(&lane->timer, 0);
    } else {
        timer_init(&lane->timer, loop, on_timeout, lane);
        lane_start_timer(lane, ms);
    }
}

static void
begin(struct lane *lane)
{
    lane->trying = address_list_ref(lane->server->addresses);
    lane->first = lane->server->first_address;
    lane->tried = 0;
    try_next(lane);
}

void
lane_connect(struct lane *lane)
{
    struct loop *loop = lane->server->pool->loop;
    int64_t timeout_ms = lane->server->settings->connect_timeout_ms;

    lane->connect_by_us = loop_now_us(loop) + (uint64_t)timeout_ms * 1000;
    begin(lane);
}

/* --- what comes of it --------------------------------------------------------- */

static void
note_skipped(const struct lane *lane, const char *why)
{
    const struct server *server = lane->server;
    char addr[ADDRESS_TEXT_MAX];

    cell_inc(&server->stats->address_failures);
    if (!server->pool->is_quiet)
        log_warn_limited(server->settings->name, server->name,
                         "address of server is no good, the next is tried",
                         "pool=%s server=%s addr=%s reason=\"%s\"",
                         server->settings->name, server->name,
                         address_format(&lane->address, addr), why);
}

/* False: there is none. */
static bool
go_on(struct lane *lane, const char *why)
{
    if (left_count(lane) == 0)
        return false;
    note_skipped(lane, why);
    server_report(lane->server, INCIDENT_ADDRESS);
    stream_close(&lane->stream);
    try_next(lane);
    return true;
}

void
lane_on_connected(struct lane *lane)
{
    lane_set_state(lane, LANE_HANDSHAKE);
    address_list_unref(&lane->trying);
    lane_start_timer(lane, MAX(left_ms(lane), 1));
}

/* The system may have no sockets of one kind at all. */
static void
on_no_socket(struct timer *timer, void *arg)
{
    struct lane *lane = arg;
    const char *why = strerror(lane->stream.err);

    (void)timer;
    if (lane->stream.err != EAFNOSUPPORT || !go_on(lane, why))
        lane_fail(lane, CLOSE_NO_SOCKET, why);
}

static bool
is_own_fault(int err)
{
    return err == EADDRNOTAVAIL || err == EADDRINUSE || err == ENOBUFS ||
        err == ENOMEM;
}

void
lane_on_refused(struct lane *lane)
{
    const char *why = strerror(lane->stream.err);
    bool is_ours = is_own_fault(lane->stream.err);

    cell_inc(&lane->server->stats->server_err);
    if (!go_on(lane, why))
        lane_fail(lane, is_ours ? CLOSE_NO_SOCKET : CLOSE_SERVER_CONNECT, why);
}

void
lane_on_connect_timeout(struct lane *lane)
{
    if (lane->state != LANE_CONNECTING || !go_on(lane, "no answer in time"))
        lane_fail(lane, CLOSE_SERVER_CONNECT_TIMEOUT, "");
}

void
lane_follow_addresses(struct lane *lane)
{
    struct address_list *list = lane->server->addresses;
    uint32_t i = address_list_find(list, &lane->address);

    if (lane->state != LANE_CONNECTING || list->count == 0 ||
        !lane->stream.is_open)
        return;
    address_list_unref(&lane->trying);
    if (i == list->count) {
        stream_close(&lane->stream);
        begin(lane);
        return;
    }
    lane->trying = address_list_ref(list);
    lane->first = i;
    lane->tried = 1;
}
