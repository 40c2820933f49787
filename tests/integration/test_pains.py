"""What users of other proxies met, and should not meet here.

Only what no other file covers: most of it has its place among the tests of the
part that it concerns.
"""

import re

import pytest

from harness import eventually
from lib_faults import UNREACHABLE
from resp import encode

CONFIG = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      reconnect_max: 100ms
      preconnect: $preconnect
      servers:
        - {name: a, address: "$a", from: a, before: b}
        - {name: b, address: "$b", from: b, before: c}
"""

GUARDED = """
    demo:
      listen: 127.0.0.1:0
      redis: true
      redis_auth: secret
      servers: ["$a:1 a"]
"""

OOM = re.compile(rb"-OOM command not allowed[^\r]*\r\n")


def start(world, a, b, workers=1, preconnect="false"):
    return world.proxy(CONFIG, a=a, b=b, workers=workers,
                       preconnect=preconnect)


@pytest.mark.parametrize("words", [("MGET",), ("MSET",), ("DEL",), ("GET",),
                                   ("SET", "a"), ("EVAL", "x"), ("MSET", "a")])
def test_too_few_words_are_told_and_the_connection_stays(world, words):
    servers = world.start_servers(2)
    raw = start(world, *(server.address for server in servers)).raw()
    name = words[0].lower().encode()
    assert raw.command(*words) == \
        b"-ERR wrong number of arguments for '%b' command\r\n" % name
    assert raw.command("SET", "a", "1") == b"+OK\r\n"


def test_a_server_without_memory_harms_only_who_writes(world):
    """Its errors go to those who caused them, in the middle of everything on
    the one shared connection."""
    full = world.server("--maxmemory", "100kb", "--maxmemory-policy",
                        "noeviction")
    other = world.server()
    proxy = start(world, full.address, other.address)
    clients = [proxy.raw(timeout=30) for _ in range(8)]
    for raw in clients:
        raw.send((encode("SET", "a", "x") + encode("GET", "a-none") +
                  encode("SET", "b", "y") + encode("ECHO", "e")) * 50)
    for raw in clients:
        for _ in range(50):
            assert OOM.fullmatch(raw.read_reply())
            assert raw.read_reply() == b"$-1\r\n"
            assert raw.read_reply() == b"+OK\r\n"
            assert raw.read_reply() == b"$1\r\ne\r\n"
    assert proxy.stats.value("pointsman_server_connects_total",
                             server="a") == 1
    assert proxy.stats.value("pointsman_pool_errors_server_total") == 400


def test_what_cannot_be_cut_apart_is_refused_and_nothing_is_written(world):
    servers = world.start_servers(2)
    raw = start(world, *(server.address for server in servers)).raw()
    assert raw.command("MSETNX", "a1", "x", "b1", "x").startswith(
        b"-CROSSSLOT ")
    assert raw.command("RENAME", "a1", "b1").startswith(b"-CROSSSLOT ")
    assert raw.command("EXISTS", "a1", "b1") == b":0\r\n"
    assert raw.command("MSETNX", "a1", "x", "a2", "x") == b":1\r\n"
    assert raw.command("SET", "b1", "x") == b"+OK\r\n"
    # Every mention counts, on whichever server it is.
    assert raw.command("EXISTS", "a1", "b1", "a1", "a9") == b":3\r\n"


@pytest.mark.parametrize("preconnect", ["true", "false"])
def test_it_starts_without_servers_and_finds_them_later(world, preconnect):
    server = world.server()
    server.stop()
    there = world.server()
    proxy = start(world, server.address, there.address, preconnect=preconnect)
    raw = proxy.raw()
    refused = re.compile(b"-" + UNREACHABLE + b"\r\n")
    assert refused.fullmatch(raw.command("GET", "a"))
    assert raw.command("SET", "b", "v") == b"+OK\r\n"
    server.start()
    eventually(lambda: raw.command("SET", "a", "v") == b"+OK\r\n")


def test_newcomers_go_where_the_fewest_clients_are(world):
    """However uneven those have left who were there."""
    servers = world.start_servers(2)
    proxy = start(world, *(server.address for server in servers), workers=2)

    def sessions():
        return [proxy.stats.value("pointsman_worker_sessions", worker=number)
                for number in "01"]

    clients = [proxy.raw() for _ in range(20)]
    eventually(lambda: sessions() == [10, 10])
    for raw in clients[::2]:
        raw.close()  # all of one worker's
    eventually(lambda: sum(sessions()) == 10)
    assert sorted(sessions()) == [0, 10]
    more = [proxy.raw() for _ in range(10)]
    eventually(lambda: sessions() == [10, 10])
    assert all(raw.command("PING") == b"+PONG\r\n" for raw in more)


def test_hello_takes_password_and_name_at_once(world):
    proxy = world.proxy(GUARDED, a=world.server(
        "--requirepass", "secret").address)
    raw = proxy.raw()
    assert raw.command("GET", "k") == b"-NOAUTH Authentication required.\r\n"
    assert raw.command("HELLO", "3").startswith(b"-NOAUTH ")
    assert raw.command("HELLO", "3", "AUTH", "default", "wrong",
                       "SETNAME", "me").startswith(b"-WRONGPASS ")
    assert raw.command("HELLO", "3", "AUTH", "default", "secret",
                       "SETNAME", "me").startswith(b"%")
    assert raw.command("CLIENT", "GETNAME") == b"$2\r\nme\r\n"
    assert raw.command("GET", "k") == b"_\r\n"
