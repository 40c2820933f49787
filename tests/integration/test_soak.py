"""Hours of ordinary life in a few minutes: scripts/test-long runs it."""

import os
import random
import threading
import time

import pytest
import redis

from harness import SLOW, eventually, seconds

DURATION = float(os.environ.get("POINTSMAN_SOAK", "0"))
CLIENTS = 8
PAUSE_EVERY = 20    # seconds between two pauses of a server
PAUSE = 3           # longer than the deadline of a request

CONFIG = """
    pointsman:
      workers: 2
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: fnv1a_64
      request_timeout: 2s
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""


class Life:
    """One client that knows what it wrote and expects to read just that."""

    def __init__(self, proxy, number, over):
        self.proxy = proxy
        self.number = number
        self.over = over
        self.random = random.Random(number)
        self.made = 0
        self.known = {}
        self.requests = 0
        self.refused = 0
        self.problem = None
        while len(self.known) < 50:
            self.make_key()

    def make_key(self):
        self.made += 1
        self.known[f"{self.number}:{self.made}"] = None

    def retire(self, keys):
        """Never touch them again: a lost write may still happen one day."""
        for key in keys:
            del self.known[key]
            self.make_key()

    def run(self):
        try:
            while not self.over.is_set():
                self.visit()
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def visit(self):
        """Connect, do some things, leave."""
        with redis.Redis("127.0.0.1", self.proxy.port(),
                         socket_timeout=seconds(20)) as client:
            for _ in range(self.random.randrange(1, 300)):
                self.step(client)

    def step(self, client):
        action = self.random.choice(
            [self.write, self.write, self.read, self.read, self.read_many,
             self.remove])
        keys = self.random.sample(sorted(self.known), 5)
        try:
            action(client, keys)
            self.requests += 1
        except (redis.ResponseError, redis.ConnectionError):
            # A server is away, and what was asked may have been done.
            self.refused += 1
            self.retire(keys)

    def write(self, client, keys):
        size = self.random.choice([1, 10, 100, 1000, 20000, 300000])
        value = self.random.randbytes(8).hex().encode() * (size // 16 + 1)
        client.set(keys[0], value)
        self.known[keys[0]] = value

    def remove(self, client, keys):
        client.delete(*keys)
        for key in keys:
            self.known[key] = None

    def read(self, client, keys):
        self.compare(keys[:1], [client.get(keys[0])])

    def read_many(self, client, keys):
        self.compare(keys, client.mget(keys))

    def compare(self, keys, values):
        for key, value in zip(keys, values):
            assert value == self.known[key], f"{key} has a value of another"


def disturb_until(end, servers, lives, proxy, over):
    """Pause a server now and then; the proxy's memory, second by second."""
    memory = []
    while time.monotonic() < end and not any(life.problem for life in lives):
        over.wait(1)
        memory.append(proxy.rss_bytes())
        server = servers[len(memory) // PAUSE_EVERY % len(servers)]
        if len(memory) % PAUSE_EVERY == 0:
            server.pause()
            over.wait(seconds(PAUSE))
            server.resume()
    return memory


@pytest.mark.soak
def test_memory_stays_level_and_no_answer_is_mistaken(world, three):
    a, b, c = (server.address for server in three)
    proxy = world.proxy(CONFIG, a=a, b=b, c=c)
    over = threading.Event()
    lives = [Life(proxy, number, over) for number in range(CLIENTS)]
    threads = [threading.Thread(target=life.run) for life in lives]
    for thread in threads:
        thread.start()
    memory = disturb_until(time.monotonic() + DURATION, three, lives, proxy,
                           over)
    over.set()
    for thread in threads:
        thread.join(seconds(60))
    assert not [life.problem for life in lives if life.problem]
    done = sum(life.requests for life in lives)
    refused = sum(life.refused for life in lives)
    assert done > DURATION * 10 and refused < done / 10, (done, refused)
    if SLOW == 1:   # a sanitizer keeps what was freed
        early = max(memory[:len(memory) // 4 + 1])
        late = max(memory[-(len(memory) // 4 + 1):])
        assert late < early + (16 << 20), f"grew from {early} to {late} bytes"
    eventually(lambda: proxy.fd_count() < 40, 10, "descriptors to be closed")
