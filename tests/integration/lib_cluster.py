"""A real cluster for one test: made, resharded, failed over, torn down.

Nodes are servers of the test's World, so they end with it.  Slots move the
way of SETSLOT and MIGRATE, one step at a time where a test wants to stand in
the middle: between begin() and end() of a Move keys that are still at the
source answer, others get ASK there and TRYAGAIN where keys are at both.
"""

import threading
import time

import redis

from harness import eventually, free_port, seconds

SLOTS = 16384
NODE_TIMEOUT_MS = 2000
# For ends of words that an exception may carry while a node is in trouble.
TROUBLE = (redis.RedisError, OSError)


CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    pool:
      listen: 127.0.0.1:0
      distribution: slots
      cluster: [$seeds]
"""


def start_proxy(world, seeds, **settings):
    """A proxy with the pool of a cluster, and more settings of that."""
    lines = [f"      {key}: {value}\n" for key, value in settings.items()]
    return world.proxy(CONFIG + "".join(lines), seeds=seeds)


def insist(act, condition, every, what):
    """Act, and again after so many seconds, until the condition is true."""
    last = -every

    def has_come():
        nonlocal last
        if time.monotonic() > last + every:
            last = time.monotonic()
            act()
        return condition()

    eventually(has_come, 40, what)


def is_dead(words):
    """As a line of CLUSTER NODES has it; "fail?" is but one node's guess."""
    return "fail" in words[2].split(",")


class Node:
    """One server of a cluster."""

    def __init__(self, server):
        self.server = server
        self.node_id = self.command("CLUSTER", "MYID")

    @property
    def port(self):
        return self.server.port

    @property
    def address(self):
        return self.server.address

    def command(self, *words, timeout=10):
        """Ask this node over a connection of its own; a str where it is one."""
        client = redis.Redis("127.0.0.1", self.server.port,
                             socket_timeout=seconds(timeout),
                             single_connection_client=True)
        try:
            # Nothing shall be made of the reply.
            client.response_callbacks.clear()
            reply = client.execute_command(*words)
        finally:
            client.close()
        return reply.decode() if isinstance(reply, bytes) else reply

    def lines(self):
        """What CLUSTER NODES says here, a list of words a node."""
        text = self.command("CLUSTER", "NODES")
        return [line.split() for line in text.splitlines()]

    def me(self):
        return next(words for words in self.lines() if "myself" in words[2])

    def is_primary(self):
        return "master" in self.me()[2]

    def is_well(self):
        """Its cluster is ok, and it has its link when it is a replica."""
        info = self.command("CLUSTER", "INFO")
        role = self.command("ROLE")
        return "cluster_state:ok" in info and \
            (role[0] == b"master" or role[3] == b"connected")


class Move:
    """One slot on its way from one primary to another."""

    def __init__(self, cluster, slot, target):
        self.cluster = cluster
        self.slot = slot
        self.source = cluster.owner(slot)
        self.target = target

    def begin(self):
        self.target.command("CLUSTER", "SETSLOT", self.slot, "IMPORTING",
                            self.source.node_id)
        self.source.command("CLUSTER", "SETSLOT", self.slot, "MIGRATING",
                            self.target.node_id)
        return self

    def keys(self, count=100):
        """Some keys that are still at the source."""
        return self.source.command("CLUSTER", "GETKEYSINSLOT", self.slot,
                                   count)

    def carry(self, *keys):
        """Take these keys over to the target."""
        if keys:
            self.source.command("MIGRATE", "127.0.0.1", self.target.port, "",
                                0, 10000, "KEYS", *keys)

    def carry_all(self):
        while keys := self.keys():
            self.carry(*keys)

    def end(self):
        """The target first, so that no moment is without an owner."""
        nodes = [self.target, self.source] + [
            node for node in self.cluster.primaries()
            if node not in (self.target, self.source)]
        for node in nodes:
            node.command("CLUSTER", "SETSLOT", self.slot, "NODE",
                         self.target.node_id)

    def run(self):
        self.begin()
        self.carry_all()
        self.end()


