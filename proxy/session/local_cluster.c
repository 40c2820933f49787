/*
 * session/local_cluster.c - CLUSTER: the proxy as a cluster of one node.
 *
 * With cluster_emulation a client made for clusters finds a node here that has
 * all slots, and stays with it; where its keys really are is none of its
 * business.  Without, it hears what a server outside a cluster says.
 *
 * The node is where the client is already, unless the operator announces
 * another address.  Its id comes from the settings, so it stays over restarts.
 */
#include <inttypes.h>

#include "resp/encode.h"
#include "session/local_priv.h"

#define NO_CLUSTER "ERR This instance has cluster support disabled"

#define NODE_ID_WORDS 5
#define NODE_ID_SIZE (8 * NODE_ID_WORDS)

/* There was one change since the beginning: the slots were given out. */
#define CONFIG_EPOCH 1

/* --- who and where the node is ------------------------------------------------- */

struct node_here {
    char id[NODE_ID_SIZE + 1];
    char local[INET6_ADDRSTRLEN];
    const char *host; /* "": where the client is already */
    uint16_t port;
};

static bool
emulates(const struct local_call *call)
{
    return call->session->pool->settings->cluster_emulation;
}

/* 40 hex digits; `of` tells the ids of one pool apart. */
static void
id_make(const struct pool_settings *settings, const char *of,
        char id[NODE_ID_SIZE + 1])
{
    struct buf text = {0};

    buf_printf(&text, "%s %s", of, settings->name);
    if (settings->announce.text != NULL)
        buf_printf(&text, " %s", settings->announce.text);
    for (size_t i = 0; i < settings->listen_count; i++)
        buf_printf(&text, " %s", settings->listens[i].text);
    for (size_t i = 0; i < NODE_ID_WORDS; i++) {
        buf_append_char(&text, '.');
        snprintf(id + 8 * i, 9, "%08" PRIx32,
                 hash_bytes(HASH_MURMUR3, false, buf_view(&text)));
    }
    buf_fini(&text);
}

static void
node_id_make(const struct local_call *call, char id[NODE_ID_SIZE + 1])
{
    id_make(call->session->pool->settings, "node", id);
}

static uint16_t
first_port(const struct pool_settings *settings)
{
    uint16_t port = 0;

    for (size_t i = 0; i < settings->listen_count && port == 0; i++)
        port = settings->listens[i].port;
    return port;
}

static void
node_find(const struct local_call *call, struct node_here *node)
{
    const struct pool_settings *settings = call->session->pool->settings;

    node_id_make(call, node->id);
    node->host = settings->announce.host;
    node->port = settings->announce.port;
    if (node->host != NULL)
        return;
    node->host = node->local;
    if (!address_of_local_host(call->session->stream.io.fd, node->local,
                               &node->port)) {
        node->local[0] = '\0';
        node->port = first_port(settings);
    }
}

/* --- the node in its several spellings ------------------------------------------- */

static enum local_result
cluster_slots(const struct local_call *call)
{
    struct node_here node;

    node_find(call, &node);
    encode_array(call->out, 1);
    encode_array(call->out, 3);
    encode_integer(call->out, 0);
    encode_integer(call->out, ROUTE_SLOTS - 1);
    encode_array(call->out, 4);
    encode_bulk_str(call->out, node.host);
    encode_integer(call->out, node.port);
    encode_bulk_str(call->out, node.id);
    encode_map(call->out, call->session->resp, 0);
    return LOCAL_REPLY;
}

static void
put_text(struct buf *out, const char *name, const char *value)
{
    encode_bulk_str(out, name);
    encode_bulk_str(out, value);
}

static void
put_number(struct buf *out, const char *name, int64_t value)
{
    encode_bulk_str(out, name);
    encode_integer(out, value);
}

static enum local_result
cluster_shards(const struct local_call *call)
{
    int resp = call->session->resp;
    struct buf *out = call->out;
    struct node_here node;

    node_find(call, &node);
    encode_array(out, 1);
    encode_map(out, resp, 2);
    encode_bulk_str(out, "slots");
    encode_array(out, 2);
    encode_integer(out, 0);
    encode_integer(out, ROUTE_SLOTS - 1);
    encode_bulk_str(out, "nodes");
    encode_array(out, 1);
    encode_map(out, resp, 7);
    put_text(out, "id", node.id);
    put_number(out, "port", node.port);
    put_text(out, "ip", node.host);
    put_text(out, "endpoint", node.host);
    put_text(out, "role", "master");
    put_number(out, "replication-offset", 0);
    put_text(out, "health", "online");
    return LOCAL_REPLY;
}

