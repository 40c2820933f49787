"""SIGHUP: everything may change, and no client notices.

The names a, b, c ... of these pools mostly stand for one and the same server.
So the data is in the same place whatever the route, and a command that
overtakes another on the way to "another" server is seen in its reply.
"""

import random
import signal
import socket
import string
import textwrap
import threading
import time

import pytest

from harness import SLOW, eventually, seconds
from lib_bulk import raise_file_limit
from test_order import Crowd, Script

HEAD = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
"""

POOL = """
    $name:
      listen: 127.0.0.1:0
      redis: true
      servers: $servers
"""


def render(template, **values):
    return string.Template(textwrap.dedent(template)).substitute(values)


def servers_of(server, names, weight=1):
    lines = (f'"{server.address}:{weight} {name}"' for name in names)
    return "[" + ", ".join(lines) + "]"


def pool(server=None, name="demo", servers=None, names="abc", **settings):
    text = render(POOL, name=name,
                  servers=servers or servers_of(server, names))
    return text + "".join(f"  {key}: {value}\n"
                          for key, value in settings.items())


def head(**settings):
    return render(HEAD) + "".join(f"  {key}: {value}\n"
                                  for key, value in settings.items())


def start(world, config):
    """Templates are filled in already; a dollar is none of the harness's."""
    return world.proxy(config.replace("$", "$$"))


def hup(proxy, config):
    """Write the file, signal, and wait until all has been taken up."""
    count = len(proxy.events("reloaded"))
    proxy.write_config(config)
    proxy.process.signal(signal.SIGHUP)
    proxy.wait_for_event("reloaded", count + 1, timeout=30)


def settle(proxy):
    """Nobody is left who goes by an earlier configuration."""
    eventually(lambda: proxy.stats.value(
        "pointsman_control_epochs_pending") == 0, 20, "old ones to be done")


def refuse(proxy, config, *sentences):
    proxy.expect_errors("reload refused", "configuration")
    count = len(proxy.events("reload refused"))
    proxy.write_config(config)
    proxy.process.signal(signal.SIGHUP)
    event = proxy.wait_for_event("reload refused", count + 1, timeout=30)
    for sentence in sentences:
        assert sentence in proxy.log()
    return event


def where(directs, key):
    """The numbers of the servers that have a key."""
    return [i for i, direct in enumerate(directs) if direct.exists(key)]


# --- pools and listeners ------------------------------------------------------

def test_pools_come_and_go(world):
    server = world.server()
    proxy = start(world, head() + pool(server) + pool(server, name="old"))
    stays, leaves = proxy.raw("demo"), proxy.raw("old")
    assert stays.command("SET", "k", "1") == b"+OK\r\n"
    assert leaves.command("GET", "k") == b"$1\r\n1\r\n"
    hup(proxy, head() + pool(server, name="new") + pool(server))
    assert leaves.is_closed()
    assert stays.command("GET", "k") == b"$1\r\n1\r\n"
    assert proxy.raw("new").command("GET", "k") == b"$1\r\n1\r\n"
    # Numbers have changed: questions to control still find their client.
    assert b"tcp_port" in stays.command("INFO", "server")
    assert b"cmd=client" in stays.command("CLIENT", "LIST")
    settle(proxy)
    assert proxy.stats.value("pointsman_pool_replies_total",
                             pool="demo") == 4
    hup(proxy, head() + pool(server, name="old") + pool(server))
    assert proxy.raw("old").command("GET", "k") == b"$1\r\n1\r\n"
    settle(proxy)
    assert stays.command("GET", "k") == b"$1\r\n1\r\n"


def test_clients_of_a_pool_that_goes_are_answered_first(world):
    server = world.server()
    proxy = start(world, head() + pool(server) + pool(server, name="old"))
    client = proxy.raw("old")
    client.command("SET", "k", "v")
    server.pause()
    client.send_command("GET", "k")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight", pool="old") == 1)
    hup(proxy, head() + pool(server))
    server.resume()
    assert client.read_reply() == b"$1\r\nv\r\n"
    assert client.is_closed()
    settle(proxy)


