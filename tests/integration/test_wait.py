"""WAIT: as many replicas as really have what this client has written.

Three plain servers have two replicas, one and none; a cluster has one each.
"""

import itertools
import threading

import pytest

from harness import eventually, running_world
from lib_cluster import Cluster, start_proxy
from lib_sentinel import Shard
from resp import encode

POOLS = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    three:
      listen: 127.0.0.1:0
      distribution: range
      range_by: bytes
      databases: 16
      servers:
        - {name: a, address: $a, before: b}
        - {name: b, address: $b, from: b, before: c}
        - {name: c, address: $c, from: c}
    one:
      listen: 127.0.0.1:0
      distribution: modulo
      hash: crc16
      servers: [$a:1 a]
"""
COUNTER = itertools.count()


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def shards(world):
    shards = [Shard(world, name, count)
              for name, count in (("a", 2), ("b", 1), ("c", 0))]
    for shard in shards:
        shard.wait_for_replicas()
    return shards


@pytest.fixture(scope="module")
def proxy(world, shards):
    a, b, c = (shard.servers[0].address for shard in shards)
    return world.proxy(POOLS, a=a, b=b, c=c)


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world)


@pytest.fixture(scope="module")
def clustered(world, cluster):
    return start_proxy(world, cluster.seeds(1))


@pytest.fixture
def frozen(shards):
    """The only replica of b takes nothing."""
    replica = shards[1].servers[1]
    replica.pause()
    yield replica
    replica.resume()


def value():
    return str(next(COUNTER))


@pytest.mark.parametrize("resp", [2, 3])
def test_the_least_of_the_shards_written_to_is_told(proxy, resp):
    raw = proxy.raw("three")
    raw.command("HELLO", resp)
    for keys, wanted in (("a", 2), ("b", 1), ("c", 0), ("ab", 1), ("abc", 0),
                         ("a", 2), ("", 0)):
        for key in keys:
            assert raw.command("SET", key, value()) == b"+OK\r\n"
        assert raw.command("WAIT", wanted, 10000) == b":%d\r\n" % wanted
    raw.command("MSET", "a1", value(), "b1", value())
    assert raw.command("WAIT", 1, 10000) == b":1\r\n"
    assert raw.pipeline(("SET", "a", "x"), ("WAIT", 2, 10000), ("GET", "a"),
                        ("SET", "a", "y"), ("WAIT", 2, 10000)) == [
        b"+OK\r\n", b":2\r\n", b"$1\r\nx\r\n", b"+OK\r\n", b":2\r\n"]


# How many replicas have it is sure only once all have.
WORDS = [line.split() for line in """
    SET b 1
    WAIT 2 10000
    WAIT 0 0
    WAIT 9 20
    WAIT
    WAIT 1
    WAIT x 10
    WAIT 1 x
    WAIT 1 -1
    WAIT -1 10
    WAITAOF 0 1 10
    MULTI
    SET b 2
    WAIT 1 0
    EXEC
    WAIT 2 10000
    WAIT 0 10
    GET b
