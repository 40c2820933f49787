"""max_memory: what is large does without, what is small goes on."""

import threading

import pytest

from harness import eventually, seconds
from lib_bulk import big_request
from resp import encode

pytestmark = pytest.mark.plain_only

LIMIT = 128 << 20
SLACK = 128 << 20  # unbounded it would be three times the limit
BIG = 8 << 20
OOM = b"-OOM proxy: max_memory is reached, command was not executed\r\n"
NO_CLIENTS = b"-OOM proxy: max_memory is reached, no new clients are taken\r\n"

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      max_memory: 128mb
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      request_timeout: 60s
      servers:
        - {name: a, address: "$a", from: a, before: b}
        - {name: b, address: "$b", from: b, before: c}
        - {name: c, address: "$c", from: c, before: d}
"""


class Watch(threading.Thread):
    """A client of small requests, and an eye on the proxy's size."""

    def __init__(self, proxy, key):
        super().__init__()
        self.proxy, self.key = proxy, key
        self.raw = proxy.raw(timeout=30)
        self.over = threading.Event()
        self.largest, self.rounds = 0, 0
        self.problem = None

    def run(self):
        try:
            while not self.over.is_set():
                assert self.raw.command("SET", self.key, "v") == b"+OK\r\n"
                assert self.raw.command("GET", self.key) == b"$1\r\nv\r\n"
                self.largest = max(self.largest, self.proxy.rss_bytes())
                self.rounds += 1
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def wait_for_more(self, count=10):
        """Its requests are answered, whatever the others do."""
        goal = self.rounds + count
        eventually(lambda: self.problem or self.rounds >= goal, 20)
        assert self.problem is None, repr(self.problem)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, *_):
        self.over.set()
        self.join(seconds(30))
        if kind is None:
            assert self.problem is None, repr(self.problem)
            assert self.largest < LIMIT + SLACK, self.largest >> 20


def control(proxy, name):
    return proxy.stats.value("pointsman_control_" + name)


def gather(proxy, count):
    """Clients in the middle of an MSET for two servers."""
    clients = [proxy.raw(timeout=60) for _ in range(count)]
    for number, raw in enumerate(clients):
        raw.send(b"*5\r\n$4\r\nMSET\r\n" + b"$%d\r\na%d\r\n" % (
            len(str(number)) + 1, number) + b"$%d\r\n" % BIG +
            b"x" * (BIG - 1000))
    return clients


def finish(clients):
    """The rest of their requests, and what is said to each."""
    replies = []
    for raw in clients:
        raw.send(b"x" * 1000 + b"\r\n" + encode("b", "v").split(b"\r\n", 1)[1])
        replies.append(raw.read_reply())
        assert raw.command("PING") == b"+PONG\r\n"
    return replies


def has_recovered(proxy):
    assert control(proxy, "memory_short") == 0
    assert control(proxy, "memory_used_bytes") < LIMIT / 2
    assert proxy.rss_bytes() < LIMIT
    return True


def start(world):
    servers = world.start_servers(3)
    a, b, c = (server.address for server in servers)
    return servers, world.proxy(CONFIG, a=a, b=b, c=c)


def test_gathering_beyond_max_memory_is_refused_and_neighbours_go_on(world):
    _, proxy = start(world)
    with Watch(proxy, "a") as one, Watch(proxy, "b") as other:
        clients = gather(proxy, 40)
        one.wait_for_more()
        other.wait_for_more()
        replies = finish(clients)
    refused = [reply for reply in replies if reply == OOM]
    assert len(refused) > 10
    assert all(reply in (OOM, b"+OK\r\n") for reply in replies)
    assert proxy.stats.value("pointsman_pool_errors_memory_total") == \
        len(refused)
    assert control(proxy, "memory_shortages_total") >= 1
    assert proxy.events("max_memory reached", level="warn")
    assert proxy.events("large request refused", reason="max_memory")
    eventually(lambda: has_recovered(proxy), 20)
    assert proxy.events("below max_memory again")
    # Each was executed whole or not at all.
    raw = proxy.raw(timeout=30)
    for number, reply in enumerate(replies):
        length = raw.command("STRLEN", f"a{number}")
        assert length == (b":%d\r\n" % BIG if reply == b"+OK\r\n"
                          else b":0\r\n")
    raw.send(big_request(BIG, "SET", "a") + b"y" * BIG + b"\r\n")
    assert raw.read_reply() == b"+OK\r\n"


def test_at_max_memory_new_clients_are_refused(world):
    reason = "refused_memory"
    _, proxy = start(world)
    watch = Watch(proxy, "a")
    clients = [proxy.raw(timeout=60) for _ in range(40)]
    for raw in clients:
        if control(proxy, "memory_short") == 1:
            break
        raw.send(b"*3\r\n$4\r\nMSET\r\n$1\r\na\r\n$%d\r\n" % BIG +
                 b"x" * (BIG - 1000))
    eventually(lambda: control(proxy, "memory_short") == 1)
    with watch:
        for _ in range(3):
            with proxy.raw() as raw:
                assert raw.read_reply() == NO_CLIENTS
                assert raw.is_closed()
        watch.wait_for_more()
    assert proxy.stats.value("pointsman_pool_closed_total",
                             reason=reason) == 3
    assert len(proxy.events("client refused", reason=reason)) == 3
    for raw in clients:
        raw.close()
    eventually(lambda: has_recovered(proxy), 20)
    with proxy.raw() as raw:
        assert raw.command("PING") == b"+PONG\r\n"


def test_answers_are_not_kept_beyond_max_memory(world):
    """They wait for the turn of an answer that does not come."""
    (a, b, _), proxy = start(world)
    a.client().set("a-big", b"x" * BIG)
    with Watch(proxy, "c") as watch:
        b.pause()
        clients = [proxy.raw(timeout=60) for _ in range(24)]
        for raw in clients:
            raw.send(encode("GET", "b") + encode("GET", "a-big"))
        eventually(lambda: proxy.stats.value(
            "pointsman_pool_closed_total", reason="client_memory") >= 1, 20)
        watch.wait_for_more()
        eventually(lambda: proxy.stats.value(
            "pointsman_server_out_queue", server="a") == 0, 30)
        b.resume()
        answered = 0
        for raw in clients:
            try:
                assert raw.read_reply() == b"$-1\r\n"
                assert len(raw.read_reply()) > BIG
                answered += 1
            except ConnectionError:
                pass  # closed, which is counted
            raw.close()
    closed = proxy.stats.value("pointsman_pool_closed_total",
                               reason="client_memory")
    assert answered == len(clients) - closed
    eventually(lambda: has_recovered(proxy), 20)
