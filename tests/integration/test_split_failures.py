"""Commands over several shards when one of the shards cannot or will not.

The answer is the failed shard's error, the first in the order of the keys; for
a write it also says that other parts may have been executed.
"""

import pytest
import redis

from harness import eventually
from lib_sockets import unread_bytes

THREE = """
    pointsman:
      workers: 1
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: modulo
      hash: crc32
      servers:
        - {name: a, address: "$a"}
        - {name: b, address: "$b"}
        - {name: c, address: "$c"}
"""

REMARK = b" (proxy: other parts may have been executed)"
READS = {"MGET": 1, "EXISTS": 1, "TOUCH": 1}
WRITES = {"MSET": 2, "DEL": 1, "UNLINK": 1}
ALL = READS | WRITES


class Pool:
    """Three servers, the proxy before them, and some keys of each."""

    def __init__(self, world):
        self.servers = world.start_servers(3)
        self.direct = [server.client() for server in self.servers]
        a, b, c = (server.address for server in self.servers)
        self.proxy = world.proxy(THREE, a=a, b=b, c=c)
        self.raw = self.proxy.raw()
        # A lane to each server, and keys that live there.
        for i in range(60):
            assert self.raw.command("SET", f"key{i}", "v") == b"+OK\r\n"
        self.keys = [sorted(client.keys()) for client in self.direct]
        assert min(map(len, self.keys)) > 5

    def words(self, name, *shards, first=0):
        """A command with a key of each of these shards, in this order."""
        words = [name]
        for shard in shards:
            words.append(self.keys[shard][first])
            words += ["new"] * (ALL.get(name, 1) - 1)
        return words

    def counts(self):
        return [client.dbsize() for client in self.direct]


@pytest.fixture
def pool(world):
    return Pool(world)


def remark_of(name):
    return REMARK if name in WRITES else b""


def unreachable(shard, name):
    return (b"-CLUSTERDOWN proxy: no reachable primary for shard %s, command "
            b"was not executed%s\r\n" % (shard, remark_of(name)))


# --- down --------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_a_shard_that_is_down_is_named(pool, version):
    pool.raw.command("HELLO", version)
    pool.servers[1].kill()
    eventually(lambda: pool.raw.command("GET", pool.keys[1][0]) ==
               unreachable(b"b", "GET"))
    for name in ALL:
        for order in ([0, 1, 2], [1, 0], [2, 0, 1], [0, 1, 1, 2, 0]):
            assert pool.raw.command(*pool.words(name, *order)) == \
                unreachable(b"b", name)
    # The others are served, and the connection has stayed.
    assert pool.raw.command(*pool.words("MSET", 0, 2)) == b"+OK\r\n"
    assert pool.raw.command(*pool.words("EXISTS", 0, 2)) == b":2\r\n"
    assert pool.raw.command(*pool.words("MGET", 2, 0, 2)) == (
        b"*3\r\n" + b"$3\r\nnew\r\n" * 3)


def test_of_two_failed_shards_the_first_in_the_order_of_the_keys_is_named(
        pool):
    for shard in (0, 2):
        pool.servers[shard].kill()
        eventually(lambda: pool.raw.command(
            "GET", pool.keys[shard][0]).startswith(b"-CLUSTERDOWN"))
    for name in ALL:
        assert pool.raw.command(*pool.words(name, 1, 2, 0, 2)) == \
            unreachable(b"c", name)
        assert pool.raw.command(*pool.words(name, 0, 2, 1)) == \
            unreachable(b"a", name)


def test_the_other_parts_of_a_failed_write_are_executed(pool):
    pool.servers[1].kill()
    eventually(lambda: pool.raw.command(*pool.words("MSET", 0, 1, 2)) ==
               unreachable(b"b", "MSET"))
    for shard in (0, 2):
        assert pool.direct[shard].get(pool.keys[shard][0]) == b"new"
    before = pool.direct[0].dbsize()
    assert pool.raw.command(*pool.words("DEL", 0, 1)) == \
        unreachable(b"b", "DEL")
    assert pool.direct[0].dbsize() == before - 1


