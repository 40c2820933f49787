"""Clients made for clusters find one in any pool, as its only node.

What they are told is compared with a real server that is a cluster by itself,
but for its id and its ports.
"""

import os
import re
import socket

import pytest
from redis.cluster import ClusterNode, RedisCluster

from harness import eventually, running_world, seconds
from lib_clients import CLIENTS, node_modules, run
from lib_cluster import Cluster
from resp import RawClient

POOLS = """
    pointsman:
      workers: 2
    native:
      listen: 127.0.0.1:0
      distribution: slots
      cluster: [$seed]
      cluster_emulation: true
    ring:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: md5
      cluster_emulation: true
      servers: ["$a:1 a", "$b:1 b"]
    announced:
      listen: 127.0.0.1:0
      redis: true
      databases: 16
      distribution: ketama
      hash: md5
      cluster_emulation: true
      announce: proxy.example:7000
      servers: ["$a:1 a", "$b:1 b"]
"""

# Asked of the real one as well; ID is the node's own.
SCRIPT = [
    ("CLUSTER", "SLOTS"), ("CLUSTER", "SHARDS"), ("CLUSTER", "NODES"),
    ("CLUSTER", "INFO"), ("CLUSTER", "MYID"), ("CLUSTER", "LINKS"),
    ("CLUSTER", "KEYSLOT", "a"), ("CLUSTER", "KEYSLOT", "x{tag}y{z}"),
    ("CLUSTER", "KEYSLOT", "{}a"), ("CLUSTER", "KEYSLOT", ""),
    ("CLUSTER", "REPLICAS", "ID"), ("CLUSTER", "SLAVES", "ID"),
    ("CLUSTER", "REPLICAS", "ID0"), ("CLUSTER", "SLAVES", ""),
    ("CLUSTER", "COUNT-FAILURE-REPORTS", "ID"),
    ("CLUSTER", "COUNT-FAILURE-REPORTS", "nobody"),
    ("CLUSTER", "COUNTKEYSINSLOT", "16384"),
    ("CLUSTER", "COUNTKEYSINSLOT", "-1"), ("CLUSTER", "COUNTKEYSINSLOT", "x"),
    ("CLUSTER", "GETKEYSINSLOT", "16384", "1"),
    ("CLUSTER", "GETKEYSINSLOT", "x", "1"),
    ("CLUSTER", "GETKEYSINSLOT", "1", "x"),
    ("CLUSTER", "GETKEYSINSLOT", "1", "-1"), ("CLUSTER", "GETKEYSINSLOT", "1"),
    ("CLUSTER",), ("CLUSTER", "NOSUCH"), ("CLUSTER", "SLOTS", "x"),
    ("READONLY",), ("READWRITE",), ("ASKING",), ("READONLY", "x"),
    ("SELECT", "0"), ("SELECT", "1"), ("SELECT", "-1"), ("SELECT", "x"),
    ("HELLO",), ("CONFIG", "GET", "cluster-enabled"),
    ("CONFIG", "GET", "cluster-require-full-coverage"),
    ("INFO", "cluster"), ("ROLE",),
]


class Place:
    """Who is asked, and what its replies have that others' have not."""

    def __init__(self, port):
        self.port = port

    def raw(self):
        return RawClient("127.0.0.1", self.port, seconds(10))

    def play(self, version):
        with self.raw() as raw:
            raw.command("HELLO", version)
            own_id = raw.command("CLUSTER", "MYID").split(b"\r\n")[1]
            assert re.fullmatch(b"[0-9a-f]{40}", own_id)
            return [self._general(raw.command(*(
                word.replace("ID", own_id.decode()) for word in words)),
                own_id) for words in SCRIPT]

    def _general(self, reply, own_id):
        reply = reply.replace(own_id, b"ID").replace(b"%d" % self.port, b"PORT")
        reply = re.sub(rb"PORT@\d+", b"PORT@BUS", reply)
        reply = re.sub(rb"[$=]\d+\r\n(txt:)?ID ", rb"\1ID ", reply)
        return re.sub(rb"(\$2\r\nid\r\n:)\d+", rb"\1N", reply)


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world, replicas=0)


@pytest.fixture(scope="module")
def values(world, cluster):
    a, b = world.start_servers(2)
    return {"seed": cluster.seeds(), "a": a.address, "b": b.address}


@pytest.fixture(scope="module")
def proxy(world, values):
    return world.proxy(POOLS, **values)


@pytest.fixture(params=["native", "ring"])
def port(proxy, request):
    return proxy.port(request.param)


@pytest.fixture(scope="module")
def alone(world):
    """A server that is a cluster by itself."""
    server = world.server("--cluster-enabled", "yes", "--cluster-announce-ip",
                          "127.0.0.1", "--cluster-port", "0")
    client = server.client()
    client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", 1)
    eventually(lambda: b"cluster_state:ok" in
               server.raw().command("CLUSTER", "INFO"))
    return server


# --- what is told -----------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_replies_are_those_of_a_cluster_of_one_node(alone, port, version):
    ours, theirs = Place(port).play(version), Place(alone.port).play(version)
    assert [(words, a, b) for words, a, b in zip(SCRIPT, ours, theirs)
            if a != b] == []


