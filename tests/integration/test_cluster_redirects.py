"""A cluster behind a plain endpoint: no redirect is ever seen by a client.

The tests share a cluster, which each leaves well; the last one kills a node.

    POINTSMAN_FAULTS  seconds that slots move to and fro at least, 0 by default
"""

import os
import socket
import time

import pytest

from harness import eventually, running_world
from lib_cluster import Cluster, Move, Resharder, start_proxy
from lib_cluster_checker import Crowd
from lib_cluster_transactions import Transactors

AT_LEAST = float(os.environ.get("POINTSMAN_FAULTS", "0"))


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world)


@pytest.fixture(scope="module")
def proxy(world, cluster):
    return start_proxy(world, cluster.seeds(2),
                       cluster_refresh_interval="1s")


@pytest.fixture(scope="module")
def direct(world, cluster):
    return start_proxy(world, cluster.seeds(2), cluster_refresh_interval="1s",
                       transactions="direct")


def begun_again(proxy):
    return proxy.stats.value("pointsman_pool_transactions_again_total")


def check_transactions(clients, cluster):
    """None is lost, or done by halves."""
    assert clients.check_servers(cluster) == 0
    assert clients.count("acknowledged") > 100


def redirects(proxy, kind):
    return proxy.stats.value(f"pointsman_pool_redirects_{kind}_total")


def other_than(cluster, node):
    return next(n for n in cluster.primaries() if n is not node)


def test_keys_of_all_slots_are_served(cluster, proxy):
    client = proxy.client()
    keys = [f"key:{n}" for n in range(300)]
    assert client.mset({key: key for key in keys})
    assert client.mget(keys) == [key.encode() for key in keys]
    assert [cluster.get(key) for key in keys[:20]] == \
        [key.encode() for key in keys[:20]]
    assert client.delete(*keys) == 300


def test_many_keys_cost_each_node_one_write(cluster, proxy):
    def writes():
        return [proxy.stats.value("pointsman_server_writes_total",
                                  server=node.address)
                for node in cluster.nodes[:3]]

    client = proxy.client()
    keys = [f"key:{n}" for n in range(100)]
    client.mget(keys)  # now there are connections
    before = writes()
    assert client.mget(keys) == [None] * 100
    assert [now - then for now, then in zip(writes(), before)] == [1, 1, 1]


def test_commands_are_served_in_every_step_of_a_move(cluster, proxy):
    client = proxy.client()
    before = {kind: redirects(proxy, kind) for kind in ("ask", "tryagain")}
    client.mset({"{m}1": "1", "{m}2": "2"})
    source = cluster.owner_of("{m}")
    move = Move(cluster, cluster.slot("{m}"), other_than(cluster, source))
    move.begin()
    assert client.mget("{m}1", "{m}2", "{m}none") == [b"1", b"2", None]
    move.carry("{m}1")
    assert client.get("{m}1") == b"1"
    assert client.mget("{m}1", "{m}2", "{m}none") == [b"1", b"2", None]
    assert client.incr("{m}new") == 1
    assert client.delete("{m}1", "{m}2") == 2
    client.mset({"{m}1": "3", "{m}2": "4"})
    assert client.set("{m}big", b"x" * 1000000)
    assert client.strlen("{m}big") == 1000000
    move.carry_all()
    move.end()
    assert client.mget("{m}1", "{m}2", "{m}new") == [b"3", b"4", b"1"]
    for kind, count in before.items():
        assert redirects(proxy, kind) > count


def test_a_moved_slot_is_learnt_from_moved(cluster, proxy):
    client = proxy.client()
    client.set("{m}1", "1")
    cluster.move_key("{m}", other_than(cluster, cluster.owner_of("{m}")))
    assert client.get("{m}1") == b"1"
    assert client.eval("return redis.call('get', KEYS[1])", 1, "{m}1") == b"1"


def test_a_script_is_served_after_its_slot_moved(cluster, proxy):
    client = proxy.client()
    client.set("{m}1", "1")
    cluster.move_key("{m}", other_than(cluster, cluster.owner_of("{m}")))
    assert client.eval("return redis.call('incr', KEYS[1])", 1, "{m}1") == 2


