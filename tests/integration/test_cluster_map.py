"""Which nodes a cluster pool knows, and whom it believes about the slots."""

import contextlib

import pytest
import redis

from harness import RedisServer, eventually, free_port
from lib_cluster import SLOTS, Cluster, start_proxy

KEYS = [f"key:{n}" for n in range(60)]


@pytest.fixture
def cluster(world):
    return Cluster(world, 3, 1)


def start(world, seeds, interval="300ms"):
    proxy = start_proxy(world, seeds, cluster_refresh_interval=interval,
                        connect_timeout="500ms", request_timeout="3s")
    proxy.expect_errors("no node of the cluster gives a map")
    return proxy


def covered(proxy):
    return proxy.stats.value("pointsman_cluster_slots_uncovered") == 0


def wait_for_map(proxy):
    eventually(lambda: covered(proxy), 20, "a map of all slots")


def serves(proxy):
    """Every key can be written and read back."""
    client = proxy.client()
    for number, key in enumerate(KEYS):
        client.set(key, number)
    assert [int(client.get(key)) for key in KEYS] == list(range(len(KEYS)))
    return True


def slots_of(proxy):
    """Slots by server, as the stats port has them."""
    return {labels["server"]: int(value)
            for name, labels, value in proxy.stats.metrics()
            if name == "pointsman_server_slots"}


def slots_at(cluster):
    """Slots by server, as the cluster has them."""
    by_id = {node.node_id: node.address for node in cluster.nodes}
    slots = dict.fromkeys(by_id.values(), 0)
    for words in cluster.view():
        if words[0] in by_id:
            slots[by_id[words[0]]] = cluster._slot_count(words)
    return slots


def rounds(proxy):
    return proxy.stats.value("pointsman_cluster_refreshes_total")


def wait_for_rounds(proxy, more):
    """The nodes are asked so many times from now on."""
    before = rounds(proxy)
    eventually(lambda: rounds(proxy) >= before + more, 20,
               f"{more} more refreshes")


# --- learning ---------------------------------------------------------------

def test_one_seed_leads_to_all_nodes(world, cluster):
    proxy = start(world, cluster.seeds(1))
    wait_for_map(proxy)
    assert serves(proxy)
    # Servers do not speak of a replica that has received no write yet.
    eventually(lambda: slots_of(proxy) == slots_at(cluster), 20,
               "the replicas to be known")
    assert proxy.stats.get("/readyz?pool=pool")[0] == 200
    changes = proxy.events("map of cluster changed")
    assert changes[0]["shards"] == "3" and changes[-1]["replicas"] == "3"
    assert changes[0]["slots_moved"] == str(SLOTS)
    assert changes[0]["cause"] == "start"


def test_any_node_is_a_seed(world, cluster):
    """A replica knows as much as its primary; dead seeds do not matter."""
    replica = next(n for n in cluster.nodes if not n.is_primary())
    dead = f"127.0.0.1:{free_port()}"
    proxy = start(world, f"{dead}, {replica.address}")
    wait_for_map(proxy)
    assert serves(proxy)


def test_proxy_starts_without_a_cluster_and_keeps_asking(world):
    port = free_port()
    proxy = start(world, f"127.0.0.1:{port}")
    proxy.wait_for_event("no node of the cluster gives a map")
    assert proxy.stats.get("/readyz")[0] == 503
    assert proxy.stats.get("/readyz?pool=pool")[0] == 503
    with pytest.raises(redis.ResponseError, match="was not executed"):
        proxy.client().get("a")

    cluster = Cluster(world, 1, 0)
    proxy.write_config(proxy_config(cluster))
    proxy.signal(1)
    wait_for_map(proxy)
    assert serves(proxy)
    assert proxy.stats.get("/readyz?pool=pool")[0] == 200


def proxy_config(cluster):
    return ("pointsman: {workers: 2, stats: '127.0.0.1:0'}\n"
            "pool:\n  listen: 127.0.0.1:0\n  distribution: slots\n"
            f"  cluster: ['{cluster.nodes[0].address}']\n")


def test_learnt_node_is_a_seed_from_then_on(world, cluster):
    """All seeds dead, one learnt node alive: its word is enough."""
    seed = cluster.primaries()[0]
    proxy = start(world, seed.address)
    wait_for_map(proxy)
    seed.server.kill()
    cluster.wait_for_new_primary(seed)
    eventually(lambda: slots_of(proxy).get(seed.address, 0) == 0, 20,
               "the map to follow")
    assert covered(proxy)
    assert serves(proxy)
    assert not proxy.events("no node of the cluster gives a map")


def test_map_follows_slots_that_move(world, cluster):
    proxy = start(world, cluster.seeds(1))
    wait_for_map(proxy)
    target = cluster.primaries()[1]
    slot = cluster.slot(KEYS[0])
    if cluster.owner(slot) is target:
        target = cluster.primaries()[2]
    cluster.move(slot, target)
    address = target.address
    eventually(lambda: slots_of(proxy)[address] == slots_at(cluster)[address],
               20, "the map to follow")
    assert serves(proxy)
    assert proxy.events("map of cluster changed", slots_moved=1)


def test_unchanged_map_is_not_told_of(world, cluster):
    proxy = start(world, cluster.seeds(2), interval="100ms")
    wait_for_map(proxy)
    wait_for_rounds(proxy, 10)
    assert len(proxy.events("map of cluster changed", slots_moved=SLOTS)) == 1
    changes = "pointsman_cluster_map_changes_total"
    assert proxy.stats.value(changes) == \
        len(proxy.events("map of cluster changed"))
    assert proxy.stats.value("pointsman_cluster_map_age_seconds") < 60


