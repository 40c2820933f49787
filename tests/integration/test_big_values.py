"""Values larger than every buffer, and what goes wrong in their middle."""

import select
import socket
import struct

import pytest

from harness import eventually, seconds
from lib_bulk import (MB, Memory, big_request, check_value, pattern,
                      read_line, scaled, send_value, upload, value)
from resp import encode

ONE = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      request_timeout: $timeout
      servers: ["$a:1 a"]
"""

THREE = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      request_limit: $limit
      distribution: modula
      hash: md5
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
"""


@pytest.fixture
def server(world):
    return world.server()


@pytest.fixture
def proxy(world, server):
    """One server behind one worker."""
    return start_one(world, server)


def start_one(world, server, timeout="60s"):
    return world.proxy(ONE, a=server.address, timeout=timeout)


def start_three(world, servers, limit="512mb"):
    a, b, c = (server.address for server in servers)
    return world.proxy(THREE, a=a, b=b, c=c, limit=limit)


def reset(raw):
    """Close with an RST."""
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          struct.pack("ii", 1, 0))
    raw.close()


def private_lanes(proxy):
    return proxy.stats.value("pointsman_server_lanes_private")


# --- they pass --------------------------------------------------------------

@pytest.mark.plain_only
def test_512_megabytes_pass_in_a_window_of_four(proxy):
    size = 512 * MB
    raw = proxy.raw(timeout=60)
    raw.command("PING")
    memory = Memory(proxy)
    upload(raw, size, "SET", "big")
    assert raw.read_reply() == b"+OK\r\n"
    after_set = memory.peak()
    raw.send_command("GET", "big")
    check_value(raw, size)
    after_get = memory.peak()
    print(f"grown by {after_set / MB:.2f} MB for SET, "
          f"{after_get / MB:.2f} MB for GET")
    assert raw.command("PING") == b"+PONG\r\n"
    assert after_get <= 4 * MB


@pytest.mark.parametrize("protocol, megabytes", [(2, 64), (3, 16)])
def test_large_values_of_hashes_and_appends_pass_both_ways(proxy, protocol,
                                                          megabytes):
    size = scaled(megabytes * MB)
    raw = proxy.raw(timeout=60)
    raw.command("HELLO", protocol)
    upload(raw, size, "HSET", "hash", "field")
    assert raw.read_reply() == b":1\r\n"
    raw.send_command("HGET", "hash", "field")
    check_value(raw, size)
    upload(raw, size, "APPEND", "text")
    assert raw.read_reply() == b":%d\r\n" % size
    raw.send_command("APPEND", "text", "!")
    assert raw.read_reply() == b":%d\r\n" % (size + 1)
    raw.send_command("HGETALL", "hash")
    assert read_line(raw) == (b"*2" if protocol == 2 else b"%1")
    assert raw.read_reply() == b"$5\r\nfield\r\n"
    check_value(raw, size)
    raw.send_command("GETRANGE", "text", 0, size - 1)
    check_value(raw, size)


def test_large_values_are_written_and_gathered_over_three_servers(world,
                                                                 three):
    proxy = start_three(world, three)
    client = proxy.client(socket_timeout=seconds(30))
    size = scaled(20 * MB) // 30
    values = {f"key:{i}": value(size + i) for i in range(30)}
    assert client.mset(values) is True
    assert all(server.client().dbsize() > 0 for server in three)
    keys = list(reversed(values)) + ["absent"]
    assert client.mget(keys) == [values.get(key) for key in keys]
    assert client.mget("small", "key:3") == [None, values["key:3"]]
    assert client.delete(*values) == 30


def test_a_script_larger_than_a_buffer_is_run(proxy):
    client = proxy.client()
    script = ("return redis.call('SET', KEYS[1], ARGV[1])\n"
              + "-- a line that says nothing\n" * scaled(30_000))
    assert client.eval(script, 1, "k", "v") == b"OK"
    assert client.get("k") == b"v"


