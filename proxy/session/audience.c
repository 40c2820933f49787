/*
 * session/audience.c - counting listeners over all workers.
 */
#include "session/audience.h"

#include <pthread.h>

#include "base/dict.h"
#include "base/mem.h"
#include "command/glob.h"
#include "upstream/generation.h"

/* Connections to one server that listen to a topic. */
struct lanes {
    struct lanes *next;
    unsigned count;
    size_t len;
    char server[];
};

/* A topic that somebody listens to. */
struct listened {
    struct dict_entry entry; /* its key stands in `name` */
    struct lanes *lanes;
    unsigned clients;
    unsigned lane_count;
    char name[];
};

struct audience {
    pthread_rwlock_t lock;
    struct dict topics[TOPIC_KINDS];
    unsigned count; /* of clients and connections; atomic ... */
    unsigned leaving; /* ... as is this */
};

/* --- topics ----------------------------------------------------------------- */

static struct listened *
find(const struct audience *audience, enum topic_kind kind, struct view name)
{
    struct dict_entry *entry = dict_find(&audience->topics[kind], name);

    return entry == NULL ? NULL : CONTAINER_OF(entry, struct listened, entry);
}

static struct listened *
get(struct audience *audience, enum topic_kind kind, struct view name)
{
    struct listened *topic = find(audience, kind, name);

    if (topic != NULL)
        return topic;
    topic = mem_zalloc(sizeof(*topic) + name.len);
    if (name.len > 0)
        memcpy(topic->name, name.data, name.len);
    topic->entry.key = view_of(topic->name, name.len);
    dict_add(&audience->topics[kind], &topic->entry);
    return topic;
}

static void
drop_if_unused(struct audience *audience, enum topic_kind kind,
               struct listened *topic)
{
    if (topic->clients > 0 || topic->lanes != NULL)
        return;
    dict_remove(&audience->topics[kind], &topic->entry);
    mem_free(topic);
}

/* Clients hear something only while there is a connection. */
static int64_t
clients_of(const struct listened *topic)
{
    return topic->lane_count > 0 ? topic->clients : 0;
}

/* --- connections ------------------------------------------------------------ */

static struct lanes **
find_lanes(struct listened *topic, struct view server)
{
    struct lanes **at = &topic->lanes;

    while (*at != NULL &&
           !view_equal(view_of((*at)->server, (*at)->len), server))
        at = &(*at)->next;
    return at;
}

static void
add_lane(struct listened *topic, struct view server, int more)
{
    struct lanes **at = find_lanes(topic, server);

    if (*at == NULL) {
        *at = mem_zalloc(sizeof(struct lanes) + server.len);
        (*at)->len = server.len;
        memcpy((*at)->server, server.data, server.len);
    }
    struct lanes *lanes = *at;
    lanes->count += (unsigned)more;
    topic->lane_count += (unsigned)more;
    if (lanes->count == 0) {
        *at = lanes->next;
        mem_free(lanes);
    }
}

static int64_t
lanes_at(struct listened *topic, struct view server)
{
    const struct lanes *lanes = *find_lanes(topic, server);

    return lanes == NULL ? 0 : lanes->count;
}

/* --- who comes and goes ------------------------------------------------------- */

static void
count(struct audience *audience, int more)
{
    __atomic_fetch_add(&audience->count, (unsigned)more, __ATOMIC_SEQ_CST);
}

void
audience_add_client(struct audience *audience, enum topic_kind kind,
                    struct view name, int more)
{
    pthread_rwlock_wrlock(&audience->lock);
    struct listened *topic = get(audience, kind, name);
    topic->clients += (unsigned)more;
    drop_if_unused(audience, kind, topic);
    pthread_rwlock_unlock(&audience->lock);
    count(audience, more);
}

void
audience_add_lane(struct audience *audience, enum topic_kind kind,
                  struct view name, struct view server, int more)
{
    pthread_rwlock_wrlock(&audience->lock);
    struct listened *topic = get(audience, kind, name);
    add_lane(topic, server, more);
    drop_if_unused(audience, kind, topic);
    pthread_rwlock_unlock(&audience->lock);
    count(audience, more);
}

void
audience_add_leaving(struct audience *audience, int more)
{
    __atomic_fetch_add(&audience->leaving, (unsigned)more, __ATOMIC_SEQ_CST);
}

