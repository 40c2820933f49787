/*
 * daemon/tools.c - checking a file, explaining a route.
 */
#include "daemon/tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "config/settings.h"

/* NULL after having printed why. */
static struct settings *
load(const char *path)
{
    struct buf messages = {0};
    struct settings *settings = settings_load(path, &messages);

    if (messages.len > 0)
        fwrite(messages.data, 1, messages.len, stderr);
    buf_fini(&messages);
    return settings;
}

int
tool_check(const char *path)
{
    struct settings *settings = load(path);

    if (settings == NULL) {
        fprintf(stderr, "%s: not usable\n", path);
        return EXIT_FAILURE;
    }
    printf("%s: ok, pools: %zu\n", path, settings->pool_count);
    settings_free(&settings);
    return EXIT_SUCCESS;
}

/* One line each, whatever the key has in it. */
static void
print_key(const char *key)
{
    for (const char *c = key; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            printf("\\x%02x", (unsigned)*c);
        else
            putchar(*c);
    }
}

static void
explain(const struct pool_settings *pool, const struct route *route,
        const char *key)
{
    struct buf line = {0};
    uint64_t dice = 1;
    uint32_t shard = route_find(route, view_str(key), &dice);

    route_explain(route, view_str(key), &line);
    print_key(key);
    printf(": %.*s", (int)line.len, line.data);
    if (pool_is_cluster(pool))
        printf(" (as the nodes of the cluster say, who are not asked here)");
    else if (shard != ROUTE_NONE && pool_is_named(pool))
        printf(" master=%s", pool->servers[shard].master);
    else if (shard != ROUTE_NONE && pool->distribution != DISTRIBUTION_RANDOM)
        printf(" address=%s", pool->servers[shard].address.text);
    printf("\n");
    buf_fini(&line);
}

int
tool_route(const char *path, int argc, char **argv)
{
    struct settings *settings = load(path);
    struct error error;

    if (settings == NULL)
        return EXIT_FAILURE;
    const struct pool_settings *pool =
        settings_find_pool(settings, view_str(argv[0]));
    if (pool == NULL) {
        fprintf(stderr, "pointsman: no pool '%s' in %s; there is:", argv[0],
                path);
        for (size_t i = 0; i < settings->pool_count; i++)
            fprintf(stderr, " %s", settings->pools[i].name);
        fprintf(stderr, "\n");
        settings_free(&settings);
        return EXIT_FAILURE;
    }
    struct route *route = settings_make_route(pool, &error);
    if (route == NULL)
        fprintf(stderr, "pointsman: %s\n", error.text);
    for (int i = 1; route != NULL && i < argc; i++)
        explain(pool, route, argv[i]);
    int status = route == NULL ? EXIT_FAILURE : EXIT_SUCCESS;
    route_free(&route);
    settings_free(&settings);
    return status;
}
