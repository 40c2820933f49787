/*
 * session/sentence.c - the proxy's own errors about a shard.
 */
#include "session/sentence.h"

#include <stdarg.h>
#include <stdio.h>

#include "command/outcome.h"
#include "session/request.h"
#include "session/retry.h"

#define TEXT_MAX 1536 /* names may be long */
/* In the servers' words: the client can show it. */
#define NO_SCRIPT VIEW("NOSCRIPT No matching script. Please use EVAL.")

static const char *
shard_name(const struct request *request, uint32_t shard)
{
    return generation_server(request->generation, shard)->name;
}

static struct view
sentence(const struct request *request, const char *fmt, ...)
    PRINTF_LIKE(2, 3);

static struct view
sentence(const struct request *request, const char *fmt, ...)
{
    struct buf *out = &request->pool->env->out;
    va_list args;

    out->len = 0;
    va_start(args, fmt);
    int len = vsnprintf(buf_reserve(out, TEXT_MAX), TEXT_MAX, fmt, args);
    va_end(args);
    return view_of(out->data, MIN((size_t)len, (size_t)TEXT_MAX - 1));
}

struct view
request_text_unreachable(const struct request *request, uint32_t shard)
{
    const struct server *server =
        generation_server(request->generation, shard);

    if (server_has_no_address(server))
        return sentence(request,
                        "CLUSTERDOWN proxy: no reachable primary for shard "
                        "%s, as the name %s does not resolve, command was not "
                        "executed",
                        server->name, server->at->host);
    return sentence(request,
                    "CLUSTERDOWN proxy: no reachable primary for shard %s, "
                    "command was not executed",
                    server->name);
}

struct view
request_text_lost(const struct request *request, uint32_t shard, bool sent)
{
    if (!sent)
        return request_text_unreachable(request, shard);
    return sentence(request,
                    "ERR proxy: connection to shard %s was lost, the command "
                    "may have been executed",
                    shard_name(request, shard));
}

struct view
request_text_refused(const struct request *request, uint32_t shard)
{
    return view_str(
        generation_server(request->generation, shard)->refusal);
}

struct view
request_text_late(const struct request *request, uint32_t shard, bool sent)
{
    return sentence(
        request,
        "ERR proxy: shard %s did not answer in %lld ms, the command %s",
        shard_name(request, shard),
        (long long)(request->due_us - request->progress_us) / 1000,
        sent ? "may have been executed" : "was not executed");
}

static long long
timeout_ms(const struct request *request)
{
    return request->generation->settings->request_timeout_ms;
}

static const char *
obstacle(const struct attempt *attempt)
{
    enum outcome outcome = (enum outcome)attempt->outcome;

    return outcome == OUTCOME_OTHER ? "connection lost"
                                    : outcome_word(outcome);
}

struct view
request_text_unserved(const struct request *request,
                      const struct attempt *attempt)
{
    if (attempt->outcome == OUTCOME_NOSCRIPT)
        return NO_SCRIPT;
    if (pool_is_named(request->generation->settings))
        return sentence(
            request,
            "CLUSTERDOWN proxy: no primary of shard %s has served it within "
            "%lld ms (the last obstacle was: %s), command was not executed",
            shard_name(request, attempt->slot), timeout_ms(request),
            obstacle(attempt));
    return sentence(request,
                    "CLUSTERDOWN proxy: slot %u was not served within %lld ms "
                    "(the last obstacle was: %s), command was not executed",
                    attempt->slot, timeout_ms(request), obstacle(attempt));
}

struct view
request_text_untaken(const struct request *request, uint32_t shard,
                     const struct attempt *attempt)
{
    return sentence(request,
                    "CLUSTERDOWN proxy: shard %s did not take the command "
                    "within %lld ms (the last obstacle was: %s), command was "
                    "not executed",
                    shard_name(request, shard), timeout_ms(request),
                    obstacle(attempt));
}

struct view
request_text_no_map(const struct request *request)
{
    return sentence(request,
                    "CLUSTERDOWN proxy: no shard of pool %s was known within "
                    "%lld ms, command was not executed",
                    request->pool->settings->name, timeout_ms(request));
}

struct view
request_text_gone(const struct request *request,
                  const struct attempt *attempt)
{
    enum outcome outcome = (enum outcome)attempt->outcome;

    if (pool_is_named(request->generation->settings))
        return sentence(request,
                        "TRYAGAIN proxy: shard %s was not served (%s) to a "
                        "request that is larger than retry_buffer, command "
                        "was not executed",
                        shard_name(request, attempt->slot),
                        outcome_word(outcome));
    if (retry_action(outcome) == RETRY_FOLLOW)
        return sentence(request,
                        "TRYAGAIN proxy: slot %u moved under a request that "
                        "is larger than retry_buffer, command was not executed",
                        attempt->slot);
    return sentence(request,
                    "TRYAGAIN proxy: slot %u was not served (%s) to a request "
                    "that is larger than retry_buffer, command was not "
                    "executed",
                    attempt->slot, outcome_word(outcome));
}

struct view
request_text_doubtful(const struct request *request,
                      const struct attempt *attempt)
{
    return sentence(request,
                    "ERR proxy: shard %s could not be asked whether %s was its "
                    "own answer or one of user code, the command may have been "
                    "executed",
                    shard_name(request, request->shard),
                    outcome_word((enum outcome)attempt->outcome));
}

struct view
request_text_overtaken(const struct request *request,
                       const struct attempt *attempt)
{
    if (attempt->outcome == OUTCOME_NOSCRIPT)
        return NO_SCRIPT;
    if (pool_is_named(request->generation->settings))
        return sentence(request,
                        "TRYAGAIN proxy: shard %s moved and a later command "
                        "on it was executed first, command was not executed",
                        shard_name(request, attempt->slot));
    return sentence(request,
                    "TRYAGAIN proxy: slot %u moved and a later command on it "
                    "was executed first, command was not executed",
                    attempt->slot);
}

struct view
request_text_barred(const struct request *request, uint32_t shard)
{
    if (generation_server(request->generation, shard)->gate == GATE_STUCK)
        return sentence(request,
                        "CLUSTERDOWN proxy: the failover of shard %s has not "
                        "come to an end within %lld ms, command was not "
                        "executed",
                        shard_name(request, shard),
                        (long long)request->pool->settings->failover_hold_ms);
    return sentence(request,
                    "NOQUORUM proxy: too few Sentinels vouch for shard %s, "
                    "command was not executed",
                    shard_name(request, shard));
}