def test_listeners_come_and_go_and_clients_stay(world):
    server = world.server()
    path = world.folder + "/socket"
    base = pool(server)
    both = base.replace("listen: 127.0.0.1:0", f"listen: [127.0.0.1:0, {path}]")
    proxy = start(world, head() + base)
    first = proxy.port()
    client = proxy.raw()
    hup(proxy, head() + both)
    with socket.socket(socket.AF_UNIX) as unix:
        unix.connect(path)
        unix.sendall(b"PING\r\n")
        assert unix.recv(100) == b"+PONG\r\n"
        socket.create_connection(("127.0.0.1", first)).close()
        hup(proxy, head() + base.replace("127.0.0.1:0", path))
        unix.sendall(b"PING\r\n")
        assert unix.recv(100) == b"+PONG\r\n"
    assert client.command("PING") == b"+PONG\r\n"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", first))


def test_an_address_moves_to_another_pool(world):
    one, two = world.start_servers(2)
    one.client().set("k", "one")
    two.client().set("k", "two")
    path = world.folder + "/socket"

    def config(first, second):
        return (head() +
                pool(one, name="one").replace("127.0.0.1:0", first) +
                pool(two, name="two").replace("127.0.0.1:0", second))

    def ask():
        with socket.socket(socket.AF_UNIX) as unix:
            unix.connect(path)
            unix.sendall(b"GET k\r\n")
            return unix.recv(100)

    proxy = start(world, config(path, "127.0.0.1:0"))
    assert ask() == b"$3\r\none\r\n"
    hup(proxy, config("127.0.0.1:0", path))
    assert ask() == b"$3\r\ntwo\r\n"


def test_an_address_that_is_taken_changes_nothing(world):
    server = world.server()
    proxy = start(world, head() + pool(server))
    before = proxy.port()
    config = head() + pool(server).replace(
        "127.0.0.1:0", f"[127.0.0.1:0, 127.0.0.1:{server.port}]")
    fds = proxy.fd_count()
    refuse(proxy, config, "Address already in use")
    assert proxy.fd_count() <= fds
    with socket.create_connection(("127.0.0.1", before)) as client:
        client.sendall(b"PING\r\n")
        assert client.recv(100) == b"+PONG\r\n"


# --- servers and schemes ------------------------------------------------------

def test_servers_are_added_removed_and_moved(world):
    a, b, c = world.start_servers(3)
    directs = [server.client() for server in (a, b, c)]

    def config(*places):
        lines = ", ".join(f'"{s.address}:1 {n}"' for n, s in places)
        return head() + pool(servers=f"[{lines}]", distribution="modulo",
                             hash="crc32")

    proxy = start(world, config(("a", a)))
    client = proxy.raw()

    def spread():
        for direct in directs:
            direct.flushall()
        for i in range(100):
            assert client.command("SET", f"key:{i}", "v") == b"+OK\r\n"
        return [direct.dbsize() for direct in directs]

    assert spread() == [100, 0, 0]
    hup(proxy, config(("a", a), ("b", b)))
    counts = spread()
    assert min(counts[:2]) > 10 and counts[2] == 0
    settle(proxy)
    hup(proxy, config(("a", a), ("b", c)))
    assert spread() == [counts[0], 0, counts[1]]
    hup(proxy, config(("b", c)))
    assert spread() == [0, 0, 100]
    settle(proxy)
    # Connections to servers that went are closed, that to c was kept.
    eventually(lambda: [d.info("clients")["connected_clients"]
                        for d in directs[:2]] == [1, 1])
    assert proxy.stats.value("pointsman_server_requests_total",
                             server="b") >= counts[1]


def preconnected(proxy, server):
    """The connections made to it, once both workers have theirs."""
    ready = proxy.stats.value("pointsman_server_lanes_shared", server=server)
    made = proxy.stats.value("pointsman_server_connects_total", server=server)
    return made if ready == made == 2 else None


def test_connections_to_servers_that_stay_are_kept(world):
    a, b, c = world.start_servers(3)

    def config(names):
        table = {"a": a, "b": b, "c": c}
        lines = ", ".join(f'"{table[n].address}:1 {n}"' for n in names)
        return head() + pool(servers=f"[{lines}]", preconnect="true")

    proxy = start(world, config("ab"))
    client = proxy.raw()
    for i in range(100):
        client.command("SET", f"k{i}", "v")
    # Each worker connects by itself.
    before = eventually(lambda: preconnected(proxy, "a"), what="all to connect")
    hup(proxy, config("bac"))
    hup(proxy, config("cba"))
    for i in range(100):
        client.command("SET", f"k{i}", "v")
    after = proxy.stats.value("pointsman_server_connects_total", server="a")
    assert before == after


