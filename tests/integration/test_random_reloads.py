"""A pool that becomes another, again and again, under clients and faults.

Each reload draws another kind of pool, over other servers, with other settings;
clients say anything that a client may say, and leave at any moment; servers are
frozen, killed and failed over, and slots change hands.  No answer is judged: the
proxy must live, a sanitizer must find nothing, and in the end nobody may be left
waiting.  POINTSMAN_SEED plays the same reloads again, and POINTSMAN_RELOADS says
for how many seconds.
"""

import contextlib
import os
import random
import signal
import socket
import struct
import threading
import time

from harness import eventually
from lib_cluster import TROUBLE, Background, Cluster
from lib_faults import SEED, is_quiet
from lib_sentinel import Sentinels
from resp import encode
from test_reload import head, hup, start

DURATION = float(os.environ.get("POINTSMAN_RELOADS", "8"))
CLIENTS = 14
KEYS = ["a", "b", "c", "d", "{t}a", "{t}b", "{u}a"]
RESET = struct.pack("ii", 1, 0)

# Each of these is there or not; of several lines all are.
SETTINGS = [
    "pipeline_limit: 1", "pipeline_limit: 4",
    "large_request: 16kb\nretry_buffer: 16kb", "transactions: direct",
    "server_connections: 1", "arguments_limit: 16",
    "split_transactions: true", "carry_values: true", "gather_sets: true",
    "preconnect: true", "connections_per_server: 3", "script_cache: 0",
    "auth: servers", "tracking: direct", "monitor_scripts: true",
    "client_output_limit: 64kb\nlarge_reply: 16kb", "client_idle_timeout: 1s",
    "stall_grace: 100ms", "pubsub_output_limit: 64kb", "retry_reads: false",
    "on_server_down: nil", "resubscribe: false", "learn_commands: false",
    "databases: 4", "max_keys: 2", "slowlog_log_slower_than: 0",
    "server_idle_timeout: 1s", "connect_timeout: 200ms",
    "probe_interval: 200ms\nprobe_timeout: 100ms", "transaction_limit: 32kb",
    "request_limit: 64kb", "connects_per_second: 20",
    "tracking_table_max_keys: 3", 'server_commands: "+@all"',
    'commands: "+@all -@dangerous"', "latency_monitor_threshold: 1ms",
    "cluster_emulation: true"]

# K stands for a key, V for a value, N for the id of some client.
COMMANDS = [line.split() for line in """
SET K V|GET K|INCR K|APPEND K V|LPUSH K V|LRANGE K 0 -1|RPUSH K z z z|DEL K K
MGET K K K|MSET K V K V|SADD K m|SMOVE K K m|XADD K * f v|PING|ECHO x|GET
MULTI|MULTI|EXEC|EXEC|DISCARD|WATCH K|UNWATCH|RESET|QUIT|HELLO 2|HELLO 3
CLIENT REPLY ON|CLIENT REPLY OFF|CLIENT REPLY SKIP|SELECT 0|SELECT 1
SUBSCRIBE c1|SUBSCRIBE c2|UNSUBSCRIBE|PSUBSCRIBE p*|SSUBSCRIBE s|SUNSUBSCRIBE
PUBLISH c1 m|SPUBLISH s m|NOSUCH K|BLPOP K 0.1|BLPOP K 0|BLPOP {t}a {t}b 1
XREAD BLOCK 0 STREAMS K K $ $|XREAD BLOCK 100 STREAMS K K $ $
EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 1 K|SCRIPT LOAD return
RENAME K K|COPY K K|SUNIONSTORE K K K|SINTER K K|WAIT 0 10|WAIT 1 30
KEYS *|SCAN 0|DBSIZE|FLUSHALL|INFO|INFO keyspace|MONITOR|CLIENT LIST
CLIENT TRACKING ON|CLIENT TRACKING ON BCAST|CLIENT TRACKING ON NOLOOP
CLIENT TRACKING OFF|CLIENT PAUSE 20 WRITE|CLIENT PAUSE 20 ALL
CLIENT UNBLOCK N|CLIENT KILL ID N|SLOWLOG GET|COMMAND DOCS get
COMMAND INFO nosuch|FUNCTION LIST|AUTH default x
""".replace("\n", "|").strip("|").split("|")] + [
    ["EVAL", "return redis.call('get', KEYS[1])", "1", "K"],
    ["EVAL", "return redis.error_reply('MOVED 1 127.0.0.1:1')", "1", "K"]]


