"""Sentinels that say what no honest one would, each on a real master."""

import pytest
import redis

from harness import eventually, seconds
from lib_clock import now
from lib_dns import NameServer
from lib_fake_sentinel import FakeSentinel
from lib_sentinel import REPLICATION, Writer

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
      failover_hold: $hold
      servers: [{name: s1, master: m1}]
"""


class Scene:
    """A master, another server, three Sentinels, a proxy that believes them."""

    def __init__(self, world, seeds=3, sentinels=3, hosts=(), more="",
                 hold="5s"):
        self.master, self.other = world.start_servers(2, *REPLICATION)
        self.sentinels = [
            FakeSentinel(m1=("127.0.0.1", self.master.port, 4))
            for _ in range(sentinels)]
        for sentinel in self.sentinels:
            sentinel.others = [o for o in self.sentinels if o is not sentinel]
        self.proxy = world.proxy(
            CONFIG, folder=world.folder,
            seeds=", ".join(self.addresses(seeds, hosts)), more=more,
            hold=hold)
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

    def tell(self, *channels):
        """Events of the first Sentinel, which fails the master over."""
        for channel in channels:
            self.sentinels[0].tell(
                channel, f"master m1 127.0.0.1 {self.master.port}")

    def wait_for_hold(self):
        self.proxy.wait_for_event(
            "writes to a master are held: a failover has begun")

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
    other = scene.other.client()
    assert other.get("a") == b"1"
    # What Sentinels tell each other there is heard as well.
    eventually(lambda: other.pubsub_numsub(HELLO)[0][1] == 1,
               what="the proxy to listen on the master")
    other.publish(HELLO, "127.0.0.1,1,%s,9,m1,127.0.0.1,%d,9" % (
        scene.sentinels[1].run_id, scene.master.port))
    scene.proxy.wait_for_event(HELD, told=9)


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
    start = now()
    for number in range(50):
        assert scene.client.set(f"k{number}", 1)
    assert now() - start < seconds(5)
    assert scene.other.client().dbsize() == 0
    for sentinel in scene.sentinels + fakes:
        sentinel.close()


def test_failover_that_is_given_up_lets_writes_go_on(scene):
    scene.sentinels[0].flags = "master,failover_in_progress"
    scene.tell("+try-failover")
    scene.wait_for_hold()
    other = scene.proxy.raw()
    other.send(b"SET b 1\r\n")
    wait_for_rounds(scene, 2)
    assert scene.client.get("b") is None
    scene.sentinels[0].flags = "master"
    scene.tell("-failover-abort-no-good-slave")
    assert other.read_reply() == b"+OK\r\n"
    assert scene.master.client().get("b") == b"1"
    assert scene.value("switches_total") == 0


def test_failover_that_does_not_end_is_not_waited_for(world):
    """Most Sentinels see it, and go on seeing it."""
    scene = Scene(world, hold="1s")
    for sentinel in scene.sentinels:
        sentinel.flags = "master,failover_in_progress"
    scene.tell("+try-failover")
    scene.wait_for_hold()
    with pytest.raises(redis.ResponseError, match="CLUSTERDOWN proxy: the "
                       "failover of shard s1 has not come to an end within "
                       "1000 ms, command was not executed"):
        scene.client.set("a", 1)
    assert scene.client.get("a") is None
    assert scene.value("holds_stuck_total") == 1
    for sentinel in scene.sentinels:
        sentinel.flags = "master"
    scene.proxy.wait_for_event(GO_ON)
    assert scene.client.set("a", 1)
    assert scene.master.client().get("a") == b"1"
    scene.close()


def test_failover_that_is_heard_of_too_late_is_counted(scene):
    scene.tell("+failover-state-wait-promotion")
    scene.wait_for_hold()
    late = "a failover was heard of too late: writes to the old address may " \
        "be lost"
    scene.proxy.wait_for_event(late)
    scene.say(scene.other, 5, 0, 1, 2)
    eventually(lambda: scene.value("switches_total") == 1)
    assert scene.client.set("a", 1)
    assert scene.other.client().get("a") == b"1"
    assert scene.value("holds_late_total") == 1
    # Another one that no event announces.
    scene.say(scene.master, 6, 0, 1, 2)
    eventually(lambda: scene.value("switches_total") == 2)
    assert scene.value("holds_late_total") == 2
    assert len(scene.proxy.events(late)) == 2


def test_coordinated_failover_loses_nothing(scene):
    """The primary hands over by itself, as its Sentinel has told it to."""
    scene.other.client().execute_command("REPLICAOF", "127.0.0.1",
                                         scene.master.port)
    eventually(lambda: scene.master.client().info("replication").get(
        "slave0", {}).get("state") == "online", 20,
               "the replica to be online")
    writers = [Writer(scene.proxy, number) for number in range(3)]
    eventually(lambda: sum(w.acknowledged for w in writers) > 50)
    scene.tell("+new-epoch", "+try-failover", "+elected-leader",
               "+failover-state-select-slave", "+selected-slave",
               "+failover-state-send-slaveof-noone")
    scene.wait_for_hold()
    scene.master.client().execute_command(
        "FAILOVER", "TO", "127.0.0.1", scene.other.port, "TIMEOUT", 5000)
    scene.tell("+failover-state-wait-promotion")
    eventually(lambda: scene.other.client().execute_command("ROLE")[0] ==
               b"master", 20)
    scene.say(scene.other, 5, 0, 1, 2)
    scene.tell("+promoted-slave", "+failover-state-reconf-slaves",
               "+failover-end")
    for sentinel in scene.sentinels:
        sentinel.tell("+switch-master", f"m1 127.0.0.1 {scene.master.port} "
                      f"127.0.0.1 {scene.other.port}")
    eventually(lambda: scene.value("switches_total") == 1)
    before = sum(w.acknowledged for w in writers)
    eventually(lambda: sum(w.acknowledged for w in writers) > before + 50)
    for writer in writers:
        writer.stop()
    for writer in writers:
        assert not writer.errors, writer.errors[:3]
        assert int(scene.other.client().get(writer.key)) == writer.acknowledged
    assert scene.value("holds_late_total") == 0


def test_sentinel_in_tilt_has_no_vote(scene):
    """Its clock has jumped: what it says is doubtful, until it says it is over."""
    scene.proxy.expect_errors(NOBODY)
    tilted = scene.sentinels[:2]
    for sentinel in tilted:
        sentinel.tell("+tilt", "#tilt mode entered")
    scene.proxy.wait_for_event(NOBODY, reason="too few Sentinels answer")
    scene.say(scene.other, 7, 0, 1)
    wait_for_rounds(scene, 2)
    assert scene.value("switches_total") == 0
    assert scene.client.set("a", 1)
    assert scene.other.client().dbsize() == 0
    for sentinel in tilted:
        sentinel.tell("-tilt", "#tilt mode exited")
    eventually(lambda: scene.value("switches_total") == 1)
