"""Pools that applications are run through, and the applications' processes.

One proxy with pools of one server, of three, and of a cluster; the one that is
called "prefixed" has the same three, and keeps all keys that begin with "rq:"
together.  An application is run by its users' means: a process of its own that
is told an address.  What it is told besides, so that keys which it uses
together stand on one shard, is what pointsman(1) says under APPLICATIONS.
"""

import os
import socket
import urllib.request

import pytest

from harness import eventually, free_port, running_world, seconds
from lib_cluster import Cluster

APPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "apps")
PYTHON = "/usr/bin/python3"

CONFIG = """
    pointsman:
      workers: 2
    one:
      listen: 127.0.0.1:0
      distribution: modulo
      hash_tag: "{}"
      servers: ["$a:1 a"]
    three:
      listen: 127.0.0.1:0
      distribution: modulo
      hash_tag: "{}"
      servers: ["$b:1 b", "$c:1 c", "$d:1 d"]
      split_transactions: true
    prefixed:
      listen: 127.0.0.1:0
      distribution: modulo
      hash_tag: "r:"
      servers: ["$b:1 b", "$c:1 c", "$d:1 d"]
    cluster:
      listen: 127.0.0.1:0
      distribution: slots
      cluster: [$seeds]
      split_transactions: true
"""


class AppPool:
    """A pool as an application is told of it."""

    def __init__(self, proxy, name, servers):
        self.name = name
        self.proxy = proxy
        self.servers = servers

    @property
    def port(self):
        return self.proxy.port(self.name)

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def is_sharded(self):
        return len(self.servers) > 1

    def tag(self, name):
        """A name that keeps keys together where there are shards."""
        return "{%s}" % name if self.is_sharded else name

    def client(self, **options):
        options.setdefault("decode_responses", True)
        return self.proxy.client(self.name, **options)

    def sizes(self):
        """How many keys each server has."""
        return [server.client().dbsize() for server in self.servers]

    def clear(self):
        for server in self.servers:
            server.client().flushall()


def start_pools(world):
    """The proxy and its pools, by name."""
    single, *three = world.start_servers(4)
    cluster = Cluster(world, primaries=3, replicas=0)
    values = {name: server.address
              for name, server in zip("abcd", [single, *three])}
    proxy = world.proxy(CONFIG, seeds=cluster.seeds(), **values)
    nodes = [node.server for node in cluster.nodes]
    return {name: AppPool(proxy, name, servers) for name, servers in
            [("one", [single]), ("three", three), ("prefixed", three),
             ("cluster", nodes)]}


@pytest.fixture(scope="module")
def shared_world():
    yield from running_world()


@pytest.fixture(scope="module")
def pools(shared_world):
    return start_pools(shared_world)


@pytest.fixture(params=["one", "three", "cluster"])
def pool(request, pools):
    chosen = pools[request.param]
    chosen.clear()
    return chosen


class Web:
    """A web application in a process of its own, and one browser.

    `start` starts it on a port and returns its Process.
    """

    def __init__(self, start):
        self.start = start
        self.port = free_port()
        self.browser = urllib.request.build_opener(
            urllib.request.HTTPCookieProcessor())
        self.process = None
        self.restart()

    def restart(self):
        """Another process; the browser keeps its cookies."""
        if self.process is not None:
            self.process.end()
        self.process = self.start(self.port)
        eventually(self._is_listening, 30, "the application to listen")

    def _is_listening(self):
        with socket.create_connection(("127.0.0.1", self.port)):
            return True

    def get(self, path):
        """The text of a page."""
        url = f"http://127.0.0.1:{self.port}{path}"
        with self.browser.open(url, timeout=seconds(20)) as reply:
            return reply.read().decode()