class Life(Background):
    """A client after the other; the random numbers are those of the thread."""

    def __init__(self, port, number):
        super().__init__()
        self.port = port
        self.random = random.Random(SEED + number)
        self.is_slow = number % 5 == 0

    def _word(self, word):
        if word == "K":
            return self.random.choice(KEYS)
        if word == "V":
            return "y" * self.random.choice([1, 1, 50, 3000, 70000])
        return self.random.randint(1, 300) if word == "N" else word

    def _requests(self):
        count = self.random.choice([1, 1, 3, 10])
        return b"".join(
            encode(*map(self._word, self.random.choice(COMMANDS)))
            for _ in range(count))

    def turn(self):
        with socket.socket() as client:
            client.settimeout(2)
            try:
                client.connect(("127.0.0.1", self.port))
                client.settimeout(0.02)
                self._talk(client)
            except OSError:
                pass  # it has been closed, or has had enough
            if self.random.random() < 0.5:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    def _talk(self, client):
        for _ in range(self.random.randint(1, 60)):
            try:
                client.sendall(self._requests())
                if not self.is_slow and not client.recv(1 << 16):
                    return
            except socket.timeout:
                pass


class Demon:
    """Draws the pools, and what happens to servers meanwhile."""

    def __init__(self, world):
        self.random = random.Random(SEED)
        self.plain = world.start_servers(4)
        self.cluster = Cluster(world, replicas=0)
        self.sentinels = Sentinels(world, ("m0", "m1"), replicas=1, count=1)
        self.servers = self.plain + \
            [node.server for node in self.cluster.nodes] + \
            [s for shard in self.sentinels.shards for s in shard.servers]

    # --- pools ----------------------------------------------------------------

    def _some(self, things):
        return self.random.sample(things, self.random.randint(1, len(things)))

    def listed(self):
        way = self.random.choice(["ketama", "modula", "modulo", "random"])
        servers = "".join(
            f"    - {{name: s{self.plain.index(server)}, "
            f'address: "{server.address}"}}\n'
            for server in self._some(self.plain))
        tag = self.random.choice(["", '  hash_tag: "{}"\n'])
        return f"  distribution: {way}\n{tag}  servers:\n{servers}"

    def slots(self):
        nodes = self.random.sample(self.cluster.nodes, 3)
        return "  distribution: slots\n  servers:\n" + "".join(
            f'    - "{node.address}:1"\n' for node in nodes)

    def of_cluster(self):
        seeds = ", ".join(node.address
                          for node in self._some(self.cluster.nodes))
        return f"  distribution: slots\n  cluster: [{seeds}]\n" + self._reads()

    def named(self):
        servers = "".join(f"    - {{name: {name}, master: {name}}}\n"
                          for name in self._some(["m0", "m1"]))
        return "  distribution: ketama\n" + self._reads() + \
            f"  sentinels: [{self.sentinels.addresses}]\n  servers:\n{servers}"

    def _reads(self):
        return self.random.choice(["", "  read_from: prefer_replica\n"])

    def config(self):
        kind = self.random.choice([self.listed, self.of_cluster, self.named] * 3
                                  + [self.slots])
        drawn = {}
        for lines in SETTINGS:
            if self.random.random() < 0.25:
                drawn[lines.split(":")[0]] = lines
        return pool_of(kind() + "".join(
            f"  {line}\n" for lines in drawn.values()
            for line in lines.split("\n")))

    # --- faults ---------------------------------------------------------------

    def harm(self):
        """Whatever it is, a server may be away."""
        deed = self.random.choice([
            self.kill, self.freeze, self.cut, self.flip, self.flip, self.flip,
            self.fail_over, self.fail_over])
        try:
            deed()
        except TROUBLE:
            pass

    def kill(self):
        server = self.random.choice(self.servers)
        server.kill()
        time.sleep(self.random.random() * 0.5)
        server.start()

    def freeze(self):
        server = self.random.choice(self.servers)
        server.pause()
        time.sleep(self.random.random())
        server.resume()

    def cut(self):
        server = self.random.choice(self.servers)
        server.client().execute_command(
            "CLIENT", "KILL", "TYPE", self.random.choice(["normal", "pubsub"]))

    def flip(self):
        """A slot changes hands, or is said to, with its keys or without."""
        slot = self.cluster.slot(self.random.choice(KEYS))
        old, new = self.random.sample(self.cluster.nodes, 2)
        how = self.random.random()
        if how < 0.3:
            old.command("CLUSTER", "SETSLOT", slot, "MIGRATING", new.node_id)
            new.command("CLUSTER", "SETSLOT", slot, "IMPORTING", old.node_id)
            return
        for node in self.cluster.nodes:
            if how < 0.5:
                node.command("CLUSTER", "SETSLOT", slot, "STABLE")
            else:
                node.command("FLUSHALL")
                node.command("CLUSTER", "SETSLOT", slot, "NODE", new.node_id)

    def fail_over(self):
        self.sentinels.sentinels[0].command(
            "SENTINEL", "FAILOVER", self.random.choice(["m0", "m1"]))


