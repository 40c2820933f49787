"""Masters that Sentinels name: failovers, Sentinels that are wrong or gone."""

import signal

import pytest
import redis

from harness import eventually
from lib_cluster_checker import Crowd
from lib_sentinel import (Sentinels, Writer, fail_over, is_ready,
                          says_master, started)

NOBODY = "no address of the master is vouched for"
HIGHER = "a Sentinel tells of a higher epoch"


@pytest.fixture
def sentinels(world):
    """Three Sentinels over one master with two replicas."""
    return Sentinels(world)


def test_planned_failover_under_load_loses_nothing(sentinels):
    proxy = started(sentinels.proxy())
    writers = [Writer(proxy, number) for number in range(4)]
    for _ in range(2):
        before = sum(w.acknowledged for w in writers)
        eventually(lambda: sum(w.acknowledged for w in writers) > before + 50,
                   what="writes")
        _, new = fail_over(sentinels)
        before = sum(w.acknowledged for w in writers)
        eventually(lambda: sum(w.acknowledged for w in writers) > before + 50,
                   what="writes after the failover")
    for writer in writers:
        writer.stop()
    for writer in writers:
        assert not writer.errors, writer.errors[:3]
        assert int(new.client().get(writer.key)) == writer.acknowledged
    assert proxy.stats.value("pointsman_sentinel_holds_total") >= 2


def keys_by_shard(sentinels):
    """What is where; no key is twice."""
    found = [set(sentinels.primary(number).client().keys())
             for number in range(len(sentinels.shards))]
    assert sum(map(len, found)) == len(set().union(*found))
    return found


def check_primaries(sentinels, crowd):
    """The primaries have what the clients know to be there."""
    clients = [sentinels.primary(number).client()
               for number in range(len(sentinels.shards))]
    for checker in crowd.clients:
        for key in checker.keys + checker.counters:
            values = {client.get(key) for client in clients} - {None}
            assert values == {checker.model[key]} if key in checker.model \
                else not values, (key, values)


@pytest.mark.plain_only
def test_ten_shards_are_failed_over_and_no_key_moves(world):
    sentinels = Sentinels(world, [f"acc{n}" for n in range(10)], replicas=1)
    proxy = started(sentinels.proxy(distribution="ketama"))
    client = proxy.client()
    marks = [f"mark:{n}" for n in range(200)]
    assert client.mset(dict.fromkeys(marks, 0))
    before = keys_by_shard(sentinels)
    assert all(before)
    with Crowd(proxy, 4) as crowd:
        for number in range(len(sentinels.shards)):
            done = crowd.count("done")
            fail_over(sentinels, number)
            eventually(lambda d=done: crowd.count("done") > d + 100,
                       what="answers")
            assert client.mset(dict.fromkeys(marks, number))
    assert crowd.kinds() == {}
    assert crowd.count("maybe") == crowd.count("not_run") == 0
    check_primaries(sentinels, crowd)
    after = keys_by_shard(sentinels)
    for there, was in zip(after, before):
        assert {key for key in there if key.startswith(b"mark:")} == was
    assert set(client.mget(marks)) == {b"9"}
    assert proxy.stats.value("pointsman_sentinel_switches_total") == 10


def test_one_sentinel_alone_is_not_believed(sentinels):
    """Its view is old, and the two others are gone."""
    proxy = started(sentinels.proxy())
    proxy.expect_errors(NOBODY)
    client = proxy.client()
    stale = sentinels.sentinels[2]
    stale.pause()
    old, new = fail_over_without(sentinels, stale)
    assert client.set("a", 1)
    for sentinel in sentinels.sentinels[:2]:
        sentinel.kill()
    stale.resume()
    proxy.wait_for_event(NOBODY, reason="too few Sentinels answer")
    assert client.set("b", 2)
    assert new.client().get("b") == b"2"
    assert old.client().get("b") != b"2"
    assert proxy.stats.value("pointsman_master_vouched") == 0
    assert proxy.stats.value("pointsman_sentinel_switches_total") == 1


def fail_over_without(sentinels, paused):
    """A failover that one Sentinel sleeps through."""
    old = sentinels.primary_by(sentinels.sentinels[0])

    def switched():
        others = [s for s in sentinels.sentinels if s is not paused]
        ports = {s.master_port("acc1") for s in others}
        return len(ports) == 1 and old.port not in ports
    sentinels.sentinels[0].command("SENTINEL", "FAILOVER", "acc1")
    eventually(switched, 30, "a failover")
    return old, sentinels.primary_by(sentinels.sentinels[0])


def test_sentinel_that_lies_moves_nothing(sentinels, world):
    """It names a server with a lower epoch, then one with a higher."""
    proxy = started(sentinels.proxy())
    _, new = fail_over(sentinels)
    client = proxy.client()
    assert client.set("a", 1)
    liar, other = sentinels.sentinels[0], world.server()
    liar.kill()
    liar.rewrite("acc1", other, epoch=0)
    liar.spawn()
    eventually(lambda: liar.master_port("acc1") == other.port)
    asked = proxy.stats.value("pointsman_sentinel_rounds_total")
    eventually(lambda: proxy.stats.value("pointsman_sentinel_rounds_total") >
               asked + 2, 30, "two rounds")
    assert client.set("b", 1)
    assert new.client().get("b") == b"1" and other.client().dbsize() == 0
    assert proxy.stats.value("pointsman_sentinel_switches_total") == 1