class Cluster:
    """`primaries` nodes with all slots, each with `replicas` behind it."""

    def __init__(self, world, primaries=3, replicas=1, arguments=()):
        self.world = world
        self.arguments = list(arguments)
        count = primaries * (1 + replicas)
        self.nodes = [self._start_node() for _ in range(count)]
        self._give_slots(self.nodes[:primaries])
        self._meet()
        for number, node in enumerate(self.nodes[primaries:]):
            self._replicate(node, self.nodes[number % primaries])
        self.wait()

    # --- making it ------------------------------------------------------------

    def _start_node(self):
        server = self.world.server(
            "--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf",
            "--cluster-port", str(free_port()),
            "--cluster-node-timeout", str(NODE_TIMEOUT_MS),
            "--cluster-replica-validity-factor", "0",
            "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
            *self.arguments, name=f"node{len(self.world.servers) + 1}")
        return Node(server)

    @staticmethod
    def _give_slots(primaries):
        bounds = [SLOTS * i // len(primaries)
                  for i in range(len(primaries) + 1)]
        for number, node in enumerate(primaries):
            node.command("CLUSTER", "ADDSLOTSRANGE", bounds[number],
                         bounds[number + 1] - 1)
            node.command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)

    def _bus_port(self, node):
        return int(node.me()[1].split("@")[1].split(",")[0])

    def _meet(self):
        """All with the first: a node that is slow may miss it, and is asked again."""
        first = self.nodes[0]
        others = self.nodes[1:]
        words = ("CLUSTER", "MEET", "127.0.0.1", first.port,
                 self._bus_port(first))

        def strangers():
            known = {words[0] for words in first.lines()}
            return [node for node in others if node.node_id not in known]

        def meet():
            for node in strangers():
                node.command(*words)

        insist(meet, lambda: not strangers(), 3, "the nodes to meet")

    @staticmethod
    def _replicate(node, primary):
        def knows():
            return any(words[0] == primary.node_id and "master" in words[2]
                       for words in node.lines())

        eventually(knows, 20, "a replica to hear of its primary")
        node.command("CLUSTER", "REPLICATE", primary.node_id)

    def wait(self, nodes=None):
        """Until every node thinks well of the cluster and all say the same."""
        nodes = nodes or self.nodes

        def is_well():
            views = [self._roles(node) for node in nodes]
            return all(view == views[0] for view in views) and \
                len(views[0]) >= len(nodes) and \
                all(node.is_well() for node in nodes)

        eventually(is_well, 40, "the cluster to be well")

    @staticmethod
    def _roles(node):
        """Who is what, and whose, and has which slots, as a node sees it."""
        return sorted(
            (words[0], words[2].replace("myself,", ""), words[3],
             *(part for part in words[8:] if part[0] != "["))
            for words in node.lines())

    # --- asking it ------------------------------------------------------------

    def node(self, node_id):
        return next(n for n in self.nodes if n.node_id == node_id)

    def primaries(self):
        """Those alive that own slots, as a live node sees it."""
        return [self.node(words[0]) for words in self.view()
                if "master" in words[2] and not is_dead(words) and
                len(words) > 8]

    def view(self):
        for node in self.nodes:
            if not node.server.process.is_running():
                continue
            try:
                return node.lines()
            except TROUBLE:
                continue
        raise AssertionError("no node of the cluster answers")

    @staticmethod
    def _owner_in(lines, slot):
        for words in lines:
            for part in words[8:]:
                ends = part.split("-")
                if not part.startswith("[") and \
                        int(ends[0]) <= slot <= int(ends[-1]):
                    return words[0]
        return None

    def owner(self, slot):
        """The primary that owns a slot."""
        owner = self._owner_in(self.view(), slot)
        assert owner is not None, f"slot {slot} has no owner"
        return self.node(owner)

    def is_agreed(self, slot):
        """Do all primaries say the same of a slot, and know all epochs?

        If it is moved before, two of them may take the same epoch, and claim it
        both from then on.
        """
        views = [(self._owner_in(node.lines(), slot), next(
            line for line in node.command("CLUSTER", "INFO").split("\r\n")
            if line.startswith("cluster_current_epoch:")))
                 for node in self.primaries()]
        return len(set(views)) == 1

    def owner_of(self, key):
        return self.owner(self.slot(key))

    def slot(self, key):
        return self.nodes[0].command("CLUSTER", "KEYSLOT", key)

    def replicas_of(self, primary):
        return [self.node(words[0]) for words in self.view()
                if words[3] == primary.node_id and not is_dead(words)]

    def seeds(self, count=1):
        """For the configuration: addresses of the first nodes."""
        return ", ".join(node.address for node in self.nodes[:count])

    def get(self, key):
        """The value as the owner has it."""
        return self.owner_of(key).server.client().get(key)

    # --- bad days -------------------------------------------------------------

    def move(self, slot, target):
        """Move a slot with its keys."""
        Move(self, slot, target).run()

    def move_key(self, key, target):
        self.move(self.slot(key), target)

    def fail_over(self, replica):
        """A planned failover to a replica, until it has happened.

        Under load one may time out, after five seconds, without a word.
        """
        insist(lambda: replica.command("CLUSTER", "FAILOVER"),
               replica.is_primary, 6, "the failover")

    def wait_for_new_primary(self, dead):
        """After a death: until somebody else owns what the dead one had."""
        def is_replaced():
            owners = self.primaries()
            return dead not in owners and sum(
                self._slot_count(words) for words in self.view()
                if "master" in words[2] and not is_dead(words)) == SLOTS

        eventually(is_replaced, 40, "a replica to take over")

    @staticmethod
    def _slot_count(words):
        ends = [part.split("-") for part in words[8:] if part[0] != "["]
        return sum(int(pair[-1]) - int(pair[0]) + 1 for pair in ends)


class Background:
    """Calls turn() again and again, in a thread, for as long as a `with` lasts."""

    def __init__(self):
        self.problem = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        if self.problem is not None:
            raise self.problem

    def is_over(self):
        return self._stop.is_set()

    def _run(self):
        try:
            while not self.is_over():
                self.turn()
        except Exception as error:  # told by the thread that made us
            self.problem = error

    def turn(self):
        raise NotImplementedError


class Resharder(Background):
    """Moves given slots to and fro in a thread until it is told to stop."""

    def __init__(self, cluster, slots, step=None):
        super().__init__()
        self.cluster = cluster
        self.slots = slots
        self.step = step or (lambda move: None)
        self.moves = 0

    def _move(self, slot):
        primaries = self.cluster.primaries()
        owner = self.cluster.owner(slot)
        target = primaries[(primaries.index(owner) + 1) % len(primaries)]
        move = Move(self.cluster, slot, target).begin()
        while keys := move.keys(1):
            move.carry(*keys)
            self.step(move)
        self.step(move)
        move.end()
        self.moves += 1
        eventually(lambda: self.cluster.is_agreed(slot), 40,
                   "all primaries to agree on a slot that was moved")

    def turn(self):
        for slot in self.slots:
            if self.is_over():
                break
            self._move(slot)
