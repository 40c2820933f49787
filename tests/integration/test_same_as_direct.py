"""Generated commands, sent to a server and through the proxy: the same bytes.

A server gets each command directly, and so does a pool, of one server and of
three.  With three, a command whose keys stand on several shards is refused and
kept from the direct server too.  Which words are keys is asked of the server
(COMMAND GETKEYS), where they stand is seen on the servers: nothing here
trusts the proxy's own tables.

POINTSMAN_SEED generates other commands.
"""

import os
import re

import pytest

from harness import REPO, seconds
from lib_cluster import Cluster, start_proxy
from lib_commands import Generator
from lib_templates import FAMILIES, LIBRARY, SCRIPTS
from resp import encode

COUNT = 2500
GROUP_MAX = 40
SEED = os.environ.get("POINTSMAN_SEED", "")

ONE = """
    pointsman:
      workers: 1
    demo:
      listen: 127.0.0.1:0
      redis: true
      databases: 16
      hash_tag: "{}"
      distribution: ketama
      hash: fnv1a_64
      servers:
        - $a:1 a
"""
THREE = ONE + """\
        - $b:1 b
        - $c:1 c
"""

CROSSSLOT = b"-CROSSSLOT Keys in request don't hash to the same slot\r\n"
SPLIT = {b"mget", b"mset", b"del", b"unlink", b"exists", b"touch"}

# Their elements come in the order of a hash table, which is another one in
# every server: one by one, or in pairs.
UNORDERED = {b"smembers": 1, b"sinter": 1, b"sunion": 1, b"sdiff": 1,
             b"hkeys": 1, b"hvals": 1, b"sscan": 1, b"hgetall": 2,
             b"hscan": 2, b"zscan": 2}


# --- replies -----------------------------------------------------------------


def elements(reply):
    """The bulk strings at the end of an aggregate, and what is in front."""
    found, at = [], 0
    header = re.match(rb"(\*2\r\n\$1\r\n0\r\n)?[*~%]\d+\r\n", reply)
    at = header.end()
    while at < len(reply):
        match = re.compile(rb"\$(\d+)\r\n").match(reply, at)
        end = match.end() + int(match[1]) + 2
        found.append(reply[at:end])
        at = end
    return header[0], found


def normal(command, reply):
    """The reply, its elements sorted where servers have no order."""
    size = UNORDERED.get(command.name)
    if size is None or reply[:1] not in b"*~%":
        return reply
    header, found = elements(reply)
    parts = [b"".join(found[i:i + size]) for i in range(0, len(found), size)]
    return header + b"".join(sorted(parts))


def short(reply):
    return reply if len(reply) < 300 else reply[:300] + b"~%d" % len(reply)


def last_place(command):
    """Where a word stands last in a command."""
    return lambda word: max(at for at, other in enumerate(command.words)
                            if other == word)


# --- places ------------------------------------------------------------------


def prepare(server):
    """Scripts and functions, which the proxy does not spread by itself."""
    client = server.client()
    client.function_load(LIBRARY)
    return {name: client.script_load(text).encode()
            for name, text in SCRIPTS.items() if name != "bad"}


def listed(world, count, version):
    """A pool of one server or three."""
    servers = world.start_servers(count)
    proxy = world.proxy(ONE if count == 1 else THREE, **{
        name: server.address for name, server in zip("abc", servers)})
    return Sides(world, servers, proxy, version)