def test_what_follows_a_large_request_is_answered_behind_it(proxy):
    size = scaled(5 * MB)
    raw = proxy.raw(timeout=30)
    raw.send_command("SET", "n", 1)
    raw.send(big_request(size, "SET", "big"))
    send_value(raw, size)
    raw.send(b"\r\n" + encode("STRLEN", "big") + encode("INCR", "n") +
             encode("APPEND", "big", "x") + encode("STRLEN", "big"))
    assert raw.read_replies(6) == [
        b"+OK\r\n", b"+OK\r\n", b":%d\r\n" % size, b":2\r\n",
        b":%d\r\n" % (size + 1), b":%d\r\n" % (size + 1)]


def test_a_client_that_closes_its_side_gets_its_answer(proxy):
    size = scaled(5 * MB)
    raw = proxy.raw(timeout=30)
    upload(raw, size, "SET", "big")
    raw.send_command("STRLEN", "big")
    raw.socket.shutdown(socket.SHUT_WR)
    assert raw.read_replies(2) == [b"+OK\r\n", b":%d\r\n" % size]
    assert raw.is_closed()


def test_the_protocol_broken_inside_a_large_request_is_named(proxy, server):
    size = scaled(2 * MB)
    raw = proxy.raw()
    raw.send(b"*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n$%d\r\n" % size)
    send_value(raw, size)
    raw.send(b"xx")
    assert raw.read_reply().startswith(b"-ERR Protocol error")
    assert raw.is_closed()
    assert server.client().exists("h") == 0


# --- they are refused -------------------------------------------------------

@pytest.mark.parametrize("size", [40_000, 3 * MB])
def test_a_request_over_the_limit_is_refused_and_the_connection_stays(
        world, three, size):
    proxy = start_three(world, three, limit="32kb")
    raw = proxy.raw()
    request = encode("MSET", "a", value(size), "b", "2", "c", "3")
    refusal = (b"-ERR proxy: request is larger than request_limit "
               b"(32768 bytes), command was not executed\r\n")
    raw.send(request)
    assert raw.read_reply() == refusal
    assert raw.command("MGET", "a", "b", "c") == b"*3\r\n" + b"$-1\r\n" * 3
    # However it is cut, and whatever stands around it.
    raw.send(encode("SET", "a", "1") + request[:200])
    assert raw.read_reply() == b"+OK\r\n"
    raw.send(request[200:39_000])
    raw.send(request[39_000:] + encode("GET", "a"))
    assert raw.read_replies(2) == [refusal, b"$1\r\n1\r\n"]
    # What passes on as it comes has no such limit.
    assert raw.command("SET", "large", value(size)) == b"+OK\r\n"
    assert raw.command("STRLEN", "large") == b":%d\r\n" % size


