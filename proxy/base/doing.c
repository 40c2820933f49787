/*
 * base/doing.c - where to find the threads' notes.
 */
#include "base/doing.h"

_Thread_local struct doing doing_now;

static struct doing *joined[DOING_THREADS];

static bool
swap(unsigned place, struct doing *from, struct doing *to)
{
    return __atomic_compare_exchange_n(&joined[place], &from, to, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

bool
doing_join(const char *thread, unsigned number)
{
    doing_now = (struct doing){.thread = thread, .number = number};
    for (unsigned i = 0; i < DOING_THREADS; i++) {
        if (swap(i, NULL, &doing_now))
            return true;
    }
    return false;
}

void
doing_leave(void)
{
    for (unsigned i = 0; i < DOING_THREADS; i++)
        (void)swap(i, &doing_now, NULL);
    doing_now = (struct doing){0};
}

const struct doing *
doing_at(unsigned place)
{
    return __atomic_load_n(&joined[place], __ATOMIC_ACQUIRE);
}
