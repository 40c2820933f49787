/*
 * admin/admin.c - the stats port: who is let in, and what is answered.
 */
#include "admin/admin.h"

#include <unistd.h>

#include "admin/http.h"
#include "admin/json.h"
#include "admin/silent.h"
#include "base/log_limit.h"
#include "base/mem.h"
#include "net/listener.h"

#define BACKLOG 128
#define NO_MODE (-1) /* the stats port is never a UNIX socket */
#define MS_PER_S 1000

struct admin {
    const struct admin_source *source;
    struct port_stats stats;
    struct listener listener;
    struct silent_list silent;
    struct http *http;
};

static unsigned
admin_connections(const struct admin *admin)
{
    return admin->silent.count + http_count(admin->http);
}

/* Listener callback. */
static void
on_accept(struct listener *listener, int fd, void *arg)
{
    struct admin *admin = arg;

    (void)listener;
    if (admin_connections(admin) >= ADMIN_CONNECTIONS) {
        cell_inc(&admin->stats.refused);
        log_warn_limited(NULL, NULL, "stats client refused", "connections=%u",
                         admin_connections(admin));
        close(fd);
        return;
    }
    silent_take(&admin->silent, fd);
}

static void
on_bytes(void *arg, int fd)
{
    struct admin *admin = arg;

    http_take(admin->http, fd);
}

static void
on_silence(void *arg, struct buf *out)
{
    struct admin *admin = arg;

    cell_inc(&admin->stats.silent_clients);
    json_render(admin->source, out);
}

static void
on_request(void *arg, const struct answer_request *request,
           struct answer *answer)
{
    struct admin *admin = arg;

    cell_inc(&admin->stats.requests);
    cell_set(&admin->stats.connections, admin_connections(admin));
    answer_make(admin->source, &admin->stats, request, answer);
}

static const struct silent_ops silent_ops = {
    .on_bytes = on_bytes,
    .on_silence = on_silence,
};

static int
admin_listen(struct admin *admin, struct loop *loop,
             const struct address_text *stats, struct error *error)
{
    struct address address;
    struct error why;

    listener_init(&admin->listener, on_accept, admin);
    if (address_resolve(&address, stats->host, stats->port, true, &why) < 0 ||
        listener_open(&admin->listener, loop, &address, NO_MODE, BACKLOG,
                      &why) < 0)
        return error_set(error, "stats: %s", why.text);
    return 0;
}

struct admin *
admin_new(struct loop *loop, const struct admin_source *source,
          const struct address_text *stats, struct error *error)
{
    struct admin *admin = MEM_NEW(struct admin);

    admin->source = source;
    admin->silent = (struct silent_list){
        .loop = loop,
        .ops = &silent_ops,
        .arg = admin,
        .wait_ms = ADMIN_SILENT_MS,
        .write_ms = ADMIN_IDLE_S * MS_PER_S,
    };
    silent_list_init(&admin->silent);
    admin->http =
        http_new(loop, ADMIN_CONNECTIONS, ADMIN_IDLE_S, on_request, admin);
    if (admin->http == NULL) {
        error_set(error, "stats: the HTTP library cannot start");
        goto fail;
    }
    if (admin_listen(admin, loop, stats, error) < 0)
        goto fail;
    return admin;

fail:
    http_free(&admin->http);
    mem_free(admin);
    return NULL;
}

void
admin_free(struct admin **adminp)
{
    struct admin *admin = *adminp;

    *adminp = NULL;
    if (admin == NULL)
        return;
    listener_close(&admin->listener);
    silent_list_fini(&admin->silent);
    http_free(&admin->http);
    mem_free(admin);
}

const char *
admin_address(const struct admin *admin)
{
    return admin->listener.text;
}
