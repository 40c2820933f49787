"""Commands that the proxy answers itself, compared with a real server.

Where sharding cannot matter the bytes must be the server's own, in RESP2 and
RESP3, for right and wrong forms.
"""

import re
import time

import pytest

from harness import eventually

POOL = """
    pointsman:
      workers: $workers
    demo:
      listen: 127.0.0.1:0
      redis: true
      databases: 16
      distribution: ketama
      hash: fnv1a_64
      servers:
        - $a:1 a
        - $b:1 b
"""

GUARDED = POOL + """\
      redis_auth: sesame
"""

CONNECTION = [
    ("PING",), ("ping",), ("PING", "a\r\nb"), ("PING", ""), ("PING", "a", "b"),
    ("ECHO", "x"), ("ECHO",), ("ECHO", "a", "b"),
    ("ROLE",), ("ROLE", "x"), ("ACL", "WHOAMI"), ("ACL", "WHOAMI", "x"),
    ("LOLWUT",), ("LOLWUT", "x"), ("LOLWUT", "VERSION", "9"),
    ("LOLWUT", "VERSION", "x"), ("TIME", "x"), ("QUIT", "x"),
]

SELECT = [("SELECT",)] + [("SELECT", index) for index in (
    "0", "15", "16", "-1", "x", "", "01", "-0", "+1", " 1", "1 ",
    "2147483647", "2147483648", "-2147483649", "99999999999999999999999")]

AUTH = [
    ("AUTH", "x"), ("AUTH", ""), ("AUTH", "default", "x"),
    ("AUTH", "default", ""), ("AUTH", "DEFAULT", "x"), ("AUTH", "nobody", "x"),
    ("AUTH", "a", "b", "c"), ("AUTH",), ("PING",),
]

HELLO = [
    ("HELLO",), ("HELLO", "2"), ("HELLO", "3"), ("HELLO",), ("HELLO", "4"),
    ("HELLO", "1"), ("HELLO", "03"), ("HELLO", "x"), ("HELLO", ""),
    ("HELLO", "SETNAME", "x"), ("HELLO", "3", "AUTH"),
    ("HELLO", "3", "AUTH", "a"), ("HELLO", "3", "AUTH", "default", "x"),
    ("HELLO", "3", "AUTH", "nobody", "x"), ("HELLO", "3", "SETNAME"),
    ("HELLO", "3", "SETNAME", "a b"), ("CLIENT", "GETNAME"),
    ("HELLO", "2", "SETNAME", "ok", "FOO"), ("HELLO", "2", "FOO", "BAR"),
    ("HELLO", "2", "SETNAME", "a b", "AUTH", "nobody", "x"),
    ("HELLO", "2", "foo\r\nbar"), ("HELLO", "2", "foo\0bar"),
    ("HELLO", "2", "setname", "one", "SetName", "two"), ("CLIENT", "GETNAME"),
    ("HELLO", "3", "SETNAME", "", "AUTH", "default", "any"),
    ("CLIENT", "GETNAME"), ("HELLO", "4", "AUTH", "nobody", "x"),
]

CLIENT = [
    ("CLIENT",), ("CLIENT", "NOSUCH"), ("CLIENT", "GETNAME"),
    ("CLIENT", "SETNAME"), ("CLIENT", "SETNAME", "a b"),
    ("CLIENT", "SETNAME", "a\nb"), ("CLIENT", "SETNAME", "caf\u00e9"),
    ("CLIENT", "SETNAME", "a\0b"), ("CLIENT", "SETNAME", "!~"),
    ("CLIENT", "GETNAME"), ("CLIENT", "SETNAME", ""), ("CLIENT", "GETNAME"),
    ("CLIENT", "GETNAME", "x"), ("CLIENT", "GETREDIR"),
    ("CLIENT", "TRACKINGINFO"), ("CLIENT", "NO-EVICT", "on"),
    ("CLIENT", "NO-EVICT", "x"), ("CLIENT", "NO-EVICT"),
    ("CLIENT", "REPLY", "x"), ("CLIENT", "REPLY"), ("CLIENT", "REPLY", "ON"),
    ("CLIENT", "LIST", "TYPE"), ("CLIENT", "LIST", "TYPE", "x"),
    ("CLIENT", "LIST", "TYPE", "replica"), ("CLIENT", "LIST", "TYPE", "master"),
    ("CLIENT", "LIST", "TYPE", "normal", "x"), ("CLIENT", "LIST", "foo"),
    ("CLIENT", "LIST", "ID"), ("CLIENT", "LIST", "ID", "x"),
    ("CLIENT", "LIST", "ID", "1", "01"), ("CLIENT", "LIST", "ID", "-1"),
]

