/*
 * daemon/control.c - the thread that knows about all others.
 */
#include "daemon/control_priv.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/log_limit.h"
#include "base/mem.h"

#define TICK_MS 1000
#define US_PER_S 1000000

/* --- the end ------------------------------------------------------------------- */

static void
control_stop(struct control *control)
{
    if (control->state == CONTROL_STOPPED)
        return;
    control->state = CONTROL_STOPPED;
    loop_stop(control->loop);
}

static void
take_drained(struct control *control)
{
    if (control->state == CONTROL_DRAINING &&
        ++control->drained == control->worker_count)
        control_stop(control);
}

static void
on_shutdown_timeout(struct timer *timer, void *arg)
{
    struct control *control = arg;

    (void)timer;
    log_warn("closing connections that still wait for answers",
             "busy_workers=%u", control->worker_count - control->drained);
    control_stop(control);
}

static void
on_tick(struct timer *timer, void *arg)
{
    const struct control *control = arg;

    log_limit_tick(loop_now_us(control->loop) / US_PER_S);
    timer_start(timer, TICK_MS);
}

static void
control_drain(struct control *control)
{
    struct message message = {.kind = MESSAGE_DRAIN};

    if (control->state != CONTROL_RUNNING)
        return;
    control->state = CONTROL_DRAINING;
    door_close(control->door);
    timer_start(&control->shutdown,
                control->snapshot->settings->shutdown_timeout_ms);
    for (unsigned i = 0; i < control->worker_count; i++)
        (void)!mailbox_post(&control->workers[i]->mailbox, &message);
}

static void
reopen_log(const struct control *control)
{
    struct error error;

    if (log_open(control->snapshot->settings->log_file, &error) == 0) {
        log_info("log reopened", "pid=%ld", (long)getpid());
        return;
    }
    log_error("cannot reopen the log", "error=\"%s\"", error.text);
    /* The file written on may be gone from where people look. */
    fprintf(stderr, "pointsman: %s\n", error.text);
}

static void
on_signal(struct signal_watch *watch, int signal, void *arg)
{
    struct control *control = arg;
    char quoted[LOG_PATH_MAX];

    (void)watch;
    switch (signal) {
    case SIGTERM:
        log_info("draining", "signal=TERM");
        control_drain(control);
        break;
    case SIGINT:
        log_info("stopping", "signal=INT");
        control_stop(control);
        break;
    case SIGUSR1:
        reopen_log(control);
        break;
    case SIGHUP:
        log_info("reloading", "signal=HUP file=%s",
                 log_quote(quoted, sizeof(quoted), view_str(control->path)));
        control_reload(control);
        break;
    }
}

/* --- who is live -------------------------------------------------------------------- */

static void
on_live(void *arg, size_t number, const bool *live)
{
    struct control *control = arg;
    const struct settings *settings = control->snapshot->settings;
    struct error error;

    if (control->state == CONTROL_RUNNING &&
        control_publish_live(control, number, live, &error) < 0)
        log_error("cannot change the distribution", "pool=%s error=\"%s\"",
                  settings->pools[number].name, error.text);
}

/* --- names ---------------------------------------------------------------------------- */

static void
on_names(void *arg)
{
    control_publish_addresses(arg);
}

static void
on_failure(void *arg, const char *host)
{
    const struct control *control = arg;

    names_hint(control->names, host);
}

static int
start_names(struct control *control, const struct settings *settings,
            struct error *error)
{
    struct resolver *resolver =
        names_make_resolver(control->loop, settings, error);

    if (resolver == NULL)
        return -1;
    names_configure(control->names, resolver, settings);
    return 0;
}

/* --- messages -------------------------------------------------------------------- */

