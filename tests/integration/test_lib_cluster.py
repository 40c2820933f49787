"""The cluster that other tests stand on does what they think it does."""

import pytest
import redis

from lib_cluster import SLOTS, Cluster, Move, Resharder
from harness import eventually


@pytest.fixture
def cluster(world):
    return Cluster(world)


def test_all_slots_have_owners_and_each_primary_a_replica(cluster):
    primaries = cluster.primaries()
    assert len(primaries) == 3
    assert {cluster.owner(slot).node_id for slot in (0, 6000, SLOTS - 1)} == \
        {node.node_id for node in primaries}
    assert all(len(cluster.replicas_of(node)) == 1 for node in primaries)


def test_in_the_middle_of_a_move_ask_and_tryagain_occur(cluster):
    source = cluster.owner_of("{a}")
    target = next(n for n in cluster.primaries() if n is not source)
    source.server.client().mset({"{a}1": 1, "{a}2": 2})
    move = Move(cluster, cluster.slot("{a}"), target).begin()
    move.carry("{a}1")
    with pytest.raises(redis.ResponseError, match="ASK|^[0-9]+ "):
        source.server.client().get("{a}1")
    with pytest.raises(redis.ResponseError, match="TRYAGAIN|Multiple keys"):
        source.server.client().mget("{a}1", "{a}2")
    move.carry_all()
    move.end()
    assert cluster.owner_of("{a}") is target
    assert target.server.client().mget("{a}1", "{a}2") == [b"1", b"2"]


def test_resharder_moves_slots_and_keeps_their_keys(cluster):
    for number in range(50):
        cluster.owner_of("{b}").server.client().set(f"{{b}}{number}", number)
    with Resharder(cluster, [cluster.slot("{b}")]) as resharder:
        eventually(lambda: resharder.moves >= 4, 20)
    owner = cluster.owner_of("{b}").server.client()
    assert [owner.get(f"{{b}}{n}") for n in range(50)] == \
        [str(n).encode() for n in range(50)]


def test_a_replica_takes_over_on_request_and_after_a_death(cluster):
    primary = cluster.primaries()[0]
    replica = cluster.replicas_of(primary)[0]
    cluster.fail_over(replica)
    eventually(lambda: replica in cluster.primaries(), 20)
    victim = next(n for n in cluster.primaries() if n is not replica)
    victim.server.kill()
    cluster.wait_for_new_primary(victim)
