"""auth: servers: clients log in as users of the servers, which judge them."""

import re

import pytest

from harness import eventually, running_world
from lib_cluster import Cluster
from lib_coverage import written_cases
from resp import encode
from test_coverage import OUTCOMES, generated, row_of
from test_same_as_direct import prepare

CONFIG = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    one:
      listen: 127.0.0.1:0
      auth: servers
      databases: 16
      server_commands: +config +acl +debug
      slowlog_log_slower_than: 0
      servers: ["$d:1 d"]
    three:
      listen: 127.0.0.1:0
      auth: servers
      distribution: modulo
      hash: crc16_redis
      hash_tag: "{}"
      gather_sets: true
      carry_values: true
      split_transactions: true
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
    cluster:
      listen: 127.0.0.1:0
      auth: servers
      distribution: slots
      cluster: [$seed]
"""
# All may go by the name of who may do everything, or read, or nothing at all.
USERS = [
    "SETUSER chief on >chief-pw +@all ~* &*",
    "SETUSER reader on >reader-pw -@all +@read +ping +select +client|getname"
    " +client|info +acl|whoami +multi +exec +subscribe +publish ~app:*"
    " resetchannels &news:*",
    "SETUSER plain on >plain-pw -@all +get +acl|whoami ~*",
    "SETUSER nobody on >nobody-pw -@all ~* &*",
]
WRONGPASS = (b"-WRONGPASS invalid username-password pair or user is "
             b"disabled.\r\n")
NOAUTH = b"-NOAUTH Authentication required.\r\n"
OK = b"+OK\r\n"
POOLS = ["one", "three", "cluster"]


@pytest.fixture(scope="module")
def world():
    yield from running_world()


@pytest.fixture(scope="module")
def servers(world):
    """Those of each pool, and one that stands alone beside them."""
    listed = world.start_servers(4)
    nodes = [node.server for node in Cluster(world, replicas=0).nodes]
    found = {"one": listed[3:], "three": listed[:3], "cluster": nodes,
             "direct": [world.server()]}
    for group in found.values():
        for server in group:
            set_users(server)
    return found


@pytest.fixture(scope="module")
def values(servers):
    return dict(zip("abcd", [s.address for s in
                             servers["three"] + servers["one"]]),
                seed=servers["cluster"][0].address)


@pytest.fixture(scope="module")
def proxy(world, values):
    return world.proxy(CONFIG, **values)


def acl(server, line):
    assert server.client().execute_command("ACL", *line.split()) is not None


def set_users(server):
    for line in USERS:
        acl(server, line)


def log_in(place, user, pool=None, password=None):
    raw = place.raw(pool) if pool else place.raw()
    assert raw.command("AUTH", user, password or f"{user}-pw") == OK
    return raw


def answers(raw, lines):
    raw.send(b"".join(encode(*line.split()) for line in lines))
    return raw.read_replies(len(lines))


# --- as one server --------------------------------------------------------------

# One after the other, on one connection.
TALK = """
ACL WHOAMI | PING | AUTH chief no | AUTH no | AUTH a b c | HELLO 3 AUTH chief x
ACL WHOAMI | AUTH chief chief-pw | ACL WHOAMI | SET app:1 v | SET b v
RPUSH app:l 1 2 3 | HELLO 3 AUTH reader reader-pw SETNAME me | CLIENT GETNAME
ACL WHOAMI | GET app:1 | GET b | SET app:1 w | MGET app:1 b | LRANGE app:l 0 -1
AUTH reader no | ACL WHOAMI | GET app:1 | KEYS nosuch | DBSIZE
MULTI | GET app:1 | EXEC | MULTI | GET app:1 | SET app:1 x | EXEC
MULTI | SELECT 0 | EXEC | GET app:1
BLPOP app:l 1 | XREAD COUNT 1 STREAMS app:s 0 | EVAL return_1 0 | EVALSHA x 0
FLUSHALL | CONFIG SET maxmemory 0 | ACL LIST | PUBLISH news:1 m | PUBLISH other m
SUBSCRIBE other | SELECT 1 | GET app:1 | SELECT 0
AUTH nobody nobody-pw | GET app:1 | WATCH app:1 | GET b | DEL app:1
AUTH chief chief-pw | WATCH app:1 | AUTH nobody nobody-pw | GET app:1
AUTH chief chief-pw | SELECT 2 | SET app:1 two | AUTH plain plain-pw | GET app:1
SELECT 1 | GET app:1 | MULTI | GET app:1 | HELLO 3 | GET app:1 | HELLO 2
AUTH reader reader-pw | GET app:1 | SELECT 1 | GET app:1 | AUTH plain plain-pw
GET app:1 | SELECT 0 | GET app:1 | AUTH reader reader-pw | SELECT 0 | GET app:1
RESET | ACL WHOAMI | GET app:1 | AUTH default any | ACL WHOAMI | GET b
"""


def test_one_server_answers_as_if_asked_directly(proxy, servers):
    direct = servers["direct"][0].raw()
    through = proxy.raw("one")
    for line in re.split(r"[|\n]", TALK.strip()):
        words = [word.replace("return_1", "return 1") for word in line.split()]
        ours, theirs = through.command(*words), direct.command(*words)
        if words[0] == "HELLO" and theirs[:1] in b"%*":
            ours, theirs = ours[:40], theirs[:40]
        # A transaction hears at its end what a server says at once.
        if line.strip() == "SET app:1 x":
            assert ours == b"+QUEUED\r\n" and theirs.startswith(b"-NOPERM")
        elif line.strip() == "EXEC" and theirs.startswith(b"-EXECABORT"):
            assert ours.startswith(b"-EXECABORT")
        else:
            assert ours == theirs, line


@pytest.mark.parametrize("pool", POOLS)
def test_each_client_has_the_rights_of_its_user(proxy, pool):
    chief, reader, default = (log_in(proxy, "chief", pool),
                              log_in(proxy, "reader", pool), proxy.raw(pool))
    names = [f"app:{n}" for n in range(20)] + [f"x:{n}" for n in range(20)]
    for name in names:
        assert chief.command("SET", name, name) == OK
    for _ in range(2):
        for name in names:
            value = b"$%d\r\n%s\r\n" % (len(name), name.encode())
            assert default.command("GET", name) == value
            reply = reader.command("GET", name)
            if name.startswith("app"):
                assert reply == value
            else:
                assert reply.startswith(b"-NOPERM")
            assert reader.command("SET", name, "1").startswith(b"-NOPERM")
    assert reader.command("MGET", *names[:20]).count(b"app:") == 20
    assert reader.command("MGET", *names).startswith(b"-NOPERM")
    assert reader.command("DEL", *names).startswith(b"-NOPERM")
    assert chief.command("DEL", *names) == b":40\r\n"
    assert b" user=reader " in reader.command("CLIENT", "INFO")
    assert reader.command("CLIENT", "LIST").startswith(b"-NOPERM")
    listed = chief.command("CLIENT", "LIST")
    assert b" user=chief " in listed and b" user=default " in listed


@pytest.mark.parametrize("pool", POOLS)
def test_order_holds_while_the_user_changes(proxy, pool):
    raw = proxy.raw(pool)
    lines, wanted = [], []
    for number in range(50):
        lines += [f"AUTH chief chief-pw", f"SET app:{number % 5} {number}",
                  "AUTH reader reader-pw", f"GET app:{number % 5}",
                  f"SET app:{number % 5} x", "AUTH nobody wrong", "RESET",
                  f"GET app:{number % 5}"]
        value = b"$%d\r\n%d\r\n" % (len(str(number)), number)
        wanted += [OK, OK, OK, value, b"-NOPERM", WRONGPASS, b"+RESET\r\n",
                   value]
    for reply, due in zip(answers(raw, lines), wanted):
        assert reply == due or (due == b"-NOPERM" and reply.startswith(due))


def test_clients_of_one_user_share_connections(proxy, servers):
    server = servers["one"][0]
    for name in ("x", "y"):
        acl(server, f"SETUSER {name} on >{name}-pw +get ~*")

    def connected():
        return [line["user"] for line in server.client().client_list()
                if line["user"] in ("x", "y") and line["cmd"] == "get"]
    clients = [log_in(proxy, name, "one") for name in ["x", "y"] * 20]
    for raw in clients:
        raw.command("GET", "app:1")
    assert sorted(connected()) == ["x", "y"]
    for raw in clients:
        raw.close()
    # The last one that leaves ends them.
    eventually(lambda: not connected())


@pytest.mark.parametrize("pool", POOLS)
def test_clients_of_a_user_are_ended_by_its_name(proxy, servers, pool):
    for server in servers[pool]:
        acl(server, "SETUSER guest on >guest-pw +get ~*")
    chief, default = log_in(proxy, "chief", pool), proxy.raw(pool)
    guests = [log_in(proxy, "guest", pool) for _ in range(3)]
    assert chief.command("CLIENT", "KILL", "USER", "nosuch") == b":0\r\n"
    assert chief.command("CLIENT", "KILL", "USER", "guest") == b":3\r\n"
    for raw in guests:
        assert raw.is_closed()
    assert default.command("PING") == b"+PONG\r\n"
    before = chief.command("CLIENT", "LIST").count(b" user=default ")
    assert chief.command("CLIENT", "KILL", "USER", "default") == \
        b":%d\r\n" % before
    assert default.is_closed()
    assert chief.command("PING") == b"+PONG\r\n"


# --- no way around --------------------------------------------------------------

# About the connection itself, or the end of it.
OWN = {"auth", "hello", "quit", "reset", "client|reply"}
# What servers may be asked for whatever the user may do.
ASKED = {"auth", "hello", "acl|dryrun", "command|info", "ping", "info",
         "client|list", "acl|setuser"}


def calls(server):
    return {name.removeprefix("cmdstat_"): row["calls"] for name, row in
            server.client().info("commandstats").items()}


@pytest.fixture(scope="module")
def requests(servers):
    """Words for each command that there is."""
    found = [case.words for case in written_cases()]
    found += [command.words
              for command in generated(prepare(servers["direct"][0]))]
    return [words for words in found if row_of(words) not in OWN]


@pytest.mark.parametrize("pool", POOLS)
def test_who_may_nothing_can_nothing(proxy, servers, requests, pool):
    assert len({row_of(words) for words in requests}) > 350
    chief = log_in(proxy, "chief", pool)
    assert chief.command("SET", "secret", "s3cret") == OK
    before = [calls(server) for server in servers[pool]]
    for words in requests:
        with log_in(proxy, "nobody", pool) as raw:
            reply = raw.command(*words)
            said = raw.command("ECHO", "end")
        assert b"s3cret" not in reply + said
        if reply[:1] != b"-":
            name = row_of(words)
            assert OUTCOMES[name] == "proxy" or name in (
                "multi", "unwatch", "discard") or \
                name.endswith("unsubscribe"), (words, reply)
    # And nobody has done it for him.
    for server, old in zip(servers[pool], before):
        new = calls(server)
        done = {name for name in new if new[name] > old.get(name, 0)}
        assert done - ASKED == set()
    assert chief.command("GET", "secret") == b"$6\r\ns3cret\r\n"


def test_what_is_made_of_one_command_is_judged_step_by_step(proxy, servers):
    for server in servers["three"]:
        acl(server, "SETUSER half on >half-pw -@all +sunion +rename +copy"
            " +mget +get ~* &*")
    chief, half = log_in(proxy, "chief", "three"), log_in(proxy, "half",
                                                          "three")
    for number in range(9):
        chief.command("SADD", f"set{number}", number)
        chief.command("SET", f"k{number}", number)
    names = [f"set{number}" for number in range(9)]
    assert half.command("SUNION", *names) == chief.command("SUNION", *names)
    assert half.command("SUNION", *names, "k0").startswith(b"-WRONGTYPE")
    reader = log_in(proxy, "reader", "three")
    assert reader.command("SUNION", *names).startswith(b"-NOPERM")
    assert len(half.command("MGET", *[f"k{n}" for n in range(9)])
               .split(b"$")) == 10
    # On one shard it is one command, else DUMP is the first step.
    assert half.command("RENAME", "k0", "{k0}") == OK
    replies = [half.command("RENAME", f"k{number}", "k0")
               for number in range(1, 9)]
    assert b"-NOPERM" in {reply[:7] for reply in replies}
    chief.command("FLUSHALL")


@pytest.mark.parametrize("pool", POOLS)
def test_own_connections_are_those_of_the_user(proxy, pool):
    """What keeps connections for itself: tracking, WATCH, WAIT, blocking."""
    raw = proxy.raw(pool)

    def said(*words):
        raw.send_command(*words)
        while (reply := raw.read_reply())[:1] == b">":
            pass
        return reply
    said("HELLO", "3")
    assert said("CLIENT", "TRACKING", "ON", "NOLOOP") == OK
    assert said("SET", "app:1", "v") == OK
    assert said("WATCH", "app:1") == OK
    assert said("WAIT", "0", "1") == b":0\r\n"
    assert said("AUTH", "reader", "reader-pw") == OK
    for words in (["SET", "app:1", "w"], ["GET", "b"], ["WATCH", "app:1"],
                  ["WAIT", "0", "1"], ["BLPOP", "app:l", "1"],
                  ["SET", "app:1", "x" * 200000]):
        assert said(*words).startswith(b"-NOPERM"), words
    assert said("GET", "app:1") == b"$1\r\nv\r\n"
    assert said("MULTI") == OK
    assert said("GET", "app:1") == b"+QUEUED\r\n"
    assert said("EXEC") == b"_\r\n"
    assert said("RESET") == b"+RESET\r\n"
    assert said("SET", "app:1", "w") == OK


# --- changes at the servers -----------------------------------------------------


@pytest.mark.parametrize("pool", POOLS)
def test_a_user_that_is_removed(proxy, servers, pool):
    for server in servers[pool]:
        acl(server, "SETUSER guest on >old +@all ~* &*")
    raw = log_in(proxy, "guest", pool, "old")
    listener = log_in(proxy, "guest", pool, "old")
    listener.command("SUBSCRIBE", "news:1")
    blocked = log_in(proxy, "guest", pool, "old")
    blocked.send(encode("BLPOP", "nosuch", "0"))
    names = [f"k{number}" for number in range(5)]
    for name in names:
        assert raw.command("SET", name, "v") == OK
    # With another password those who are in stay in, as at a server.
    for server in servers[pool]:
        acl(server, "SETUSER guest resetpass >new")
    assert raw.command("SET", "k1", "w") == OK
    assert proxy.raw(pool).command("AUTH", "guest", "old") == WRONGPASS
    log_in(proxy, "guest", pool, "new").close()
    for server in servers[pool]:
        acl(server, "DELUSER guest")
    for name in names:
        eventually(lambda name=name: raw.command("SET", name, "x") ==
                   WRONGPASS)
    assert blocked.read_reply()[:1] == b"-"
    eventually(listener.is_closed)
    # The connection is as good as ever.
    assert raw.command("AUTH", "guest", "new") == WRONGPASS
    assert raw.command("AUTH", "chief", "chief-pw") == OK
    assert raw.command("GET", "k2") == b"$1\r\nv\r\n"
    assert raw.command("DEL", *names) == b":5\r\n"


@pytest.mark.parametrize("pool", POOLS)
def test_channels_are_those_of_the_user(proxy, servers, pool):
    for server in servers[pool]:
        acl(server, "SETUSER ear on >ear-pw +subscribe +psubscribe "
            "+ssubscribe +unsubscribe resetchannels &a:* &b:*")
    nobody, chief = log_in(proxy, "nobody", pool), log_in(proxy, "chief", pool)
    ear, other = log_in(proxy, "ear", pool), log_in(proxy, "ear", pool)
    assert nobody.command("SUBSCRIBE", "a:1").startswith(b"-NOPERM")
    assert ear.command("SUBSCRIBE", "c:1").startswith(b"-NOPERM")
    for raw in (ear, other):
        assert raw.command("SUBSCRIBE", "a:1").endswith(b":1\r\n")
    assert other.command("SUBSCRIBE", "b:1").endswith(b":2\r\n")
    assert chief.command("SUBSCRIBE", "a:1").endswith(b":1\r\n")
    publisher = proxy.raw(pool)
    assert publisher.command("PUBLISH", "a:1", "m") == b":3\r\n"
    for raw in (ear, other, chief):
        assert raw.read_reply().endswith(b"$1\r\nm\r\n")
    # Whoever may not listen to all of it any more is closed, others go on.
    for server in servers[pool]:
        acl(server, "SETUSER ear resetchannels &a:*")
    eventually(other.is_closed)
    eventually(lambda: publisher.command("PUBLISH", "a:1", "n") == b":2\r\n")
    eventually(lambda: ear.read_reply().endswith(b"$1\r\nn\r\n"))
    eventually(lambda: chief.read_reply().endswith(b"$1\r\nn\r\n"))


def test_a_password_stands_nowhere(proxy, servers):
    chief = log_in(proxy, "chief", "one")
    raw = proxy.raw("one")
    raw.command("HELLO", "3", "AUTH", "chief", "chief-pw")
    raw.command("AUTH", "chief", "chief-pw2")
    for words in (["CLIENT", "LIST"], ["SLOWLOG", "GET", "-1"],
                  ["CLIENT", "INFO"], ["INFO", "all"]):
        reply = chief.command(*words)
        assert reply[:1] in b"$*" and b"chief-pw" not in reply
    assert "chief-pw" not in proxy.log()
    assert "chief-pw" not in proxy.stats.get("/metrics")[1]
    assert servers


# --- pools ----------------------------------------------------------------------


def test_who_has_not_logged_in(world):
    server = world.server()
    set_users(server)
    acl(server, "SETUSER default on >own")
    for line, reply in (("", NOAUTH), ("redis_auth: own", NOAUTH)):
        proxy = world.proxy(f"""
            pointsman:
              workers: 1
            pool:
              listen: 127.0.0.1:0
              auth: servers
              {line}
              servers: ["$a:1 a"]
        """, a=f"127.0.0.1:{server.port}")
        raw = proxy.raw()
        for words in (["GET", "k"], ["CLIENT", "LIST"], ["MONITOR"],
                      ["SUBSCRIBE", "a"], ["SLOWLOG", "GET"], ["SCAN", "0"],
                      ["BLPOP", "k", "0"], ["WATCH", "k"]):
            assert raw.command(*words) == reply, words
        with log_in(proxy, "chief") as chief:
            assert chief.command("SET", "k", "v") == OK
            assert chief.command("CLIENT", "LIST")[:1] == b"$"
        assert raw.command("GET", "k") == reply
        assert raw.command("AUTH", "own") == OK
        assert raw.command("GET", "k") == b"$1\r\nv\r\n"
        proxy.stop()


def test_a_reload_keeps_who_is_logged_in(world, servers, values):
    proxy = world.proxy(CONFIG, **values)
    raw = log_in(proxy, "reader", "three")
    assert raw.command("GET", "b").startswith(b"-NOPERM")
    text = open(proxy.config_path, encoding="utf-8").read()
    proxy.write_config(text.replace("auth: servers", "auth: pool")
                       .replace("gather_sets: true", "gather_sets: false"))
    proxy.signal(1)
    proxy.wait_for_event("reloaded")
    eventually(lambda: proxy.raw("three").command("AUTH", "chief", "chief-pw")
               == WRONGPASS)
    assert raw.command("ACL", "WHOAMI") == b"$6\r\nreader\r\n"
    assert raw.command("GET", "b").startswith(b"-NOPERM")
    assert raw.command("SUBSCRIBE", "other").startswith(b"-NOPERM")
    proxy.write_config(text)
    proxy.signal(1)
    proxy.wait_for_event("reloaded", 2)
    log_in(proxy, "chief", "three")
    assert raw.command("GET", "b").startswith(b"-NOPERM")
    assert servers
