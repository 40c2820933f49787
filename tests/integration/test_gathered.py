"""What needs keys on several shards, and is done by the proxy: as one server does it.

Sets are combined only with gather_sets, and values go from shard to shard only with
carry_values.
"""

import random

import pytest

from harness import eventually, running_world
from lib_cluster import Cluster, Resharder, start_proxy
from test_same_as_direct import CROSSSLOT, THREE, elements

SETTING = "      gather_sets: true\n      carry_values: true\n"
SETS = [f"{word}:s" for word in "alpha beta gamma delta eps zeta".split()]
SORTED = [f"{word}:z" for word in "one two three four five six".split()]
COUNTED = [f"{word}:p" for word in "ant bee cat dog elk fox".split()]
MEMBERS = ["", "a", "b", "c\r\n", "\x00", "x" * 700] + \
    [f"m{n}" for n in range(40)]
NAMES = [f"{word}:v" for word in "red green blue white black".split()]
VALUES = [("SET", "text"), ("SET", "x" * 20000), ("RPUSH", "a", "b", "a"),
          ("HSET", "f", "1", "g", "2"), ("SADD", "1", "2"),
          ("SADD", "2", "3"), ("SADD", "1"),
          ("ZADD", "1", "a"), ("XADD", "5-1", "f", "v"), ("SET", "7")]
SCORES = ["1", "2.5", "-3", "1e10", "inf", "0.5", "7", "-inf"]


class Setting:
    """A pool that combines sets, and a server with all of the keys."""

    def __init__(self, proxy, servers, direct, is_cluster=False):
        self.proxy = proxy
        self.is_cluster = is_cluster
        self.servers = servers
        self.direct = direct

    def both(self, version):
        found = []
        for place in (self.proxy, self.direct):
            raw = place.raw()
            raw.command("HELLO", version)
            found.append(raw)
        return found


def fill(places):
    """The same keys everywhere: sets, sorted sets, and one of another kind."""
    chance = random.Random(1)
    commands = [("FLUSHALL",), ("SET", "text", "v")]
    for key in SETS:
        commands.append(("SADD", key, *chance.sample(MEMBERS, 25)))
    for key in SORTED:
        words = [word for member in chance.sample(MEMBERS, 25)
                 for word in (chance.choice(SCORES), member)]
        commands.append(("ZADD", key, *words))
    for number, key in enumerate(COUNTED):
        commands.append(("PFADD", key, *range(100 * number, 401 * number)))
    for raw in places:
        replies = raw.pipeline(*commands)
        assert not [reply for reply in replies if reply[:1] == b"-"]


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def direct(world):
    return world.server()


@pytest.fixture(scope="module")
def listed(world, direct):
    servers = world.start_servers(3)
    a, b, c = (server.address for server in servers)
    return Setting(world.proxy(THREE + SETTING, a=a, b=b, c=c), servers,
                   direct)


@pytest.fixture(scope="module")
def cluster(world):
    return Cluster(world, replicas=0)


@pytest.fixture(scope="module")
def clustered(world, direct, cluster):
    proxy = start_proxy(world, cluster.seeds(), gather_sets="true",
                        carry_values="true")
    return Setting(proxy, [node.server for node in cluster.nodes], direct,
                   is_cluster=True)


@pytest.fixture(params=["listed", "clustered"])
def setting(request):
    this = request.getfixturevalue(request.param)
    fill(this.both(2))
    return this


def alike(command, reply):
    """Sets have no order."""
    if command[0] in ("SUNION", "SINTER", "SDIFF", "SMEMBERS") and reply[:1] in b"*~":
        header, found = elements(reply)
        return header, sorted(found)
    return reply


def random_keys(chance, kinds):
    return [chance.choice(kinds + ["none"])
            for _ in range(chance.randint(2, 5))]


def random_command(chance):
    """One that a server takes."""
    name = chance.choice(["SUNION", "SINTER", "SDIFF", "SINTERCARD", "ZUNION",
                          "ZINTER", "ZDIFF", "ZINTERCARD"])
    if name[0] == "S":
        keys = random_keys(chance, SETS)
    else:
        keys = random_keys(chance, SETS + SORTED + SORTED)
    if name in ("SUNION", "SINTER", "SDIFF"):
        return [name, *keys]
    words = [name, len(keys), *keys]
    if name.endswith("CARD"):
        return words + (["LIMIT", chance.randint(0, 9)]
                        if chance.random() < 0.5 else [])
    if name != "ZDIFF" and chance.random() < 0.5:
        words += ["WEIGHTS"] + [chance.choice(["1", "2", "-1", "0.5", "3"])
                                for _ in keys]
    if name != "ZDIFF" and chance.random() < 0.5:
        words += ["aggregate", chance.choice(["sum", "MIN", "MAX"])]
    if chance.random() < 0.7:
        words.append("WITHSCORES")
    return words


