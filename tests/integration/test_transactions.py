"""MULTI, EXEC and WATCH: what a server says, and nothing by halves."""

import contextlib
import threading

import pytest

from harness import eventually
from lib_cluster import Move, start_proxy
from lib_cluster_log import entries
from lib_cluster_transactions import Transactors
from lib_three import cluster, servers, world
from resp import encode

ONE = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      hash_tag: "{}"
      databases: 16
      transactions: $way
      servers:
        - $a:1 a
"""
THREE = ONE + """\
        - $b:1 b
        - $c:1 c
"""



@pytest.fixture(scope="module", params=["queued", "direct"])
def way(request):
    return request.param


@pytest.fixture(scope="module")
def proxy(world, servers, way):
    a, b, c = [server.address for server in servers]
    return world.proxy(THREE, a=a, b=b, c=c, way=way)


@pytest.fixture(scope="module")
def cluster_proxy(world, cluster, way):
    return start_proxy(world, cluster.seeds(2), cluster_refresh_interval="1s",
                       transactions=way)


# In order, over one connection each; {t} keeps keys on one shard.
WORDS = [line.split() for line in """
    EXEC
    DISCARD
    MULTI
    EXEC
    MULTI
    DISCARD
    MULTI
    SET {t}a 1
    INCR {t}a
    LPUSH {t}a x
    GET {t}none
    PING
    PING hello
    ECHO hello
    MGET {t}a {t}none
    HSET {t}h f v
    HGETALL {t}h
    ZADD {t}z 1.5 m
    ZRANGE {t}z 0 -1 WITHSCORES
    BLPOP {t}none 0
    XREAD BLOCK 0 STREAMS {t}none $
    EVAL return{KEYS[1]} 1 {t}a
    UNWATCH
    MSET {t}a 1 {t}b 2
    DEL {t}a {t}b
    EXEC
    MULTI
    MULTI
    WATCH {t}a
    SET {t}a 5
    EXEC
    GET {t}a
    MULTI
    NOSUCH x
    SET {t}a 6
    EXEC
    GET {t}a
    MULTI
    GET
    DISCARD
    MULTI
    EXEC EXEC
    EXEC
    MULTI
    OBJECT NOSUCH {t}a
    EXEC
    MULTI
    SET {t}a 7
    RESET
    EXEC
    GET {t}a
    MULTI x
    multi
    set {t}a 8
    exec
    GET {t}a
    MULTI
    SELECT 0
    SET {t}a 9
    EXEC
    MULTI
    SET {t}a
    SUBSCRIBE
    EXEC
    MULTI
    MSET {t}a 1 {t}b
    EXEC
    MULTI
    SET {t}a 1 EX 0
    EVALSHA ffffffffffffffffffffffffffffffffffffffff 1 {t}a
    LRANGE {t}a 0 x
    EXEC
    WATCH
    UNWATCH
    WATCH {t}a {t}b
    GET {t}a
    MULTI
    SET {t}a 10
    EXEC
    WATCH {t}a
    SET {t}a 11
    MULTI
    GET {t}a
    EXEC
    WATCH {t}a
    WATCH {t}b
    SET {t}a 12
    UNWATCH
    MULTI
    GET {t}a
    EXEC
    WATCH {t}a
    MULTI
    SET {t}a 13
    DISCARD
    SET {t}a 14
    MULTI
    GET {t}a
    EXEC
    WATCH {t}a
    MULTI
    EXEC
    WATCH {t}a
    SET {t}a 15
    MULTI
    EXEC
    WATCH {t}a
    SET {t}a 16
    MULTI
    NOSUCH
    EXEC
    MULTI
    GET {t}a
    EXEC
    WATCH {t}a
    SET {t}a 17
    RESET
    MULTI
    GET {t}a
    EXEC
    MULTI
    WAIT 0 0
    TYPE {t}a
    EXEC
