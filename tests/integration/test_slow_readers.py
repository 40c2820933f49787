"""Clients that ask for much and take it slowly, or not at all."""

import selectors
import socket
import threading
import time

import pytest

from harness import eventually, seconds
from lib_bulk import MB, Memory, check_value, raise_file_limit, scaled, value
from resp import encode

THREE = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: modula
      hash: md5
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
"""

# Keys that begin with "1" stand on server a, with "2" on b.
TWO = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: number
      client_output_limit: $limit
      tcp_user_timeout: 500ms
      stall_grace: $grace
      servers:
        - {name: a, address: $a, from: 1, to: 1}
        - {name: b, address: $b, from: 2, to: 2}
"""


def start_two(world, limit="64mb", grace="1s"):
    a, b = world.start_servers(2)
    proxy = world.proxy(TWO, a=a.address, b=b.address, limit=limit,
                        grace=grace)
    return proxy, a, b


def clients_of(proxy):
    return proxy.stats.value("pointsman_pool_client_connections")


def closed(proxy, reason):
    """How many clients were closed for a reason."""
    return proxy.stats.value("pointsman_pool_closed_total", reason=reason)


# --- clients that never read ------------------------------------------------

class Deaf:
    """Clients that send as long as anything is taken, and never read."""

    def __init__(self, proxy, count, data):
        self.selector = selectors.DefaultSelector()
        self.sockets = []
        for _ in range(count):
            client = socket.socket()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.connect(("127.0.0.1", proxy.port()))
            client.setblocking(False)
            self.selector.register(client, selectors.EVENT_WRITE,
                                   memoryview(data))
            self.sockets.append(client)

    def send(self):
        """Send what is taken within a second; how many bytes that was."""
        sent = 0
        end = time.monotonic() + 1
        while time.monotonic() < end:
            events = self.selector.select(0.2)
            if not events:
                break
            for key, _ in events:
                try:
                    count = key.fileobj.send(key.data[:1 << 18])
                except BlockingIOError:
                    continue
                sent += count
                rest = key.data[count:]
                if len(rest) == 0:
                    self.selector.unregister(key.fileobj)
                else:
                    self.selector.modify(key.fileobj, selectors.EVENT_WRITE,
                                         rest)
        return sent

    def close(self):
        self.selector.close()
        for client in self.sockets:
            client.close()


@pytest.mark.parametrize("workers", [1])
@pytest.mark.plain_only
def test_two_hundred_clients_that_never_read_cost_little(world, three,
                                                         workers):
    raise_file_limit(1000)
    a, b, c = (server.address for server in three)
    proxy = world.proxy(THREE, workers=workers, a=a, b=b, c=c)
    client = proxy.raw(timeout=20)
    text = value(10_000)
    for i in range(20):
        client.command("SET", f"key:{i}", text)
    memory = Memory(proxy)
    round_trip = b"".join(encode("GET", f"key:{i}") for i in range(20))
    deaf = Deaf(proxy, 200, round_trip * 5000)
    try:
        eventually(lambda: deaf.send() == 0, 30)
        wanted = b"$10000\r\n" + text + b"\r\n"
        request = encode("GET", "key:7")
        begun = time.monotonic()
        for i in range(10_000):
            client.send(request)
            if i % 500 == 0:
                deaf.send()
            assert client.read_reply() == wanted
        took = time.monotonic() - begun
        assert clients_of(proxy) == 201
        print(f"grown by {memory.peak() / MB:.1f} MB; 10,000 requests of "
              f"another took {took:.1f} s")
        assert memory.peak() <= 64 * MB
    finally:
        deaf.close()
    eventually(lambda: clients_of(proxy) == 1)
    memory.wait_until_back(8 * MB)
    assert client.command("PING") == b"+PONG\r\n"


# --- clients that wait for each other's answers -----------------------------

def read_together(clients, piece):
    """Let clients read in turns, `piece` bytes at a time, to their end."""
    selector = selectors.DefaultSelector()
    for client, total in clients.items():
        client.socket.settimeout(seconds(20))
        selector.register(client.socket, selectors.EVENT_READ,
                          [client, total])
    while selector.get_map():
        events = selector.select(seconds(20))
        assert events, "nobody gets anything any more"
        for key, _ in events:
            client, missing = key.data
            data = client.socket.recv(piece)
            assert data, "closed"
            client.buffer += data
            key.data[1] = missing - len(data)
            if key.data[1] <= 0:
                selector.unregister(key.fileobj)
    selector.close()


@pytest.mark.parametrize("piece", [MB, 8192])
@pytest.mark.parametrize("size", [MB, MB + 100_000, 300_000])
def test_opposite_orders_of_large_replies_both_finish(world, size, piece):
    proxy, a, b = start_two(world)
    text = value(size)
    a.client().set("1", text)
    b.client().set("2", text)
    reply = b"$%d\r\n%s\r\n" % (size, text)
    left, right = (proxy.raw(timeout=20, room=32768) for _ in range(2))
    left.send((encode("GET", "1") + encode("GET", "2")) * 10)
    right.send((encode("GET", "2") + encode("GET", "1")) * 10)
    read_together({left: 20 * len(reply), right: 20 * len(reply)}, piece)
    for client in (left, right):
        assert bytes(client.buffer) == reply * 20


