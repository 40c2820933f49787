/*
 * base/log_limit.c - how often each kind of line was written lately.
 */
#include "base/log_limit.h"

#include <stdarg.h>

#define WORD_MAX 96 /* of pool and key; what is longer is cut */

/* One kind of line; free when msg is NULL. */
struct kind {
    const char *msg;
    char pool[WORD_MAX];
    char key[WORD_MAX];
    enum log_level level;
    uint64_t since_s;
    uint64_t written; /* since then ... */
    uint64_t held;    /* ... and kept back */
};

/* What a thread has said lately. */
struct memory {
    struct kind kinds[LOG_LIMIT_KINDS];
    uint64_t now_s;
};

static _Thread_local struct memory memory;
static uint64_t limit = 10;

static void
tell(struct kind *kind)
{
    if (kind->held == 0)
        return;
    log_write(kind->level, "repeated",
              "line=\"%s\"%s%s%s%s times=%llu seconds=%llu", kind->msg,
              kind->pool[0] != '\0' ? " pool=" : "", kind->pool,
              kind->key[0] != '\0' ? " key=" : "", kind->key,
              (unsigned long long)kind->held,
              (unsigned long long)(memory.now_s - kind->since_s));
    kind->held = 0;
}

static bool
is_word(const char *kept, const char *word)
{
    return strncmp(kept, word, WORD_MAX - 1) == 0;
}

static bool
is_kind(const struct kind *kind, const char *pool, const char *key,
        const char *msg)
{
    return kind->msg != NULL && strcmp(kind->msg, msg) == 0 &&
        is_word(kind->pool, pool) && is_word(kind->key, key);
}

/* A free place, else that of the kind that has been there for the longest. */
static struct kind *
make_room(void)
{
    struct kind *oldest = &memory.kinds[0];

    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        struct kind *kind = &memory.kinds[i];
        if (kind->msg == NULL)
            return kind;
        if (kind->since_s < oldest->since_s)
            oldest = kind;
    }
    tell(oldest);
    return oldest;
}

static struct kind *
get_kind(enum log_level level, const char *pool, const char *key,
         const char *msg)
{
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        if (is_kind(&memory.kinds[i], pool, key, msg))
            return &memory.kinds[i];
    }
    struct kind *kind = make_room();
    *kind = (struct kind){.msg = msg, .level = level, .since_s = memory.now_s};
    snprintf(kind->pool, WORD_MAX, "%s", pool);
    snprintf(kind->key, WORD_MAX, "%s", key);
    return kind;
}

void
log_limit_set(uint64_t lines)
{
    __atomic_store_n(&limit, lines, __ATOMIC_RELAXED);
}

/* Count one more line of this kind; true when it is not to be written. */
static bool
is_enough(enum log_level level, const char *pool, const char *key,
          const char *msg)
{
    uint64_t most = __atomic_load_n(&limit, __ATOMIC_RELAXED);

    if (most == 0)
        return false;
    struct kind *kind =
        get_kind(level, pool != NULL ? pool : "", key != NULL ? key : "", msg);
    if (kind->written >= most) {
        kind->held++;
        return true;
    }
    kind->written++;
    return false;
}

void
log_limited(enum log_level level, const char *pool, const char *key,
            const char *msg, const char *fmt, ...)
{
    va_list args;

    if (level != LOG_LEVEL_DEBUG && is_enough(level, pool, key, msg))
        return;
    va_start(args, fmt);
    log_vwrite(level, msg, fmt, args);
    va_end(args);
}

void
log_limit_tick(uint64_t now_s)
{
    memory.now_s = now_s;
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        struct kind *kind = &memory.kinds[i];
        if (kind->msg == NULL || now_s < kind->since_s + LOG_LIMIT_SECONDS)
            continue;
        tell(kind);
        kind->msg = NULL;
    }
}

void
log_limit_flush(void)
{
    for (size_t i = 0; i < LOG_LIMIT_KINDS; i++) {
        if (memory.kinds[i].msg != NULL)
            tell(&memory.kinds[i]);
        memory.kinds[i].msg = NULL;
    }
}
