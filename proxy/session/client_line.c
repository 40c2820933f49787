/*
 * session/client_line.c - one client in one line, and choosing among lines.
 */
#include "session/client_line.h"

#include <stdio.h>

#include "base/mem.h"
#include "session/blocking.h"
#include "session/identity.h"
#include "session/session.h"
#include "session/subscriber.h"
#include "session/tracker.h"
#include "session/transaction.h"

/* --- writing one --------------------------------------------------------- */

static const char *
text_or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

/* t keeps a cache, of which R has nobody left to be told, and B is told of keys by
 * how they begin. */
static void
describe_tracking(const struct session *session, struct buf *out)
{
    const struct tracker *tracker = tracker_of(session);

    if (tracker == NULL || !tracker->options.is_on)
        return;
    buf_append_char(out, 't');
    if (tracker->is_broken)
        buf_append_char(out, 'R');
    if (tracker->options.is_bcast)
        buf_append_char(out, 'B');
}

/* The server's letters: O is a monitor, P listens, x is in a transaction, b waits
 * for somebody, c closes once its answers are out, U came in over a UNIX socket,
 * r has said READONLY; N is none of these. */
static void
describe_flags(const struct session *session, bool is_path, struct buf *out)
{
    size_t start = out->len;

    if (session_monitor(session) != NULL)
        buf_append_char(out, 'O');
    if (subscriber_is_listening(session))
        buf_append_char(out, 'P');
    if (session->transaction != NULL)
        buf_append_char(out, 'x');
    if (session->is_postponed || blocking_is_on(session))
        buf_append_char(out, 'b');
    describe_tracking(session, out);
    if (session->state != SESSION_OPEN)
        buf_append_char(out, 'c');
    if (is_path)
        buf_append_char(out, 'U');
    if (session->is_readonly)
        buf_append_char(out, 'r');
    if (out->len == start)
        buf_append_char(out, 'N');
}

void
client_place_read(const struct session *session, struct client_place *place)
{
    char local[ADDRESS_TEXT_MAX];
    int fd = session->stream.io.fd;

    address_of_peer(fd, place->addr);
    address_of_local(fd, local);
    snprintf(place->laddr, sizeof(place->laddr), "%s%s", local,
             local[0] == '/' ? ":0" : "");
}

const char *
client_peer(struct session *session)
{
    struct client_info *info = client_info_of(session);
    struct client_place place;

    if (info->peer != NULL)
        return info->peer;
    client_place_read(session, &place);
    bool is_path = place.laddr[0] == '/';
    struct buf text = {0};
    buf_printf(&text, "%s%s", is_path ? "unix:" : "",
               is_path ? place.laddr : place.addr);
    info->peer = mem_view_dup(buf_view(&text));
    buf_fini(&text);
    return info->peer;
}

static void
describe_place(const struct session *session, struct buf *out)
{
    struct client_place place;

    client_place_read(session, &place);
    buf_printf(out, "id=%llu addr=%s laddr=%s fd=%d",
               (unsigned long long)session->id, place.addr, place.laddr,
               session->stream.io.fd);
    buf_printf(out, " name=%s",
               text_or_empty(session->info ? session->info->name : NULL));
    uint64_t now = loop_now_us(session->pool->env->loop);
    buf_printf(out, " age=%llu idle=%llu flags=",
               (unsigned long long)(now / 1000000 - session->created_s),
               (unsigned long long)(now - session->used_us) / 1000000);
    describe_flags(session, place.laddr[0] == '/', out);
}

static void
describe_memory(const struct session *session, struct buf *out)
{
    const struct stream *stream = &session->stream;
    size_t input = stream_input_len(stream) + session->asked_bytes;
    size_t output = stream->out.bytes + session->held_bytes;
    size_t queued = transaction_bytes(session);

    buf_printf(out,
               " qbuf=%zu qbuf-free=0 argv-mem=0 multi-mem=%zu rbs=0 rbp=0"
               " obl=0 oll=%u omem=%zu tot-mem=%zu",
               input, queued, stream->out.count, output,
               sizeof(*session) + input + queued + output);
    buf_printf(out, " events=%s%s", stream->reading ? "r" : "",
               stream->blocked ? "w" : "");
}

