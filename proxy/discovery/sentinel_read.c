/*
 * discovery/sentinel_read.c - fields, flags, events.
 */
#include "discovery/sentinel_read.h"

#include "resp/reply_read.h"

/* --- words -------------------------------------------------------------------- */

/* 0 when it is none. */
static uint16_t
port_of(struct view text)
{
    uint64_t number;

    if (!view_to_u64(text, &number) || number > UINT16_MAX)
        return 0;
    return (uint16_t)number;
}

/* Visible characters that fit. */
static bool
is_host(struct view text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] <= ' ' || text.data[i] == '\x7f' ||
            text.data[i] == '/')
            return false;
    }
    return text.len > 0 && text.len <= SENTINEL_HOST_MAX;
}

static bool
is_run_id(struct view text)
{
    return is_host(text) && text.len <= SENTINEL_RUN_ID_MAX;
}

/* --- fields ------------------------------------------------------------------- */

static const struct {
    struct view name;
    enum sentinel_flag flag;
} flag_names[] = {
    {VIEW("s_down"), SENTINEL_S_DOWN},
    {VIEW("o_down"), SENTINEL_O_DOWN},
    {VIEW("master_down"), SENTINEL_MASTER_DOWN},
    {VIEW("disconnected"), SENTINEL_DISCONNECTED},
    {VIEW("failover_in_progress"), SENTINEL_FAILOVER},
};

static unsigned
read_flags(struct view text)
{
    unsigned flags = 0;

    while (text.len > 0) {
        struct view word = view_take(&text, ',');
        for (size_t i = 0; i < ARRAY_LEN(flag_names); i++) {
            if (view_equal(word, flag_names[i].name))
                flags |= flag_names[i].flag;
        }
    }
    return flags;
}

/* An instance as it is being read. */
struct reading {
    struct sentinel_instance *into;
    bool has_epoch;
};

static void
take_field(struct reading *reading, struct view key, struct view value)
{
    struct sentinel_instance *into = reading->into;

    if (view_equal(key, VIEW("ip")))
        into->host = is_host(value) ? value : VIEW("");
    else if (view_equal(key, VIEW("port")))
        into->port = port_of(value);
    else if (view_equal(key, VIEW("runid")))
        into->run_id = is_run_id(value) ? value : VIEW("");
    else if (view_equal(key, VIEW("flags")))
        into->flags = read_flags(value);
    else if (view_equal(key, VIEW("config-epoch")))
        reading->has_epoch = view_to_u64(value, &into->epoch);
    else if (view_equal(key, VIEW("master-link-status")))
        into->is_link_ok = view_equal(value, VIEW("ok"));
    else if (view_equal(key, VIEW("master-host")))
        into->master_host = is_host(value) ? value : VIEW("");
    else if (view_equal(key, VIEW("master-port")))
        into->master_port = port_of(value);
    else if (view_equal(key, VIEW("role-reported")))
        into->is_replica = view_equal(value, VIEW("slave"));
    else if (view_equal(key, VIEW("replica-announced")))
        into->is_hidden = view_equal(value, VIEW("0"));
    else if (view_equal(key, VIEW("slave-repl-offset")) &&
             !view_to_u64(value, &into->offset))
        into->offset = 0;
}

static bool
is_aggregate(const struct reply_item *item)
{
    return item->type == RESP_ARRAY || item->type == RESP_MAP ||
        item->type == RESP_SET || item->type == RESP_PUSH;
}

static bool
skip_value(struct view *rest, const struct reply_item *value)
{
    if (!is_aggregate(value))
        return true;
    for (uint64_t left = value->count; left > 0; left--) {
        if (!reply_skip(rest))
            return false;
    }
    return true;
}

/* A map, or in RESP2 an array of keys and values in turn. */
static bool
read_instance(struct view *rest, struct reading *reading)
{
    struct reply_item item, key, value;

    *reading->into = (struct sentinel_instance){0};
    if (!reply_next(rest, &item) || item.is_null || item.count % 2 != 0 ||
        (item.type != RESP_ARRAY && item.type != RESP_MAP))
        return false;
    for (uint64_t left = item.count; left > 0; left -= 2) {
        if (!reply_next(rest, &key) || is_aggregate(&key) ||
            !reply_next(rest, &value) || !skip_value(rest, &value))
            return false;
        if (!is_aggregate(&value) && !value.is_null)
            take_field(reading, key.text, value.text);
    }
    return true;
}

