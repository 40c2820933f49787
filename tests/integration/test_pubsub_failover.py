"""Who listens goes on listening: slots that move, nodes that fail."""

import socket
import threading

import pytest

from harness import eventually, running_world
from lib_cluster import TROUBLE, Cluster, start_proxy
from lib_sentinel import Sentinels


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

    def __init__(self, proxy, *lines):
        self.raw = proxy.raw(timeout=60)
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

    def hears(self, publish, text):
        """Until it has heard one of these, once each is published."""
        sent = 0

        def has_heard():
            nonlocal sent
            publish(f"{text}{sent}")
            sent += 1
            return any(heard.startswith(text) for heard in self.texts())

        eventually(has_heard, 40, f"a message {text}")


@pytest.fixture(name="listen")
def listen_fixture(proxy):
    """Makes listeners, which leave when the test is over."""
    listeners = []

    def make(*lines):
        listeners.append(Listener(proxy, *lines))
        return listeners[-1]

    yield make
    for listener in listeners:
        listener.close()


def no_twice(listener):
    texts = listener.texts()
    assert len(texts) == len(set(texts)), texts


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


@pytest.mark.parametrize("planned", [True, False])
def test_listeners_outlive_a_failover(proxy, listen, cluster, planned):
    client = proxy.client()
    channel = "failing"
    listeners = {
        "name": listen(f"SUBSCRIBE {channel}"),
        "pattern": listen("PSUBSCRIBE fail*"),
        "shard": listen(f"SSUBSCRIBE {channel}")}
    victim = cluster.owner_of(channel)
    if planned:
        cluster.fail_over(cluster.replicas_of(victim)[0])
    else:
        victim.server.kill()
        cluster.wait_for_new_primary(victim)

    def publish(command):
        def attempt(text):
            try:
                client.execute_command(command, channel, text)
            except TROUBLE:
                pass  # the node may be gone yet
        return attempt

    listeners["name"].hears(publish("PUBLISH"), "after-name")
    listeners["pattern"].hears(publish("PUBLISH"), "after-pattern")
    listeners["shard"].hears(publish("SPUBLISH"), "after-shard")
    no_twice(listeners["name"])
    no_twice(listeners["pattern"])
    if not planned:
        victim.server.start()
    cluster.wait()
    # By name and by pattern.
    eventually(lambda: client.publish(channel, "counted") == 2)


def test_listeners_follow_a_master(world):
    sentinels = Sentinels(world, names=("m1",), replicas=1)
    proxy = sentinels.proxy().start()
    client = proxy.client()
    listener = Listener(proxy, "SUBSCRIBE news", "PSUBSCRIBE n*")
    eventually(lambda: client.publish("news", "first") == 2)
    old = sentinels.primary()
    old.kill()
    sentinels.wait_for_switch(old)

    def publish(text):
        try:
            client.publish("news", text)
        except TROUBLE:
            pass

    listener.hears(publish, "second")
    eventually(lambda: client.publish("news", "third") == 2)
