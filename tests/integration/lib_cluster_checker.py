"""Clients of a cluster pool who know what every reply must be.

Each works on keys of its own, in pipelines, and keeps a model of their values.
Two errors are allowed, and what they say is held against the proxy: what *was
not executed* leaves the model as it was; a key about which a command *may have
been executed* is retired, as nothing can be said about it any more.  In the end
the servers have what the models have.

Scripts count as well, and may be told of ASK and TRYAGAIN by the nodes
themselves.
"""

import itertools
import random
import threading

from harness import seconds
from lib_cluster import SLOTS
from resp import RawClient, encode

NOT_RUN = b"was not executed"
MAYBE = b"may have been executed"
OPS_A_ROUND = 12
BIG = 1 << 20
COUNT = "return redis.call('INCR', KEYS[1])"
FETCH = "return redis.call('GET', KEYS[1])"
OF_NODES = (b"-ASK ", b"-TRYAGAIN Multiple keys")
names = itertools.count()


def bulk(value):
    return b"$-1\r\n" if value is None else \
        b"$%d\r\n%b\r\n" % (len(value), value)


class Checker(threading.Thread):
    """One client; ask `problem` and the counts when it has ended."""

    def __init__(self, port, seed, stop):
        super().__init__(daemon=True)
        self.port = port
        self.number = next(names)  # no two ever have the same keys
        self.stop = stop
        self.random = random.Random(seed)
        self.model = {}
        self.fresh = 0
        self.keys = [self._new_key() for _ in range(8)]
        self.counters = [self._new_key() for _ in range(4)]
        self.done = self.not_run = self.maybe = self.of_nodes = 0
        self.kinds = {}
        self.problem = None

    # --- keys -------------------------------------------------------------------

    def _new_key(self):
        """Half of them stand in a slot that all clients share."""
        self.fresh += 1
        tag = "{move}" if self.fresh % 2 else ""
        return f"{tag}{self.number}:{self.fresh}".encode()

    def _retire(self, keys):
        for key in set(keys):
            some = self.keys if key in self.keys else self.counters
            some[some.index(key)] = self._new_key()
            self.model.pop(key, None)

    # --- what is sent, what must come -------------------------------------------

    def _value(self):
        size = BIG if self.random.random() < 0.002 else \
            self.random.randrange(1, 40)
        return b"%d" % self.random.randrange(10 ** 9) + b"x" * size

    def _op(self):
        pick = self.random.choice
        if self.random.random() < 0.3:
            return self._count_op(pick(self.counters))
        key, other = self.random.sample(self.keys, 2)
        name = pick(["SET", "SET", "GET", "GET", "APPEND", "DEL", "MSET",
                     "MGET", "MGET", "EXISTS", "STRLEN"])
        if name in ("SET", "APPEND"):
            return [name, key, self._value()]
        if name == "MSET":
            return [name, key, self._value(), other, self._value()]
        if name in ("MGET", "DEL", "EXISTS"):
            return [name, key, other]
        return [name, key]

    def _count_op(self, key):
        return self.random.choice([
            ["INCR", key], ["INCR", key], ["GET", key], ["DEL", key],
            ["EVAL", COUNT, 1, key], ["EVAL", FETCH, 1, key]])

    @staticmethod
    def _keys_of(op):
        return op[1::2] if op[0] == "MSET" else \
            [op[1]] if op[0] in ("SET", "APPEND") else \
            op[3:] if op[0] == "EVAL" else op[1:]

    def _apply(self, op):
        """Change the model; the reply that has to come."""
        name, model = op[0], self.model
        keys = self._keys_of(op)
        if name == "SET":
            model[op[1]] = op[2]
            return b"+OK\r\n"
        if name == "MSET":
            model.update(zip(op[1::2], op[2::2]))
            return b"+OK\r\n"
        if name == "APPEND":
            model[op[1]] = model.get(op[1], b"") + op[2]
            return b":%d\r\n" % len(model[op[1]])
        if name == "INCR" or op[1] == COUNT:
            model[keys[0]] = b"%d" % (int(model.get(keys[0], 0)) + 1)
            return b":%b\r\n" % model[keys[0]]
        if name == "GET" or op[1] == FETCH:
            return bulk(model.get(keys[0]))
        if name == "MGET":
            return b"*%d\r\n" % len(keys) + \
                b"".join(bulk(model.get(key)) for key in keys)
        if name == "STRLEN":
            return b":%d\r\n" % len(model.get(op[1], b""))
        there = sum(key in model for key in keys)
        if name == "DEL":
            for key in keys:
                model.pop(key, None)
        return b":%d\r\n" % there

    # --- going ------------------------------------------------------------------

    def _check(self, op, reply):
        self.done += 1
        if op[0] == "EVAL" and reply.startswith(OF_NODES):
            self.of_nodes += 1
            return
        if not reply.startswith(b"-") or not (NOT_RUN in reply or
                                              MAYBE in reply):
            expected = self._apply(op)
            assert reply == expected, \
                f"{self.number}: {op[0]} {self._keys_of(op)}: " \
                f"{reply[:100]} for {expected[:100]}"
            return
        word = reply.split(b" (")[0][:60]
        self.kinds[word] = self.kinds.get(word, 0) + 1
        if MAYBE in reply:
            self.maybe += 1
            self.retired.update(self._keys_of(op))
        else:
            self.not_run += 1

    def _round(self, client):
        ops = [self._op() for _ in range(OPS_A_ROUND)]
        self.retired = set()
        client.send_commands(ops)
        for op in ops:
            reply = client.read_reply()
            if self.retired.isdisjoint(self._keys_of(op)):
                self._check(op, reply)
            else:
                # Nor is anything known about the other keys now.
                self.done += 1
                self.retired.update(self._keys_of(op))
        self._retire(self.retired)

    def run(self):
        try:
            with PipelineClient("127.0.0.1", self.port,
                                seconds(40)) as client:
                while not self.stop.is_set():
                    self._round(client)
                self._read_all(client)
        except Exception as error:  # told by the thread that made us
            self.problem = error

    def _read_all(self, client):
        """In the end everything is as the model has it."""
        for key in self.keys + self.counters:
            reply = client.command("GET", key)
            assert reply == bulk(self.model.get(key)), (key, reply[:100])


