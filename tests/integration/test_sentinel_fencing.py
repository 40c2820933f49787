"""Nothing is written to a primary that is none any more, though it says it is
one for seconds: after a crash, after a failover that was asked for, after it was
frozen, and through a proxy that is started meanwhile."""

import threading

import pytest
import redis

from harness import eventually, seconds
from lib_sentinel import Sentinels, fail_over, says_master, started

MAYBE = "may have been executed"


class Marker(threading.Thread):
    """Sets keys that tell when they were written, in pipelines."""

    def __init__(self, proxy, number):
        super().__init__(daemon=True)
        self.client = proxy.client(socket_timeout=seconds(30))
        self.number = number
        self.phase = "before"
        self.acknowledged = {"before": set(), "after": set()}
        self.errors = []
        self.stopping = threading.Event()
        self.start()

    def run(self):
        count = 0
        while not self.stopping.is_set():
            phase = self.phase
            pipeline = self.client.pipeline(transaction=False)
            keys = [f"{phase}:{self.number}:{count + n}" for n in range(5)]
            count += len(keys)
            for key in keys:
                pipeline.set(key, 1)
            replies = pipeline.execute(raise_on_error=False)
            for key, reply in zip(keys, replies):
                if isinstance(reply, Exception):
                    self.errors.append(str(reply))
                else:
                    self.acknowledged[phase].add(key.encode())

    def stop(self):
        self.stopping.set()
        self.join(seconds(40))
        assert not self.is_alive()


def wait_for_marks(markers, phase, more=100):
    def count():
        return sum(len(m.acknowledged[phase]) for m in markers)
    target = count() + more
    eventually(lambda: count() >= target, 30, f"marks {phase}")


def refuse_demotion(server):
    """It stays a master for longer than the eight seconds it has anyhow."""
    server.client().execute_command("ACL", "SETUSER", "default", "-replicaof",
                                    "-slaveof")


def kill(sentinels):
    old = sentinels.primary()
    old.kill()
    new = sentinels.wait_for_switch(old)
    old.start()
    refuse_demotion(old)
    return old, new


def plan(sentinels):
    refuse_demotion(sentinels.primary())
    return fail_over(sentinels)


def freeze(sentinels):
    old = sentinels.primary()
    refuse_demotion(old)
    old.pause()
    new = sentinels.wait_for_switch(old)
    old.resume()
    return old, new


def check_keys(markers, old, new):
    """What was acknowledged behind the switch is on the new one alone."""
    after = set().union(*(m.acknowledged["after"] for m in markers))
    assert len(after) >= 100
    assert after <= set(new.client().keys("after:*"))
    assert old.client().keys("after:*") == []


@pytest.mark.parametrize("how", [kill, freeze, plan],
                         ids=["killed", "frozen", "planned"])
def test_old_primary_gets_nothing(world, how):
    sentinels = Sentinels(world)
    proxy = started(sentinels.proxy())
    markers = [Marker(proxy, number) for number in range(4)]
    wait_for_marks(markers, "before")
    old, new = how(sentinels)
    eventually(lambda: proxy.stats.value(
        "pointsman_sentinel_switches_total") == 1)
    for marker in markers:
        marker.phase = "after"
    wait_for_marks(markers, "after")
    assert says_master(old)
    check_keys(markers, old, new)
    for marker in markers:
        marker.stop()
    errors = [e for m in markers for e in m.errors]
    if how is plan:
        assert not errors, errors[:3]
        for marker in markers:  # the new one was not behind, either
            assert marker.acknowledged["before"] <= set(new.client().keys())
    assert all(MAYBE in error for error in errors), errors[:3]
    # The same for a proxy that begins while there are two who say so.
    proxy.stop()
    again = started(sentinels.proxy())
    for number in range(100):
        assert again.client().set(f"after:again:{number}", number)
    assert says_master(old)
    assert old.client().keys("after:*") == []
    assert len(new.client().keys("after:again:*")) == 100


def test_who_waits_is_moved_by_a_planned_failover(world):
    """At once, not when the old primary is told ten seconds later."""
    sentinels = Sentinels(world)
    proxy = started(sentinels.proxy())
    old = sentinels.primary()
    refuse_demotion(old)
    clients = [proxy.raw() for _ in range(3)]
    for number, client in enumerate(clients):
        client.send(f"BLPOP list:{number} 0\r\n".encode())
    eventually(lambda: old.client().info("clients")["blocked_clients"] == 3)
    _, new = fail_over(sentinels)
    eventually(lambda: new.client().info("clients")["blocked_clients"] == 3,
               20, "the clients to wait at the new primary")
    for number, client in enumerate(clients):
        name = f"list:{number}".encode()
        assert proxy.client().rpush(name, "x") == 1
        assert client.read_reply() == b"*2\r\n$6\r\n" + name + \
            b"\r\n$1\r\nx\r\n"


def test_what_was_sent_to_a_frozen_primary_is_not_sent_again(world):
    """Nobody has answered it when its connection is cut."""
    sentinels = Sentinels(world)
    proxy = started(sentinels.proxy())
    client = proxy.client()
    assert client.incr("counter") == 1
    old = sentinels.primary()
    old.wait_for_replicas()
    old.pause()
    with pytest.raises(redis.ResponseError, match=MAYBE):
        client.incr("counter")
    new = sentinels.wait_for_switch(old)
    assert client.get("counter") == b"1"
    assert client.incr("counter") == 2
    assert new.client().get("counter") == b"2"
    old.resume()