class Sides:
    """A server and a pool, each with one connection."""

    def __init__(self, world, servers, proxy, version):
        self.servers = servers
        self.proxy = proxy
        self.direct_server = world.server()
        for server in self.servers:
            prepare(server)
        self.shas = prepare(self.direct_server)
        self.direct = self.direct_server.raw()
        self.through = self.proxy.raw()
        for raw in (self.direct, self.through):
            raw.socket.settimeout(seconds(30))
            raw.command("HELLO", version)

    def keys_of(self, commands):
        """What the server says are keys, for each command."""
        raw = self.direct_server.raw()
        found = []
        for command in commands:
            reply = raw.command("COMMAND", "GETKEYS", *command.words)
            keys = [] if reply[:1] == b"-" else [
                bulk.split(b"\r\n", 1)[1][:-2] for bulk in elements(reply)[1]]
            if command.name.startswith(b"georadius") and len(keys) > 2:
                # Of STORE and STOREDIST the last counts; both are named.
                keys = [keys[0], max(keys[1:], key=last_place(command))]
            found.append(keys)
        return found

    def shards_of(self, keys):
        """On which server a key ends up that is set through the proxy."""
        keys = list(keys)
        raw = self.proxy.raw()
        for key in keys:
            assert raw.command("SET", key, "x") == b"+OK\r\n"
        shards = {}
        for number, server in enumerate(self.servers):
            client = server.client()
            shards.update((key, number) for key in client.keys("*"))
            client.flushall()
        assert shards.keys() == set(keys)
        return shards

    def refusals(self, commands):
        """For each command what the proxy has to say of itself, or None."""
        if len(self.servers) == 1:
            return [None] * len(commands)
        keys = self.keys_of(commands)
        shards = self.shards_of({key for some in keys for key in some})
        return [refusal(command, {shards[key] for key in some})
                for command, some in zip(commands, keys)]


class ClusterSides(Sides):
    """The pool is a cluster, in which a slot is what keys have in common."""

    def __init__(self, world, cluster, proxy, version):
        servers = [node.server for node in cluster.nodes]
        for server in servers:
            server.client().flushall()
            server.client().function_flush()
        super().__init__(world, servers, proxy, version)

    def shards_of(self, keys):
        raw = self.servers[0].raw()
        keys = list(keys)
        return dict(zip(keys, raw.pipeline(
            *[("CLUSTER", "KEYSLOT", key) for key in keys])))


def refusal(command, shards):
    """Why a command cannot be served by three servers, None if it can."""
    if command.name in SPLIT or command.name == b"xread":
        return None
    if command.name in (b"sort", b"sort_ro"):
        for option in (b"BY", b"GET"):
            if option in command.words[2:]:
                return (b"-ERR %s option of SORT denied in Cluster mode.\r\n"
                        % option)
    return CROSSSLOT if len(shards) > 1 else None


# --- comparing ---------------------------------------------------------------


def groups(generator, steps):
    """Cut into pipelines; what is big travels alone."""
    group = []
    for step in steps:
        if step[0].is_big:
            yield group
            yield [step]
            group = []
        else:
            group.append(step)
        if len(group) >= generator.random.randint(1, GROUP_MAX):
            yield group
            group = []
    yield group


def play(sides, group):
    """Send a pipeline to both; the replies that differ."""
    alike = [command for command, refused in group if refused is None]
    sides.direct.send(b"".join(command.data for command in alike))
    sides.through.send(b"".join(command.data for command, _ in group))
    direct = iter(sides.direct.read_replies(len(alike)))
    for command, refused in group:
        theirs = next(direct) if refused is None else refused
        ours = sides.through.read_reply()
        if normal(command, ours) != normal(command, theirs):
            yield command, short(ours), short(theirs)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("count", [1, 3])
def test_generated_commands_get_the_bytes_of_one_server(world, count, version):
    refused = compare(listed(world, count, version), f"{count} {version}")
    assert count == 1 or 50 < refused < COUNT / 5, refused


def test_a_cluster_gives_the_bytes_of_one_server(world):
    cluster = Cluster(world, replicas=0)
    proxy = start_proxy(world, cluster.seeds())
    for version in (2, 3):
        sides = ClusterSides(world, cluster, proxy, version)
        refused = compare(sides, f"cluster {version}", is_the_same_in_a_cluster)
        assert 50 < refused < COUNT / 2, refused


def is_the_same_in_a_cluster(command):
    """There is one database there, and keys cost more memory."""
    return command.name not in (b"move", b"memory") and \
        not (command.name == b"copy" and b"DB" in command.words)


