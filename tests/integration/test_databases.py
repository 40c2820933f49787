"""Commands that name a database: the pool's clients stay among their own."""

import pytest

POOL = """
    shop:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
      databases: 3
      redis_db: $first
"""

SCRIPT = [
    "SET k v", "MOVE k 1", "EXISTS k", "MOVE k 1", "SET k w", "MOVE k 1",
    "MOVE k 0", "MOVE k 2", "MOVE k 3", "MOVE k -1", "MOVE k 16", "MOVE k x",
    "MOVE k 01", "MOVE k", "MOVE none 1", "SELECT 1", "GET k", "SELECT 0",
    "SET c v", "COPY c d DB 2", "COPY c d DB 2", "COPY c d REPLACE db 2",
    "COPY c d DB 3", "COPY c d DB -1", "COPY c d DB x",
    "COPY c d DB 99999999999", "MOVE c 99999999999",
    "COPY c d DB",
    "COPY c e", "COPY c e DB 0 REPLACE", "COPY c c DB 1", "COPY c c",
    "COPY c d DB 1 DB 2 REPLACE", "COPY c d DB 9 DB 1",
    "COPY c d DB DB 1", "COPY c d DB 1 DB x", "COPY DB x DB 1",
    "SELECT 2", "GET d", "GET k", "SELECT 1",
    "GET c", "DBSIZE", "SELECT 0", "MULTI", "COPY c f DB 1", "MOVE e 2", "EXEC",
    "SELECT 2", "GET e", "SELECT 1", "GET f"]


@pytest.mark.parametrize("first", [0, 5])
def test_moves_and_copies_are_those_of_a_server(world, first):
    """As of one that has no more databases."""
    own, direct = world.server("--databases", "16"), \
        world.server("--databases", "3")
    proxy = world.proxy(POOL, a=own.address, first=first)
    with proxy.raw() as ours, direct.raw() as theirs:
        for line in SCRIPT:
            words = line.split()
            assert (line, ours.command(*words)) == \
                (line, theirs.command(*words))
    used = set(own.client().info("keyspace"))
    assert used and used <= {f"db{first + number}" for number in range(3)}


def test_a_move_out_of_the_databases_spoils_a_transaction(world):
    """It is known at once, where a server says so at EXEC."""
    server = world.server()
    proxy = world.proxy(POOL, a=server.address, first=2)
    with proxy.raw() as client:
        client.command("SET", "k", "v")
        client.command("MULTI")
        assert client.command("MOVE", "k", "3") == \
            b"-ERR DB index is out of range\r\n"
        assert client.command("EXEC").startswith(b"-EXECABORT")
        assert client.command("GET", "k") == b"$1\r\nv\r\n"


def test_a_move_with_a_large_key_is_checked_as_well(world):
    server = world.server()
    proxy = world.proxy(POOL, a=server.address, first=0)
    key = b"k" * 300000
    with proxy.raw() as client:
        client.command("SET", key, "v")
        assert client.command("MOVE", key, "3") == \
            b"-ERR DB index is out of range\r\n"
        assert client.command("MOVE", key, "2") == b":1\r\n"
