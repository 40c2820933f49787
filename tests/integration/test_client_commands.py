"""CLIENT: a pool's clients are seen and steered, at whichever worker they are."""

import re
import threading

import pytest

from harness import eventually, running_world

POOLS = """
    pointsman:
      workers: 3
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: modulo
      servers: ["$a:1 a", "$b:1 b"]
    other:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
"""

# Each is answered at once, and as a server does.
FORMS = [
    ("KILL",), ("KILL", "1:1"), ("KILL", "a b"), ("KILL", ""), ("KILL", "ID"),
    ("KILL", "ID", "x"), ("KILL", "ID", "0"), ("KILL", "ID", "-1"),
    ("KILL", "ID", "01"), ("KILL", "ID", "999999"), ("KILL", "ADDR", "1:1"),
    ("KILL", "ADDR", ""), ("KILL", "ADDR", "1:1\nspare 1"),
    ("KILL", "LADDR", "1:1"), ("KILL", "USER", "nobody"),
    ("KILL", "USER", "default", "SKIPME", "maybe"),
    ("KILL", "TYPE", "foo"), ("KILL", "TYPE", "master"),
    ("KILL", "TYPE", "slave"), ("KILL", "TYPE", "replica"),
    ("KILL", "TYPE", "normal", "SKIPME", "x"), ("KILL", "ID", "1", "FOO"),
    ("KILL", "ID", "1", "FOO", "BAR"), ("KILL", "SKIPME", "yes", "FOO"),
    ("KILL", "a", "b"), ("KILL", "ID", "1", "2"),
    ("LIST", "ADDR", "x"), ("LIST", "TYPE", "normal", "ID", "3"),
    ("LIST", "TYPE", "pubsub"), ("LIST", "TYPE", "x"),
    ("PAUSE",), ("PAUSE", "x"), ("PAUSE", "-1"), ("PAUSE", "1", "foo"),
    ("PAUSE", "x", "foo"), ("PAUSE", "1", "all", "x"), ("PAUSE", "0"),
    ("PAUSE", "1", "write"), ("PAUSE", "9223372036854775808"),
    ("UNPAUSE",), ("UNPAUSE", "x"), ("UNBLOCK",), ("UNBLOCK", "x"),
    ("UNBLOCK", "999999"), ("UNBLOCK", "999999", "foo"),
    ("UNBLOCK", "999999", "timeout"), ("UNBLOCK", "-1"),
    ("UNBLOCK", "1", "ERROR", "x"), ("UNBLOCK", "01"),
]


@pytest.fixture(scope="module")
def place():
    yield from running_world()


@pytest.fixture(scope="module")
def server(place):
    return place.server()


@pytest.fixture(scope="module")
def pools(place, server):
    return place.proxy(POOLS, a=server.address, b=place.server().address)


@pytest.fixture
def proxy(pools):
    yield pools
    pools.close_clients()


def client_id(raw):
    return int(raw.command("CLIENT", "ID")[1:])


def ids(proxy, pool="demo"):
    """The clients of a pool, as it lists them."""
    text = proxy.raw(pool).command("CLIENT", "LIST")
    return {int(found) for found in re.findall(rb"\bid=(\d+)", text)}


def line_of(raw):
    """What CLIENT INFO says, taken apart."""
    text = raw.command("CLIENT", "INFO").decode()
    return dict(re.findall(r"(\S+?)=(\S*)", text))


def is_gone(raw):
    try:
        raw.command("PING")
        return False
    except (ConnectionError, OSError):
        return True


@pytest.mark.parametrize("version", ["2", "3"])
def test_wrong_and_right_forms_are_answered_as_by_a_server(server, proxy,
                                                           version):
    ours, theirs = proxy.raw("demo"), server.raw()
    for raw in ours, theirs:
        raw.command("HELLO", version)
    for words in FORMS:
        assert ours.command("CLIENT", *words) == \
            theirs.command("CLIENT", *words), words


def test_a_client_is_killed_at_whichever_worker_it_is(proxy):
    admin = proxy.raw("demo")
    victims = [proxy.raw("demo") for _ in range(6)]
    for victim in victims:
        assert admin.command("CLIENT", "KILL", "ID",
                             client_id(victim)) == b":1\r\n"
        assert is_gone(victim)
    assert admin.command("PING") == b"+PONG\r\n"