def pool_of(lines):
    return head() + "demo:\n  listen: 127.0.0.1:0\n" + \
        "  request_timeout: 2s\n" + lines


def reload(proxy, demon):
    """Without waiting for it: the next one may come while it goes on."""
    proxy.write_config(demon.config())
    proxy.signal(signal.SIGHUP)


def play(proxy, demon):
    over = threading.Event()

    def reloads():
        while not over.wait(demon.random.random() * 0.3):
            reload(proxy, demon)

    side = threading.Thread(target=reloads)
    side.start()
    end = time.monotonic() + DURATION
    while time.monotonic() < end and proxy.is_running():
        demon.harm()
        time.sleep(demon.random.random() * 0.3)
    over.set()
    side.join()


def only_blocked_are_left(raw):
    """Of the clients that have left.

    Behind a command without an end so much may have been sent that the proxy
    does not see the end of it before the client's system gives up.
    """
    reply = raw.command("CLIENT", "LIST").decode()
    left = [dict(field.partition("=")[::2] for field in line.split(" "))
            for line in reply.split("\n") if line.startswith("id=")]
    others = [each for each in left
              if "b" not in each["flags"] and each["cmd"] != "client|list"]
    assert not others, others
    return True


def test_random_reloads_leave_nobody_waiting(world):
    print(f"POINTSMAN_SEED={SEED}")
    demon = Demon(world)
    last = pool_of(f'  servers: ["{demon.plain[0].address}:1"]\n')
    proxy = start(world, last)
    proxy.expect_errors("")  # servers are down, and so is the cluster
    with contextlib.ExitStack() as stack:
        for number in range(CLIENTS):
            stack.enter_context(Life(proxy.port(), number))
        play(proxy, demon)
    assert proxy.is_running()
    hup(proxy, last)
    print(f"{len(proxy.events('reloaded'))} reloads")
    with proxy.raw() as raw:
        eventually(lambda: only_blocked_are_left(raw), 30, "answers to all")
        raw.command("CLIENT", "KILL", "TYPE", "normal")
        eventually(lambda: is_quiet(proxy), 10, "no request to be left")
        eventually(lambda: raw.command("SET", "k", "v") == b"+OK\r\n", 20)
        assert demon.plain[0].client().get("k") == b"v"