def test_a_bulk_longer_than_servers_take_is_a_protocol_error(proxy):
    raw = proxy.raw()
    raw.send(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n" % (512 * MB + 1))
    assert raw.read_reply() == b"-ERR Protocol error: invalid bulk length\r\n"
    assert raw.is_closed()


# --- slow and vanishing clients ---------------------------------------------

def test_a_slow_uploader_blocks_nobody(world, three):
    """One that is passed on, one that is gathered, one not begun."""
    proxy = start_three(world, three)
    size = 200_000
    passed_on, gathered, barely = proxy.raw(), proxy.raw(), proxy.raw()
    passed_on.send(big_request(size, "SET", "slow"))
    send_value(passed_on, 100_000)
    gathered.send(big_request(size, "MSET", "g1", "1", "g2", "2", "g3"))
    send_value(gathered, 100_000)
    eventually(lambda: private_lanes(proxy) == 1)
    client = proxy.client()
    for i in range(200):
        passed_on.send(bytes(value(size)[100_000 + i:100_001 + i]))
        gathered.send(bytes(value(size)[100_000 + i:100_001 + i]))
        if i < 9:
            barely.send(encode("GET", "k")[i:i + 1])
        assert client.set(f"key:{i}", i) is True
        assert client.get(f"key:{i}") == str(i).encode()
    for raw in (passed_on, gathered):
        send_value(raw, size, start=100_200)
        raw.send(b"\r\n")
        assert raw.read_reply() == b"+OK\r\n"
    barely.send(encode("GET", "k")[9:])
    assert barely.read_reply() == b"$-1\r\n"
    assert client.get("slow") == client.get("g3") == value(size)


@pytest.mark.plain_only
def test_what_is_gathered_is_not_copied_for_each_piece(world, three):
    proxy = start_three(world, three)
    size = 12 * MB
    slow, other = proxy.raw(timeout=30), proxy.raw(timeout=30)
    slow.send(big_request(size, "MSET", "a", "1", "b", "2", "c"))
    send_value(slow, size // 3)
    other.command("PING")
    before = proxy.cpu_seconds()
    for pos in range(size // 3, size // 3 + 400):
        slow.send(bytes(pattern(pos, 1)))
        assert other.command("PING") == b"+PONG\r\n"
    took = proxy.cpu_seconds() - before
    print(f"{took:.2f} s for 400 bytes")
    send_value(slow, size, start=size // 3 + 400)
    slow.send(b"\r\n")
    assert slow.read_reply() == b"+OK\r\n"
    slow.send_command("GET", "c")
    check_value(slow, size)
    assert took < 0.5


@pytest.mark.parametrize("leave", [reset, lambda raw: raw.close()])
def test_a_client_that_vanishes_in_a_large_request_leaves_nothing(
        proxy, server, leave):
    raw = proxy.raw()
    raw.send(big_request(64 * MB, "SET", "never"))
    send_value(raw, scaled(8 * MB))
    eventually(lambda: private_lanes(proxy) == 1)
    leave(raw)
    eventually(lambda: private_lanes(proxy) == 0)
    client = proxy.client()
    assert client.exists("never") == 0
    assert server.client().exists("never") == 0


@pytest.mark.parametrize("leave", [reset, lambda raw: raw.close()])
def test_a_client_that_vanishes_in_a_large_reply_leaves_nothing(proxy, server,
                                                                leave):
    server.client().set("big", value(scaled(32 * MB)))
    raw = proxy.raw()
    raw.send_command("GET", "big")
    raw.socket.recv(1000)
    leave(raw)
    client = proxy.client()
    assert client.strlen("big") == scaled(32 * MB)
    eventually(
        lambda: proxy.stats.value("pointsman_pool_client_connections") == 1)
    eventually(
        lambda: proxy.stats.value("pointsman_server_out_queue") == 0)


def test_an_uploader_that_stops_is_closed_in_the_end(world, server):
    proxy = world.proxy("""
        pointsman:
          workers: 1
          stats: 127.0.0.1:0
        demo:
          listen: 127.0.0.1:0
          redis: true
          upload_idle_timeout: 300ms
          servers: ["$a:1 a"]
        """, a=server.address)
    raw = proxy.raw()
    raw.send(big_request(10 * MB, "SET", "k"))
    send_value(raw, MB)
    assert raw.is_closed()
    assert server.client().exists("k") == 0


# --- lost servers -----------------------------------------------------------

def test_a_server_lost_in_an_upload_costs_that_request_alone(proxy, server):
    size = scaled(32 * MB)
    raw = proxy.raw(timeout=30)
    raw.send(big_request(size, "SET", "k"))
    send_value(raw, size // 2)
    eventually(lambda: private_lanes(proxy) == 1)
    server.kill()
    reply = raw.read_reply()
    assert reply.startswith(b"-") and b"was not executed" in reply, reply
    # The rest is read over, and the connection goes on.
    send_value(raw, size, start=size // 2)
    raw.send(b"\r\n")
    assert raw.command("PING") == b"+PONG\r\n"
    server.start()
    eventually(lambda: raw.command("SET", "k", "v") == b"+OK\r\n")


def test_a_server_lost_before_an_upload_is_told_at_once(proxy, server):
    raw = proxy.raw(timeout=30)
    raw.command("SET", "k", "v")
    server.kill()
    size = scaled(4 * MB)
    upload(raw, size, "SET", "k")
    reply = raw.read_reply()
    assert reply.startswith(b"-CLUSTERDOWN") and b"was not executed" in reply
    assert raw.command("PING") == b"+PONG\r\n"


def test_a_server_lost_in_a_large_reply_closes_that_client_alone(proxy,
                                                                 server):
    size = scaled(64 * MB)
    server.client().set("big", value(size))
    victim, other = proxy.raw(timeout=30), proxy.raw()
    victim.send_command("GET", "big")
    assert read_line(victim) == b"$%d" % size
    server.kill()
    # It gets a part, and then an end that no one takes for a whole reply.
    with pytest.raises(ConnectionError):
        victim.buffer[:0] = b"$%d\r\n" % size
        victim.read_reply()
    assert other.command("PING") == b"+PONG\r\n"
    reply = other.command("GET", "k")
    assert reply.startswith(b"-"), reply
    server.start()
    eventually(lambda: other.command("SET", "k", "v") == b"+OK\r\n")


def send_until_answered(raw, size):
    """Send bytes of a value as they are taken; how many have been."""
    sent = 0
    piece = value(MB)
    while sent < size:
        answered, _, _ = select.select([raw.socket], [], [], 0)
        if answered:
            break
        _, ready, _ = select.select([], [raw.socket], [], 0.05)
        if ready:
            step = min(len(piece), size - sent)
            raw.socket.setblocking(False)
            sent += raw.socket.send(piece[:step])
            raw.socket.settimeout(seconds(20))
    return sent


def test_a_server_that_stops_reading_an_upload_is_given_up(world, server):
    proxy = start_one(world, server, timeout="500ms")
    size = 64 * MB          # more than the kernels on the way keep
    raw = proxy.raw(timeout=20)
    raw.send(big_request(size, "SET", "k"))
    server.pause()
    sent = send_until_answered(raw, size)
    reply = raw.read_reply()
    assert reply.startswith(b"-ERR proxy: shard a did not answer"), reply
    assert b"was not executed" in reply
    server.resume()
    rest = value(MB)
    while sent < size:
        step = rest[:min(MB, size - sent)]
        raw.send(step)
        sent += len(step)
    raw.send(b"\r\n")
    eventually(lambda: raw.command("SET", "small", "v") == b"+OK\r\n")
    assert server.client().exists("k") == 0


def test_requests_that_a_server_does_not_take_are_not_all_read(world, server):
    """A client cannot fill the proxy with what waits for a stopped server."""
    proxy = start_one(world, server, timeout="5s")
    raw = proxy.raw(timeout=30)
    # Small answers open the window of requests in flight as far as it goes.
    assert raw.pipeline(*[("SET", "k", "v")] * 2000)[-1] == b"+OK\r\n"
    memory = Memory(proxy)
    server.pause()
    request = encode("MSET", "k1", value(MB), "k2", "2")
    raw.socket.setblocking(False)
    sent, left = 0, memoryview(request)

    def is_full():
        nonlocal sent, left
        try:
            while sent < 100:
                left = left[raw.socket.send(left):]
                if len(left) == 0:
                    sent, left = sent + 1, memoryview(request)
        except BlockingIOError:
            return memory.growth() > 0 and raw.is_quiet(0.5)
        raise RuntimeError("all of it was taken")

    eventually(is_full)
    print(f"{sent} requests of a megabyte taken, "
          f"grown by {memory.peak() / MB:.1f} MB")
    assert memory.peak() < 32 * MB
    raw.socket.settimeout(seconds(30))
    server.resume()
    raw.send(left)
    replies = raw.read_replies(sent + 1)
    assert all(r == b"+OK\r\n" or b"executed" in r for r in replies)