def test_others_are_learnt_and_listened_to(sentinels):
    proxy = started(sentinels.proxy(seeds=sentinels.sentinels[0].address))
    eventually(lambda: proxy.stats.value("pointsman_sentinel_reached") == 3)
    old = sentinels.primary()
    sentinels.sentinels[0].kill()
    old.kill()
    new = sentinels.wait_for_switch(old)
    assert proxy.client().set("a", 1)
    assert new.client().get("a") == b"1"


def test_epochs_are_kept_over_restarts(sentinels):
    """An epoch of the file that is higher than theirs makes theirs old."""
    proxy = sentinels.proxy()
    with open(sentinels.state_path, "w", encoding="utf-8") as file:
        file.write("7 acc1 pool\n3 acc1 another\n")
    proxy.expect_errors(NOBODY)
    proxy.start()
    proxy.wait_for_event(
        NOBODY, reason="answers are older than what was believed", epoch=7)
    assert proxy.stats.value("pointsman_sentinel_refused_old_total") > 0
    assert not is_ready(proxy)
    proxy.stop()
    with open(sentinels.state_path, "w", encoding="utf-8") as file:
        file.write("3 acc1 another\n")
    proxy = started(sentinels.proxy())
    fail_over(sentinels)
    eventually(lambda: proxy.client().set("a", 1))
    with open(sentinels.state_path, encoding="utf-8") as file:
        assert sorted(file) == ["1 acc1 pool\n", "3 acc1 another\n"]


def test_without_quorum_writes_are_rejected_if_so_wished(sentinels):
    proxy = started(sentinels.proxy(on_no_quorum="reject_writes"))
    proxy.expect_errors(NOBODY)
    client = proxy.client()
    assert client.set("a", 1)
    for sentinel in sentinels.sentinels[:2]:
        sentinel.kill()
    proxy.wait_for_event(NOBODY, reason="too few Sentinels answer")

    def rejected():
        try:
            client.set("b", 1)
        except redis.ResponseError as error:
            return str(error).startswith("NOQUORUM proxy: too few Sentinels "
                                         "vouch for shard s-acc1")
        return False
    eventually(rejected)
    assert client.get("a") == b"1"
    sentinels.sentinels[2].kill()
    proxy.wait_for_event(NOBODY, reason="no Sentinel is reachable")
    assert rejected() and client.get("a") == b"1"
    sentinels.sentinels[2].spawn()
    sentinels.sentinels[0].spawn()
    eventually(lambda: client.set("b", 1) if not rejected() else False, 20)


def test_unknown_names_and_wrong_passwords_are_told_apart(sentinels, world):
    proxy = sentinels.proxy(sentinel_auth="wrong", request_timeout="300ms")
    proxy.expect_errors(NOBODY)
    proxy.start()
    proxy.wait_for_event(NOBODY, reason="no Sentinel is reachable")
    refusals = proxy.events("Sentinel does not answer as it should")
    assert "AUTH" in refusals[0]["reason"]
    with pytest.raises(redis.ResponseError, match="no primary of shard s-acc1"):
        proxy.client().set("a", 1)
    other = world.make_proxy("""
        pool:
          listen: 127.0.0.1:0
          redis: true
          sentinels: [$sentinels]
          servers: [{master: nobody}]
        """, sentinels=sentinels.addresses)
    other.expect_errors(NOBODY)
    other.start()
    other.wait_for_event(NOBODY, reason="no Sentinel knows the name")


def test_without_a_sentinel_the_known_master_goes_on(sentinels):
    """And a Sentinel that hangs is not waited for."""
    proxy = started(sentinels.proxy(connect_timeout="300ms"))
    proxy.expect_errors(NOBODY)
    client = proxy.client()
    hanging = sentinels.sentinels[2]
    hanging.pause()
    eventually(lambda: proxy.stats.value("pointsman_sentinel_reached") == 2,
               20, "the third to be given up")
    assert proxy.stats.value("pointsman_master_vouched") == 1
    old, new = fail_over_without(sentinels, hanging)
    assert client.set("a", 1)
    assert new.client().get("a") == b"1"
    # When it is back it says what it has slept through, and moves nothing.
    hanging.resume()
    eventually(lambda: proxy.stats.value("pointsman_sentinel_reached") == 3,
               20, "the third to be back")
    for number in range(100):
        assert client.set(f"k{number}", 1)
    found = old.client().exists("k0", "k99")
    assert not found or not says_master(old)
    assert proxy.stats.value("pointsman_sentinel_switches_total") == 1
    hanging.pause()
    for sentinel in sentinels.sentinels[:2]:
        sentinel.kill()
    proxy.wait_for_event(NOBODY, reason="no Sentinel is reachable")
    assert client.set("b", 1)
    assert new.client().get("b") == b"1"
    hanging.resume()


def test_reload_keeps_what_is_believed(sentinels):
    """Also when nobody can be asked any more."""
    proxy = started(sentinels.proxy())
    proxy.expect_errors(NOBODY)
    client = proxy.client()
    assert client.set("a", 1)
    for sentinel in sentinels.sentinels:
        sentinel.kill()
    proxy.wait_for_event(NOBODY, reason="no Sentinel is reachable")
    with open(proxy.config_path, encoding="utf-8") as file:
        text = file.read()
    proxy.write_config(text + "  request_timeout: 2s\n")
    proxy.signal(signal.SIGHUP)
    proxy.wait_for_event("reloaded")
    assert client.set("b", 1) and proxy.client().get("b") == b"1"
    sentinels.sentinels[0].spawn()
    sentinels.sentinels[1].spawn()
    eventually(lambda: proxy.stats.value("pointsman_master_vouched") == 1, 20)
    assert client.set("c", 1)
