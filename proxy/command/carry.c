/*
 * command/carry.c - which step is due, and what its answer means.
 */
#include "command/carry.h"

#include <stdio.h>

#include "base/mem.h"
#include "command/chain_cursor.h"
#include "resp/encode.h"
#include "resp/resp.h"

#define FRAMES_MAX 256 /* all of a step's request but its keys and its value */

enum carry_stage {
    CARRY_VALUE,  /* what is the value? */
    CARRY_TIME,   /* how long does it live? */
    CARRY_WRITE,  /* it is written at the target */
    CARRY_REMOVE, /* and removed where it was */
    CARRY_SET,    /* a string is written */
    CARRY_CLEAR,  /* nothing is to be written: what is there goes */
    CARRY_MEMBER, /* is the member in the set? */
    CARRY_ADD,    /* yes: it is added to the other ... */
    CARRY_TAKE,   /* ... and taken from the one */
    CARRY_SOURCE, /* no: is there a set at all? */
    CARRY_TARGET, /* then it tells if the other is none */
    CARRY_STAGES
};

struct carry {
    const struct command *command;
    enum carry_stage stage;
    struct view from, to; /* keys */
    struct view member;   /* SMOVE */
    uint32_t from_database, to_database;
    bool stores;      /* it was combined here, and is nowhere else */
    bool keeps_time;  /* CARRY_SET: it lives as long as what was there */
    bool replaces;    /* what stands at the target goes */
    int64_t live_ms;  /* 0: for ever */
    int64_t count;    /* of what is stored */
    struct buf value; /* as DUMP has it */
    struct buf key;   /* of what is stored */
};

static const struct {
    const char *word;
    enum command_id id;
    bool at_target;
    bool has_member; /* behind the key */
} steps[CARRY_STAGES] = {
    [CARRY_VALUE] = {"DUMP", COMMAND_ID_DUMP, false, false},
    [CARRY_TIME] = {"PTTL", COMMAND_ID_PTTL, false, false},
    [CARRY_WRITE] = {"RESTORE", COMMAND_ID_RESTORE, true, false},
    [CARRY_REMOVE] = {"UNLINK", COMMAND_ID_UNLINK, false, false},
    [CARRY_SET] = {"SET", COMMAND_ID_SET, true, false},
    [CARRY_CLEAR] = {"UNLINK", COMMAND_ID_UNLINK, true, false},
    [CARRY_MEMBER] = {"SISMEMBER", COMMAND_ID_SISMEMBER, false, true},
    [CARRY_ADD] = {"SADD", COMMAND_ID_SADD, true, true},
    [CARRY_TAKE] = {"SREM", COMMAND_ID_SREM, false, true},
    [CARRY_SOURCE] = {"EXISTS", COMMAND_ID_EXISTS, false, false},
    [CARRY_TARGET] = {"SISMEMBER", COMMAND_ID_SISMEMBER, true, true},
};

/* --- words ------------------------------------------------------------------- */

bool
carry_is_for(const struct command *command)
{
    return command->id == COMMAND_ID_RENAME ||
        command->id == COMMAND_ID_RENAMENX || command->id == COMMAND_ID_COPY ||
        command->id == COMMAND_ID_SMOVE;
}

/* "0" may begin with a zero, "-0" and "07" may not. */
static bool
has_leading_zero(struct view number)
{
    size_t sign = number.len > 0 && number.data[0] == '-' ? 1 : 0;

    return number.len > 1 && number.data[sign] == '0';
}

/* NULL, or what is wrong with it. */
static const char *
take_database(struct carry *carry, struct view word, uint64_t databases)
{
    int64_t index;

    if (!view_to_i64(word, &index) || has_leading_zero(word))
        return "ERR value is not an integer or out of range";
    if (index < INT32_MIN || index > INT32_MAX)
        return "ERR value is out of range, value must between -2147483648 and "
               "2147483647";
    if (index < 0 || (uint64_t)index >= databases)
        return "ERR DB index is out of range";
    carry->to_database = (uint32_t)index;
    return NULL;
}

/* COPY from to [DB number] [REPLACE] */
static const char *
take_options(struct carry *carry, const struct command_args *args,
             uint64_t databases)
{
    const char *error = NULL;

    for (uint32_t i = 3; i < args->argc && error == NULL; i++) {
        struct view word = command_arg(args, i);
        if (view_equal_nocase(word, VIEW("REPLACE")))
            carry->replaces = true;
        else if (view_equal_nocase(word, VIEW("DB")) && i + 1 < args->argc)
            error = take_database(carry, command_arg(args, ++i), databases);
        else
            error = "ERR syntax error";
    }
    return error;
}

struct carry *
carry_new(const struct command *command, const struct command_args *args,
          uint32_t database, uint64_t databases, const char **error)
{
    struct carry *carry = MEM_NEW(struct carry);

    *error = NULL;
    carry->command = command;
    carry->from = command_arg(args, 1);
    carry->to = command_arg(args, 2);
    carry->from_database = carry->to_database = database;
    carry->replaces = command->id == COMMAND_ID_RENAME;
    if (command->id == COMMAND_ID_COPY)
        *error = take_options(carry, args, databases);
    if (command->id == COMMAND_ID_SMOVE) {
        carry->stage = CARRY_MEMBER;
        carry->member = command_arg(args, 3);
    }
    if (*error != NULL)
        carry_free(&carry);
    return carry;
}

