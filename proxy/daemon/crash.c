/*
 * daemon/crash.c - writing without the help of anything that may be broken.
 */
#include "daemon/crash.h"

#include <execinfo.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "base/doing.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"

#define STACK_SIZE 65536
#define FRAMES_MAX 64
#define LINE_MAX_BYTES 1024

struct crash_stack {
    char bytes[STACK_SIZE];
};

/* --- lines ------------------------------------------------------------------ */

/* A line that is being written; what does not fit is cut. */
struct line {
    char bytes[LINE_MAX_BYTES];
    size_t len;
};

static void
put_char(struct line *line, char c)
{
    if (line->len < sizeof(line->bytes) - 1)
        line->bytes[line->len++] = c;
}

static void
put(struct line *line, const char *text)
{
    for (; *text != '\0'; text++)
        put_char(line, *text);
}

/* At least `width` digits. */
static void
put_number(struct line *line, uint64_t number, unsigned base, unsigned width)
{
    static const char digits[] = "0123456789abcdef";
    char reversed[64];
    unsigned count = 0;

    do {
        reversed[count++] = digits[number % base];
        number /= base;
    } while (number > 0 || count < width);
    while (count > 0)
        put_char(line, reversed[--count]);
}

static void
put_field(struct line *line, const char *name, const char *value)
{
    if (value == NULL)
        return;
    put_char(line, ' ');
    put(line, name);
    put_char(line, '=');
    put(line, value);
}

static void
put_count(struct line *line, const char *name, uint64_t value)
{
    put_field(line, name, "");
    put_number(line, value, 10, 1);
}

/* Year, month and day of a number of days since 1970-01-01; gmtime_r() takes a
 * lock.  The year begins in March here, so that leap days end it. */
static void
put_date(struct line *line, uint64_t days)
{
    uint64_t since = days + 719468; /* 0000-03-01 */
    uint64_t era = since / 146097, day_of_era = since % 146097;
    uint64_t year_of_era = (day_of_era - day_of_era / 1460 +
                            day_of_era / 36524 - day_of_era / 146096) /
        365;
    uint64_t day_of_year = day_of_era -
        (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    uint64_t shifted = (5 * day_of_year + 2) / 153; /* months since March */
    uint64_t month = shifted < 10 ? shifted + 3 : shifted - 9;

    put_number(line, year_of_era + era * 400 + (month <= 2), 10, 4);
    put_char(line, '-');
    put_number(line, month, 10, 2);
    put_char(line, '-');
    put_number(line, day_of_year - (153 * shifted + 2) / 5 + 1, 10, 2);
}

static void
begin_line(struct line *line, const char *msg)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t seconds = (uint64_t)now.tv_sec;
    line->len = 0;
    put(line, "ts=");
    put_date(line, seconds / 86400);
    put_char(line, 'T');
    put_number(line, seconds / 3600 % 24, 10, 2);
    put_char(line, ':');
    put_number(line, seconds / 60 % 60, 10, 2);
    put_char(line, ':');
    put_number(line, seconds % 60, 10, 2);
    put_char(line, '.');
    put_number(line, (uint64_t)now.tv_nsec / 1000, 10, 6);
    put(line, "Z level=error msg=\"");
    put(line, msg);
    put_char(line, '"');
}

static void
end_line(struct line *line)
{
    line->bytes[line->len++] = '\n';
    ssize_t written = write(log_descriptor(), line->bytes, line->len);
    (void)written;
}

/* --- the handler -------------------------------------------------------------- */

static const struct {
    int number;
    const char *name;
} fatal[] = {
    {SIGSEGV, "SEGV"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},
    {SIGILL, "ILL"},   {SIGABRT, "ABRT"},
};

static const char *
signal_name(int number)
{
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++) {
        if (fatal[i].number == number)
            return fatal[i].name;
    }
    return "?";
}

static void
put_thread(struct line *line, const struct doing *doing)
{
    put_field(line, "thread", doing->thread != NULL ? doing->thread : "?");
    put_count(line, "number", doing->number);
}

static void
tell_signal(const siginfo_t *info)
{
    struct line line;

    begin_line(&line, "crashed");
    put_field(&line, "signal", signal_name(info->si_signo));
    /* A signal that somebody sent has no address but a sender. */
    if (info->si_code > 0) {
        put_field(&line, "addr", "0x");
        put_number(&line, (uintptr_t)info->si_addr, 16, 1);
    } else {
        put_count(&line, "sender", (uint64_t)info->si_pid);
    }
    put_thread(&line, &doing_now);
    put_count(&line, "pid", (uint64_t)getpid());
    put_field(&line, "version", POINTSMAN_VERSION);
    end_line(&line);
}

static void
tell_doing(const struct doing *doing)
{
    struct line line;

    begin_line(&line, "was doing");
    put_thread(&line, doing);
    put_field(&line, "pool", doing->pool);
    put_field(&line, "server", doing->server);
    if (doing->session_id > 0)
        put_count(&line, "id", doing->session_id);
    put_field(&line, "command", doing->command);
    if (doing == &doing_now)
        put_field(&line, "crashed", "1");
    end_line(&line);
}

static void
tell_all(const siginfo_t *info)
{
    void *frames[FRAMES_MAX];

    tell_signal(info);
    backtrace_symbols_fd(frames, backtrace(frames, FRAMES_MAX),
                         log_descriptor());
    for (unsigned i = 0; i < DOING_THREADS; i++) {
        const struct doing *doing = doing_at(i);
        if (doing != NULL)
            tell_doing(doing);
    }
}

static void
on_fatal(int number, siginfo_t *info, void *context)
{
    static bool is_told;
    struct sigaction fall = {.sa_handler = SIG_DFL};

    (void)context;
    /* A second thread that crashes waits for the end, which is near. */
    if (__atomic_exchange_n(&is_told, true, __ATOMIC_SEQ_CST)) {
        for (;;)
            pause();
    }
    tell_all(info);
    sigaction(number, &fall, NULL);
    raise(number); /* taken when we return */
}

/* --- setting up ----------------------------------------------------------------- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#endif
#ifndef HAS_SANITIZER
#define HAS_SANITIZER 0
#endif

void
crash_install(void)
{
    struct sigaction action = {.sa_sigaction = on_fatal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    void *frame;

    if (HAS_SANITIZER)
        return;
    (void)!backtrace(&frame, 1); /* loads the unwinder while that is safe */
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaction(fatal[i].number, &action, NULL);
}

/* Blocked, they would end the process without a word. */
static void
unblock_fatal(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(fatal); i++)
        sigaddset(&set, fatal[i].number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

struct crash_stack *
crash_join(const char *thread, unsigned number)
{
    struct crash_stack *stack = MEM_NEW(struct crash_stack);
    stack_t wanted = {.ss_sp = stack->bytes, .ss_size = STACK_SIZE};

    if (!HAS_SANITIZER)
        sigaltstack(&wanted, NULL);
    unblock_fatal();
    (void)doing_join(thread, number);
    return stack;
}

void
crash_leave(struct crash_stack **stackp)
{
    stack_t none = {.ss_flags = SS_DISABLE};

    doing_leave();
    if (!HAS_SANITIZER)
        sigaltstack(&none, NULL);
    mem_free(*stackp);
    *stackp = NULL;
}
