/*
 * session/local_tracking.c - CLIENT TRACKING and what belongs to it.
 *
 * The order of checks is that of servers.
 */
#include "resp/encode.h"
#include "session/local_priv.h"
#include "session/tracker.h"

/* Each function below that returns false has answered an error. */

/* --- its words ------------------------------------------------------------------ */

static bool
complain(const struct local_call *call, const char *text)
{
    local_error(call, text);
    return false;
}

/* How it tracks already, which may be not at all. */
static struct track_options
options_of(const struct session *session)
{
    const struct tracker *tracker = tracker_of(session);

    return tracker == NULL ? (struct track_options){0} : tracker->options;
}

static bool
read_redirect(const struct local_call *call, uint32_t at,
              struct track_options *options)
{
    int64_t id;

    if (options->redirect != 0)
        return complain(call,
                        "ERR A client can only redirect to a single other "
                        "client");
    if (!local_integer(local_arg(call, at), &id))
        return complain(call, LOCAL_NOT_AN_INTEGER);
    if (id <= 0)
        return complain(call, TRACKER_NO_SUCH_CLIENT);
    options->redirect = (uint64_t)id;
    return true;
}

/* Read the option at word *i and leave *i at its last word. */
static bool
read_option(const struct local_call *call, uint32_t *i,
            struct track_options *options)
{
    bool has_more = *i + 1 < call->args->argc;
    uint32_t at = *i;

    if (has_more && local_arg_is(call, at, "REDIRECT"))
        return read_redirect(call, ++*i, options);
    if (has_more && local_arg_is(call, at, "PREFIX")) {
        options->prefixes++;
        ++*i;
    } else if (local_arg_is(call, at, "BCAST")) {
        options->is_bcast = true;
    } else if (local_arg_is(call, at, "OPTIN")) {
        options->is_optin = true;
    } else if (local_arg_is(call, at, "OPTOUT")) {
        options->is_optout = true;
    } else if (local_arg_is(call, at, "NOLOOP")) {
        options->is_noloop = true;
    } else {
        return complain(call, LOCAL_SYNTAX_ERROR);
    }
    return true;
}

static bool
read_options(const struct local_call *call, struct track_options *options)
{
    for (uint32_t i = 3; i < call->args->argc; i++) {
        if (!read_option(call, &i, options))
            return false;
    }
    return true;
}

/* --- prefixes ------------------------------------------------------------------- */

static bool
overlap(struct view a, struct view b)
{
    return prefix_is_of(a, b) || prefix_is_of(b, a);
}

static bool
complain_of_prefixes(const struct local_call *call, struct view name,
                     const char *what, struct view other)
{
    struct buf text = {0};

    buf_printf(&text,
               "ERR Prefix '%.*s' overlaps with %s prefix '%.*s'. "
               "Prefixes for a single client must not overlap.",
               (int)MIN(name.len, (size_t)128), name.data, what,
               (int)MIN(other.len, (size_t)128), other.data);
    encode_error(call->out, buf_view(&text));
    buf_fini(&text);
    return false;
}

static bool
check_against_former(const struct local_call *call, struct view name)
{
    const struct tracker *tracker = tracker_of(call->session);
    const struct interest *interest;

    if (tracker == NULL)
        return true;
    TAILQ_FOREACH (interest, &tracker->interests, own) {
        struct view former = interest->prefix->entry.key;
        if (overlap(name, former))
            return complain_of_prefixes(call, name, "an existing", former);
    }
    return true;
}

/* The number of the word behind the next PREFIX from `at` on, or 0. */
static uint32_t
next_prefix(const struct local_call *call, uint32_t at)
{
    while (at + 1 < call->args->argc) {
        if (local_arg_is(call, at, "PREFIX"))
            return at + 1;
        at += local_arg_is(call, at, "REDIRECT") ? 2 : 1;
    }
    return 0;
}

static bool
check_prefixes(const struct local_call *call)
{
    for (uint32_t i = next_prefix(call, 3); i > 0;
         i = next_prefix(call, i + 1)) {
        struct view name = local_arg(call, i);
        if (!check_against_former(call, name))
            return false;
        for (uint32_t j = next_prefix(call, i + 1); j > 0;
             j = next_prefix(call, j + 1)) {
            if (overlap(name, local_arg(call, j)))
                return complain_of_prefixes(call, name, "another provided",
                                            local_arg(call, j));
        }
    }
    return true;
}

/* --- CLIENT TRACKING -------------------------------------------------------------- */

