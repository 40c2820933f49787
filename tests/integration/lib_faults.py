"""Judges of a proxy whose servers or clients are at fault.

A Tally sends INCRs and keeps count of what each answer promised; the servers'
own numbers then say whether the promises were kept.  A Neighbour is a client of
the servers that are well, and wants every answer, right and soon.
"""

import os
import random
import re
import threading

from harness import eventually, seconds
from lib_clock import now
from lib_relay import Relay
from resp import encode

CONFIG = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      backlog: 4096
      redis: true
      distribution: modulo
      hash: crc32
      request_timeout: $timeout
      reconnect_max: 200ms
      servers:
        - {name: a, address: "$a"}
        - {name: b, address: "$b"}
        - {name: c, address: "$c"}
"""

# Of what is drawn at random: with the same number the same.
SEED = int(os.environ.get("POINTSMAN_SEED", "0")) or \
    random.SystemRandom().randrange(1, 1 << 32)

BUSY = {"pointsman_" + name for name in [
    "pool_requests_in_flight", "pool_held_bytes", "server_in_queue",
    "server_in_queue_bytes", "server_out_queue", "server_out_queue_bytes"]}

REMARK = rb"( \(proxy: other parts may have been executed\))?"
UNREACHABLE = (rb"CLUSTERDOWN proxy: no reachable primary for shard \w+, "
               rb"command was not executed")
LATE_UNSENT = (rb"ERR proxy: shard \w+ did not answer in \d+ ms, the command "
               rb"was not executed")
LOST = (rb"ERR proxy: connection to shard \w+ was lost, the command may have "
        rb"been executed")
LATE_SENT = (rb"ERR proxy: shard \w+ did not answer in \d+ ms, the command may "
             rb"have been executed")
LOADING = rb"LOADING [^\r]*"
REFUSED = re.compile(b"-(" + UNREACHABLE + b"|" + LATE_UNSENT + b"|" + LOADING +
                     b")" + REMARK + b"\r\n")
UNKNOWN = re.compile(b"-(" + LOST + b"|" + LATE_SENT + b")" + REMARK + b"\r\n")


def is_quiet(proxy, more=frozenset()):
    """Nothing of BUSY is anywhere, nor of more such metrics."""
    busy = [sample for sample in proxy.stats.metrics()
            if sample[2] and sample[0] in BUSY | more]
    assert not busy, busy
    return True


class Pool:
    """Servers a, b and c behind the proxy; a is reached through a relay."""

    def __init__(self, world, workers=1, timeout="2s"):
        self.servers = world.start_servers(3)
        self.direct = [server.client() for server in self.servers]
        self.relay = Relay(self.servers[0].port)
        _, b, c = (server.address for server in self.servers)
        self.proxy = world.proxy(CONFIG, a=self.relay.address, b=b, c=c,
                                 workers=workers, timeout=timeout)
        self.raw = self.proxy.raw(timeout=30)
        # A lane to each server, and keys that live there.
        for i in range(60):
            assert self.raw.command("SET", f"key{i}", "v") == b"+OK\r\n"
        self.keys = [sorted(client.keys()) for client in self.direct]
        assert min(map(len, self.keys)) > 5
        self.fds = self.proxy.fd_count()

    def close(self):
        self.relay.close()

    def tally(self, shard=0, number=0):
        """A counter that stands at 0 on this shard."""
        key = self.keys[shard][number + 2]
        self.direct[shard].delete(key)
        return Tally(key)

    def check(self, tally, shard=0):
        tally.check(self.direct[shard].get(tally.key))

    def neighbours(self):
        return Neighbours(self, 2)

    def is_well(self):
        """Server a answers through the proxy again."""
        return self.raw.command("EXISTS", self.keys[0][0]) == b":1\r\n"

    def is_quiet(self):
        """Nobody waits for anything, and nothing is kept for anybody."""
        return is_quiet(self.proxy)

    def settle(self, clients=1):
        """After a fault: all is well, and nothing has been left behind."""
        self.relay.mend()
        eventually(self.is_well, 20, "the server to be used again")
        eventually(self.is_quiet, 20, "all requests to be over")
        eventually(lambda: self.proxy.stats.value(
            "pointsman_pool_client_connections") == clients, 10,
            "clients that left to be gone")
        self.check_marks()

    def check_marks(self):
        """Every reply is that of its own request."""
        keys = [key for keys in self.keys for key in keys[-2:]]
        for key in keys:
            assert self.raw.command("SET", key, b"mark " + key) == b"+OK\r\n"
        replies = self.raw.pipeline(*(["GET", key] for key in keys))
        assert replies == [b"$%d\r\nmark %b\r\n" % (len(key) + 5, key)
                           for key in keys]


class Tally:
    """INCRs of one counter, by whichever clients."""

    def __init__(self, key):
        self.key = key
        self.acknowledged = 0
        self.refused = 0
        self.unknown = 0
        self.last = 0
        self.texts = []

    @property
    def sent(self):
        return self.acknowledged + self.refused + self.unknown

    def note(self, reply):
        """Count an answer; those of one client must rise."""
        if reply.startswith(b":"):
            value = int(reply[1:])
            assert value > self.last, f"{value} after {self.last}"
            self.last = value
            self.acknowledged += 1
            return
        self.texts.append(reply)
        if REFUSED.fullmatch(reply):
            self.refused += 1
        else:
            assert UNKNOWN.fullmatch(reply), reply
            self.unknown += 1

    def send(self, raw, count):
        """A pipeline of so many, without a look at the answers."""
        raw.send(encode("INCR", self.key) * count)

    def run(self, raw, count):
        """A pipeline, every answer of which must come, in time."""
        self.send(raw, count)
        for reply in raw.read_replies(count):
            self.note(reply)

    def check(self, value):
        """The server's number keeps what was promised."""
        value = int(value or 0)
        assert self.acknowledged <= value <= \
            self.acknowledged + self.unknown, (value, vars(self))


