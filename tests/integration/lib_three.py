"""Fixtures of a module: a pool of three servers, and one of a cluster.

A module imports those that it wants, with those that they ask for.  Its THREE is
the proxy's file over the servers $a, $b and $c; CLUSTER_SETTINGS, if it is
there, are settings of the cluster's pool.
"""

import pytest

from harness import running_world
from lib_cluster import Cluster, start_proxy


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def servers(world):
    return world.start_servers(3)


@pytest.fixture(scope="module")
def proxy(request, world, servers):
    a, b, c = (server.address for server in servers)
    return world.proxy(request.module.THREE, a=a, b=b, c=c)


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world, replicas=0)


@pytest.fixture(scope="module")
def cluster_proxy(request, world, cluster):
    settings = getattr(request.module, "CLUSTER_SETTINGS", {})
    return start_proxy(world, cluster.seeds(2), **settings)


def blocked(servers):
    """Clients that wait for something, at all of these."""
    return sum(server.client().info("clients")["blocked_clients"]
               for server in servers)
