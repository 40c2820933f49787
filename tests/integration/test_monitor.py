"""MONITOR: a client sees what the clients of its pool ask for.

The lines are those that a server shows its own monitor, whichever workers the
two are at.
"""

import re
import time

import pytest

from harness import eventually, running_world, seconds

POOLS = """
    pointsman:
      workers: 3
    demo:
      listen: 127.0.0.1:0
      redis: true
      redis_auth: sesame
      databases: 16
      client_output_limit: 400kb
      servers: ["$a:1 a"]
    other:
      listen: 127.0.0.1:0
      redis: true
      redis_auth: sesame
      distribution: modulo
      servers: ["$a:1 a", "$b:1 b"]
    scripts:
      listen: 127.0.0.1:0
      redis: true
      redis_auth: sesame
      databases: 4
      distribution: modulo
      monitor_scripts: true
      servers: ["$a:1 a", "$b:1 b"]
"""

SCRIPT = [
    ("AUTH", "wrong"), ("AUTH", "default", "sesame"),
    ("HELLO", "3", "AUTH", "default", "sesame", "SETNAME", "x"),
    ("HELLO", "2", "SETNAME", "AUTH", "AUTH", "default", "sesame"),
    ("SELECT", "3"), ("SET", "a\r\n\"\\\x01\xe9".encode("latin-1"), "v\t\a\b"),
    ("get",), ("NOPE", "x"), ("DEL", "l"), ("LPUSH", "l", ""),
    ("SET", "a", "b", "zz"), ("INCR", "l"),
    ("MULTI",), ("SET", "q", "1"), ("GET", "q"), ("EXEC",),
    ("MULTI",), ("SET", "q", "1"), ("DISCARD",), ("MULTI",), ("EXEC",),
    ("MULTI",), ("GET",), ("EXEC",),
    ("EVAL", "return 1", "0"), ("CONFIG", "GET", "save"), ("CLIENT", "ID"),
    ("CLIENT", "LIST"), ("CLIENT", "SETNAME", "n"), ("BLPOP", "none", "0.01"),
    ("PING",), ("ping", "hi"), ("ECHO", "x"), ("DBSIZE",), ("WATCH", "a"),
    ("UNWATCH",), ("MGET", "a", "b"), ("OBJECT", "ENCODING", "l"),
    ("COMMAND", "COUNT"), ("RESET",), ("AUTH", "sesame"), ("GET", "a"),
    ("QUIT",),
]


@pytest.fixture(scope="module")
def place():
    yield from running_world()


@pytest.fixture(scope="module")
def server(place):
    return place.server("--requirepass", "sesame")


@pytest.fixture(scope="module")
def pools(place, server):
    return place.proxy(POOLS, a=server.address,
                       b=place.server("--requirepass", "sesame").address)


@pytest.fixture
def proxy(pools):
    yield pools
    pools.close_clients()


def enter(raw):
    assert raw.command("AUTH", "sesame") == b"+OK\r\n"
    return raw


def monitor(raw):
    assert enter(raw).command("MONITOR") == b"+OK\r\n"
    return raw


def seen(raw, last):
    """Lines up to the one with this word, without time and port."""
    lines = []
    while not lines or last not in lines[-1]:
        line = raw.read_reply().decode()
        shape = re.fullmatch(
            r"\+(\d+\.\d{6}) \[(\d+) 127\.0\.0\.1:\d+\] (.*)\r\n", line)
        assert shape, line
        assert abs(float(shape[1]) - time.time()) < seconds(60)
        lines.append(f"{shape[2]} {shape[3]}")
    return lines


def play(raw):
    """The script, and a mark in front of it."""
    enter(raw).command("ECHO", "the start")
    for words in SCRIPT:
        raw.command(*words)


def seen_of_script(watcher):
    seen(watcher, "the start")
    return seen(watcher, '"QUIT"')


def test_a_monitor_sees_what_a_server_shows(proxy, server):
    watcher = monitor(server.raw())
    play(server.raw())
    theirs = seen_of_script(watcher)
    assert '3 "SET" "q" "1"' in theirs
    # Clients go to the workers in turn.
    watchers = [monitor(proxy.raw("demo")) for _ in range(3)]
    for _ in range(3):
        play(proxy.raw("demo"))
        for watcher in watchers:
            assert seen_of_script(watcher) == theirs


