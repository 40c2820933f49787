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

/* Else a replica in a cluster sends everybody to its primary; others do not know
 * the word. */
static bool
has_readonly(const struct pool_settings *settings, struct lane_key key)
{
    return key.is_readonly && pool_is_cluster(settings);
}

static unsigned
encode_readonly(const struct pool_settings *settings, struct lane_key key,
                struct buf *out)
{
    if (!has_readonly(settings, key))
        return 0;
    encode_array(out, 1);
    encode_bulk_str(out, "READONLY");
    return 1;
}

static unsigned
encode_role(const struct pool_settings *settings, struct lane_key key,
            struct buf *out)
{
    if (!handshake_has_role(settings, key))
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
    replies += encode_readonly(settings, key, out);
    replies += encode_role(settings, key, out);
    replies += encode_ping(with_ping, out);
    return replies;
}

bool
handshake_has_right_role(struct lane_key key, struct view reply)
{
    struct view wanted = key.is_readonly ? VIEW("slave") : VIEW("master");
    struct reply_item array, role;

    return reply_next(&reply, &array) && array.type == RESP_ARRAY &&
        reply_next(&reply, &role) && view_equal(role.text, wanted);
}

bool
handshake_is_database(const struct pool_settings *settings,
                      struct lane_key key, bool with_ping, unsigned left)
{
    return key.db > 0 &&
        left == 1u + has_readonly(settings, key) +
            handshake_has_role(settings, key) + with_ping;
}