RESET = [
    ("CLIENT", "SETNAME", "me"), ("SELECT", "3"), ("HELLO", "3"), ("RESET",),
    ("CLIENT", "GETNAME"), ("HELLO",), ("RESET", "x"),
]

CLUSTER = [
    ("CLUSTER",), ("CLUSTER", "NOSUCH"), ("CLUSTER", "INFO"),
    ("CLUSTER", "SLOTS"), ("CLUSTER", "SHARDS"), ("CLUSTER", "NODES"),
    ("CLUSTER", "MYID"), ("CLUSTER", "KEYSLOT", "a"), ("CLUSTER", "KEYSLOT"),
    ("CLUSTER", "HELP"), ("CLUSTER", "RESET"), ("CLUSTER", "COUNTKEYSINSLOT", 1),
    ("CLUSTER", "SETSLOT", 1, "STABLE"), ("CLUSTER", "GETKEYSINSLOT", 1, "x"),
    ("READONLY",), ("READWRITE",), ("ASKING",),
]

CONFIG = [("CONFIG",), ("CONFIG", "GET")] + [("CONFIG", "GET", *names)
          for names in (
              ["save"], ["SAVE"], ["sa?e"], ["[r-t]ave"], ["[^a]ave"],
              ["s\\ave"], ["save", "save"], ["save", "sav*"], ["nosuch"],
              ["appendonly"], ["databases"], ["maxclients"], ["maxmemory"],
              ["maxmemory-p*y"], ["timeout"], ["cluster-enabled"], ["bind"],
              ["notify-keyspace-events"], ["proto-max-bulk-len"],
              ["tcp-keepalive"])]

CONTAINERS = [(name,) for name in (
    "ACL", "OBJECT", "SCRIPT", "FUNCTION", "MEMORY", "LATENCY", "SLOWLOG",
    "PUBSUB", "XINFO", "XGROUP", "MODULE")]

# How a key is used may hang on the words behind it.
USES = [("COMMAND", "GETKEYSANDFLAGS", *line.split()) for line in (
    "SET k v", "SET k v GET", "SET k v NX get", "SET k GET", "SET k v EX GET",
    "BITFIELD k", "BITFIELD k GET u8 0", "BITFIELD k SET u8 0 1",
    "BITFIELD k GET u8 0 INCRBY u8 0 1", "BITFIELD k OVERFLOW SAT GET u8 0",
    "BITFIELD k GET u8", "BITFIELD k nosuch", "GETEX k")]

THEMES = [CONNECTION, SELECT, AUTH, HELLO, CLIENT, RESET, CLUSTER, CONFIG,
          CONTAINERS, USES]


def normal(reply):
    """Without the number that differs for each connection."""
    return re.sub(rb"(\$2\r\nid\r\n:)\d+", rb"\1N", reply)


def play(place, script, first=()):
    """The replies to a script; what is `first` is not looked at."""
    raw = place.raw()
    for words in first:
        raw.command(*words)
    replies = [normal(raw.command(*words)) for words in script]
    raw.close()
    return replies