/* --- answers --------------------------------------------------------------------- */

static bool
is_no_name(struct view error)
{
    struct view text = VIEW("ERR No such");

    return error.len >= text.len &&
        view_equal_nocase(view_of(error.data, text.len), text);
}

/* What is wrong with it at first sight. */
static enum sentinel_reply
judge(struct view reply)
{
    struct reply_item item;

    if (!reply_next(&reply, &item))
        return SENTINEL_BAD;
    if (item.type == RESP_ERROR || item.type == RESP_BULK_ERROR)
        return is_no_name(item.text) ? SENTINEL_NO_NAME : SENTINEL_ERROR;
    if (item.is_null)
        return SENTINEL_NO_NAME;
    return SENTINEL_OK;
}

enum sentinel_reply
sentinel_read_master(struct view reply, struct sentinel_instance *master)
{
    struct reading reading = {.into = master};
    enum sentinel_reply first = judge(reply);

    if (first != SENTINEL_OK)
        return first;
    if (!read_instance(&reply, &reading) || !reading.has_epoch ||
        master->host.len == 0 || master->port == 0)
        return SENTINEL_BAD;
    return SENTINEL_OK;
}

void
sentinel_read_address(struct view reply, struct sentinel_instance *master)
{
    struct reply_item array, host, port;

    if (!reply_next(&reply, &array) || array.type != RESP_ARRAY ||
        array.count != 2 || !reply_next(&reply, &host) ||
        is_aggregate(&host) || !is_host(host.text) ||
        !reply_next(&reply, &port) || is_aggregate(&port) ||
        port_of(port.text) == 0)
        return;
    master->host = host.text;
    master->port = port_of(port.text);
}

enum sentinel_reply
sentinel_read_list(struct view reply, struct sentinel_instance *list,
                   size_t max, size_t *count)
{
    enum sentinel_reply first = judge(reply);
    struct sentinel_instance one;
    struct reading reading = {.into = &one};
    struct reply_item item;

    *count = 0;
    if (first != SENTINEL_OK)
        return first;
    if (!reply_next(&reply, &item) || item.type != RESP_ARRAY)
        return SENTINEL_BAD;
    for (uint64_t left = item.count; left > 0 && *count < max; left--) {
        if (!read_instance(&reply, &reading))
            return SENTINEL_BAD;
        if (one.host.len > 0 && one.port > 0)
            list[(*count)++] = one;
    }
    return SENTINEL_OK;
}

struct view
sentinel_read_id(struct view reply)
{
    struct reply_item item;

    if (!reply_next(&reply, &item) || item.type != RESP_BULK ||
        !is_run_id(item.text))
        return VIEW("");
    return item.text;
}

bool
sentinel_replica_is_well(const struct sentinel_instance *replica)
{
    unsigned bad = SENTINEL_S_DOWN | SENTINEL_O_DOWN | SENTINEL_MASTER_DOWN |
        SENTINEL_DISCONNECTED;

    return (replica->flags & bad) == 0 && replica->is_replica &&
        !replica->is_hidden;
}

/* --- messages ----------------------------------------------------------------------- */

bool
sentinel_read_message(struct view reply, struct sentinel_message *message)
{
    struct reply_item item, kind, skipped, channel, payload;

    if (!reply_next(&reply, &item) ||
        (item.type != RESP_ARRAY && item.type != RESP_PUSH) ||
        !reply_next(&reply, &kind) || is_aggregate(&kind))
        return false;
    bool by_pattern = view_equal(kind.text, VIEW("pmessage"));
    if ((!by_pattern && !view_equal(kind.text, VIEW("message"))) ||
        item.count != (by_pattern ? 4 : 3))
        return false;
    if (by_pattern && (!reply_next(&reply, &skipped) ||
                       is_aggregate(&skipped)))
        return false;
    if (!reply_next(&reply, &channel) || is_aggregate(&channel) ||
        !reply_next(&reply, &payload) || is_aggregate(&payload))
        return false;
    *message = (struct sentinel_message){channel.text, payload.text};
    return true;
}

