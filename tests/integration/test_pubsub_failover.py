"""Who listens, or keeps a cache, goes on: slots that move, nodes that fail."""

import collections
import itertools
import socket
import threading

import pytest

from harness import eventually, running_world, seconds
from lib_cache import Cache, race
from lib_cluster import TROUBLE, Background, Cluster, Resharder, start_proxy
from lib_sentinel import Sentinels
from resp import RawClient


CHANNEL = "failing"


@pytest.fixture(scope="module", name="world")
def world_fixture():
    """One world, whose cluster all of these tests change and leave whole."""
    yield from running_world()


@pytest.fixture(scope="module", name="cluster")
def cluster_fixture(world):
    return Cluster(world)


@pytest.fixture(scope="module", name="proxy")
def proxy_fixture(world, cluster):
    return start_proxy(world, cluster.seeds())


class Listener:
    """A client that keeps what it hears, as [kind, channel, ..., text]."""

    def __init__(self, raw, *lines):
        self.raw = raw
        self.heard = []
        for line in lines:
            self.raw.send_command(*line.split())
            self.raw.read_replies(len(line.split()) - 1)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        try:
            while True:
                self.heard.append(self.raw.read_reply().split(b"\r\n")[2::2])
        except (OSError, ValueError):
            return

    def close(self):
        self.raw.socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self.raw.close()

    def texts(self):
        return [words[-1].decode() for words in self.heard]

    def hears_more(self):
        """Until it has heard another message."""
        count = len(self.heard)
        eventually(lambda: len(self.heard) > count, 40, "another message")

    def hears(self, publish, text):
        """Until it has heard one of these, once each is published."""
        sent = 0

        def has_heard():
            nonlocal sent
            publish(f"{text}{sent}")
            sent += 1
            return self.has_heard(text)

        eventually(has_heard, 40, f"a message {text}")

    def has_heard(self, start):
        return any(heard.startswith(start) for heard in self.texts())


@pytest.fixture(name="listen")
def listen_fixture(proxy):
    """Makes listeners, which leave when the test is over."""
    listeners = []

    def make(*lines):
        listeners.append(Listener(proxy.raw(timeout=60), *lines))
        return listeners[-1]

    yield make
    for listener in listeners:
        listener.close()


def no_twice(listener):
    counts = collections.Counter(listener.texts())
    assert not [text for text, count in counts.items() if count > 1]


def test_a_cluster_tells_everybody_once(proxy, listen, cluster):
    """By name and by pattern, also what is published at another node."""
    client = proxy.client()
    by_name = listen("SUBSCRIBE a b c d e f")
    by_pattern = listen("PSUBSCRIBE ? *")
    for number, channel in enumerate("abcdef" * 5):
        assert client.publish(channel, f"ours{number}") == 3
    for number, node in enumerate(cluster.primaries()):
        node.command("PUBLISH", "a", f"theirs{number}")
    eventually(lambda: len(by_name.heard) == 33)
    eventually(lambda: len(by_pattern.heard) == 66)
    no_twice(by_name)
    assert client.execute_command("PUBSUB", "NUMSUB", "a") == [b"a", 1]
    assert client.execute_command("PUBSUB", "NUMPAT") == 2


def test_events_of_keys_come_from_all_primaries(proxy, listen, cluster):
    for node in cluster.primaries():
        node.command("CONFIG", "SET", "notify-keyspace-events", "K$")
    listener = listen("PSUBSCRIBE __keyspace@0__:event*")
    client = proxy.client()
    for number in range(30):
        client.set(f"event{number}", "x")
    eventually(lambda: len(listener.heard) == 30)
    assert {words[2].decode() for words in listener.heard} == \
        {f"__keyspace@0__:event{number}" for number in range(30)}
    for node in cluster.primaries():
        node.command("CONFIG", "SET", "notify-keyspace-events", "")