class PipelineClient(RawClient):
    """Sends many commands at once."""

    def send_commands(self, ops):
        self.send(b"".join(encode(*op) for op in ops))


class Clients:
    """Some clients, each a thread, at work while the body of `with` runs."""

    def __init__(self, clients, stop):
        self.stop = stop
        self.clients = clients

    def __enter__(self):
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for client in self.clients:
            client.join(seconds(60))
            assert not client.is_alive(), "a client waits for ever"
        for client in self.clients:
            if client.problem is not None:
                raise client.problem

    def kinds(self):
        """How often each kind of error was told."""
        sums = {}
        for client in self.clients:
            for kind, count in client.kinds.items():
                sums[kind] = sums.get(kind, 0) + count
        return sums


class Crowd(Clients):
    """Some checkers at work."""

    def __init__(self, proxy, count=8):
        stop = threading.Event()
        super().__init__([Checker(proxy.port(), number, stop)
                          for number in range(count)], stop)

    def check_servers(self, cluster):
        """The owners have what the models have; call it at the end."""
        with Owners(cluster) as owners:
            for checker in self.clients:
                for key in checker.keys + checker.counters:
                    reply = owners.ask("GET", key)
                    assert reply == bulk(checker.model.get(key)), \
                        (key, reply[:100])

    def count(self, what):
        return sum(getattr(checker, what) for checker in self.clients)


class Owners:
    """A connection to each primary, while no slot moves."""

    def __init__(self, cluster):
        self.raws = []
        self.owners = [None] * SLOTS
        for node in cluster.primaries():
            raw = node.server.raw()
            self.raws.append(raw)
            for part in node.me()[8:]:
                ends = part.split("-")
                for slot in range(int(ends[0]), int(ends[-1]) + 1):
                    self.owners[slot] = raw

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for raw in self.raws:
            raw.close()

    def ask(self, name, key, *words):
        """The reply of the owner of the key's slot."""
        slot = int(self.raws[0].command("CLUSTER", "KEYSLOT", key)[1:])
        return self.owners[slot].command(name, key, *words)
