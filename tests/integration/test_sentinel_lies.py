"""Sentinels that say what no honest one would, each on a real master."""

import time

import pytest

from harness import eventually, seconds
from lib_dns import NameServer
from lib_fake_sentinel import FakeSentinel

NOBODY = "no address of the master is vouched for"
HELD = "writes to a master are held: a Sentinel tells of a higher epoch"
GO_ON = "writes to a master go on: the Sentinels stand by its epoch"
HELLO = "__sentinel__:hello"

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      state_file: $folder/epochs
      $more
    pool:
      listen: 127.0.0.1:0
      redis: true
      sentinels: [$seeds]
      sentinel_interval: 200ms
      servers: [{name: s1, master: m1}]
"""


class Scene:
    """A master, another server, three Sentinels, a proxy that believes them."""

    def __init__(self, world, seeds=3, sentinels=3, hosts=(), more=""):
        self.master, self.other = world.start_servers(2)
        self.sentinels = [
            FakeSentinel(m1=("127.0.0.1", self.master.port, 4))
            for _ in range(sentinels)]
        for sentinel in self.sentinels:
            sentinel.others = [o for o in self.sentinels if o is not sentinel]
        self.proxy = world.proxy(
            CONFIG, folder=world.folder,
            seeds=", ".join(self.addresses(seeds, hosts)), more=more)
        self.client = self.proxy.client()
        assert self.client.set("first", 1)
        self.wait_for_listeners(self.sentinels[len(hosts) > 0:])

    def wait_for_listeners(self, sentinels):
        eventually(lambda: all(s.listeners for s in sentinels),
                   what="the proxy to listen")

    def addresses(self, count, hosts):
        return [s.address.replace("127.0.0.1", host) for s, host in
                zip(self.sentinels, list(hosts) + ["127.0.0.1"] * count)]

    def say(self, server, epoch, *numbers):
        for number in numbers:
            self.sentinels[number].places["m1"] = ("127.0.0.1", server.port,
                                                   epoch)

    def close(self):
        for sentinel in self.sentinels:
            sentinel.close()

    def value(self, name):
        return self.proxy.stats.value(f"pointsman_sentinel_{name}")


@pytest.fixture
def scene(world):
    this = Scene(world)
    yield this
    this.close()


def wait_for_rounds(scene, count):
    target = scene.value("rounds_total") + count
    eventually(lambda: scene.value("rounds_total") >= target,
               what=f"{count} rounds")


def test_minority_moves_nothing_whatever_it_promises(scene):
    scene.say(scene.other, 99, 0)
    # Writes wait a moment, as it might be the first who knows.
    scene.proxy.wait_for_event(HELD, told=99)
    assert scene.client.set("a", 1)
    scene.proxy.wait_for_event(GO_ON)
    scene.say(scene.other, 100, 0)
    wait_for_rounds(scene, 3)
    assert scene.value("holds_total") == 1
    assert scene.client.set("b", 1)
    assert scene.other.client().dbsize() == 0
    # With most of them it is a switch.
    scene.say(scene.other, 101, 1, 2)
    eventually(lambda: scene.value("switches_total") == 1)
    assert scene.client.set("c", 1)
    assert scene.other.client().get("c") == b"1"


def test_older_epoch_is_not_believed_even_of_all(scene):
    scene.proxy.expect_errors(NOBODY)
    scene.say(scene.other, 3, 0, 1, 2)
    scene.proxy.wait_for_event(
        NOBODY, reason="answers are older than what was believed")
    assert scene.client.set("a", 1)
    assert scene.master.client().get("a") == b"1"
    assert scene.other.client().dbsize() == 0


def test_hello_on_the_master_holds_writes(scene):
    master = scene.master.client()
    eventually(lambda: master.pubsub_numsub(HELLO)[0][1] == 1,
               what="the proxy to listen on the master")
    run_id = scene.sentinels[1].run_id
    hello = "127.0.0.1,1,%s,9,m1,127.0.0.1,%d,%d"
    # Of a stranger, of another master, of no higher epoch: nothing happens.
    master.publish(HELLO, hello % ("f" * 40, scene.other.port, 9))
    master.publish(HELLO, (hello % (run_id, scene.other.port, 9))
                   .replace("m1", "m2"))
    master.publish(HELLO, hello % (run_id, scene.other.port, 4))
    master.publish(HELLO, "nonsense")
    assert scene.client.set("a", 1)
    assert scene.value("holds_total") == 0
    master.publish(HELLO, hello % (run_id, scene.other.port, 9))
    scene.proxy.wait_for_event(HELD, told=9)
    sets = master.info("commandstats")["cmdstat_set"]["calls"]
    other = scene.proxy.raw()
    other.send(b"SET b 1\r\n")
    assert scene.client.get("a") == b"1"
    assert master.info("commandstats")["cmdstat_set"]["calls"] == sets
    # The Sentinels stand by what they say: a second later it goes on.
    assert other.read_reply() == b"+OK\r\n"
    assert scene.proxy.events(GO_ON)


def test_nonsense_is_no_address(scene):
    scene.proxy.expect_errors(NOBODY)
    for number, host in enumerate(("", "a b", "x" * 300)):
        scene.sentinels[number].places["m1"] = (host, 1, 5)
    scene.proxy.wait_for_event("Sentinel does not answer as it should",
                               reason="SENTINEL MASTER: not understood")
    scene.proxy.wait_for_event(NOBODY, reason="no Sentinel is reachable")
    assert scene.client.set("a", 1)


def test_name_of_a_host_is_followed(scene):
    for sentinel in scene.sentinels:
        sentinel.places["m1"] = ("localhost", scene.other.port, 5)
    eventually(lambda: scene.value("switches_total") == 1)
    assert scene.client.set("a", 1)
    assert scene.other.client().get("a") == b"1"


def test_sentinels_that_have_names_are_looked_up(world):
    """One does not resolve at first, another leads to a dead place as well."""
    dns = NameServer()
    dns.set("two.test", a=["127.0.0.1"], ttl=1)
    dns.set("three.test", a=["127.0.0.2", "127.0.0.1"], ttl=1)
    scene = Scene(world, hosts=("one.test", "two.test", "three.test"),
                  more=f"resolver: 127.0.0.1:{dns.port}\n"
                  "  resolve_ttl_min: 50ms")
    scene.proxy.wait_for_event("Sentinel does not answer as it should",
                               reason="its name does not resolve")
    # The others know it by its address, until it is found to be the same.
    eventually(lambda: scene.value("known") == 4)
    dns.set("one.test", a=["127.0.0.1"], ttl=1)
    eventually(lambda: scene.value("reached") == scene.value("known") == 3)
    scene.sentinels[1].close()
    scene.say(scene.other, 5, 0, 2)
    eventually(lambda: scene.value("switches_total") == 1)
    assert scene.client.set("a", 1)
    assert scene.other.client().get("a") == b"1"
    scene.close()
    dns.close()


def test_one_seed_cannot_make_a_majority_of_its_own(world):
    """The first of three lists Sentinels that nobody else knows."""
    scene = Scene(world, seeds=3)
    fakes = [FakeSentinel(m1=("127.0.0.1", scene.other.port, 50))
             for _ in range(9)]
    scene.sentinels[0].others += fakes
    eventually(lambda: all(f.listeners for f in fakes),
               what="the proxy to ask them all")
    wait_for_rounds(scene, 3)
    assert scene.value("switches_total") == 0
    start = time.monotonic()
    for number in range(50):
        assert scene.client.set(f"k{number}", 1)
    assert time.monotonic() - start < seconds(5)
    assert scene.other.client().dbsize() == 0
    for sentinel in scene.sentinels + fakes:
        sentinel.close()


def test_failover_that_is_given_up_lets_writes_go_on(scene):
    event = f"master m1 127.0.0.1 {scene.master.port}"
    scene.sentinels[0].flags = "master,failover_in_progress"
    scene.sentinels[0].tell("+try-failover", event)
    scene.proxy.wait_for_event(
        "writes to a master are held: a failover has begun")
    other = scene.proxy.raw()
    other.send(b"SET b 1\r\n")
    wait_for_rounds(scene, 2)
    assert scene.client.get("b") is None
    scene.sentinels[0].flags = "master"
    scene.sentinels[0].tell("-failover-abort-no-good-slave", event)
    assert other.read_reply() == b"+OK\r\n"
    assert scene.master.client().get("b") == b"1"
    assert scene.value("switches_total") == 0