def test_shard_channels_follow_their_slot(proxy, listen, cluster):
    client = proxy.client()
    listener = listen("SSUBSCRIBE moving")
    other = listen("SSUBSCRIBE staying")

    def spublish(channel, text):
        return client.execute_command("SPUBLISH", channel, text)

    listener.hears(lambda t: spublish("moving", t), "before")
    for turn in range(2):
        owner = cluster.owner_of("moving")
        target = next(n for n in cluster.primaries() if n is not owner)
        cluster.move_key("moving", target)
        listener.hears(lambda t: spublish("moving", t), f"turn{turn}-")
        # It is known where its clients are, which are told nothing.
        eventually(lambda: spublish("moving", "x") == 1)
    assert {words[0] for words in listener.heard} == {b"smessage"}
    assert spublish("staying", "y") == 1
    eventually(lambda: other.texts() == ["y"])


CACHED = [f"cached{n}" for n in range(10)]
# How clients track; with NOLOOP over connections of their own.
WAYS = ["", "BCAST", "NOLOOP", "BCAST NOLOOP"]


@pytest.mark.parametrize("options", ["", "BCAST", "NOLOOP"])
def test_caches_hear_of_slots_that_move(proxy, cluster, options):
    slots = {cluster.slot(key) for key in CACHED[:4]}
    with proxy.raw() as raw, proxy.raw() as writer:
        cache = Cache(raw, *options.split())
        with Resharder(cluster, slots) as resharder:
            race(cache, writer, CACHED, 150)
        assert resharder.moves > 0
        race(cache, writer, CACHED, 2)


@pytest.mark.parametrize("options", ["", "BCAST", "NOLOOP"])
def test_caches_hear_of_a_primary_that_is_replaced(proxy, cluster, options):
    def replace(number):
        if number == 3:
            primary = cluster.owner_of(CACHED[0])
            cluster.fail_over(cluster.replicas_of(primary)[0])

    cluster.wait()
    with proxy.raw() as raw, proxy.raw() as writer:
        cache = Cache(raw, *options.split())
        race(cache, writer, CACHED, 10, replace)
        # One with its own connections may go on hearing of its keys from the
        # old primary, as a replica.
        eventually(lambda: cache.heed() or cache.told_all > 0 or
                   options == "NOLOOP", what="the news of another primary")


class Caches:
    """One for each way, and one that is told over another connection."""

    def __init__(self, proxy):
        self.caches = [Cache(proxy.raw(), *way.split()) for way in WAYS]
        self.caches.append(Cache(proxy.raw(), "NOLOOP", told_over=proxy.raw()))
        self.writer = proxy.raw()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.writer.close()
        for cache in self.caches:
            cache.raw.close()
            if cache.other is not None:
                cache.other.close()

    def fill(self):
        for key in CACHED:
            assert self.writer.command("SET", key, "old") == b"+OK\r\n"
        for cache in self.caches:
            eventually(lambda c=cache: self._keeps_all(c), what="a full cache")

    @staticmethod
    def _keeps_all(cache):
        cache.ask(CACHED)
        cache.take(CACHED)
        cache.heed()
        return len(cache.values) == len(CACHED)

    def _write(self, key):
        return self.writer.command("SET", key, "new") == b"+OK\r\n"

    def check(self):
        """What is written by now is believed by nobody to be as it was."""
        for key in CACHED:
            eventually(lambda k=key: self._write(k), 40, "a write")
        for cache in self.caches:
            eventually(lambda c=cache: c.believes_only(
                lambda _: b"$3\r\nnew\r\n"), 20, "no old value")
            race(cache, self.writer, CACHED, 2)


@pytest.fixture(name="victim")
def victim_fixture(cluster):
    """The primary of the channel that is failed over; whole at the end."""
    cluster.wait()  # others have failed over before, and have not waited
    victim = cluster.owner_of(CHANNEL)
    yield victim
    if not victim.server.process.is_running():
        victim.server.start()
    cluster.wait()


# A shard channel moves with its slot, and the old node may have told the new one
# what that has not told yet.
SPREAD = ("name", "pattern", "everything")


@pytest.fixture(name="listeners")
def listeners_fixture(listen):
    return {
        "name": listen(f"SUBSCRIBE {CHANNEL}"),
        "pattern": listen("PSUBSCRIBE fail*"),
        "everything": listen("PSUBSCRIBE *"),
        "shard": listen(f"SSUBSCRIBE {CHANNEL}")}