def test_one_that_reads_nothing_for_long_is_let_be_when_alone(world):
    proxy, a, _ = start_two(world, grace="100ms")
    size = 32 * MB          # more than the kernels on the way keep
    a.client().set("1", value(size))
    client = proxy.raw(timeout=20, room=65536)
    client.send_command("GET", "1")
    eventually(lambda: proxy.stats.value("pointsman_server_pauses_total") > 0)
    # Others are served, at another server, and time passes.
    other = proxy.raw()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        assert other.command("SET", "2", "x") == b"+OK\r\n"
    check_value(client, size)
    assert client.command("PING") == b"+PONG\r\n"


def test_a_client_that_stalls_while_others_wait_is_closed(world):
    proxy, a, _ = start_two(world, limit="1mb", grace="300ms")
    size = 32 * MB
    a.client().set("1", value(size))
    a.client().set("01", "small")
    deaf, other = proxy.raw(timeout=20, room=65536), proxy.raw()
    deaf.send_command("GET", "1")
    eventually(lambda: proxy.stats.value("pointsman_server_pauses_total") > 0)
    assert other.command("GET", "01") == b"$5\r\nsmall\r\n"
    eventually(lambda: clients_of(proxy) == 1)
    assert closed(proxy, "client_stalled") == 1
    with pytest.raises((ConnectionError, AssertionError)):
        check_value(deaf, size)
    assert proxy.stats.value("pointsman_server_lanes_shared", server="a") == 1
    assert other.command("GET", "01") == b"$5\r\nsmall\r\n"


def test_a_client_that_reads_slowly_is_never_closed(world):
    """Others wait behind its answer on the connection that they share."""
    proxy, a, _ = start_two(world, limit="1mb", grace="400ms")
    size = 32 * MB
    a.client().set("1", value(size))
    a.client().set("01", "small")
    slow, other = proxy.raw(timeout=20, room=65536), proxy.raw(timeout=30)
    slow.send_command("GET", "1")
    eventually(lambda: proxy.stats.value("pointsman_server_pauses_total") > 0)
    other.send_command("GET", "01")
    # 64 KB every 50 ms, which is far less than the network could.
    end = time.monotonic() + 3
    room = bytearray()
    while time.monotonic() < end:
        room += slow.socket.recv(65536)
        other.is_quiet(0.05)
    slow.buffer[:] = room
    assert len(room) < size // 2
    check_value(slow, size)
    assert slow.command("PING") == b"+PONG\r\n"
    assert other.read_reply() == b"$5\r\nsmall\r\n"


def test_answers_kept_for_a_client_have_a_limit_for_it_alone(world):
    proxy, a, b = start_two(world, limit="4mb")
    b.client().set("2", value(MB // 2))
    greedy, other = proxy.raw(), proxy.raw()
    memory = Memory(proxy)
    a.pause()
    greedy.send(encode("GET", "1") + encode("GET", "2") * 15)
    assert greedy.is_closed()
    assert other.command("STRLEN", "2") == b":%d\r\n" % (MB // 2)
    a.resume()
    assert other.command("SET", "1", "x") == b"+OK\r\n"
    assert clients_of(proxy) == 1
    eventually(
        lambda: proxy.stats.value("pointsman_pool_held_bytes") == 0)
    print(f"grown by {memory.peak() / MB:.1f} MB at most")


def test_a_gathered_answer_over_the_limit_is_refused(world):
    proxy, a, b = start_two(world, limit="4mb")
    a.client().set("1", value(3 * MB))
    b.client().set("2", value(3 * MB))
    greedy, other = proxy.raw(), proxy.raw()
    assert greedy.command("MGET", "1", "2") == \
        b"-ERR proxy: the answer is larger than client_output_limit allows\r\n"
    assert greedy.command("STRLEN", "1") == b":%d\r\n" % (3 * MB)
    assert other.command("MGET", "01", "02") == b"*2\r\n$-1\r\n$-1\r\n"


def test_a_slow_reader_on_two_workers_hinders_nobody(world, three):
    a, b, c = (server.address for server in three)
    proxy = world.proxy(THREE, workers=2, a=a, b=b, c=c)
    size = scaled(4 * MB)
    proxy.client().set("big", value(size))
    slow = [proxy.raw(timeout=20, room=65536) for _ in range(8)]
    for client in slow:
        client.send(encode("GET", "big") * 3)
    failures = []

    def work(number):
        client = proxy.raw(timeout=20)
        for i in range(scaled(1000)):
            if client.command("SET", f"{number}:{i}", i) != b"+OK\r\n":
                failures.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds(60))
        assert not thread.is_alive()
    assert not failures
    for client in slow[:2]:
        for _ in range(3):
            check_value(client, size)
