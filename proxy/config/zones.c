/*
 * config/zones.c - addresses and networks, and the names of their zones.
 */
#include "config/zones.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"

#define ALLOWED "a map from addresses, address:port or network/bits to names"

/* --- reading ----------------------------------------------------------------- */

/* Its length, 0 when it is no literal. */
static uint8_t
parse_ip(struct view text, uint8_t address[16])
{
    char ip[INET6_ADDRSTRLEN];

    if (text.len >= sizeof(ip))
        return 0;
    memcpy(ip, text.data, text.len);
    ip[text.len] = '\0';
    if (inet_pton(AF_INET, ip, address) == 1)
        return 4;
    return inet_pton(AF_INET6, ip, address) == 1 ? 16 : 0;
}

/* What stands behind the last `mark`; false when there is none. */
static bool
cut_behind(struct view *text, char mark, struct view *behind)
{
    const char *found =
        text->len == 0 ? NULL : memrchr(text->data, mark, text->len);

    if (found == NULL)
        return false;
    size_t len = (size_t)(found - text->data);
    *behind = view_of(found + 1, text->len - len - 1);
    *text = view_of(text->data, len);
    return true;
}

/* A port stands behind brackets, or behind the only colon. */
static bool
cut_port(struct view *text, struct view *port)
{
    bool has_brackets = text->len > 0 && text->data[0] == '[';
    bool has_one = text->len > 0 &&
        memchr(text->data, ':', text->len) ==
            memrchr(text->data, ':', text->len);

    if (!has_brackets)
        return has_one && cut_behind(text, ':', port);
    struct view rest = *text;
    if (!cut_behind(&rest, ']', port) || port->len == 0 || port->data[0] != ':')
        return false;
    *text = view_of(rest.data + 1, rest.len - 1);
    *port = view_of(port->data + 1, port->len - 1);
    return true;
}

static bool
parse_rule(struct view text, struct zone_rule *rule)
{
    struct view behind;
    uint64_t number;

    if (cut_behind(&text, '/', &behind)) {
        rule->len = parse_ip(text, rule->address);
        if (rule->len == 0 || !view_to_u64(behind, &number) ||
            number > rule->len * 8u)
            return false;
        rule->bits = (uint8_t)number;
        return true;
    }
    if (cut_port(&text, &behind)) {
        if (!view_to_u64(behind, &number) || number == 0 || number > UINT16_MAX)
            return false;
        rule->port = (uint16_t)number;
    }
    rule->len = parse_ip(text, rule->address);
    rule->bits = (uint8_t)(rule->len * 8);
    return rule->len > 0;
}

void
zones_read(struct report *report, const struct node *node, void *target)
{
    struct pool_settings *pool = target;

    if (node->kind != NODE_MAP || node->count == 0 || node->count > ZONES_MAX) {
        report_found(report, node, "zones", ALLOWED);
        return;
    }
    pool->zones = mem_array(node->count, sizeof(*pool->zones));
    for (const struct node *item = node->first; item; item = item->next) {
        struct zone_rule *rule = &pool->zones[pool->zone_count++];
        if (!parse_rule(node_key(item), rule))
            report_error(report, item->key_at, "zones",
                         "found no address, allowed " ALLOWED);
        else if (item->kind != NODE_TEXT || item->text_len == 0)
            report_found(report, item, "zones", "the name of a zone");
        else
            rule->zone = mem_view_dup(node_text(item));
    }
}

void
zones_fini(struct pool_settings *pool)
{
    for (size_t i = 0; i < pool->zone_count; i++)
        mem_free(pool->zones[i].zone);
    mem_free(pool->zones);
}

/* --- finding ----------------------------------------------------------------- */

static bool
has_prefix(const struct zone_rule *rule, const uint8_t *address)
{
    unsigned bytes = rule->bits / 8, rest = rule->bits % 8;

    if (memcmp(rule->address, address, bytes) != 0)
        return false;
    return rest == 0 ||
        (rule->address[bytes] ^ address[bytes]) >> (8 - rest) == 0;
}

static bool
says_more(const struct zone_rule *a, const struct zone_rule *b)
{
    if (b == NULL || (a->port != 0) != (b->port != 0))
        return b == NULL || a->port != 0;
    return a->bits > b->bits;
}

const char *
zones_find(const struct pool_settings *pool, const char *ip, uint16_t port)
{
    const struct zone_rule *best = NULL;
    uint8_t address[16] = {0};
    uint8_t len = ip == NULL || pool->zone_count == 0
        ? 0
        : parse_ip(view_str(ip), address);

    for (size_t i = 0; len > 0 && i < pool->zone_count; i++) {
        const struct zone_rule *rule = &pool->zones[i];
        if (rule->len == len && (rule->port == 0 || rule->port == port) &&
            has_prefix(rule, address) && says_more(rule, best))
            best = rule;
    }
    return best == NULL ? NULL : best->zone;
}
