/*
 * admin/answer.c - the table of paths.
 */
#include "admin/answer.h"

#include "admin/exposition.h"
#include "admin/json.h"
#include "admin/metrics.h"
#include "admin/page.h"

#define STATUS_OK 200
#define STATUS_NOT_FOUND 404
#define STATUS_UNAVAILABLE 503

#define TYPE_TEXT "text/plain; charset=utf-8"
#define TYPE_JSON "application/json"
#define TYPE_HTML "text/html; charset=utf-8"

/* What an answer is made from. */
struct context {
    const struct admin_source *source;
    const struct port_stats *port;
    const struct answer_request *request;
};

typedef void (*page_fn)(const struct context *context, struct answer *answer);

static void
answer_page(const struct context *context, struct answer *answer)
{
    answer->type = TYPE_HTML;
    page_render(context->source, &answer->body);
}

static void
answer_metrics(const struct context *context, struct answer *answer)
{
    const char *accept = context->request->accept;
    bool open_metrics = accept != NULL &&
        strstr(accept, "application/openmetrics-text") != NULL;

    answer->type = open_metrics ? EXPOSITION_OPEN_TYPE : EXPOSITION_TEXT_TYPE;
    metrics_render(context->source, context->port, open_metrics, &answer->body);
}

static void
answer_json(const struct context *context, struct answer *answer)
{
    answer->type = TYPE_JSON;
    json_render(context->source, &answer->body);
}

static void
answer_health(const struct context *context, struct answer *answer)
{
    (void)context;
    buf_append_str(&answer->body, "ok\n");
}

/* A line for the pool; unavailable when it is not ready. */
static void
add_pool(const struct admin_source *source, size_t pool, struct answer *answer)
{
    bool is_ready = source->pool_is_ready(source->arg, pool);

    if (!is_ready)
        answer->status = STATUS_UNAVAILABLE;
    buf_printf(&answer->body, "pool %s: %s\n",
               admin_source_pool(source, pool)->name,
               is_ready ? "ready" : "not ready");
}

static void
add_all_pools(const struct admin_source *source, struct answer *answer)
{
    for (size_t p = 0; p < admin_source_pool_count(source); p++)
        add_pool(source, p, answer);
}

static void
add_named_pool(const struct admin_source *source, const char *name,
               struct answer *answer)
{
    for (size_t p = 0; p < admin_source_pool_count(source); p++) {
        if (strcmp(admin_source_pool(source, p)->name, name) == 0) {
            add_pool(source, p, answer);
            return;
        }
    }
    answer->status = STATUS_NOT_FOUND;
    buf_append_str(&answer->body, "there is no such pool\n");
}

static void
answer_readiness(const struct context *context, struct answer *answer)
{
    const struct admin_source *source = context->source;
    bool is_ready = source->is_ready(source->arg);

    buf_printf(&answer->body, "process: %s\n",
               is_ready ? "ready" : "not ready");
    if (context->request->pool != NULL)
        add_named_pool(source, context->request->pool, answer);
    else
        add_all_pools(source, answer);
    if (!is_ready)
        answer->status = STATUS_UNAVAILABLE;
}

static void
answer_not_found(const struct context *context, struct answer *answer)
{
    (void)context;
    answer->status = STATUS_NOT_FOUND;
    buf_append_str(&answer->body,
                   "not found; there are:\n"
                   "/ /metrics /stats.json /healthz /readyz\n");
}

static page_fn
find_page(const char *path)
{
    static const struct {
        const char *path;
        page_fn fn;
    } pages[] = {
        {"/", answer_page},
        {"/metrics", answer_metrics},
        {"/stats.json", answer_json},
        {"/healthz", answer_health},
        {"/readyz", answer_readiness},
    };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
        if (strcmp(pages[i].path, path) == 0)
            return pages[i].fn;
    }
    return answer_not_found;
}

void
answer_make(const struct admin_source *source, const struct port_stats *port,
            const struct answer_request *request, struct answer *answer)
{
    struct context context = {source, port, request};

    answer->status = STATUS_OK;
    answer->type = TYPE_TEXT;
    find_page(request->path)(&context, answer);
}