class Publisher(Background):
    """Publishes one number after the other."""

    def __init__(self, proxy, command):
        super().__init__()
        self.client = proxy.client()
        self.command = command
        self.tried = 0
        self.answered = []

    def turn(self):
        text = f"{self.command}{self.tried}"
        self.tried += 1
        try:
            self.client.execute_command(self.command, CHANNEL, text)
            self.answered.append(text)
        except TROUBLE:
            pass  # the node may be gone yet

    def is_answered(self, count=30):
        """So many more times."""
        enough = len(self.answered) + count
        eventually(lambda: len(self.answered) >= enough, 40,
                   f"{self.command} to be answered")


class Witnesses:
    """One listener at each node itself.

    Nodes tell one another what is published over links that they cut when a
    node is slow, a machine that stands still for a second is enough; what was
    on them is lost.  A client at that node misses it, with a proxy or without.
    """

    def __init__(self, cluster):
        self.nodes = cluster.nodes
        self.listeners = [
            Listener(RawClient("127.0.0.1", node.port, seconds(60)),
                     f"SUBSCRIBE {CHANNEL}") for node in self.nodes]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            listener.close()

    def have_told(self, listeners):
        """What every node has told, once it and all else has arrived.

        What a node publishes arrives in order: its last message ends it.
        """
        waiting = [*self.listeners, *listeners]
        numbers = itertools.count()

        def has_come_from(node):
            end = f"end-of-{node.port}-"
            node.command("PUBLISH", CHANNEL, f"{end}{next(numbers)}")
            return all(listener.has_heard(end) for listener in waiting)

        for node in self.nodes:
            eventually(lambda n=node: has_come_from(n), 40, "the last message")
        return set.intersection(*(set(listener.texts())
                                  for listener in self.listeners))


def test_a_planned_failover_tells_everything_once(proxy, listeners, cluster,
                                                  victim):
    """What is published before it, while it keeps clients waiting, and after.

    The node that is listened to may be asked to tell what it has held only when
    it has become a replica.
    """
    spread = [listeners[name] for name in SPREAD]
    with Witnesses(cluster) as witnesses:
        with Publisher(proxy, "PUBLISH") as publisher, \
                Publisher(proxy, "SPUBLISH"):
            publisher.is_answered()
            cluster.fail_over(cluster.replicas_of(victim)[0])
            publisher.is_answered()
            listeners["shard"].hears_more()
            cluster.wait()
            publisher.is_answered()
        told = witnesses.have_told(spread) & set(publisher.answered)
    assert told
    for listener in spread:
        assert told <= set(listener.texts())
        no_twice(listener)
    client = proxy.client()
    eventually(lambda: client.publish(CHANNEL, "counted") == 3)
    assert client.execute_command("PUBSUB", "NUMSUB", CHANNEL) == \
        [CHANNEL.encode(), 1]
    assert client.execute_command("PUBSUB", "NUMPAT") == 2


def test_caches_and_listeners_outlive_a_death(proxy, listeners, cluster,
                                              victim):
    with Caches(proxy) as caches:
        caches.fill()
        victim.server.kill()
        caches.check()
    cluster.wait_for_new_primary(victim)
    with Publisher(proxy, "PUBLISH"), Publisher(proxy, "SPUBLISH"):
        for listener in listeners.values():
            listener.hears_more()
    for name in SPREAD:
        no_twice(listeners[name])
    victim.server.start()
    cluster.wait()
    client = proxy.client()
    eventually(lambda: client.publish(CHANNEL, "counted") == 3)


def test_caches_and_listeners_follow_a_master(world):
    sentinels = Sentinels(world, names=("m1",), replicas=1)
    proxy = sentinels.proxy().start()
    client = proxy.client()
    listener = Listener(proxy.raw(timeout=60),
                        "SUBSCRIBE news", "PSUBSCRIBE n*")
    eventually(lambda: client.publish("news", "first") == 2)
    old = sentinels.primary()
    with Caches(proxy) as caches:
        caches.fill()
        old.kill()
        sentinels.wait_for_switch(old)
        caches.check()

    def publish(text):
        try:
            client.publish("news", text)
        except TROUBLE:
            pass

    listener.hears(publish, "second")
    eventually(lambda: client.publish("news", "third") == 2)