# What a script may say, alone and as EXEC would have it.
FORGERIES = [b"redis.call('incr', KEYS[1]); return {err=ARGV[1]}",
             b"return {redis.call('incr', KEYS[1]), {err=ARGV[1]}}"]


def test_a_forged_redirect_is_the_scripts_answer(cluster, proxy):
    raw = proxy.raw()
    key = b"{m}forged"
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        port = trap.getsockname()[1]
        for script, form in zip(FORGERIES, (b"-%b\r\n",
                                            b"*2\r\n:2\r\n-%b\r\n")):
            forged = b"MOVED %d 127.0.0.1:%d" % (cluster.slot(key), port)
            assert raw.command("EVAL", script, 1, key, forged) == form % forged
        forged = b"ASK %d 127.0.0.1:%d" % (cluster.slot(key), port)
        assert raw.command("EVAL", FORGERIES[0], 1, key, forged) == \
            b"-%b\r\n" % forged
        assert raw.command("GET", key) == b"$1\r\n3\r\n"
        with pytest.raises(BlockingIOError):
            trap.accept()
    known = {labels["server"] for _, labels, _ in proxy.stats.metrics()
             if "server" in labels}
    assert known <= {node.address for node in cluster.nodes}


@pytest.mark.plain_only
def test_nothing_goes_wrong_while_slots_move_to_and_fro(cluster, proxy,
                                                        direct):
    slots = [cluster.slot("{move}")]
    end = time.monotonic() + AT_LEAST
    kinds = ("ask", "moved", "tryagain")
    before = [redirects(proxy, kind) for kind in kinds]
    with Crowd(proxy) as crowd, Transactors(direct) as judged, \
            Resharder(cluster, slots) as resharder:
        eventually(lambda: time.monotonic() >= end and
                   resharder.moves >= 6 and
                   crowd.count("done") > 5000 and
                   all(redirects(proxy, kind) > count
                       for kind, count in zip(kinds, before)), 60 + AT_LEAST,
                   "redirects of all kinds")
    crowd.check_servers(cluster)
    kinds = crowd.kinds()
    # The one error that the order of commands may ask for.
    assert all(kind.startswith(b"-TRYAGAIN proxy: slot") for kind in kinds), \
        kinds
    assert sum(kinds.values()) < crowd.count("done") / 50, kinds
    assert crowd.count("of_nodes") < 10 + crowd.count("done") / 10000
    check_transactions(judged, cluster)
    assert begun_again(direct) > 0
    assert judged.kinds() == {}


@pytest.mark.plain_only
def test_nothing_goes_wrong_over_planned_failovers(cluster, proxy, direct):
    with Crowd(proxy) as crowd, Transactors(direct) as judged:
        for turn in range(3):
            eventually(lambda: len(cluster.primaries()) == 3, 30)
            primary = cluster.primaries()[turn]
            replica = eventually(lambda: cluster.replicas_of(primary), 30)[0]
            before = crowd.count("done")
            cluster.fail_over(replica)
            eventually(lambda: crowd.count("done") > before + 1000, 30)
            cluster.wait()
    crowd.check_servers(cluster)
    assert all(kind.startswith((b"-TRYAGAIN proxy", b"-ERR proxy"))
               for kind in crowd.kinds()), crowd.kinds()
    check_transactions(judged, cluster)


def test_a_killed_primary_is_replaced(cluster, proxy):
    proxy.expect_errors("connection to server ended", "server is down")
    client = proxy.client()
    keys = [f"key:{n}" for n in range(60)]
    client.mset(dict.fromkeys(keys, "v"))
    victim = cluster.owner_of(keys[0])
    victim.server.wait_for_replicas()
    victim.server.kill()

    def is_served():
        return client.set(keys[0], "w")

    eventually(is_served, 30, "the replica to serve")
    assert client.get(keys[0]) == b"w"
    assert all(value is not None for value in client.mget(keys))
