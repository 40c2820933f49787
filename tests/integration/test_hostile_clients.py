"""Clients that send garbage, leave at the wrong moment or never end.

Whatever one does, its neighbours are served, and nothing of it is left: no
request in flight, no kept answer, no descriptor.
"""

import errno
import socket
import struct

import pytest

from harness import POINTSMAN, Process, eventually, seconds
from resp import encode

POOL = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      servers:
        - $a:1 a
        - $b:1 b
        - $c:1 c
"""

GARBAGE = [
    (b"*1\r\n+PING\r\n", b"-ERR Protocol error: expected '$', got '+'\r\n"),
    (b"*x\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
    (b"*2147483648\r\n", b"-ERR Protocol error: invalid multibulk length\r\n"),
    (b"*99999999999999999999\r\n",
     b"-ERR Protocol error: invalid multibulk length\r\n"),
    (b"*1\r\n$-1\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
    (b"*1\r\n$536870913\r\n", b"-ERR Protocol error: invalid bulk length\r\n"),
    (b"*1\r\n$4\r\nPINGxx", b"-ERR Protocol error: expected CRLF after bulk"
                            b"\r\n"),
    (b"*" + b"1" * 65536, b"-ERR Protocol error: too big mbulk count string"
                          b"\r\n"),
    (b"x" * 65537, b"-ERR Protocol error: too big inline request\r\n"),
    (b"GET \"open\r\n", b"-ERR Protocol error: unbalanced quotes in request"
                        b"\r\n"),
    (b"PING\0PING\r\n", b"-ERR Protocol error: NUL byte in inline request"
                        b"\r\n"),
    (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    (b"Host: x\r\n", b""),
]

# A bit of everything: one shard, several, the proxy itself, errors, inline.
PIPELINE = (encode("SET", "one", "1") + encode("GET", "one") +
            encode("MSET", "a", "1", "b", "2", "c", "3", "d", "4") +
            encode("MGET", "a", "b", "c", "d", "one") + b"PING hello\r\n" +
            encode("NOSUCH") + encode("INCR", "counter") + b"GET one\r\n" +
            encode("CLIENT", "LIST") + encode("SELECT", "0") +
            encode("SET", "long", "x" * 300))


def start(world, workers=1):
    a, b, c = (world.server().address for _ in range(3))
    return world.proxy(POOL, workers=workers, a=a, b=b, c=c)


def connect(proxy):
    return socket.create_connection(("127.0.0.1", proxy.port()), seconds(10))


def reset(sock):
    """Leave without a word: RST instead of FIN."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()


def read_to_end(sock):
    """All that comes until the other side closes."""
    got = b""
    while True:
        try:
            data = sock.recv(1 << 20)
        except ConnectionResetError:
            return got
        if not data:
            return got
        got += data


def send_quietly(sock, data):
    """The other side may have had enough before all is sent."""
    try:
        sock.sendall(data)
    except OSError as error:
        assert error.errno in (errno.EPIPE, errno.ECONNRESET), error


def expect_nothing_left(proxy, clients=0):
    wanted = {"pointsman_pool_requests_in_flight": 0,
              "pointsman_pool_held_bytes": 0,
              "pointsman_pool_client_connections": clients}

    def left():
        return {name: value for name, _, value in proxy.stats.metrics()
                if name in wanted}
    eventually(lambda: left() == wanted, 20, "everything to be given back")


def expect_served(proxy):
    with proxy.raw() as witness:
        assert witness.pipeline(("SET", "witness", "here"),
                                ("GET", "witness"),
                                ("MGET", "witness", "none", "nobody")) == [
            b"+OK\r\n", b"$4\r\nhere\r\n", b"*3\r\n$4\r\nhere\r\n$-1\r\n$-1\r\n"]


def test_garbage_is_answered_as_servers_do_and_closes(world):
    proxy = start(world)
    for sent, answer in GARBAGE:
        with connect(proxy) as sock:
            send_quietly(sock, sent)
            assert read_to_end(sock) == answer, sent[:60]
        with connect(proxy) as sock:
            send_quietly(sock, encode("SET", "k", "v") + sent)
            got = read_to_end(sock)
            # What was asked before is answered before.
            assert got == b"+OK\r\n" + answer, sent[:60]
    expect_served(proxy)
    expect_nothing_left(proxy)