void
session_describe(const struct session *session, struct buf *out)
{
    const struct client_info *info = session->info;
    const struct command *command = session->last_command;

    describe_place(session, out);
    buf_printf(out, " db=%u sub=%u psub=%u ssub=%u multi=%d", session->db,
               subscriber_count(session, TOPIC_CHANNEL),
               subscriber_count(session, TOPIC_PATTERN),
               subscriber_count(session, TOPIC_SHARD),
               transaction_count(session));
    describe_memory(session, out);
    struct view user = identity_name(session);
    buf_printf(out, " cmd=%s user=%.*s redir=%lld resp=%u",
               command == NULL ? "NULL" : command->name, (int)user.len,
               user.data, (long long)tracker_redirect(session), session->resp);
    buf_printf(out, " lib-name=%s lib-ver=%s\n",
               text_or_empty(info ? info->lib_name : NULL),
               text_or_empty(info ? info->lib_ver : NULL));
}

/* --- choosing among many ------------------------------------------------- */

/* An id that was asked for, and the line that turned up. */
struct wanted {
    uint64_t id;
    struct view line;
    size_t place; /* in the order asked */
};

static int
wanted_by_id(const void *a, const void *b)
{
    uint64_t x = ((const struct wanted *)a)->id;
    uint64_t y = ((const struct wanted *)b)->id;

    return x < y ? -1 : x > y;
}

static int
wanted_by_place(const void *a, const void *b)
{
    size_t x = ((const struct wanted *)a)->place;
    size_t y = ((const struct wanted *)b)->place;

    return x < y ? -1 : x > y;
}

/* Take off what stands before the next `end`, or all; false when none is
 * left. */
static bool
take_until(struct view *text, char end, struct view *piece)
{
    if (text->len == 0)
        return false;
    *piece = view_take(text, end);
    return true;
}

/* The number in "id=7 addr=..."; 0, which nobody has, for another text. */
static uint64_t
line_id(struct view line)
{
    struct view word;
    uint64_t id;

    if (!take_until(&line, ' ', &word) || word.len <= 3 ||
        !view_to_u64(view_of(word.data + 3, word.len - 3), &id))
        return 0;
    return id;
}

static struct wanted *
wanted_read(struct view ids, size_t *count)
{
    struct wanted *wanted = mem_array(ids.len / 2 + 1, sizeof(*wanted));
    struct view word;

    for (*count = 0; take_until(&ids, ' ', &word); ++*count) {
        wanted[*count].place = *count;
        if (!view_to_u64(word, &wanted[*count].id))
            wanted[*count].id = 0;
    }
    return wanted;
}

/* An id may have been asked for more than once. */
static void
wanted_note(struct wanted *wanted, size_t count, struct view line)
{
    struct wanted key = {.id = line_id(line)};
    struct wanted *found =
        bsearch(&key, wanted, count, sizeof(key), wanted_by_id);

    if (found == NULL)
        return;
    while (found > wanted && found[-1].id == key.id)
        found--;
    for (; found < wanted + count && found->id == key.id; found++)
        found->line = line;
}

void
client_lines_pick(struct view lines, struct view ids, struct buf *out)
{
    struct view line;
    size_t count;

    struct wanted *wanted = wanted_read(ids, &count);
    qsort(wanted, count, sizeof(*wanted), wanted_by_id);
    while (take_until(&lines, '\n', &line))
        wanted_note(wanted, count, line);
    qsort(wanted, count, sizeof(*wanted), wanted_by_place);
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].line.data == NULL)
            continue;
        buf_append_view(out, wanted[i].line);
        buf_append_char(out, '\n');
    }
    mem_free(wanted);
}
