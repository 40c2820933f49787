/*
 * tests/fuzz/fuzz_sentinel.c - Sentinels may say anything.
 *
 * Input: answers, a line "====" between them, each read as an answer to every
 * question and as a message.  Properties: what is read has the shape that it
 * promises; of all of them as votes at most one address is vouched for, not
 * below the floor, and with enough supporters.
 */
#include "discovery/epoch.h"
#include "discovery/sentinel_read.h"
#include "fuzz_replies.h"

#define INPUT_MAX 65536
#define LIST_MAX 8

static void
check_instance(const struct sentinel_instance *one)
{
    ASSERT(one->host.len > 0 && one->host.len <= SENTINEL_HOST_MAX);
    ASSERT(one->port > 0 && one->run_id.len <= SENTINEL_RUN_ID_MAX);
    ASSERT(!sentinel_replica_is_well(one) || one->is_replica);
}

static struct vote
vote_of(struct view reply)
{
    struct sentinel_instance master;
    struct vote vote = {.kind = VOTE_SILENT};

    switch (sentinel_read_master(reply, &master)) {
    case SENTINEL_OK:
        check_instance(&master);
        sentinel_read_address(reply, &master);
        check_instance(&master);
        vote = (struct vote){.kind = VOTE_ADDRESS,
                             .voter = master.run_id,
                             .host = master.host,
                             .port = master.port,
                             .epoch = master.epoch};
        break;
    case SENTINEL_NO_NAME:
        vote.kind = VOTE_NO_NAME;
        break;
    case SENTINEL_ERROR:
    case SENTINEL_BAD:
        break;
    }
    return vote;
}

static void
check_reply(struct view reply)
{
    struct sentinel_instance list[LIST_MAX];
    struct sentinel_message message;
    struct sentinel_hello hello;
    size_t count;

    if (sentinel_read_list(reply, list, LIST_MAX, &count) == SENTINEL_OK) {
        ASSERT(count <= LIST_MAX);
        for (size_t i = 0; i < count; i++)
            check_instance(&list[i]);
    }
    ASSERT(sentinel_read_id(reply).len <= SENTINEL_RUN_ID_MAX);
    if (!sentinel_read_message(reply, &message))
        return;
    struct sentinel_event event = sentinel_read_event(&message);
    ASSERT(event.master.len <= message.payload.len);
    if (sentinel_read_hello(message.payload, &hello))
        ASSERT(hello.port > 0 && hello.master.len > 0 && hello.host.len > 0);
}

static void
check_votes(const struct vote *votes, size_t count, unsigned quorum)
{
    struct epoch_rules rules = {.quorum = quorum, .floor = 2};
    struct epoch_result result;

    epoch_decide(votes, count, &rules, &result);
    ASSERT(result.known <= count && result.reached <= result.known);
    ASSERT(result.knowing <= result.reached);
    ASSERT(result.supporters <= result.knowing);
    if (result.verdict != EPOCH_BELIEVED)
        return;
    ASSERT(result.vouched->epoch >= rules.floor);
    ASSERT(result.supporters >= result.needed);
    ASSERT(2 * result.supporters > result.knowing);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view input = view_of((const char *)data, MIN(size, INPUT_MAX));
    char *copies[EPOCH_VOTES_MAX];
    struct vote votes[EPOCH_VOTES_MAX];
    size_t count = 0;

    while (input.len > 0 && count < EPOCH_VOTES_MAX) {
        struct view part = fuzz_take_reply(&input);
        copies[count] = fuzz_copy(part);
        struct view copy = view_of(copies[count], part.len);
        check_reply(copy);
        votes[count++] = vote_of(copy);
    }
    check_votes(votes, count, 0);
    check_votes(votes, count, 1);
    for (size_t i = 0; i < count; i++)
        mem_free(copies[i]);
    return 0;
}
