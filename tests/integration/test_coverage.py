"""Every command that the server knows, through a pool: as the manual says it.

pointsman-commands(7) is made of outcomes() and places_in_transactions() in
scripts/gen-commands-man; here the running proxy is held to it, row by row, in a pool of one server, of three,
and of a cluster, in RESP2 and RESP3.  The reply is a server's own, or the
refusal that is decided for it.  A row that the server has and nobody has a case
for makes the test fail: write one into lib_coverage.py, or a template into
lib_templates.py where it is routed by its keys.
"""

import importlib.machinery
import importlib.util
import os
import re

import pytest

from harness import REPO, running_world, seconds
from lib_cluster import Cluster, start_proxy
from lib_commands import Generator
from lib_coverage import Case, written_cases
from test_same_as_direct import (CROSSSLOT, ONE, SPLIT, THREE, elements,
                                 normal, prepare, refusal, server_rows)

# What nodes of a cluster say in other words, or in other numbers.
CLUSTER_WORDS = {
    "move": b"-ERR MOVE is not allowed in cluster mode\r\n",
    "select 16": b"-ERR SELECT is not allowed in cluster mode\r\n",
}


def load_manual():
    path = os.path.join(REPO, "scripts", "gen-commands-man")
    loader = importlib.machinery.SourceFileLoader("gen_commands_man", path)
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


MANUAL = load_manual()
OUTCOMES = MANUAL.outcomes()
PLACES = MANUAL.places_in_transactions()


def row_of(words):
    """The name of a request's row, of a subcommand if it is one."""
    words = [word if isinstance(word, str) else word.decode("latin-1")
             for word in words[:2]]
    name = words[0].lower()
    full = "|".join(words).lower()
    return full if full in OUTCOMES else name


class Tagged(Generator):
    """All of its keys have one tag, so that they are on one shard."""

    def chance(self, probability):
        return False

    def make(self, template, may_spoil):
        self.tag = b"{a}"
        return super().make(template, may_spoil)

    def expand(self, template):
        self.tag = b"{a}"
        return super().expand(template)


# --- replies ------------------------------------------------------------------


def kind_of(reply):
    return re.match(rb"[*~%>]\d+|.", reply)[0]


def alike(how, ours, theirs):
    """What of them has to be equal."""
    def view(reply):
        if how == "sorted":
            header, found = elements(reply)
            return header, sorted(found)
        if how == "kind":
            return kind_of(reply)
        if how == "type":
            return reply[:1]
        if how == "code":
            return reply.split(b" ")[0]
        if how == "hello":
            return re.sub(rb"(\$2\r\nid\r\n:)\d+", rb"\1N", reply)
        assert how == "same", how
        return reply
    return view(ours) == view(theirs)


# --- pools --------------------------------------------------------------------


class Setting:
    """A pool, and a server that stands alone beside it."""

    def __init__(self, servers, proxy, direct, kind):
        self.servers = servers
        self.proxy = proxy
        self.direct = direct
        self.kind = kind
        self.shas = {}

    def empty(self):
        for server in [*self.servers, self.direct]:
            client = server.client()
            client.flushall()
            client.function_flush()
            client.script_flush()
            self.shas = prepare(server)

    def pair(self, version):
        """A connection to the server and one to the pool."""
        found = []
        for place in (self.direct, self.proxy):
            raw = place.raw()
            raw.socket.settimeout(seconds(30))
            raw.command("HELLO", version)
            found.append(raw)
        return found

    def decided(self, words):
        """The answer that is due whatever the server says, or None."""
        name = row_of(words)
        outcome = OUTCOMES[name]
        if outcome == "refused" or \
                (outcome == "single" and self.kind != "one"):
            return b"-ERR command '%s' is not supported through this " \
                b"proxy\r\n" % name.encode()
        if self.kind == "cluster":
            return CLUSTER_WORDS.get(name) or \
                CLUSTER_WORDS.get(repr(Case(words)).lower())
        return None


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def direct(world):
    return world.server()


def listed(world, direct, count):
    servers = world.start_servers(count)
    proxy = world.proxy(ONE if count == 1 else THREE, **{
        name: server.address for name, server in zip("abc", servers)})
    return Setting(servers, proxy, direct, "one" if count == 1 else "three")


@pytest.fixture(scope="module")
def one(world, direct):
    return listed(world, direct, 1)


@pytest.fixture(scope="module")
def three(world, direct):
    return listed(world, direct, 3)


@pytest.fixture(scope="module")
def cluster(world, direct):
    nodes = Cluster(world, replicas=0)
    return Setting([node.server for node in nodes.nodes],
                   start_proxy(world, nodes.seeds()), direct, "cluster")


