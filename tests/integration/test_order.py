"""Thousands of pipelined clients: every reply in its turn, every write seen.

Each client works on keys of its own, so that the bytes of all its replies are
known before the first request leaves: one reply out of its turn, or one read
that misses an earlier write, is a difference.
"""

import random
import selectors
import socket
import struct
import time

import pytest

from harness import SLOW, seconds
from lib_bulk import BLOCK, raise_file_limit
from resp import encode

CONFIG = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      backlog: 4096
      redis: true
      distribution: modula
      hash: md5
      request_timeout: 120s
      server_connections: $connections
      large_request: $large_request
      large_reply: $large_reply
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
"""

NULL = b"$-1\r\n"


def bulk(data):
    return NULL if data is None else b"$%d\r\n%b\r\n" % (len(data), data)


def array(items):
    return b"*%d\r\n" % len(items) + b"".join(bulk(item) for item in items)


class Script:
    """Requests of one client, and the replies that must come."""

    def __init__(self, number, requests, sizes):
        self.random = random.Random(number)
        self.keys = [b"%d:%d" % (number, i) for i in range(6)]
        self.values = {}
        self.sizes = sizes
        steps = [self.set] * 5 + [self.get] * 5 + [
            self.append, self.incr, self.mget, self.mget, self.mset,
            self.delete, self.exists, self.strlen, self.ping, self.wrong]
        pairs = [self.random.choice(steps)() for _ in range(requests)]
        self.input = b"".join(encode(*words) for words, _ in pairs)
        self.output = b"".join(reply for _, reply in pairs)

    def key(self):
        return self.random.choice(self.keys)

    def some_keys(self):
        return self.random.sample(self.keys, self.random.randint(2, 5))

    def value(self):
        """Mostly a few bytes; now and then a large one."""
        size = self.random.randint(1, 40)
        if self.random.random() < 0.05:
            size = self.random.randint(*self.sizes)
        start = self.random.randint(0, 1000)
        return BLOCK[start:start + size]

    def set(self):
        key, value = self.key(), self.value()
        self.values[key] = value
        return ("SET", key, value), b"+OK\r\n"

    def get(self):
        key = self.key()
        return ("GET", key), bulk(self.values.get(key))

    def append(self):
        key, value = self.key(), self.value()
        self.values[key] = self.values.get(key, b"") + value
        return ("APPEND", key, value), b":%d\r\n" % len(self.values[key])

    def incr(self):
        key = self.keys[0] + b":n"
        number = int(self.values.get(key, b"0")) + 1
        self.values[key] = b"%d" % number
        return ("INCR", key), b":%d\r\n" % number

    def mget(self):
        keys = self.some_keys()
        return ("MGET", *keys), array([self.values.get(k) for k in keys])

    def mset(self):
        words = []
        for key in self.some_keys():
            self.values[key] = self.value()
            words += [key, self.values[key]]
        return ("MSET", *words), b"+OK\r\n"

    def delete(self):
        keys = self.some_keys()
        gone = sum(self.values.pop(key, None) is not None for key in keys)
        return ("DEL", *keys), b":%d\r\n" % gone

    def exists(self):
        keys = self.some_keys()
        return ("EXISTS", *keys), \
            b":%d\r\n" % sum(key in self.values for key in keys)

    def strlen(self):
        key = self.key()
        return ("STRLEN", key), b":%d\r\n" % len(self.values.get(key, b""))

    def ping(self):
        """Answered by the proxy, and in its turn all the same."""
        word = b"%d" % self.random.randint(0, 1 << 30)
        return ("PING", word), bulk(word)

    def wrong(self):
        return ("GET",), \
            b"-ERR wrong number of arguments for 'get' command\r\n"


class Client:
    """A connection that works through its script."""

    def __init__(self, port, script, leaves):
        self.script = script
        self.unsent = memoryview(script.input)
        self.got = 0
        self.leaves_at = None
        if leaves:
            self.leaves_at = script.random.randint(0, len(script.output) - 1)
        self.socket = socket.create_connection(("127.0.0.1", port),
                                               seconds(30))
        self.socket.setblocking(False)

    def is_done(self):
        return self.got == len(self.script.output)

    def is_leaving(self):
        return self.leaves_at is not None and self.got >= self.leaves_at

    def interest(self):
        return selectors.EVENT_READ | (
            selectors.EVENT_WRITE if self.unsent else 0)

    def send(self):
        """A piece of any size, as a network may deliver it."""
        size = self.script.random.choice((7, 100, 1000, 20_000, 1 << 20))
        self.unsent = self.unsent[self.socket.send(self.unsent[:size]):]

    def receive(self):
        size = self.script.random.choice((100, 5000, 65536, 1 << 18))
        if self.leaves_at is not None:
            size = min(size, max(self.leaves_at - self.got, 1))
        data = self.socket.recv(size)
        assert data, f"closed after {self.got} bytes of replies"
        wanted = self.script.output[self.got:self.got + len(data)]
        if data != wanted:
            self.complain(data, wanted)
        self.got += len(data)

    def complain(self, data, wanted):
        at = next((i for i, (x, y) in enumerate(zip(data, wanted)) if x != y),
                  len(wanted))
        start = max(self.got + at - 200, 0)
        raise AssertionError(
            f"wrong reply at byte {self.got + at}; after "
            f"{self.script.output[start:self.got + at]!r} came "
            f"{data[at:at + 80]!r} and not {wanted[at:at + 80]!r}")

    def close(self):
        """In half of the cases with an RST."""
        if self.script.random.random() < 0.5:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
        self.socket.close()


class Crowd:
    """Clients in one loop."""

    def __init__(self, port, scripts, leavers=0.0):
        self.port = port
        self.scripts = scripts
        self.leavers = leavers
        self.selector = selectors.DefaultSelector()
        self.finished = self.left = 0
        self.dice = random.Random(1)

    def come(self):
        """The next one, if there is one."""
        script = next(self.scripts, None)
        if script is not None:
            client = Client(self.port, script,
                            self.dice.random() < self.leavers)
            self.selector.register(client.socket, client.interest(), client)

    def go(self, client):
        self.selector.unregister(client.socket)
        self.finished += client.is_done()
        self.left += not client.is_done()
        client.close()
        self.come()

    def turn(self, client, events):
        try:
            if events & selectors.EVENT_WRITE:
                client.send()
            if events & selectors.EVENT_READ:
                client.receive()
        except BlockingIOError:
            return
        if client.is_done() or client.is_leaving():
            self.go(client)
        else:
            self.selector.modify(client.socket, client.interest(), client)

    def run(self, at_a_time):
        for _ in range(at_a_time):
            self.come()
        while self.selector.get_map():
            events = self.selector.select(seconds(30))
            assert events, f"{len(self.selector.get_map())} clients get " \
                f"nothing any more"
            for key, mask in events:
                self.turn(key.data, mask)

    def close(self):
        for key in list(self.selector.get_map().values()):
            key.fileobj.close()
        self.selector.close()


def check_order(proxy, scripts, at_a_time, leavers=0.0):
    """Run them all and see that each got what it had to."""
    crowd = Crowd(proxy.port(), scripts, leavers)
    begun = time.monotonic()
    try:
        crowd.run(at_a_time)
    finally:
        crowd.close()
    print(f"{crowd.finished} clients finished and {crowd.left} left in "
          f"{time.monotonic() - begun:.1f} s")
    return crowd


def start(world, servers, workers, connections, large_request="4kb",
          large_reply="16kb"):
    a, b, c = (server.address for server in servers)
    return world.proxy(CONFIG, workers=workers, connections=connections,
                       large_request=large_request, large_reply=large_reply,
                       a=a, b=b, c=c)


def count(proxy, name):
    return proxy.stats.value(f"pointsman_pool_{name}_total")


@pytest.mark.parametrize("workers, connections", [(1, 1), (2, 3)])
def test_two_thousand_clients_get_their_own_replies_in_order(
        world, three, workers, connections):
    raise_file_limit(6000)
    proxy = start(world, three, workers, connections)
    number = int(2000 / SLOW)
    scripts = (Script(n, 40, (3000, 40_000)) for n in range(number))
    crowd = check_order(proxy, scripts, number)
    assert crowd.finished == number
    assert count(proxy, "uploads") > 0
    assert count(proxy, "large_replies") > 0
    assert count(proxy, "requests_split") > 0


@pytest.mark.threads
@pytest.mark.parametrize("workers, connections", [(1, 3), (2, 1)])
def test_clients_that_leave_in_the_middle_disturb_no_others(
        world, three, workers, connections):
    raise_file_limit(6000)
    proxy = start(world, three, workers, connections)
    number = int(1500 / SLOW)
    scripts = (Script(n, 60, (3000, 40_000)) for n in range(number))
    crowd = check_order(proxy, scripts, 200, leavers=0.4)
    assert crowd.left > number / 5
    assert crowd.finished > number / 3
    assert crowd.left + crowd.finished == number


def test_values_over_the_usual_limits_keep_their_place(world, three):
    proxy = start(world, three, 2, 1, "64kb", "1mb")
    number = int(40 / SLOW) + 2
    scripts = (Script(n, 60, (50_000, 900_000)) for n in range(number))
    crowd = check_order(proxy, scripts, number)
    assert crowd.finished == number
    assert count(proxy, "uploads") > 0
