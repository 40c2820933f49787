"""Real Sentinels over real primaries and replicas, for one test or a module.

The Sentinels know each other and the replicas from their files, so that no time
goes by until they have met.  All of them are processes of the test's World and
end with it.
"""

import os
import secrets
import threading

import redis

from harness import Process, RedisServer, eventually, free_port, seconds

DOWN_AFTER_MS = 500
FAILOVER_TIMEOUT_MS = 3000
QUORUM = 2
REPLICATION = ("--repl-diskless-sync-delay", "0",
               "--repl-ping-replica-period", "1")

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      state_file: $state
    pool:
      listen: 127.0.0.1:0
      distribution: $distribution
      hash: md5
      sentinels: [$sentinels]
      servers: [$servers]
"""


def is_ready(proxy):
    return proxy.stats.get("/readyz")[0] == 200


def started(proxy):
    """The proxy, when all masters are somewhere."""
    proxy.start()
    eventually(lambda: is_ready(proxy), 10, "the masters to be known")
    return proxy


def fail_over(sentinels, shard=0):
    """Ask for a failover until a Sentinel has begun one."""
    old = sentinels.primary(shard)

    def begun():
        try:
            sentinels.sentinels[0].command(
                "SENTINEL", "FAILOVER", sentinels.shards[shard].name)
        except redis.ResponseError:
            return False
        return True
    eventually(begun, 20, "a failover to begin")
    return old, sentinels.wait_for_switch(old, shard)


def says_master(server):
    return server.client().execute_command("ROLE")[0] == b"master"


class Shard:
    """A primary that Sentinels watch under a name, and its replicas."""

    def __init__(self, world, name, replicas, host="127.0.0.1"):
        self.name = name
        options = (*REPLICATION, "--replica-announce-ip", host)
        self.servers = [world.server(*options, name=f"{name}-0")]
        for number in range(1, replicas + 1):
            self.servers.append(world.server(
                *options, "--replicaof", host,
                str(self.servers[0].port), name=f"{name}-{number}"))

    def wait_for_replicas(self):
        for replica in self.servers[1:]:
            client = replica.client()
            eventually(lambda c=client: c.execute_command("ROLE")[3] ==
                       b"connected", 20, f"{replica.name} to follow")

    def server_at(self, port):
        return next(s for s in self.servers if s.port == port)


class Sentinel(RedisServer):
    """One redis-sentinel, which keeps its port and what it learns."""

    def __init__(self, world, number, run_id):
        super().__init__(world.folder, f"sentinel{number}")
        self.run_id = run_id
        self.port = free_port()
        self.config_path = os.path.join(self.folder, "sentinel.conf")

    def write_config(self, shards, others, host):
        lines = [f"port {self.port}", "bind 127.0.0.1", "protected-mode no",
                 f"dir {self.folder}", f"sentinel myid {self.run_id}"]
        if host != "127.0.0.1":
            lines += ["sentinel resolve-hostnames yes",
                      "sentinel announce-hostnames yes"]
        for shard in shards:
            name, primary = shard.name, shard.servers[0]
            lines += [
                f"sentinel monitor {name} {host} {primary.port} {QUORUM}",
                f"sentinel down-after-milliseconds {name} {DOWN_AFTER_MS}",
                f"sentinel failover-timeout {name} {FAILOVER_TIMEOUT_MS}"]
            lines += [f"sentinel known-replica {name} {host} {s.port}"
                      for s in shard.servers[1:]]
            lines += [f"sentinel known-sentinel {name} 127.0.0.1 {o.port} "
                      f"{o.run_id}" for o in others]
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")

    def _argv(self):
        return ["redis-sentinel", self.config_path]

    def spawn(self):
        self.process = Process(self._argv(),
                               os.path.join(self.folder, "log"))
        return self

    def command(self, *words):
        client = redis.Redis("127.0.0.1", self.port,
                             socket_timeout=seconds(5))
        try:
            client.response_callbacks.clear()
            return client.execute_command(*words)
        finally:
            client.close()

    def rewrite(self, name, server, epoch):
        """While it is dead: it believes that `name` is at this server."""
        with open(self.config_path, "w", encoding="utf-8") as file:
            file.write(f"port {self.port}\nbind 127.0.0.1\n"
                       f"protected-mode no\ndir {self.folder}\n"
                       f"sentinel myid {self.run_id}\n"
                       f"sentinel monitor {name} 127.0.0.1 {server.port} 2\n"
                       f"sentinel config-epoch {name} {epoch}\n")

    def master_port(self, name):
        return int(self.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME",
                                name)[1])


class Sentinels:
    """Three Sentinels, or more, over some shards; all know these by `host`."""

    def __init__(self, world, names=("acc1",), replicas=2, count=3,
                 host="127.0.0.1"):
        self.world = world
        self.shards = [Shard(world, name, replicas, host) for name in names]
        for shard in self.shards:
            shard.wait_for_replicas()
        self.sentinels = [Sentinel(world, number, secrets.token_hex(20))
                          for number in range(count)]
        for sentinel in self.sentinels:
            others = [o for o in self.sentinels if o is not sentinel]
            sentinel.write_config(self.shards, others, host)
            world.servers.append(sentinel.spawn())
        eventually(self._are_met, 20, "the Sentinels to know all")

    def _are_met(self):
        """Each reaches all, and no replica is thought to be down."""
        for sentinel in self.sentinels:
            for shard in self.shards:
                flat = sentinel.command("SENTINEL", "MASTER", shard.name)
                fields = dict(zip(flat[::2], flat[1::2]))
                assert fields[b"flags"] == b"master", fields
                others = sentinel.command("SENTINEL", "SENTINELS",
                                          shard.name)
                assert len(others) == len(self.sentinels) - 1
                assert all(b"sentinel" in flat for flat in others), others
                replicas = sentinel.command("SENTINEL", "REPLICAS",
                                            shard.name)
                assert len(replicas) == len(shard.servers) - 1
                for flat in replicas:
                    fields = dict(zip(flat[::2], flat[1::2]))
                    assert fields[b"flags"] == b"slave", fields
                    assert fields[b"master-link-status"] == b"ok", fields
        return True

    @property
    def state_path(self):
        """Where the proxies keep epochs."""
        return os.path.join(self.world.folder, "epochs")

    @property
    def addresses(self):
        return ", ".join(s.address for s in self.sentinels)

    def proxy(self, seeds=None, distribution="modulo", **settings):
        """A proxy over all shards, not started yet, with more settings."""
        lines = [f"      {key}: {value}\n" for key, value in settings.items()]
        servers = ", ".join(
            f"{{name: s-{shard.name}, master: {shard.name}}}"
            for shard in self.shards)
        return self.world.make_proxy(CONFIG + "".join(lines),
                                     state=self.state_path,
                                     distribution=distribution,
                                     sentinels=seeds or self.addresses,
                                     servers=servers)

    def primary_by(self, sentinel, shard=0):
        """The primary, as one Sentinel sees it."""
        shard = self.shards[shard]
        return shard.server_at(sentinel.master_port(shard.name))

    def primary(self, shard=0):
        """The server of which all Sentinels that run say it is the primary."""
        shard = self.shards[shard]
        running = [s for s in self.sentinels if s.process.is_running()]
        ports = {s.master_port(shard.name) for s in running}
        assert len(ports) == 1, ports
        return shard.server_at(ports.pop())

    def wait_for_switch(self, old, shard=0):
        """The new primary, when it is another one for all Sentinels."""
        def switched():
            primary = self.primary(shard)
            return primary if primary is not old else None
        return eventually(switched, 30, "a failover")


class Writer(threading.Thread):
    """Increments keys in pipelines, and remembers what was acknowledged."""

    def __init__(self, proxy, number):
        super().__init__(daemon=True)
        self.client = proxy.client(socket_timeout=seconds(20))
        self.key = f"writer:{number}"
        self.acknowledged = 0
        self.errors = []
        self.stopping = threading.Event()
        self.start()

    def run(self):
        while not self.stopping.is_set():
            pipeline = self.client.pipeline(transaction=False)
            for _ in range(5):
                pipeline.incr(self.key)
            for reply in pipeline.execute(raise_on_error=False):
                if isinstance(reply, Exception):
                    self.errors.append(reply)
                else:
                    self.acknowledged += 1

    def stop(self):
        self.stopping.set()
        self.join(seconds(30))
        assert not self.is_alive()
