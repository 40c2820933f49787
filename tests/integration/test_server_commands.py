"""What server_commands lets through is answered by the servers themselves."""

import pytest

from harness import eventually
from resp import encode

ONE = """
    pointsman:
      workers: 1
    pool:
      listen: 127.0.0.1:0
      redis: true
      server_commands: +@admin -shutdown +info
      servers: ["$a:1 a"]
"""
THREE = """
    pointsman:
      workers: 1
    pool:
      listen: 127.0.0.1:0
      redis: true
      distribution: modulo
      server_commands: +config +debug +acl +info
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
"""
DEBUG = ("--enable-debug-command", "yes")
WORDS = [
    "CONFIG GET maxmemory*", "CONFIG SET maxmemory 100mb", "CONFIG GET maxmemory",
    "CONFIG SET maxmemory x", "CONFIG SET nosuch 1", "CONFIG GET nosuch",
    "CONFIG SET", "CONFIG NOSUCH", "SET k v", "DEBUG DIGEST-VALUE k",
    "DEBUG OBJECT nosuch", "DEBUG JMAP", "DEBUG DIGEST", "ACL WHOAMI", "ACL LIST",
    "MODULE LIST", "ROLE", "MULTI", "CONFIG SET maxmemory 0", "DEBUG SLEEP 0",
    "SAVE", "EXEC", "EXEC", "SLOWLOG GET", "LATENCY LATEST", "ACL GETUSER default", "CONFIG|GET maxmemory",
]


@pytest.mark.parametrize("resp", ["2", "3"])
def test_one_server_answers_as_if_asked_directly(world, resp):
    server = world.server(*DEBUG)
    direct = server.raw()
    through = world.proxy(ONE, a=server.address).raw()
    direct.command("HELLO", resp)
    through.command("HELLO", resp)
    for line in WORDS:
        reply = through.command(*line.split())
        assert reply == direct.command(*line.split()), line
    assert b"executable:" in through.command("INFO", "server")
    assert b"not supported" in through.command("SHUTDOWN")


def test_all_servers_are_configured(world):
    servers = world.start_servers(3, *DEBUG)
    client = world.proxy(THREE, **dict(
        zip("abc", [server.address for server in servers]))).client()
    event = "notify-keyspace-events"
    assert client.config_set(event, "KEA")
    for server in servers:
        assert server.client().config_get(event)[event] == "AKE"
    assert client.config_get(event)[event] == "AKE"
    for number in range(20):
        client.set(f"key{number}", number)
        assert client.debug_object(f"key{number}")["encoding"] == "int"
    assert client.execute_command("ACL", "SETUSER", "u", "on") == b"OK"
    for server in servers:
        assert "u" in server.client().acl_users()


def test_numbers_of_all_servers_are_added(world):
    servers = world.start_servers(3, *DEBUG)
    client = world.proxy(THREE, **dict(
        zip("abc", [server.address for server in servers]))).client()
    for number in range(30):
        client.set(f"key{number}", number)
        client.get(f"key{number}")
    direct = [server.client().info("all") for server in servers]
    through = client.info("all")
    assert through["rdb_changes_since_last_save"] == 30
    assert through["db0"]["keys"] == 30
    assert through["cmdstat_get"]["calls"] == 30
    assert through["keyspace_hits"] == 30
    assert through["redis_version"] == direct[0]["redis_version"]
    assert set(through) >= set(direct[0])
    assert client.info("stats")["keyspace_hits"] == 30


@pytest.mark.parametrize("config", [ONE, THREE], ids=["one", "three"])
def test_clients_are_those_of_the_pool(world, config):
    servers = world.start_servers(3)
    proxy = world.proxy(config, **dict(
        zip("abc", [server.address for server in servers])))
    blocked, client = proxy.raw(), proxy.client()
    blocked.send(encode("BLPOP", "nosuch", "0"))
    eventually(lambda: client.info()["blocked_clients"] == 1)
    assert client.info("clients")["connected_clients"] == 2
    assert "connected_clients" not in client.info("stats")