@pytest.mark.parametrize("version", [2, 3])
def test_random_commands_are_answered_as_by_one_server(setting, version):
    chance = random.Random(version)
    through, direct = setting.both(version)
    for _ in range(400):
        command = random_command(chance)
        assert alike(command, through.command(*command)) == \
            alike(command, direct.command(*command)), command


def random_store(chance):
    """A command that stores, and one that shows what it has stored."""
    target = chance.choice(SETS + SORTED + ["text", "new"])
    while True:
        name, *words = random_command(chance)
        if not name.endswith("CARD"):
            break
    if "WITHSCORES" in words:
        words.remove("WITHSCORES")
    show = ["SMEMBERS", target] if name[0] == "S" else \
        ["ZRANGE", target, 0, -1, "WITHSCORES"]
    return [name + "STORE", target, *words], show


@pytest.mark.parametrize("version", [2, 3])
def test_what_is_stored_is_what_one_server_stores(setting, version):
    chance = random.Random(version)
    through, direct = setting.both(version)
    for number in range(300):
        command, show = random_store(chance)
        ours, theirs = (raw.pipeline(command, show)
                        for raw in (through, direct))
        assert ours[0] == theirs[0], command
        assert alike(show, ours[1]) == alike(show, theirs[1]), command
        if number % 50 == 49:
            fill((through, direct))


def test_large_sets_are_stored(listed):
    through, direct = listed.both(2)
    for raw in (through, direct):
        for key in SETS[:2]:
            raw.command("SADD", key, *(f"{key if n < 9000 else ''}:{n}"
                                       for n in range(20000)))
    for command in (["SUNIONSTORE", "new", *SETS[:2]],
                    ["ZUNIONSTORE", "new", 2, *SETS[:2]]):
        assert through.command(*command) == direct.command(*command)


def test_what_is_counted_is_what_one_server_counts(setting):
    chance = random.Random(1)
    through, direct = setting.both(2)
    for raw in (through, direct):
        raw.command("PEXPIRE", COUNTED[2], 500000)
        raw.command("PFADD", COUNTED[5], *range(60000))
    for _ in range(300):
        keys = chance.sample(COUNTED + ["none", "new"], chance.randint(2, 5))
        verb = chance.choice(["PFCOUNT", "PFCOUNT", "PFMERGE"])
        commands = [(verb, *keys), ("PFCOUNT", keys[0])]
        if chance.random() < 0.1:
            commands.insert(0, ("PFADD", keys[0], chance.random()))
        assert through.pipeline(*commands) == direct.pipeline(*commands), keys
    for key in COUNTED:
        assert (through.command("PTTL", key) == b":-1\r\n") == \
            (direct.command("PTTL", key) == b":-1\r\n")


def test_what_cannot_be_counted_is_an_error(setting):
    through, direct = setting.both(2)
    for raw in (through, direct):
        raw.command("SET", "short", "HYLL")
        raw.command("SET", "bad", b"HYLL\x01" + bytes(12) + b"\x7f\xff")
        raw.command("SET", "cut", b"HYLL\x00" + bytes(500))
    for name in ("text", "short", "bad", "cut", SETS[0]):
        for verb in ("PFCOUNT", "PFMERGE"):
            command = [verb, *COUNTED[1:4], name]
            reply = direct.command(*command)
            assert through.command(*command) == reply
            assert reply[:1] == b"-"


def test_what_is_no_set_is_an_error(setting):
    through, direct = setting.both(2)
    for command in (["SUNION", *SETS, "text"], ["SINTER", "text", *SETS],
                    ["SDIFF", *SETS, *SORTED], ["ZUNION", 4, *SORTED[:3], "text"],
                    ["SINTERCARD", 6, *SETS[:5], "text"]):
        reply = direct.command(*command)
        assert through.command(*command) == reply
        assert reply.startswith(b"-WRONGTYPE ")


