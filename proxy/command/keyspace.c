/*
 * command/keyspace.c - adding up the Keyspace sections of several servers.
 */
#include "command/keyspace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "command/chain_cursor.h"

#define DATABASES_MAX 4096 /* of those beyond nothing is told */

struct database {
    uint64_t number;
    uint64_t keys;
    uint64_t expires;
    double ttl_ms; /* of all that expire, added */
};

struct keyspace {
    struct database *databases; /* by number */
    uint32_t count;
};

static struct database *
find_database(struct keyspace *keyspace, uint64_t number)
{
    uint32_t at = 0;

    while (at < keyspace->count && keyspace->databases[at].number < number)
        at++;
    if (at < keyspace->count && keyspace->databases[at].number == number)
        return &keyspace->databases[at];
    if (keyspace->count == DATABASES_MAX)
        return NULL;
    struct database *place = &keyspace->databases[at];
    memmove(place + 1, place, (keyspace->count - at) * sizeof(*place));
    keyspace->count++;
    *place = (struct database){.number = number};
    return place;
}

/* Step over `name` and the number behind it. */
static bool
take_field(const char **at, const char *name, uint64_t *number)
{
    size_t len = strlen(name);
    char *end;

    if (strncmp(*at, name, len) != 0)
        return false;
    *number = strtoull(*at + len, &end, 10);
    *at = end;
    return true;
}

static void
add_line(struct keyspace *keyspace, const char *line)
{
    uint64_t number, keys, expires, ttl_ms;

    if (!take_field(&line, "db", &number) ||
        !take_field(&line, ":keys=", &keys) ||
        !take_field(&line, ",expires=", &expires) ||
        !take_field(&line, ",avg_ttl=", &ttl_ms))
        return;
    struct database *database = find_database(keyspace, number);
    if (database == NULL)
        return;
    database->keys += keys;
    database->expires += expires;
    database->ttl_ms += (double)ttl_ms * (double)expires;
}

static void
add_reply(struct keyspace *keyspace, const struct chain *reply)
{
    struct chain_cursor cursor;
    struct buf text = {0};

    chain_cursor_init(&cursor, reply);
    chain_cursor_read(&cursor, cursor.left, &text);
    buf_append_char(&text, '\0');
    for (const char *line = text.data; line != NULL;
         line = strchr(line, '\n')) {
        line += *line == '\n';
        add_line(keyspace, line);
    }
    buf_fini(&text);
}

void
keyspace_merge(const struct chain *replies, uint32_t count, struct buf *out)
{
    struct keyspace keyspace = {
        .databases = mem_array(DATABASES_MAX, sizeof(struct database))};

    for (uint32_t i = 0; i < count; i++)
        add_reply(&keyspace, &replies[i]);
    for (uint32_t i = 0; i < keyspace.count; i++) {
        const struct database *database = &keyspace.databases[i];
        uint64_t ttl_ms = database->expires == 0
            ? 0
            : (uint64_t)(database->ttl_ms / (double)database->expires);
        buf_printf(out,
                   "db%" PRIu64 ":keys=%" PRIu64 ",expires=%" PRIu64
                   ",avg_ttl=%" PRIu64 "\r\n",
                   database->number, database->keys, database->expires, ttl_ms);
    }
    mem_free(keyspace.databases);
}
