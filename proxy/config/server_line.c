/*
 * config/server_line.c - the last space, then the last colons.
 */
#include "config/server_line.h"

#include "base/mem.h"
#include "config/address.h"

/* Left out of names for the sake of libmemcached, which twemproxy follows. */
#define MEMCACHED_PORT 11211

/*
 * Cut what stands behind the last `c` off the end of `rest`.  False, and
 * nothing changed, when there is no `c`.
 */
static bool
cut_last(struct view *rest, char c, struct view *tail)
{
    for (size_t i = rest->len; i > 0; i--) {
        if (rest->data[i - 1] == c) {
            *tail = view_of(rest->data + i, rest->len - i);
            rest->len = i - 1;
            return true;
        }
    }
    return false;
}

static const char *
parse_address(struct view text, struct address_text *address)
{
    struct view host = text, port;

    if (text.len > 0 && text.data[0] == '/')
        return address_text_parse_path(text, (struct view){0}, text, address);
    if (!cut_last(&host, ':', &port))
        return "host:port:weight [name] or /path:weight [name]";
    return address_text_parse_host(host, port, ADDRESS_SERVER, text, address);
}

bool
server_line_is_name(struct view name)
{
    if (name.len == 0 || name.len > SERVER_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.data[i];
        if (c <= 0x20 || c == 0x7f)
            return false;
    }
    return true;
}

char *
server_line_default_name(const struct address_text *address)
{
    struct view host = view_str(address->text), port;

    if (address->path != NULL)
        return mem_printf("%s:", address->path);
    if (address->port == MEMCACHED_PORT && cut_last(&host, ':', &port))
        return mem_view_dup(host);
    return mem_strdup(address->text);
}

const char *
server_line_parse(struct view line, struct server_settings *server)
{
    struct view rest = line, name = {0}, weight;
    uint64_t number;

    bool is_named = cut_last(&rest, ' ', &name);
    if (is_named && !server_line_is_name(name))
        return "a name of up to 1024 visible characters behind the space";
    if (!cut_last(&rest, ':', &weight))
        return "host:port:weight [name] or /path:weight [name]";
    if (!view_to_u64(weight, &number) || number < 1 ||
        number > SERVER_WEIGHT_MAX)
        return "host:port:weight [name] or /path:weight [name] with a weight "
               "from 1 to 2147483647";

    const char *allowed = parse_address(rest, &server->address);
    if (allowed != NULL)
        return allowed;
    server->weight = (uint32_t)number;
    server->name = is_named ? mem_view_dup(name)
                            : server_line_default_name(&server->address);
    return NULL;
}
