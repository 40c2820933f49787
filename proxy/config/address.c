/*
 * config/address.c - "host:port", "[v6]:port" and "/path [mode]".
 */
#include "config/address.h"

#include "base/mem.h"
#include "config/value.h"

/* Where the last `c` stands, or text.len. */
static size_t
find_last(struct view text, char c)
{
    for (size_t i = text.len; i > 0; i--) {
        if (text.data[i - 1] == c)
            return i - 1;
    }
    return text.len;
}

static bool
is_host_byte(unsigned char c)
{
    return c > 0x20 && c != 0x7f && c != '[' && c != ']' && c != '/';
}

static bool
is_host(struct view host)
{
    if (host.len == 0 || host.len > ADDRESS_HOST_MAX)
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (!is_host_byte((unsigned char)host.data[i]))
            return false;
    }
    return true;
}

static struct view
without_brackets(struct view host)
{
    if (host.len > 2 && host.data[0] == '[' && host.data[host.len - 1] == ']')
        return view_of(host.data + 1, host.len - 2);
    return host;
}

const char *
address_text_parse_host(struct view host, struct view port,
                        enum address_use use, struct view text,
                        struct address_text *address)
{
    bool is_server = use == ADDRESS_SERVER;
    uint64_t number;

    host = without_brackets(host);
    if (!is_host(host) || (is_server && view_equal(host, VIEW("*"))))
        return "a host name or address before the port";
    if (!view_to_u64(port, &number) || number > UINT16_MAX ||
        (is_server && number == 0))
        return is_server ? "a port from 1 to 65535 behind the host"
                         : "a port up to 65535 behind the host";
    *address = (struct address_text){
        .host = mem_view_dup(host),
        .port = (uint16_t)number,
        .mode = -1,
        .text = mem_view_dup(text),
    };
    return NULL;
}

/* Octal digits only, at most 0777; -1 when it is anything else. */
static int
parse_mode(struct view text)
{
    int mode = 0;

    if (text.len == 0)
        return -1;
    for (size_t i = 0; i < text.len; i++) {
        if (text.data[i] < '0' || text.data[i] > '7')
            return -1;
        mode = mode * 8 + (text.data[i] - '0');
        if (mode > 0777)
            return -1;
    }
    return mode;
}

const char *
address_text_parse_path(struct view path, struct view mode, struct view text,
                        struct address_text *address)
{
    int bits = -1;

    if (path.len < 2 || path.len > ADDRESS_PATH_MAX ||
        !value_is_printable(path))
        return "the path of a UNIX socket, up to 107 bytes";
    if (mode.data != NULL && (bits = parse_mode(mode)) < 0)
        return "an octal mode up to 0777 behind the path";
    *address = (struct address_text){
        .path = mem_view_dup(path),
        .mode = bits,
        .text = mem_view_dup(text),
    };
    return NULL;
}

/* As in twemproxy the mode stands behind the last space. */
static const char *
parse_listen_path(struct view text, struct address_text *address)
{
    size_t space = find_last(text, ' ');
    struct view mode = {0};

    if (space < text.len)
        mode = view_of(text.data + space + 1, text.len - space - 1);
    return address_text_parse_path(view_of(text.data, space), mode, text,
                                   address);
}

static const char *
what_is_allowed(enum address_use use)
{
    switch (use) {
    case ADDRESS_LISTEN:
        return "host:port, [v6]:port or /path [octal mode]";
    case ADDRESS_STATS:
        return "host:port, [v6]:port or off";
    case ADDRESS_SERVER:
        break;
    }
    return "host:port, [v6]:port or /path";
}

const char *
address_text_parse(struct view text, enum address_use use,
                   struct address_text *address)
{
    bool is_path = text.len > 0 && text.data[0] == '/';

    if (is_path && use == ADDRESS_LISTEN)
        return parse_listen_path(text, address);
    if (is_path && use == ADDRESS_SERVER)
        return address_text_parse_path(text, (struct view){0}, text, address);

    size_t colon = find_last(text, ':');
    if (is_path || colon == text.len)
        return what_is_allowed(use);
    struct view port = view_of(text.data + colon + 1, text.len - colon - 1);
    return address_text_parse_host(view_of(text.data, colon), port, use, text,
                                   address);
}

void
address_text_fini(struct address_text *address)
{
    mem_free(address->host);
    mem_free(address->path);
    mem_free(address->text);
    *address = (struct address_text){0};
}

bool
address_text_collides(const struct address_text *a,
                      const struct address_text *b)
{
    if (a->path != NULL && b->path != NULL)
        return view_equal(view_str(a->path), view_str(b->path));
    if (a->host == NULL || b->host == NULL || a->port == 0)
        return false;
    return a->port == b->port &&
           view_equal(view_str(a->host), view_str(b->host));
}