bool
audience_is_leaving(const struct audience *audience)
{
    return __atomic_load_n(&audience->leaving, __ATOMIC_SEQ_CST) > 0;
}

bool
audience_is_empty(const struct audience *audience)
{
    return __atomic_load_n(&audience->count, __ATOMIC_SEQ_CST) == 0;
}

/* --- counting ----------------------------------------------------------------- */

static void
count_topic(struct audience_count *sum, struct listened *topic,
            struct view server, bool spreads)
{
    int64_t lanes = lanes_at(topic, server);

    sum->lanes += lanes;
    if (lanes > 0 || spreads)
        sum->clients += clients_of(topic);
}

static void
count_patterns(struct audience_count *sum, struct audience *audience,
               struct view channel, struct view server, bool spreads)
{
    const struct dict *patterns = &audience->topics[TOPIC_PATTERN];
    struct dict_entry *entry = NULL;

    while ((entry = dict_next(patterns, entry)) != NULL) {
        struct listened *topic = CONTAINER_OF(entry, struct listened, entry);
        if (glob_match(entry->key, channel))
            count_topic(sum, topic, server, spreads);
    }
}

struct audience_count
audience_count_message(struct audience *audience, enum topic_kind kind,
                       struct view channel, struct view server, bool spreads)
{
    struct audience_count sum = {0};

    pthread_rwlock_rdlock(&audience->lock);
    struct listened *topic = find(audience, kind, channel);
    if (topic != NULL)
        count_topic(&sum, topic, server, spreads);
    if (kind == TOPIC_CHANNEL)
        count_patterns(&sum, audience, channel, server, spreads);
    pthread_rwlock_unlock(&audience->lock);
    return sum;
}

/* A server that has become a replica is not asked. */
static bool
is_asked(const struct generation *asked, const struct lanes *lanes)
{
    struct view server = view_of(lanes->server, lanes->len);
    uint32_t i = 0;

    while (i < asked->shard_count &&
           !view_equal(view_str(asked->servers[i]->name), server))
        i++;
    return i < asked->shard_count;
}

static int64_t
lanes_of(const struct listened *topic, const struct generation *asked)
{
    int64_t count = 0;

    for (const struct lanes *at = topic->lanes; at != NULL; at = at->next)
        count += is_asked(asked, at) ? at->count : 0;
    return count;
}

int64_t
audience_correct_channel(struct audience *audience, enum topic_kind kind,
                         struct view channel, const struct generation *asked)
{
    int64_t more = 0;

    pthread_rwlock_rdlock(&audience->lock);
    struct listened *topic = find(audience, kind, channel);
    if (topic != NULL)
        more = clients_of(topic) - lanes_of(topic, asked);
    pthread_rwlock_unlock(&audience->lock);
    return more;
}

/* Each that clients of ours have is one, at however many servers it is known;
 * one that they have left is none, though servers may not know that yet. */
int64_t
audience_correct_patterns(struct audience *audience,
                          const struct generation *asked)
{
    const struct dict *patterns = &audience->topics[TOPIC_PATTERN];
    struct dict_entry *entry = NULL;
    int64_t more = 0;

    pthread_rwlock_rdlock(&audience->lock);
    while ((entry = dict_next(patterns, entry)) != NULL) {
        struct listened *topic = CONTAINER_OF(entry, struct listened, entry);
        for (struct lanes *at = topic->lanes; at != NULL; at = at->next)
            more -= is_asked(asked, at);
        more += topic->lanes != NULL && topic->clients > 0;
    }
    pthread_rwlock_unlock(&audience->lock);
    return more;
}

/* --- life --------------------------------------------------------------------- */

struct audience *
audience_new(void)
{
    struct audience *audience = MEM_NEW(struct audience);
    int failed = pthread_rwlock_init(&audience->lock, NULL);

    ASSERT(failed == 0);
    return audience;
}

void
audience_free(struct audience **audiencep)
{
    struct audience *audience = *audiencep;

    *audiencep = NULL;
    if (audience == NULL)
        return;
    for (int kind = 0; kind < TOPIC_KINDS; kind++)
        ASSERT(audience->topics[kind].count == 0);
    pthread_rwlock_destroy(&audience->lock);
    mem_free(audience);
}