def test_weights_change(world, three):
    a, b, c = three

    def config(weight):
        return head() + pool(servers=f'["{a.address}:{weight} a", '
                                     f'"{b.address}:1 b", "{c.address}:1 c"]')

    proxy = start(world, config(1))
    client = proxy.client()
    for i in range(300):
        client.set(f"k{i}", 1)
    assert a.client().dbsize() < 200
    hup(proxy, config(100))
    for i in range(300):
        client.set(f"k{i}", 1)
    assert a.client().dbsize() > 270


SCHEMES = {
    "ketama": {"distribution": "ketama"},
    "md5": {"distribution": "ketama", "hash": "md5"},
    "modula": {"distribution": "modula", "hash": "crc32a"},
    "modulo": {"distribution": "modulo", "hash": "murmur"},
    "tags": {"distribution": "modulo", "hash": "murmur", "hash_tag": '"{}"'},
    "slots": {"distribution": "slots"},
}


def range_servers(server):
    return (f'[{{name: a, address: "{server.address}", '
            f'from: 0, to: 20}}, '
            f'{{name: b, address: "{server.address}", from: 21, to: 500}}, '
            f'{{name: c, address: "{server.address}", default: true}}]')


def scheme(server, name, names="abc"):
    """A pool by this scheme, of one server under these names."""
    if name == "range":
        return pool(servers=range_servers(server), distribution="range",
                    range_by="number")
    return pool(server, names=names, **SCHEMES[name])


@pytest.mark.threads
def test_a_scheme_is_swapped_by_editing_one_line(world, three):
    table = ", ".join(f'"{s.address}:1 {n}"' for n, s in zip("abc", three))

    def config(settings):
        return head() + pool(servers=f"[{table}]", **settings)

    proxy = start(world, config(SCHEMES["ketama"]))
    client = proxy.raw()
    directs = [server.client() for server in three]
    for name, settings in SCHEMES.items():
        text = config(settings)
        hup(proxy, text)
        for direct in directs:
            direct.flushall()
        words = [f"{{t}}:{i}" for i in range(10)] + [f"u{i}" for i in range(9)]
        for word in words:
            assert client.command("SET", word, "v") == b"+OK\r\n"
        route = world.run("route", "-c", "CONFIG", "demo", *words,
                          config=text)
        assert route.returncode == 0, route.stderr
        for word, line in zip(words, route.stdout.splitlines()):
            assert line.startswith(word + ":"), (name, line)
            (place,) = where(directs, word)
            assert f"address={three[place].address}" in line, (name, line)


def test_old_requests_end_before_new_ones_begin(world):
    """One key moves from a slow server to a fast one: the write that waits at
    the slow one is answered before the next command reaches the other."""
    slow, fast = world.start_servers(2)

    def config(server):
        return head() + pool(server, names="a")

    proxy = start(world, config(slow))
    client, other = proxy.raw(), proxy.raw()
    assert client.command("SET", "k", "0") == b"+OK\r\n"
    slow.pause()
    client.send_command("SET", "k", "1")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 1)
    hup(proxy, config(fast))
    client.send_command("SET", "k", "2")
    # Who has nothing in flight goes on by the new one at once.
    assert other.command("GET", "k") == b"$-1\r\n"
    assert client.is_quiet(0.3)
    assert fast.client().get("k") is None
    slow.resume()
    assert client.read_replies(2) == [b"+OK\r\n", b"+OK\r\n"]
    assert slow.client().get("k") == b"1"
    assert fast.client().get("k") == b"2"
    settle(proxy)


def test_a_lost_old_server_fails_only_what_it_was_asked(world):
    old, new = world.start_servers(2)
    proxy = start(world, head() + pool(old, names="a"))
    client = proxy.raw()
    client.command("SET", "k", "0")
    old.pause()
    client.send(b"INCR k\r\nINCR k\r\n")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 2)
    hup(proxy, head() + pool(new, names="a"))
    client.send(b"INCR k\r\n")
    old.kill()
    replies = client.read_replies(3)
    assert all(b"may have been executed" in r for r in replies[:2])
    assert replies[2] == b":1\r\n"
    settle(proxy)