struct carry *
carry_store(const struct command *command, struct view key, uint32_t database,
            struct combined *combined)
{
    struct carry *carry = MEM_NEW(struct carry);

    carry->command = command;
    carry->stage = combined->count > 0 ? CARRY_WRITE : CARRY_CLEAR;
    if (combined->is_string && combined->value.len > 0)
        carry->stage = CARRY_SET;
    carry->keeps_time = combined->keeps_time;
    buf_append_view(&carry->key, key);
    carry->to = buf_view(&carry->key);
    carry->from_database = carry->to_database = database;
    carry->stores = carry->replaces = true;
    carry->count = (int64_t)combined->count;
    carry->value = combined->value;
    combined->value = (struct buf){0};
    return carry;
}

void
carry_free(struct carry **carryp)
{
    struct carry *carry = *carryp;

    *carryp = NULL;
    if (carry == NULL)
        return;
    buf_fini(&carry->value);
    buf_fini(&carry->key);
    mem_free(carry);
}

/* --- the step that is due ----------------------------------------------------- */

const struct command *
carry_command(const struct carry *carry)
{
    return command_by_id(steps[carry->stage].id);
}

struct view
carry_key(const struct carry *carry)
{
    return steps[carry->stage].at_target ? carry->to : carry->from;
}

uint32_t
carry_database(const struct carry *carry)
{
    return steps[carry->stage].at_target ? carry->to_database
                                         : carry->from_database;
}

size_t
carry_encoded_max(const struct carry *carry)
{
    return FRAMES_MAX + carry_key(carry).len + carry->member.len +
        carry->value.len;
}

static void
encode_restore(const struct carry *carry, struct buf *out)
{
    encode_array(out, carry->replaces ? 5 : 4);
    encode_bulk_str(out, steps[carry->stage].word);
    encode_bulk(out, carry->to);
    encode_bulk_u64(out, (uint64_t)carry->live_ms);
    encode_bulk(out, buf_view(&carry->value));
    if (carry->replaces)
        encode_bulk_str(out, "REPLACE");
}

static void
encode_set_string(const struct carry *carry, struct buf *out)
{
    encode_array(out, carry->keeps_time ? 4 : 3);
    encode_bulk_str(out, steps[carry->stage].word);
    encode_bulk(out, carry->to);
    encode_bulk(out, buf_view(&carry->value));
    if (carry->keeps_time)
        encode_bulk_str(out, "KEEPTTL");
}

void
carry_encode(struct carry *carry, struct buf *out)
{
    if (carry->stage == CARRY_WRITE || carry->stage == CARRY_SET) {
        if (carry->stage == CARRY_WRITE)
            encode_restore(carry, out);
        else
            encode_set_string(carry, out);
        buf_fini(&carry->value); /* whoever sends it has it now */
        return;
    }
    bool has_member = steps[carry->stage].has_member;
    encode_array(out, has_member ? 3 : 2);
    encode_bulk_str(out, steps[carry->stage].word);
    encode_bulk(out, carry_key(carry));
    if (has_member)
        encode_bulk(out, carry->member);
}

/* --- what was answered -------------------------------------------------------- */

static bool
bad_reply(const struct carry *carry, struct buf *out)
{
    struct buf text = {0};

    buf_printf(&text, "ERR proxy: the reply of a shard is no answer to '%s'%s",
               carry_command(carry)->name, carry_what_stands(carry));
    encode_error(out, buf_view(&text));
    buf_fini(&text);
    return true;
}

/* There is nothing to carry. */
static bool
answer_missing(const struct carry *carry, struct buf *out)
{
    if (carry->command->id == COMMAND_ID_COPY ||
        carry->command->id == COMMAND_ID_SMOVE)
        encode_integer(out, 0);
    else
        encode_error(out, VIEW("ERR no such key"));
    return true;
}

static bool
answer_done(const struct carry *carry, struct buf *out)
{
    if (carry->command->id == COMMAND_ID_RENAME ||
        carry->command->id == COMMAND_ID_PFMERGE)
        encode_simple(out, "OK");
    else if (carry->stores)
        encode_integer(out, carry->count);
    else
        encode_integer(out, 1);
    return true;
}

/* Something stands at the target, and shall stay. */
static bool
is_busy(const struct carry *carry, struct view line)
{
    return carry->stage == CARRY_WRITE && !carry->replaces &&
        view_begins(line, VIEW("-BUSYKEY "));
}

/* The server's words; they tell what became of the step, not of what was before. */
static bool
answer_error(const struct carry *carry, struct chain_cursor *cursor,
             struct buf *out)
{
    struct buf line = {0};
    int64_t len;