static void
on_message(void *arg, struct message *message)
{
    struct control *control = arg;

    switch (message->kind) {
    case MESSAGE_QUESTION:
        gather_take_question(control, message);
        break;
    case MESSAGE_TOLD:
        gather_take_told(control, message);
        break;
    case MESSAGE_INCIDENTS:
        prober_take_incidents(control->prober, message);
        break;
    case MESSAGE_DRAINED:
        take_drained(control);
        break;
    case MESSAGE_HINT:
        clusters_take_hint(control, message);
        masters_take_hint(control, message);
        break;
    case MESSAGE_SEEN:
        monitors_pass_on(control, message);
        break;
    case MESSAGE_UNWATCHED:
        monitors_end(control, message->worker, message->pool);
        break;
    case MESSAGE_LET_GO:
        control_take_let_go(control, message->worker, message->id);
        break;
    case MESSAGE_CLIENT:
    case MESSAGE_EDITION:
    case MESSAGE_SURVEY:
    case MESSAGE_ANSWER:
    case MESSAGE_VERDICT:
    case MESSAGE_WATCH:
    case MESSAGE_SHOW:
    case MESSAGE_RELAY:
    case MESSAGE_DRAIN:
    case MESSAGE_STOP:
        ASSERT(!"a message for a worker");
    }
}

/* --- what admin asks --------------------------------------------------------------- */

static bool
is_ready(void *arg)
{
    struct control *control = arg;

    return control->state == CONTROL_RUNNING;
}

static bool
pool_is_ready(void *arg, size_t pool)
{
    struct control *control = arg;
    struct cluster *cluster = clusters_find(control, pool);
    struct sentinels *sentinels = masters_find(control, pool);

    return is_ready(arg) && prober_pool_is_ready(control->prober, pool) &&
        (cluster == NULL || cluster_is_covered(cluster)) &&
        (sentinels == NULL || sentinels_are_ready(sentinels));
}

static const char *
pool_address(void *arg, size_t pool)
{
    struct control *control = arg;

    return door_address(control->door,
                        control->snapshot->settings->pools[pool].name);
}

static bool
pool_cluster(void *arg, size_t pool, struct cluster_facts *facts)
{
    struct control *control = arg;
    const struct cluster *cluster = clusters_find(control, pool);

    if (cluster == NULL)
        return false;
    facts->stats = cluster_stats(cluster);
    facts->confirmed_us = cluster_confirmed_us(cluster);
    facts->now_us = loop_clock_us(control->loop);
    return true;
}

static bool
name_facts(void *arg, size_t number, struct name_facts *facts)
{
    const struct control *control = arg;

    return names_facts(control->names, number, facts);
}

static const struct sentinels *
pool_sentinels(void *arg, size_t pool)
{
    return masters_find(arg, pool);
}

static void
fill_source(struct control *control)
{
    struct admin_source *source = &control->source;
    unsigned count = control->worker_count;

    source->workers = count;
    source->editions = mem_array(count, sizeof(void *));
    source->worker_stats = mem_array(count, sizeof(void *));
    for (unsigned i = 0; i < count; i++)
        source->worker_stats[i] = &control->workers[i]->stats;
    source->is_ready = is_ready;
    source->pool_is_ready = pool_is_ready;
    source->pool_address = pool_address;
    source->pool_cluster = pool_cluster;
    source->name_facts = name_facts;
    source->pool_sentinels = pool_sentinels;
    source->arg = control;
    admin_source_stamp(source);
}

/* --- life --------------------------------------------------------------------------- */

static const int signals_wanted[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};

/* `how`: SIG_BLOCK while they are not watched for, or SIG_UNBLOCK. */
static void
mask_signals(int how)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals_wanted); i++)
        sigaddset(&set, signals_wanted[i]);
    pthread_sigmask(how, &set, NULL);
}

static void
watch_signals(struct control *control)
{
    for (size_t i = 0; i < ARRAY_LEN(signals_wanted); i++)
        signal_watch_start(&control->signals[i], control->loop,
                           signals_wanted[i], on_signal, control);
    /* Those that came before, or that our parent did not want. */
    mask_signals(SIG_UNBLOCK);
}

/* One that comes now must not change the status that we end with. */
static void
unwatch_signals(struct control *control)
{
    mask_signals(SIG_BLOCK);
    for (size_t i = 0; i < ARRAY_LEN(signals_wanted); i++)
        signal_watch_stop(&control->signals[i]);
}

/* They begin with the edition that they find in their box. */
static void
make_workers(struct control *control, unsigned count)
{
    control->worker_count = count;
    control->workers = mem_array(count, sizeof(struct worker *));
    for (unsigned i = 0; i < count; i++)
        control->workers[i] = worker_new(i, count, &control->mailbox,
                                         &control->memory.budget);
    for (unsigned i = 0; i < count; i++)
        control->workers[i]->all = control->workers;
}

