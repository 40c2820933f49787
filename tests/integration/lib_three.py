"""Fixtures of a module: a pool of three servers, and one of a cluster.

A module imports those that it wants, with those that they ask for.  Its THREE is
the proxy's file over the servers $a, $b and $c, and as many more as its SERVERS
says; CLUSTER_SETTINGS, if it is there, are settings of the cluster's pool.
"""

import pytest

from harness import running_world
from lib_cluster import Cluster, start_proxy


# The head of a module's THREE that compares pools of one server ($d) and of three.
ONE_AND_THREE = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    one:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      databases: 16
      servers:
        - $d:1 d
    three:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      databases: 16
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def servers(request, world):
    return world.start_servers(getattr(request.module, "SERVERS", 3))


@pytest.fixture(scope="module")
def direct(world):
    """A server that no pool has."""
    return world.server()


@pytest.fixture(scope="module")
def proxy(request, world, servers):
    addresses = {name: server.address
                 for name, server in zip("abcdef", servers)}
    return world.proxy(request.module.THREE, **addresses)


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
