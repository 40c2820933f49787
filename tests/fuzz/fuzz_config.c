/*
 * tests/fuzz/fuzz_config.c - any bytes are settings or messages.
 *
 * Input: a configuration file.  Properties: it is refused if and only if an
 * error is told; every message is a line that names the file and holds no
 * control character; what is accepted is complete, and a route can be made of
 * every pool.
 */
#include "config/settings.h"
#include "fuzz.h"

#define INPUT_MAX 16384
#define NAME "f.yml:"

static bool
contains(struct view text, struct view part)
{
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (memcmp(text.data + i, part.data, part.len) == 0)
            return true;
    }
    return false;
}

static bool
starts_with(struct view text, struct view start)
{
    return text.len >= start.len &&
           view_equal(view_of(text.data, start.len), start);
}

/* Check one message and say whether it is an error: its word stands right
 * behind the place; further on there may be any text of the file. */
static bool
check_message(struct view line)
{
    size_t place = strlen(NAME);

    ASSERT(starts_with(line, VIEW(NAME)));
    for (size_t i = 0; i < line.len; i++) {
        unsigned char c = (unsigned char)line.data[i];
        ASSERT(c >= 0x20 && c != 0x7f);
    }
    while (place < line.len && line.data[place] != ' ')
        place++;
    line = view_of(line.data + place, line.len - place);
    bool is_error = starts_with(line, VIEW(" error: "));
    ASSERT(is_error || starts_with(line, VIEW(" warning: ")));
    return is_error;
}

static size_t
count_errors(struct view messages)
{
    size_t errors = 0;

    while (messages.len > 0) {
        const char *end = memchr(messages.data, '\n', messages.len);
        ASSERT(end != NULL);
        size_t len = (size_t)(end - messages.data);
        errors += check_message(view_of(messages.data, len));
        messages = view_of(end + 1, messages.len - len - 1);
    }
    return errors;
}

static void
check_server(const struct server_settings *server)
{
    ASSERT(server->name != NULL && server->name[0] != '\0');
    ASSERT(server->weight >= 1);
    ASSERT((server->address.host == NULL) != (server->address.path == NULL));
    ASSERT(server->address.path != NULL || server->address.port != 0);
}

static void
check_pool(const struct settings *settings, const struct pool_settings *pool)
{
    struct error error;

    ASSERT(settings_find_pool(settings, view_str(pool->name)) == pool);
    ASSERT(pool->listen_count > 0 && pool->server_count > 0);
    for (size_t i = 0; i < pool->listen_count; i++)
        ASSERT(pool->listens[i].text != NULL);
    for (size_t i = 0; i < pool->server_count; i++)
        check_server(&pool->servers[i]);

    struct route *route = settings_make_route(pool, &error);
    ASSERT(route != NULL);
    route_free(&route);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view input = view_of((const char *)data, size);
    struct buf messages = {0};

    /* A password file must not be a terminal that waits for us. */
    if (size > INPUT_MAX || contains(input, VIEW("/dev")) ||
        contains(input, VIEW("/proc")))
        return 0;

    char *copy = fuzz_copy(input);
    struct settings *settings =
        settings_parse("f.yml", view_of(copy, size), &messages);
    mem_free(copy);
    ASSERT((settings == NULL) == (count_errors(buf_view(&messages)) > 0));
    for (size_t i = 0; settings != NULL && i < settings->pool_count; i++)
        check_pool(settings, &settings->pools[i]);
    settings_free(&settings);
    buf_fini(&messages);
    return 0;
}