# --- whom to believe ----------------------------------------------------------

def test_wiped_node_does_not_erase_the_map(world, cluster):
    """A primary's replica loses its memory, and says so when asked."""
    proxy = start(world, cluster.seeds(6), interval="100ms")
    wait_for_map(proxy)
    before = slots_of(proxy)
    wiped = next(n for n in cluster.nodes if not n.is_primary())
    wiped.command("CLUSTER", "RESET", "HARD")
    eventually(lambda: proxy.stats.value(
        "pointsman_cluster_node_rejections_total") > 0, 20,
        "the wiped node to be asked")
    wait_for_rounds(proxy, 12)
    assert covered(proxy)
    now = slots_of(proxy)
    assert {a: s for a, s in now.items() if s} == \
        {a: s for a, s in before.items() if s}
    assert serves(proxy)


def test_node_of_another_cluster_is_not_believed(world, cluster):
    """A foreign node stands at the address of one that has died."""
    proxy = start(world, cluster.seeds(6), interval="100ms")
    wait_for_map(proxy)
    gone = next(n for n in cluster.nodes if not n.is_primary())
    gone.server.kill()
    foreign = RedisServer(world.folder, "foreign", (
        "--cluster-enabled", "yes", "--cluster-config-file", "other.conf",
        "--cluster-port", str(free_port())))
    foreign.port = gone.port
    world.servers.append(foreign)
    foreign.start()
    with contextlib.closing(redis.Redis("127.0.0.1", gone.port)) as client:
        client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        rejected = "pointsman_cluster_node_rejections_total"
        eventually(lambda: proxy.stats.value(rejected) >= 1, 20,
                   "the foreign node to be asked")
        assert covered(proxy)
        assert serves(proxy)
        assert client.dbsize() == 0
    assert slots_of(proxy).get(gone.address, 0) == 0
    assert foreign.process.is_running()


def test_slot_that_nobody_has_makes_the_pool_unready(world, cluster):
    proxy = start(world, cluster.seeds(1), interval="100ms")
    wait_for_map(proxy)
    slot = cluster.slot("lonely")
    for node in cluster.nodes:
        if node.is_primary():
            node.command("CLUSTER", "DELSLOTS", slot)
    eventually(lambda: proxy.stats.value(
        "pointsman_cluster_slots_uncovered") == 1, 20, "the slot to be gone")
    assert proxy.stats.get("/readyz?pool=pool")[0] == 503
    with pytest.raises(redis.ResponseError):
        proxy.client().get("lonely")
    for node in cluster.nodes:
        if node.is_primary():
            node.command("CLUSTER", "ADDSLOTS", slot)
            break
    wait_for_map(proxy)
    assert proxy.stats.get("/readyz?pool=pool")[0] == 200


# --- how nodes call themselves -------------------------------------------------

@pytest.mark.parametrize("arguments", [
    ("--cluster-preferred-endpoint-type", "unknown-endpoint"),
    ("--cluster-announce-hostname", "node.invalid",
     "--cluster-preferred-endpoint-type", "hostname"),
    ("--cluster-preferred-endpoint-type", "hostname"),
])
def test_nodes_that_do_not_announce_an_address(world, arguments):
    cluster = Cluster(world, 3, 0, arguments=arguments)
    proxy = start(world, cluster.seeds(1))
    wait_for_map(proxy)
    assert serves(proxy)


def test_nodes_want_a_password(world):
    cluster = Cluster(world, 1, 0)
    node = cluster.nodes[0]
    node.server.client().config_set("requirepass", "secret")
    proxy = start_proxy(world, node.address, redis_auth="secret",
                        cluster_refresh_interval="300ms")
    wait_for_map(proxy)
    assert proxy.client(password="secret").set("a", "1")


def test_node_without_cluster_support_says_so(world):
    server = world.server()
    proxy = start(world, server.address)
    event = proxy.wait_for_event("node gives no map of its cluster")
    assert "cluster support disabled" in event["reason"]
    assert proxy.stats.get("/readyz?pool=pool")[0] == 503


# --- reload --------------------------------------------------------------------

def test_reload_keeps_what_is_known(world, cluster):
    """Clients are served without asking the cluster anew."""
    proxy = start(world, cluster.seeds(1), interval="1h")
    wait_for_map(proxy)
    client = proxy.client()
    client.set("a", "1")
    asked = rounds(proxy)
    with open(proxy.config_path, encoding="utf-8") as file:
        proxy.write_config(file.read() + "  client_idle_timeout: 5m\n")
    proxy.signal(1)
    proxy.wait_for_event("reloaded")
    assert client.get("a") == b"1"
    assert covered(proxy) and serves(proxy)
    assert rounds(proxy) == asked


def test_hint_brings_the_map_at_once(world, cluster):
    """A request for a slot that nobody had makes the nodes be asked."""
    slot = cluster.slot("lonely")
    for node in cluster.nodes:
        if node.is_primary():
            node.command("CLUSTER", "DELSLOTS", slot)
    proxy = start(world, cluster.seeds(6), interval="1h")
    eventually(lambda: proxy.stats.value(
        "pointsman_cluster_slots_uncovered") == 1, 20, "a map")
    owner = cluster.primaries()[0]
    owner.command("CLUSTER", "ADDSLOTS", slot)
    client = proxy.client()

    def is_served():
        with contextlib.suppress(redis.ResponseError):
            return client.set("lonely", "1")
        return False

    eventually(is_served, 20, "the slot to be served")
    assert proxy.stats.value("pointsman_cluster_refreshes_total",
                             cause="unserved") >= 1
    assert proxy.stats.value("pointsman_cluster_refreshes_total",
                             cause="interval") == 0
