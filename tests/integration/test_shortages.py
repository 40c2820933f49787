"""What the system has run out of: descriptors, ports, room on a disk.

The proxy goes on with what it has, and as before when there is more again.
"""

import os
import re
import resource
import selectors
import socket
import subprocess
import time

import pytest

from harness import POINTSMAN, SLOW, eventually, free_port, seconds
from lib_bulk import big_request, raise_file_limit
from lib_faults import REFUSED, Pool
from resp import RawClient, encode

STORM = 2000


@pytest.fixture
def pool(world):
    this = Pool(world)
    yield this
    this.close()


# --- accepting ------------------------------------------------------------


def connect_at_once(port, count):
    """So many sockets that have all asked to be connected."""
    socks = []
    for _ in range(count):
        sock = socket.socket()
        sock.setblocking(False)
        sock.connect_ex(("127.0.0.1", port))
        socks.append(sock)
    return socks


def ask_and_read(socks, data, last, timeout):
    """Send this on every socket as it is connected; what comes, up to `last`,
    for each."""
    answers = {sock: b"" for sock in socks}
    with selectors.DefaultSelector() as selector:
        for sock in socks:
            selector.register(sock, selectors.EVENT_WRITE)
        end = time.monotonic() + timeout
        while selector.get_map() and time.monotonic() < end:
            for key, events in selector.select(0.2):
                sock = key.fileobj
                if events & selectors.EVENT_WRITE:
                    sock.sendall(data)
                    selector.modify(sock, selectors.EVENT_READ)
                    continue
                piece = sock.recv(4096)
                answers[sock] += piece
                if not piece or answers[sock].endswith(last):
                    selector.unregister(sock)
    return list(answers.values())


@pytest.mark.parametrize("workers", [1, 2])
def test_two_thousand_connections_at_once_are_all_served(world, workers):
    """And those who are there already are not kept waiting."""
    count = max(int(STORM / min(SLOW, 2)), 1)
    raise_file_limit(3 * STORM + 100)
    pool = Pool(world, workers=workers)
    tally = pool.tally()
    with pool.neighbours():
        socks = connect_at_once(pool.proxy.port(), count)
        answers = ask_and_read(socks, encode("INCR", tally.key) +
                               encode("ECHO", "end"), b"end\r\n", seconds(30))
        for sock in socks:
            sock.close()
    wrong = [answer for answer in answers
             if not re.fullmatch(rb":\d+\r\n\$3\r\nend\r\n", answer)]
    assert not wrong, (len(wrong), wrong[:3])
    assert len({answer for answer in answers}) == count
    tally.acknowledged = count
    pool.check(tally)
    pool.settle()
    pool.close()


# --- descriptors ----------------------------------------------------------


def limit_files(proxy, count):
    """The proxy may have so many files open from now on; the limit before."""
    return resource.prlimit(proxy.pid, resource.RLIMIT_NOFILE,
                            (count, resource.prlimit(
                                proxy.pid, resource.RLIMIT_NOFILE)[1]))


def test_without_descriptors_newcomers_wait_and_nobody_is_dropped(pool):
    room, crowd = 10, 40
    pool.proxy.expect_errors('msg="cannot accept, resting"')
    before = resource.prlimit(pool.proxy.pid, resource.RLIMIT_NOFILE)
    tally = pool.tally()
    with pool.neighbours() as neighbours:
        limit_files(pool.proxy, pool.proxy.fd_count() + room)
        clients = [pool.proxy.raw(timeout=60) for _ in range(crowd)]
        for raw in clients:
            tally.send(raw, 1)
        pool.proxy.wait_for_event("cannot accept, resting")
        neighbours.wait_for_more(40)
        served = []

        def count_served():
            for raw in clients:
                if raw not in served and not raw.is_quiet(0.001):
                    served.append(raw)
            return len(served) >= room - 3

        eventually(count_served, 10, "those for whom there is room")
        assert len(served) <= room
        # As some leave, others come in, without any further word of theirs.
        for raw in list(served):
            raw.close()
        waiting = [raw for raw in clients if raw not in served]
        assert waiting[0].read_reply().startswith(b":")
        resource.prlimit(pool.proxy.pid, resource.RLIMIT_NOFILE, before)
        for raw in waiting[1:]:
            assert raw.read_reply().startswith(b":")
            raw.close()
        waiting[0].close()
    tally.acknowledged = crowd
    pool.check(tally)
    pool.settle()
    # The log says it once, however long it lasts.
    assert len(pool.proxy.events("cannot accept, resting")) == 1
    assert len(pool.proxy.events("accepting again")) == 1


