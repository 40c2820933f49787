/*
 * daemon/crash.h - the last words: what happened, where, and what everybody did.
 *
 * On SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT (which a failed ASSERT ends
 * in) the log gets a line about the signal, the stack of the thread, and a line
 * for each thread; then the process dies by the same signal, so that its exit
 * status is right and a core is written where the system is set up to.
 *
 * The handler only calls what is safe in one, but for the unwinder, which is
 * loaded beforehand.  Builds with a sanitizer leave these signals to it.
 */
#ifndef DAEMON_CRASH_H
#define DAEMON_CRASH_H

struct crash_stack;

/* Once, early. */
void crash_install(void);

/* The calling thread: give it a stack for the handler, so that an overflow of
 * its own stack can be told too, and a name.  Free it at the thread's end. */
struct crash_stack *crash_join(const char *thread, unsigned number);
void crash_leave(struct crash_stack **stackp);

#endif
