/*
 * tests/unit/config/config_case.h - a configuration and what came of it.
 */
#ifndef CONFIG_CASE_H
#define CONFIG_CASE_H

#include <check.h>

#include "base/buf.h"
#include "config/settings.h"
#include "unit.h"

struct config_case {
    struct settings *settings; /* NULL: refused */
    struct buf messages;       /* NUL-terminated */
};

/* Parse as the file "t.yml". */
static inline struct config_case
case_parse(const char *text)
{
    struct config_case c = {0};

    c.settings = settings_parse("t.yml", view_str(text), &c.messages);
    buf_append_char(&c.messages, '\0');
    return c;
}

static inline void
case_fini(struct config_case *c)
{
    settings_free(&c->settings);
    buf_fini(&c->messages);
}

static inline void
expect_accepted(const struct config_case *c, const char *text)
{
    ck_assert_msg(c->settings != NULL, "refused:\n%s\n%s", text,
                  c->messages.data);
}

/* Accepted, with exactly these messages (warnings). */
static inline void
expect_messages(const char *text, const char *messages)
{
    struct config_case c = case_parse(text);

    expect_accepted(&c, text);
    ck_assert_str_eq(c.messages.data, messages);
    case_fini(&c);
}

/* Refused, with exactly these messages. */
static inline void
expect_refused(const char *text, const char *messages)
{
    struct config_case c = case_parse(text);

    ck_assert_msg(c.settings == NULL, "accepted:\n%s", text);
    ck_assert_str_eq(c.messages.data, messages);
    case_fini(&c);
}

/* The only pool of a text that is accepted with exactly these messages. */
static inline const struct pool_settings *
case_pool_with(struct config_case *c, const char *messages, const char *text)
{
    *c = case_parse(text);
    expect_accepted(c, text);
    ck_assert_str_eq(c->messages.data, messages);
    ck_assert_uint_eq(c->settings->pool_count, 1);
    return &c->settings->pools[0];
}

/* ... without a word. */
static inline const struct pool_settings *
case_pool(struct config_case *c, const char *text)
{
    return case_pool_with(c, "", text);
}

#endif
