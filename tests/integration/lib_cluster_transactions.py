"""Clients who push each entry to two lists, in transactions.

As in lib_cluster_log.py, and the two lists of a pair are the same in the end.
Half of the pairs stand in the slot of {move}.
"""

import threading

from lib_cluster_checker import MAYBE, NOT_RUN, Clients, Owners
from lib_cluster_log import Writer, Writers, entries

QUEUED = b"+QUEUED\r\n"


class Transactor(Writer):
    """One client; `said` tells of each entry what EXEC has said."""

    def __init__(self, port, stop):
        super().__init__(port, stop)
        tags = [b"{move}", b"{%d}" % self.number]
        self.pairs = [(b"%ba:%d" % (tag, self.number),
                       b"%bb:%d" % (tag, self.number)) for tag in tags]
        self.sent = {key: [] for pair in self.pairs for key in pair}
        self.keys = list(self.sent)
        self.broken = 0

    def _transaction(self, pair):
        entry = b"%d.%d" % (self.number, len(self.said))
        for key in pair:
            self.sent[key].append(entry)
        self.said[entry] = "maybe"
        return entry, [["RPUSH", pair[0], entry], ["EXISTS", *pair],
                       ["RPUSH", pair[1], entry]]

    def _verdict_of_exec(self, queued, reply):
        if reply == b"*-1\r\n":
            self.broken += 1
            return "not run"
        if reply[:1] == b"*":
            _, first, _, last = reply.rstrip().split(b"\r\n")
            assert queued and first == last, (first, last)
            return "acknowledged"
        word = reply.split(b" (")[0][:60]
        self.kinds[word] = self.kinds.get(word, 0) + 1
        if MAYBE in reply:
            return "maybe"
        assert NOT_RUN in reply or reply.startswith(b"-EXECABORT "), reply
        return "not run"

    def _run_one(self, client, pair):
        """All at once, or each when what is before is answered; with keys that
        are watched, or without."""
        entry, ops = self._transaction(pair)
        before = [["WATCH", pair[0]]] if self.random.random() < 0.3 else []
        ops = [*before, ["MULTI"], *ops, ["EXEC"]]
        if self.random.random() < 0.5:
            client.send_commands(ops)
            replies = [client.read_reply() for _ in ops]
        else:
            replies = [client.command(*op) for op in ops]
        queued = replies[len(before) + 1:-1]
        for reply in queued:
            assert reply == QUEUED or NOT_RUN in reply, reply
        self.said[entry] = self._verdict_of_exec(
            queued == [QUEUED] * len(queued), replies[-1])

    def _round(self, client):
        self._run_one(client, self.random.choice(self.pairs))


class Transactors(Writers):
    """Some of them at work."""

    def __init__(self, proxy, count=3):
        stop = threading.Event()
        Clients.__init__(self, [Transactor(proxy.port(), stop)
                                for _ in range(count)], stop)

    def check_servers(self, cluster):
        lost = super().check_servers(cluster)
        with Owners(cluster) as owners:
            for client in self.clients:
                for pair in client.pairs:
                    one, other = [entries(owners.ask("LRANGE", key, 0, -1))
                                  for key in pair]
                    assert one == other, "half of a transaction was executed"
        return lost