def on_two_shards(raw):
    """Two keys that RENAME is refused for."""
    for number in range(100):
        pair = ("a", f"b{number}")
        if raw.command("RENAME", *pair).startswith(b"-CROSSSLOT"):
            return pair
    raise AssertionError("all keys are on one shard")


def test_what_is_refused_is_not_seen(proxy):
    raw = enter(proxy.raw("other"))
    one, two = on_two_shards(raw)
    watcher = monitor(proxy.raw("other"))
    raw.command("RENAME", one, two)
    raw.command("MSET", one, "1", two, "2")
    raw.command("CONFIG", "SET", "maxmemory", "1")
    enter(proxy.raw("demo")).command("GET", "of-another-pool")
    raw.command("ECHO", "the end")
    assert seen(watcher, "the end") == [
        f'0 "MSET" "{one}" "1" "{two}" "2"', '0 "ECHO" "the end"']


def test_a_monitor_has_nothing_to_ask_for(proxy, server):
    for raw in proxy.raw("demo"), server.raw():
        watcher = monitor(raw)
        for words in (("GET", "a"), ("SET", "a", "b"), ("DBSIZE",)):
            assert watcher.command(*words) == \
                b"-ERR Replica can't interact with the keyspace\r\n"
        watcher.send_command("MONITOR")
        assert watcher.command("PING") == b"+PONG\r\n"
        assert watcher.read_reply().endswith(b'"PING"\r\n')
        flags = watcher.command("CLIENT", "INFO")
        assert b" flags=O " in flags
        assert watcher.read_reply().endswith(b'"CLIENT" "INFO"\r\n')
        watcher.send_command("RESET")
        assert watcher.read_reply() == b"+RESET\r\n"
        enter(watcher)
        assert watcher.command("GET", "none") == b"$-1\r\n"


def test_a_large_value_is_shown_by_its_key(proxy):
    watcher = monitor(proxy.raw("demo"))
    raw = enter(proxy.raw("demo"))
    raw.command("SET", "large", b"x" * 300000)
    raw.command("ECHO", "the end")
    lines = seen(watcher, "the end")
    assert lines[1].startswith('0 "SET" "large"')
    raw.command("DEL", "large")


def test_a_slow_monitor_is_closed_and_others_are_not(proxy):
    slow = monitor(proxy.raw("demo"))
    raw = enter(proxy.raw("demo"))

    def is_closed():
        for _ in range(100):
            raw.command("ECHO", "x" * 10000)
        return proxy.events("client connection ended",
                            reason="client_output_limit")
    eventually(is_closed, 60)
    assert raw.command("PING") == b"+PONG\r\n"
    slow.close()


def test_nobody_is_looked_at_when_the_last_has_left(proxy):
    watcher = monitor(proxy.raw("demo"))
    raw = enter(proxy.raw("demo"))
    raw.command("ECHO", "x")
    seen(watcher, '"x"')
    watcher.close()
    # one more comes while the workers are being told
    for _ in range(3):
        again = monitor(proxy.raw("demo"))
        raw.command("ECHO", "y")
        assert seen(again, '"y"')
        again.close()


def test_redis_py_monitors(proxy):
    client = proxy.client("demo", password="sesame")
    with client.monitor() as stream:
        enter(proxy.raw("demo")).command("SET", "k", "a b")
        commands = [stream.next_command()["command"] for _ in range(2)]
        assert commands[-1] == "SET k a b"


CALL = """redis.call('SET', KEYS[1], ARGV[1])
          return redis.call('GET', KEYS[1])"""


def test_what_scripts_run_is_seen_where_it_is_asked_for(proxy):
    # Clients go to the workers in turn.
    watchers = [monitor(proxy.raw("scripts")) for _ in range(4)]
    caller = enter(proxy.raw("scripts"))
    caller.command("SELECT", "3")
    expected = []
    for number in range(20):
        assert caller.command("EVAL", CALL, "1", f"k{number}", "v") == \
            b"$1\r\nv\r\n"
        expected += [f'[3 lua] "SET" "k{number}" "v"',
                     f'[3 lua] "GET" "k{number}"']
    for watcher in watchers:
        found = []
        while len(found) < len(expected):
            line = watcher.read_reply().decode().rstrip()
            if " lua] " in line:
                found.append(line[line.index("["):])
        assert sorted(found) == sorted(expected)