def test_requests_nobody_waits_for_do_not_keep_an_old_server(world):
    old, new = world.start_servers(2)
    proxy = start(world, head() + pool(old, names="a"))
    client, stays = proxy.raw(), proxy.raw()
    client.command("SET", "k", "0")
    old.pause()
    client.send(b"INCR k\r\n")
    stays.send(b"INCR k\r\n")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 2)
    client.close()
    hup(proxy, head() + pool(new, names="a", request_timeout="300ms"))
    # The time-out is that of the request's own configuration.
    assert stays.is_quiet(0.6)
    stays.close()
    settle(proxy)
    old.resume()


# --- settings -----------------------------------------------------------------

def test_timeouts_and_limits_hold_from_the_next_request_on(world):
    server = world.server()
    proxy = start(world, head() + pool(server))
    client = proxy.raw()
    assert client.command("MSET", *["x" * 4000] * 10) == b"+OK\r\n"
    hup(proxy, head() + pool(server, request_timeout="200ms",
                             request_limit="16kb", client_connections=1))
    assert b"request_limit" in client.command("MSET", *["x" * 4000] * 10)
    assert client.command("SET", "k", "v") == b"+OK\r\n"
    assert proxy.raw().read_reply() == \
        b"-ERR max number of clients reached\r\n"
    server.pause()
    assert b"did not answer in 200 ms" in client.command("GET", "k")
    server.resume()
    hup(proxy, head() + pool(server))
    assert client.command("MSET", *["x" * 4000] * 10) == b"+OK\r\n"
    assert proxy.raw().command("GET", "k") == b"$1\r\nv\r\n"


def test_a_password_comes_changes_and_goes(world):
    server = world.server()
    direct = server.client()
    proxy = start(world, head() + pool(server))
    client = proxy.raw()
    assert client.command("SET", "k", "v") == b"+OK\r\n"
    direct.config_set("requirepass", "one")
    hup(proxy, head() + pool(server, redis_auth="one"))
    # As at a server: who is in stays in.
    assert client.command("GET", "k") == b"$1\r\nv\r\n"
    late = proxy.raw()
    assert late.command("GET", "k").startswith(b"-NOAUTH")
    assert late.command("AUTH", "one") == b"+OK\r\n"
    assert late.command("GET", "k") == b"$1\r\nv\r\n"
    outside = proxy.raw()
    assert outside.command("GET", "k").startswith(b"-NOAUTH")
    direct.execute_command("AUTH", "one")
    direct.config_set("requirepass", "two")
    hup(proxy, head() + pool(server, redis_auth="two"))
    assert late.command("GET", "k") == b"$1\r\nv\r\n"
    assert outside.command("AUTH", "one").startswith(b"-WRONGPASS")
    direct.config_set("requirepass", "")
    hup(proxy, head() + pool(server))
    assert outside.command("GET", "k") == b"$1\r\nv\r\n"


def test_databases_change(world):
    server = world.server()
    proxy = start(world, head() + pool(server, databases=2))
    client = proxy.raw()
    client.command("SELECT", "1")
    client.command("SET", "k", "v")
    assert server.client(db=1).get("k") == b"v"
    hup(proxy, head() + pool(server, databases=3, redis_db=4))
    client.command("SET", "k", "w")
    assert server.client(db=5).get("k") == b"w"
    assert client.command("SELECT", "2") == b"+OK\r\n"
    hup(proxy, head() + pool(server, databases=1, redis_db=4))
    assert client.command("SELECT", "1").startswith(b"-ERR")


def test_the_stats_port_and_the_log_move(world):
    server = world.server()
    proxy = start(world, head() + pool(server))
    before = proxy.events("stats listening")[-1]["addr"]
    hup(proxy, head(log_level="debug").replace("127.0.0.1:0", "localhost:0") +
        pool(server))
    after = proxy.wait_for_event("stats listening", 2)["addr"]
    assert after != before
    assert proxy.stats.value("pointsman_control_reloads_total") == 1
    with pytest.raises(OSError):
        socket.create_connection(before.rsplit(":", 1))
    proxy.raw().close()
    eventually(lambda: "level=debug" in proxy.log())


# --- refused ------------------------------------------------------------------