def test_a_client_is_killed_by_its_addresses(proxy):
    admin = proxy.raw("demo")
    one, two, three = (proxy.raw("demo") for _ in range(3))
    assert admin.command("CLIENT", "KILL", line_of(one)["addr"]) == b"+OK\r\n"
    assert is_gone(one)
    assert admin.command("CLIENT", "KILL", "ADDR", line_of(two)["addr"],
                         "LADDR", line_of(three)["laddr"]) == b":1\r\n"
    assert is_gone(two)
    assert admin.command("CLIENT", "KILL", "ADDR", line_of(three)["addr"],
                         "LADDR", "127.0.0.1:1") == b":0\r\n"
    assert not is_gone(three)


def test_who_asks_is_spared_unless_it_says_otherwise(proxy):
    admin = proxy.raw("demo")
    others = [proxy.raw("demo") for _ in range(5)]
    strangers = [proxy.raw("other") for _ in range(3)]
    for raw in others + strangers:
        assert raw.command("PING") == b"+PONG\r\n"
    assert admin.command("CLIENT", "KILL", "TYPE", "normal") == b":5\r\n"
    assert all(map(is_gone, others))
    assert not any(map(is_gone, strangers))
    # answered, and what came before as well
    admin.send_command("GET", "k")
    admin.send_command("CLIENT", "KILL", "USER", "default", "SKIPME", "no")
    assert admin.read_reply() == b"$-1\r\n"
    assert admin.read_reply() == b":1\r\n"
    assert admin.is_closed()


def test_the_list_is_of_those_that_were_asked_for(proxy):
    raws = [proxy.raw("demo") for _ in range(4)]
    known = [client_id(raw) for raw in raws]
    eventually(lambda: set(known) <= ids(proxy))
    text = raws[0].command("CLIENT", "LIST", "ID", known[2], known[0], 10**9)
    assert re.findall(rb"\bid=(\d+)", text) == \
        [b"%d" % known[2], b"%d" % known[0]]
    text = raws[0].command("CLIENT", "LIST", "TYPE", "normal")
    assert set(known) <= set(map(int, re.findall(rb"\bid=(\d+)", text)))


def test_who_listens_is_of_another_type(proxy):
    admin, listener = proxy.raw("demo"), proxy.raw("demo")
    number = client_id(listener)
    listener.command("SUBSCRIBE", "news")
    text = admin.command("CLIENT", "LIST", "TYPE", "pubsub")
    assert re.findall(rb"id=(\d+) .* flags=P ", text) == [b"%d" % number]
    assert b"id=%d " % number not in admin.command("CLIENT", "LIST", "TYPE",
                                                   "normal")
    assert admin.command("CLIENT", "KILL", "TYPE", "pubsub") == b":1\r\n"
    assert listener.is_closed()


def test_redis_py_kills_and_lists(proxy):
    client = proxy.client("demo")
    victim = proxy.client("demo")
    number = victim.client_id()
    assert number in [int(line["id"]) for line in client.client_list()]
    assert client.client_kill_filter(_id=number) == 1
    # a connection that is gone is replaced before it is used
    assert victim.client_id() != number


# --- CLIENT PAUSE --------------------------------------------------------------

def test_writes_wait_at_all_workers_until_the_end(proxy):
    admin = proxy.raw("demo")
    writers = [proxy.raw("demo") for _ in range(6)]
    reader = proxy.raw("demo")
    reader.command("DEL", *(f"p{i}" for i in range(6)))
    assert admin.command("CLIENT", "PAUSE", "100000", "WRITE") == b"+OK\r\n"
    for i, raw in enumerate(writers):
        raw.send_command("SET", f"p{i}", "x")
        raw.send_command("GET", f"p{i}")
    eventually(lambda: reader.command("CLIENT", "LIST").count(
        b" flags=b ") == 6)
    assert all(reader.command("GET", f"p{i}") == b"$-1\r\n"
               for i in range(6))
    assert admin.command("CLIENT", "UNPAUSE") == b"+OK\r\n"
    for raw in writers:
        assert raw.read_replies(2) == [b"+OK\r\n", b"$1\r\nx\r\n"]


def test_a_pause_of_all_ends_by_itself(proxy):
    admin, other = proxy.raw("demo"), proxy.raw("demo")
    stranger = proxy.raw("other")
    assert admin.command("CLIENT", "PAUSE", "300") == b"+OK\r\n"
    admin.send_command("GET", "k")
    other.send_command("CLIENT", "UNPAUSE")
    assert stranger.command("PING") == b"+PONG\r\n"
    assert other.read_reply() == b"+OK\r\n"
    assert admin.read_reply() == b"$-1\r\n"