/* Nodes speak to each other on a second port, which we do not have. */
static enum local_result
cluster_nodes(const struct local_call *call)
{
    struct node_here node;
    struct buf text = {0};

    node_find(call, &node);
    buf_printf(&text, "%s %s:%u@0 myself,master - 0 0 %d connected 0-%d\n",
               node.id, node.host, node.port, CONFIG_EPOCH, ROUTE_SLOTS - 1);
    encode_verbatim(call->out, call->session->resp, buf_view(&text));
    buf_fini(&text);
    return LOCAL_REPLY;
}

static enum local_result
cluster_info(const struct local_call *call)
{
    struct buf text = {0};

    buf_printf(&text,
               "cluster_state:ok\r\n"
               "cluster_slots_assigned:%d\r\n"
               "cluster_slots_ok:%d\r\n"
               "cluster_slots_pfail:0\r\n"
               "cluster_slots_fail:0\r\n"
               "cluster_known_nodes:1\r\n"
               "cluster_size:1\r\n"
               "cluster_current_epoch:%d\r\n"
               "cluster_my_epoch:%d\r\n"
               "cluster_stats_messages_sent:0\r\n"
               "cluster_stats_messages_received:0\r\n"
               "total_cluster_links_buffer_limit_exceeded:0\r\n",
               ROUTE_SLOTS, ROUTE_SLOTS, CONFIG_EPOCH, CONFIG_EPOCH);
    encode_verbatim(call->out, call->session->resp, buf_view(&text));
    buf_fini(&text);
    return LOCAL_REPLY;
}

static enum local_result
cluster_my_id(const struct local_call *call, const char *of)
{
    char id[NODE_ID_SIZE + 1];

    id_make(call->session->pool->settings, of, id);
    encode_bulk_str(call->out, id);
    return LOCAL_REPLY;
}

/* --- about the node -------------------------------------------------------------- */

/* False after an error: the word is no node that we know, which is ourselves. */
static bool
is_node(const struct local_call *call)
{
    char id[NODE_ID_SIZE + 1];

    node_id_make(call, id);
    if (view_equal(local_arg(call, 2), view_str(id)))
        return true;
    local_error_word(call, "ERR Unknown node ", local_arg(call, 2), "");
    return false;
}

/* Nobody replicates it, and it has no links to others. */
static enum local_result
cluster_nobody(const struct local_call *call)
{
    encode_array(call->out, 0);
    return LOCAL_REPLY;
}

static enum local_result
cluster_replicas(const struct local_call *call)
{
    return is_node(call) ? cluster_nobody(call) : LOCAL_REPLY;
}

static enum local_result
cluster_failure_reports(const struct local_call *call)
{
    if (is_node(call))
        encode_integer(call->out, 0);
    return LOCAL_REPLY;
}

/* --- slots ----------------------------------------------------------------------- */

static enum local_result
cluster_keyslot(const struct local_call *call)
{
    encode_integer(call->out, route_cluster_slot(local_arg(call, 2)));
    return LOCAL_REPLY;
}

bool
local_names_slot(const struct command *command)
{
    return command->id == COMMAND_ID_CLUSTER_COUNTKEYSINSLOT ||
        command->id == COMMAND_ID_CLUSTER_GETKEYSINSLOT;
}

uint32_t
local_slot(const struct command_args *args)
{
    uint64_t slot = 0;
    bool is_number = view_to_u64(command_arg(args, 2), &slot);

    ASSERT(is_number && slot < ROUTE_SLOTS);
    return (uint32_t)slot;
}

static bool
is_slot(int64_t number)
{
    return number >= 0 && number < ROUTE_SLOTS;
}

static enum local_result
cluster_count_keys(const struct local_call *call)
{
    int64_t slot;

    if (!local_integer(local_arg(call, 2), &slot))
        return local_error(call, LOCAL_NOT_AN_INTEGER);
    return is_slot(slot) ? LOCAL_REFUSE : local_error(call, "ERR Invalid slot");
}

