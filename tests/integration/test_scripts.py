"""EVALSHA where servers do not have the script, in every kind of pool.

The tests share three plain servers, one on its own, and a cluster, which the
last ones reshard and fail over.
"""

import hashlib
import itertools
import threading

import pytest

from harness import eventually, running_world
from lib_cluster import Cluster, Resharder, start_proxy
from resp import encode

POOLS = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    three:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      hash_tag: "{}"
      servers: [$a:1 a, $b:1 b, $c:1 c]
    one:
      listen: 127.0.0.1:0
      distribution: modulo
      hash: crc16
      servers: [$d:1 d]
"""
# Each test has scripts of its own, so that nobody has seen them before.
NUMBERS = itertools.count()


def new_script(text):
    body = f"-- {next(NUMBERS)}\n{text}"
    return body, hashlib.sha1(body.encode()).hexdigest()


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def servers(world):
    return world.start_servers(5)


@pytest.fixture(scope="module")
def plain(world, servers):
    a, b, c, d, _ = (server.address for server in servers)
    return world.proxy(POOLS, a=a, b=b, c=c, d=d)


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world)


@pytest.fixture(scope="module")
def clustered(world, cluster):
    return start_proxy(world, cluster.seeds(1))


@pytest.fixture(params=["plain", "clustered"])
def proxy(request):
    return request.getfixturevalue(request.param)


def transact(client, *commands):
    with client.pipeline(transaction=True) as pipe:
        for words in commands:
            pipe.execute_command(*words)
        return pipe.execute()


@pytest.mark.threads
def test_what_one_client_has_shown_runs_on_every_shard(proxy):
    body, sha = new_script("return {KEYS[1], ARGV[1]}")
    assert proxy.client().eval(body, 1, "first", "x") == [b"first", b"x"]
    for number in range(8):  # some of them at the other worker
        client = proxy.client()
        for key in range(5):
            key = f"key:{number}:{key}"
            assert client.evalsha(sha, 1, key, "y") == [key.encode(), b"y"]
    assert proxy.client().script_exists(sha, "0" * 40) == [True, False]


def test_it_is_found_by_transactions(proxy):
    body, sha = new_script("return redis.call('INCR', KEYS[1])")
    assert proxy.client().eval(body, 1, "count") == 1
    for number in range(20):
        client = proxy.client()
        key = f"{{t{number}}}"
        calls = [("EVALSHA", sha, 1, key)] * 3
        assert transact(client, *calls, ("GET", key)) == [1, 2, 3, b"3"]
        with client.pipeline() as pipe:
            pipe.watch(key)
            assert pipe.get(key) == b"3"
            pipe.multi()
            for words in calls:
                pipe.execute_command(*words)
            assert pipe.execute() == [4, 5, 6]


def test_order_is_kept_in_a_pipeline(proxy):
    body, sha = new_script("return redis.call('APPEND', KEYS[1], ARGV[1])")
    proxy.client().eval(body, 1, "elsewhere", "")
    raw = proxy.raw()
    for number in range(20):
        key = f"{{o{number}}}"
        replies = raw.pipeline(
            ("SET", key, "a"), ("EVALSHA", sha, 1, key, "b"), ("GET", key),
            ("EVALSHA", sha, 1, key, "c"), ("STRLEN", key), ("GET", "none"))
        assert replies == [b"+OK\r\n", b":2\r\n", b"$2\r\nab\r\n",
                           b":3\r\n", b":3\r\n", b"$-1\r\n"]


@pytest.mark.threads
def test_servers_that_lose_their_scripts_are_given_them_again(plain, servers):
    body, sha = new_script("return 7")
    client = plain.client("three")
    client.script_load(body)
    for _ in range(2):
        assert [client.evalsha(sha, 1, n) for n in range(20)] == [7] * 20
        for server in servers[:3]:
            server.client().script_flush()
        assert transact(client, ("EVALSHA", sha, 1, "k")) == [7]
    assert client.script_flush()
    with pytest.raises(Exception, match="No matching script"):
        client.evalsha(sha, 1, "k")


# One after the other, where one shard has all that they name.
BODY = "return {KEYS[1], ARGV}"
SHA = hashlib.sha1(BODY.encode()).hexdigest()
WRITES = "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])"
LIBRARY = ("#!lua name=lib\n"
           "redis.register_function{function_name='f', callback=function(k)"
           " return redis.call('GET', k[1]) end, flags={'no-writes'}}")
FORGED = "return redis.error_reply('NOSCRIPT No matching script.')"
SAME = [
    ("EVALSHA", SHA, 1, "{t}"), ("SCRIPT", "EXISTS", SHA),
    ("EVAL", BODY, 1, "{t}", "x"), ("EVALSHA", SHA, 1, "{t}", "x"),
    ("EVALSHA", SHA.upper(), 1, "{t}", "x"), ("SCRIPT", "EXISTS", SHA, "x"),
    ("EVALSHA_RO", SHA, 2, "{t}", "{t}2", "x"), ("EVAL_RO", BODY, 1, "{t}"),
    ("EVAL", WRITES, 1, "{t}", "v"), ("EVAL_RO", WRITES, 1, "{t}", "v"),
    ("EVAL", BODY, 0), ("EVAL", BODY, "x"), ("EVAL", BODY, -1),
    ("EVAL", BODY, 5, "{t}"), ("EVALSHA", SHA, "x"), ("EVALSHA", SHA),
    ("EVALSHA", "short", 1, "{t}"), ("EVALSHA", "x" * 40, 1, "{t}"),
    ("EVAL", "oops", 1, "{t}"), ("SCRIPT", "LOAD", "oops"),
    ("EVALSHA", hashlib.sha1(b"oops").hexdigest(), 1, "{t}"),
    ("EVAL", "return redis.call('NOSUCH')", 1, "{t}"),
    ("EVAL", "#!lua flags=no-writes\nreturn 1", 1, "{t}"),
    ("EVAL", FORGED, 1, "{t}"),
    ("EVALSHA", hashlib.sha1(FORGED.encode()).hexdigest(), 1, "{t}"),
    ("EVAL", "return redis.pcall('INCR', KEYS[1])", 1, "{t}"),
    ("EVAL", "return {1, 2.5, 'x', false, {ok='fine'}, {err='bad'}}", 0),
    ("EVAL", "redis.setresp(3) return {double=2.5}", 1, "{t}"),
    ("MULTI",), ("EVALSHA", SHA, 1, "{t}", "y"), ("EVAL", BODY, 0),
    ("EVALSHA", "x" * 40, 1, "{t}"), ("EXEC",),
    ("FCALL", "f", 1, "{t}"), ("FUNCTION", "LOAD", LIBRARY),
    ("FCALL", "f", 1, "{t}"), ("FCALL_RO", "f", 1, "{t}"),
    ("FCALL_RO", "f", 0), ("FCALL", "f", "x"), ("FCALL", "f", 5, "x"),
    ("FUNCTION", "LIST"), ("FUNCTION", "STATS"), ("FUNCTION", "DUMP"),
    ("FUNCTION", "DELETE", "lib"), ("FUNCTION", "HELP"), ("SCRIPT", "HELP"),
    ("SCRIPT", "SHOW", "x" * 40), ("SCRIPT", "NOSUCH"), ("FUNCTION",),
    ("SCRIPT", "FLUSH"), ("EVALSHA", SHA, 1, "{t}"),
    ("SCRIPT", "EXISTS", SHA),
]


@pytest.mark.parametrize("resp", [2, 3])
@pytest.mark.parametrize("pool", ["one", "three", "pool"])
def test_answers_are_those_of_one_server(plain, servers, request, pool, resp):
    if pool == "pool":
        through = request.getfixturevalue("clustered").raw(pool)
    else:
        through = plain.raw(pool)
    direct = servers[4].raw()
    for raw in (through, direct):
        raw.command("HELLO", resp)
        raw.command("DEL", "{t}")
    for words in SAME:
        assert through.command(*words) == direct.command(*words), words


def test_a_large_script_with_many_keys(proxy):
    """As queues have them: tens of kilobytes, tens of keys."""
    padding = "\n".join(f"-- {n:060}" for n in range(500))
    body, sha = new_script(padding + """
        local job = cjson.decode(ARGV[1])
        for i, key in ipairs(KEYS) do
            redis.call('HSET', key, job.name, i)
        end
        return #KEYS""")
    client = proxy.client()
    keys = [f"{{first}}:{n}" for n in range(40)]
    assert client.eval(body, 40, *keys, '{"name": "j"}') == 40
    for number in range(10):
        keys = [f"{{q{number}}}:{n}" for n in range(40)]
        calls = [("EVALSHA", sha, 40, *keys, '{"name": "j"}')] * 5
        assert transact(client, *calls) == [40] * 5
        assert client.hget(keys[39], "j") == b"40"