def test_any_bytes_are_fine_as_a_key_or_a_value(world):
    raw = start(world).raw()
    for key in (b"", b"\0", b"a\0b", b"\r\n", b"$5\r\nhello\r\n", b"\xff" * 9,
                bytes(range(256)), b"{", b"}", b"{}", b"{a", b" "):
        value = b"<" + key * 3 + b">"
        assert raw.command("SET", key, value) == b"+OK\r\n", key
        assert raw.command("GET", key) == \
            b"$%d\r\n%s\r\n" % (len(value), value), key
        assert raw.command("MGET", key, "other\0key", key) == \
            b"*3\r\n$%d\r\n%s\r\n$-1\r\n$%d\r\n%s\r\n" % (
                len(value), value, len(value), value), key
        assert raw.command("DEL", key, "other\0key") == b":1\r\n", key


@pytest.mark.parametrize("leave", ["close", "half_close", "reset"])
def test_leaving_at_any_byte_harms_nobody(world, leave):
    proxy = start(world)
    whole = connect(proxy)
    with whole:
        whole.sendall(PIPELINE)
        whole.shutdown(socket.SHUT_WR)
        answers = read_to_end(whole)
    for cut in range(0, len(PIPELINE), 3):
        sock = connect(proxy)
        sock.sendall(PIPELINE[:cut])
        if leave == "reset":
            reset(sock)
        elif leave == "close":
            sock.close()
        else:
            sock.shutdown(socket.SHUT_WR)
            got = read_to_end(sock)
            # Numbers (of INCR, of CLIENT LIST) differ from run to run.
            assert got[:60] == answers[:min(len(got), 60)], cut
            sock.close()
    expect_served(proxy)
    expect_nothing_left(proxy)


def test_resets_in_the_middle_of_large_answers_harm_nobody(world):
    proxy = start(world)
    with proxy.raw() as raw:
        assert raw.command("SET", "big", b"x" * 3000000) == b"+OK\r\n"
    for taken in (0, 1, 100, 20000, 400000):
        for asked in (1, 3):
            sock = connect(proxy)
            sock.sendall(encode("GET", "big") * asked + encode("GET", "none"))
            while taken > 0:
                taken -= len(sock.recv(taken))
            reset(sock)
    expect_served(proxy)
    expect_nothing_left(proxy)


def test_resets_in_the_middle_of_large_requests_harm_nobody(world):
    proxy = start(world)
    head = b"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$1000000\r\n"
    for size in (0, 1, 60000, 70000, 300000, 999999, 1000000, 1000001):
        for leave in (socket.socket.close, reset):
            sock = connect(proxy)
            sock.sendall(head + (b"y" * 1000000 + b"\r\n")[:size])
            leave(sock)
    expect_served(proxy)
    expect_nothing_left(proxy)
    with proxy.raw() as raw:
        assert raw.command("EXISTS", "big") == b":0\r\n"


def test_clients_that_leave_while_a_server_is_silent_leave_nothing(world):
    proxy = start(world)
    server = world.servers[0]
    server.pause()

    def ask(number):
        sock = connect(proxy)
        sock.sendall(b"".join(encode("SET", f"key:{number}:{i}", "v")
                              for i in range(20)) +
                     encode("MGET", *(f"key:{i}" for i in range(20))))
        return sock
    for number in range(40):
        reset(ask(number))
    # They are gone although nothing was answered yet.
    expect_nothing_left(proxy)
    for number in range(40):
        ask(number).close()
    # Who only closed may still be reading, as far as anybody can tell.
    server.resume()
    expect_served(proxy)
    expect_nothing_left(proxy)