""".strip().splitlines()]


def test_it_is_what_the_server_says(proxy, shards):
    through, direct = proxy.raw("one"), shards[0].servers[0].raw()
    for words in WORDS:
        assert through.command(*words) == direct.command(*words), words


def test_a_replica_that_takes_nothing_does_not_count(proxy, frozen):
    raw, other = proxy.raw("three"), proxy.raw("three")
    for _ in range(3):
        # The last one to use the connection is somebody else.
        assert raw.command("SET", "b", value()) == b"+OK\r\n"
        assert other.command("GET", "b")[:1] == b"$"
        assert raw.command("WAIT", 1, 20) == b":0\r\n"
    big = "x" * 300000
    assert raw.command("SET", "b", big) == b"+OK\r\n"
    assert raw.command("WAIT", 1, 20) == b":0\r\n"
    fresh = proxy.raw("three")
    assert fresh.command("SET", "b", big) == b"+OK\r\n"
    assert fresh.command("WAIT", 1, 20) == b":0\r\n"


def write_large(raw):
    assert raw.command("SET", "b", "x" * 300000) == b"+OK\r\n"


def write_elsewhere(raw):
    assert raw.command("SELECT", 1) == b"+OK\r\n"
    assert raw.command("SET", "b", value()) == b"+OK\r\n"
    assert raw.command("SELECT", 0) == b"+OK\r\n"


def write_watched(raw):
    raw.command("WATCH", "b")
    raw.command("MULTI")
    raw.command("SET", "b", value())
    assert raw.command("EXEC") == b"*1\r\n+OK\r\n"


def write_blocking(raw):
    assert raw.command("RPUSH", "b:list", value()) == b":1\r\n"
    assert raw.command("BLPOP", "b:list", 0)[:2] == b"*2"


@pytest.mark.parametrize("write", [write_large, write_elsewhere, write_watched,
                                   write_blocking])
def test_what_was_written_over_other_connections_counts(proxy, shards, write):
    raw = proxy.raw("three")
    replica = shards[1].servers[1]
    for _ in range(2):  # over a shared connection, and over its own
        replica.pause()
        write(raw)
        assert raw.command("WAIT", 1, 20) == b":0\r\n"
        replica.resume()
        write(raw)
        assert raw.command("WAIT", 1, 10000) == b":1\r\n"


def test_others_do_not_wait_with_it(proxy, frozen):
    waiting = [proxy.raw("three") for _ in range(5)]
    for raw in waiting:
        raw.command("SET", "b", value())
        raw.send_command("WAIT", 1, 0)
    other = proxy.raw("three")
    for number in range(20):
        assert other.command("SET", "b", number) == b"+OK\r\n"
        assert other.command("GET", "b") == b"$%d\r\n%d\r\n" % (
            len(str(number)), number)
    frozen.resume()
    assert [raw.read_reply() for raw in waiting] == [b":1\r\n"] * 5


def test_a_client_that_leaves_takes_its_connections_along(proxy, shards,
                                                          frozen):
    server = shards[1].servers[0].client()

    def waiting():
        return server.info("clients")["blocked_clients"]

    for _ in range(10):
        raw = proxy.raw("three")
        raw.send(encode("SET", "b", "x") + encode("WAIT", 1, 0))
        assert raw.read_reply() == b"+OK\r\n"
        eventually(lambda: waiting() == 1)
        raw.close()
        eventually(lambda: waiting() == 0)


def test_commands_of_many_keep_their_order(proxy):
    """While connections change their owners."""
    problems = []

    def work(number):
        raw = proxy.raw("three")
        key = f"a{number}"
        for count in range(1, 60):
            calls = [("INCR", key), ("GET", key)]
            if count % 20 == number % 20:
                calls.insert(1, ("WAIT", 0, 10))
            replies = raw.pipeline(*calls)
            if (replies[0], replies[-1]) != (
                    b":%d\r\n" % count,
                    b"$%d\r\n%d\r\n" % (len(str(count)), count)):
                problems.append((key, count, replies))
        raw.close()

    proxy.client("three").delete(*(f"a{n}" for n in range(12)))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_it_is_unblocked_with_the_count_so_far(proxy, frozen):
    raw, other = proxy.raw("three"), proxy.client("three")
    number = int(raw.command("CLIENT", "ID")[1:])
    for reason, answer in (
            ("TIMEOUT", b":0\r\n"),
            ("ERROR", b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")):
        for key in "ab":
            assert raw.command("SET", key, value()) == b"+OK\r\n"
        raw.send_command("WAIT", 2, 0)
        eventually(lambda how=reason: other.execute_command(
            "CLIENT UNBLOCK", number, how) == 1)
        assert raw.read_reply() == answer
    assert other.execute_command("CLIENT UNBLOCK", number) == 0


def lost_connections(proxy):
    return sum(count for name, labels, count in proxy.stats.metrics()
               if name == "pointsman_server_closed_total" and
               labels["server"] == "a" and labels["reason"] == "server_eof")


def test_what_was_written_over_a_lost_connection_does_not_count(proxy, shards):
    server = shards[0].servers[0].client()
    raw = proxy.raw("three")
    for _ in range(2):  # over a shared connection, and over its own
        raw.command("SET", "a", value())
        before = lost_connections(proxy)
        server.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: lost_connections(proxy) > before)
        assert raw.command("WAIT", 0, 20) == b":0\r\n"
        raw.command("SET", "a", value())
        assert raw.command("WAIT", 2, 10000) == b":2\r\n"


def test_behind_a_failover(cluster, clustered):
    raw = clustered.raw()
    keys = [f"key:{n}" for n in range(20)]
    for key in keys:
        assert raw.command("SET", key, value()) == b"+OK\r\n"
    assert raw.command("WAIT", 1, 10000) == b":1\r\n"
    chosen = cluster.replicas_of(cluster.owner_of(keys[0]))[0]
    cluster.fail_over(chosen)
    for key in keys:
        assert raw.command("SET", key, value()) == b"+OK\r\n"

    def waits():
        assert raw.command("SET", keys[0], value()) == b"+OK\r\n"
        return raw.command("WAIT", 1, 1000) == b":1\r\n"

    eventually(waits, 30)