@pytest.fixture(params=["one", "three", "cluster"])
def setting(request):
    this = request.getfixturevalue(request.param)
    this.empty()
    return this


# --- the cases ----------------------------------------------------------------


def generated(shas):
    """One case and more for each row that is routed by keys."""
    return [command for command in Tagged("coverage", shas).each_once()
            if not command.is_big]


def silence(raw):
    """Nothing has come when what follows is answered."""
    return raw.command("CLIENT", "REPLY", "ON") == b"+OK\r\n"


def scanned(raw, words):
    """What a whole scan gives, from one cursor to the next."""
    found = []
    words = list(words)
    while True:
        reply = raw.command(*words)
        words[1] = reply.split(b"\r\n")[2]
        found += elements(reply[reply.index(b"*", 1):])[1]
        if words[1] == b"0":
            return sorted(found)


def differs(setting, case, version):
    """What is wrong with the answer to a case, or None."""
    decided = setting.decided(case.words)
    direct, through = setting.pair(version)
    with direct, through:
        for words in case.before:
            assert direct.command(*words)[:1] != b"-", words
            assert through.command(*words)[:1] != b"-", words
        if case.how == "silent":
            for raw in (direct, through):
                raw.send_command(*case.words)
            return None if silence(direct) and silence(through) else "it spoke"
        if case.how == "scan":
            return None if scanned(through, case.words) == \
                scanned(direct, case.words) else "a scan differs"
        ours = through.command(*case.words)
        theirs = decided or direct.command(*case.words)
        if decided is not None and ours == decided:
            return None
        if decided is None and alike(case.how, ours, theirs):
            return None
        return f"{case}\n  ours   {ours[:300]!r}\n  wanted {theirs[:300]!r}"


def wanted_of(setting, command, theirs):
    """The reply to a generated command, whose keys are on one shard."""
    refused = setting.decided(command.words)
    if refused is None and setting.kind != "one":
        refused = refusal(command, {0})
    return refused or theirs


def play_generated(setting, version):
    """Yield what differs."""
    direct, through = setting.pair(version)
    with direct, through:
        for command in generated(setting.shas):
            theirs = direct.command(*command.words)
            wanted = wanted_of(setting, command, theirs)
            ours = through.command(*command.words)
            if setting.kind == "cluster" and command.name == b"memory":
                ours, wanted = ours[:1], wanted[:1]
            if normal(command, ours) != normal(command, wanted):
                yield f"{command!r}\n  ours   {ours[:300]!r}\n" \
                      f"  wanted {wanted[:300]!r}"


@pytest.mark.parametrize("version", [2, 3])
def test_every_command_has_the_outcome_of_the_manual(setting, version):
    found = list(play_generated(setting, version))
    for case in written_cases():
        found.append(differs(setting, case, version))
    found = [text for text in found if text]
    assert not found, \
        f"{len(found)} differ; what is new belongs into " \
        "scripts/gen-commands-man\n" + "\n".join(found)


def test_every_row_of_the_server_has_a_case(direct):
    rows = server_rows(direct)
    assert len(rows) > 350 and rows - set(OUTCOMES) == set()
    shas = prepare(direct)
    made = {row_of(case.words) for case in written_cases()}
    made |= {row_of(command.words) for command in generated(shas)}
    assert rows - made == set()


def test_what_is_refused_everywhere_is_not_listed(one, direct):
    rows = {name for name in server_rows(direct) if "cluster|" not in name}
    listed = {name.decode() for name in
              one.proxy.client().execute_command("COMMAND LIST")}
    assert listed & rows == {
        name for name in rows if OUTCOMES[name] != "refused"}


# --- in transactions --------------------------------------------------------------

# These begin or end one, or the connection; see test_transactions.py.
ABOUT_TRANSACTIONS = {"multi", "exec", "discard", "watch", "quit", "reset"}
FORBIDDEN = (b"-ERR Command not allowed inside a transaction\r\n",
             b"-ERR command '", b"-ERR wrong number", b"-ERR unknown sub")
ABORTED = b"-EXECABORT Transaction discarded because of previous errors.\r\n"
# Refused as soon as they are queued: EXEC would say it.
TOO_EARLY = b"-ERR DB index is out of range\r\n"


def alone(words):
    """The answers to a command in a transaction of its own, and to EXEC."""
    return lambda raw: raw.pipeline(("MULTI",), words, ("EXEC",))[1:]


def inside(reply):
    """What EXEC has of the one command, if it has."""
    return reply.removeprefix(b"*1\r\n")