static int
open_stats(struct control *control, struct error *error)
{
    const struct settings *settings = control->snapshot->settings;

    if (!settings->has_stats)
        return 0;
    control->admin = admin_new(control->loop, &control->source,
                               &settings->stats, error);
    if (control->admin == NULL)
        return -1;
    log_info("stats listening", "addr=%s", admin_address(control->admin));
    return 0;
}

struct control *
control_new(const char *path, struct snapshot *snapshot, struct error *error)
{
    struct control *control = MEM_NEW(struct control);
    unsigned workers = snapshot->settings->workers;

    control->path = path;
    control->loop = loop_new();
    TAILQ_INIT(&control->gathers);
    LIST_INIT(&control->monitored);
    TAILQ_INIT(&control->clusters);
    TAILQ_INIT(&control->masters);
    timer_init(&control->tick, control->loop, on_tick, control);
    timer_init(&control->shutdown, control->loop, on_shutdown_timeout, control);
    mailbox_init(&control->mailbox, control->loop, on_message, control);
    make_workers(control, workers);
    fill_source(control);
    memory_watch_start(&control->memory, control->loop, &control->source);
    control->ledger = ledger_new(workers);
    control->prober = prober_new(control->loop, control->workers, workers,
                                 control->source.editions);
    prober_on_live(control->prober, on_live, control);
    prober_on_failure(control->prober, on_failure, control);
    control->names = names_new(control->loop, on_names, control);
    control->source.name_stats = names_stats(control->names);
    control->door =
        door_new(control->loop, control->ledger, control->workers, workers,
                 &control->source.control_stats.accept_rests,
                 &control->memory.budget);
    control->epochs = epochs_new(snapshot->settings->state_file, error);
    if (control->epochs != NULL &&
        start_names(control, snapshot->settings, error) == 0 &&
        door_prepare(control->door, snapshot->settings, error) == 0) {
        control_publish(control, snapshot_ref(snapshot));
        clusters_take(control);
        masters_take(control);
        if (open_stats(control, error) == 0)
            return control;
    }
    control_free(&control);
    return NULL;
}

static void
stop_workers(struct control *control)
{
    struct message message = {.kind = MESSAGE_STOP};

    for (unsigned i = 0; i < control->worker_count; i++)
        worker_tell(control->workers[i], &message);
    for (unsigned i = 0; i < control->worker_count; i++)
        worker_stop(control->workers[i]);
}

void
control_run(struct control *control)
{
    watch_signals(control);
    for (unsigned i = 0; i < control->worker_count; i++)
        worker_start(control->workers[i]);
    log_info("ready", "workers=%u pools=%zu", control->worker_count,
             control->snapshot->settings->pool_count);
#ifdef HAVE_SYSTEMD
    sd_notify(0, "READY=1");
#endif
    timer_start(&control->tick, TICK_MS);
    loop_run(control->loop);
#ifdef HAVE_SYSTEMD
    sd_notify(0, "STOPPING=1");
#endif
    stop_workers(control);
    unwatch_signals(control);
    log_limit_flush();
    log_info("stopped", "pid=%ld", (long)getpid());
}

static void
free_source(struct control *control)
{
    for (unsigned i = 0; i < control->worker_count; i++)
        edition_free(&control->source.editions[i]);
    mem_free(control->source.editions);
    mem_free(control->source.worker_stats);
}

void
control_free(struct control **controlp)
{
    struct control *control = *controlp;

    *controlp = NULL;
    if (control == NULL)
        return;
    admin_free(&control->admin);
    prober_free(&control->prober);
    door_free(&control->door);
    gather_end_all(control);
    monitors_free(control);
    timer_stop(&control->shutdown);
    clusters_free(control);
    names_free(&control->names);
    masters_free(control);
    epochs_free(&control->epochs);
    timer_stop(&control->tick);
    memory_watch_stop(&control->memory);
    for (unsigned i = 0; i < control->worker_count; i++)
        worker_free(&control->workers[i]);
    mem_free(control->workers);
    free_source(control);
    ledger_free(&control->ledger);
    mailbox_fini(&control->mailbox);
    loop_free(&control->loop);
    snapshot_unref(&control->snapshot);
    mem_free(control);
}
