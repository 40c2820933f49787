"""auto_eject_hosts: the keys of a server that is down go to the others.

The same keys go to the same survivors as through nutcracker, for all workers,
with every command of a client in its order, and over reloads.
"""

import time

import pytest

from harness import eventually, free_port, seconds
from lib_clock import now
from lib_nutcracker import (NUTCRACKER, Case, Nutcracker, Pointsman, Stubs,
                            get)
from test_reload import head, hup, render, settle, start

POOL = """
    $name:
      listen: 127.0.0.1:0
      redis: true
      distribution: $distribution
      hash: murmur
      auto_eject_hosts: $eject
      server_retry_timeout: $retry
      server_failure_limit: 2
      timeout: 2000
      probe_interval: 200ms
      probe_timeout: 500ms
      reconnect_max: 200ms
      $more
      servers: [$servers]
"""
KEYS = [b"key:%d" % number for number in range(400)]


def pool_text(servers, distribution="ketama", retry="1s", name="demo",
              eject="true", more=""):
    lines = ", ".join(f'"{server.address}:1 {label}"'
                      for label, server in servers.items())
    return render(POOL, servers=lines, distribution=distribution, retry=retry,
                  name=name, eject=eject, more=more)


class Stage:
    """Servers a, b and c; a client on each of two workers."""

    def __init__(self, world, **settings):
        self.servers = dict(zip("abc", world.start_servers(3)))
        self.direct = {label: server.client()
                       for label, server in self.servers.items()}
        self.settings = settings
        self.proxy = start(world, head() + pool_text(self.servers,
                                                     **settings))
        self.clients = [self.proxy.raw() for _ in range(2)]
        self.first = self.places()
        assert set(self.first) == set("abc")

    def places(self, client=0):
        """Where each key is written to."""
        raw = self.clients[client]
        for label in "abc":
            if self.is_up(label):
                self.direct[label].flushall()
        replies = raw.pipeline(*(["SET", key, "v"] for key in KEYS))
        assert set(replies) == {b"+OK\r\n"}, set(replies)
        held = {}
        for label in "abc":
            if self.is_up(label):
                held.update(dict.fromkeys(self.direct[label].keys(), label))
        return [held[key] for key in KEYS]

    def is_up(self, label):
        return self.servers[label].process.is_running()

    def wait_for(self, msg, server, count=1):
        self.proxy.wait_for_event(msg, count=count, server=server)
        settle(self.proxy)

    def kill(self, label):
        self.servers[label].kill()
        self.wait_for("server ejected", label)

    def value(self, name, server):
        return self.proxy.stats.value(f"pointsman_server_{name}",
                                      server=server)


@pytest.mark.parametrize("distribution", ["ketama", "modula", "random"])
def test_keys_of_a_dead_server_go_to_the_others_and_come_back(world,
                                                              distribution):
    stage = Stage(world, distribution=distribution)
    stage.kill("b")
    places = stage.places()
    assert set(places) == set("ac")
    if distribution != "random":
        assert stage.places(1) == places
    if distribution == "ketama":
        assert all(now == before for now, before in zip(places, stage.first)
                   if before != "b")
    assert stage.value("live", "b") == 0 and stage.value("live", "a") == 1
    stats = stage.proxy.stats.json()["demo"]
    assert stats["server_ejects"] == 1
    assert abs(stats["b"]["server_ejected_at"] / 1e6 - time.time()) < 60
    assert stats["a"]["server_ejected_at"] == 0
    assert stage.proxy.stats.get("/readyz?pool=demo")[0] == 200
    stage.servers["b"].start()
    stage.wait_for("server is live again", "b")
    if distribution != "random":
        assert stage.places() == stage.places(1) == stage.first
    else:
        assert set(stage.places()) == set("abc")
    assert stage.value("live", "b") == 1


def test_an_ejected_server_stays_out_for_its_time(world):
    stage = Stage(world, retry="1h")
    stage.kill("b")
    stage.servers["b"].start()
    stage.proxy.wait_for_event("health of server changed", server="b",
                               to="up")
    probes = stage.value("probes_total", "b")
    eventually(lambda: stage.value("probes_total", "b") > probes + 3)
    assert set(stage.places()) == set("ac")
    assert not stage.proxy.events("server is live again")


def test_a_dead_server_is_tried_by_probes_and_never_by_clients(world):
    stage = Stage(world, retry="1ms")
    stage.kill("b")
    goal = stage.value("probes_total", "b") + 5
    while stage.value("probes_total", "b") < goal:
        assert set(stage.places()) == set("ac")     # none is refused
    assert len(stage.proxy.events("server ejected")) == 1


def test_the_last_server_stays_and_refuses_by_its_name(world):
    stage = Stage(world)
    stage.kill("a")
    stage.kill("b")
    stage.servers["c"].kill()
    stage.proxy.wait_for_event("health of server changed", server="c",
                               to="down")
    settle(stage.proxy)
    refusal = (b"-CLUSTERDOWN proxy: no reachable primary for shard c, "
               b"command was not executed\r\n")
    for client in stage.clients:
        for key in KEYS[:20]:
            assert client.command("SET", key, "v") == refusal
    assert stage.value("live", "c") == 1
    assert stage.proxy.stats.get("/readyz?pool=demo")[0] == 503
    # The first that comes back takes all, and the last one goes.
    stage.servers["a"].start()
    stage.wait_for("server is live again", "a")
    assert stage.value("live", "c") == 0
    assert set(stage.places()) == {"a"}
    stage.servers["b"].start()
    stage.servers["c"].start()
    stage.wait_for("server is live again", "b")
    stage.wait_for("server is live again", "c")
    assert stage.places() == stage.places(1) == stage.first


