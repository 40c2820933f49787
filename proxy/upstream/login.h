/*
 * upstream/login.h - as whom clients are known to the servers of a pool.
 *
 *   session --users--> login 3: "alice", her password <--lanes-- lane (user 3)
 *
 * Clients that servers have let in (AUTH, where the pool asks them) are told apart
 * by a number, which is part of what calls must have in common to share a lane; a
 * lane says AUTH for its login before it carries anything.  Number 0 is the pool
 * itself, as whom those go who have not said who they are.
 *
 * Two clients have the same login if they have given the same name and the same
 * password, and have chosen their database before that or since: servers let a user
 * stay in the database of the one before who may not SELECT.  The last one that goes
 * over to another, or leaves, ends it: lanes are closed as they become idle, and
 * with the last of them the password is wiped.
 *
 * Owner: struct pool.  One loop only.
 */
#ifndef UPSTREAM_LOGIN_H
#define UPSTREAM_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define LOGIN_POOL 0        /* no login: as the pool */
#define LOGIN_ASKING 0xffff /* nobody: over such lanes only AUTH is said */
#define LOGIN_MAX 0xfffe
#define LOGIN_PAUSE_MS 100

struct pool;

struct login {
    uint16_t number;
    uint32_t users; /* sessions */
    uint32_t lanes;
    bool keeps_database; /* which was chosen before */
    uint64_t pause_until_us; /* a server has refused it: no new lanes */
    struct buf name;
    struct buf password;
};

/* Is there somebody behind this number? */
static inline bool
login_is_somebody(uint16_t number)
{
    return number != LOGIN_POOL && number != LOGIN_ASKING;
}

/* The number of who says this, with one user more; 0: there are too many. */
uint16_t login_join(struct pool *pool, struct view name, struct view password,
                    bool keeps_database) MUST_CHECK;
/* One user more of a number. */
void login_ref(struct pool *pool, uint16_t number);
/* One less: the last ends it. */
void login_leave(struct pool *pool, uint16_t number);
/* Whoever that is: never NULL for a number in use by somebody. */
const struct login *login_get(const struct pool *pool, uint16_t number);
/* No client is known by it any more. */
bool login_is_over(const struct pool *pool, uint16_t number) MUST_CHECK;

/* A server has refused it: who goes on asking shall not have all the connections
 * that may be begun.  Is that over? */
void login_note_refused(struct pool *pool, uint16_t number);
bool login_may_connect(const struct pool *pool, uint16_t number,
                       int64_t *pause_ms) MUST_CHECK;

/* A lane goes by it, or does so no more. */
void login_add_lane(struct pool *pool, uint16_t number);
void login_remove_lane(struct pool *pool, uint16_t number);

#endif