@pytest.mark.threads
def test_a_thousand_come_and_go(world):
    proxy = start(world, workers=2)
    expect_served(proxy)
    expect_nothing_left(proxy)
    before = proxy.fd_count()
    for number in range(1000):
        sock = connect(proxy)
        if number % 4 == 1:
            sock.sendall(encode("GET", f"key:{number}"))
        elif number % 4 == 2:
            sock.sendall(b"*2\r\n$3\r\nGE")
        elif number % 4 == 3:
            sock.sendall(encode("MGET", *range(number, number + 9)) * 3)
        (reset if number % 3 else socket.socket.close)(sock)
    expect_nothing_left(proxy)
    expect_served(proxy)
    # Each worker may have connected to more servers meanwhile.
    eventually(lambda: proxy.fd_count() <= before + 2 * 3, 10,
               "descriptors to be closed")
    assert proxy.stats.value("pointsman_pool_clients_accepted_total") >= 1000


def test_floods_of_nothing_are_swallowed(world):
    """Empty lines and empty arrays are no requests, in any number."""
    proxy = start(world)
    with proxy.raw() as raw:
        for nothing in (b"\r\n", b"\n", b"*0\r\n", b"*-1\r\n", b"   \r\n"):
            raw.send(nothing * 50000)
            assert raw.command("PING") == b"+PONG\r\n"
        raw.send(b"PING\r\n" * 20000)
        assert raw.read_replies(20000) == [b"+PONG\r\n"] * 20000
        raw.send(b"NOSUCH\r\n" * 5000)
        assert all(reply.startswith(b"-ERR unknown command")
                   for reply in raw.read_replies(5000))
    expect_nothing_left(proxy)


@pytest.mark.plain_only
def test_promises_of_huge_requests_cost_nothing(world):
    """Memory follows what was sent, not what was announced."""
    proxy = start(world)
    expect_served(proxy)
    before = proxy.rss_bytes()
    socks = []
    for head in (b"*1048576\r\n$3\r\nGET\r\n", b"*2\r\n$3\r\nGET\r\n"
                 b"$536870912\r\n", b"*1048576\r\n$4\r\nMGET\r\n$1\r\na\r\n"):
        for _ in range(200):
            socks.append(connect(proxy))
            socks[-1].sendall(head)
    expect_served(proxy)
    assert proxy.rss_bytes() - before < 20_000_000
    for sock in socks:
        sock.close()
    expect_nothing_left(proxy)


def test_a_half_closed_client_that_reads_late_gets_everything(world):
    proxy = start(world)
    with proxy.raw() as raw:
        assert raw.command("SET", "big", b"x" * 9000000) == b"+OK\r\n"
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.settimeout(seconds(10))
    sock.connect(("127.0.0.1", proxy.port()))
    with sock:
        sock.sendall(encode("GET", "big"))
        # Its answer has begun and stands in the way of the rest.
        eventually(lambda: sock.recv(1, socket.MSG_PEEK), 10)
        eventually(lambda: proxy.stats.value("pointsman_server_pauses_total"),
                   10, "the connection to be paused")
        sock.shutdown(socket.SHUT_WR)
        expect_served(proxy)
        assert len(read_to_end(sock)) == 9000000 + len("$9000000\r\n\r\n")
    expect_nothing_left(proxy)


def test_clients_leave_descriptors_for_server_connections(world):
    """However many clients connect, commands reach the servers."""
    a, b, c = (world.server().address for _ in range(3))
    proxy = world.make_proxy(POOL, workers=1, a=a, b=b, c=c)
    proxy.process = Process(
        ["sh", "-c", 'ulimit -n 80; exec "$0" -c "$1"', POINTSMAN,
         proxy.config_path], proxy.log_path)
    lowered = proxy.wait_for_event(
        "maxclients lowered, the system allows too few descriptors", 1, 20,
        level="warn")
    assert lowered["descriptors"] == "80" and lowered["lowered_to"] == "60"
    proxy.wait_for_event("ready", 1, 20)
    witness = proxy.raw()
    crowd = [connect(proxy) for _ in range(100)]
    refused = [read_to_end(sock) for sock in crowd[59:]]
    assert set(refused) <= {b"-ERR max number of clients reached\r\n", b""}
    assert refused.count(b"-ERR max number of clients reached\r\n") > 0
    assert witness.command("MSET", "a", 1, "b", 2, "c", 3, "d", 4) == b"+OK\r\n"
    for sock in crowd:
        sock.close()
