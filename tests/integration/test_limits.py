"""How many, how long, and how it ends; and where it listens."""

import os
import signal
import socket
import stat
import time

import pytest
import redis

from harness import eventually, seconds
from lib_clock import now
from lib_bulk import MB, big_request, check_value, scaled, send_value, value
from resp import RawClient, encode

TOO_MANY = b"-ERR max number of clients reached\r\n"

ONE = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
      $process
    demo:
      listen: 127.0.0.1:0
      redis: true
      $pool
      servers: ["$a:1 a"]
"""


def start(world, server, process="maxclients: 10000", pool="timeout: -1",
          workers=1):
    return world.proxy(ONE, a=server.address, process=process, pool=pool,
                       workers=workers)


@pytest.fixture
def server(world):
    return world.server()


def clients_of(proxy, **labels):
    return proxy.stats.value("pointsman_pool_client_connections", **labels)


# --- how many clients -------------------------------------------------------

def is_refused(proxy, pool=None):
    with proxy.raw(pool) as raw:
        reply = raw.read_reply()
        return reply == TOO_MANY and raw.is_closed()


@pytest.mark.parametrize("workers", [1, 2])
def test_one_client_more_than_maxclients_is_refused(world, server, workers):
    proxy = start(world, server, "maxclients: 5", workers=workers)
    clients = [proxy.raw() for _ in range(5)]
    for client in clients:
        assert client.command("PING") == b"+PONG\r\n"
    for _ in range(3):
        assert is_refused(proxy)
    for client in clients:
        assert client.command("SET", "k", "v") == b"+OK\r\n"
    # A place that becomes free is given away.
    clients.pop().close()
    late = eventually(lambda: try_ping(proxy))
    assert is_refused(proxy)
    assert late.command("GET", "k") == b"$1\r\nv\r\n"
    assert proxy.stats.value("pointsman_pool_clients_refused_total") >= 4


def try_ping(proxy):
    client = proxy.raw()
    return client if client.command("PING") == b"+PONG\r\n" else None


def test_client_connections_bounds_its_pool_alone(world, server):
    proxy = world.proxy("""
        pointsman:
          workers: 2
          stats: 127.0.0.1:0
        narrow:
          listen: 127.0.0.1:0
          redis: true
          client_connections: 2
          servers: ["$a:1 a"]
        wide:
          listen: 127.0.0.1:0
          redis: true
          servers: ["$a:1 a"]
        """, a=server.address)
    narrow = [proxy.raw("narrow") for _ in range(2)]
    for client in narrow:
        assert client.command("PING") == b"+PONG\r\n"
    assert is_refused(proxy, "narrow")
    wide = [proxy.raw("wide") for _ in range(5)]
    for client in wide + narrow:
        assert client.command("SET", "k", "v") == b"+OK\r\n"
    assert clients_of(proxy, pool="narrow") == 2
    assert clients_of(proxy, pool="wide") == 5


# --- how long ---------------------------------------------------------------

def test_a_client_that_sends_nothing_is_closed(world, server):
    proxy = start(world, server, pool="client_idle_timeout: 1s")
    idle, busy, waiting = proxy.raw(), proxy.raw(), proxy.raw()
    idle.command("PING")
    waiting.command("SET", "k", "v")
    begun = time.monotonic()
    deadline = now() + seconds(10)
    idle.socket.settimeout(0.05)
    while True:
        assert busy.command("PING") == b"+PONG\r\n"
        try:
            assert idle.is_closed()
            break
        except socket.timeout:
            assert now() < deadline
    assert time.monotonic() - begun >= 0.9
    assert busy.command("PING") == b"+PONG\r\n"
    assert waiting.is_closed()


def test_a_client_that_waits_for_its_answer_is_not_idle(world, server):
    proxy = start(world, server, pool="client_idle_timeout: 500ms")
    client, idle = proxy.raw(), proxy.raw()
    client.command("SET", "k", "v")
    server.pause()
    client.send_command("GET", "k")
    # Whoever comes later and is closed shows that time enough has passed.
    assert idle.is_closed()
    late = proxy.raw()
    assert late.is_closed()
    server.resume()
    assert client.read_reply() == b"$1\r\nv\r\n"


# --- connections to servers -------------------------------------------------

def test_heavy_clients_wait_for_connections_and_then_are_refused(world,
                                                                 server):
    proxy = start(world, server, pool="connections_per_server: 4\n"
                  "  request_timeout: 3s")
    size = 16 * MB          # more than the kernels on the way keep
    server.client().set("big", value(size))
    server.client().set("large", value(2 * MB))
    heavy = [proxy.raw(timeout=30, room=65536) for _ in range(8)]
    for client in heavy:
        client.send_command("GET", "large")
        check_value(client, 2 * MB)
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_heavy_clients") == len(heavy))
    # They take nothing, so each keeps its connection as long as it likes.
    for client in heavy:
        client.send_command("GET", "big")
    light = proxy.client()
    served, refused = [], []
    for client in heavy:
        start_of = client.socket.recv(1, socket.MSG_PEEK)
        (refused if start_of == b"-" else served).append(client)
        assert light.set("k", "v") is True
    assert len(served) == 3
    for client in refused:
        assert client.read_reply() == (
            b"-ERR proxy: shard a did not answer in 3000 ms, the command was "
            b"not executed\r\n")
    assert proxy.stats.value("pointsman_server_connections") <= 4
    # Those who were served get all of it, and then there is room again.
    for client in served:
        check_value(client, size)
    for client in refused:
        client.send_command("GET", "large")
        check_value(client, 2 * MB)


def test_uploads_wait_for_connections_in_line(world, server):
    proxy = start(world, server, pool="connections_per_server: 2")
    size = 300_000
    clients = [proxy.raw(timeout=30) for _ in range(6)]
    for i, client in enumerate(clients):
        client.send(big_request(size, "SET", f"k{i}"))
        send_value(client, 200_000)
    light = proxy.client()
    assert light.set("k", "v") is True
    for client in clients:
        send_value(client, size, start=200_000)
        client.send(b"\r\n")
    for i, client in enumerate(clients):
        assert client.read_reply() == b"+OK\r\n"
        assert light.strlen(f"k{i}") == size
    assert proxy.stats.value("pointsman_server_connections") <= 2


# --- the end ----------------------------------------------------------------

def refuses_connections(proxy):
    try:
        proxy.raw(timeout=1).close()
        return False
    except (ConnectionRefusedError, ConnectionResetError):
        return True


@pytest.mark.threads
@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_lets_requests_in_flight_be_answered(world, server, workers):
    proxy = start(world, server, workers=workers)
    clients = [proxy.raw(timeout=20) for _ in range(10)]
    idle = proxy.raw()
    for i, client in enumerate(clients):
        client.command("SET", f"k{i}", i)
    assert idle.command("PING") == b"+PONG\r\n"
    server.pause()
    for i, client in enumerate(clients):
        client.send(encode("GET", f"k{i}") + encode("INCR", f"k{i}"))
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 20)
    proxy.signal(signal.SIGTERM)
    eventually(lambda: refuses_connections(proxy))
    assert idle.is_closed()
    assert proxy.is_running()
    server.resume()
    for i, client in enumerate(clients):
        assert client.read_replies(2) == [b"$1\r\n%d\r\n" % i,
                                          b":%d\r\n" % (i + 1)]
        assert client.is_closed()
    assert proxy.wait() == 0


def test_sigterm_lets_a_large_reply_and_an_upload_end(world, server):
    proxy = start(world, server)
    size = 16 * MB  # more than all buffers on the way hold
    server.client().set("big", value(size))
    reader, writer = proxy.raw(timeout=20), proxy.raw(timeout=20)
    reader.send_command("GET", "big")
    eventually(lambda: reader.socket.recv(1, socket.MSG_PEEK))
    writer.send(big_request(size, "SET", "new"))
    send_value(writer, size // 2)
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 2)
    proxy.signal(signal.SIGTERM)
    eventually(lambda: refuses_connections(proxy))
    check_value(reader, size)
    assert reader.is_closed()
    send_value(writer, size, start=size // 2)
    writer.send(b"\r\n")
    assert writer.read_reply() == b"+OK\r\n"
    assert writer.is_closed()
    assert proxy.wait() == 0
    assert server.client().strlen("new") == size


def test_sigterm_waits_no_longer_than_shutdown_timeout(world, server):
    proxy = start(world, server, "shutdown_timeout: 500ms")
    client = proxy.raw()
    client.command("SET", "k", "v")
    server.pause()
    client.send_command("GET", "k")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 1)
    begun = time.monotonic()
    proxy.signal(signal.SIGTERM)
    assert proxy.wait() == 0
    assert 0.4 <= time.monotonic() - begun < seconds(5)
    assert client.is_closed()


def test_a_second_sigterm_changes_nothing(world, server):
    proxy = start(world, server)
    client = proxy.raw()
    client.command("SET", "k", "v")
    server.pause()
    client.send_command("GET", "k")
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_requests_in_flight") == 1)
    proxy.signal(signal.SIGTERM)
    eventually(lambda: refuses_connections(proxy))
    proxy.signal(signal.SIGTERM)
    server.resume()
    assert client.read_reply() == b"$1\r\nv\r\n"
    assert proxy.wait() == 0


# --- where it listens -------------------------------------------------------

def unix_client(path):
    client = RawClient.__new__(RawClient)
    client.socket = socket.socket(socket.AF_UNIX)
    client.socket.settimeout(seconds(10))
    client.socket.connect(path)
    client.buffer = bytearray()
    return client


def test_a_pool_listens_on_all_its_addresses(world, server):
    path = os.path.join(world.folder, "p.sock")
    proxy = world.proxy("""
        demo:
          listen:
            - 127.0.0.1:0
            - "[::1]:0"
            - $path 0640
          redis: true
          servers: ["$a:1 a"]
        """, a=server.address, path=path)
    addresses = [event["addr"] for event in proxy.events("listening")]
    assert len(addresses) == 3
    assert addresses[2] == path
    four = RawClient("127.0.0.1", int(addresses[0].rsplit(":")[1]),
                     seconds(10))
    host, port = addresses[1].rsplit(":", 1)
    assert host == "[::1]"
    six = RawClient("::1", int(port), seconds(10))
    with four, six, unix_client(path) as unix:
        assert four.command("SET", "k", "v") == b"+OK\r\n"
        assert six.command("GET", "k") == b"$1\r\nv\r\n"
        assert unix.command("GET", "k") == b"$1\r\nv\r\n"
        # Large ones, too: a UNIX socket has buffers of another kind.
        size = scaled(8 * MB)
        unix.send(big_request(size, "SET", "big"))
        send_value(unix, size)
        unix.send(b"\r\n")
        assert unix.read_reply() == b"+OK\r\n"
        unix.send_command("GET", "big")
        check_value(unix, size)


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o777])
def test_a_unix_socket_has_its_mode_and_goes_with_the_proxy(world, server,
                                                            mode):
    path = os.path.join(world.folder, "p.sock")
    config = """
        demo:
          listen: $path $mode
          redis: true
          servers: ["$a:1 a"]
        """
    proxy = world.proxy(config, a=server.address, path=path,
                        mode=f"{mode:04o}")
    status = os.stat(path)
    assert stat.S_ISSOCK(status.st_mode)
    assert stat.S_IMODE(status.st_mode) == mode
    with redis.Redis(unix_socket_path=path) as client:
        assert client.set("k", "v") is True
    # Killed, it leaves the file, which the next one replaces.
    proxy.process.kill()
    proxy.process = None
    assert os.path.exists(path)
    proxy = world.proxy(config, a=server.address, path=path,
                        mode=f"{mode:04o}")
    with redis.Redis(unix_socket_path=path) as client:
        assert client.get("k") == b"v"
    proxy.signal(signal.SIGTERM)
    assert proxy.wait() == 0
    assert not os.path.exists(path)


def test_an_address_in_use_is_told_and_nothing_is_started(world, server):
    first = start(world, server)
    result = world.run("-c", "CONFIG", config="""\
        pointsman: {stats: off}
        demo:
          listen: $addr
          redis: true
          servers: ["$a:1 a"]
        """, addr=first.address(), a=server.address)
    assert result.returncode != 0
    assert f"cannot listen on {first.address()}" in result.stderr
    with first.raw() as client:
        assert client.command("PING") == b"+PONG\r\n"


def test_a_socket_that_another_serves_is_not_taken(world, server):
    path = os.path.join(world.folder, "p.sock")
    config = """\
        demo:
          listen: $path
          redis: true
          servers: ["$a:1 a"]
        """
    world.proxy(config, a=server.address, path=path)
    result = world.run("-c", "CONFIG",
                       config="        pointsman: {stats: off}\n" + config,
                       path=path,
                       a=server.address)
    assert result.returncode != 0
    assert "cannot listen" in result.stderr
    with unix_client(path) as client:
        assert client.command("PING") == b"+PONG\r\n"
