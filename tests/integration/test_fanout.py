"""Commands about all keys: every shard is asked, and one answer comes of it.

The tests share three plain servers, one on its own, and a cluster; each empties
what it uses first.  The last one leaves the cluster with other primaries.
"""

import re
import shutil
import socket
import subprocess
from functools import partial

import pytest

from harness import eventually, fill, running_world, seconds
from lib_bulk import MB, Memory, read_line
from lib_cluster import Cluster, Resharder, start_proxy

PLAIN = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      databases: 16
      slowlog_log_slower_than: -1
      distribution: ketama
      servers: [$a:1 a, $b:1 b, $c:1 c]
"""


class Setting:
    """A proxy, its servers, and one that stands alone beside it."""

    def __init__(self, proxy, servers, single):
        self.proxy = proxy
        self.servers = servers
        self.single = single

    def empty(self):
        for server in [*self.servers, self.single]:
            client = server.client()
            client.flushall()
            client.script_flush()
            client.function_flush()
            client.config_resetstat()
            client.slowlog_reset()

    def fill(self, count=300):
        for client in (self.proxy.client(), self.single.client()):
            client.mset({f"key:{n}": n for n in range(count)})

    def both(self, *words, resp=2):
        """What the proxy says, and what one server that has it all says."""
        answers = []
        for raw in (self.proxy.raw(), self.single.raw()):
            raw.command("HELLO", resp)
            answers.append(raw.command(*words))
        return answers


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def single(world):
    return world.server("--latency-monitor-threshold", "0")


@pytest.fixture(scope="module")
def plain(world, single):
    servers = world.start_servers(3)
    a, b, c = (server.address for server in servers)
    return Setting(world.proxy(PLAIN, a=a, b=b, c=c), servers, single)


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world)


@pytest.fixture(scope="module")
def clustered(world, cluster, single):
    servers = [node.server for node in cluster.nodes[:3]]
    proxy = start_proxy(world, cluster.seeds(1),
                        cluster_refresh_interval="1s")
    return Setting(proxy, servers, single)


@pytest.fixture(params=["plain", "clustered"])
def setting(request):
    this = request.getfixturevalue(request.param)
    this.empty()
    return this


LIBRARY = ("#!lua name=lib\n"
           "redis.register_function('f', function() return 1 end)")
SHA = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"  # of "return 1"

# What is answered alike by one server and by all of them together.
SAME = [
    ("DBSIZE",), ("KEYS", "nothing*"), ("KEYS", "key:7"), ("KEYS",),
    ("DBSIZE", "x"), ("SCAN",), ("SCAN", "x"),
    ("SCAN", "0", "NOSUCH"), ("SCAN", "0", "COUNT", "0"),
    ("SCAN", "0", "COUNT", "x"), ("SCAN", "0", "MATCH"),
    ("FLUSHALL", "NOW"), ("FLUSHDB", "NOW"),
    ("SCRIPT", "LOAD", "return 1"), ("SCRIPT", "LOAD", "retur 1"),
    ("SCRIPT", "EXISTS", SHA, "0" * 40), ("SCRIPT", "EXISTS"),
    ("SCRIPT", "KILL"), ("SCRIPT", "FLUSH", "SYNC"),
    ("SCRIPT", "FLUSH", "NOW"), ("SCRIPT", "EXISTS", SHA),
    ("FUNCTION", "LOAD", LIBRARY), ("FUNCTION", "LOAD", LIBRARY),
    ("FUNCTION", "LOAD", "REPLACE", LIBRARY), ("FUNCTION", "LOAD", "x"),
    ("FUNCTION", "DELETE", "nosuch"), ("FUNCTION", "DELETE", "lib"),
    ("FUNCTION", "RESTORE", "x"), ("FUNCTION", "KILL"),
    ("FUNCTION", "FLUSH"), ("FUNCTION", "FLUSH", "NOW"),
    ("PUBSUB", "CHANNELS"), ("PUBSUB", "CHANNELS", "a*"),
    ("PUBSUB", "SHARDCHANNELS"), ("PUBSUB", "NUMPAT"), ("PUBSUB", "NUMSUB"),
    ("PUBSUB", "NUMSUB", "a", "b"), ("PUBSUB", "SHARDNUMSUB", "a"),
    ("CONFIG", "RESETSTAT"), ("MEMORY", "PURGE"), ("LATENCY", "RESET"),
    ("SLOWLOG", "RESET"), ("SLOWLOG", "LEN"), ("SLOWLOG", "GET"),
    ("SLOWLOG", "GET", "-2"), ("SLOWLOG", "GET", "x"),
    ("FLUSHDB", "ASYNC"), ("DBSIZE",), ("RANDOMKEY",), ("FLUSHALL",),
    ("KEYS", "*"),
]


def test_info_adds_up_the_keys(setting):
    setting.fill()
    client = setting.proxy.client()
    client.expire("key:7", 1000)
    keyspace = client.info("keyspace")
    assert keyspace["db0"]["keys"] == client.dbsize() > 100
    assert keyspace["db0"]["expires"] == 1
    everything = client.info()
    assert everything["db0"]["keys"] == keyspace["db0"]["keys"]
    assert everything["redis_version"]


@pytest.mark.parametrize("resp", [2, 3])
def test_the_answer_is_that_of_one_server(setting, resp):
    setting.fill()
    for words in SAME:
        through, direct = setting.both(*words, resp=resp)
        assert through == direct, words


def test_all_keys_are_counted_listed_drawn_and_flushed(setting):
    setting.fill()
    client = setting.proxy.client()
    wanted = {b"key:%d" % n for n in range(300)}
    keys = client.keys("key:*")
    assert len(keys) == 300 and set(keys) == wanted
    assert client.dbsize() == 300
    drawn = {client.randomkey() for _ in range(60)}
    assert drawn <= wanted
    owners = [server for server in setting.servers
              if any(server.client().keys(key.decode()) for key in drawn)]
    assert len(owners) == 3
    assert client.flushall() is True
    assert [server.client().dbsize() for server in setting.servers] == [0] * 3
    assert client.randomkey() is None


def test_each_database_is_its_own(plain):
    plain.empty()
    plain.fill(30)
    client = plain.proxy.client(db=3)
    client.mset({f"other:{n}": n for n in range(20)})
    assert client.dbsize() == 20 and len(client.keys()) == 20
    assert len(set(client.scan_iter(count=3))) == 20
    assert client.flushdb() is True
    assert client.dbsize() == 0
    assert plain.proxy.client().dbsize() == 30


def test_they_keep_their_place_in_a_pipeline(setting):
    raw = setting.proxy.raw()
    keys = [f"key:{n}" for n in range(50)]
    commands, wanted = [], []
    for number, key in enumerate(keys):
        commands += [("SET", key, "x"), ("DBSIZE",)]
        wanted += [b"+OK\r\n", b":%d\r\n" % (number + 1)]
    commands += [("FLUSHALL",), ("SET", "key:1", "y"), ("DBSIZE",),
                 ("KEYS", "*"), ("GET", "key:1")]
    wanted += [b"+OK\r\n", b"+OK\r\n", b":1\r\n",
               b"*1\r\n$5\r\nkey:1\r\n", b"$1\r\ny\r\n"]
    assert raw.pipeline(*commands) == wanted


def test_scripts_and_functions_are_everywhere(setting):
    client = setting.proxy.client()
    assert client.script_load("return 1") == SHA
    assert client.function_load(LIBRARY) == b"lib"
    for server in setting.servers:
        assert server.client().script_exists(SHA) == [True]
        assert len(server.client().function_list()) == 1
    setting.servers[1].client().script_flush()
    assert client.script_exists(SHA, "0" * 40) == [True, False]
    dump = setting.servers[0].client().function_dump()
    assert client.function_flush()
    assert client.function_restore(dump)
    assert [len(server.client().function_list())
            for server in setting.servers] == [1, 1, 1]


def is_killed(killer):
    return killer.command("SCRIPT", "KILL") == b"+OK\r\n"


def test_a_script_that_runs_too_long_is_ended(setting):
    caller = setting.proxy.raw()
    for server in setting.servers:
        server.client().config_set("busy-reply-threshold", 1)
    # One of them shares the connections to the servers with the caller.
    for killer in (setting.proxy.raw(), setting.proxy.raw()):
        assert killer.command("SCRIPT", "KILL").startswith(b"-NOTBUSY")
        caller.send_command("EVAL", "while true do end", 1, "k")
        eventually(partial(is_killed, killer))
        assert b"Script killed by user" in caller.read_reply()
    assert caller.command("DBSIZE") == b":0\r\n"


def test_subscribers_of_all_servers_count(plain):
    plain.empty()
    subscribers = [server.client().pubsub() for server in plain.servers]
    for number, subscriber in enumerate(subscribers):
        subscriber.subscribe("all", f"one{number}")
        subscriber.psubscribe("a*")
        for _ in range(3):
            assert subscriber.get_message(timeout=seconds(10))
    client = plain.proxy.client()
    assert sorted(client.pubsub_channels()) == \
        [b"all", b"one0", b"one1", b"one2"]
    assert client.pubsub_numsub("one1", "all", "none") == \
        [(b"one1", 1), (b"all", 3), (b"none", 0)]
    assert client.pubsub_numpat() == 3
    for subscriber in subscribers:
        subscriber.close()


def test_the_slow_log_is_that_of_all_servers(plain):
    plain.empty()
    for server in plain.servers:
        server.client().config_set("slowlog-log-slower-than", 0)
        server.client().ping()
        server.client().config_set("slowlog-log-slower-than", -1)
    client = plain.proxy.client()
    direct = [server.client().slowlog_len() for server in plain.servers]
    assert client.slowlog_len() == sum(direct) > 5
    times = [entry["start_time"] for entry in client.slowlog_get(100)]
    assert len(times) == sum(direct)
    assert times == sorted(times, reverse=True)
    assert len(client.slowlog_get(4)) == 4
    assert client.slowlog_reset() is True
    assert client.slowlog_len() == 0


# --- SCAN ---------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 10, 1000])
def test_a_scan_gives_every_key_once(setting, count):
    setting.fill()
    keys = list(setting.proxy.client().scan_iter(count=count))
    assert len(keys) == 300
    assert set(keys) == {b"key:%d" % n for n in range(300)}


def test_a_page_with_room_takes_in_what_the_next_shards_have(setting):
    setting.fill()
    client = setting.proxy.client()
    cursor, keys = client.scan(count=1000)
    assert cursor == 0 and len(set(keys)) == len(keys) == 300
    assert client.scan(count=1000, match="nosuch*") == (0, [])


def test_a_scan_takes_all_options(setting):
    client = setting.proxy.client()
    client.mset({f"s:{n}": n for n in range(40)})
    for number in range(40):
        client.sadd(f"set:{number}", "x")
    assert len(set(client.scan_iter(match="s:*", count=5))) == 40
    assert len(set(client.scan_iter(_type="set", count=7))) == 40
    assert set(client.scan_iter(match="*:7", _type="SET")) == {b"set:7"}


def test_cursors_fit_into_what_clients_have(setting):
    setting.fill()
    raw = setting.proxy.raw()
    cursor, seen = b"0", []
    while True:
        reply = raw.command("SCAN", cursor, "COUNT", 5)
        cursor = reply.split(b"\r\n")[2]
        assert int(cursor) < 2 ** 63
        if cursor == b"0":
            break
        assert cursor not in seen
        seen.append(cursor)
    assert len(seen) > 30
    # Any of them may be given again, as with one server.
    assert raw.command("SCAN", seen[3], "COUNT", 5).startswith(b"*2\r\n")


def test_redis_cli_scans_and_looks_for_big_keys(setting):
    cli = shutil.which("redis-cli")
    setting.fill()
    setting.proxy.client().rpush("list", *range(100))

    def run(*words):
        return subprocess.run(
            [cli, "-p", str(setting.proxy.port()), *words], check=True,
            capture_output=True, text=True,
            timeout=seconds(20)).stdout.splitlines()

    lines = run("--scan", "--pattern", "key:*")
    assert len(lines) == 300 and len(set(lines)) == 300
    report = "\n".join(run("--bigkeys"))
    assert "Sampled 301 keys in the keyspace" in report
    assert re.search("list found .*list.* has 100 items", report), report


@pytest.mark.plain_only
def test_two_hundred_thousand_keys_are_scanned_once(plain):
    plain.empty()
    raw = plain.proxy.raw()
    for start in range(0, 200_000, 10_000):
        words = [part for n in range(start, start + 10_000)
                 for part in (f"key:{n}", "x")]
        assert raw.command("MSET", *words) == b"+OK\r\n"
    client = plain.proxy.client()
    assert client.dbsize() == 200_000
    keys = list(client.scan_iter(count=2000))
    assert len(keys) == 200_000 and len(set(keys)) == 200_000
    assert len(client.keys("key:1*")) == 111_111
    plain.empty()


def read_keys(raw):
    """How many there are in the answer to KEYS, and how many it says."""
    announced = int(read_line(raw)[1:])
    count = 0
    while count < 2 * announced:
        data = bytes(raw.buffer) or raw.socket.recv(1 << 18)
        raw.buffer.clear()
        assert data, "closed"
        count += data.count(b"\n")
    return count // 2, announced


@pytest.mark.plain_only
def test_a_million_keys_pass_through_in_little_memory(world):
    servers = world.start_servers(3, "--enable-debug-command", "yes")
    a, b, c = (server.address for server in servers)
    proxy = world.proxy(PLAIN, a=a, b=b, c=c)
    for number, server in enumerate(servers):
        server.client().execute_command("DEBUG", "POPULATE", 340_000,
                                        f"of-server-{number}")
    raw, other = proxy.raw(), proxy.client()
    other.set("key", "x")
    memory = Memory(proxy)
    # The second time over connections of its own.
    for _ in range(2):
        raw.send_command("KEYS", "*")
        assert raw.socket.recv(1, socket.MSG_PEEK)
        assert other.get("key") == b"x"
        assert read_keys(raw) == (1_020_001, 1_020_001)
    print(f"grown by {memory.peak() / MB:.1f} MB at most")
    assert memory.peak() <= 8 * MB
    # What a client does not take stays at the servers.
    raw.send_command("KEYS", "*")
    assert raw.socket.recv(1, socket.MSG_PEEK)
    assert other.dbsize() == 1_020_001
    raw.close()
    assert other.dbsize() == 1_020_001
    assert memory.peak() <= 8 * MB


# --- trouble ------------------------------------------------------------------


def test_one_shard_that_is_down_is_named(world):
    servers = world.start_servers(3)
    a, b, c = (server.address for server in servers)
    proxy = world.proxy(PLAIN, a=a, b=b, c=c)
    proxy.client().mset({f"key:{n}": n for n in range(100)})
    servers[1].kill()
    raw = proxy.raw()
    down = (b"-CLUSTERDOWN proxy: no reachable primary for shard b, command "
            b"was not executed")
    eventually(lambda: raw.command("DBSIZE") == down + b"\r\n")
    assert raw.command("FLUSHALL") == \
        down + b" (proxy: other parts may have been executed)\r\n"
    assert servers[0].client().dbsize() == 0


def test_a_scan_goes_on_behind_a_failover_and_leaves_no_key_out(world):
    """Another node has its keys in another order: its shard begins anew."""
    servers = world.start_servers(4, "--repl-diskless-sync-delay", "0")
    a, b, c, other = (server.address for server in servers)
    proxy = world.proxy(PLAIN, a=a, b=b, c=c)
    client = proxy.client()
    client.mset({f"key:{n}": n for n in range(300)})
    cursor, keys = client.scan(count=40)
    # The shard that is being scanned is replaced by a copy.
    first = next(number for number in range(3)
                 if servers[number].client().exists(*keys))
    servers[3].client().replicaof(*servers[first].address.split(":"))
    eventually(lambda: servers[3].client().info(
        "replication")["master_link_status"] == "up")
    servers[3].client().replicaof("NO", "ONE")
    addresses = [a, b, c]
    addresses[first] = other
    proxy.write_config(fill(PLAIN, dict(zip("abc", addresses))))
    proxy.signal(1)
    proxy.wait_for_event("reloaded")
    servers[first].kill()
    seen = set(keys)
    while cursor != 0:
        cursor, keys = client.scan(cursor, count=40)
        seen.update(keys)
    assert len(seen) == 300


# --- a cluster that changes ---------------------------------------------------


def test_no_shard_counts_twice_while_slots_move(clustered, cluster):
    clustered.empty()
    clustered.fill(1000)
    client = clustered.proxy.client()
    wanted = {b"key:%d" % n for n in range(1000)}
    with Resharder(cluster, range(0, 16384, 40)) as resharder:
        while resharder.moves < 20:
            # A key that is being moved may be at two nodes, or at none.
            assert 998 <= client.dbsize() <= 1002
            assert len(wanted - set(client.keys())) <= 2
    cluster.wait()
    assert client.dbsize() == 1000
    assert set(client.scan_iter(count=50)) == wanted


def test_a_scan_of_a_cluster_goes_on_behind_a_failover(clustered, cluster):
    for node in cluster.primaries():
        node.server.client().flushall()
    clustered.fill(1000)
    client = clustered.proxy.client()
    cursor, keys = client.scan(count=50)
    seen = set(keys)
    scanned = cluster.owner_of(keys[0])
    cluster.fail_over(cluster.replicas_of(scanned)[0])
    while cursor != 0:
        cursor, keys = client.scan(cursor, count=50)
        seen.update(keys)
    assert len(seen) == 1000
    assert client.dbsize() == 1000
    assert client.flushall() is True
    assert [node.server.client().dbsize()
            for node in cluster.primaries()] == [0] * 3
