/*
 * upstream/login.c - numbers for names and passwords.
 */
#include "upstream/login.h"

#include <string.h>

#include "base/mem.h"
#include "upstream/pool.h"

/* --- the table ---------------------------------------------------------------- */

static struct login **
place_of(const struct pool *pool, uint16_t number)
{
    return &pool->logins[number - 1];
}

const struct login *
login_get(const struct pool *pool, uint16_t number)
{
    ASSERT(login_is_somebody(number) && number <= pool->login_room);
    return *place_of(pool, number);
}

/* Who says the same, or NULL. */
static struct login *
find(const struct pool *pool, struct view name, struct view password,
     bool keeps_database)
{
    for (uint32_t i = 0; i < pool->login_room; i++) {
        struct login *login = pool->logins[i];
        if (login != NULL && login->keeps_database == keeps_database &&
            view_equal(buf_view(&login->name), name) &&
            view_equal(buf_view(&login->password), password))
            return login;
    }
    return NULL;
}

static void
grow(struct pool *pool)
{
    uint32_t room = MIN(MAX(2 * pool->login_room, 8u), (uint32_t)LOGIN_MAX);

    pool->logins = mem_realloc(pool->logins, room * sizeof(struct login *));
    for (uint32_t i = pool->login_room; i < room; i++)
        pool->logins[i] = NULL;
    pool->login_room = room;
}

/* A number that nobody has; 0: there is none. */
static uint16_t
free_number(struct pool *pool)
{
    for (uint32_t i = 0; i < pool->login_room; i++) {
        if (pool->logins[i] == NULL)
            return (uint16_t)(i + 1);
    }
    if (pool->login_room == LOGIN_MAX)
        return 0;
    uint32_t before = pool->login_room;
    grow(pool);
    return (uint16_t)(before + 1);
}

/* So that no compiler takes it for a write that nobody reads. */
static void
wipe(struct buf *text)
{
    volatile char *bytes = text->data;

    for (size_t i = 0; i < text->len; i++)
        bytes[i] = 0;
    buf_fini(text);
}

static void
free_if_unused(struct pool *pool, struct login *login)
{
    if (login->users > 0 || login->lanes > 0)
        return;
    *place_of(pool, login->number) = NULL;
    buf_fini(&login->name);
    wipe(&login->password);
    mem_free(login);
}

/* --- users ------------------------------------------------------------------- */

uint16_t
login_join(struct pool *pool, struct view name, struct view password,
           bool keeps_database)
{
    struct login *login = find(pool, name, password, keeps_database);

    if (login == NULL) {
        uint16_t number = free_number(pool);
        if (number == 0)
            return LOGIN_POOL;
        login = MEM_NEW(struct login);
        login->number = number;
        login->keeps_database = keeps_database;
        buf_append_view(&login->name, name);
        buf_append_view(&login->password, password);
        *place_of(pool, number) = login;
    }
    login->users++;
    return login->number;
}

void
login_ref(struct pool *pool, uint16_t number)
{
    if (login_is_somebody(number))
        (*place_of(pool, number))->users++;
}

void
login_leave(struct pool *pool, uint16_t number)
{
    struct server *server;

    if (likely(!login_is_somebody(number)))
        return;
    struct login *login = *place_of(pool, number);
    if (--login->users > 0)
        return;
    login->lanes++; /* while its lanes are closed */
    TAILQ_FOREACH(server, &pool->servers, link)
    {
        server_end_login(server, number);
    }
    login->lanes--;
    free_if_unused(pool, login);
}

bool
login_is_over(const struct pool *pool, uint16_t number)
{
    return login_is_somebody(number) &&
        (*place_of(pool, number))->users == 0;
}

/* --- refusals ---------------------------------------------------------------- */

void
login_note_refused(struct pool *pool, uint16_t number)
{
    if (login_is_somebody(number))
        (*place_of(pool, number))->pause_until_us =
            loop_now_us(pool->loop) + LOGIN_PAUSE_MS * UINT64_C(1000);
}

bool
login_may_connect(const struct pool *pool, uint16_t number, int64_t *pause_ms)
{
    uint64_t now_us = loop_now_us(pool->loop);

    if (likely(!login_is_somebody(number)))
        return true;
    const struct login *login = *place_of(pool, number);
    if (now_us >= login->pause_until_us)
        return true;
    *pause_ms = (int64_t)((login->pause_until_us - now_us) / 1000 + 1);
    return false;
}

/* --- lanes ------------------------------------------------------------------- */

void
login_add_lane(struct pool *pool, uint16_t number)
{
    if (unlikely(login_is_somebody(number)))
        (*place_of(pool, number))->lanes++;
}

void
login_remove_lane(struct pool *pool, uint16_t number)
{
    if (likely(!login_is_somebody(number)))
        return;
    struct login *login = *place_of(pool, number);
    login->lanes--;
    free_if_unused(pool, login);
}
