"""Commands that wait: as at a server, and nothing is popped for nobody."""

import signal
import threading

import pytest

from harness import eventually
from lib_three import blocked, cluster, cluster_proxy, proxy, servers, world
from resp import encode

THREE = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      hash_tag: "{}"
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""

# What waits, and what another client does meanwhile.
PAIRS = [(left.split(), right.split()) for left, right in (
    line.split(" | ") for line in """
    BLPOP {t}a {t}b 0 | RPUSH {t}b 1 2
    BRPOP {t}a {t}b 30 | RPUSH {t}a 1
    BLMOVE {t}a {t}c LEFT RIGHT 0 | RPUSH {t}a 1
    BRPOPLPUSH {t}a {t}c 0 | RPUSH {t}a 1
    BLMPOP 0 2 {t}a {t}b LEFT COUNT 2 | RPUSH {t}a 1 2 3
    BZPOPMIN {t}z 0 | ZADD {t}z 1.5 m
    BZPOPMAX {t}y {t}z 0.0 | ZADD {t}z 1.5 m
    BZMPOP 0 1 {t}z MIN | ZADD {t}z 1.5 m
    XREAD BLOCK 0 STREAMS {t}s $ | XADD {t}s 1-1 f v
    XREADGROUP GROUP g me BLOCK 0 STREAMS {t}t > | XADD {t}t 1-1 f v
""".strip().splitlines())]

# What is answered by itself.
ALONE = [line.split() for line in """
    BLPOP {t}none 0.01
    BRPOPLPUSH {t}none {t}a 0.01
    BLMOVE {t}none {t}a LEFT LEFT 0.01
    BLMPOP 0.01 1 {t}none LEFT
    BZPOPMIN {t}none 0.01
    BZMPOP 0.01 1 {t}none MIN
    XREAD BLOCK 1 STREAMS {t}none $
    BLPOP {t}none x
    BLPOP {t}none -1
    BLPOP {t}none
    BLMPOP x 1 {t}none LEFT
    BLMPOP 0 x {t}none LEFT
    XREAD BLOCK x STREAMS {t}none $
    XREAD BLOCK
    BLPOP {t}text 0
""".strip().splitlines()]


def prepare(where):
    client = where.client()
    client.delete(*["{t}" + name for name in "abcyzst"])
    client.set("{t}text", "x")
    client.xgroup_create("{t}t", "g", mkstream=True)


def wait_for(raw, words, other, then, nodes):
    """One waits, another acts."""
    raw.send(encode(*words))
    eventually(lambda: blocked(nodes) == 1)
    return other.command(*then), raw.read_reply()


@pytest.mark.parametrize("version", [2, 3])
def test_answers_are_those_of_a_server(world, servers, proxy, cluster,
                                       cluster_proxy, version):
    places = [world.server(), proxy, cluster_proxy]
    nodes = [places[:1], servers, [node.server for node in cluster.nodes]]
    for where in places:
        prepare(where)
    raws = [(where.raw(), where.raw()) for where in places]
    for raw, _ in raws:
        raw.command("HELLO", version)
    for words, then in PAIRS:
        replies = [wait_for(raw, words, other, then, beneath)
                   for (raw, other), beneath in zip(raws, nodes)]
        assert replies[1:] == replies[:1] * 2, words
        for where in places:
            prepare(where)
    for words in ALONE:
        replies = [raw.command(*words) for raw, _ in raws]
        assert replies[1:] == replies[:1] * 2, words


def test_what_follows_waits_and_others_do_not(proxy, servers):
    prepare(proxy)
    raw = proxy.raw()
    raw.send(encode("SET", "{t}b", "1") + encode("BLPOP", "{t}a", "0") +
             encode("INCR", "{t}b"))
    eventually(lambda: blocked(servers) == 1)
    other = proxy.client()
    assert other.get("{t}b") == b"1"
    other.rpush("{t}a", "x")
    assert raw.read_replies(3) == [
        b"+OK\r\n", b"*2\r\n$4\r\n{t}a\r\n$1\r\nx\r\n", b":2\r\n"]


def test_many_workers_share_a_queue(proxy):
    """Each job is done once, by whoever waits."""
    done, lock = [], threading.Lock()
    proxy.client().delete("{t}jobs")

    def work():
        client = proxy.client()
        while True:
            job = client.blpop(["{t}jobs"], timeout=30)[1]
            if job == b"end":
                return
            with lock:
                done.append(int(job))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    client = proxy.client()
    for n in range(200):
        client.rpush("{t}jobs", n)
    for _ in threads:
        client.rpush("{t}jobs", "end")
    for thread in threads:
        thread.join()
    assert sorted(done) == list(range(200))


def test_nothing_is_popped_for_who_has_left(proxy, servers):
    prepare(proxy)
    raws = [proxy.raw() for _ in range(10)]
    for raw in raws:
        raw.send(encode("BLPOP", "{t}a", "0"))
    eventually(lambda: blocked(servers) == 10)
    for raw in raws:
        raw.close()
    eventually(lambda: blocked(servers) == 0)
    client = proxy.client()
    client.rpush("{t}a", "kept")
    assert client.lrange("{t}a", 0, -1) == [b"kept"]


def test_keys_of_several_shards_are_refused(proxy, cluster_proxy):
    for where in (proxy, cluster_proxy):
        raw = where.raw()
        assert raw.command("BLPOP", *[f"k{n}" for n in range(20)], "0") == (
            b"-CROSSSLOT Keys in request don't hash to the same slot\r\n")


def test_a_reload_disturbs_nobody_who_waits(proxy, servers):
    prepare(proxy)
    raw = proxy.raw()
    raw.send(encode("BLPOP", "{t}a", "0"))
    eventually(lambda: blocked(servers) == 1)
    before = len(proxy.events("reloaded"))
    proxy.signal(signal.SIGHUP)
    proxy.wait_for_event("reloaded", count=before + 1)
    proxy.client().rpush("{t}a", "x")
    assert raw.read_reply() == b"*2\r\n$4\r\n{t}a\r\n$1\r\nx\r\n"
    assert raw.command("GET", "{t}text") == b"$1\r\nx\r\n"


def test_the_end_of_the_proxy_is_told(world, servers):
    """The last: those who wait would keep it from ending."""
    a, b, c = (server.address for server in servers)
    proxy = world.proxy(THREE, a=a, b=b, c=c)
    raw = proxy.raw()
    raw.send(encode("BLPOP", "{t}never", "0"))
    eventually(lambda: blocked(servers) == 1)
    proxy.signal(signal.SIGTERM)
    assert raw.read_reply().startswith(b"-UNBLOCKED force unblock")
    assert proxy.wait() == 0