""".strip().splitlines()]


def hello(raw, version):
    raw.command("HELLO", version)
    return raw


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("at_once", [False, True])
def test_answers_are_those_of_a_server(world, proxy, cluster_proxy, version,
                                       at_once):
    """Word by word, and all of it in one piece."""
    plain = world.server()
    straight = hello(plain.raw(), version)
    sides = [hello(where.raw(), version) for where in (proxy, cluster_proxy)]
    for side in sides:
        side.command("DEL", "{t}a", "{t}b", "{t}h", "{t}z")
    if at_once:
        expected = straight.pipeline(*WORDS)
        for side in sides:
            assert side.pipeline(*WORDS) == expected
        return
    for words in WORDS:
        expected = straight.command(*words)
        for side in sides:
            assert side.command(*words) == expected, words


def test_keys_of_two_shards_are_refused_and_the_rest_with_them(proxy,
                                                               cluster_proxy):
    for where in (proxy, cluster_proxy):
        raw = where.raw()
        assert raw.command("MULTI") == b"+OK\r\n"
        replies = [raw.command("SET", f"k{n}", "x") for n in range(20)]
        assert replies[0] == b"+QUEUED\r\n"
        refused = [reply for reply in replies if reply != b"+QUEUED\r\n"]
        assert refused and all(
            reply.startswith(b"-CROSSSLOT Keys in request don't hash to the "
                             b"same slot (proxy: key \"k")
            for reply in refused)
        assert raw.command("EXEC") == (
            b"-EXECABORT Transaction discarded because of previous "
            b"errors.\r\n")
        assert where.client().exists(*[f"k{n}" for n in range(20)]) == 0


@pytest.mark.parametrize("words", [
    ("SUBSCRIBE", "c"), ("CLIENT", "REPLY", "OFF"), ("SELECT", "1"),
    ("HELLO", "3"), ("AUTH", "x"), ("CLIENT", "ID"),
    ("CLIENT", "SETNAME", "x"), ("SSUBSCRIBE", "c"), ("DBSIZE",),
    ("FLUSHALL",), ("SHUTDOWN",)])
def test_what_concerns_the_connection_is_refused(proxy, words):
    raw = proxy.raw()
    assert raw.command("MULTI") == b"+OK\r\n"
    assert raw.command(*words).startswith(b"-ERR ")
    assert raw.command("EXEC").startswith(b"-EXECABORT ")
    assert raw.command("PING") == b"+PONG\r\n"


def test_a_long_transaction_with_large_values(proxy):
    """The first of it arrives long before the last."""
    pipe = proxy.client().pipeline(transaction=True)
    for n in range(2000):
        pipe.set(f"{{long}}{n}", str(n))
    pipe.set("{long}large", b"x" * 1000000)
    pipe.get("{long}large")
    replies = pipe.execute()
    assert replies[:-1] == [True] * 2001
    assert replies[-1] == b"x" * 1000000
    assert proxy.client().get("{long}1999") == b"1999"


def test_transactions_of_many_clients_do_not_mix(proxy, cluster_proxy):
    """Each finds both its keys equal, whatever the others do."""
    def run(where, number, wrong):
        client = where.client()
        for n in range(60):
            with client.pipeline(transaction=True) as pipe:
                pipe.set("{mix}1", f"{number}.{n}").set("{mix}2",
                                                        f"{number}.{n}")
                pipe.mget("{mix}1", "{mix}2").incr("{mix}count")
                replies = pipe.execute()
            if replies[2] != [f"{number}.{n}".encode()] * 2:
                wrong.append(replies)

    for where in (proxy, cluster_proxy):
        where.client().delete("{mix}count")
        wrong = []
        threads = [threading.Thread(target=run, args=(where, n, wrong))
                   for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == []
        assert where.client().get("{mix}count") == b"360"


def test_watchers_count_exactly(proxy, cluster_proxy):
    """Each adds one to what it has read, or tries again."""
    def add(where):
        client = where.client()

        def one_more(pipe):
            count = int(pipe.get("{watched}") or 0)
            pipe.multi()
            pipe.set("{watched}", count + 1)

        for _ in range(25):
            client.transaction(one_more, "{watched}")

    for where in (proxy, cluster_proxy):
        where.client().delete("{watched}")
        threads = [threading.Thread(target=add, args=(where,))
                   for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert where.client().get("{watched}") == b"150"


def test_a_watched_key_that_another_sets_is_noticed(proxy, cluster_proxy):
    for where in (proxy, cluster_proxy):
        other = where.client()
        for version, null in ((2, b"*-1\r\n"), (3, b"_\r\n")):
            raw = hello(where.raw(), version)
            raw.pipeline(("SET", "{t}a", "1"), ("WATCH", "{t}a"))
            other.set("{t}a", "2")
            assert raw.pipeline(("MULTI",), ("SET", "{t}a", "3"),
                                ("EXEC",))[2] == null
            assert other.get("{t}a") == b"2"


def test_clients_that_vanish_leave_nothing_behind(proxy, way):
    proxy.client().delete("{gone}a", "{gone}b")
    words = encode("MULTI") + encode("INCR", "{gone}a") + \
        encode("INCR", "{gone}b") + encode("EXEC")
    for cut in range(0, len(words), 7):
        raw = proxy.raw()
        raw.send(encode("WATCH", "{gone}a") if cut % 2 else b"")
        raw.send(words[:cut])
        raw.close()
    with proxy.raw() as raw:
        raw.send(words)
        if way == "direct":  # else it may be gone before EXEC is sent
            raw.read_replies(4)
    client = proxy.client()
    eventually(lambda: client.get("{gone}a") == b"1")
    assert client.get("{gone}b") == b"1"
    assert proxy.raw().pipeline(("MULTI",), ("GET", "{gone}a"), ("EXEC",)) == \
        [b"+OK\r\n", b"+QUEUED\r\n", b"*1\r\n$1\r\n1\r\n"]


def test_a_transaction_follows_its_slot(cluster, cluster_proxy):
    client = cluster_proxy.client()
    source = cluster.owner_of("{move}")
    target = next(n for n in cluster.primaries() if n is not source)
    move = Move(cluster, cluster.slot("{move}"), target)
    client.delete("{move}1", "{move}2")

    def both():
        with client.pipeline(transaction=True) as pipe:
            return pipe.incr("{move}1").incr("{move}2").execute()

    assert both() == [1, 1]
    move.begin()
    move.carry("{move}1", "{move}2")
    assert both() == [2, 2]
    move.end()
    assert both() == [3, 3]
    raw = cluster_proxy.raw()
    assert raw.command("WATCH", "{move}1") == b"+OK\r\n"
    cluster.move(cluster.slot("{move}"), source)
    assert raw.pipeline(("MULTI",), ("SET", "{move}1", "x"),
                        ("EXEC",))[2] == b"*-1\r\n"
    assert raw.pipeline(("WATCH", "{move}1"), ("MULTI",),
                        ("INCR", "{move}1"), ("EXEC",))[3] == \
        b"*1\r\n:4\r\n"


# --- direct ---------------------------------------------------------------------

@pytest.fixture(scope="module")
def direct(world, servers):
    a, b, c = [server.address for server in servers]
    return world.proxy(THREE, a=a, b=b, c=c, way="direct")


@pytest.fixture(scope="module")
def direct_cluster(world, cluster):
    return start_proxy(world, cluster.seeds(2), cluster_refresh_interval="1s",
                       transactions="direct")


@contextlib.contextmanager
def out_of_memory(servers):
    try:
        for server in servers:
            server.client().config_set("maxmemory", 1)
        yield
    finally:
        for server in servers:
            server.client().config_set("maxmemory", 0)


def test_the_server_says_what_it_thinks_of_each_command(world, servers,
                                                        direct):
    """Out of memory, before and behind what is queued."""
    plain = world.server()
    for raw, those in ((plain.raw(), [plain]), (direct.raw(), servers)):
        assert raw.pipeline(("SET", "{oom}", "1"), ("MULTI",),
                            ("GET", "{oom}"))[2] == b"+QUEUED\r\n"
        with out_of_memory(those):
            assert raw.command("SET", "{oom}", "2").startswith(b"-OOM ")
            assert raw.command("DISCARD") == b"+OK\r\n"
            raw.command("MULTI")
            assert raw.command("SET", "{oom}", "2").startswith(b"-OOM ")
        assert raw.command("SET", "{oom}", "2") == b"+QUEUED\r\n"
        assert raw.command("EXEC") == (
            b"-EXECABORT Transaction discarded because of previous "
            b"errors.\r\n")
        raw.pipeline(("MULTI",), ("GET", "{oom}"))
        with out_of_memory(those):
            assert raw.command("EXEC") == b"*1\r\n$1\r\n1\r\n"
        raw.pipeline(("MULTI",), ("SET", "{oom}", "2"))
        with out_of_memory(those):
            assert raw.command("EXEC").startswith(b"-EXECABORT ")
        assert raw.command("GET", "{oom}") == b"$1\r\n1\r\n"


def begun_again(proxy):
    return proxy.stats.value("pointsman_pool_transactions_again_total",
                             pool="demo")


def test_a_connection_that_is_lost_before_exec_costs_nothing(servers, direct):
    again = begun_again(direct)
    with direct.raw() as raw:
        raw.pipeline(("DEL", "{lost}"), ("MULTI",), ("INCR", "{lost}"))
        for server in servers:
            server.client().client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: raw.command("INCR", "{lost}") == b"+QUEUED\r\n")
        for server in servers:
            server.client().client_kill_filter(_type="normal", skipme=True)
        assert raw.command("EXEC") == b"*2\r\n:1\r\n:2\r\n"
    assert begun_again(direct) > again


def test_killed_connections_execute_nothing_by_halves(servers, direct):
    """Again and again, wherever the transactions of some clients are."""
    those = [server.client() for server in servers]
    with Transactors(direct, 4) as clients:
        for _ in range(40):
            counts = [len(client.said) for client in clients.clients]
            eventually(lambda: all(
                not client.is_alive() or len(client.said) > count + 1
                for client, count in zip(clients.clients, counts)))
            for server in those:
                server.client_kill_filter(_type="normal", skipme=True)
    raw = direct.raw()
    for client in clients.clients:
        for pair in client.pairs:
            one, other = [entries(raw.command("LRANGE", key, 0, -1))
                          for key in pair]
            assert one == other, "half of a transaction was executed"
            assert client.check(pair[0], one) == 0, "what was told is lost"
    assert clients.count("acknowledged") > 100


def test_a_slot_moves_under_an_open_transaction(cluster, direct_cluster):
    """To begin with its keys, then with none; and back before EXEC."""
    source = cluster.owner_of("{open}")
    target = next(n for n in cluster.primaries() if n is not source)
    move = Move(cluster, cluster.slot("{open}"), target)
    raw = direct_cluster.raw()
    queued = b"+QUEUED\r\n"

    raw.pipeline(("SET", "{open}1", "1"), ("SET", "{open}2", "1"), ("MULTI",))
    assert raw.command("INCR", "{open}1") == queued
    move.begin()
    move.carry("{open}1")
    assert raw.command("INCR", "{open}1") == queued
    move.carry("{open}2")
    assert raw.command("MGET", "{open}1", "{open}2") == queued
    move.end()
    assert raw.pipeline(("INCR", "{open}2"), ("PING",)) == [queued] * 2
    cluster.move(cluster.slot("{open}"), source)
    assert raw.command("EXEC") == (
        b"*5\r\n:2\r\n:3\r\n*2\r\n$1\r\n3\r\n$1\r\n1\r\n:2\r\n"
        b"+PONG\r\n")
