"""What is known of a server's health, over a reload."""

from harness import eventually, seconds
from lib_clock import now
from test_health import CHANGED, Neighbour
from test_reload import head, hup, render, settle, start

# Long probe pauses, so that only what a reload keeps can refuse at once.
RANGE = """
    $name:
      listen: 127.0.0.1:0
      redis: true
      distribution: range
      range_by: bytes
      request_timeout: 20s
      probe_interval: $interval
      probe_timeout: 500ms
      reconnect_max: 200ms
      $more
      servers:
"""
SPANS = {"a": ("a", "b"), "b": ("b", "c"), "0": ("0", "1")}


def a_pool(servers, name="demo", interval="300ms", more=""):
    """Servers by name, in this order; each has the keys that begin so."""
    text = render(RANGE, name=name, interval=interval, more=more)
    for server, address in servers.items():
        low, high = SPANS[server]
        text += (f'    - {{name: "{server}", address: "{address}", '
                 f'from: "{low}", before: "{high}"}}\n')
    return text


def refused(client, shard="a"):
    began = now()
    reply = client.command("SET", shard + "1", "v")
    assert now() - began < seconds(1)
    return reply == (b"-CLUSTERDOWN proxy: no reachable primary for shard %b, "
                     b"command was not executed\r\n" % shard.encode())


def serves(client, shard="a"):
    return client.command("SET", shard + "1", "v") == b"+OK\r\n"


def up(proxy, server="a", pool="demo"):
    return proxy.stats.value("pointsman_server_up", server=server, pool=pool)


def ready(proxy, pool="demo"):
    return proxy.stats.get(f"/readyz?pool={pool}")[0] == 200


class Stage:
    """Server a is frozen and down; a client on each worker."""

    def __init__(self, world):
        self.a, self.b, self.other = world.start_servers(3)
        self.servers = {"a": self.a.address, "b": self.b.address}
        self.proxy = start(world, head() + a_pool(self.servers))
        self.clients = [self.proxy.raw() for _ in range(2)]
        for client in self.clients:
            assert serves(client, "a") and serves(client, "b")
        self.a.pause()
        self.proxy.wait_for_event(CHANGED, server="a", to="down")

    def all(self, condition, *arguments):
        """Of the clients that were there before and of new ones."""
        fresh = [self.proxy.raw() for _ in range(2)]
        return all([condition(client, *arguments)
                    for client in self.clients + fresh])

    def reload(self, text):
        hup(self.proxy, head() + text)
        settle(self.proxy)


def test_a_server_that_is_down_is_so_over_a_reload(world):
    stage = Stage(world)
    neighbour = Neighbour(stage.proxy)
    for more in ("pipeline_limit: 77", "preconnect: true",
                 "tcpkeepalive: true", "server_connections: 2"):
        # The last two are greeted in another way: all connections are new.
        stage.reload(a_pool(stage.servers, more=more))
        assert stage.all(refused), more
        assert up(stage.proxy) == 0 and up(stage.proxy, "b") == 1
        assert not ready(stage.proxy)
    assert len(stage.proxy.events(CHANGED, to="down")) == 1
    stage.a.resume()
    eventually(lambda: stage.all(serves))
    stage.proxy.wait_for_event(CHANGED, server="a", to="up")
    assert ready(stage.proxy)
    neighbour.end()


def test_a_verdict_goes_with_its_server_when_the_numbers_change(world):
    stage = Stage(world)
    # Pools are numbered by name and servers as they stand: all numbers move.
    more = {"0": stage.other.address, "b": stage.b.address,
            "a": stage.a.address}
    stage.reload(a_pool({"a": stage.other.address}, name="another") +
                 a_pool(more))
    assert stage.all(refused)
    assert stage.all(serves, "b") and stage.all(serves, "0")
    assert up(stage.proxy) == 0 and up(stage.proxy, "0") == 1
    assert up(stage.proxy, pool="another") == 1
    assert ready(stage.proxy, "another") and not ready(stage.proxy)
    stage.a.resume()
    eventually(lambda: stage.all(serves))
    # And what is found later, too.
    stage.b.pause()
    stage.proxy.wait_for_event(CHANGED, server="b", to="down", pool="demo")
    eventually(lambda: stage.all(refused, "b"))
    assert stage.all(serves, "0") and stage.all(serves)


def test_an_address_that_is_new_is_used_at_once(world):
    stage = Stage(world)
    stage.reload(a_pool({"a": stage.other.address, "b": stage.b.address}))
    assert stage.all(serves)
    assert up(stage.proxy) == 1 and ready(stage.proxy)
    # Back to the one that is down: nobody has kept what was known of it.
    stage.reload(a_pool(stage.servers))
    stage.proxy.wait_for_event(CHANGED, count=2, server="a", to="down")
    eventually(lambda: stage.all(refused))


def test_a_pool_without_the_server_that_is_down_is_ready(world):
    stage = Stage(world)
    stage.reload(a_pool({"b": stage.b.address}))
    assert ready(stage.proxy)
    assert stage.all(serves, "b")
    for client in stage.clients:
        assert client.command("GET", "a1").startswith(b"-ERR proxy: ")


def test_a_pool_that_has_left_is_not_probed(world):
    stage = Stage(world)
    stage.reload(a_pool({"b": stage.b.address}, name="another"))
    direct = stage.other.raw()
    assert direct.command("PING") == b"+PONG\r\n"
    stage.a.resume()
    with stage.a.raw() as client:
        client.command("CONFIG", "RESETSTAT")
        hup(stage.proxy, head() + a_pool({"b": stage.b.address}, "another",
                                         interval="20ms"))
        before = stage.proxy.stats.value("pointsman_server_probes_total")
        eventually(lambda: stage.proxy.stats.value(
            "pointsman_server_probes_total") > before + 20)
        assert b"cmdstat_ping" not in client.command("INFO", "COMMANDSTATS")


def test_reloads_without_a_pause_put_no_probe_off(world):
    stage = Stage(world)
    stage.a.resume()
    for number in range(100):
        hup(stage.proxy, head() + a_pool(
            stage.servers, more=f"pipeline_limit: {number + 1}"))
        if stage.proxy.events(CHANGED, server="a", to="half open"):
            break
    stage.proxy.wait_for_event(CHANGED, server="a", to="half open", timeout=1)
    eventually(lambda: stage.all(serves))