def test_a_part_whose_server_comes_back_is_served_again(pool):
    pool.servers[1].kill()
    eventually(lambda: pool.raw.command(*pool.words("MGET", 0, 1)) ==
               unreachable(b"b", "MGET"))
    pool.servers[1].start()
    eventually(lambda: pool.raw.command(*pool.words("MGET", 0, 1)) ==
               b"*2\r\n$1\r\nv\r\n$-1\r\n")


@pytest.mark.parametrize("name", WRITES)
def test_a_part_lost_on_its_way_may_have_been_executed(pool, name):
    """The server is stopped, has the command in its socket, and dies."""
    lane = next(client["addr"] for client in pool.direct[2].client_list()
                if client["cmd"] == "set")
    pool.servers[2].pause()
    pool.raw.send_command(*pool.words(name, 0, 2))
    pool.raw.send_command("GET", pool.keys[0][1])
    eventually(lambda: unread_bytes(pool.servers[2].port,
                                    int(lane.rsplit(":", 1)[1])) > 0)
    pool.servers[2].kill()
    assert pool.raw.read_replies(2) == [
        b"-ERR proxy: connection to shard c was lost, the command may have "
        b"been executed" + REMARK + b"\r\n", b"$1\r\nv\r\n"]


def test_a_split_waits_for_its_slowest_part_and_keeps_its_place(pool):
    pool.servers[1].pause()
    pool.raw.send_command(*pool.words("MGET", 0, 1, 2))
    pool.raw.send_command(*pool.words("GET", 0))
    pool.raw.send_command(*pool.words("EXISTS", 0, 2, 0))
    assert pool.raw.is_quiet(0.05)
    pool.servers[1].resume()
    assert pool.raw.read_replies(3) == [
        b"*3\r\n" + b"$1\r\nv\r\n" * 3, b"$1\r\nv\r\n", b":3\r\n"]


# --- answering an error ------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
def test_an_error_of_one_shard_is_the_answer(pool, version):
    """In the shard's own words."""
    pool.raw.command("HELLO", version)
    for name in ALL:
        pool.direct[1].acl_setuser("default", enabled=True, nopass=True,
                                   keys=["*"], commands=[
                                       "+@all", f"-{name.lower()}"])
        with pytest.raises(redis.exceptions.NoPermissionError) as refused:
            pool.direct[1].execute_command(*pool.words(name, 1))
        expected = b"-NOPERM %s%s\r\n" % (str(refused.value).encode(),
                                          remark_of(name))
        for order in ([0, 1, 2], [1, 2], [2, 1, 0, 1]):
            assert pool.raw.command(*pool.words(name, *order)) == expected
        assert pool.raw.command(*pool.words(name, 0, 2))[:1] != b"-"


def test_a_shard_without_memory_answers_for_a_write(pool):
    pool.direct[2].config_set("maxmemory", "1")
    assert pool.raw.command(*pool.words("MSET", 0, 1, 2)) == (
        b"-OOM command not allowed when used memory > 'maxmemory'." + REMARK +
        b"\r\n")
    assert pool.direct[0].get(pool.keys[0][0]) == b"new"
    assert pool.raw.command(*pool.words("MGET", 0, 2)) == \
        b"*2\r\n$3\r\nnew\r\n$1\r\nv\r\n"


def test_a_key_of_another_type_is_null_and_no_error(pool):
    pool.direct[1].delete(pool.keys[1][0])
    pool.direct[1].rpush(pool.keys[1][0], "x")
    assert pool.raw.command(*pool.words("MGET", 0, 1)) == \
        b"*2\r\n$1\r\nv\r\n$-1\r\n"


def test_on_one_shard_a_write_that_fails_has_no_remark(pool):
    pool.direct[2].config_set("maxmemory", "1")
    words = ["MSET", pool.keys[2][0], "x", pool.keys[2][1], "y"]
    assert pool.raw.command(*words) == \
        b"-OOM command not allowed when used memory > 'maxmemory'.\r\n"