def differences(proxy, plain, script, first=()):
    ours = play(proxy, script, first)
    theirs = play(plain, script, first)
    return [(words, a, b) for words, a, b in zip(script, ours, theirs)
            if a != b]


def in_resp(version):
    return [("HELLO", version)]


def text_of(reply):
    """What a bulk or verbatim string says."""
    assert reply[:1] in b"$=", reply
    text = reply.split(b"\r\n", 1)[1][:-2].decode()
    return text[4:] if reply[:1] == b"=" else text


@pytest.fixture
def proxy(world):
    return start(world, POOL)


def start(world, config, workers=1, arguments=()):
    a, b = world.start_servers(2, *arguments)
    return world.proxy(config, workers=workers, a=a.address, b=b.address)


@pytest.fixture
def guarded(world):
    """A pool with a password, and a server with the same one."""
    password = ["--requirepass", "sesame"]
    return start(world, GUARDED, arguments=password), world.server(*password)


# --- the bytes of one server -------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_local_replies_are_the_bytes_of_one_server(world, proxy, version):
    plain = world.server()
    found = []
    for theme in THEMES:
        found += differences(proxy, plain, theme, in_resp(version))
    assert found == []


def test_every_form_is_right_as_the_first_command(world, proxy):
    plain = world.server()
    found = []
    for words in HELLO + AUTH + RESET:
        found += differences(proxy, plain, [words])
    assert found == []


def test_a_guarded_pool_refuses_like_a_server_with_a_password(guarded):
    proxy, plain = guarded
    found = []
    for words in sum(THEMES, []) + [("GET", "k"), ("GET",), ("NOSUCH",)]:
        # Whether an argument is right is looked at before the password.
        found += differences(proxy, plain, [words])
    assert found == []


@pytest.mark.parametrize("script", [
    [("AUTH", "wrong"), ("PING",), ("AUTH", "sesame"), ("PING",),
     ("AUTH", "wrong"), ("PING",), ("HELLO", "3", "AUTH", "default", "no"),
     ("PING",), ("GET", "none")],
    [("AUTH", "default", "sesam"), ("AUTH", "default", "sesamee"),
     ("AUTH", "default", "sesame\0"), ("AUTH", "other", "sesame"),
     ("AUTH", ""), ("GET", "k"), ("AUTH", "default", "sesame"), ("GET", "k")],
    [("HELLO", "3"), ("HELLO", "3", "AUTH", "default", "no"),
     ("HELLO", "3", "AUTH", "default", "sesame", "SETNAME", "n"),
     ("CLIENT", "GETNAME"), ("GET", "none"), ("ACL", "WHOAMI")],
    [("AUTH", "sesame"), ("CLIENT", "SETNAME", "n"), ("SELECT", "2"),
     ("RESET",), ("PING",), ("CLIENT", "GETNAME"), ("AUTH", "sesame"),
     ("CLIENT", "GETNAME"), ("GET", "none")],
    [("RESET",), ("QUIT",)],
])
def test_passwords_are_asked_for_as_a_server_does(guarded, script):
    assert differences(*guarded, script) == []


def test_passwords_may_be_given_in_inline_requests(guarded):
    proxy, _ = guarded
    raw = proxy.raw()
    raw.send(b"PING\r\nAUTH 'sesame'\nPING\r\n")
    assert raw.read_replies(3) == [b"-NOAUTH Authentication required.\r\n",
                                   b"+OK\r\n", b"+PONG\r\n"]


@pytest.mark.parametrize("names", ["requirepass", "masterauth", "*", "*pass*"])
def test_config_get_never_tells_a_password(guarded, names):
    proxy, _ = guarded
    raw = proxy.raw()
    assert raw.command("AUTH", "sesame") == b"+OK\r\n"
    assert b"sesame" not in raw.command("CONFIG", "GET", names)


