"""Reads from the replicas that Sentinels list: that they get there, and who
answers while servers are off.  One set of Sentinels for all; each test leaves
it well."""

import pytest
import redis

from harness import World, eventually
from lib_sentinel import Sentinels, fail_over, started

KEYS = [f"key:{n}" for n in range(20)]


@pytest.fixture(scope="module")
def sentinels():
    world = World()
    try:
        yield Sentinels(world)
    finally:
        world.close()


@pytest.fixture(autouse=True)
def no_proxy_is_left(sentinels):
    """Those of one test do not look on at the next one's faults."""
    yield
    for proxy in sentinels.world.proxies:
        if proxy.is_running():
            proxy.stop()


def start(sentinels, read_from="replica", **settings):
    """A proxy that knows both replicas, which have the keys."""
    settings = {"sentinel_interval": "300ms", "replica_check_interval": "100ms",
                **settings}
    proxy = started(sentinels.proxy(read_from=read_from, **settings))
    assert proxy.client().mset(dict.fromkeys(KEYS, "v"))
    sentinels.primary().wait_for_replicas()
    wanted = replicas(sentinels) if read_from != "primary" else set()
    eventually(lambda: known(proxy) == wanted, 20, "the replicas to be known")
    return proxy


def known(proxy, host="127.0.0.1"):
    """Addresses of the replicas that the proxy has among its servers."""
    names = {labels["server"] for name, labels, _ in proxy.stats.metrics()
             if name == "pointsman_server_up"}
    return {name.split("/")[1].replace(host, "127.0.0.1")
            for name in names if "/" in name}


def replicas(sentinels, but=()):
    primary = sentinels.primary()
    return {server.address for server in sentinels.shards[0].servers
            if server is not primary and server not in but}


def gets(server):
    stats = server.client().info("commandstats")
    return stats.get("cmdstat_get", {"calls": 0})["calls"]


def count(proxy, name):
    return proxy.stats.value(f"pointsman_pool_replica_{name}_total")


def read_all(proxy, value=b"v"):
    """By several clients, so that each replica has some."""
    for _ in range(4):
        client = proxy.client()
        assert [client.get(key) for key in KEYS] == [value] * len(KEYS)
        assert client.mget(KEYS) == [value] * len(KEYS)


def readers(sentinels, proxy):
    """Who answers now."""
    before = [gets(server) for server in sentinels.shards[0].servers]
    read_all(proxy)
    return {server.address for server, count in
            zip(sentinels.shards[0].servers, before) if gets(server) > count}


def test_reads_arrive_at_replicas(sentinels):
    proxy = start(sentinels)
    assert readers(sentinels, proxy) == replicas(sentinels)
    assert count(proxy, "refusals") == count(proxy, "losses") == 0
    client = proxy.client()
    assert client.eval("return redis.call('set', KEYS[1], 'v')", 1, KEYS[0])
    assert client.eval_ro("return redis.call('get', KEYS[1])", 1,
                          KEYS[0]) == b"v"
    primary = start(sentinels, "primary")
    assert readers(sentinels, primary) == {sentinels.primary().address}
    zone = start(sentinels, "zone", zone="ours", zones="{'" + sentinels
                 .shards[0].servers[2].address + "': ours, 127.0.0.0/8: not}")
    assert readers(sentinels, zone) == {sentinels.shards[0].servers[2].address}


def test_replica_that_is_off_is_left_out(sentinels):
    proxy = start(sentinels)
    replica = sentinels.shards[0].servers[1]
    replica.kill()
    read_all(proxy)
    # Most Sentinels find it down; then it is not even tried.
    eventually(lambda: count(proxy, "losses") and
               readers(sentinels_but(sentinels, replica), proxy) ==
               replicas(sentinels, [replica]), 20, "the other to be read from")
    replica.start()
    eventually(lambda: readers(sentinels, proxy) == replicas(sentinels), 30,
               "both to be read from again")


class sentinels_but:
    """The same without a server that cannot be asked."""

    def __init__(self, sentinels, server):
        self.shards = [self]
        self.servers = [s for s in sentinels.shards[0].servers
                        if s is not server]


def test_replica_without_its_link_is_left_out(sentinels):
    proxy = start(sentinels)
    primary, replica = sentinels.primary(), sentinels.shards[0].servers[2]
    # With a name that the primary does not know it cannot come back.
    client = replica.client()
    client.config_set("masteruser", "nobody")
    client.config_set("masterauth", "nothing")
    primary.client().execute_command("CLIENT", "KILL", "TYPE", "replica")
    proxy.wait_for_event("state of replica changed",
                         to="cut off from its primary")
    assert proxy.client().mset(dict.fromkeys(KEYS, "new"))
    eventually(lambda: replica.address not in readers_of_any(sentinels, proxy),
               20, "the other to be read from")
    assert proxy.stats.value("pointsman_sentinel_replicas_cut") == 1
    client.config_set("masteruser", "")
    client.config_set("masterauth", "")
    eventually(lambda: replica.address in readers_of_any(sentinels, proxy), 30,
               "it to be read from again")


def readers_of_any(sentinels, proxy):
    """The same when what is read is of no concern."""
    servers = sentinels.shards[0].servers
    before = [gets(server) for server in servers]
    for _ in range(4):
        client = proxy.client()
        assert all(client.get(key) for key in KEYS)
    return {server.address for server, count in zip(servers, before)
            if gets(server) > count}


def is_written(proxy):
    try:
        return proxy.client().set(KEYS[0], "v")
    except redis.ResponseError:
        return False


def test_replicas_answer_while_their_primary_is_off(sentinels):
    """And nobody can fail it over."""
    proxy = start(sentinels, request_timeout="2s")
    proxy.expect_errors("no address of the master is vouched for",
                        "server is down", "connection to server ended")
    primary = sentinels.primary()
    read_all(proxy)
    for sentinel in sentinels.sentinels:
        sentinel.kill()
    primary.kill()
    read_all(proxy)
    with pytest.raises(redis.ResponseError, match="not executed"):
        proxy.client().set(KEYS[0], "w")
    read_all(proxy)
    primary.start()
    for sentinel in sentinels.sentinels:
        sentinel.spawn()
    eventually(lambda: is_written(proxy), 30)


def test_replica_that_becomes_the_primary_is_one(sentinels):
    proxy = start(sentinels)
    client = proxy.client()
    old, new = fail_over(sentinels)
    assert client.mset(dict.fromkeys(KEYS, "after"))
    assert new.client().get(KEYS[0]) == b"after"
    # The old one is read from as soon as it replicates.
    eventually(lambda: readers_of_any(sentinels, proxy) ==
               replicas(sentinels) and
               proxy.client().get(KEYS[0]) == b"after", 40,
               "the old primary to be read from")
    assert new.address not in known(proxy) and old.address in known(proxy)
    read_all(proxy, b"after")


def test_names_of_replicas_are_followed(world):
    """All is announced by name, before and after a failover."""
    sentinels = Sentinels(world, host="localhost")
    proxy = started(sentinels.proxy(read_from="replica",
                                    sentinel_interval="300ms"))
    assert proxy.client().mset(dict.fromkeys(KEYS, "v"))
    eventually(lambda: known(proxy, "localhost") == replicas(sentinels))
    sentinels.primary().wait_for_replicas()
    assert readers(sentinels, proxy) == replicas(sentinels)
    _, new = fail_over(sentinels)
    assert proxy.client().set("a", 1)
    assert new.client().get("a") == b"1"
