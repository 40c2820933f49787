/*
 * session/departure.c - being told when the servers are.
 */
#include "session/departure.h"

#include "base/mem.h"
#include "session/session.h"

void
departure_free(struct departure **departurep)
{
    struct departure *departure = *departurep;

    *departurep = NULL;
    ASSERT(departure->awaited == 0);
    LIST_REMOVE(departure, link);
    timer_stop(&departure->timer);
    if (departure->request != NULL)
        request_unref(&departure->request);
    buf_fini(&departure->answer);
    mem_free(departure);
}

/* The client may have left, or have been told. */
static void
tell(struct departure *departure)
{
    struct request *request = departure->request;

    departure->request = NULL;
    if (request == NULL)
        return;
    if (request->session != NULL && !request->done) {
        request->no_reply = false; /* as servers have it */
        request_answer(request, buf_view(&departure->answer));
    }
    request_unref(&request);
}

static void
on_timer(struct timer *timer, void *arg)
{
    struct departure *departure = arg;

    (void)timer;
    tell(departure);
    departure_free(&departure);
}

struct departure *
departure_begin(struct board *board)
{
    struct departure *departure = MEM_NEW(struct departure);

    ASSERT(board->departing == NULL);
    departure->board = board;
    timer_init(&departure->timer, board->pool->env->loop, on_timer, departure);
    LIST_INSERT_HEAD(&board->departures, departure, link);
    board->departing = departure;
    return departure;
}

bool
departure_is_over(struct departure **departurep)
{
    struct departure *departure = *departurep;

    departure->board->departing = NULL;
    if (departure->awaited > 0)
        return false;
    departure_free(departurep);
    return true;
}

void
departure_wait(struct departure *departure, struct request *request,
               struct buf *answer)
{
    departure->request = request;
    departure->answer = *answer;
    *answer = (struct buf){0};
    request->leaves = true;
}

struct departure *
departure_join(struct board *board)
{
    struct departure *departure = board->departing;

    if (departure != NULL)
        departure->awaited++;
    return departure;
}

/* Whoever is told may do anything, so not from in here. */
void
departure_on_answer(struct departure *departure)
{
    if (departure != NULL && --departure->awaited == 0)
        timer_start(&departure->timer, 0);
}

static struct departure *
find(const struct board *board, const struct request *request)
{
    struct departure *departure;

    LIST_FOREACH (departure, &board->departures, link) {
        if (departure->request == request)
            break;
    }
    return departure;
}

void
departure_on_late(struct request *request)
{
    const struct board *board;

    for (board = request->pool->boards; board != NULL; board = board->next) {
        struct departure *departure = find(board, request);
        if (departure != NULL) {
            tell(departure);
            return;
        }
    }
}