static const struct {
    struct view channel; /* ends in '*': all that begin so */
    enum sentinel_event_kind kind;
} events[] = {
    {VIEW("+switch-master"), SENTINEL_EVENT_MASTER},
    {VIEW("+config-update-from"), SENTINEL_EVENT_MASTER},
    {VIEW("+promoted-slave"), SENTINEL_EVENT_PROMOTING},
    {VIEW("+failover-end*"), SENTINEL_EVENT_MASTER},
    {VIEW("+convert-to-slave"), SENTINEL_EVENT_MASTER},
    {VIEW("+role-change"), SENTINEL_EVENT_MASTER},
    {VIEW("-role-change"), SENTINEL_EVENT_MASTER},
    {VIEW("+reboot"), SENTINEL_EVENT_MASTER},
    {VIEW("+reset-master"), SENTINEL_EVENT_MASTER},
    {VIEW("+monitor"), SENTINEL_EVENT_MASTER},
    {VIEW("-monitor"), SENTINEL_EVENT_MASTER},
    {VIEW("+odown"), SENTINEL_EVENT_MASTER},
    {VIEW("-odown"), SENTINEL_EVENT_MASTER},
    {VIEW("+try-failover*"), SENTINEL_EVENT_FAILOVER},
    {VIEW("+elected-leader"), SENTINEL_EVENT_FAILOVER},
    {VIEW("+selected-slave"), SENTINEL_EVENT_FAILOVER},
    {VIEW("+failover-state-reconf-slaves"), SENTINEL_EVENT_MASTER},
    {VIEW("+failover-state-wait-promotion"), SENTINEL_EVENT_PROMOTING},
    {VIEW("+failover-state-*"), SENTINEL_EVENT_FAILOVER},
    {VIEW("-failover-abort-*"), SENTINEL_EVENT_ABORTED},
    {VIEW("+slave*"), SENTINEL_EVENT_REPLICAS},
    {VIEW("+sdown"), SENTINEL_EVENT_REPLICAS},
    {VIEW("-sdown"), SENTINEL_EVENT_REPLICAS},
    {VIEW("+fix-slave-config"), SENTINEL_EVENT_REPLICAS},
    {VIEW("+sentinel*"), SENTINEL_EVENT_SENTINELS},
    {VIEW("-dup-sentinel"), SENTINEL_EVENT_SENTINELS},
    {VIEW("+tilt"), SENTINEL_EVENT_TILT},
    {VIEW("-tilt"), SENTINEL_EVENT_TILT_END},
};

static bool
matches(struct view pattern, struct view channel)
{
    size_t len = pattern.len - 1;

    if (pattern.data[len] != '*')
        return view_equal(pattern, channel);
    return channel.len >= len &&
        memcmp(pattern.data, channel.data, len) == 0;
}

/* "slave 10.0.0.2:6379 10.0.0.2 6379 @ acc1 10.0.0.1 6379",
 * "master acc1 10.0.0.1 6379", or the words of a switch. */
static struct view
read_event_master(struct view channel, struct view payload)
{
    struct view first = view_take(&payload, ' ');

    if (view_equal(channel, VIEW("+switch-master")))
        return first;
    if (view_equal(first, VIEW("master")))
        return view_take(&payload, ' ');
    while (payload.len > 0) {
        if (view_equal(view_take(&payload, ' '), VIEW("@")))
            return view_take(&payload, ' ');
    }
    return VIEW("");
}

struct sentinel_event
sentinel_read_event(const struct sentinel_message *message)
{
    struct sentinel_event event = {.kind = SENTINEL_EVENT_NOISE};

    for (size_t i = 0; i < ARRAY_LEN(events); i++) {
        if (matches(events[i].channel, message->channel)) {
            event.kind = events[i].kind;
            break;
        }
    }
    if (event.kind != SENTINEL_EVENT_NOISE)
        event.master = read_event_master(message->channel, message->payload);
    return event;
}

bool
sentinel_read_hello(struct view payload, struct sentinel_hello *hello)
{
    *hello = (struct sentinel_hello){0};
    (void)view_take(&payload, ','); /* its address ... */
    (void)view_take(&payload, ','); /* ... and port */
    hello->run_id = view_take(&payload, ',');
    (void)view_take(&payload, ','); /* its current epoch */
    hello->master = view_take(&payload, ',');
    hello->host = view_take(&payload, ',');
    hello->port = port_of(view_take(&payload, ','));
    return view_to_u64(payload, &hello->epoch) && is_run_id(hello->run_id) &&
        is_host(hello->host) && hello->port > 0 && hello->master.len > 0;
}