static bool
check_options(const struct local_call *call,
              const struct track_options *options)
{
    struct track_options former = options_of(call->session);

    if (!options->is_bcast && options->prefixes > 0)
        return complain(call,
                        "ERR PREFIX option requires BCAST mode to be enabled");
    if (former.is_on && former.is_bcast != options->is_bcast)
        return complain(call,
                        "ERR You can't switch BCAST mode on/off before "
                        "disabling tracking for this client, and then "
                        "re-enabling it with a different mode.");
    if (options->is_bcast && (options->is_optin || options->is_optout))
        return complain(call,
                        "ERR OPTIN and OPTOUT are not compatible with BCAST");
    if (options->is_optin && options->is_optout)
        return complain(call,
                        "ERR You can't specify both OPTIN mode and OPTOUT "
                        "mode");
    if ((options->is_optin && former.is_optout) ||
        (options->is_optout && former.is_optin))
        return complain(call,
                        "ERR You can't switch OPTIN/OPTOUT mode before "
                        "disabling tracking for this client, and then "
                        "re-enabling it with a different mode.");
    return !options->is_bcast || check_prefixes(call);
}

enum local_result
local_client_tracking(const struct local_call *call)
{
    struct track_options options = {0};

    if (!read_options(call, &options))
        return LOCAL_REPLY;
    if (local_arg_is(call, 2, "OFF")) {
        tracker_end(call->session);
        return local_ok(call);
    }
    if (!local_arg_is(call, 2, "ON"))
        return local_error(call, LOCAL_SYNTAX_ERROR);
    if (!check_options(call, &options))
        return LOCAL_REPLY;
    if (!tracker_begin(call->session, call->command, call->args, &options))
        return LOCAL_NO_REPLY;
    return local_ok(call);
}

/* --- CLIENT CACHING --------------------------------------------------------------- */

enum local_result
local_client_caching(const struct local_call *call)
{
    struct track_options options = options_of(call->session);

    if (!options.is_on)
        return local_error(call,
                           "ERR CLIENT CACHING can be called only when the "
                           "client is in tracking mode with OPTIN or OPTOUT "
                           "mode enabled");
    if (!local_arg_is(call, 2, "YES") && !local_arg_is(call, 2, "NO"))
        return local_error(call, LOCAL_SYNTAX_ERROR);
    if (local_arg_is(call, 2, "YES") && !options.is_optin)
        return local_error(call,
                           "ERR CLIENT CACHING YES is only valid when tracking "
                           "is enabled in OPTIN mode.");
    if (local_arg_is(call, 2, "NO") && !options.is_optout)
        return local_error(call,
                           "ERR CLIENT CACHING NO is only valid when tracking "
                           "is enabled in OPTOUT mode.");
    tracker_of(call->session)->is_caching = true;
    return local_ok(call);
}

/* --- how it tracks ---------------------------------------------------------------- */

enum local_result
local_client_getredir(const struct local_call *call)
{
    encode_integer(call->out, tracker_redirect(call->session));
    return LOCAL_REPLY;
}

static void
encode_flags(const struct local_call *call)
{
    const struct tracker *tracker = tracker_of(call->session);
    struct track_options options = options_of(call->session);
    bool is_caching = tracker != NULL && tracker->is_caching;
    const char *flags[9];
    size_t count = 0;

    flags[count++] = options.is_on ? "on" : "off";
    if (options.is_bcast)
        flags[count++] = "bcast";
    if (options.is_optin)
        flags[count++] = "optin";
    if (options.is_optin && is_caching)
        flags[count++] = "caching-yes";
    if (options.is_optout)
        flags[count++] = "optout";
    if (options.is_optout && is_caching)
        flags[count++] = "caching-no";
    if (options.is_noloop)
        flags[count++] = "noloop";
    if (tracker != NULL && tracker->is_broken)
        flags[count++] = "broken_redirect";
    encode_set(call->out, call->session->resp, count);
    for (size_t i = 0; i < count; i++)
        encode_bulk_str(call->out, flags[i]);
}

static void
encode_prefixes(const struct local_call *call)
{
    const struct tracker *tracker = tracker_of(call->session);
    const struct interest *interest;
    size_t count = 0;

    if (tracker == NULL) {
        encode_array(call->out, 0);
        return;
    }
    TAILQ_FOREACH (interest, &tracker->interests, own)
        count++;
    encode_array(call->out, count);
    TAILQ_FOREACH (interest, &tracker->interests, own)
        encode_bulk(call->out, interest->prefix->entry.key);
}

enum local_result
local_client_trackinginfo(const struct local_call *call)
{
    encode_map(call->out, call->session->resp, 3);
    encode_bulk_str(call->out, "flags");
    encode_flags(call);
    encode_bulk_str(call->out, "redirect");
    encode_integer(call->out, tracker_redirect(call->session));
    encode_bulk_str(call->out, "prefixes");
    encode_prefixes(call);
    return LOCAL_REPLY;
}
