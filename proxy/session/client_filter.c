/*
 * session/client_filter.c - choosing among clients.
 */
#include "session/client_filter.h"

#include "session/client_line.h"
#include "session/identity.h"
#include "session/session.h"
#include "session/subscriber.h"

#define US_PER_S 1000000

void
client_filter_init(struct client_filter *filter)
{
    *filter = (struct client_filter){
        .addr = VIEW(""),
        .laddr = VIEW(""),
        .user = VIEW(""),
        .skip_me = true,
    };
}

bool
client_type_read(struct view name, enum client_type *type)
{
    static const struct {
        const char *name;
        enum client_type type;
    } types[] = {
        {"normal", CLIENT_NORMAL},  {"pubsub", CLIENT_PUBSUB},
        {"slave", CLIENT_REPLICA},  {"replica", CLIENT_REPLICA},
        {"master", CLIENT_PRIMARY},
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (view_equal_nocase(name, view_str(types[i].name))) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

/* --- on its way ---------------------------------------------------------- */

static void
write_number(struct buf *out, const char *name, uint64_t number)
{
    if (number > 0)
        buf_printf(out, "%s %llu\n", name, (unsigned long long)number);
}

static void
write_text(struct buf *out, const char *name, struct view text)
{
    if (text.len > 0)
        buf_printf(out, "%s %.*s\n", name, (int)text.len, text.data);
}

void
client_filter_write(const struct client_filter *filter, struct buf *out)
{
    write_number(out, "type", (uint64_t)filter->type);
    write_number(out, "id", filter->id);
    write_number(out, "maxage", filter->max_age_s);
    write_number(out, "spare", filter->skip_me ? 0 : 1);
    write_text(out, "addr", filter->addr);
    write_text(out, "laddr", filter->laddr);
    write_text(out, "user", filter->user);
}

static void
read_line(struct client_filter *filter, struct view line)
{
    struct view name = view_take(&line, ' ');
    uint64_t number = 0;
    bool is_number = view_to_u64(line, &number);

    if (view_equal(name, VIEW("addr")))
        filter->addr = line;
    else if (view_equal(name, VIEW("laddr")))
        filter->laddr = line;
    else if (view_equal(name, VIEW("user")))
        filter->user = line;
    else if (!is_number)
        filter->is_impossible = true;
    else if (view_equal(name, VIEW("type")))
        filter->type = (enum client_type)number;
    else if (view_equal(name, VIEW("id")))
        filter->id = number;
    else if (view_equal(name, VIEW("maxage")))
        filter->max_age_s = number;
    else if (view_equal(name, VIEW("spare")))
        filter->skip_me = false;
}

void
client_filter_read(struct client_filter *filter, struct view lines)
{
    while (lines.len > 0)
        read_line(filter, view_take(&lines, '\n'));
}

/* --- matching ------------------------------------------------------------ */

static bool
is_of_type(const struct session *session, enum client_type type)
{
    switch (type) {
    case CLIENT_ANY:
        return true;
    case CLIENT_NORMAL:
        return !subscriber_is_listening(session);
    case CLIENT_PUBSUB:
        return subscriber_is_listening(session);
    case CLIENT_REPLICA:
    case CLIENT_PRIMARY:
        return false;
    }
    return false;
}

static bool
is_at(const struct session *session, const struct client_filter *filter)
{
    struct client_place place;

    if (filter->addr.len == 0 && filter->laddr.len == 0)
        return true;
    client_place_read(session, &place);
    return (filter->addr.len == 0 ||
            view_equal(filter->addr, view_str(place.addr))) &&
        (filter->laddr.len == 0 ||
         view_equal(filter->laddr, view_str(place.laddr)));
}

bool
client_filter_matches(const struct client_filter *filter,
                      const struct session *session)
{
    uint64_t now_us = loop_now_us(session->pool->env->loop);
    uint64_t age_s = now_us / US_PER_S - session->created_s;

    return !filter->is_impossible &&
        (filter->id == 0 || filter->id == session->id) &&
        age_s >= filter->max_age_s && is_of_type(session, filter->type) &&
        is_at(session, filter) &&
        (filter->user.len == 0 ||
         view_equal(filter->user, identity_name(session)));
}
