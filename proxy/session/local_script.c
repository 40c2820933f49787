/*
 * session/local_script.c - SCRIPT SHOW, of what is remembered.
 */
#include "command/script_memory.h"
#include "resp/encode.h"
#include "session/local_priv.h"

/* Of any other script a server may know. */
enum local_result
local_script_show(const struct local_call *call)
{
    struct script_memory *memory = call->session->pool->scripts;
    struct script_digest digest;
    struct buf body = {0};

    if (!script_digest_parse(local_arg(call, 2), &digest) ||
        !script_memory_find(memory, &digest, &body))
        return LOCAL_REFUSE;
    encode_bulk(call->out, buf_view(&body));
    buf_fini(&body);
    return LOCAL_REPLY;
}