def test_what_is_not_in_order_stays_refused(setting):
    through = setting.proxy.raw()
    for command in (["ZUNIONSTORE", "to", 6, *SORTED, "WITHSCORES"],
                    ["BITOP", "NOT", "text", *SETS],
                    ["ZUNION", 6, *SORTED, "WEIGHTS", 1],
                    ["ZINTER", 6, *SORTED, "NOSUCH"],
                    ["ZDIFF", 6, *SORTED, "AGGREGATE", "SUM"],
                    ["SINTERCARD", 6, *SETS, "LIMIT", -1]):
        assert through.command(*command) == CROSSSLOT, command
    replies = through.pipeline(["MULTI"], ["SUNION", *SETS], ["EXEC"])
    assert replies[1].startswith(CROSSSLOT[:-2])
    assert replies[2].startswith(b"-EXECABORT ")


PLACES = ["rome:g", "oslo:g", "lima:g", "cairo:g"]
RANGES = [(0, -1), (1, 3, "REV"), ("-inf", "(7", "BYSCORE"),
          ("7", "-3", "BYSCORE", "REV", "LIMIT", 1, 2), (5, 1), ("x", "y"),
          (0, 1, "NOSUCH"), (0, 1, "LIMIT", 1, 1)]
SEARCHES = [("FROMMEMBER", "p1", "BYRADIUS", 300, "km"),
            ("FROMLONLAT", 15, 37, "BYBOX", 400, 400, "km", "COUNT", 3),
            ("FROMMEMBER", "nosuch", "BYRADIUS", 1, "m"),
            ("FROMLONLAT", 15, 37, "BYRADIUS", 1, "m"),
            ("FROMLONLAT", 15, 37, "BYRADIUS", 900, "miles")]


def storing_command(chance):
    """One that writes at one key what it makes of others."""
    key, other = (chance.choice(kinds + ["none", "text"])
                  for kinds in (SORTED, SORTED))
    kind = chance.random()
    if kind < 0.3:
        return ["ZRANGESTORE", key, other, *chance.choice(RANGES)]
    if kind < 0.6:
        return ["GEOSEARCHSTORE", key, chance.choice([*PLACES, "none", "text"]),
                *chance.choice(SEARCHES)]
    if kind < 0.7:
        return ["BITOP", "not", chance.choice(NAMES), chance.choice(NAMES)]
    return ["BITOP", chance.choice(["AND", "OR", "xor"]), chance.choice(NAMES),
            *random_keys(chance, NAMES)]


@pytest.mark.parametrize("version", [2, 3])
def test_what_is_made_of_others_is_written_as_at_one_server(setting, version):
    chance = random.Random(version)
    through, direct = setting.both(version)
    for raw in through, direct:
        for number, key in enumerate(PLACES):
            raw.command("GEOADD", key, *[
                word for n in range(8) for word in
                (15 + n / 7 + number / 9, 37 + n / 5, f"p{n}")])
        for number, key in enumerate(NAMES[:4]):
            raw.command("SET", key, bytes(range(50 * number, 251)))
        raw.command("EXPIRE", NAMES[1], 1000)
    for number in range(300):
        command = storing_command(chance)
        assert through.command(*command) == direct.command(*command), command
        looks = [("ZRANGE", command[1], 0, -1, "WITHSCORES"),
                 ("GET", command[2]), ("TTL", command[2])]
        look = looks[0] if command[0] != "BITOP" else chance.choice(looks[1:])
        assert through.command(*look) == direct.command(*look), command


def test_they_keep_their_place_in_a_pipeline(setting):
    commands = []
    for number in range(100):
        commands += [("SADD", SETS[number % 6], f"new{number}"),
                     ("SINTERCARD", 6, *SETS), ("SUNION", *SETS),
                     ("ECHO", number)]
    through, direct = setting.both(2)
    ours, theirs = through.pipeline(*commands), direct.pipeline(*commands)
    assert [alike(c, r) for c, r in zip(commands, ours)] == \
        [alike(c, r) for c, r in zip(commands, theirs)]


def test_large_sets_are_combined(listed):
    through, direct = listed.both(2)
    for raw in (through, direct):
        for key in SETS:
            raw.command("DEL", key)
            raw.command("SADD", key, *(f"{key if n < 5000 else ''}:{n}"
                                       for n in range(10000)))
    for command in (["SUNION", *SETS], ["SINTER", *SETS]):
        ours, theirs = (alike(command, raw.command(*command))
                        for raw in (through, direct))
        assert ours == theirs


