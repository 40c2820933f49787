"""XREAD of streams on several shards, with and without BLOCK."""

import itertools
import random

import pytest

from harness import eventually
from lib_three import blocked, cluster, cluster_proxy, proxy, servers, world
from resp import encode

THREE = """
    pointsman:
      workers: 2
    demo:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""

STREAMS = [f"s{n}" for n in range(8)]


@pytest.fixture(scope="module")
def direct(world):
    return world.server()


@pytest.fixture(scope="module", params=["shards", "cluster"])
def pool(request, servers, proxy, cluster, cluster_proxy):
    """What clients see, the servers behind it, and how many parts a command
    with all streams has."""
    if request.param == "cluster":
        nodes = [node.server for node in cluster.nodes]
        return cluster_proxy, nodes, len(STREAMS)
    client = proxy.client()
    for name in STREAMS:
        client.set(name, "")
    return proxy, servers, sum(
        server.client().dbsize() > 0 for server in servers)


def fill(where):
    client = where.client()
    for name in STREAMS + ["text"]:
        client.delete(name)
    for n, name in enumerate(STREAMS[:6]):
        for m in range(n):
            client.xadd(name, {"n": m}, id=f"{m + 1}-1")
    client.set("text", "x")


def some_reads(count):
    """XREAD of any of the streams, from any place, in any order."""
    dice = random.Random(7)
    for _ in range(count):
        names = dice.sample(STREAMS, dice.randint(2, 6))
        ids = [dice.choice(["0", "1", "2-1", "3", "9", "$"]) for _ in names]
        options = [[], ["COUNT", "1"], ["COUNT", "2"], ["BLOCK", "5"],
                   ["BLOCK", "5", "COUNT", "1"], ["count", "1", "block", "5"]]
        yield ["XREAD", *dice.choice(options), "STREAMS", *names, *ids]


WRONG = [line.split() for line in """
    XREAD STREAMS s1 text s2 0 0 0
    XREAD BLOCK 5 STREAMS s1 text s2 $ 0 $
    XREAD COUNT x STREAMS s1 s2 s3 0 0 0
    XREAD COUNT BLOCK STREAMS s1 s2 s3 0 0 0
    XREAD BLOCK x STREAMS s1 s2 s3 0 0 0
    XREAD BLOCK -1 STREAMS s1 s2 s3 0 0 0
    XREAD STREAMS s1 s2 s3 0 0
    XREAD STREAMS s1 s2 s3 0 x 0
    XREAD BLOCK 5 STREAMS s1 s2 s3 > 0 0
    XREAD COUNT 2 COUNT 1 STREAMS s3 s4 s5 0 0 0
    XREAD STREAMS
""".strip().splitlines()]


@pytest.mark.parametrize("version", [2, 3])
def test_answers_are_those_of_a_server(direct, pool, version):
    proxy, _, _ = pool
    for where in (direct, proxy):
        fill(where)
    raws = [where.raw() for where in (direct, proxy)]
    for raw in raws:
        raw.command("HELLO", version)
    for words in itertools.chain(some_reads(300), WRONG):
        expected, found = (raw.command(*words) for raw in raws)
        assert found == expected, words


@pytest.mark.parametrize("name", STREAMS)
def test_each_of_them_wakes(direct, pool, name):
    proxy, nodes, parts = pool
    replies = []
    for where, beneath, count in ((direct, [direct], 1), (proxy, nodes, parts)):
        fill(where)
        raw, other = where.raw(), where.raw()
        raw.send(encode("XREAD", "BLOCK", "0", "STREAMS", *STREAMS,
                        *["$"] * len(STREAMS)) + encode("ECHO", "behind"))
        eventually(lambda b=beneath, n=count: blocked(b) == n)
        other.command("XADD", name, "99-1", "f", "v")
        replies.append(raw.read_replies(2))
        eventually(lambda b=beneath: blocked(b) == 0)
    assert replies[1] == replies[0]


def test_nobody_waits_for_who_has_left(pool):
    proxy, nodes, parts = pool
    fill(proxy)
    raws = [proxy.raw() for _ in range(5)]
    for raw in raws:
        raw.send(encode("XREAD", "BLOCK", "0", "STREAMS", *STREAMS,
                        *["$"] * len(STREAMS)))
    eventually(lambda: blocked(nodes) == 5 * parts)
    for raw in raws:
        raw.close()
    eventually(lambda: blocked(nodes) == 0)
    assert proxy.client().get("text") == b"x"


def test_a_slot_that_leaves_wakes(cluster, cluster_proxy):
    fill(cluster_proxy)
    nodes = [node.server for node in cluster.nodes]
    raw = cluster_proxy.raw()
    raw.send(encode("XREAD", "BLOCK", "0", "STREAMS", *STREAMS,
                    *["$"] * len(STREAMS)))
    eventually(lambda: blocked(nodes) == len(STREAMS))
    slot = cluster.slot("s3")
    target = next(node for node in cluster.primaries()
                  if node is not cluster.owner(slot))
    cluster.move(slot, target)
    assert raw.read_reply().startswith(b"-UNBLOCKED force unblock")
    # ... and a new one waits at the new owner.
    raw.send(encode("XREAD", "BLOCK", "0", "STREAMS", *STREAMS,
                    *["$"] * len(STREAMS)))
    eventually(lambda: blocked(nodes) == len(STREAMS))
    cluster_proxy.client().xadd("s3", {"f": "v"}, id="99-1")
    assert raw.read_reply().startswith(b"*1\r\n*2\r\n$2\r\ns3\r\n")


@pytest.mark.parametrize("reason, reply", [
    ("TIMEOUT", b"*-1\r\n"),
    ("ERROR", b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")])
def test_another_client_ends_the_wait(pool, reason, reply):
    proxy, nodes, parts = pool
    fill(proxy)
    raw, other = proxy.raw(), proxy.raw()
    number = raw.command("CLIENT", "ID")[1:-2].decode()
    raw.send(encode("XREAD", "BLOCK", "0", "STREAMS", *STREAMS,
                    *["$"] * len(STREAMS)))
    eventually(lambda: blocked(nodes) == parts)
    assert other.command("CLIENT", "UNBLOCK", number, reason) == b":1\r\n"
    assert raw.read_reply() == reply
    assert other.command("CLIENT", "UNBLOCK", number) == b":0\r\n"
    eventually(lambda: blocked(nodes) == 0)
