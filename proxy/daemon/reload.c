/*
 * daemon/reload.c - the file has changed: all of it, or nothing.
 *
 *   load, check -> open what is new -> publish -> close what is gone
 *        |                |
 *        +----------------+--> refused: nothing has changed
 */
#include <string.h>

#include "base/log_limit.h"
#include "daemon/control_priv.h"
#include "daemon/descriptors.h"
#include "daemon/messages.h"

#define QUOTED_MAX 512

static bool
text_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* --- loading ------------------------------------------------------------------- */

/* What a running process cannot change. */
static int
check_fixed(const struct settings *now, const struct settings *wanted,
            struct error *error)
{
    if (wanted->workers != now->workers)
        return error_set(error, "workers cannot change while running: there "
                         "are %u, the file says %u; restart to change it",
                         now->workers, wanted->workers);
    if (!text_equal(wanted->pid_file, now->pid_file))
        return error_set(error, "pid_file cannot change while running; "
                         "restart to change it");
    return 0;
}

static struct settings *
load_settings(const struct control *control, struct error *error)
{
    struct buf messages = {0};
    struct settings *settings = settings_load(control->path, &messages);

    messages_log(&messages);
    buf_fini(&messages);
    if (settings == NULL)
        error_set(error, "the file has errors");
    else if (check_fixed(control->snapshot->settings, settings, error) < 0)
        settings_free(&settings);
    else
        descriptors_bound_clients(settings);
    return settings;
}

static struct snapshot *
load_snapshot(const struct control *control, struct error *error)
{
    struct settings *settings = load_settings(control, error);
    struct snapshot *snapshot =
        settings == NULL ? NULL : snapshot_new(settings, error);

    if (snapshot == NULL)
        settings_free(&settings);
    return snapshot;
}

/* --- opening --------------------------------------------------------------------- */

static bool
stats_stay(const struct settings *now, const struct settings *wanted)
{
    return now->has_stats == wanted->has_stats &&
        (!now->has_stats || text_equal(now->stats.text, wanted->stats.text));
}

/* *adminp: what shall answer on the stats port, the old one if it stays. */
static int
open_stats(struct control *control, const struct settings *wanted,
           struct admin **adminp, struct error *error)
{
    *adminp = control->admin;
    if (stats_stay(control->snapshot->settings, wanted))
        return 0;
    *adminp = NULL;
    if (!wanted->has_stats)
        return 0;
    *adminp =
        admin_new(control->loop, &control->source, &wanted->stats, error);
    return *adminp == NULL ? -1 : 0;
}

static int
open_log(const struct control *control, const struct settings *wanted,
         struct error *error)
{
    if (text_equal(control->snapshot->settings->log_file, wanted->log_file))
        return 0;
    return log_open(wanted->log_file, error);
}

/* Everything that may fail; the log is last, as it cannot be taken back. */
static int
open_all(struct control *control, const struct settings *wanted,
         struct admin **adminp, struct error *error)
{
    if (door_prepare(control->door, wanted, error) < 0)
        return -1;
    if (open_stats(control, wanted, adminp, error) == 0) {
        if (open_log(control, wanted, error) == 0)
            return 0;
        if (*adminp != control->admin)
            admin_free(adminp);
    }
    door_abort(control->door);
    return -1;
}

/* --- going on by it ---------------------------------------------------------------- */

static void
replace_admin(struct control *control, struct admin *admin)
{
    if (admin == control->admin)
        return;
    admin_free(&control->admin);
    control->admin = admin;
    if (admin != NULL)
        log_info("stats listening", "addr=%s", admin_address(admin));
}

/* Takes the resolver over. */
static void
go_on_by(struct control *control, struct snapshot *snapshot,
         struct resolver *resolver)
{
    const struct settings *settings = snapshot->settings;

    log_set_level(settings->log_level);
    log_limit_set(settings->log_repeats);
    names_configure(control->names, resolver, settings);
    clusters_keep_maps(control, snapshot);
    masters_keep(control, snapshot);
    control_publish(control, snapshot);
    clusters_take(control);
    masters_take(control);
}

static int
try_reload(struct control *control, struct error *error)
{
    struct admin *admin = NULL;

    if (control->state != CONTROL_RUNNING)
        return error_set(error, "the process is draining");
    struct snapshot *snapshot = load_snapshot(control, error);
    if (snapshot == NULL)
        return -1;
    struct resolver *resolver =
        names_make_resolver(control->loop, snapshot->settings, error);
    if (resolver == NULL ||
        open_all(control, snapshot->settings, &admin, error) < 0) {
        resolver_free(&resolver);
        snapshot_unref(&snapshot);
        return -1;
    }
    go_on_by(control, snapshot, resolver);
    replace_admin(control, admin);
    return 0;
}

void
control_reload(struct control *control)
{
    struct control_stats *stats = &control->source.control_stats;
    char path[LOG_PATH_MAX], quoted[QUOTED_MAX];
    struct error error;

    if (try_reload(control, &error) < 0) {
        cell_inc(&stats->reload_failures);
        log_error("reload refused", "file=%s error=%s",
                  log_quote(path, sizeof(path), view_str(control->path)),
                  log_quote(quoted, sizeof(quoted), view_str(error.text)));
        return;
    }
    cell_inc(&stats->reloads);
    log_info("reloaded", "epoch=%llu pools=%zu",
             (unsigned long long)control->ledger->epoch,
             control->snapshot->settings->pool_count);
}