def test_time_is_now(proxy):
    raw = proxy.raw()
    before = time.time()
    reply = raw.command("TIME")
    match = re.fullmatch(rb"\*2\r\n\$10\r\n(\d+)\r\n\$\d\r\n(\d{1,6})\r\n",
                         reply)
    assert match, reply
    assert abs(int(match[1]) - before) < 60


# --- order -------------------------------------------------------------------


def test_local_answers_wait_for_their_turn_among_remote_ones(proxy):
    raw = proxy.raw()
    requests, expected = [], []
    for i in range(300):
        text = str(i)
        bulk = b"$%d\r\n%d\r\n" % (len(text), i)
        requests += [("SET", f"k{i}", text), ("ECHO", text), ("GET", f"k{i}"),
                     ("PING",), ("CLIENT", "GETNAME"), ("GET",)]
        expected += [b"+OK\r\n", bulk, bulk, b"+PONG\r\n", b"$-1\r\n",
                     b"-ERR wrong number of arguments for 'get' command\r\n"]
    assert raw.pipeline(*requests) == expected


def test_select_in_a_pipeline_parts_what_is_before_from_what_is_behind(proxy):
    raw = proxy.raw()
    replies = raw.pipeline(
        ("SET", "k", "zero"), ("SELECT", "1"), ("GET", "k"),
        ("SET", "k", "one"), ("SELECT", "0"), ("GET", "k"), ("SELECT", "1"),
        ("GET", "k"), ("RESET",), ("GET", "k"))
    assert replies == [
        b"+OK\r\n", b"+OK\r\n", b"$-1\r\n", b"+OK\r\n", b"+OK\r\n",
        b"$4\r\nzero\r\n", b"+OK\r\n", b"$3\r\none\r\n", b"+RESET\r\n",
        b"$4\r\nzero\r\n"]


def test_hello_in_a_pipeline_changes_only_what_is_behind_it(world, proxy):
    plain = world.server()
    script = [("GET", "none"), ("HELLO", "3"), ("GET", "none"),
              ("HGETALL", "none"), ("HELLO", "2"), ("HGETALL", "none")] * 20
    ours = [normal(r) for r in proxy.raw().pipeline(*script)]
    theirs = [normal(r) for r in plain.raw().pipeline(*script)]
    assert ours == theirs


def test_auth_in_a_pipeline_counts_for_what_is_behind_it(guarded):
    script = [("GET", "none"), ("AUTH", "sesame"), ("GET", "none"), ("RESET",),
              ("GET", "none"), ("AUTH", "default", "sesame"), ("PING",)]
    ours, theirs = (place.raw().pipeline(*script) for place in guarded)
    assert ours == theirs


def test_quit_answers_everything_before_it_and_then_closes(proxy):
    raw = proxy.raw()
    raw.send(b"SET k v\r\nGET k\r\nQUIT\r\nGET k\r\n")
    assert raw.read_replies(3) == [b"+OK\r\n", b"$1\r\nv\r\n", b"+OK\r\n"]
    assert raw.is_closed()


# --- CLIENT ------------------------------------------------------------------


def test_client_reply_off_silences_everything_until_on(world, proxy):
    script = (b"SET k 1\r\nCLIENT REPLY OFF\r\nPING\r\nINCR k\r\nNOSUCH\r\n"
              b"INFO\r\nCLIENT LIST\r\nMGET k j\r\nCLIENT REPLY ON\r\n"
              b"GET k\r\n")
    for place in (proxy, world.server()):
        raw = place.raw()
        raw.send(script)
        assert raw.read_replies(3) == [b"+OK\r\n", b"+OK\r\n", b"$1\r\n2\r\n"]
        assert raw.is_quiet(0.1)


def test_reset_ends_the_silence(world, proxy):
    for place in (proxy, world.server()):
        raw = place.raw()
        raw.send(b"CLIENT REPLY OFF\r\nPING\r\nRESET\r\nPING\r\n")
        assert raw.read_replies(2) == [b"+RESET\r\n", b"+PONG\r\n"]


