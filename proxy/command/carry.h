/*
 * command/carry.h - a value goes from one shard to another, step by step.
 *
 *   RENAME a b  ->  DUMP a        at the shard of a
 *                   PTTL a
 *                   RESTORE b     at that of b
 *                   UNLINK a      at that of a, once b has the value
 *   COPY a b    ->  the same but for the last
 *
 *   SMOVE a b m        ->  SISMEMBER a m, SADD b m, SREM a m
 *   SUNIONSTORE a b c  ->  RESTORE a, or UNLINK a, with what command/combine.h has
 *                          made of b and c
 *
 * A step is a command of one key, and begins when the one before is answered.
 * What is to go is removed last: whatever ends it in between, the value stands
 * in one place at least.
 *
 * Pure.  The words of the request are the caller's, and have to stay.
 */
#ifndef COMMAND_CARRY_H
#define COMMAND_CARRY_H

#include "base/buf.h"
#include "base/chain.h"
#include "command/combine.h"

struct carry;

/* Is it one of these? */
bool carry_is_for(const struct command *command) MUST_CHECK;

/* NULL: its words are not in order, and *error is what a server says to that.
 * Its client uses this database of so many. */
struct carry *carry_new(const struct command *command,
                        const struct command_args *args, uint32_t database,
                        uint64_t databases, const char **error) MUST_CHECK;
/* What has been combined is to be written at a key, which is copied; what `combined`
 * has is taken over. */
struct carry *carry_store(const struct command *command, struct view key,
                          uint32_t database, struct combined *combined);
void carry_free(struct carry **carryp);

/* The step that is due: its command, its key, the database ... */
const struct command *carry_command(const struct carry *carry);
struct view carry_key(const struct carry *carry);
uint32_t carry_database(const struct carry *carry);
/* ... and its request, which takes no more than this many bytes. */
size_t carry_encoded_max(const struct carry *carry);
void carry_encode(struct carry *carry, struct buf *out);

/* The step was answered with this whole reply.  True: it was the last one, and
 * the answer for the client is at the end of `out`. */
bool carry_take(struct carry *carry, const struct chain *reply,
                struct buf *out) MUST_CHECK;

/* Does it have to be gone on with, though nobody waits for the answer? */
bool carry_is_half_done(const struct carry *carry) MUST_CHECK;
/* What to add to an error that ends it at this step, or "". */
const char *carry_what_stands(const struct carry *carry);

#endif
