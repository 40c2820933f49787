"""redis-cli, as people use it, on a pool of three servers."""

import os
import pty
import re
import select
import subprocess
import time

import pytest

from harness import die_with_parent, eventually, running_world, seconds

POOL = """
    pointsman:
      workers: 2
    demo:
      listen: 127.0.0.1:0
      redis: true
      databases: 4
      distribution: modulo
      servers: ["$a:1 a", "$b:1 b", "$c:1 c"]
"""

KEYS = 500


class Terminal:
    """A redis-cli that believes to speak with a person."""

    def __init__(self, port, *arguments):
        ours, theirs = pty.openpty()
        self.fd = ours
        self.shown = ""
        self.process = subprocess.Popen(
            ["redis-cli", "-p", str(port), *arguments], stdin=theirs,
            stdout=theirs, stderr=theirs, preexec_fn=die_with_parent,
            env={**os.environ, "TERM": "dumb", "HOME": "/nonexistent"})
        os.close(theirs)

    def type(self, line):
        os.write(self.fd, line.encode() + b"\n")

    def expect(self, pattern):
        """Wait until this is shown; what stands behind it is kept."""
        deadline = time.monotonic() + seconds(20)
        while True:
            match = re.search(pattern, self.shown, re.DOTALL)
            if match:
                self.shown = self.shown[match.end():]
                return match
            assert time.monotonic() < deadline, (pattern, self.shown)
            if select.select([self.fd], [], [], 0.1)[0]:
                data = os.read(self.fd, 65536).decode(errors="replace")
                self.shown += data.replace("\r\n", "\n")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.fd)


def cli(port, *arguments, stdin=""):
    """What redis-cli says when it is done."""
    result = subprocess.run(
        ["redis-cli", "-p", str(port), *arguments], input=stdin,
        capture_output=True, text=True, timeout=seconds(60), check=True)
    return result.stdout


@pytest.fixture(scope="module")
def place():
    yield from running_world()


@pytest.fixture(scope="module")
def single(place):
    """A server that has all that the pool has."""
    return place.server()


@pytest.fixture(scope="module")
def proxy(place, single):
    servers = place.start_servers(3)
    proxy = place.proxy(POOL, **{
        name: server.address for name, server in zip("abc", servers)})
    for client in proxy.client(), single.client():
        with client.pipeline(transaction=False) as pipe:
            for number in range(KEYS):
                pipe.set(f"k{number}", "x" * (number % 50))
            pipe.rpush("list", *range(70))
            pipe.sadd("set", *range(30))
            pipe.hset("hash", mapping={n: n for n in range(20)})
            pipe.zadd("sorted", {n: n for n in range(10)})
            pipe.execute()
    return proxy


@pytest.fixture
def terminal(proxy):
    opened = []

    def start(*arguments):
        opened.append(Terminal(proxy.port(), *arguments))
        return opened[-1]
    yield start
    for each in opened:
        each.close()


def test_a_person_types_and_reads(terminal):
    shell = terminal()
    shell.expect(r"127\.0\.0\.1:\d+> ")
    for line, answer in (
            ("set greeting hello", "OK\n"), ("get greeting", '"hello"\n'),
            ("strlen greeting", r"\(integer\) 5\n"), ("get none", r"\(nil\)"),
            ("multi", "OK\n"), ("incr n{g}", "QUEUED"), ("exec", r"1\) \(int"),
            ("nosuch", r"\(error\) ERR unknown command"),
            ("mget k1 k2 k3", r'1\) "x"\n2\) "xx"\n3\) "xxx"\n'),
            ("select 1", "OK\n"), ("dbsize", r"\(integer\) 0\n"),
            ("select 0", "OK\n"), ("hello 3", "1# \"server\" => "),
            ("hgetall hash", '1# "[0-9]+" => "'), ("ping", "PONG\n"),
            ("client info", "id=[0-9]+ addr=")):
        shell.type(line)
        shell.expect(answer)
        shell.expect(r"> ")
    shell.type("subscribe news")
    shell.expect('1\\) "subscribe"')


def test_a_scan_gives_every_key(proxy):
    keys = cli(proxy.port(), "--scan").split()
    assert sorted(keys) == sorted(set(keys))
    assert {f"k{number}" for number in range(KEYS)} < set(keys)
    found = cli(proxy.port(), "--scan", "--pattern", "k1?").split()
    assert sorted(found) == [f"k{number}" for number in range(10, 20)]


@pytest.mark.parametrize("option", ["--bigkeys", "--memkeys"])
def test_the_biggest_keys_are_those_of_all_servers(proxy, single, option):
    def summary(port):
        # The shell of the test before has left two more.
        client = proxy.client()
        client.delete("greeting", "n{g}")
        text = cli(port, option)
        text = text[text.index("-------- summary"):]
        # of several that are as big any may be the biggest
        return re.sub(r"(Biggest string found )\S+", r"\1", text)
    assert summary(proxy.port()) == summary(single.port)


def test_a_pipe_takes_everything(proxy):
    client = proxy.client()
    commands = "".join(
        f"*3\r\n$3\r\nSET\r\n${len(str(n)) + 5}\r\npipe:{n}\r\n"
        f"${len(str(n))}\r\n{n}\r\n" for n in range(20000))
    answer = cli(proxy.port(), "--pipe", stdin=commands)
    assert "errors: 0, replies: 20000" in answer
    assert client.mget("pipe:0", "pipe:19999") == [b"0", b"19999"]
    client.delete(*(f"pipe:{n}" for n in range(20000)))


def test_latency_is_measured(proxy, terminal):
    numbers = cli(proxy.port(), "--latency", "-i", "0.1").split()
    assert len(numbers) == 4 and int(numbers[3]) > 0
    shell = terminal("--latency")
    shell.expect(r"min: \d+, max: \d+, avg: [\d.]+ \(\d+ samples\)")


def test_statistics_go_on(proxy, terminal):
    size = proxy.client().dbsize()
    shell = terminal("--stat", "-i", "0.05")
    shell.expect("keys +mem +clients +blocked +requests +connections")
    for _ in range(3):
        line = shell.expect(r"(?m)^(\d+) +\S+ +(\d+) +0 +(\d+) \(\+\d+\) +\d+")
        assert int(line[1]) == size and int(line[2]) >= 1


def test_a_monitor_shows_what_others_do(proxy, terminal):
    shell = terminal("MONITOR")
    shell.expect("OK")
    client = proxy.client()

    def is_shown():
        client.set("seen", "1")
        return shell.expect(r'\d+\.\d{6} \[0 127.0.0.1:\d+\] "SET" "seen" "1"')
    eventually(is_shown)


def test_clients_and_events_are_shown(proxy):
    assert re.match(r"id=\d+ addr=127.0.0.1:\d+ ",
                    cli(proxy.port(), "client", "list"))
    assert cli(proxy.port(), "latency", "latest").strip() == ""
    assert "keys=" in cli(proxy.port(), "info", "keyspace")