def test_quit_closes_a_silent_connection(proxy):
    # Servers wait for an answer to leave, which never does, and stay open.
    raw = proxy.raw()
    raw.send(b"CLIENT REPLY OFF\r\nSET k v\r\nQUIT\r\n")
    assert raw.is_closed()


def test_client_reply_skip_silences_the_next_request_only(world, proxy):
    script = (b"CLIENT REPLY SKIP\r\nPING\r\nECHO a\r\n"
              b"CLIENT REPLY SKIP\r\nSET k 1\r\nGET k\r\n"
              b"CLIENT REPLY SKIP\r\nNOSUCH\r\nECHO b\r\n"
              b"CLIENT REPLY SKIP\r\nMGET k j\r\nECHO c\r\n"
              b"CLIENT REPLY SKIP\r\nCLIENT REPLY OFF\r\nECHO d\r\n"
              b"CLIENT REPLY ON\r\nECHO e\r\n")
    answers = []
    for place in (proxy, world.server()):
        raw = place.raw()
        raw.send(script)
        answers.append(raw.read_replies(6))
        assert raw.is_quiet(0.1)
    assert answers[0] == answers[1]


def test_every_client_has_an_id_of_its_own(world):
    proxy = start(world, POOL, workers=2)
    ids = [int(proxy.raw().command("CLIENT", "ID")[1:]) for _ in range(20)]
    assert len(set(ids)) == 20 and min(ids) > 0


def test_client_info_shows_what_the_client_said_of_itself(proxy):
    raw = proxy.raw()
    assert raw.pipeline(("CLIENT", "SETNAME", "me"),
                        ("CLIENT", "SETINFO", "lib-name", "some-lib"),
                        ("CLIENT", "SETINFO", "LIB-VER", "1.2.3"),
                        ("SELECT", "4")) == [b"+OK\r\n"] * 4
    own_id = raw.command("CLIENT", "ID")[1:-2].decode()
    line = text_of(raw.command("CLIENT", "INFO"))
    host, port = raw.socket.getsockname()
    fields = dict(field.split("=", 1) for field in line.split())
    assert line.endswith("\n") and line.count("\n") == 1
    expected = {"id": own_id, "addr": f"{host}:{port}", "name": "me",
                "laddr": proxy.address(), "db": "4", "resp": "2",
                "lib-name": "some-lib", "lib-ver": "1.2.3", "flags": "N",
                "cmd": "client|info", "user": "default", "age": "0"}
    assert {key: fields[key] for key in expected} == expected


def test_client_info_has_the_fields_of_a_server(world, proxy):
    def names(place):
        line = text_of(place.raw().command("CLIENT", "INFO"))
        return [field.split("=")[0] for field in line.split()]
    # The last two came with Redis 7.2.
    plain = world.server()
    assert names(proxy)[:len(names(plain))] == names(plain)
    assert names(proxy)[-2:] == ["lib-name", "lib-ver"]


@pytest.mark.parametrize("words, reply", [
    (["lib-nome", "x"], b"-ERR Unrecognized option 'lib-nome'\r\n"),
    (["lib-name", "a b"], b"-ERR lib-name cannot contain spaces, newlines or "
                          b"special characters.\r\n"),
    (["LIB-VER", "1\n2"], b"-ERR LIB-VER cannot contain spaces, newlines or "
                          b"special characters.\r\n"),
    (["lib-ver", ""], b"+OK\r\n"),
    (["lib-name", "x" * 1024], b"+OK\r\n"),
    (["lib-name", "x" * 1025],
     b"-ERR lib-name cannot be longer than 1024 bytes.\r\n"),
])
def test_client_setinfo_checks_its_words(proxy, words, reply):
    assert proxy.raw().command("CLIENT", "SETINFO", *words) == reply


