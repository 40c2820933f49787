"""Reads from the replicas of a cluster: that they get there, and who answers
while nodes are off.  One cluster for all; each test leaves it well."""

import pytest
import redis

from harness import World, eventually
from lib_cluster import Cluster, start_proxy

KEYS = [f"key:{n}" for n in range(30)]
EXPECTED = ("connection to server ended", "server is down",
            "no node of the cluster gives a map")


@pytest.fixture(scope="module")
def cluster():
    world = World()
    try:
        # Slots are served while others are not, so that the replicas of a dead
        # primary may be; none takes over unless it is told to.
        yield Cluster(world, 3, 1, (
            "--cluster-require-full-coverage", "no",
            "--cluster-replica-no-failover", "yes"))
    finally:
        world.close()


def start(world, cluster, read_from, **settings):
    """A proxy that knows all nodes, with the keys written and replicated."""
    proxy = start_proxy(world, cluster.seeds(6), read_from=read_from,
                        cluster_refresh_interval="300ms", **settings)
    proxy.expect_errors(*EXPECTED)
    client = proxy.client()
    eventually(lambda: client.mset(dict.fromkeys(KEYS, "v")), 20)
    for primary in cluster.primaries():
        primary.server.wait_for_replicas()
    eventually(lambda: all(lists_all(node, cluster) for node in cluster.nodes),
               20, "every node to list the replicas")
    before = refreshes(proxy)
    eventually(lambda: refreshes(proxy) >= before + 2, 20,
               "the replicas to be known")
    return proxy


def knows_replicas(proxy, cluster):
    known = {labels["server"] for name, labels, _ in proxy.stats.metrics()
             if name == "pointsman_server_slots"}
    return known == {node.address for node in cluster.nodes}


def lists_all(node, cluster):
    """One that has nothing replicated yet, as this node sees it, is missing."""
    listed = {entry[2] for shard in node.command("CLUSTER", "SLOTS")
              for entry in shard[2:]}
    return len(listed) == len(cluster.nodes)


def refreshes(proxy):
    return proxy.stats.value("pointsman_cluster_refreshes_total")


def calls(node, name="get"):
    """How often a server has run a command, as it counts itself."""
    line = node.command("INFO", "commandstats")
    for word in line.split():
        if word.startswith(f"cmdstat_{name}:"):
            return int(word.split("calls=")[1].split(",")[0])
    return 0


def count(proxy, name):
    return proxy.stats.value(f"pointsman_pool_replica_{name}_total")


def read_all(proxy, other=None):
    """Every key, alone and with the others; `other` are those not "v"."""
    values = [(other or {}).get(key, b"v") for key in KEYS]
    client = proxy.client()
    assert [client.get(key) for key in KEYS] == values
    assert client.mget(KEYS) == values


def reads_of(proxy, key):
    """What clients of either replica, or none, find."""
    return {proxy.client().get(key) for _ in range(4)}


def revive(cluster, node):
    node.server.start()
    cluster.wait()


def test_reads_arrive_at_replicas(world, cluster):
    proxy = start(world, cluster, "replica")
    replicas = [n for n in cluster.nodes if not n.is_primary()]
    before = [calls(node) for node in cluster.primaries()]
    gets, mgets = sum(map(calls, replicas)), sum(
        calls(node, "mget") for node in replicas)
    read_all(proxy)
    assert [calls(node) for node in cluster.primaries()] == before
    assert sum(map(calls, replicas)) == gets + len(KEYS)
    assert sum(calls(node, "mget") for node in replicas) > mgets
    assert all(calls(node) > 0 for node in replicas)
    assert count(proxy, "reads") >= 2 * len(KEYS)
    assert count(proxy, "refusals") == count(proxy, "losses") == 0
    # Writes, and what a replica may not do, are the primary's.
    client = proxy.client()
    assert client.eval("return redis.call('set', KEYS[1], 'v')", 1, KEYS[0])
    assert client.eval_ro("return redis.call('get', KEYS[1])", 1,
                          KEYS[0]) == b"v"


def test_script_of_the_primary_is_run(world, cluster):
    """A replica does not know what EVAL has left at its primary."""
    proxy = start(world, cluster, "replica")
    client = proxy.client()
    sha = cluster.owner_of(KEYS[0]).command(
        "SCRIPT", "LOAD", "return redis.call('mget', KEYS[1])[1]")
    assert client.execute_command("EVALSHA_RO", sha, 1, KEYS[0]) == b"v"
    assert count(proxy, "refusals") == 1


