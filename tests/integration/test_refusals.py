"""A server that answers, but with nothing but refusals.

Which of them make it down, and in a pool that ejects have its keys go to
others, and which are a matter of who has asked.  Two pools have the same
servers; one of them ejects.
"""

import os

import pytest

from harness import eventually, free_port
from test_eject import KEYS, pool_text
from test_reload import head, start

CHANGED = "health of server changed"
REFUSED = (b"-CLUSTERDOWN proxy: no reachable primary for shard b, command "
           b"was not executed\r\n")


class Pools:
    """Servers a, b and c, of which b is the one in question."""

    def __init__(self, world):
        self.servers = dict(zip("abc", world.start_servers(
            3, "--enable-debug-command", "yes")))
        self.b = self.servers["b"].client()
        self.proxy = start(world, head() + pool_text(
            self.servers, name="ejects", retry="100ms") + pool_text(
            self.servers, name="stays", eject="false"))
        self.ejects = self.proxy.raw("ejects")
        self.stays = self.proxy.raw("stays")
        self.ejects.pipeline(*(["SET", key, "v"] for key in KEYS))
        self.key = self.b.randomkey()

    def value(self, name, pool):
        return self.proxy.stats.value(f"pointsman_server_{name}", pool=pool,
                                      server="b")

    def events(self, msg, **fields):
        return self.proxy.events(msg, server="b", **fields)

    def wait_for_probes(self):
        before = [self.value("probes_total", pool)
                  for pool in ("ejects", "stays")]
        eventually(lambda: all(
            self.value("probes_total", pool) > count + 3
            for pool, count in zip(("ejects", "stays"), before)))

    def get(self, client, value=b"v"):
        return client.command("GET", self.key) == b"$1\r\n%b\r\n" % value

    def is_ejected(self):
        """Asking for a key of b meets a refusal until another is asked."""
        self.ejects.command("GET", self.key)
        return self.events("server ejected")

    def wait_for_ejection(self):
        eventually(self.is_ejected)
        eventually(lambda: self.ejects.command("SET", self.key, "e") ==
                   b"+OK\r\n")

    def expect_service_of_the_others(self):
        """It is not tried again by requests of clients, but probed."""
        goal = self.value("probes_total", "ejects") + 4
        while self.value("probes_total", "ejects") < goal:
            assert self.get(self.ejects, b"e")

    def wait_until_back(self):
        self.b.set(self.key, "v")
        for client in (self.ejects, self.stays):
            eventually(lambda client=client: self.get(client))


@pytest.fixture(name="pools")
def fixture_pools(world):
    return Pools(world)


def fail_to_save(pools):
    """From now on its writes are answered MISCONF."""
    os.mkdir(os.path.join(pools.servers["b"].folder, "dump.rdb"))
    pools.b.config_set("save", "900 1")
    pools.b.set(pools.key, "v")
    pools.b.bgsave()
    eventually(lambda: pools.b.info("persistence")["rdb_last_bgsave_status"]
               == "err")


def test_a_server_that_cannot_save_keeps_its_keys(pools):
    fail_to_save(pools)
    for _ in range(10):
        for client in (pools.ejects, pools.stays):
            assert client.command("SET", pools.key, "x").startswith(
                b"-MISCONF ")
            assert pools.get(client)
    pools.wait_for_probes()     # which are answered MISCONF too
    assert not pools.events(CHANGED)
    assert not pools.events("server ejected")
    pools.b.config_set("save", "")      # or it would not end


def test_a_busy_server_is_ejected_and_else_asked_on(pools):
    pools.b.config_set("lua-time-limit", 50)
    script = pools.servers["b"].raw()
    script.send_command("EVAL", "while true do end", "0")
    eventually(lambda: pools.stays.command("GET", pools.key).startswith(
        b"-BUSY "))
    pools.wait_for_ejection()
    for _ in range(5):
        assert pools.stays.command("GET", pools.key).startswith(b"-BUSY ")
        pools.expect_service_of_the_others()
    assert not pools.events(CHANGED, pool="stays")
    pools.servers["b"].raw().command("SCRIPT", "KILL")
    assert script.read_reply().startswith(b"-ERR")
    pools.wait_until_back()


def lose_the_primary(pools):
    """Answered MASTERDOWN, over connections that stay."""
    pools.b.config_set("replica-serve-stale-data", "no")
    pools.b.replicaof("127.0.0.1", free_port())


def load_for_long(pools):
    """Answered LOADING, over connections that stay."""
    primary = pools.servers["c"].client()
    primary.config_set("repl-diskless-sync-delay", 0)
    primary.execute_command("DEBUG", "POPULATE", "20000")
    pools.b.config_set("key-load-delay", 2000)
    pools.b.config_set("loading-process-events-interval-bytes", 1024)
    pools.b.replicaof("127.0.0.1", pools.servers["c"].port)


@pytest.mark.parametrize("fault, answer", [(lose_the_primary, b"-MASTERDOWN "),
                                           (load_for_long, b"-LOADING ")])
def test_a_server_that_is_not_ready_is_down_however_much_it_answers(
        pools, fault, answer):
    fault(pools)
    seen = []

    def is_down():
        seen.append(pools.stays.command("GET", pools.key))
        return seen[-1] == REFUSED

    eventually(is_down)
    assert any(reply.startswith(answer) for reply in seen)
    pools.wait_for_ejection()
    pools.expect_service_of_the_others()
    assert pools.stays.command("GET", pools.key) == REFUSED
    pools.b.config_set("key-load-delay", 0)
    eventually(lambda: pools.b.replicaof("no", "one"))
    pools.wait_until_back()
