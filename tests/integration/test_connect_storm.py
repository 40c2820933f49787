"""A server that comes back to hundreds of clients who all want it at once.

Each client is in a database of its own, and so needs a connection of its own;
the server itself tells how many were made.
"""

import concurrent.futures
import time

from harness import eventually, seconds
from lib_faults import Bystander, Tally

CLIENTS = 200
PIPELINE = 20
PACE = 100          # connections a second
BURST = PACE // 4   # and so many at once
OTHERS = 10         # connections of the test, and those for probes

CONFIG = """
    pointsman:
      workers: 3
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      databases: 1000
      connects_per_second: $pace
      reconnect_max: 200ms
      servers:
        - {name: a, address: "$a", from: a, before: b}
        - {name: b, address: "$b", from: b, before: c}
"""


class Neighbour(Bystander):
    """A client of the other server."""

    def step(self):
        assert self.raw.command("INCR", "b1") == b":%d\r\n" % (
            self.requests + 1)
        self.requests += 1
        self.over.wait(0.002)


class Storm:
    """Clients that all ask at the same time."""

    def __init__(self, proxy):
        self.clients = [proxy.raw(timeout=30) for _ in range(CLIENTS)]
        self.tallies = [Tally(f"a{i}") for i in range(CLIENTS)]
        for i, client in enumerate(self.clients):
            assert client.command("SELECT", i) == b"+OK\r\n"

    def pairs(self):
        return zip(self.clients, self.tallies)

    def ask(self):
        for client, tally in self.pairs():
            tally.send(client, PIPELINE)

    def hear(self):
        for client, tally in self.pairs():
            for reply in client.read_replies(PIPELINE):
                tally.note(reply)

    def acknowledged(self):
        return sum(tally.acknowledged for tally in self.tallies)

    def until_all_is_well(self):
        """Ask until every request of a round is executed."""
        before = None
        while before is None or \
                self.acknowledged() != before + CLIENTS * PIPELINE:
            before = self.acknowledged()
            self.ask()
            self.hear()

    def check(self, server):
        raw = server.raw()
        for i, tally in enumerate(self.tallies):
            assert raw.command("SELECT", i) == b"+OK\r\n"
            reply = raw.command("GET", tally.key)
            tally.check(reply.split(b"\r\n")[1])


def watch_pace(server, began, job):
    """Look at what the server counts while the job is done."""
    counted = server.client()
    made = 0
    while not job.done():
        made = counted.info("stats")["total_connections_received"]
        passed = time.monotonic() - began
        assert made <= OTHERS + BURST + PACE * passed, (made, passed)
        concurrent.futures.wait([job], 0.02)
    job.result()
    return made


def test_a_server_that_comes_back_is_connected_to_at_its_pace(world):
    a = world.server("--appendonly", "yes", "--databases", "1000")
    proxy = world.proxy(CONFIG, a=a.address, b=world.server().address,
                        pace=PACE)
    neighbour = Neighbour(proxy)
    storm = Storm(proxy)
    neighbour.start()
    storm.until_all_is_well()
    a.pause()
    storm.ask()
    eventually(lambda: proxy.stats.value("pointsman_pool_requests_in_flight")
               >= CLIENTS * PIPELINE)
    a.kill()
    storm.hear()
    assert sum(tally.unknown for tally in storm.tallies) > CLIENTS
    waits = proxy.stats.value("pointsman_server_connect_waits_total",
                              server="a")
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(1) as side:
        job = side.submit(storm.until_all_is_well)
        a.start()
        made = watch_pace(a, began, job)
    assert made >= CLIENTS
    assert proxy.stats.value("pointsman_server_connect_waits_total",
                             server="a") > waits
    storm.check(a)
    neighbour.end()
    assert neighbour.slowest < seconds(2)
