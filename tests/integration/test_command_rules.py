"""The commands setting refuses what a server's ACL with these rules refuses."""

import pytest

RULES = "-@dangerous +sort -config +config|get -set -@geo +geoadd -exec"
CONFIG = """
    pointsman:
      workers: 1
    pool:
      listen: 127.0.0.1:0
      redis: true
      commands: $rules
      servers: ["$a:1 a"]
"""
WORDS = [
    "SET k v", "GET k", "SET k", "set", "FLUSHALL", "KEYS *", "KEYS",
    "SORT nolist", "CONFIG SET maxmemory 0", "CONFIG NOSUCH", "GEOADD g XX 1 1 a",
    "GEOPOS g a", "MGET a b", "nosuch a", "OBJECT ENCODING nosuch",
    "CLIENT KILL 1.2.3.4:5", "CLIENT GETNAME", "SHUTDOWN",
    "INFO nosuch", "HELLO 2 SETNAME me", "RESTORE k 0 x", "LRANGE nosuch 0 1",
    "MULTI", "SET k v", "GET k", "EXEC", "EXEC", "MULTI", "GET k", "EXEC", "GET k",
]


@pytest.fixture
def two(world):
    """The server as a user with these rules sees it, and the proxy."""
    server = world.server()
    server.client().execute_command(
        "ACL", "SETUSER", "u", "on", "nopass", "~*", "&*", "+@all",
        *RULES.split())
    direct = server.raw()
    assert direct.command("AUTH", "u", "x") == b"+OK\r\n"
    through = world.proxy(CONFIG, a=server.address, rules=RULES).raw()
    return direct, through


def test_refusals_are_those_of_a_server(two):
    direct, through = two
    refused = 0
    for line in WORDS:
        expected = direct.command(*line.split())
        reply = through.command(*line.split())
        if line.startswith("HELLO"):
            assert b"mode" in expected and b"mode" in reply
            continue
        assert reply == expected, line
        refused += reply.startswith(b"-NOPERM")
    assert refused == 10