def test_a_file_with_faults_changes_nothing(world):
    server = world.server()
    good = head() + pool(server)
    proxy = start(world, good)
    client = proxy.raw()
    client.command("SET", "k", "v")
    refuse(proxy, good + "  nonsense: 1\n", "nonsense")
    refuse(proxy, "{", "error")
    refuse(proxy, good.replace("workers: 2", "workers: 3"),
           "workers cannot change while running")
    refuse(proxy, good.replace("workers: 2", "workers: 2\n  pid_file: x"),
           "pid_file cannot change while running")
    refuse(proxy, good.replace("listen: 127.0.0.1",
                               "listen: no-such-host.invalid"),
           "no-such-host.invalid")
    refuse(proxy, head(log_file="/no/such/folder/log") + pool(server))
    assert client.command("GET", "k") == b"$1\r\nv\r\n"
    assert proxy.raw().command("GET", "k") == b"$1\r\nv\r\n"
    assert proxy.stats.value("pointsman_control_reload_failures_total") == 6
    assert proxy.stats.value("pointsman_control_epoch") == 1
    hup(proxy, good)
    assert proxy.stats.value("pointsman_control_epoch") == 2


# --- under load ---------------------------------------------------------------

class Shaker(threading.Thread):
    """Reloads, one after the other, each with much changed."""

    def __init__(self, proxy, server, path):
        super().__init__(daemon=True)
        self.proxy = proxy
        self.server = server
        self.path = path
        self.dice = random.Random(7)
        self.done = 0
        self.wanted = max(int(100 / SLOW), 10)
        self.error = None

    def config(self):
        kind = self.dice.choice(list(SCHEMES) + ["range"])
        names = self.dice.sample("abcdef", self.dice.randint(1, 6))
        text = scheme(self.server, kind, names)
        if self.dice.random() < 0.5:
            text = text.replace("listen: 127.0.0.1:0",
                                f"listen: [127.0.0.1:0, {self.path}]")
        text += f"  server_connections: {self.dice.choice((1, 1, 2))}\n"
        text += "  large_request: 4kb\n  large_reply: 16kb\n"
        text += "  request_timeout: 120s\n  backlog: 4096\n"
        if self.dice.random() < 0.3:
            text = pool(self.server, name="other") + text
        return head() + text

    def run(self):
        try:
            while self.done < self.wanted:
                hup(self.proxy, self.config())
                self.done += 1
                time.sleep(self.dice.random() * 0.05)
        except AssertionError as error:
            self.error = error


@pytest.mark.threads
def test_many_reloads_under_load_lose_nothing_and_keep_order(world):
    raise_file_limit(6000)
    server = world.server()
    path = world.folder + "/socket"
    proxy = start(world, head() + pool(server, backlog=4096))
    shaker = Shaker(proxy, server, path)
    numbers = iter(range(1_000_000))
    scripts = (Script(next(numbers), 200, (3000, 40_000))
               for _ in iter(lambda: shaker.is_alive(), False))
    crowd = Crowd(proxy.port("demo"), scripts)
    shaker.start()
    try:
        crowd.run(max(int(100 / SLOW), 20))
    finally:
        shaker.join()
        crowd.close()
    assert shaker.error is None, shaker.error
    assert crowd.left == 0 and crowd.finished > 20
    print(f"{crowd.finished} clients, {shaker.done} reloads")
    settle(proxy)
    stats = proxy.stats
    assert stats.value("pointsman_pool_forward_error_total", pool="demo") == \
        stats.value("pointsman_pool_errors_arity_total", pool="demo")
    assert stats.value("pointsman_pool_requests_in_flight") == 0


@pytest.mark.plain_only
def test_many_reloads_leave_memory_and_descriptors_as_they_were(world):
    server = world.server()
    proxy = start(world, head() + pool(server))
    clients = [proxy.raw() for _ in range(50)]
    shaker = Shaker(proxy, server, world.folder + "/socket")

    def some_rounds(count):
        for _ in range(count):
            hup(proxy, shaker.config())
            for i, client in enumerate(clients):
                client.command("SET", f"k{i}", "v")
        hup(proxy, head() + pool(server))
        for client in clients:
            client.command("GET", "k")
        settle(proxy)
        eventually(lambda: proxy.stats.value(
            "pointsman_server_connections") <= 6)
        return proxy.rss_bytes(), proxy.fd_count()

    some_rounds(60)
    memory, fds = some_rounds(20)
    more_memory, more_fds = some_rounds(100)
    assert more_fds <= fds + 6
    assert more_memory < memory + (2 << 20)
