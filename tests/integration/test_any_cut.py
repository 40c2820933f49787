"""However a client's bytes are cut, the replies are the same.

A session of a hundred requests is sent whole, byte by byte and in pieces; each
piece is sent when the proxy has read the one before.
"""

import random

import pytest

from lib_sockets import wait_until_read
from resp import encode

THREE = """
    pointsman:
      workers: 1
    demo:
      listen: 127.0.0.1:0
      redis: true
      databases: 16
      distribution: ketama
      hash: fnv1a_64
      large_request: 16kb
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""

BINARY = bytes(range(256))

# (bytes, number of replies): every shape that a request may have.
SESSION = [
    (encode("HELLO", 3), 1),
    (b"PING\r\n", 1), (b"ping\n", 1), (b"\r\n", 0), (b"   \r\n", 0),
    (b"*0\r\n", 0), (b"*-1\r\n", 0), (b"\n", 0),
    (b'SET inline "a b\\x00\\n\\"c"\r\n', 1), (b"GET inline\r\n", 1),
    (b"  GET \t inline  \n", 1), (b"set '' 'it\\'s'\r\nGET ''\r\n", 2),
    (encode("GET", ""), 1), (encode("SET", BINARY, BINARY), 1),
    (encode("GET", BINARY), 1), (encode("ECHO", b"\r\n*1\r\n$4\r\n"), 1),
    (encode("GET"), 1), (encode("NOSUCH", "a", "b\r\n"), 1),
    (encode(""), 1), (encode("OBJECT", "NOSUCH"), 1), (encode("CONFIG"), 1),
    (encode("MSET", *"abcdefghijklmnop"), 1),
    (encode("MGET", *"acegikmo", "none", "a", "a"), 1),
    (encode("MSET", "a", 1, "b"), 1), (encode("DEL", *"aceg"), 1),
    (encode("EXISTS", *"acegikm", "k", "k"), 1),
    (encode("RPUSH", "list", *range(30)), 1), (encode("LRANGE", "list", 0, -1),
                                              1),
    (encode("HSET", "hash", "f", "1", "g", ""), 1), (encode("HGETALL", "hash"),
                                                    1),
    (encode("HELLO", 2), 1), (encode("HGETALL", "hash"), 1),
    (encode("SELECT", 2), 1), (encode("GET", "inline"), 1),
    (encode("SET", "inline", "other"), 1), (encode("SELECT", 0), 1),
    (encode("GET", "inline"), 1), (encode("LPUSH", "inline", "x"), 1),
    (encode("CLIENT", "SETNAME", "cut"), 1), (encode("CLIENT", "GETNAME"), 1),
    (encode("CLIENT", "REPLY", "OFF") + encode("INCR", "silent"), 0),
    (encode("CLIENT", "REPLY", "ON"), 1), (encode("GET", "silent"), 1),
    (encode("SET", "small", "v" * 1000), 1), (encode("GET", "small"), 1),
    (encode("EVAL", "return {KEYS[1], ARGV[1], false}", 1, "k", "\r\n"), 1),
] + [(encode("APPEND", f"key{i % 7}", "x" * i), 1) for i in range(30)] + [
    (encode("GET", f"key{i}"), 1) for i in range(10)] + [
    (b"GET key%d\r\n" % i, 1) for i in range(10)]

# The same with what is longer than buffers.
LARGE = SESSION + [
    (encode("SET", "large", BINARY * 80), 1), (encode("GET", "large"), 1),
    (encode("MSET", "l1", BINARY * 40, "l2", "x", "l3", BINARY * 40), 1),
    (encode("MGET", "l1", "l2", "l3", "large"), 1),
    (encode("APPEND", "large", "y" * 50_000), 1), (encode("GET", "large"), 1),
    (encode("ECHO", "e" * 20_000), 1), (encode("PING"), 1),
    (encode("DEL", *[f"{i:0100}" for i in range(500)]), 1),
    (encode("SADD", "set", *range(2000)), 1), (encode("SCARD", "set"), 1)]


@pytest.fixture
def proxy(world, three):
    a, b, c = (server.address for server in three)
    return world.proxy(THREE, a=a, b=b, c=c)


def total(session):
    return (b"".join(data for data, _ in session),
            sum(replies for _, replies in session))


def play(proxy, servers, session, pieces):
    """The replies to a session on empty servers, its bytes in these pieces."""
    for server in servers:
        server.client().flushall()
    raw = proxy.raw()
    for piece in pieces:
        raw.send(piece)
        wait_until_read(raw)
    replies = raw.read_replies(total(session)[1])
    # What HELLO says has the id of the connection in it.
    return [reply for reply in replies if b"\r\nproto\r\n" not in reply]


def cut(data, places):
    ends = sorted(places) + [len(data)]
    return [data[start:end] for start, end in zip([0] + ends, ends)]


def test_the_session_is_the_same_on_one_server(world, proxy, three):
    """What is compared below is right to begin with."""
    plain = world.server().raw()
    data, count = total(LARGE)
    plain.send(data)
    replies = [reply for reply in plain.read_replies(count)
               if b"\r\nproto\r\n" not in reply]
    assert play(proxy, three, LARGE, [data]) == replies
    assert len(replies) >= 100


def test_byte_by_byte_is_as_good_as_whole(proxy, three):
    data, _ = total(SESSION)
    whole = play(proxy, three, SESSION, [data])
    assert play(proxy, three, SESSION,
                [data[i:i + 1] for i in range(len(data))]) == whole


@pytest.mark.parametrize("pieces", [2, 5, 30, 200])
def test_any_cut_is_as_good_as_whole(proxy, three, pieces):
    data, _ = total(LARGE)
    whole = play(proxy, three, LARGE, [data])
    chance = random.Random(pieces)
    for _ in range(20 if pieces < 100 else 4):
        places = chance.sample(range(1, len(data)), pieces - 1)
        assert play(proxy, three, LARGE, cut(data, places)) == whole, \
            sorted(places)


def test_cuts_around_every_request_are_as_good_as_whole(proxy, three):
    """One byte short of the end, at the end, one byte beyond."""
    data, _ = total(LARGE)
    whole = play(proxy, three, LARGE, [data])
    ends, at = [], 0
    for part, _ in LARGE:
        at += len(part)
        ends.append(at)
    for shift in (-1, 0, 1, 2):
        places = {end + shift for end in ends if 0 < end + shift < len(data)}
        assert play(proxy, three, LARGE, cut(data, places)) == whole, shift
