"""Servers that have names: where these lead, and when they lead elsewhere.

The name server is the test's own (lib_dns.py); servers of one name stand on one
port of several addresses of this host.
"""

import signal

import pytest

from harness import eventually, free_port
from lib_cluster import Cluster
from lib_dns import SERVFAIL, TYPE_AAAA, NameServer
from test_health import Neighbour

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      resolver: $dns
      resolve_timeout: $timeout
      resolve_ttl_min: 50ms
      resolve_ttl_max: $ttl_max
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      connect_timeout: 500ms
      reconnect_max: 200ms
      probe_interval: 100ms
      probe_timeout: 1s
      servers:
        - {name: a, address: "cache.test:$port", from: "a", before: "b"}
        - {name: b, address: "$b", from: "b", before: "c"}
"""

UNRESOLVED = (b"-CLUSTERDOWN proxy: no reachable primary for shard a, as the "
              b"name cache.test does not resolve, command was not executed\r\n")


class Pool:
    """Server b, a name for server a, and a client on each worker."""

    def __init__(self, world, dns, ttl_max="200ms", timeout="2s"):
        self.world = world
        self.dns = dns
        self.ttl_max = ttl_max
        self.timeout = timeout
        self.port = free_port()
        self.b = world.server()
        self.proxy = None
        self.clients = []

    def start(self):
        self.proxy = self.world.proxy(CONFIG, **self.values())
        self.clients = [self.proxy.raw() for _ in range(2)]
        return self

    def values(self):
        return {"dns": self.dns.address, "b": self.b.address,
                "port": self.port, "ttl_max": self.ttl_max,
                "timeout": self.timeout}

    def server_at(self, host):
        return self.world.server("--protected-mode", "no", host=host,
                                 port=self.port)

    def expect_a(self, reply):
        for client in self.clients:
            eventually(lambda client=client:
                       client.command("SET", "a1", "v") == reply)

    def expect_a_always(self, count=20):
        for _ in range(count):
            for client in self.clients:
                assert client.command("SET", "a1", "v") == b"+OK\r\n"

    def wait_for_questions(self, count=3):
        """So many more about the name."""
        wanted = self.dns.count("cache.test") + count
        eventually(lambda: self.dns.count("cache.test") >= wanted)

    def addresses(self):
        return {labels["address"] for name, labels, _ in
                self.proxy.stats.metrics()
                if name == "pointsman_server_address" and
                labels["server"] == "a"}

    def value(self, name, **labels):
        return self.proxy.stats.value(f"pointsman_{name}", **labels)


@pytest.fixture(name="dns")
def name_server():
    server = NameServer()
    try:
        yield server
    finally:
        server.close()


def test_a_pool_starts_before_a_name_resolves(world, dns):
    pool = Pool(world, dns).start()
    pool.expect_a(UNRESOLVED)
    for client in pool.clients:
        assert client.command("SET", "b1", "v") == b"+OK\r\n"
    eventually(lambda: pool.proxy.stats.get("/readyz")[0] == 503)
    assert pool.value("names_unknown") == 1
    assert pool.addresses() == set()
    assert len(pool.proxy.events("name does not resolve")) == 1
    a = pool.server_at("127.0.0.2")
    dns.set("cache.test", a=["127.0.0.2"])
    pool.expect_a(b"+OK\r\n")
    assert a.client().get("a1") == b"v"
    assert pool.addresses() == {f"127.0.0.2:{pool.port}"}
    assert pool.value("names_known") == 1
    assert pool.value("names_answers_total", result="no_name") >= 1
    assert pool.value("names_answers_total", result="found") >= 1
    event = pool.proxy.wait_for_event("addresses of name")
    assert event["name"] == "cache.test" and event["now"] == "127.0.0.2"
    eventually(lambda: pool.proxy.stats.get("/readyz")[0] == 200)


def test_a_name_that_leads_elsewhere_is_followed(world, dns):
    """What the old server was sent is answered there, and then it is left."""
    pool = Pool(world, dns, timeout="200ms")
    old, new = pool.server_at("127.0.0.2"), pool.server_at("127.0.0.3")
    dns.set("cache.test", a=["127.0.0.2"])
    pool.start()
    pool.expect_a(b"+OK\r\n")
    watcher = old.client()
    assert watcher.get("a1") == b"v"
    neighbour = Neighbour(pool.proxy)
    dns.set("cache.test", a=["127.0.0.3"])
    pool.proxy.wait_for_event("addresses of name", now="127.0.0.3",
                              was="127.0.0.2")
    eventually(lambda: len(watcher.client_list()) == 1)
    pool.expect_a_always()
    assert new.client().get("a1") == b"v"
    for answer in {}, {"rcode": SERVFAIL}:  # the first: no address at all
        dns.set("cache.test", **answer)
        pool.wait_for_questions()
        pool.expect_a_always()
    dns.silent = True
    pool.wait_for_questions()
    pool.expect_a_always()
    neighbour.end()
    assert pool.addresses() == {f"127.0.0.3:{pool.port}"}
    assert pool.value("names_answers_total", result="failed") >= 1
    eventually(lambda:
               pool.value("names_answers_total", result="timeout") >= 1)


def test_a_failed_connection_asks_for_the_name_again(world, dns):
    """An answer that would hold for an hour does not hold for the dead."""
    pool = Pool(world, dns, ttl_max="1h")
    old, new = pool.server_at("127.0.0.2"), pool.server_at("127.0.0.3")
    dns.set("cache.test", a=["127.0.0.2"], ttl=3600)
    pool.start()
    pool.expect_a(b"+OK\r\n")
    dns.set("cache.test", a=["127.0.0.3"], ttl=3600)
    old.kill()
    pool.expect_a(b"+OK\r\n")
    assert new.client().get("a1") == b"v"
    assert pool.value("names_hints_total") >= 1


def test_addresses_are_tried_in_turn(world, dns):
    """Nobody is at the first ones; the last is of the other kind."""
    pool = Pool(world, dns)
    a = pool.server_at("::1")
    dns.set("cache.test", a=["127.0.0.4", "127.0.0.5"], aaaa=["::1"])
    pool.start()
    pool.expect_a(b"+OK\r\n")
    assert a.client().get("a1") == b"v"
    assert pool.value("server_address_failures_total", server="a") >= 2
    assert pool.addresses() == {f"127.0.0.4:{pool.port}",
                                f"127.0.0.5:{pool.port}",
                                f"[::1]:{pool.port}"}
    # Given in another order it is the same answer.
    dns.set("cache.test", a=["127.0.0.5", "127.0.0.4"], aaaa=["::1"])
    pool.wait_for_questions()
    # Of one kind nothing is told: that is no reason to forget it.
    dns.set("cache.test", a=["127.0.0.4", "127.0.0.5"], failing=[TYPE_AAAA])
    pool.wait_for_questions()
    pool.expect_a_always()
    assert len(pool.proxy.events("addresses of name")) == 1
    # There are none: it is.
    dns.set("cache.test", a=["127.0.0.4", "127.0.0.5"])
    pool.proxy.wait_for_event("addresses of name", was="127.0.0.4,127.0.0.5,::1")


@pytest.mark.threads
def test_reloads_keep_names_and_add_some(world, dns):
    pool = Pool(world, dns)
    a = pool.server_at("127.0.0.2")
    dns.set("cache.test", a=["127.0.0.2"])
    dns.set("other.test", a=["127.0.0.2"])
    dns.truncate = True  # so that everything is asked for again by TCP
    pool.start()
    pool.expect_a(b"+OK\r\n")
    ids = {client["id"] for client in a.client().client_list()}
    text = world.make_proxy(CONFIG, **pool.values())
    with open(text.config_path, encoding="utf-8") as file:
        config = file.read()
    pool.proxy.write_config(config + (
        f'    - {{name: c, address: "other.test:{pool.port}", from: "c", '
        'before: "d"}\n'))
    pool.proxy.signal(signal.SIGHUP)
    pool.proxy.wait_for_event("reloaded")
    for client in pool.clients:
        # Whoever comes before the answer of the name server waits for it.
        eventually(lambda client=client:
                   client.command("SET", "c1", "v") != b"-ERR proxy: key c1 "
                   b"belongs to no shard\r\n")
        assert client.command("SET", "c1", "v") == b"+OK\r\n"
        assert client.command("SET", "a1", "v") == b"+OK\r\n"
    assert a.client().get("c1") == b"v"
    now = {client["id"] for client in a.client().client_list()}
    assert len(ids & now) >= 2  # those to server a
    dns.silent = True
    for _ in range(3):
        count = len(pool.proxy.events("reloaded"))
        pool.proxy.signal(signal.SIGHUP)
        pool.proxy.wait_for_event("reloaded", count=count + 1)
        pool.expect_a_always(3)


def test_the_hosts_file_comes_first(world, dns):
    """And keys go where they go when the servers are written as addresses."""
    a, b = world.start_servers(2)
    pool = """
          listen: 127.0.0.1:0
          redis: true
          distribution: ketama
          hash: fnv1a_64
    """
    proxy = world.proxy(f"""
        pointsman:
          resolver: $dns
        named:{pool}
          servers: ["localhost:$a:1 a", "localhost:$b:1 b"]
        numbered:{pool}
          servers: ["127.0.0.1:$a:1 a", "127.0.0.1:$b:1 b"]
        """, dns=dns.address, a=a.port, b=b.port)
    named, numbered = proxy.client("named"), proxy.client("numbered")
    for key in range(50):
        named.set(f"key{key}", key)
    assert all(numbered.get(f"key{key}") == b"%d" % key for key in range(50))
    assert a.client().dbsize() > 0 and b.client().dbsize() > 0
    assert not dns.questions


def test_seeds_and_nodes_of_a_cluster_have_names(world, dns):
    """Nobody is at the address that the node tells of itself."""
    cluster = Cluster(world, 1, 0, arguments=(
        "--cluster-announce-ip", "127.0.0.9",
        "--cluster-announce-hostname", "node.test",
        "--cluster-preferred-endpoint-type", "hostname"))
    port = cluster.nodes[0].port
    proxy = world.proxy("""
        pointsman:
          workers: 2
          stats: 127.0.0.1:0
          resolver: $dns
          resolve_timeout: 200ms
          resolve_ttl_min: 50ms
        pool:
          listen: 127.0.0.1:0
          distribution: slots
          cluster: ["seed.test:$port"]
        """, dns=dns.address, port=port)
    proxy.expect_errors("no node of the cluster gives a map")
    event = proxy.wait_for_event("node gives no map of its cluster")
    assert event["reason"] == "its name does not resolve"
    dns.set("node.test", a=["127.0.0.1"])
    dns.set("seed.test", a=["127.0.0.4", "127.0.0.1"])
    proxy.wait_for_event("map of cluster changed")
    for _ in range(2):  # workers
        assert proxy.client().set("key", "value")
    assert {labels["address"] for name, labels, _ in proxy.stats.metrics()
            if name == "pointsman_server_address"} == \
        {f"127.0.0.1:{port}", f"127.0.0.9:{port}"}
    cluster.nodes[0].server.kill()
    eventually(lambda: proxy.stats.value(
        "pointsman_server_closed_total", server=f"node.test:{port}",
        reason="server_eof") >= 1)