def test_without_descriptors_servers_cannot_be_reached_and_then_can(pool):
    """Who has a connection to its server goes on; the others are told."""
    before = resource.prlimit(pool.proxy.pid, resource.RLIMIT_NOFILE)
    raw = pool.proxy.raw(timeout=30)
    assert raw.command("PING") == b"+PONG\r\n"
    with pool.neighbours() as neighbours:
        limit_files(pool.proxy, 3)
        pool.relay.cut(lambda way: way.link.close())
        assert eventually(lambda: REFUSED.fullmatch(
            raw.command("INCR", pool.tally().key)))
        neighbours.wait_for_more(40)
        resource.prlimit(pool.proxy.pid, resource.RLIMIT_NOFILE, before)
        eventually(pool.is_well)
    raw.close()
    pool.settle()


# --- the disk -------------------------------------------------------------

LOGGING = """
    pointsman:
      workers: 1
      log_file: $log
      log_level: debug
    demo:
      listen: 127.0.0.1:$port
      redis: true
      servers: ["$a:1 a"]
"""


def start_logging(world, log):
    """A proxy whose log lines go there, and a client of it."""
    port = free_port()
    server = world.server()
    proxy = world.make_proxy(LOGGING, log=log, port=port,
                             a=server.address).spawn()
    raw = eventually(lambda: RawClient("127.0.0.1", port, seconds(10)))
    assert raw.command("PING") == b"+PONG\r\n"
    return server, proxy, raw


def make_log_lines(server, raw):
    """Things happen of which the log tells, in more than a page of it."""
    for _ in range(40):
        server.client().client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: raw.command("INCR", "n").startswith(b":"))


def test_a_log_that_takes_nothing_changes_nothing(world):
    server, proxy, raw = start_logging(world, "/dev/full")
    with raw:
        make_log_lines(server, raw)
        assert raw.command("SET", "k", "v") == b"+OK\r\n"
    assert proxy.is_running()


@pytest.fixture
def tiny(world):
    """A folder on a disk of 64 KiB."""
    folder = os.path.join(world.folder, "tiny")
    os.makedirs(folder)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tiny",
                           folder], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"no file system can be mounted: {made.stderr.decode()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def test_a_full_disk_loses_log_lines_and_nothing_else(world, tiny):
    path = os.path.join(tiny, "log")
    server, proxy, raw = start_logging(world, path)
    filler = os.path.join(tiny, "filler")
    with raw:
        with open(filler, "wb", buffering=0) as file:
            with pytest.raises(OSError):
                while True:
                    file.write(b"x" * 4096)
        make_log_lines(server, raw)
        assert raw.command("SET", "k", "v") == b"+OK\r\n"
        os.remove(filler)
        size = os.path.getsize(path)
        server.kill()
        eventually(lambda: REFUSED.fullmatch(raw.command("INCR", "n")))
        eventually(lambda: os.path.getsize(path) > size)
        # What is missing is told, and from then on nothing is.
        told = eventually(lambda: re.findall(
            r'^ts=\S+ level=warn msg="log lines were lost" count=(\d+)$',
            read(path), re.MULTILINE))
        assert len(told) == 1 and int(told[0]) > 0
        server.start()
        eventually(lambda: raw.command("INCR", "n").startswith(b":"))
    assert proxy.is_running()