def test_a_client_name_has_a_limit(proxy):
    raw = proxy.raw()
    assert raw.command("CLIENT", "SETNAME", "x" * 1024) == b"+OK\r\n"
    assert raw.command("CLIENT", "SETNAME", "x" * 1025) == (
        b"-ERR Client names cannot be longer than 1024 bytes.\r\n")
    assert raw.command("CLIENT", "GETNAME")[-1026:] == b"x" * 1024 + b"\r\n"


@pytest.mark.threads
def test_client_list_shows_the_clients_of_all_workers(world):
    proxy = start(world, POOL, workers=2)
    raws = [proxy.raw() for _ in range(6)]
    for i, raw in enumerate(raws):
        raw.command("CLIENT", "SETNAME", f"client{i}")
    for version in (2, 3):
        raws[0].command("HELLO", version)
        lines = text_of(raws[0].command("CLIENT", "LIST")).splitlines()
        names = {re.search(r" name=(\S*)", line)[1] for line in lines}
        assert names == {f"client{i}" for i in range(6)}
    typed = text_of(raws[1].command("CLIENT", "LIST", "TYPE", "normal"))
    assert len(typed.splitlines()) == 6


@pytest.mark.threads
def test_client_list_picks_the_ids_that_are_asked_for(world):
    proxy = start(world, POOL, workers=2)
    raws = [proxy.raw() for _ in range(4)]
    ids = [int(raw.command("CLIENT", "ID")[1:]) for raw in raws]
    asked = [ids[2], ids[0], 10 ** 12, ids[2], ids[3]]
    text = text_of(raws[1].command("CLIENT", "LIST", "ID", *asked))
    found = [int(re.match(r"id=(\d+) ", line)[1])
             for line in text.splitlines()]
    assert found == [ids[2], ids[0], ids[2], ids[3]]
    assert raws[1].command("CLIENT", "LIST", "ID", 10 ** 12) == b"$0\r\n\r\n"


def test_a_client_that_has_left_is_not_listed(proxy):
    raw, other = proxy.raw(), proxy.raw()
    other.command("CLIENT", "SETNAME", "leaver")
    assert "leaver" in text_of(raw.command("CLIENT", "LIST"))
    other.close()
    eventually(lambda: "leaver" not in text_of(raw.command("CLIENT", "LIST")))


def test_what_would_harm_other_clients_is_refused_by_name(proxy):
    words = ("CONFIG", "SET", "maxmemory", "1")
    name = f"{words[0]}|{words[1]}".lower()
    assert proxy.raw().command(*words) == (
        f"-ERR command '{name}' is not supported through this proxy\r\n"
        .encode())


@pytest.mark.parametrize("words", [
    ("CLIENT", "NO-TOUCH", "on"), ("CLIENT", "NO-TOUCH", "OFF"),
    ("CLIENT", "CAPA", "redirect"),
])
def test_what_newer_clients_say_at_connect_is_accepted(proxy, words):
    assert proxy.raw().command(*words) == b"+OK\r\n"


# --- INFO, COMMAND -----------------------------------------------------------


def test_info_has_what_clients_look_for(proxy):
    raw = proxy.raw()
    text = text_of(raw.command("INFO"))
    fields = dict(line.split(":", 1) for line in text.splitlines()
                  if ":" in line)
    assert re.fullmatch(r"\d+\.\d+\.\d+", fields["redis_version"])
    assert fields["redis_mode"] == "standalone"
    assert fields["role"] == "master"
    assert fields["loading"] == "0"
    assert fields["cluster_enabled"] == "0"
    raw.command("HELLO", "3")
    assert raw.command("INFO").startswith(b"=")