def test_a_shard_that_is_down_is_named(world):
    servers = world.start_servers(3)
    a, b, c = (server.address for server in servers)
    raw = world.proxy(THREE + SETTING, a=a, b=b, c=c).raw()
    for key in SETS:
        raw.command("SADD", key, "x")
    assert all(server.client().dbsize() for server in servers)
    servers[1].kill()
    eventually(lambda: raw.command("SUNION", *SETS).startswith(
        b"-CLUSTERDOWN proxy: no reachable primary for shard b"))


def name_command(chance):
    """One that writes a name, moves what stands there, or asks for it."""
    key, other = chance.choice(NAMES), chance.choice(NAMES)
    kind = chance.random()
    if kind < 0.25:
        verb, *words = chance.choice(VALUES)
        return [["DEL", key], [verb, key, *words]]
    if kind < 0.35:
        return [["PEXPIRE", key, 500000]]
    if kind < 0.45:
        return [["DEL", key]]
    if kind < 0.55:
        return [["SMOVE", key, other, chance.choice("123")]]
    if kind < 0.8:
        return [[chance.choice(["RENAME", "RENAMENX", "rename"]), key, other]]
    words = chance.choice([[], ["REPLACE"], ["DB", 3], ["replace", "db", 0],
                           ["DB", 99], ["DB", "x"], ["DB", "07"], ["DB", -1],
                           ["DB"], ["NOSUCH"], ["DB", "99999999999"]])
    return [["COPY", key, other, *words]]


def state(raw, databases):
    """What stands under each name, and whether it lives for ever."""
    found = []
    for database in databases:
        raw.command("SELECT", database)
        found += [reply for name in NAMES for reply in (
            raw.command("DUMP", name),
            int(raw.command("PTTL", name)[1:]) // 400000)]
    raw.command("SELECT", 0)
    return found


@pytest.mark.parametrize("version", [2, 3])
def test_names_change_shards_as_within_one_server(setting, version):
    chance = random.Random(version)
    through, direct = setting.both(version)
    for number in range(400):
        for command in name_command(chance):
            if setting.is_cluster and "DB" in command:
                continue  # servers of a cluster have other words for that
            assert through.command(*command) == direct.command(*command), \
                command
        if number % 40 == 0:
            databases = [0] if setting.is_cluster else [0, 3]
            assert state(through, databases) == state(direct, databases)


def test_a_name_that_changes_keeps_its_place_in_a_pipeline(setting):
    commands = [("DEL", *NAMES), ("SET", NAMES[0], 0)]
    for number in range(60):
        here, there = NAMES[number % 5], NAMES[(number + 1) % 5]
        commands += [("INCR", here), ("RENAME", here, there), ("GET", there),
                     ("GET", here), ("ECHO", number)]
    through, direct = setting.both(2)
    assert through.pipeline(*commands) == direct.pipeline(*commands)


def test_names_change_slots_that_move(clustered, cluster):
    """Whatever is where: the value is found under one name, and no other."""
    raw = clustered.proxy.raw()
    raw.command("DEL", *NAMES)
    raw.command("SET", NAMES[0], 0)
    renamed = 0
    with Resharder(cluster, [cluster.slot(name) for name in NAMES]) as moving:
        while moving.moves < 30 or renamed < 50:
            here, there = NAMES[renamed % 5], NAMES[(renamed + 1) % 5]
            renamed += 1
            assert raw.pipeline(
                ["RENAME", here, there], ["INCR", there], ["EXISTS", *NAMES]
            ) == [b"+OK\r\n", b":%d\r\n" % renamed, b":1\r\n"]


def test_large_values_change_shards(listed):
    through = listed.proxy.raw()
    through.command("DEL", *NAMES)
    through.command("SET", NAMES[0], "x" * 20000000)
    for here, there in zip(NAMES, NAMES[1:]):
        assert through.command("RENAME", here, there) == b"+OK\r\n"
    assert through.command("STRLEN", NAMES[-1]) == b":20000000\r\n"
    assert through.command("EXISTS", *NAMES) == b":1\r\n"


def test_by_default_they_are_refused(world, listed):
    a, b, c = (server.address for server in listed.servers)
    raw = world.proxy(THREE, a=a, b=b, c=c).raw()
    assert raw.command("SUNION", *SETS) == CROSSSLOT
    assert raw.command("ZUNION", 6, *SORTED) == CROSSSLOT
    replies = raw.pipeline(*(["RENAME", here, there]
                             for here in NAMES for there in NAMES))
    assert CROSSSLOT in replies
