"""The first things that anybody would try."""

import re
import signal
import threading

import pytest
import redis

from harness import eventually, seconds

THREE = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: fnv1a_64
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""


@pytest.fixture
def proxy(world, three):
    """One pool over three servers, one worker."""
    return start(world, three, workers=1)


def start(world, servers, workers):
    a, b, c = (server.address for server in servers)
    return world.proxy(THREE, workers=workers, a=a, b=b, c=c)


def test_strings_are_set_read_and_deleted(proxy):
    client = proxy.client()
    assert client.set("greeting", "hello") is True
    assert client.get("greeting") == b"hello"
    assert client.delete("greeting", "nothing") == 1
    assert client.get("greeting") is None


def test_many_keys_are_spread_and_gathered_in_the_order_asked(proxy, three):
    client = proxy.client()
    keys = [f"key:{i}" for i in range(300)]
    assert client.mset({key: f"value of {key}" for key in keys}) is True
    asked = list(reversed(keys)) + ["absent", keys[7], keys[7]]
    expected = [f"value of {key}".encode() for key in reversed(keys)]
    expected += [None, b"value of key:7", b"value of key:7"]
    assert client.mget(asked) == expected
    assert client.exists(*keys) == 300
    sizes = [server.client().dbsize() for server in three]
    assert sum(sizes) == 300 and min(sizes) > 30
    assert client.delete(*keys) == 300


def test_replies_are_the_bytes_of_one_server(world, proxy):
    """Whatever the reply looks like, it comes through unchanged."""
    plain = world.server().raw()
    raw = proxy.raw()
    for words in [("SET", "k", "v"), ("GET", "k"), ("GET", "none"),
                  ("RPUSH", "list", "a", "b", "c"), ("LRANGE", "list", 0, -1),
                  ("INCR", "k"), ("LPUSH", "k", "x"), ("GET",),
                  ("ZADD", "z", "1.5", "m"), ("ZRANGE", "z", 0, -1,
                                              "WITHSCORES"),
                  ("HSET", "h", "f", "v"), ("HGETALL", "h"), ("PING",),
                  ("ECHO", "a\r\nb"), ("TYPE", "h"), ("HGETALL", "absent")]:
        assert raw.command(*words) == plain.command(*words), words


def test_an_unknown_command_is_answered_and_the_connection_stays(proxy):
    raw = proxy.raw()
    assert raw.command("NOSUCH", "a", "b") == (
        b"-ERR unknown command 'NOSUCH', with args beginning with: "
        b"'a' 'b' \r\n")
    assert raw.command("SHUTDOWN").startswith(
        b"-ERR command 'shutdown' is not supported through this proxy")
    assert raw.command("PING") == b"+PONG\r\n"


def test_a_pipeline_is_answered_in_order(proxy):
    raw = proxy.raw()
    count = 2000
    sets = raw.pipeline(*[("SET", f"k{i}", i) for i in range(count)])
    assert sets == [b"+OK\r\n"] * count
    gets = raw.pipeline(*[("GET", f"k{i}") for i in range(count)])
    assert gets == [b"$%d\r\n%d\r\n" % (len(str(i)), i) for i in range(count)]


def test_a_request_may_arrive_byte_by_byte(proxy):
    raw = proxy.raw()
    for byte in b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$5\r\nhello\r\nGET k\r\n":
        raw.send(bytes([byte]))
    assert raw.read_replies(2) == [b"+OK\r\n", b"$5\r\nhello\r\n"]


def test_a_value_of_five_megabytes_passes_both_ways(proxy):
    client = proxy.client()
    value = bytes(range(256)) * (5 * 1024 * 1024 // 256)
    assert client.set("big", value) is True
    assert client.get("big") == value
    assert client.mget("small", "big") == [None, value]


def test_a_protocol_error_is_named_and_closes_the_connection(proxy):
    raw = proxy.raw()
    raw.send(b"*1\r\n+PING\r\n")
    assert raw.read_reply() == \
        b"-ERR Protocol error: expected '$', got '+'\r\n"
    assert raw.is_closed()


@pytest.mark.threads
def test_two_workers_serve_many_clients(world, three):
    proxy = start(world, three, workers=2)
    failures = []

    def work(number):
        try:
            client = proxy.client()
            for i in range(50):
                key = f"{number}:{i}"
                with client.pipeline(transaction=False) as pipe:
                    pipe.set(key, i).get(key).delete(key)
                    assert pipe.execute() == [True, str(i).encode(), 1]
        except (AssertionError, redis.RedisError) as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds(30))
    assert not failures
    assert proxy.thread_count() >= 3


def test_the_stats_port_tells_what_happened(proxy):
    client = proxy.client()
    client.set("a", 1)
    status, text = proxy.stats.get("/healthz")
    assert status == 200, text
    assert proxy.stats.metrics()
    assert "demo" in proxy.stats.json()


@pytest.mark.threads
def test_sigterm_ends_it_with_status_zero(proxy):
    client = proxy.client()
    client.set("a", 1)
    proxy.signal(signal.SIGTERM)
    assert proxy.wait() == 0


@pytest.mark.threads
def test_sigint_ends_it_at_once(proxy):
    raw = proxy.raw()
    raw.command("PING")
    proxy.signal(signal.SIGINT)
    assert proxy.wait(5) == 0
    eventually(raw.is_closed)


def test_a_bad_file_is_refused_with_file_line_and_column(world):
    result = world.run("-t", "-c", "CONFIG", config="""\
        demo:
          listen: 127.0.0.1:0
          redis: true
          distributoin: ketama
          servers: [127.0.0.1:1:1]
        """)
    assert result.returncode != 0
    text = result.stdout + result.stderr
    assert re.search(r"run\.yml:4:3: error: .*distributoin", text), text
    assert "distribution" in text.replace("distributoin", ""), text


def test_a_good_file_passes(world):
    result = world.run("-t", "-c", "CONFIG", config="""\
        demo:
          listen: 127.0.0.1:0
          redis: true
          servers: [127.0.0.1:1:1]
        """)
    assert result.returncode == 0, result.stderr


def test_a_route_can_be_asked_for(world):
    result = world.run("route", "-c", "CONFIG", "demo", "a", "b", "b\n\x1b",
                       config="""\
        demo:
          listen: 127.0.0.1:0
          redis: true
          servers: ["127.0.0.1:1:1 one", "127.0.0.1:2:1 two"]
        """)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 3
    assert all("one" in line or "two" in line for line in lines), lines
    assert lines[2].startswith(r'b\x0a\x1b: tag="b\x0a\x1b" ')


def test_a_word_that_is_none_is_named(world):
    for words in (("reload",), ("-t", "-c", "CONFIG", "reload")):
        result = world.run(*words, config="")
        assert result.returncode != 0
        assert result.stderr.startswith(
            "pointsman: there is a word too many: reload\nusage: ")
