/*
 * hiredis through the proxy: PORT [PASSWORD]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#define LARGE (5 * 1024 * 1024)
#define CHECK(condition) check(condition, #condition, __LINE__)

static redisContext *client;

static void
check(int condition, const char *text, int line)
{
    if (condition)
        return;
    fprintf(stderr, "hiredis: line %d: %s; %s\n", line, text, client->errstr);
    exit(1);
}

/* Does this reply hold these bytes?  It is freed. */
static int
is_text(redisReply *reply, const char *data, size_t len)
{
    int is = reply != NULL &&
        (reply->type == REDIS_REPLY_STRING ||
         reply->type == REDIS_REPLY_STATUS) &&
        reply->len == len && memcmp(reply->str, data, len) == 0;

    freeReplyObject(reply);
    return is;
}

static int
is_word(redisReply *reply, const char *word)
{
    return is_text(reply, word, strlen(word));
}

static int
is_number(redisReply *reply, long long number)
{
    int is = reply != NULL && reply->type == REDIS_REPLY_INTEGER &&
        reply->integer == number;

    freeReplyObject(reply);
    return is;
}

static redisReply *
next_reply(void)
{
    void *reply = NULL;

    CHECK(redisGetReply(client, &reply) == REDIS_OK);
    return reply;
}

static void
check_single_keys(void)
{
    CHECK(is_word(redisCommand(client, "PING"), "PONG"));
    CHECK(is_word(redisCommand(client, "SET hi:a 1"), "OK"));
    CHECK(is_word(redisCommand(client, "GET hi:a"), "1"));
    redisReply *none = redisCommand(client, "GET hi:none");
    CHECK(none != NULL && none->type == REDIS_REPLY_NIL);
    freeReplyObject(none);
}

static void
check_pipeline(void)
{
    char number[16];

    for (int i = 0; i < 500; i++) {
        CHECK(redisAppendCommand(client, "SET hi:%d %d", i, i) == REDIS_OK);
        CHECK(redisAppendCommand(client, "GET hi:%d", i) == REDIS_OK);
    }
    for (int i = 0; i < 500; i++) {
        snprintf(number, sizeof(number), "%d", i);
        CHECK(is_word(next_reply(), "OK"));
        CHECK(is_word(next_reply(), number));
    }
}

static void
check_many_keys(void)
{
    CHECK(is_word(redisCommand(client, "MSET hi:x 1 hi:y 2 hi:z 3 hi:w 4"),
                  "OK"));
    redisReply *many = redisCommand(client, "MGET hi:z hi:none hi:x hi:x");
    CHECK(many != NULL && many->type == REDIS_REPLY_ARRAY &&
          many->elements == 4);
    CHECK(strcmp(many->element[0]->str, "3") == 0 &&
          many->element[1]->type == REDIS_REPLY_NIL &&
          strcmp(many->element[2]->str, "1") == 0 &&
          strcmp(many->element[3]->str, "1") == 0);
    freeReplyObject(many);
    CHECK(is_number(redisCommand(client, "DEL hi:x hi:y hi:z hi:w hi:none"),
                    4));
}

static void
check_bytes(void)
{
    char *large = malloc(LARGE);

    CHECK(large != NULL);
    for (int i = 0; i < LARGE; i++)
        large[i] = (char)i;
    CHECK(is_word(redisCommand(client, "SET %b %b", large, (size_t)256, large,
                               (size_t)256),
                  "OK"));
    CHECK(is_text(redisCommand(client, "GET %b", large, (size_t)256), large,
                  256));
    CHECK(is_word(redisCommand(client, "SET hi:large %b", large,
                               (size_t)LARGE),
                  "OK"));
    CHECK(is_text(redisCommand(client, "GET hi:large"), large, LARGE));
    free(large);
}

static void
check_error(void)
{
    redisReply *id = redisCommand(client, "CLIENT ID");
    redisReply *error = redisCommand(client, "NOSUCH a");

    CHECK(id != NULL && id->type == REDIS_REPLY_INTEGER);
    CHECK(error != NULL && error->type == REDIS_REPLY_ERROR &&
          strstr(error->str, "unknown command 'NOSUCH'") != NULL);
    CHECK(is_number(redisCommand(client, "CLIENT ID"), id->integer));
    freeReplyObject(error);
    freeReplyObject(id);
}

static void
check_hash(int type)
{
    freeReplyObject(redisCommand(client, "HSET hi:h f 1 g 2"));
    redisReply *hash = redisCommand(client, "HGETALL hi:h");
    CHECK(hash != NULL && hash->type == type && hash->elements == 4);
    freeReplyObject(hash);
}

static void
check_all(int map_type)
{
    check_single_keys();
    check_pipeline();
    check_many_keys();
    check_bytes();
    check_error();
    check_hash(map_type);
}

int
main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    client = redisConnect("127.0.0.1", atoi(argv[1]));
    CHECK(client != NULL && client->err == 0);
    if (argc > 2)
        CHECK(is_word(redisCommand(client, "AUTH %s", argv[2]), "OK"));
    check_all(REDIS_REPLY_ARRAY);
#ifdef REDIS_REPLY_MAP /* since version 1.0 it knows RESP3 */
    redisReply *hello = redisCommand(client, "HELLO 3");
    CHECK(hello != NULL && hello->type == REDIS_REPLY_MAP);
    freeReplyObject(hello);
    check_all(REDIS_REPLY_MAP);
#endif
    redisFree(client);
    puts("done");
    return 0;
}
