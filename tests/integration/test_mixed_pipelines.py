"""Several clients at once, each with pipelines of small and large requests.

Each says the same to a server directly: the bytes must be equal, so nothing
may overtake, get lost or reach a neighbour.  Small, large and split
requests take different ways through the proxy, which is what may go wrong.
"""

import random
import threading

import pytest

from harness import seconds
from resp import encode

THREE = """
    pointsman:
      workers: 2
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: md5
      large_request: 16kb
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""

CLIENTS = 6
ROUNDS = 25
SIZES = [1000, 17_000, 70_000, 300_000]


class Client:
    """One client, which says the same in two places; its keys are its own."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(number)
        self.problem = None

    def key(self):
        return f"{self.number}:{self.random.randrange(8)}"

    def value(self):
        large = self.random.random() < 0.05
        size = (self.random.choice(SIZES) if large
                else self.random.randrange(50))
        return bytes([self.random.randrange(65, 91)]) * size

    def request(self):
        keys = [self.key() for _ in range(4)]
        return self.random.choice([
            ["SET", self.key(), self.value()],
            ["SET", self.key(), self.value()],
            ["GET", self.key()], ["GET", self.key()], ["STRLEN", self.key()],
            ["APPEND", self.key(), self.value()[:3000]],
            ["GETSET", self.key(), self.value()],
            ["MGET", *keys], ["DEL", *keys[:2]], ["EXISTS", *keys],
            ["MSET", *[word for key in keys for word in (key, self.value())]],
            ["ECHO", self.value()], ["INCR", self.key()]])

    def send(self, raw, data):
        """In pieces of any size."""
        sizes = random.Random(len(data))
        while data:
            size = sizes.choice([1, 100, 5000, 20_000, 1 << 20])
            raw.send(data[:size])
            data = data[size:]

    def ask(self, raw, requests):
        """Send while reading, as clients with many requests have to."""
        data = b"".join(encode(*words) for words in requests)
        sender = threading.Thread(target=self.send, args=(raw, data))
        sender.start()
        try:
            return raw.read_replies(len(requests))
        finally:
            sender.join(seconds(30))

    def play(self, through, direct):
        for _ in range(ROUNDS):
            requests = [self.request()
                        for _ in range(self.random.randint(1, 100))]
            ours = self.ask(through, requests)
            theirs = self.ask(direct, requests)
            for words, a, b in zip(requests, ours, theirs):
                assert a == b, (words[:2], a[:80], len(a), b[:80], len(b))

    def run(self, through, direct):
        try:
            self.play(through, direct)
        except (AssertionError, OSError) as problem:
            self.problem = problem


@pytest.mark.threads
def test_pipelines_of_many_clients_get_the_bytes_of_one_server(world, three):
    a, b, c = (server.address for server in three)
    proxy = world.proxy(THREE, a=a, b=b, c=c)
    plain = world.server()
    clients = [Client(number) for number in range(CLIENTS)]
    threads = [threading.Thread(target=client.run, daemon=True,
                                args=(proxy.raw(timeout=30), plain.raw()))
               for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds(60))
        assert not thread.is_alive(), "a client waits for ever"
    problems = [client.problem for client in clients if client.problem]
    assert problems == []


def key_at(server, proxy):
    """A key that stands at this server."""
    client, direct = proxy.client(), server.client()
    for number in range(1000):
        key = f"at:{number}"
        client.set(key, number)
        if direct.exists(key):
            return key
    raise AssertionError("no key goes to this server")


def test_what_is_answered_does_not_wait_for_a_silent_server(world, three):
    """Answers to one pipeline leave together, but not at any price."""
    a, b, c = (server.address for server in three)
    proxy = world.proxy(THREE, a=a, b=b, c=c)
    here, there = key_at(three[0], proxy), key_at(three[1], proxy)
    value = proxy.client().get(here)
    raw = proxy.raw()
    three[1].pause()
    try:
        raw.send(encode("GET", here) + encode("INCR", there)
                 + encode("GET", here))
        assert raw.read_reply() == b"$%d\r\n%s\r\n" % (len(value), value)
    finally:
        three[1].resume()
    assert raw.read_replies(2)[0].startswith(b":")