static enum local_result
cluster_get_keys(const struct local_call *call)
{
    int64_t slot, count;

    if (!local_integer(local_arg(call, 2), &slot) ||
        !local_integer(local_arg(call, 3), &count))
        return local_error(call, LOCAL_NOT_AN_INTEGER);
    return is_slot(slot) && count >= 0
        ? LOCAL_REFUSE
        : local_error(call, "ERR Invalid slot or number of keys");
}

/* --- the door -------------------------------------------------------------------- */

static enum local_result
cluster_help(const struct local_call *call)
{
    static const char *const lines[] = {
        "CLUSTER <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        "COUNT-FAILURE-REPORTS <node-id>",
        "    Return number of failure reports for <node-id>.",
        "COUNTKEYSINSLOT <slot>",
        "    Return the number of keys in <slot>.",
        "GETKEYSINSLOT <slot> <count>",
        "    Return key names stored by current node in a slot.",
        "INFO",
        "    Return information about the cluster.",
        "KEYSLOT <key>",
        "    Return the hash slot for <key>.",
        "MYID",
        "    Return the node id.",
        "NODES",
        "    Return cluster configuration seen by node. Output format:",
        ("    <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> "
         "<slot> ..."),
        "REPLICAS <node-id>",
        "    Return <node-id> replicas.",
        "SLOTS",
        ("    Return information about slots range mappings. Each range is "
         "made of:"),
        "    start, end, master and replicas IP addresses, ports and ids",
        "SHARDS",
        ("    Return information about slot range mappings and the nodes "
         "associated with them."),
        "LINKS",
        ("    Return information about all network links between this node and "
         "its peers."),
        ("    Output format is an array where each array element is a map "
         "containing attributes of a link"),
        "HELP",
        "    Prints this help.",
    };

    encode_array(call->out, ARRAY_LEN(lines));
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        encode_simple(call->out, lines[i]);
    return LOCAL_REPLY;
}

/* What is not here administers a cluster, and is refused. */
static enum local_result
cluster_answer(const struct local_call *call)
{
    switch ((int)call->command->id) {
    case COMMAND_ID_CLUSTER_COUNT_FAILURE_REPORTS:
        return cluster_failure_reports(call);
    case COMMAND_ID_CLUSTER_COUNTKEYSINSLOT:
        return cluster_count_keys(call);
    case COMMAND_ID_CLUSTER_GETKEYSINSLOT:
        return cluster_get_keys(call);
    case COMMAND_ID_CLUSTER_HELP:
        return cluster_help(call);
    case COMMAND_ID_CLUSTER_INFO:
        return cluster_info(call);
    case COMMAND_ID_CLUSTER_KEYSLOT:
        return cluster_keyslot(call);
    case COMMAND_ID_CLUSTER_LINKS:
        return cluster_nobody(call);
    case COMMAND_ID_CLUSTER_MYID:
        return cluster_my_id(call, "node");
    case COMMAND_ID_CLUSTER_MYSHARDID:
        return cluster_my_id(call, "shard");
    case COMMAND_ID_CLUSTER_NODES:
        return cluster_nodes(call);
    case COMMAND_ID_CLUSTER_REPLICAS:
    case COMMAND_ID_CLUSTER_SLAVES:
        return cluster_replicas(call);
    case COMMAND_ID_CLUSTER_SHARDS:
        return cluster_shards(call);
    case COMMAND_ID_CLUSTER_SLOTS:
        return cluster_slots(call);
    }
    return LOCAL_REFUSE;
}

enum local_result
local_cluster(const struct local_call *call)
{
    return emulates(call) ? cluster_answer(call)
                          : local_error(call, NO_CLUSTER);
}

/* Every slot is here, and none is on its way: there is nothing to ask for. */
enum local_result
local_asking(const struct local_call *call)
{
    return emulates(call) ? local_ok(call) : local_error(call, NO_CLUSTER);
}

static enum local_result
set_readonly(const struct local_call *call, bool is_readonly)
{
    if (!emulates(call))
        return local_error(call, NO_CLUSTER);
    call->session->is_readonly = is_readonly;
    return local_ok(call);
}

enum local_result
local_readonly(const struct local_call *call)
{
    return set_readonly(call, true);
}

enum local_result
local_readwrite(const struct local_call *call)
{
    return set_readonly(call, false);
}