class Bystander(threading.Thread):
    """A client that takes its step() again and again, to be judged by."""

    def __init__(self, proxy):
        super().__init__()
        self.raw = proxy.raw(timeout=30)
        self.requests = 0
        self.slowest = 0.0
        self.problem = None
        self.over = threading.Event()

    def run(self):
        try:
            while not self.over.is_set():
                begin = now()
                self.step()
                self.slowest = max(self.slowest, now() - begin)
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error
        finally:
            self.raw.close()

    def end(self):
        """Nothing has happened to it, and it was there."""
        self.over.set()
        self.join()
        assert self.problem is None, repr(self.problem)
        assert self.requests > 20


class Neighbour(Bystander):
    """A client of servers b and c that gets every answer."""

    def __init__(self, pool, number):
        super().__init__(pool.proxy)
        self.keys = [pool.keys[1][1], pool.keys[2][1]]

    def step(self):
        for key in self.keys:
            assert self.raw.command("GET", key) == b"$1\r\nv\r\n"
        assert self.raw.command("MGET", *self.keys) == \
            b"*2\r\n" + b"$1\r\nv\r\n" * 2
        assert self.raw.command("EXISTS", *self.keys) == b":2\r\n"
        self.requests += 4


class Neighbours:
    """Some of them, at work inside a `with`."""

    def __init__(self, pool, count):
        self.all = [Neighbour(pool, number) for number in range(count)]

    def __enter__(self):
        for each in self.all:
            each.start()
        self.wait_for_more()
        return self

    def wait_for_more(self, count=4):
        """Let each of them finish some more requests."""
        for each in self.all:
            goal = each.requests + count
            eventually(lambda each=each, goal=goal: each.problem or
                       each.requests >= goal, 10, "a neighbour's answers")
            assert each.problem is None, each.problem

    def __exit__(self, kind, *_):
        for each in self.all:
            each.over.set()
        for each in self.all:
            each.join(seconds(30))
        if kind is None:
            self.judge()

    def judge(self):
        for each in self.all:
            assert each.problem is None, repr(each.problem)
            assert each.slowest < seconds(2), f"{each.slowest:.2f} s"