def test_info_and_client_info_know_of_it(port):
    with Place(port).raw() as raw:
        assert b"redis_mode:cluster\r\n" in raw.command("INFO", "server")
        for words, flags in ((("READONLY",), b" flags=r "),
                             (("READWRITE",), b" flags=N "),
                             (("READONLY",), b" flags=r "),
                             (("RESET",), b" flags=N ")):
            raw.command(*words)
            assert flags in raw.command("CLIENT", "INFO")


@pytest.mark.parametrize("words", [
    ("CLUSTER", "RESET"), ("CLUSTER", "SETSLOT", "1", "STABLE"),
    ("CLUSTER", "FAILOVER"), ("CLUSTER", "ADDSLOTS", "1")])
def test_what_changes_a_cluster_is_refused(port, words):
    with Place(port).raw() as raw:
        assert raw.command(*words) == (
            "-ERR command 'cluster|%s' is not supported through this proxy\r\n"
            % words[1].lower()).encode()


def test_every_pool_is_a_node_of_its_own_and_stays_it(world, values, proxy):
    def ids(which):
        return [which.raw(pool).command("CLUSTER", word)
                for pool in ("native", "ring", "announced")
                for word in ("MYID", "MYSHARDID")]
    first = ids(proxy)
    assert len(set(first)) == 6
    assert ids(world.proxy(POOLS, **values)) == first


def test_the_address_that_is_announced_is_told(proxy):
    raw = proxy.raw("announced")
    assert b"$13\r\nproxy.example\r\n:7000\r\n" in \
        raw.command("CLUSTER", "SLOTS")
    assert b" proxy.example:7000@" in raw.command("CLUSTER", "NODES")
    shards = raw.command("CLUSTER", "SHARDS")
    assert shards.count(b"$13\r\nproxy.example\r\n") == 2
    assert b"port\r\n:7000\r\n" in shards


def test_several_databases_may_be_selected_if_the_pool_has_them(proxy):
    raw = proxy.raw("announced")
    assert raw.command("SELECT", 3) == b"+OK\r\n"
    assert raw.command("SELECT", 16).startswith(b"-ERR DB index")


def test_clients_of_a_unix_socket_stay_where_they_are(world, values):
    path = os.path.join(world.folder, "socket")
    proxy = world.proxy("""
        ring:
          listen: [$path, "[::]:0"]
          redis: true
          distribution: ketama
          cluster_emulation: true
          servers: ["$a:1 a", "$b:1 b"]
    """, path=path, **values)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect(path)
        unix.sendall(b"CLUSTER SLOTS\r\nREADONLY\r\nCLIENT INFO\r\n")
        reply = b""
        while b"flags=" not in reply:
            reply += unix.recv(4096)
    assert b":16383\r\n*4\r\n$0\r\n\r\n:0\r\n$40\r\n" in reply
    assert b" flags=Ur " in reply
    port = proxy.port("ring")
    for host in ("::1", "127.0.0.1"):
        with RawClient(host, port, seconds(10)) as raw:
            assert b"$%d\r\n%s\r\n:%d\r\n" % (len(host), host.encode(), port) \
                in raw.command("CLUSTER", "SLOTS")


# --- what is served ---------------------------------------------------------------


def test_slots_are_counted_where_a_cluster_is_behind(cluster, proxy):
    raw = proxy.raw("native")
    for number in range(20):
        key = f"count:{number}"
        raw.command("SET", key, "v")
        slot = cluster.slot(key)
        assert raw.command("CLUSTER", "COUNTKEYSINSLOT", slot) == b":1\r\n"
        assert key.encode() in raw.command("CLUSTER", "GETKEYSINSLOT", slot, 9)
    assert proxy.raw("ring").command("CLUSTER", "COUNTKEYSINSLOT", 1) == (
        b"-ERR command 'cluster|countkeysinslot' is not supported through "
        b"this proxy\r\n")


def test_redis_py_works_as_the_client_of_a_cluster(port):
    client = RedisCluster(startup_nodes=[ClusterNode("127.0.0.1", port)],
                          read_from_replicas=True)
    assert [node.port for node in client.get_nodes()] == [port]
    for number in range(200):
        assert client.set(f"rc:{number}", number)
        assert client.get(f"rc:{number}") == b"%d" % number
    assert client.mset({"{rc}a": 1, "{rc}b": 2})
    assert client.mget("{rc}a", "{rc}b", "{rc}none") == [b"1", b"2", None]
    assert client.keyslot("{rc}a") == client.cluster_keyslot("{rc}a")
    with client.pipeline() as pipe:
        for number in range(500):
            pipe.incr(f"rc:n{number}").get(f"rc:n{number}")
        assert pipe.execute() == [x for _ in range(500) for x in (1, b"1")]
    client.close()


def test_ioredis_works_as_the_client_of_a_cluster(port):
    script = os.path.join(CLIENTS, "node", "ioredis_cluster.js")
    output = run(["node", script, str(port)],
                 environment={"NODE_PATH": node_modules()})
    assert output.endswith(b"done\n"), output


def test_redis_cli_works_as_the_client_of_a_cluster(port):
    lines = [b"SET cli:%d %d\nGET cli:%d\n" % (i, i, i) for i in range(50)]
    output = run(["redis-cli", "-c", "-p", str(port)], b"".join(lines))
    words = [line for line in output.split(b"\n") if line]
    assert words == [x for i in range(50) for x in (b"OK", b"%d" % i)]