def test_a_frozen_server_is_ejected_and_what_waits_is_answered(world):
    stage = Stage(world)
    key = KEYS[stage.first.index("b")]
    stage.servers["b"].pause()
    began = now()
    reply = stage.clients[0].command("SET", key, "x")
    # It was on its way: nobody else may be given it.
    assert reply.endswith(b"may have been executed\r\n"), reply
    assert now() - began < seconds(5)
    stage.wait_for("server ejected", "b")
    for client in stage.clients:
        assert client.command("SET", key, "y") == b"+OK\r\n"
    stage.servers["b"].resume()
    stage.wait_for("server is live again", "b")


def test_a_reload_keeps_out_who_is_out(world):
    stage = Stage(world)
    stage.kill("b")
    places = stage.places()
    for limit in (77, 78):
        hup(stage.proxy, head() + pool_text(
            stage.servers, more=f"pipeline_limit: {limit}"))
        assert stage.places() == stage.places(1) == places
        assert stage.value("live", "b") == 0
    assert len(stage.proxy.events("server ejected")) == 1
    # Another pool comes in front, so that this one has another number.
    hup(stage.proxy, head() + pool_text(stage.servers, name="aaa") +
        pool_text(stage.servers))
    assert stage.places() == places
    stage.servers["b"].start()
    stage.proxy.wait_for_event("server is live again", server="b",
                               pool="demo")
    settle(stage.proxy)
    assert stage.places() == stage.places(1) == stage.first


def test_a_reload_that_ejects_no_more_has_all_servers_back(world):
    stage = Stage(world)
    stage.kill("b")
    hup(stage.proxy, head() + pool_text(stage.servers, eject="false"))
    settle(stage.proxy)
    assert stage.value("live", "b") == 1
    key = KEYS[stage.first.index("b")]
    for client in stage.clients:
        assert client.command("SET", key, "v") == \
            b"-CLUSTERDOWN proxy: no reachable primary for shard b, " \
            b"command was not executed\r\n"


def test_a_reload_that_leaves_none_but_those_who_are_out(world):
    stage = Stage(world)
    stage.kill("a")
    stage.kill("b")
    left = {label: stage.servers[label] for label in "ab"}
    hup(stage.proxy, head() + pool_text(left))
    settle(stage.proxy)
    assert stage.clients[0].command("GET", "k").startswith(b"-CLUSTERDOWN ")
    stage.servers["b"].start()
    eventually(lambda: stage.clients[0].command("SET", "k", "v") ==
               b"+OK\r\n")


def test_out_of_memory_is_a_failure_here_alone(world):
    stage = Stage(world, retry="1h")
    key = KEYS[stage.first.index("b")]
    stage.direct["b"].config_set("maxmemory", "1")
    replies = []

    def write():
        replies.append(stage.clients[0].command("SET", key, "v"))
        return replies[-1] == b"+OK\r\n"

    eventually(write)
    stage.wait_for("server ejected", "b")
    assert all(reply.startswith((b"-OOM ", b"-CLUSTERDOWN "))
               for reply in replies[:-1])
    assert set(stage.places()) == set("ac")


def test_out_of_memory_without_ejection_is_the_request_s_alone(world):
    stage = Stage(world, eject="false")
    key = KEYS[stage.first.index("b")]
    stage.direct["b"].config_set("maxmemory", "1")
    for _ in range(20):
        assert stage.clients[0].command("SET", key, "v").startswith(b"-OOM ")
    assert not stage.proxy.events("health of server changed")


# --- beside nutcracker -------------------------------------------------------


class EjectingCase(Case):
    """A pool that has found a server dead after one failure, for an hour."""

    def yaml(self, port):
        return super().yaml(port) + (
            "  auto_eject_hosts: true\n  server_retry_timeout: 3600000\n"
            "  server_failure_limit: 1\n  timeout: 1000\n")


def survivors(proxy, case):
    """Where keys go once none is refused any more."""
    answers = []

    def ask():
        try:
            answers[:] = proxy.ask(case.name, [get(key) for key in KEYS])
        except AssertionError as refused:
            assert "-" in str(refused)
            return False
        return True

    eventually(ask, 20, "the dead to be ejected")
    return answers


@pytest.mark.skipif(NUTCRACKER is None,
                    reason="there is no nutcracker to compare with")
@pytest.mark.parametrize("distribution", ["ketama", "modula"])
def test_the_survivors_are_those_of_nutcracker(distribution):
    with Stubs([("127.0.0.1", 0)] * 6) as stubs:
        dead = f"127.0.0.1:{free_port()}"
        where = list(stubs.where)
        where[2] = dead
        lists = [[f"{place}:1" for place in where],
                 [f"{place}:{1 + i % 3} n{i}" for i, place in
                  enumerate(where)]]
        cases = [EjectingCase(f"p{i}", distribution, "murmur", servers)
                 for i, servers in enumerate(lists)]
        with Nutcracker(cases) as theirs, Pointsman(cases) as ours:
            for case in cases:
                expected = survivors(theirs, case)
                assert survivors(ours, case) == expected
                assert len(set(expected)) == 5