def test_clients_that_leave_in_between_harm_nobody(plain, servers):
    body, sha = new_script("return 1")
    plain.client("three").eval(body, 1, "x")
    for number in range(60):
        if number % 10 == 0:
            for server in servers[:3]:
                server.client().script_flush()
        raw = plain.raw("three")
        raw.send(encode("MULTI") + encode("EVALSHA", sha, 1, number) +
                 encode("EXEC") + encode("EVALSHA", sha, 1, number))
        raw.close()
    client = plain.client("three")
    assert [client.evalsha(sha, 1, n) for n in range(20)] == [1] * 20
    assert plain.stats.value("pointsman_pool_scripts_loaded_total",
                             pool="three") > 0


def test_many_find_at_once_that_a_script_is_missing(plain, servers):
    body, sha = new_script("return 1")
    plain.client("three").eval(body, 1, "x")
    clients = [plain.raw("three") for _ in range(20)]
    for number in range(20):
        for server in servers[:3]:
            server.client().script_flush()
        for raw in clients:
            raw.send(encode("EVALSHA", sha, 1, number))
        assert [raw.read_reply() for raw in clients] == [b":1\r\n"] * 20


# --- clusters -----------------------------------------------------------------


def count_up(proxy, sha, key, results, stop):
    """Each call counts by one, alone and in transactions in turn."""
    client = proxy.client()
    calls = 0
    try:
        while not stop.is_set():
            call = ("EVALSHA", sha, 1, key)
            if calls % 2 == 0:
                assert client.execute_command(*call) == calls + 1
            else:
                assert transact(client, call) == [calls + 1]
            calls += 1
        assert client.get(key) == str(calls).encode()
        results.append(calls)
    except Exception as error:  # told by the test
        results.append(error)