# --- ports ----------------------------------------------------------------

FEW_PORTS = 8

CROWDED = """
    pointsman:
      workers: 1
    demo:
      listen: $folder/proxy.sock
      redis: true
      request_timeout: 5s
      reconnect_max: 100ms
      servers: ["127.0.0.1:$port:1 a"]
"""


class UnixClient(RawClient):
    """The same over a socket in the file system."""

    def __init__(self, path, timeout):  # no super
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(timeout)
        self.socket.connect(path)
        self.buffer = bytearray()


class Island:
    """A network of its own in which there are FEW_PORTS to connect from."""

    def __init__(self, world):
        self.world = world
        self.holder = world.process("holder", ["unshare", "--net", "sleep",
                                               "600"])
        self.enter = ["nsenter", "--net", "--target", str(self.holder.pid)]
        eventually(self._is_apart)
        self.run("ip", "link", "set", "lo", "up")
        self.run("sysctl", "-qw", "net.ipv4.ip_local_port_range=40001 "
                 f"{40000 + FEW_PORTS}")

    def _is_apart(self):
        assert self.holder.is_running(), self.holder.log()
        own, its = (os.readlink(f"/proc/{pid}/ns/net")
                    for pid in ("self", self.holder.pid))
        return own != its

    def run(self, *argv):
        done = subprocess.run(self.enter + list(argv), capture_output=True,
                              check=False)
        assert done.returncode == 0, done.stderr.decode()

    def start(self, name, *argv):
        return self.world.process(name, self.enter + list(argv))


@pytest.fixture
def island(world):
    try:
        return Island(world)
    except (AssertionError, FileNotFoundError) as error:
        pytest.skip(f"no network namespace can be made: {error}")


def test_without_ports_those_who_need_no_new_one_go_on(world, island):
    """Uploads want a connection each, and there are too few ports: some are
    refused as not executed, while shared connections serve as before."""
    folder = world.folder
    island.start("redis", "redis-server", "--port", "6379", "--save", "",
                 "--unixsocket", f"{folder}/redis.sock", "--dir", folder)
    config = world.make_proxy(CROWDED, folder=folder, port=6379).config_path
    proxy = island.start("proxy", POINTSMAN, "-c", config)
    eventually(lambda: UnixClient(f"{folder}/redis.sock", 5).close() is None)
    raw = eventually(lambda: UnixClient(f"{folder}/proxy.sock", seconds(20)))
    eventually(lambda: raw.command("SET", "k", "v") == b"+OK\r\n")
    uploads = [UnixClient(f"{folder}/proxy.sock", seconds(20))
               for _ in range(3 * FEW_PORTS)]
    size = 300_000
    for i, each in enumerate(uploads):
        each.send(big_request(size, "SET", f"up{i}") + b"x" * 100_000)
        assert raw.command("GET", "k") == b"$1\r\nv\r\n"
    replies = []
    for each in uploads:
        each.send(b"x" * (size - 100_000) + b"\r\n")
        assert raw.command("GET", "k") == b"$1\r\nv\r\n"
        replies.append(each.read_reply())
    refused = [reply for reply in replies if reply != b"+OK\r\n"]
    assert all(REFUSED.fullmatch(reply) for reply in refused), refused
    assert 2 * FEW_PORTS <= len(refused) < 3 * FEW_PORTS
    with UnixClient(f"{folder}/redis.sock", 5) as direct:
        for i, reply in enumerate(replies):
            assert direct.command("EXISTS", f"up{i}") == \
                b":%d\r\n" % (reply == b"+OK\r\n")
    # Ports that are free again are used.
    for i, each in enumerate(uploads[:FEW_PORTS]):
        eventually(lambda i=i, each=each: each.command(
            "SET", f"up{i}", b"y" * 100_000) == b"+OK\r\n")
        each.close()
    proxy.signal(15)
    assert proxy.wait() == 0