def may_stand_there(setting, words):
    place = PLACES[row_of(words)]
    if words[:2] == ["SELECT", "16"]:
        return False
    return place == "yes" or (place == "one" and setting.kind == "one")


def differs_in_multi(setting, words, compare):
    """What is wrong with the answers, or None."""
    direct, through = setting.pair(2)
    with direct, through:
        ours = alone(words)(through)
        if not may_stand_there(setting, words):
            fits = ours[0].startswith(FORBIDDEN) and ours[1] == ABORTED
            return None if fits else f"{words[:4]} is taken: {ours}"
        if ours == [TOO_EARLY, ABORTED]:
            return None
        theirs = alone(words)(direct)
        fits = ours[0] == theirs[0] and (
            ours[1] == theirs[1] or compare(inside(ours[1]), inside(theirs[1])))
        return None if fits else f"{words[:4]}: {ours} for {theirs}"


def compared(case):
    """Nothing is said before; functions of a library have no order."""
    loose = case.how in ("scan", "hello", "silent") or \
        row_of(case.words) == "function|list"
    return lambda ours, theirs: alike("type" if loose else case.how, ours,
                                      theirs)


def play_in_multi(setting):
    for case in written_cases():
        if row_of(case.words) not in ABOUT_TRANSACTIONS:
            yield differs_in_multi(setting, case.words, compared(case))
    for command in generated(setting.shas):
        pattern = setting.kind != "one" and refusal(command, {0})
        if not pattern:
            yield differs_in_multi(
                setting, command.words,
                lambda ours, theirs, command=command:
                normal(command, ours) == normal(command, theirs))


@pytest.mark.parametrize("way", ["queued", "direct"])
@pytest.mark.parametrize("kind", ["one", "three"])
def test_every_command_in_a_transaction_is_as_the_manual_says(
        request, world, kind, way):
    """What may not stand there is refused, with EXEC; all else is a server's."""
    plain = request.getfixturevalue(kind)
    proxy = world.proxy((ONE if kind == "one" else THREE).replace(
        "      servers:", f"      transactions: {way}\n      servers:"), **{
            name: server.address
            for name, server in zip("abc", plain.servers)})
    setting = Setting(plain.servers, proxy, plain.direct, kind)
    setting.empty()
    found = [text for text in play_in_multi(setting) if text]
    assert not found, f"{len(found)} differ\n" + "\n".join(found)


# --- keys on several shards ---------------------------------------------------


def keys_of(raw, command):
    reply = raw.command("COMMAND", "GETKEYS", *command.words)
    return [] if reply[:1] == b"-" else [
        bulk.split(b"\r\n", 1)[1][:-2] for bulk in elements(reply)[1]]


def spread(command, key, tag):
    """The words, with another tag in the last place of this key."""
    words = list(command.words)
    at = max(i for i, word in enumerate(words) if word == key)
    words[at] = key.replace(b"{a}", tag)
    return words


def tag_elsewhere(setting):
    """One whose keys are not on the shard of {a}."""
    raw = setting.proxy.raw()
    owners = {}
    for tag in (b"{a}", *(b"{%d}" % n for n in range(100))):
        assert raw.command("SET", tag, "v") == b"+OK\r\n"
        owners[tag] = next(server.name for server in setting.servers
                           if server.client().exists(tag))
        if owners[tag] != owners[b"{a}"]:
            return tag
    raise AssertionError("all keys are on one shard")


def test_keys_on_two_shards_are_refused_or_cut(three, direct):
    three.empty()
    raw = three.proxy.raw()
    tag = tag_elsewhere(three)
    asked = direct.raw()
    tried = set()
    for command in generated(three.shas):
        keys = keys_of(asked, command)
        if len(keys) < 2 or command.name in tried:
            continue
        tried.add(command.name)
        reply = raw.command(*spread(command, keys[-1], tag))
        if command.name in SPLIT:
            assert reply[:1] != b"-", command
        elif command.name == b"xread":
            assert reply != CROSSSLOT, command
        elif not command.name.startswith(b"georadius"):
            assert reply == CROSSSLOT, command
    assert len(tried) > 30


def test_a_case_that_differs_is_found(one):
    """Or nothing of this would prove anything."""
    one.empty()
    assert differs(one, Case(["PING"]), 2) is None
    assert "wanted" in differs(one, Case(["CLIENT", "ID"]), 2)
    OUTCOMES["nosuch"] = "refused"
    try:
        assert "wanted" in differs(one, Case(["NOSUCH"]), 2)
    finally:
        del OUTCOMES["nosuch"]