def test_scripts_run_once_while_slots_move(cluster, clustered):
    body, sha = new_script("return redis.call('INCR', KEYS[1])")
    clustered.client().eval(body, 1, "{m}")
    keys = [f"{{m{n}}}" for n in range(4)]
    results, stop = [], threading.Event()
    threads = [threading.Thread(target=count_up,
                                args=(clustered, sha, key, results, stop))
               for key in keys]

    for thread in threads:
        thread.start()
    try:
        with Resharder(cluster, [cluster.slot(key) for key in keys]) as moving:
            eventually(lambda: moving.moves >= 8 or results, 60)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert all(isinstance(calls, int) and calls > 0 for calls in results), \
        results


def test_a_new_primary_is_given_the_scripts(cluster, clustered):
    body, sha = new_script("return {KEYS[1]}")
    client = clustered.client()
    client.script_load(body)
    chosen = [cluster.replicas_of(node)[0] for node in cluster.primaries()]
    for node in chosen:
        assert node.command("SCRIPT", "EXISTS", sha) == [0]
        cluster.fail_over(node)
    for number in range(20):
        key = f"{{f{number}}}".encode()
        call = ("EVALSHA", sha, 1, key)
        assert transact(client, call, call) == [[key], [key]]
    for node in chosen:
        node.command("SCRIPT", "FLUSH")
    for number in range(20):
        key = b"key:%d" % number
        assert client.evalsha(sha, 1, key) == [key]