    if (chain_cursor_peek(cursor) == RESP_BULK_ERROR &&
        chain_cursor_number(cursor, RESP_BULK_ERROR, &len))
        buf_append_char(&line, '-');
    chain_cursor_read(cursor, cursor->left, &line);
    if (is_busy(carry, buf_view(&line))) {
        encode_integer(out, 0);
    } else {
        buf_append(out, line.data, line.len - 2);
        if (carry_is_half_done(carry))
            buf_append_str(out, carry_what_stands(carry));
        buf_append_str(out, "\r\n");
    }
    buf_fini(&line);
    return true;
}

static bool
is_null(const struct chain_cursor *cursor)
{
    struct chain_cursor copy = *cursor;

    if (chain_cursor_literal(&copy, VIEW("_\r\n")))
        return true;
    copy = *cursor;
    return chain_cursor_literal(&copy, VIEW("$-1\r\n"));
}

static bool
go_on(struct carry *carry, enum carry_stage stage)
{
    carry->stage = stage;
    return false;
}

static bool
take_value(struct carry *carry, struct chain_cursor *cursor, struct buf *out)
{
    int64_t len;

    if (is_null(cursor))
        return answer_missing(carry, out);
    if (!chain_cursor_number(cursor, RESP_BULK, &len) || len < 0 ||
        cursor->left != (size_t)len + 2)
        return bad_reply(carry, out);
    chain_cursor_read(cursor, (size_t)len, &carry->value);
    return go_on(carry, CARRY_TIME);
}

/* One that does not live for ever has a millisecond at least, since 0 is for
 * ever in RESTORE. */
static bool
take_time(struct carry *carry, int64_t left_ms, struct buf *out)
{
    if (left_ms == -2)
        return answer_missing(carry, out); /* its time was up */
    carry->live_ms = left_ms == -1 ? 0 : MAX(left_ms, 1);
    return go_on(carry, CARRY_WRITE);
}

static bool
take_written(struct carry *carry, struct chain_cursor *cursor, struct buf *out)
{
    if (!chain_cursor_literal(cursor, VIEW("+OK\r\n")))
        return bad_reply(carry, out);
    if (carry->command->id == COMMAND_ID_COPY || carry->stores)
        return answer_done(carry, out);
    return go_on(carry, CARRY_REMOVE);
}

static bool
take_number(struct carry *carry, int64_t number, struct buf *out)
{
    switch ((int)carry->stage) {
    case CARRY_TIME:
        return take_time(carry, number, out);
    case CARRY_MEMBER:
        return go_on(carry, number > 0 ? CARRY_ADD : CARRY_SOURCE);
    case CARRY_ADD:
        return go_on(carry, CARRY_TAKE);
    case CARRY_SOURCE:
        return number > 0 ? go_on(carry, CARRY_TARGET)
                          : answer_missing(carry, out);
    case CARRY_TARGET:
        return answer_missing(carry, out);
    default: /* removed, by whomever */
        return answer_done(carry, out);
    }
}

static bool
take_answer(struct carry *carry, struct chain_cursor *cursor, struct buf *out)
{
    int64_t number;

    if (carry->stage == CARRY_VALUE)
        return take_value(carry, cursor, out);
    if (carry->stage == CARRY_WRITE || carry->stage == CARRY_SET)
        return take_written(carry, cursor, out);
    if (!chain_cursor_number(cursor, RESP_INTEGER, &number) || cursor->left > 0)
        return bad_reply(carry, out);
    return take_number(carry, number, out);
}

bool
carry_take(struct carry *carry, const struct chain *reply, struct buf *out)
{
    struct chain_cursor cursor;
    struct reply_scan scan;

    chain_cursor_init(&cursor, reply);
    reply_scan_init(&scan);
    bool is_good = chain_cursor_attributes(&cursor, &scan);
    reply_scan_fini(&scan);
    if (!is_good)
        return bad_reply(carry, out);
    char type = chain_cursor_peek(&cursor);
    if (type == RESP_ERROR || type == RESP_BULK_ERROR)
        return answer_error(carry, &cursor, out);
    return take_answer(carry, &cursor, out);
}

/* --- when it ends too early ----------------------------------------------------- */

bool
carry_is_half_done(const struct carry *carry)
{
    return carry->stage == CARRY_REMOVE || carry->stage == CARRY_TAKE;
}

const char *
carry_what_stands(const struct carry *carry)
{
    switch (carry->stage) {
    case CARRY_VALUE:
    case CARRY_TIME:
    case CARRY_MEMBER:
    case CARRY_SOURCE:
    case CARRY_TARGET:
        return " (proxy: nothing has been changed)";
    case CARRY_WRITE:
        return carry->command->id == COMMAND_ID_COPY || carry->stores
            ? ""
            : " (proxy: the old name stands as it was)";
    case CARRY_REMOVE:
        return " (proxy: the new name has the value, and the old one may still "
               "have it)";
    case CARRY_ADD:
        return " (proxy: the first set still has the member)";
    case CARRY_TAKE:
        return " (proxy: the second set has the member, and the first may "
               "still "
               "have it)";
    case CARRY_SET:
    case CARRY_CLEAR:
    case CARRY_STAGES:
        break;
    }
    return "";
}
