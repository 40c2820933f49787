/*
 * upstream/handshake.c - the first words to a server.
 */
#include "upstream/handshake.h"

#include "resp/encode.h"
#include "resp/reply_read.h"

unsigned
handshake_encode_auth(const char *user, const char *password, struct buf *out)
{
    if (password == NULL)
        return 0;
    encode_array(out, user == NULL ? 2 : 3);
    encode_bulk_str(out, "AUTH");
    if (user != NULL)
        encode_bulk_str(out, user);
    encode_bulk_str(out, password);
    return 1;
}

static unsigned
encode_hello(struct lane_key key, struct buf *out)
{
    if (key.resp == 2)
        return 0;
    encode_array(out, 2);
    encode_bulk_str(out, "HELLO");
    encode_bulk_u64(out, key.resp);
    return 1;
}

static unsigned
encode_select(uint64_t db, struct buf *out)
{
    if (db == 0)
        return 0;
    encode_array(out, 2);
    encode_bulk_str(out, "SELECT");
    encode_bulk_u64(out, db);
    return 1;
}

/* Else a replica sends everybody to its primary. */
static unsigned
encode_readonly(bool is_readonly, struct buf *out)
{
    if (!is_readonly)
        return 0;
    encode_array(out, 1);
    encode_bulk_str(out, "READONLY");
    return 1;
}

static unsigned
encode_role(const struct pool_settings *settings, struct buf *out)
{
    if (!handshake_has_role(settings))
        return 0;
    encode_array(out, 1);
    encode_bulk_str(out, "ROLE");
    return 1;
}

static unsigned
encode_ping(bool with_ping, struct buf *out)
{
    if (!with_ping)
        return 0;
    encode_array(out, 1);
    encode_bulk_str(out, "PING");
    return 1;
}

unsigned
handshake_encode(const struct pool_settings *settings, struct lane_key key,
                 bool with_ping, struct buf *out)
{
    unsigned replies = handshake_encode_auth(settings->redis_user,
                                             settings->redis_auth, out);

    replies += encode_hello(key, out);
    replies += encode_select(settings->redis_db + key.db, out);
    replies += encode_readonly(key.is_readonly, out);
    replies += encode_role(settings, out);
    replies += encode_ping(with_ping, out);
    return replies;
}

bool
handshake_is_primary(struct view reply)
{
    struct reply_item array, role;

    return reply_next(&reply, &array) && array.type == RESP_ARRAY &&
        reply_next(&reply, &role) && view_equal(role.text, VIEW("master"));
}

bool
handshake_is_database(const struct pool_settings *settings,
                      struct lane_key key, bool with_ping, unsigned left)
{
    return key.db > 0 &&
        left == 1u + key.is_readonly + handshake_has_role(settings) + with_ping;
}
