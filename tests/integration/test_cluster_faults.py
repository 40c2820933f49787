"""Primaries that die, freeze and hand over, under load, and no promise broken.

    POINTSMAN_FAULTS  seconds, 8 by default
    POINTSMAN_SEED    a number, to have the same faults again
"""

import os
import random
import time

import pytest

from harness import eventually
from lib_cluster import NODE_TIMEOUT_MS, Cluster, start_proxy
from lib_cluster_log import Writers
from lib_cluster_transactions import Transactors
from lib_faults import SEED

DURATION = float(os.environ.get("POINTSMAN_FAULTS", "8"))


class Faults:
    """One after the other, in turn, until the time is over."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.random = random.Random(SEED)

    def _victim(self):
        return self.random.choice(self.cluster.primaries())

    def kill(self):
        victim = self._victim()
        victim.server.kill()
        self.cluster.wait_for_new_primary(victim)
        victim.server.start()

    def freeze(self):
        """Until another has taken its place."""
        victim = self._victim()
        victim.server.pause()
        try:
            self.cluster.wait_for_new_primary(victim)
        finally:
            victim.server.resume()

    def freeze_shortly(self):
        victim = self._victim()
        victim.server.pause()
        time.sleep(self.random.uniform(0, NODE_TIMEOUT_MS / 2000))
        victim.server.resume()

    def fail_over(self):
        victim = self._victim()
        replicas = eventually(lambda: self.cluster.replicas_of(victim), 40)
        self.cluster.fail_over(replicas[0])

    def run(self, is_served):
        end = time.monotonic() + DURATION
        turn = 0
        faults = [self.kill, self.fail_over, self.freeze, self.freeze_shortly]
        while turn < len(faults) or time.monotonic() < end:
            faults[turn % len(faults)]()
            self.cluster.wait()
            is_served()
            turn += 1


def start(world, cluster, **settings):
    proxy = start_proxy(world, cluster.seeds(3), request_timeout="5s",
                        cluster_refresh_interval="5s", **settings)
    proxy.expect_errors("connection to server ended", "server is down",
                        "no node of the cluster gives a map")
    return proxy


def check(writers, cluster, least):
    lost = writers.check_servers(cluster)
    acknowledged = writers.count("acknowledged")
    print("acknowledged", acknowledged, "lost by the servers", lost,
          "not run", writers.count("not run"), "maybe", writers.count("maybe"),
          writers.kinds())
    assert acknowledged > least
    assert lost < acknowledged / 10


@pytest.mark.plain_only
def test_random_faults_of_a_cluster_break_no_promise(world):
    """Some clients write by transactions, of both ways."""
    print("seed", SEED)
    cluster = Cluster(world)
    proxy = start(world, cluster)
    direct = start(world, cluster, transactions="direct")
    with Writers(proxy) as writers, Transactors(proxy, 2) as queued, \
            Transactors(direct, 3) as judged:
        clients = writers.clients + queued.clients + judged.clients

        def is_served():
            """Every client goes on."""
            counts = [len(client.said) for client in clients]
            eventually(lambda: all(
                not client.is_alive() or len(client.said) > count + 20
                for client, count in zip(clients, counts)), 30)
        Faults(cluster).run(is_served)
    check(writers, cluster, 1000)
    check(queued, cluster, 200)
    check(judged, cluster, 200)