def test_replica_without_its_link_is_left_out(world, cluster):
    proxy = start(world, cluster, "replica", replica_check_interval="100ms",
                  replica_max_lag="500ms")
    primary = cluster.owner_of(KEYS[0])
    replica = cluster.replicas_of(primary)[0]
    read_all(proxy)
    # With a name that the primary does not know it cannot come back.
    replica.command("CONFIG", "SET", "masteruser", "nobody")
    replica.command("CONFIG", "SET", "masterauth", "nothing")
    try:
        primary.command("CLIENT", "KILL", "TYPE", "replica")
        proxy.wait_for_event("state of replica changed",
                             server=replica.address,
                             to="cut off from its primary")
        assert proxy.client().set(KEYS[0], "new")
        eventually(lambda: reads_of(proxy, KEYS[0]) == {b"new"}, 20,
                   "the primary to be read from")
        before = calls(replica)
        read_all(proxy, {KEYS[0]: b"new"})
        assert calls(replica) == before
        # The primary writes on, and after replica_max_lag that is too far.
        eventually(lambda: proxy.client().set(KEYS[0], "new") and
                   proxy.stats.value("pointsman_cluster_replicas_behind") == 1,
                   20, "the replica to be too far behind")
    finally:
        replica.command("CONFIG", "SET", "masteruser", "")
        replica.command("CONFIG", "SET", "masterauth", "")
        cluster.wait()
    eventually(lambda: read_all(proxy, {KEYS[0]: b"new"}) is None and
               calls(replica) > before, 30, "the replica to be read from")
    proxy.client().set(KEYS[0], "v")


def test_zone_and_nearness_choose(world, cluster):
    """On one machine all are near; zones are given by port."""
    primary = cluster.owner_of(KEYS[0])
    replica = cluster.replicas_of(primary)[0]
    proxy = start(world, cluster, "zone", zone="ours",
                  zones="{'" + primary.address + "': ours, 127.0.0.0/8: not}")
    counts = calls(primary), calls(replica)
    read_all(proxy)
    assert calls(primary) > counts[0] and calls(replica) == counts[1]
    near = start(world, cluster, "nearest", replica_check_interval="50ms")

    def reads_everywhere():
        before = [calls(node) for node in cluster.nodes]
        for _ in range(4):
            read_all(near)
        return all(calls(node) > count for node, count in
                   zip(cluster.nodes, before))

    eventually(reads_everywhere, 20, "primaries and replicas to be near")


def test_primaries_answer_while_a_replica_is_off(world, cluster):
    proxy = start(world, cluster, "prefer_replica")
    primary = cluster.owner_of(KEYS[0])
    replica = cluster.replicas_of(primary)[0]
    read_all(proxy)
    replica.server.kill()
    before = calls(primary)
    try:
        for _ in range(3):
            read_all(proxy)
        assert calls(primary) > before
        assert proxy.stats.get("/readyz?pool=pool")[0] == 200
        # The map comes to know of it; then it is not even tried.
        eventually(lambda: not knows_replicas(proxy, cluster), 30)
        read_all(proxy)
        assert count(proxy, "missing") > 0
    finally:
        revive(cluster, replica)
    eventually(lambda: knows_replicas(proxy, cluster), 30)
    eventually(lambda: read_all(proxy) is None and calls(replica) > 0, 30)


def test_replicas_answer_while_their_primary_is_off(world, cluster):
    proxy = start(world, cluster, "prefer_replica", request_timeout="2s")
    primary = cluster.owner_of(KEYS[0])
    read_all(proxy)
    primary.server.kill()
    try:
        read_all(proxy)
        with pytest.raises(redis.ResponseError, match="not executed"):
            proxy.client().set(KEYS[0], "w")
        eventually(lambda: any(
            words[0] == primary.node_id and "fail" in words[2].split(",")
            for words in cluster.view()), 30, "the others to notice")
        read_all(proxy)
    finally:
        revive(cluster, primary)
    assert eventually(lambda: proxy.client().set(KEYS[0], "v"), 30)


def test_reads_go_on_after_a_failover(world, cluster):
    proxy = start(world, cluster, "replica")
    primary = cluster.owner_of(KEYS[0])
    replica = cluster.replicas_of(primary)[0]
    cluster.fail_over(replica)
    read_all(proxy)
    cluster.wait()
    assert proxy.client().set(KEYS[0], "v")
    eventually(lambda: knows_replicas(proxy, cluster), 20)
    before = calls(primary)
    eventually(lambda: read_all(proxy) is None and calls(primary) > before,
               30, "the old primary to be read from")
