/*
 * demo_module.c - commands that no table has, for test_unknown_commands.py.
 *
 * Compiled by the test.  What it needs of a server's interface for modules is
 * declared here: a module is given a function that finds all others by name.
 */
#include <stddef.h>

typedef struct Context Context;
typedef struct Word Word;
typedef struct Reply Reply;
typedef int Handler(Context *context, Word **words, int count);

static int (*get_api)(const char *name, void *function);
static int (*create)(Context *context, const char *name, Handler *handler,
                     const char *flags, int first, int last, int step);
static Reply *(*call)(Context *context, const char *command,
                      const char *format, ...);
static int (*reply_with)(Context *context, Reply *reply);
static int (*reply_text)(Context *context, const char *text);
static int (*wrong_arity)(Context *context);

static int
set_value(Context *context, Word **words, int count)
{
    if (count != 3)
        return wrong_arity(context);
    return reply_with(context, call(context, "SET", "!ss", words[1], words[2]));
}

static int
get_value(Context *context, Word **words, int count)
{
    if (count != 2)
        return wrong_arity(context);
    return reply_with(context, call(context, "GET", "s", words[1]));
}

static int
get_both(Context *context, Word **words, int count)
{
    if (count != 3)
        return wrong_arity(context);
    return reply_with(context, call(context, "MGET", "ss", words[1], words[2]));
}

static int
say_hello(Context *context, Word **words, int count)
{
    (void)words;
    (void)count;
    return reply_text(context, "hello");
}

int
RedisModule_OnLoad(Context *context, Word **words, int count)
{
    int (*set_attributes)(Context *, const char *, int, int);

    (void)words;
    (void)count;
    get_api = ((int (**)(const char *, void *))context)[0];
    get_api("RedisModule_SetModuleAttribs", &set_attributes);
    get_api("RedisModule_CreateCommand", &create);
    get_api("RedisModule_Call", &call);
    get_api("RedisModule_ReplyWithCallReply", &reply_with);
    get_api("RedisModule_ReplyWithSimpleString", &reply_text);
    get_api("RedisModule_WrongArity", &wrong_arity);
    set_attributes(context, "demo", 1, 1);
    if (create(context, "demo.set", set_value, "write", 1, 1, 1) != 0 ||
        create(context, "demo.get", get_value, "readonly fast", 1, 1, 1) != 0 ||
        create(context, "demo.both", get_both, "readonly", 1, 2, 1) != 0 ||
        create(context, "demo.hello", say_hello, "fast", 0, 0, 0) != 0)
        return 1;
    return 0;
}
