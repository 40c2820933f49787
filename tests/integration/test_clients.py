"""Real clients, unchanged, against pools of three servers.

Each has a script in clients/ that connects with the client's own handshake,
reads and writes, pipelines a thousand commands, uses several keys at once,
every byte and five megabytes, and gets an error while the connection stays.
Where a client can, it speaks RESP3 too.  A script ends with "done".
"""

import os
import re
import shutil
import tempfile

import pytest

from harness import World, eventually
from lib_clients import CLIENTS, node_modules, run

PASSWORD = "ses ame'\"$#"
BINARY = bytes(range(256))

POOLS = """
    pointsman:
      workers: 2
    open:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: md5
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
    guarded:
      listen: 127.0.0.1:0
      redis: true
      redis_auth: "ses ame'\\"$$#"
      distribution: ketama
      hash: md5
      servers:
        - $d:1 d
        - $e:1 e
        - $f:1 f
"""


class Pool:
    """A pool as the scripts are told of it."""

    def __init__(self, proxy, name, servers, password):
        self.port = proxy.port(name)
        self.servers = servers
        self.password = password

    def arguments(self):
        return [str(self.port)] + ([self.password] if self.password else [])

    def clear(self):
        """Remove every key."""
        for server in self.servers:
            server.client(password=self.password).flushall()

    def sizes(self):
        """How many keys each server has."""
        return [server.client(password=self.password).dbsize()
                for server in self.servers]


@pytest.fixture(scope="module")
def pools():
    """Both pools, which the clients of all tests share."""
    world = World()
    try:
        plain = world.start_servers(3)
        guarded = [guarded_server(world) for _ in range(3)]
        proxy = world.proxy(POOLS, **{
            name: server.address
            for name, server in zip("abcdef", plain + guarded)})
        yield {"open": Pool(proxy, "open", plain, None),
               "guarded": Pool(proxy, "guarded", guarded, PASSWORD)}
    finally:
        world.close()


def guarded_server(world):
    """The harness asks without a password, so it comes afterwards."""
    server = world.server()
    server.client().config_set("requirepass", PASSWORD)
    return server


@pytest.fixture(params=["open", "guarded"])
def pool(request, pools):
    return pools[request.param]


def check_script(argv, pool, **environment):
    """The script has got to its end, and used all servers."""
    output = run(argv + pool.arguments(), environment=environment)
    assert output.endswith(b"done\n"), output
    assert min(pool.sizes()) > 20


# --- languages ---------------------------------------------------------------


def test_redis_py_works(pool):
    check_script(["/usr/bin/python3", os.path.join(CLIENTS, "redis_py.py")],
                 pool)


def test_phpredis_works(pool):
    check_script(["php", os.path.join(CLIENTS, "phpredis.php")], pool)


def test_redis_rb_works(pool):
    check_script(["ruby", os.path.join(CLIENTS, "redis_rb.rb")], pool)


@pytest.fixture(scope="module")
def hiredis_program():
    folder = tempfile.mkdtemp(prefix="pointsman-clients-")
    program = os.path.join(folder, "hiredis")
    run(["gcc", "-Wall", "-Werror", "-O1", "-o", program,
         os.path.join(CLIENTS, "hiredis.c"), "-lhiredis"])
    yield program
    shutil.rmtree(folder)


def test_hiredis_works(pool, hiredis_program):
    check_script([hiredis_program], pool)


@pytest.mark.parametrize("script", ["ioredis.js", "node_redis.js"])
def test_clients_of_node_work(pool, script):
    check_script(["node", os.path.join(CLIENTS, "node", script)], pool,
                 NODE_PATH=node_modules())


# --- redis-cli ---------------------------------------------------------------


def cli(pool, *arguments, stdin=b""):
    secret = {"REDISCLI_AUTH": pool.password} if pool.password else {}
    return run(["redis-cli", "-p", str(pool.port), *arguments], stdin, secret)


@pytest.mark.parametrize("version", [[], ["-3"]])
def test_redis_cli_works(pool, version):
    def say(*arguments, stdin=b""):
        return cli(pool, *version, *arguments, stdin=stdin)
    assert say("SET", "cli:a", "1") == b"OK\n"
    assert say("GET", "cli:a") == b"1\n"
    keys = [f"cli:m{i}" for i in range(30)]
    pairs = [word for key in keys for word in (key, "v " + key)]
    assert say("MSET", *pairs) == b"OK\n"
    assert say("MGET", *keys).decode().splitlines() == pairs[1::2]
    assert say("DEL", *keys, "cli:none") == b"30\n"
    assert say("-x", "SET", "cli:binary", stdin=BINARY) == b"OK\n"
    assert say("GET", "cli:binary") == BINARY + b"\n"
    large = BINARY * (5 * 1024 * 1024 // 256)
    assert say("-x", "SET", "cli:large", stdin=large) == b"OK\n"
    assert say("GET", "cli:large") == large + b"\n"


def test_redis_cli_shows_an_error_and_goes_on(pool):
    output = cli(pool, stdin=b"CLIENT ID\nNOSUCH a\nSET k 'a b'\nGET k\n"
                             b"CLIENT ID\n").splitlines()
    assert output[1] == (b"ERR unknown command 'NOSUCH', with args beginning "
                         b"with: 'a' ")
    words = [line for line in output[2:] if line]
    assert words == [b"OK", b"a b", output[0]]


def test_redis_cli_pipes_a_thousand_commands(pool):
    lines = b"".join(b"SET cli:p%d %d\r\n" % (i, i) for i in range(1000))
    output = cli(pool, "--pipe", stdin=lines)
    assert b"errors: 0, replies: 1000" in output
    assert cli(pool, "GET", "cli:p999") == b"999\n"


def test_redis_cli_is_told_of_a_wrong_password(pools):
    port = str(pools["guarded"].port)
    output = run(["redis-cli", "-p", port, "GET", "k"],
                 environment={"REDISCLI_AUTH": "wrong"})
    assert b"NOAUTH Authentication required." in output


# --- redis-benchmark ---------------------------------------------------------


@pytest.mark.parametrize("options", [
    [], ["-P", "50"], ["-3", "-d", "5000"], ["-k", "0"],
    pytest.param(["-P", "16", "--threads", "2"], marks=pytest.mark.threads)])
def test_redis_benchmark_works(pool, options):
    argv = ["redis-benchmark", "-p", str(pool.port), "-n", "500", "-c", "10",
            "-r", "100000", "-q", "-t", "ping,set,get,incr,lpush,rpush,lpop,"
            "rpop,sadd,hset,spop,zadd,zpopmin,lrange_100,mset"]
    if pool.password:
        argv += ["-a", pool.password]
    pool.clear()  # two runs may choose the same keys
    output = run(argv + options, timeout=120).decode().replace("\r", "\n")
    assert "rror" not in output, output
    # 500 requests may take no measurable time: "inf".
    done = re.findall(
        r"^(\w+).*: (?:[\d.]+|inf) requests per second", output, re.MULTILINE)
    assert {"PING_INLINE", "SET", "GET", "INCR", "MSET"} <= set(done), output
    eventually(lambda: min(pool.sizes()) > 20)
