"""Commands that the proxy's table does not have: servers say what they are.

The servers have a module of our own, and some of their commands have other
names.
"""

import os
import subprocess

import pytest

from harness import eventually, running_world
from test_same_as_direct import CROSSSLOT

HERE = os.path.dirname(os.path.abspath(__file__))

POOL = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      databases: 16
      hash_tag: "{}"
      request_timeout: 2s
      servers: [$servers]
"""
RULED = POOL + """\
      commands: $rules
"""

RENAMED = ["--rename-command", "GETDEL", "FETCH", "--rename-command", "DEL",
           "REMOVE", "--rename-command", "CONFIG", "SETTINGS"]


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def arguments(world):
    path = os.path.join(world.folder, "demo.so")
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", path,
         os.path.join(HERE, "demo_module.c")], check=True)
    os.chmod(path, 0o755)
    return ["--loadmodule", path, *RENAMED]


@pytest.fixture(scope="module")
def servers(world, arguments):
    return world.start_servers(3, *arguments)


@pytest.fixture(scope="module")
def direct(world, arguments):
    return world.server(*arguments)


def listed(servers):
    return ", ".join(f"{server.address}:1 {name}"
                     for server, name in zip(servers, "abc"))


@pytest.fixture
def three(world, servers):
    """A fresh proxy, which has learnt nothing yet."""
    return world.proxy(POOL, servers=listed(servers))


@pytest.fixture
def one(world, servers):
    return world.proxy(POOL, servers=listed(servers[:1]))


def questions(servers):
    """How often they were asked, by whomever."""
    return sum(server.client().info("commandstats").get(
        "cmdstat_command|info", {"calls": 0})["calls"] for server in servers)


SAME = [
    ("DEMO.SET", "k", "v"), ("demo.get", "k"), ("Demo.Get", "none"),
    ("DEMO.GET",), ("demo.set", "k"), ("FETCH", "none"), ("GETDEL", "k"),
    ("nosuch",), ("NOSUCH", "a", "b"), ("nosuch", "a\r\nb", ""),
    ("x" * 200, "y"), ("demo.nosuch", "x" * 200), ("FETCH",),
    ("DEMO.BOTH", "{k}1", "{k}2"), ("MULTI",), ("DEMO.SET", "{k}1", "w"),
    ("DEMO.BOTH", "{k}1", "{k}2"), ("EXEC",), ("MULTI",), ("nosuch", "k"),
    ("EXEC",), ("REMOVE", "k", "{k}1", "{k}2", "z"), ("SELECT", "3"),
    ("DEMO.SET", "k", "three"), ("SELECT", "0"), ("DEMO.GET", "k"),
    ("COPY", "k", "l"), ("SETTINGS", "GET", "appendonly"),
]


@pytest.mark.parametrize("version", [2, 3])
def test_they_are_answered_as_by_a_server(one, three, direct, version):
    for proxy in (three, one):
        asked, through = direct.raw(), proxy.raw()
        for raw in (asked, through):
            raw.command("HELLO", version)
            raw.command("FLUSHALL")
        for words in SAME:
            if words == ("COPY", "k", "l") and proxy is three:
                continue
            assert through.command(*words) == asked.command(*words), words


@pytest.mark.parametrize("version", [2, 3])
def test_they_are_described_as_by_a_server(three, direct, version):
    asked, through = direct.raw(), three.raw()
    count = int(through.command("COMMAND", "COUNT")[1:])
    learner = three.raw()
    learner.command("HELLO", 5 - version)
    learner.command("DEMO.BOTH", "{k}1", "{k}2")
    for raw in (asked, through):
        raw.command("HELLO", version)
    for names in (["demo.both"], ["DEMO.SET", "nosuch", "demo.get"],
                  ["x" * 200, ""], ["demo.get|x"]):
        words = ("COMMAND", "INFO", *names)
        assert through.command(*words) == asked.command(*words), words
    documents = len(through.command("COMMAND", "DOCS"))
    for names in (["demo.both"], ["DEMO.SET", "nosuch", "demo.get"],
                  ["x" * 200, ""]):
        words = ("COMMAND", "DOCS", *names)
        theirs = asked.command(*words)
        assert through.command(*words) == theirs, words
        # Those that have been asked for are among all.
        documents += len(theirs) - len(b"*0\r\n")
    assert len(through.command("COMMAND", "DOCS")) == documents
    assert through.command("COMMAND", "COUNT") == b":%d\r\n" % (count + 3)
    words = ("COMMAND", "LIST", "FILTERBY", "PATTERN", "demo.*")
    found = through.command(*words)
    assert found.count(b"demo.") == 3 and b"demo.both" in found
    assert through.command("COMMAND").count(b"\r\ndemo.") == 3


def test_each_goes_to_the_shard_of_its_key(three, servers):
    raw = three.raw()
    keys = [f"{n}:spread" for n in range(60)]
    for key in keys:
        assert raw.command("DEMO.SET", key, "v") == b"+OK\r\n"
    assert all(server.client().dbsize() > 2 for server in servers)
    client = three.client()
    assert client.exists(*keys) == 60
    assert raw.command("REMOVE", *keys) == b":60\r\n"
    assert raw.command("DEMO.BOTH", *keys[:2]) in (CROSSSLOT,
                                                   b"*2\r\n$-1\r\n$-1\r\n")
    assert CROSSSLOT in [raw.command("DEMO.BOTH", keys[0], key)
                         for key in keys]


def test_what_has_no_key_needs_a_single_server(one, three):
    assert one.raw().command("DEMO.HELLO") == b"+hello\r\n"
    assert three.raw().command("DEMO.HELLO") == \
        b"-ERR command 'demo.hello' is not supported through this proxy\r\n"


def test_a_name_is_asked_for_once(three, servers):
    before = questions(servers)
    clients = [three.raw() for _ in range(5)]
    for _ in range(20):
        for raw in clients:
            assert raw.command("DEMO.GET", "none") == b"$-1\r\n"
            assert raw.command("nosuch")[:5] == b"-ERR "
    assert questions(servers) - before == 2
    assert three.stats.value("pointsman_pool_command_questions_total",
                             pool="demo") == 2


def test_order_is_kept_around_a_question(three):
    raw = three.raw()
    commands, wanted = [("SET", "o", "0")], [b"+OK\r\n"]
    for number in range(1, 30):
        commands += [("DEMO.GET", "o"), ("SET", "o", number), ("other", "o"),
                     ("ECHO", number)]
        wanted += [b"$%d\r\n%d\r\n" % (len(str(number - 1)), number - 1),
                   b"+OK\r\n", b"-ERR unknown command 'other', with args "
                   b"beginning with: 'o' \r\n",
                   b"$%d\r\n%d\r\n" % (len(str(number)), number)]
    assert raw.pipeline(*commands) == wanted


def test_rules_about_categories_hold_for_them(world, servers):
    proxy = world.proxy(RULED, servers=listed(servers), rules="-@write")
    raw = proxy.raw()
    assert raw.command("DEMO.SET", "k", "v") == \
        b"-NOPERM this user has no permissions to run the 'demo.set' " \
        b"command\r\n"
    assert raw.command("REMOVE", "k")[:7] == b"-NOPERM"
    assert raw.command("DEMO.GET", "none") == b"$-1\r\n"


def test_nobody_asks_when_that_is_not_wanted(world, servers):
    proxy = world.proxy(POOL + "      learn_commands: false\n",
                        servers=listed(servers))
    before = questions(servers)
    assert proxy.raw().command("DEMO.GET", "k") == \
        b"-ERR unknown command 'DEMO.GET', with args beginning with: 'k' \r\n"
    assert questions(servers) == before


def test_one_server_is_enough_to_ask(world, servers):
    gone = world.server()
    address = gone.address
    gone.stop()
    proxy = world.proxy(POOL, servers=f"{address}:1 x, " + listed(servers))
    raw = proxy.raw()
    eventually(lambda: raw.command("DEMO.GET", "none")[:1] in b"$" or
               raw.command("DEMO.GET", "{1}none")[:1] == b"$")


def test_clients_that_leave_while_it_is_asked(world, servers):
    proxy = world.proxy(POOL, servers=listed(servers))
    stuck = servers[0]
    proxy.client().mset({f"w:{n}": n for n in range(30)})
    stuck.pause()
    try:
        clients = [proxy.raw() for _ in range(3)]
        for raw in clients:
            raw.send_command("DEMO.GET", "k")
        clients[0].close()
        clients[1].socket.shutdown(1)
        assert clients[2].read_reply().startswith(
            b"-ERR proxy: no server could be asked about command")
    finally:
        stuck.resume()
    raw = proxy.raw()
    eventually(lambda: raw.command("DEMO.GET", "none") == b"$-1\r\n")
