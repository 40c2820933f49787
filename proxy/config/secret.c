/*
 * config/secret.c - passwords from files and the environment.
 */
#include "config/secret.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/slurp.h"

static struct view
without_newline(struct view text)
{
    if (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    if (text.len > 0 && text.data[text.len - 1] == '\r')
        text.len--;
    return text;
}

/* `from` names the source in messages, never the content. */
static void
keep(struct report *report, struct mark at, const char *key, const char *from,
     struct view value, char **secret)
{
    if (value.len == 0 || value.len > SECRET_BYTES_MAX ||
        memchr(value.data, '\0', value.len) != NULL) {
        report_error(report, at, key, "found a password %s that is empty, too "
                     "long or holds a NUL, allowed 1 to %d bytes",
                     from, SECRET_BYTES_MAX);
        return;
    }
    mem_free(*secret);
    *secret = mem_view_dup(value);
}

static void
read_file(struct report *report, const struct node *node, const char *key,
          char **secret)
{
    char quoted[REPORT_QUOTE_SIZE];
    struct buf content = {0};
    struct error error;

    log_quote(quoted, sizeof(quoted), node_text(node));
    if (slurp(node->text, SECRET_BYTES_MAX, &content, &error) < 0)
        report_error(report, node->at, key, "found the file %s, which %s; "
                     "allowed a file with the password", quoted, error.text);
    else
        keep(report, node->at, key, "in a file",
             without_newline(buf_view(&content)), secret);
    buf_fini(&content);
}

static void
read_env(struct report *report, const struct node *node, const char *key,
         char **secret)
{
    char quoted[REPORT_QUOTE_SIZE];
    const char *value = getenv(node->text);

    log_quote(quoted, sizeof(quoted), node_text(node));
    if (value == NULL)
        report_error(report, node->at, key, "found the name %s, allowed that "
                     "of an environment variable that is set", quoted);
    else
        keep(report, node->at, key, "in a variable",
             without_newline(view_str(value)), secret);
}

void
secret_read(struct report *report, const struct node *node, const char *key,
            char **secret)
{
    const struct node *source = node->count == 1 ? node->first : NULL;
    bool is_source = node->kind == NODE_MAP && source != NULL &&
                     source->kind == NODE_TEXT && source->text_len > 0;

    if (node->kind == NODE_TEXT && !node_is_empty(node))
        keep(report, node->at, key, "here", node_text(node), secret);
    else if (is_source && view_equal(node_key(source), VIEW("file")))
        read_file(report, source, key, secret);
    else if (is_source && view_equal(node_key(source), VIEW("env")))
        read_env(report, source, key, secret);
    else
        report_error(report, node->at, key, "found something else, allowed "
                     "a password, {file: PATH} or {env: NAME}");
}
