"""CLIENT: a pool's clients are seen and steered, at whichever worker they are."""

import re

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


def test_redis_py_kills_and_lists(proxy):
    client = proxy.client("demo")
    victim = proxy.client("demo")
    number = victim.client_id()
    assert number in [int(line["id"]) for line in client.client_list()]
    assert client.client_kill_filter(_id=number) == 1
    # a connection that is gone is replaced before it is used
    assert victim.client_id() != number