def compare(sides, seed, is_wanted=lambda command: True):
    """Until something differs; how many commands were refused."""
    generator = Generator(f"{seed} {SEED}", sides.shas)
    commands = list(filter(is_wanted, generator.commands(COUNT)))
    steps = list(zip(commands, sides.refusals(commands)))
    found = []
    for group in groups(generator, steps):
        found += play(sides, group)
        assert not found, "\n".join(
            f"{command!r}\n  ours   {ours!r}\n  theirs {theirs!r}"
            for command, ours, theirs in found[:5])
    return sum(refusal is not None for _, refusal in steps)


def test_size_changes_nothing_about_what_is_refused(world):
    """Large requests take another way through the proxy."""
    a, b, c = world.start_servers(3)
    raw = world.proxy(THREE, a=a.address, b=b.address, c=c.address).raw()
    for words in (["SPUBLISH", "k", "?", "x"], ["SORT_RO", "k", "GET", "w_*?"],
                  ["SORT_RO", "k", "BY", "w_*?"], ["SORT", "k", "BY", "w_*?"],
                  ["BLPOP", "?"], ["SHUTDOWN", "?"], ["GET", "k", "?"],
                  ["XREAD", "BLOCK", "x", "STREAMS", "?", "0"],
                  ["SET", "?"], ["MSET", "k", "?", "l"], ["OBJECT", "?", "k"],
                  ["PSYNC", "?"], ["EVAL", "return ?", "x"]):
        small, large = (raw.command(*[word.replace("?", text)
                                      for word in words])
                        for text in ("x" * 200, "x" * 200_000))
        assert small == large and small[:1] == b"-", words
    assert raw.command("PING") == b"+PONG\r\n"


# --- what is generated -------------------------------------------------------


def routed_rows():
    """The commands that the proxy sends to the shard of their keys."""
    path = os.path.join(REPO, "proxy", "command", "commands.def")
    with open(path, encoding="ascii") as file:
        return set(re.findall(
            r'^COMMAND\(\w+, "([^"]+)", -?\d+, (?:ROUTE|SPLIT),',
            file.read(), re.MULTILINE))


def server_rows(server):
    """The commands and subcommands that a server has."""
    reply = server.raw().command("COMMAND", "LIST")
    return set(re.findall(r"\r\n([^$*\r]+)\r\n", reply.decode()))


def test_every_routed_command_of_the_server_is_generated(world):
    server = world.server()
    rows = routed_rows() & server_rows(server)
    assert len(rows) > 180
    generator = Generator("", prepare(server))
    made = set()
    for command in generator.each_once():
        words = [word.lower().decode("latin-1") for word in command.words]
        made |= {words[0], "|".join(words[:2])}
    assert rows - made == set()


def test_most_generated_commands_succeed(world):
    """Else the comparison would be one of error texts."""
    server = world.server()
    generator = Generator("success", prepare(server))
    raw = server.raw()
    commands = [command for command in generator.commands(1500)
                if not command.is_big]
    failed = sum(raw.command(*command.words)[:1] == b"-"
                 for command in commands)
    assert 0.05 < failed / len(commands) < 0.4
    assert len(FAMILIES) >= 13


# --- values at the edges of buffers ------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_values_of_every_size_come_back_whole(world, version):
    """Around powers of two, where chunks, windows and thresholds end."""
    sides = listed(world, 3, version)
    for power in range(4, 22):
        for size in range(2 ** power - 40, 2 ** power + 8, 7):
            value = b"%d " % size * (max(size, 0) // 8 + 1)
            data = encode("SET", "k", value[:max(size, 0)])
            for raw in (sides.direct, sides.through):
                raw.send(data + encode("GET", "k") + encode("STRLEN", "k"))
            ours, theirs = (raw.read_replies(3)
                            for raw in (sides.through, sides.direct))
            assert ours == theirs, size
