/*
 * upstream/handshake.c - the first words to a server.
 */
#include "upstream/handshake.h"

#include "resp/encode.h"
#include "resp/reply_read.h"

/* --- which steps ------------------------------------------------------------ */

struct plan {
    unsigned count;
    enum handshake_step steps[HANDSHAKE_STEPS_MAX];
};

static void
add(struct plan *plan, enum handshake_step step, bool is_needed)
{
    if (!is_needed)
        return;
    ASSERT(plan->count < HANDSHAKE_STEPS_MAX);
    plan->steps[plan->count++] = step;
}

/* Else a replica in a cluster sends everybody to its primary; others do not know
 * the word. */
static bool
needs_readonly(const struct pool_settings *settings, struct lane_key key)
{
    return key.is_readonly && pool_is_cluster(settings);
}

/* Does a server have to say its role, or is it believed whatever it is?  While a
 * script runs it says nothing, and may be told to end that. */
static bool
needs_role(const struct pool_settings *settings, struct lane_key key)
{
    return pool_is_named(settings) && !key.is_aside;
}

static bool
needs_select(const struct pool_settings *settings, struct lane_key key)
{
    return settings->redis_db + key.db != 0;
}

static void
add_connection(struct plan *plan, const struct pool_settings *settings,
               struct lane_key key)
{
    add(plan, HANDSHAKE_HELLO, key.resp != 2);
    add(plan, HANDSHAKE_SELECT, needs_select(settings, key));
}

static void
add_server(struct plan *plan, const struct pool_settings *settings,
           struct lane_key key)
{
    add(plan, HANDSHAKE_READONLY, needs_readonly(settings, key));
    add(plan, HANDSHAKE_ROLE, needs_role(settings, key));
}

static void
add_login(struct plan *plan, const struct pool_settings *settings,
          const struct login *login, struct lane_key key)
{
    bool keeps = login->keeps_database && needs_select(settings, key);

    add(plan, HANDSHAKE_AUTH,
        settings->redis_auth != NULL &&
            (keeps || needs_readonly(settings, key) ||
             needs_role(settings, key)));
    add_server(plan, settings, key);
    add(plan, HANDSHAKE_KEEP, keeps);
    add(plan, HANDSHAKE_LOGIN, true);
    add_connection(plan, settings, key);
}

static struct plan
plan_of(const struct pool_settings *settings, const struct login *login,
        struct lane_key key, bool with_ping)
{
    struct plan plan = {0};

    if (key.user == LOGIN_POOL) {
        add(&plan, HANDSHAKE_AUTH, settings->redis_auth != NULL);
        add_connection(&plan, settings, key);
        add_server(&plan, settings, key);
    } else if (key.user != LOGIN_ASKING) {
        add_login(&plan, settings, login, key);
    }
    add(&plan, HANDSHAKE_PING, with_ping);
    return plan;
}

enum handshake_step
handshake_step(const struct pool_settings *settings,
               const struct login *login, struct lane_key key, bool with_ping,
               unsigned left)
{
    struct plan plan = plan_of(settings, login, key, with_ping);

    ASSERT(left > 0 && left <= plan.count);
    return plan.steps[plan.count - left];
}

/* --- their words ------------------------------------------------------------ */

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

static void
encode_login(const struct login *login, struct buf *out)
{
    encode_array(out, 3);
    encode_bulk_str(out, "AUTH");
    encode_bulk(out, buf_view(&login->name));
    encode_bulk(out, buf_view(&login->password));
}

static void
encode_number(const char *word, uint64_t number, struct buf *out)
{
    encode_array(out, 2);
    encode_bulk_str(out, word);
    encode_bulk_u64(out, number);
}

static void
encode_word(const char *word, struct buf *out)
{
    encode_array(out, 1);
    encode_bulk_str(out, word);
}

static void
encode_step(enum handshake_step step, const struct pool_settings *settings,
            const struct login *login, struct lane_key key, struct buf *out)
{
    switch (step) {
    case HANDSHAKE_AUTH:
        (void)handshake_encode_auth(settings->redis_user,
                                    settings->redis_auth, out);
        break;
    case HANDSHAKE_LOGIN:
        encode_login(login, out);
        break;
    case HANDSHAKE_HELLO:
        encode_number("HELLO", key.resp, out);
        break;
    case HANDSHAKE_KEEP:
    case HANDSHAKE_SELECT:
        encode_number("SELECT", settings->redis_db + key.db, out);
        break;
    case HANDSHAKE_READONLY:
        encode_word("READONLY", out);
        break;
    case HANDSHAKE_ROLE:
        encode_word("ROLE", out);
        break;
    case HANDSHAKE_PING:
        encode_word("PING", out);
        break;
    }
}

unsigned
handshake_encode(const struct pool_settings *settings,
                 const struct login *login, struct lane_key key,
                 bool with_ping, struct buf *out)
{
    struct plan plan = plan_of(settings, login, key, with_ping);

    for (unsigned i = 0; i < plan.count; i++)
        encode_step(plan.steps[i], settings, login, key, out);
    return plan.count;
}

bool
handshake_has_right_role(struct lane_key key, struct view reply)
{
    struct view wanted = key.is_readonly ? VIEW("slave") : VIEW("master");
    struct reply_item array, role;

    return reply_next(&reply, &array) && array.type == RESP_ARRAY &&
        reply_next(&reply, &role) && view_equal(role.text, wanted);
}
