"""CLIENT TRACKING: caches of clients, and what they are told of changes."""

import itertools

import pytest

from harness import eventually
from lib_cache import Cache, race
from lib_three import ONE_AND_THREE, direct, proxy, servers, world

SERVERS = 4
THREE = ONE_AND_THREE + """    small:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      tracking_table_max_keys: 8
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
    one_direct:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      tracking: direct
      servers:
        - $d:1 d
    three_direct:
      listen: 127.0.0.1:0
      distribution: ketama
      hash: fnv1a_64
      tracking: direct
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""
POOLS = ["one", "three"]
ALL_POOLS = [*POOLS, "one_direct", "three_direct"]
KEYS = [f"key{n}" for n in range(20)]

# What one client says of how it tracks.
WORDS = """
CLIENT TRACKING
CLIENT TRACKING x
CLIENT TRACKING ON FOO
CLIENT TRACKING ON PREFIX
CLIENT TRACKING ON PREFIX a
CLIENT TRACKING ON BCAST OPTIN
CLIENT TRACKING ON OPTIN OPTOUT
CLIENT TRACKING ON REDIRECT x
CLIENT TRACKING ON REDIRECT 0
CLIENT TRACKING ON REDIRECT -1
CLIENT TRACKING OFF FOO
CLIENT TRACKING OFF
CLIENT TRACKING OFF PREFIX x
CLIENT CACHING yes
CLIENT CACHING
CLIENT CACHING foo
CLIENT GETREDIR
CLIENT TRACKINGINFO
CLIENT TRACKING ON
CLIENT TRACKING ON
CLIENT TRACKINGINFO
CLIENT GETREDIR
CLIENT CACHING yes
CLIENT CACHING no
CLIENT CACHING foo
CLIENT TRACKING ON BCAST
CLIENT TRACKING OFF
CLIENT TRACKING ON OPTIN NOLOOP
CLIENT CACHING no
CLIENT CACHING yes
CLIENT TRACKINGINFO
PING
CLIENT TRACKINGINFO
CLIENT CACHING yes
GET
CLIENT TRACKINGINFO
CLIENT TRACKING ON OPTOUT
CLIENT TRACKING ON
CLIENT TRACKINGINFO
CLIENT TRACKING ON OPTOUT
CLIENT CACHING yes
CLIENT CACHING no
CLIENT TRACKINGINFO
CLIENT TRACKING OFF
CLIENT TRACKING ON BCAST PREFIX foo PREFIX bar
CLIENT TRACKING ON BCAST PREFIX fo
CLIENT TRACKING ON BCAST PREFIX food PREFIX x
CLIENT TRACKING ON BCAST PREFIX x PREFIX y PREFIX xx
CLIENT TRACKING ON BCAST PREFIX x PREFIX y PREFIX x
CLIENT TRACKING ON BCAST PREFIX foo
CLIENT TRACKING ON BCAST PREFIX zed
CLIENT TRACKINGINFO
CLIENT TRACKING ON BCAST
CLIENT TRACKINGINFO
CLIENT TRACKING ON
RESET
CLIENT TRACKINGINFO
""".strip().splitlines()

# What one client says (t) while another writes (w), and what the first hears: how
# many answers and messages.  Nobody writes a key before it is read: the news of that
# may come behind the read.
CONVERSATIONS = {
    "keys that it has read": [
        ("t", "CLIENT TRACKING ON", 1), ("t", "GET {k}1", 1),
        ("w", "SET {k}1 a", 1), ("w", "SET {k}2 a", 0), ("w", "SET {k}1 b", 0),
        ("t", "MGET {k}3 {k}4", 1), ("w", "INCR {k}4", 1),
        ("t", "EXISTS {k}5", 1), ("w", "SET {k}5 x", 1),
        ("t", "HGETALL {k}6", 1), ("w", "HSET {k}6 f v", 1)],
    "all keys": [
        ("t", "CLIENT TRACKING ON BCAST", 1),
        ("w", "MSET {k}2 b {k}1 a", 1), ("w", "DEL {k}2 {k}1", 1)],
    "keys that begin so": [
        ("t", "CLIENT TRACKING ON BCAST PREFIX {k}a PREFIX {k}b", 1),
        ("w", "MSET {k}a2 2 {k}c1 1 {k}a1 1", 1), ("w", "SET {k}b x", 1),
        ("w", "SET {k}c x", 0), ("w", "RENAME {k}a1 {k}a2", 1)],
    "what CLIENT CACHING says": [
        ("t", "CLIENT TRACKING ON OPTIN", 1), ("t", "GET {k}1", 1),
        ("w", "SET {k}1 a", 0), ("t", "CLIENT CACHING YES", 1),
        ("t", "GET {k}2", 1), ("t", "GET {k}3", 1), ("w", "SET {k}3 x", 0),
        ("w", "SET {k}2 x", 1)],
    "its transaction": [
        ("t", "CLIENT TRACKING ON", 1), ("t", "GET {k}1", 1),
        ("t", "MULTI", 1), ("t", "INCR {k}1", 1), ("t", "GET {k}2", 1),
        ("t", "EXEC", 2), ("w", "SET {k}2 x", 1)],
    "a script": [
        ("t", "CLIENT TRACKING ON", 1),
        ("t", "EVAL return(redis.call('get',KEYS[1])) 1 {k}1", 1),
        ("w", "SET {k}1 a", 1)],
    "a key that expires": [
        ("t", "CLIENT TRACKING ON BCAST", 1), ("w", "PSETEX {k}1 30 x", 2)],
    "what others have changed": [
        ("t", "CLIENT TRACKING ON NOLOOP", 1), ("t", "MGET {k}1 {k}2 {k}3", 1),
        ("t", "SET {k}1 a", 1), ("w", "SET {k}1 b", 0), ("w", "SET {k}2 b", 1),
        ("t", "MULTI", 1), ("t", "SET {k}3 a", 1), ("t", "GET {k}4", 1),
        ("t", "EXEC", 1), ("w", "SET {k}3 b", 0), ("w", "SET {k}4 b", 1),
        ("t", "RPUSH {k}5 x", 1), ("t", "LRANGE {k}5 0 -1", 1),
        ("t", "BLPOP {k}5 1", 1), ("w", "RPUSH {k}5 y", 0),
        ("t", "WATCH {k}6", 1), ("t", "GET {k}6", 1), ("w", "SET {k}6 b", 1),
        ("t", "UNWATCH", 1), ("t", "SET {k}7 {big}", 1),
        ("t", "STRLEN {k}7", 1), ("w", "DEL {k}7", 1)],
    "of what begins so": [
        ("t", "CLIENT TRACKING ON BCAST PREFIX {k} NOLOOP", 1),
        ("t", "MSET {k}2 b {k}1 a", 1), ("w", "DEL {k}2 {k}1", 1),
        ("t", "CLIENT TRACKING ON BCAST PREFIX x NOLOOP", 1),
        ("w", "MSET {k}2 b y{k} a", 1), ("t", "CLIENT TRACKINGINFO", 1)],
    "what CLIENT CACHING does not say": [
        ("t", "CLIENT TRACKING ON OPTOUT NOLOOP", 1), ("t", "GET {k}1", 1),
        ("t", "CLIENT CACHING NO", 1), ("t", "GET {k}2", 1),
        ("w", "SET {k}2 a", 0), ("w", "SET {k}1 a", 1),
        ("t", "CLIENT CACHING NO", 1), ("t", "MULTI", 1), ("t", "GET {k}3", 1),
        ("t", "EXEC", 1), ("w", "SET {k}3 a", 0), ("t", "PING", 1)],
    "silence": [
        ("t", "CLIENT TRACKING ON", 1), ("t", "GET {k}1", 1),
        ("t", "CLIENT REPLY OFF", 0), ("w", "SET {k}1 x", 1)],
    "RESP2": [
        ("t", "HELLO 2", 1), ("t", "CLIENT TRACKING ON BCAST", 1),
        ("w", "SET {k}1 x", 0), ("t", "PING", 1)],
    "what may have been told is told once": [
        ("t", "CLIENT TRACKING ON", 1), ("t", "GET {k}1", 1),
        ("t", "GET {k}1", 1), ("w", "SET {k}1 x", 1), ("t", "PING", 1)],
    "all is flushed": [
        ("t", "CLIENT TRACKING ON", 1), ("t", "GET {k}1", 1),
        ("w", "FLUSHALL", 1),
        ("w", "FLUSHDB", 1)],
}


NUMBERS = itertools.count()


def words_of(line, tag):
    """Keys that nobody has used before: emptying a server is news as well."""
    return line.replace("{k}", tag).replace("{big}", 100000 * "x").split()


def next_tag():
    return f"{{k{next(NUMBERS):04}}}"


def said(client, resp):
    if resp == 3:
        client.command("HELLO", 3)
    return [(line, client.command(*line.split())) for line in WORDS]


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("resp", [2, 3])
def test_how_a_client_tracks_is_said_as_by_one_server(proxy, direct, pool,
                                                      resp):
    with direct.raw() as one, proxy.raw(pool) as other:
        assert said(other, resp) == said(one, resp)


def hold(tracker, writer, conversation, tag):
    tracker.command("HELLO", 3)
    heard = []
    for who, line, count in conversation:
        client = tracker if who == "t" else writer
        client.send_command(*words_of(line, tag))
        if who == "w":
            writer.read_reply()
        heard.append((line, tracker.read_replies(count)))
    tracker.send_command("CLIENT", "REPLY", "ON")
    heard.append(tracker.read_reply())
    return heard


def without_id(heard):
    """HELLO tells the number of the connection."""
    return [entry for entry in heard if entry[0] != "HELLO 2"]


def in_pools(conversations):
    """Of a flush each of three servers tells by itself."""
    return [(name, pool) for name in conversations for pool in ALL_POOLS
            if pool.startswith("one") or "flush" not in name]


@pytest.mark.parametrize("name,pool", in_pools(CONVERSATIONS))
def test_a_client_is_told_as_by_one_server(proxy, direct, pool, name):
    conversation = CONVERSATIONS[name]
    tag = next_tag()
    with direct.raw() as one, direct.raw() as writer:
        expected = hold(one, writer, conversation, tag)
    with proxy.raw(pool) as other, proxy.raw(pool) as writer:
        assert without_id(hold(other, writer, conversation, tag)) == \
            without_id(expected)


@pytest.mark.parametrize("pool", [*ALL_POOLS, "small"])
@pytest.mark.parametrize("options", ["", "BCAST", "BCAST PREFIX key", "NOLOOP"])
def test_no_old_value_is_left_in_a_cache(proxy, pool, options):
    with proxy.raw(pool) as raw, proxy.raw(pool) as writer:
        race(Cache(raw, *options.split()), writer, KEYS, 30)


@pytest.mark.threads
@pytest.mark.parametrize("options", ["", "BCAST", "NOLOOP"])
def test_nor_when_another_connection_is_told(proxy, options):
    with proxy.raw("three") as raw, proxy.raw("three") as told, \
            proxy.raw("three") as writer:
        race(Cache(raw, *options.split(), told_over=told), writer, KEYS, 15)


def ears(server):
    """Clients of a server that it tells what is changed."""
    return [entry["id"] for entry in server.client().client_list()
            if "t" in entry["flags"]]


@pytest.mark.parametrize("options", ["", "BCAST", "NOLOOP", "BCAST NOLOOP"])
def test_nor_when_connections_are_lost(proxy, servers, options):
    def lose_some(number):
        if number % 3 == 0:
            server = servers[number // 3 % 3]
            for ear in ears(server):
                server.client().client_kill_filter(_id=ear)

    with proxy.raw("three") as raw, proxy.raw("three") as writer:
        cache = Cache(raw, *options.split())
        race(cache, writer, KEYS, 30, lose_some)
        assert cache.told_all > 0
        cache.ask(KEYS)
        cache.take(KEYS)
        eventually(lambda: all(ears(server) for server in servers[:3]),
                   what="new connections")


def test_a_server_that_comes_back_is_told_of(proxy, servers):
    """What was read before a restart is forgotten."""
    with proxy.raw("one") as raw, proxy.raw("one") as writer:
        cache = Cache(raw)
        race(cache, writer, KEYS, 1)
        cache.ask(KEYS)
        cache.take(KEYS)
        assert len(cache.values) == len(KEYS)
        servers[3].stop()
        eventually(lambda: cache.heed() or not cache.values,
                   what="an empty cache")
        servers[3].start()
        eventually(lambda: writer.command("SET", "key1", 1) == b"+OK\r\n",
                   what="a server that is used again")
        race(cache, writer, KEYS, 5)


def test_clients_that_track_are_listed(proxy):
    with proxy.raw("three") as raw:
        raw.command("CLIENT", "TRACKING", "ON", "BCAST")
        line = raw.command("CLIENT", "INFO")
        assert b" flags=tB " in line and b" redir=0 " in line
        raw.command("CLIENT", "TRACKING", "OFF")
        line = raw.command("CLIENT", "INFO")
        assert b" flags=N " in line and b" redir=-1 " in line


def keeps(cache, key):
    """Is it kept, as its server tells of changes?"""
    cache.ask([key])
    cache.take([key])
    cache.heed()
    return key in cache.values


def test_what_many_reads_have_left_is_freed(proxy, servers):
    """In steps, while others go on; also when all keys were changed."""
    keys = [f"many{n}" for n in range(5000)]
    asker = proxy.client("one")

    def remembers(count):
        return asker.info("stats")["tracking_total_keys"] == count

    with proxy.raw("one") as stays, proxy.raw("one") as raw:
        cache = Cache(stays)
        eventually(lambda: keeps(cache, "other"), what="servers that tell")
        Cache(raw).raw.command("MGET", *keys)
        eventually(lambda: remembers(5001))
        raw.close()
        eventually(lambda: remembers(1))
        servers[3].client().set("other", 1)
        eventually(lambda: cache.heed() or not cache.values, what="news")
        cache.ask(keys)
        cache.take(keys)
        eventually(lambda: remembers(5000))
        servers[3].client().flushall()
        eventually(lambda: cache.heed() or not cache.values, what="news")
        eventually(lambda: remembers(0))
        race(cache, proxy.raw("one"), keys[:5], 3)


def test_a_change_in_another_database_is_told_too(proxy):
    with proxy.raw("three") as raw, proxy.raw("three") as writer:
        cache = Cache(raw)
        writer.command("SELECT", 5)
        eventually(lambda: keeps(cache, "k"), what="servers that tell")
        writer.command("SET", "k", 1)
        eventually(lambda: cache.heed() or not cache.values, what="news")


# --- another client is told -----------------------------------------------------

# The same with one that is told (r), whose number stands for {id}; a line begins
# with the protocol of the one that reads, and of the one that is told.
REDIRECTED = {
    "to one that listens": (2, 2, [
        ("r", "SUBSCRIBE __redis__:invalidate", 1),
        ("t", "CLIENT TRACKING ON REDIRECT {id}", 0), ("t", "GET {k}1", 0),
        ("w", "SET {k}1 x", 1), ("w", "SET {k}2 x", 0),
        ("t", "CLIENT GETREDIR", 0), ("t", "CLIENT TRACKINGINFO", 0)]),
    "of all keys that begin so": (3, 2, [
        ("r", "SUBSCRIBE x", 1),
        ("t", "CLIENT TRACKING ON BCAST PREFIX {k}1 REDIRECT {id}", 0),
        ("w", "MSET {k}12 x {k}2 y {k}11 z", 1)]),
    "to one that does not listen": (2, 2, [
        ("t", "CLIENT TRACKING ON REDIRECT {id}", 0), ("t", "GET {k}1", 0),
        ("w", "SET {k}1 x", 0), ("r", "PING", 1)]),
    "to one that says RESET": (2, 3, [
        ("t", "CLIENT TRACKING ON REDIRECT {id}", 0), ("r", "RESET", 1),
        ("r", "SUBSCRIBE y", 1), ("t", "GET {k}1", 0),
        ("w", "SET {k}1 x", 1)]),
    "to one that is not there": (3, 3, [
        ("t", "CLIENT TRACKING ON REDIRECT 123456789", 0),
        ("t", "CLIENT TRACKING ON REDIRECT {id} REDIRECT {id}", 0),
        ("t", "CLIENT TRACKINGINFO", 0)]),
    "to one that leaves": (3, 2, [
        ("r", "SUBSCRIBE y", 1), ("t", "CLIENT TRACKING ON REDIRECT {id}", 0),
        ("t", "GET {k}1", 0), ("r", "QUIT", 1), ("w", "SET {k}1 x", 0),
        ("t+", "CLIENT TRACKINGINFO", 0), ("t", "CLIENT TRACKING OFF", 0)]),
    "of a flush, RESP2": (2, 2, [
        ("r", "SUBSCRIBE x", 1), ("t", "CLIENT TRACKING ON REDIRECT {id}", 0),
        ("w", "FLUSHALL", 1)]),
    "of a flush, RESP3": (3, 3, [
        ("t", "CLIENT TRACKING ON REDIRECT {id}", 0), ("w", "FLUSHALL", 1)]),
    "of a flush, RESP2 to RESP3": (2, 3, [
        ("t", "CLIENT TRACKING ON REDIRECT {id}", 0), ("w", "FLUSHALL", 1)]),
}


def hold_redirected(clients, versions, conversation, tag):
    """What the two hear; before it speaks "t+" hears something."""
    reader, told, writer = (clients[who] for who in "trw")
    reader.command("HELLO", versions[0])
    told.command("HELLO", versions[1])
    number = int(told.command("CLIENT", "ID")[1:])
    heard = []
    for who, line, count in conversation:
        if who == "t+":
            heard.append(reader.read_reply())
        line = line.replace("{id}", str(number))
        clients[who[0]].send_command(*words_of(line, tag))
        if who != "r":
            heard.append(clients[who[0]].read_reply())
        heard += told.read_replies(count)
    return [answer.replace(b":%d\r\n" % number, b":N\r\n")
            for answer in heard]


@pytest.mark.parametrize("name,pool", in_pools(REDIRECTED))
def test_another_client_is_told_as_by_one_server(proxy, direct, pool, name):
    *versions, conversation = REDIRECTED[name]
    for order in ("trw", "rtw", "twr"):  # whoever comes is at the next worker
        tag = next_tag()
        heard = []
        for server in (direct.raw, lambda: proxy.raw(pool)):
            clients = {who: server() for who in order}
            heard.append(hold_redirected(clients, versions, conversation, tag))
            for client in clients.values():
                client.close()
        assert heard[1] == heard[0]
