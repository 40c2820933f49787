"""Clients who push numbered entries to lists, and the lists in the end.

A primary that dies or freezes takes acknowledged writes with it, so no model of
values holds.  But no entry may be in a list twice, none of which the proxy said
that it was not executed may be there at all, and entries that were acknowledged
stand in the order in which they were sent.
"""

import itertools
import random
import re
import threading

from harness import seconds
from lib_cluster_checker import (MAYBE, NOT_RUN, Clients, Owners,
                                 PipelineClient, bulk)

PUSH = "redis.call('RPUSH', KEYS[1], ARGV[1]); return ARGV[1]"
# What nodes say before a script runs, which reaches its client.
OF_NODES = (b"-ASK ", b"-TRYAGAIN ", b"-CLUSTERDOWN ", b"-LOADING ",
            b"-READONLY ", b"-MASTERDOWN ")
OPS_A_ROUND = 8
names = itertools.count()


class Writer(threading.Thread):
    """One client; ask `problem`, `said` and `sent` when it has ended."""

    def __init__(self, port, stop):
        super().__init__(daemon=True)
        self.port = port
        self.stop = stop
        self.number = next(names)
        self.random = random.Random(self.number)
        self.keys = [b"log:%d:%d" % (self.number, i) for i in range(6)]
        self.sent = {key: [] for key in self.keys}
        self.said = {}  # of each entry: acknowledged, not run, maybe
        self.kinds = {}
        self.reads = 0
        self.problem = None

    def _op(self):
        key = self.random.choice(self.keys)
        entry = b"%d.%d" % (self.number, sum(map(len, self.sent.values())))
        name = self.random.choice(["RPUSH", "RPUSH", "EVAL", "LRANGE", "ECHO"])
        if name == "LRANGE":
            return [name, key, -1, -1]
        if name == "ECHO":
            return [name, key]
        self.sent[key].append(entry)
        return [name, key, entry] if name == "RPUSH" else \
            [name, PUSH, 1, key, entry]

    def _is_right(self, op, reply):
        if op[0] == "RPUSH":
            return reply[:1] == b":" and \
                0 < int(reply[1:]) <= len(self.sent[op[1]])
        if op[0] == "LRANGE":
            found = entries(reply)
            return reply[:1] == b"*" and len(found) <= 1 and \
                set(found) <= set(self.sent[op[1]])
        return reply == bulk(op[-1])

    def _verdict(self, op, reply):
        """What the reply says of the command."""
        if reply[:1] != b"-":
            assert self._is_right(op, reply), (op, reply)
            return "acknowledged"
        word = reply.split(b" (")[0][:60]
        self.kinds[word] = self.kinds.get(word, 0) + 1
        if MAYBE in reply:
            return "maybe"
        assert NOT_RUN in reply or op[0] == "EVAL" and \
            reply.startswith(OF_NODES), (op, reply)
        return "not run"

    def _round(self, client):
        ops = [self._op() for _ in range(OPS_A_ROUND)]
        client.send_commands(ops)
        for op in ops:
            verdict = self._verdict(op, client.read_reply())
            if op[0] in ("RPUSH", "EVAL"):
                self.said[op[-1]] = verdict
            else:
                self.reads += verdict == "acknowledged"

    def run(self):
        try:
            with PipelineClient("127.0.0.1", self.port,
                                seconds(40)) as client:
                while not self.stop.is_set():
                    self._round(client)
        except Exception as error:  # told by the thread that made us
            self.problem = error

    def check(self, key, found):
        """Whether this may be the list; how many acknowledged ones are lost."""
        place = {entry: i for i, entry in enumerate(self.sent[key])}
        assert len(set(found)) == len(found), "an entry is there twice"
        assert set(found) <= set(place), "an entry of somebody else"
        ran = [entry for entry in found if self.said[entry] == "not run"]
        assert not ran, f"was executed: {ran}"
        order = [place[entry] for entry in found
                 if self.said[entry] == "acknowledged"]
        assert order == sorted(order), "out of order"
        return sum(self.said[entry] == "acknowledged"
                   for entry in place) - len(order)


def entries(reply):
    """The elements of an array of entries."""
    return re.findall(rb"\$\d+\r\n(\S+)\r\n", reply)


class Writers(Clients):
    """Some writers at work."""

    def __init__(self, proxy, count=6):
        stop = threading.Event()
        super().__init__([Writer(proxy.port(), stop) for _ in range(count)],
                         stop)

    def count(self, verdict):
        return sum(list(writer.said.values()).count(verdict)
                   for writer in self.clients)

    def check_servers(self, cluster):
        """In the end; how many acknowledged entries the servers have lost."""
        with Owners(cluster) as owners:
            return sum(
                writer.check(key, entries(owners.ask("LRANGE", key, 0, -1)))
                for writer in self.clients for key in writer.keys)
