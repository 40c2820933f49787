"""A server that dies, freezes or comes back, and what clients notice of it.

Errors say exactly whether a command was executed; who uses the other servers
notices nothing; traffic returns by itself.
"""

import threading
import time

import pytest

from harness import eventually, seconds
from lib_clock import now
from lib_faults import Bystander
from resp import encode

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      request_timeout: $request_timeout
      connect_timeout: 500ms
      probe_interval: $probe_interval
      probe_timeout: 1s
      reconnect_max: 200ms
      servers:
        - {name: a, address: "$a", from: "a", before: "b"}
        - {name: b, address: "$b", from: "b", before: "c"}
"""

REFUSED = (b"-CLUSTERDOWN proxy: no reachable primary for shard a, command "
           b"was not executed\r\n")
LOST = (b"-ERR proxy: connection to shard a was lost, the command may have "
        b"been executed\r\n")
LATE = (b"-ERR proxy: shard a did not answer in 1000 ms, the command may have "
        b"been executed\r\n")
LATE_UNSENT = (b"-ERR proxy: shard a did not answer in 1000 ms, the command was "
               b"not executed\r\n")
CHANGED = "health of server changed"


class Neighbour(Bystander):
    """A client of server b, to whom nothing may happen meanwhile."""

    def __init__(self, proxy):
        super().__init__(proxy)
        self.start()

    def step(self):
        assert self.raw.command("SET", "b1", self.requests) == b"+OK\r\n"
        self.requests += 1
        self.over.wait(0.002)

    def end(self):
        super().end()
        assert self.slowest < seconds(1)


class Pool:
    """Servers a and b behind a proxy, with a client on each worker."""

    def __init__(self, world, request_timeout="1s", probe_interval="2s"):
        self.a, self.b = world.start_servers(2, "--enable-debug-command",
                                             "yes")
        self.proxy = world.proxy(CONFIG, a=self.a.address, b=self.b.address,
                                 request_timeout=request_timeout,
                                 probe_interval=probe_interval)
        self.clients = [self.proxy.raw() for _ in range(2)]
        for client in self.clients:
            assert client.command("SET", "a1", "v") == b"+OK\r\n"
            assert client.command("SET", "b1", "v") == b"+OK\r\n"

    def wait_for(self, state, count=1):
        return self.proxy.wait_for_event(CHANGED, count=count, server="a",
                                         to=state)

    def wait_for_refusal(self):
        for client in self.clients:
            eventually(lambda client=client:
                       client.command("SET", "a1", "v") == REFUSED)

    def expect_fast_refusal(self):
        for client in self.clients:
            began = now()
            assert client.command("SET", "a1", "v") == REFUSED
            assert now() - began < seconds(0.5)

    def expect_service(self):
        for client in self.clients:
            eventually(lambda client=client:
                       client.command("SET", "a1", "v") == b"+OK\r\n")

    def value(self, name):
        return self.proxy.stats.value(f"pointsman_server_{name}", server="a")


# --- killed --------------------------------------------------------------------


def test_a_killed_server_fails_fast_and_comes_back(world):
    began = time.monotonic()
    pool = Pool(world)
    neighbour = Neighbour(pool.proxy)
    pool.a.kill()
    event = pool.wait_for("down")
    for change in pool.proxy.events(CHANGED, server="a"):
        assert int(change["after_ms"]) <= (time.monotonic() - began) * 1000
    assert event["level"] == "warn" and event["reason"]
    assert event["addr"] == pool.a.address
    pool.expect_fast_refusal()
    assert pool.value("up") == 0
    assert pool.value("downs_total") == 1
    pool.a.start()
    pool.expect_service()
    pool.wait_for("half open")
    pool.wait_for("up")
    assert pool.value("up") == 1
    assert pool.value("downs_total") == 1
    neighbour.end()


def test_an_idle_server_that_dies_is_found_before_a_client_does(world):
    pool = Pool(world, probe_interval="300ms")
    pool.a.kill()
    pool.wait_for("down")

    def refuses_fast():  # but for those who try whether it is back
        pool.expect_fast_refusal()
        return pool.value("refused_fast_total") >= 2

    eventually(refuses_fast)


def test_a_write_on_its_way_to_a_killed_server_may_have_been_executed(world):
    pool = Pool(world, request_timeout="20s")
    pool.a.pause()
    pool.clients[0].send_command("SET", "a1", "x")
    pool.clients[1].send_command("GET", "a1")
    both = encode("SET", "a1", "x") + encode("GET", "a1")
    eventually(lambda: pool.a.unread_bytes() >= len(both))
    pool.a.kill()
    assert pool.clients[0].read_reply() == LOST
    # The read was sent again, which met nobody, or the last moments.
    assert pool.clients[1].read_reply() in (REFUSED, LOST)


def test_readiness_is_that_of_every_server(world):
    pool = Pool(world)
    assert pool.proxy.stats.get("/readyz?pool=demo")[0] == 200
    pool.a.kill()
    pool.wait_for("down")
    assert pool.proxy.stats.get("/readyz?pool=demo")[0] == 503
    pool.a.start()
    eventually(lambda: pool.proxy.stats.get("/readyz?pool=demo")[0] == 200)


# --- frozen ----------------------------------------------------------------------


def test_a_frozen_server_fails_fast_and_comes_back(world):
    pool = Pool(world)
    neighbour = Neighbour(pool.proxy)
    pool.a.pause()
    pool.clients[0].send_command("SET", "a1", "frozen")
    assert pool.clients[0].read_reply() == LATE
    pool.wait_for("down")
    pool.expect_fast_refusal()
    pool.a.resume()
    pool.expect_service()
    pool.wait_for("half open")
    pool.wait_for("up")
    # Answers still meet their requests.
    for number in range(100):
        assert pool.clients[0].command("SET", "a1", number) == b"+OK\r\n"
        assert pool.clients[1].command("GET", "a1") == \
            b"$%d\r\n%d\r\n" % (len(str(number)), number)
    neighbour.end()


def test_an_idle_frozen_server_is_found_by_probes(world):
    pool = Pool(world, request_timeout="20s", probe_interval="300ms")
    pool.a.pause()
    event = pool.wait_for("down")
    assert "probe" in event["reason"]
    pool.expect_fast_refusal()
    pool.a.resume()
    pool.expect_service()


def test_one_slow_command_makes_no_server_down(world):
    pool = Pool(world, request_timeout="5s", probe_interval="300ms")
    sleeper = pool.a.raw()
    sleeper.send_command("DEBUG", "SLEEP", "0.8")
    eventually(lambda: pool.a.unread_bytes() == 0)  # it sleeps
    assert pool.clients[0].command("GET", "a1") == b"$1\r\nv\r\n"
    assert sleeper.read_reply() == b"+OK\r\n"
    assert not pool.proxy.events(CHANGED, server="a", to="down")


# --- not ready -----------------------------------------------------------------


def test_a_loading_server_gets_no_requests(world):
    pool = Pool(world)
    direct = pool.a.client()
    direct.execute_command("DEBUG", "POPULATE", "20000")
    direct.save()
    pool.a.kill()
    pool.wait_for("down")
    # Two thousandths of a second a key would be 40 s; see finish_loading().
    pool.a.arguments += ["--key-load-delay", "2000",
                         "--loading-process-events-interval-bytes", "1024"]
    refusals = []

    def look():
        eventually(lambda: loading(pool.a), 10)
        probes = pool.value("probe_failures_total")
        eventually(lambda: pool.value("probe_failures_total") > probes + 3)
        refusals.extend(client.command("GET", "a1")
                        for client in pool.clients)
        finish_loading(pool.a)

    observer = threading.Thread(target=look)
    observer.start()
    pool.a.start()
    observer.join()
    assert refusals == [REFUSED, REFUSED]
    pool.expect_service()


def loading(server):
    with server.raw() as client:
        return client.command("PING").startswith(b"-LOADING")


def finish_loading(server):
    with server.raw() as client:
        client.command("CONFIG", "SET", "key-load-delay", "0")


# --- what is no fault ------------------------------------------------------------


def test_killed_connections_of_a_healthy_server_harm_nobody(world):
    pool = Pool(world)
    direct = pool.a.raw()
    for _ in range(5):
        direct.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        for client in pool.clients:
            assert client.command("GET", "a1") == b"$1\r\nv\r\n"
    assert not pool.proxy.events(CHANGED, server="a", to="down")


def test_a_busy_script_is_a_sign_of_life(world):
    pool = Pool(world, request_timeout="10s", probe_interval="200ms")
    pool.a.client().config_set("lua-time-limit", 100)
    script = pool.a.raw()
    script.send_command("EVAL", "while true do end", "0")
    eventually(lambda: pool.clients[0].command("GET", "a1")
               .startswith(b"-BUSY"))
    before = pool.value("probes_total")
    eventually(lambda: pool.value("probes_total") > before + 3)
    pool.a.raw().command("SCRIPT", "KILL")
    assert script.read_reply().startswith(b"-ERR")
    assert not pool.proxy.events(CHANGED, server="a", to="down")
    pool.expect_service()


@pytest.mark.parametrize("fault", ["kill", "pause"])
def test_a_pipeline_over_a_fault_gets_every_answer(world, fault):
    pool = Pool(world)
    client = pool.clients[0]
    for number in range(50):
        client.send_command("SET", "a1" if number % 2 else "b1", number)
        if number == 25:
            getattr(pool.a, fault)()
    replies = [client.read_reply() for _ in range(50)]
    assert all(reply == b"+OK\r\n" for reply in replies[::2])
    # What comes a second after the first is held back behind its expiry.
    assert set(replies[1::2]) <= {b"+OK\r\n", LOST, LATE, LATE_UNSENT, REFUSED}
    pool.wait_for("down")


# --- on_server_down: nil ---------------------------------------------------------

READS = """
    GET a|HGET a f|LINDEX a 0|ZSCORE a m|DUMP a|MGET a a2|HMGET a f g
    ZMSCORE a m n|SMISMEMBER a m n|EXISTS a a2|TOUCH a|STRLEN a|GETBIT a 7
    BITCOUNT a|BITCOUNT a 0 -1|HEXISTS a f|HLEN a|HSTRLEN a f|LLEN a|SCARD a
    SISMEMBER a m|ZCARD a|ZCOUNT a 0 1|ZLEXCOUNT a - +|XLEN a|PFCOUNT a a2
    TTL a|PTTL a|EXPIRETIME a|PEXPIRETIME a|GETRANGE a 0 5|SUBSTR a 0 5|TYPE a
    LRANGE a 0 -1|HKEYS a|HVALS a|ZRANGE a 0 -1|ZRANGE a 0 -1 WITHSCORES
    ZREVRANGE a 0 -1|ZRANGEBYSCORE a 0 1|ZREVRANGEBYSCORE a 1 0
    ZRANGEBYLEX a - +|ZREVRANGEBYLEX a + -|XRANGE a - +|XREVRANGE a + -
    SMEMBERS a|SINTER a a2|SUNION a a2|SDIFF a a2|HGETALL a
"""


@pytest.mark.parametrize("version", [2, 3])
def test_nil_answers_reads_as_an_empty_server_does(world, version):
    a, b = world.start_servers(2)
    config = CONFIG.replace("probe_timeout", "on_server_down: nil\n"
                            "      probe_timeout")
    proxy = world.proxy(config, a=a.address, b=b.address,
                        request_timeout="1s", probe_interval="200ms")
    client, empty = proxy.raw(), b.raw()
    client.command("HELLO", version)
    empty.command("HELLO", version)
    a.kill()
    proxy.wait_for_event(CHANGED, server="a", to="down")
    reads = [read.split() for read in READS.replace("\n", "|").split("|")
             if read.strip()]
    assert len(reads) > 45
    for read in reads:
        assert client.command(*read) == empty.command(*read), read
    for write in ("SET a v", "DEL a", "GETDEL a", "INCR a", "SSCAN a 0"):
        assert client.command(*write.split()) == REFUSED, write
    assert proxy.stats.value("pointsman_pool_answered_nil_total") == len(reads)