def test_info_gives_the_sections_that_are_asked_for(world, proxy):
    def headings(place, *words):
        text = text_of(place.raw().command("INFO", *words))
        return [line for line in text.splitlines() if line.startswith("#")]
    plain = world.server()
    for words in (["server"], ["REPLICATION"], ["server", "clients"],
                  ["clients", "nosuch", "Server", "CLIENTS"], ["cluster"]):
        assert headings(proxy, *words) == headings(plain, *words), words
    assert proxy.raw().command("INFO", "nosuch") == b"$0\r\n\r\n"
    assert "# Server" in headings(proxy, "everything")


def test_command_tells_of_the_commands(world, proxy):
    raw, plain = proxy.raw(), world.server().raw()
    count = int(raw.command("COMMAND", "COUNT")[1:])
    assert count > 200
    assert raw.command("COMMAND").startswith(b"*%d\r\n" % count)
    for words in (("COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"),
                  ("COMMAND", "GETKEYS", "EVAL", "x", "2", "k", "l", "m"),
                  ("COMMAND", "GETKEYS", "NOSUCH", "a"),
                  ("COMMAND", "NOSUCH")):
        assert raw.command(*words) == plain.command(*words), words
    assert raw.command("HELLO", "3").startswith(b"%")
    assert raw.command("COMMAND", "DOCS", "get").startswith(b"%1\r\n")


def tree(reply):
    """A reply as nested lists; of maps and sets the order does not count, and
    statuses are none but strings of another type."""
    def read(rest):
        line, rest = rest.split(b"\r\n", 1)
        kind, what = line[:1], line[1:]
        if kind == b"$" and what != b"-1":
            return (kind, rest[:int(what)]), rest[int(what) + 2:]
        if kind not in b"*~%":
            return (kind, what), rest
        found = []
        for _ in range(int(what) * (2 if kind == b"%" else 1)):
            item, rest = read(rest)
            found.append(item)
        if kind == b"%":
            found = list(zip(found[::2], found[1::2]))
        return (kind, found if kind == b"*" else sorted(found)), rest
    found, rest = read(reply)
    assert rest == b""
    return found


def only(docs, both):
    """An entry of COMMAND DOCS, of its subcommands those."""
    kind, pairs = docs
    return kind, [
        (name, only(value, both) if name[1] == b"subcommands" else value)
        for name, value in pairs
        if name[1] in both or b"|" not in name[1]]


def only_subs(entry, both):
    """An entry of COMMAND INFO, and of its subcommands those, by name."""
    kind, fields = entry
    subs_kind, subs = fields[9]
    return kind, [*fields[:9], (subs_kind, sorted(
        sub for sub in subs if sub[1][0][1] in both))]


# Fewer or more words are right in later versions.
ARITY_OF_LATER = {b"command|getkeys", b"command|getkeysandflags", b"zrank",
                  b"zrevrank", b"command"}


def test_command_info_and_docs_are_those_of_a_server(world, proxy):
    """Of each command that both have, in the newer protocol, where nothing is
    to be guessed; in the older one of those without subcommands, of which each
    may have others."""
    raw, plain = proxy.raw(), world.server().raw()
    served = {name for _, name in tree(raw.command("COMMAND", "LIST"))[1]}
    known = {name for _, name in tree(plain.command("COMMAND", "LIST"))[1]}
    both = (served & known) - ARITY_OF_LATER
    names = sorted(name.decode() for name in both)
    assert len(names) > 220
    for name in names:
        if any(sub.startswith(name.encode() + b"|") for sub in known):
            continue
        for words in ("COMMAND", "INFO", name), ("COMMAND", "DOCS", name):
            assert tree(raw.command(*words)) == tree(plain.command(*words)), \
                words
    for each in raw, plain:
        each.command("HELLO", "3")
    for name in names:
        ours, theirs = (
            only_subs(tree(each.command("COMMAND", "INFO", name))[1][0], both)
            for each in (raw, plain))
        assert ours == theirs, name
        ours, theirs = (
            only(tree(each.command("COMMAND", "DOCS", name))[1][0][1], both)
            for each in (raw, plain))
        assert ours == theirs, name