def test_nothing_is_written_once_the_pause_is_answered(server, proxy):
    admin = proxy.raw("other")
    stop = threading.Event()

    def write():
        raw = proxy.raw("other")
        while not stop.is_set():
            raw.pipeline(*[("INCR", "counter")] * 50)
        raw.close()
    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    direct = server.client()
    try:
        for _ in range(20):
            eventually(lambda: direct.incrby("counter", 0) > 0)
            assert admin.command("CLIENT", "PAUSE", "100000",
                                 "WRITE") == b"+OK\r\n"
            values = {direct.get("counter") for _ in range(50)}
            assert admin.command("CLIENT", "UNPAUSE") == b"+OK\r\n"
            assert len(values) == 1
    finally:
        stop.set()
        admin.command("CLIENT", "UNPAUSE")
        for thread in threads:
            thread.join()


LIBRARY = """#!lua name=lib
redis.register_function{function_name='look', flags={'no-writes'},
    callback=function(keys) return redis.call('GET', keys[1]) end}
redis.register_function('change',
    function(keys) return redis.call('SET', keys[1], 'x') end)
"""


def test_functions_that_only_read_pass_a_pause_of_writes(proxy):
    admin, reader, writer = (proxy.raw("demo") for _ in range(3))
    assert admin.command("FUNCTION", "LOAD", "REPLACE", LIBRARY) == \
        b"$3\r\nlib\r\n"
    assert admin.command("CLIENT", "PAUSE", "100000", "WRITE") == b"+OK\r\n"
    writer.send_command("FCALL", "change", "1", "f1")
    for key in "f1", "f2", "f3":
        assert reader.command("FCALL", "look", "1", key) == b"$-1\r\n"
    assert admin.command("CLIENT", "UNPAUSE") == b"+OK\r\n"
    assert writer.read_reply() == b"+OK\r\n"
    assert reader.command("FCALL", "look", "1", "f1") == b"$1\r\nx\r\n"
    assert admin.command("FUNCTION", "FLUSH") == b"+OK\r\n"


# --- CLIENT UNBLOCK ------------------------------------------------------------

def blocked(proxy):
    """How many wait, as INFO says of the proxy."""
    return proxy.client("demo").info("clients")["blocked_clients"]


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("reason", [(), ("TIMEOUT",), ("ERROR",)])
@pytest.mark.parametrize("words", [
    ("BLPOP", "none", "0"), ("BLMOVE", "none", "none", "LEFT", "LEFT", "0"),
    ("XREAD", "BLOCK", "0", "STREAMS", "none", "$"),
])
def test_who_waits_is_unblocked_as_at_a_server(server, proxy, words, reason,
                                               version):
    replies = []
    for place in proxy, server:
        raw, admin = ((place.raw("demo"), place.raw("demo"))
                      if place is proxy else (place.raw(), place.raw()))
        raw.command("HELLO", version)
        number = client_id(raw)
        assert admin.command("CLIENT", "UNBLOCK", number) == b":0\r\n"
        raw.send_command(*words)
        eventually(lambda n=number, a=admin: a.command(
            "CLIENT", "UNBLOCK", n, *reason) == b":1\r\n")
        replies.append([raw.read_reply(), raw.command("PING"),
                        admin.command("CLIENT", "UNBLOCK", number)])
    assert replies[0] == replies[1]


def test_what_is_popped_at_that_moment_is_not_lost(proxy):
    admin, pusher = proxy.raw("demo"), proxy.raw("demo")
    raw = proxy.raw("demo")
    number = client_id(raw)
    pusher.command("DEL", "list")
    for i in range(100):
        raw.send_command("BLPOP", "list", "0")
        eventually(lambda: blocked(proxy) == 1)
        pusher.send_command("RPUSH", "list", i)
        admin.send_command("CLIENT", "UNBLOCK", number)
        reply, answer = raw.read_reply(), admin.read_reply()
        assert pusher.read_reply() == b":1\r\n"
        left = pusher.command("LPOP", "list")
        text = b"$%d\r\n%d\r\n" % (len(str(i)), i)
        if answer == b":1\r\n":
            assert (reply, left) == (b"*-1\r\n", text)
        else:
            assert reply.endswith(text) and left == b"$-1\r\n"
