/*
 * command/refuse.c - refusals in the servers' words.
 */
#include "command/refuse.h"

#include "resp/encode.h"

#define QUOTED_MAX 128 /* bytes of the request in one error, as servers cut */

/* A word as printf's %.*s would show it. */
static struct view
shown(struct view word, size_t most)
{
    size_t len = MIN(word.len, most);
    const char *nul = len > 0 ? memchr(word.data, '\0', len) : NULL;

    return view_of(word.data, nul == NULL ? len : (size_t)(nul - word.data));
}

/* encode_error() makes spaces of line ends. */
static void
finish(struct buf *out, struct buf *text)
{
    encode_error(out, buf_view(text));
    buf_fini(text);
}

/* Each word in quotes with a space behind it, until 128 bytes are there; the
 * last one is cut to what is left of them. */
static void
append_args(struct buf *text, const struct command_args *args)
{
    size_t start = text->len;

    for (uint32_t i = 1; i < args->argc; i++) {
        size_t used = text->len - start;
        if (used >= QUOTED_MAX)
            break;
        buf_append_char(text, '\'');
        buf_append_view(text, shown(command_arg(args, i), QUOTED_MAX - used));
        buf_append_str(text, "' ");
    }
}

void
refuse_unknown_command(struct buf *out, const struct command_args *args)
{
    struct buf text = {0};

    buf_append_str(&text, "ERR unknown command '");
    buf_append_view(&text, shown(command_arg(args, 0), QUOTED_MAX));
    buf_append_str(&text, "', with args beginning with: ");
    append_args(&text, args);
    finish(out, &text);
}

void
refuse_unknown_subcommand(struct buf *out, const struct command *container,
                          struct view sub)
{
    struct buf text = {0};

    buf_append_str(&text, "ERR unknown subcommand '");
    buf_append_view(&text, shown(sub, QUOTED_MAX));
    buf_append_str(&text, "'. Try ");
    for (const char *c = container->name; *c != '\0'; c++)
        buf_append_char(&text, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
    buf_append_str(&text, " HELP.");
    finish(out, &text);
}

void
refuse_wrong_arity(struct buf *out, const struct command *command)
{
    /* Servers give a transaction up that ends like that. */
    const char *code = command->id == COMMAND_ID_EXEC
        ? "EXECABORT Transaction discarded because of:"
        : "ERR";

    buf_printf(out, "-%s wrong number of arguments for '%s' command\r\n",
               code, command->name);
}

void
refuse_command(struct buf *out, const struct command *command,
               const struct command_args *args)
{
    if (command->flags & COMMAND_ONLY_SENTINEL)
        refuse_unknown_command(out, args);
    else
        buf_printf(out,
                   "-ERR command '%s' is not supported through this proxy\r\n",
                   command->name);
}

void
refuse_crossslot(struct buf *out)
{
    buf_append_str(out,
                   "-CROSSSLOT Keys in request don't hash to the same "
                   "slot\r\n");
}

void
refuse_keys(struct buf *out, const struct command *command, uint32_t count,
            uint64_t max_keys)
{
    buf_printf(out,
               "-ERR proxy: command '%s' has %u keys, more than max_keys "
               "(%llu), command was not executed\r\n",
               command->name, count, (unsigned long long)max_keys);
}

void
refuse_sort_pattern(struct buf *out, const char *option)
{
    buf_printf(out, "-ERR %s option of SORT denied in Cluster mode.\r\n",
               option);
}
