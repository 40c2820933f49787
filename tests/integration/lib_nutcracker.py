"""Running nutcracker and pointsman side by side, in front of stub servers.

A stub answers every command with its own number as a bulk string of two
digits, so the answers to a pipeline of GETs tell where each key went.  All
stubs live in one thread; a configuration may give them any names it likes.
"""

import os
import selectors
import shutil
import socket
import subprocess
import tempfile
import threading
import time

NUTCRACKER = shutil.which("nutcracker") or shutil.which(
    "nutcracker", path="/usr/sbin:/usr/local/sbin")
REPOSITORY = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
POINTSMAN = os.environ.get("POINTSMAN") or os.path.join(
    REPOSITORY, "build", "proxy", "pointsman")

ANSWER_SIZE = len(b"$2\r\n00\r\n")
BATCH = 1000


class Stubs:
    """Servers that say who they are.  Use as a context manager.

    `addresses` are (host, port) pairs, port 0 for any, or socket paths;
    `where[i]` is then what a configuration calls server i, without weight.
    """

    def __init__(self, addresses):
        self.where = []
        self._selector = selectors.DefaultSelector()
        self._wake, self._woken = socket.socketpair()
        self._sockets = [self._wake, self._woken]
        self._selector.register(self._woken, selectors.EVENT_READ, None)
        try:
            for number, address in enumerate(addresses):
                self._listen(number, address)
        except OSError:
            self._close()
            raise
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exc):
        self._wake.send(b"x")
        self._thread.join()
        self._close()

    def _close(self):
        for sock in self._sockets:
            sock.close()
        self._selector.close()

    def _listen(self, number, address):
        is_path = isinstance(address, str)
        sock = socket.socket(socket.AF_UNIX if is_path else socket.AF_INET)
        self._sockets.append(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(1024)
        name = sock.getsockname()
        self.where.append(name if is_path else "%s:%d" % name)
        self._selector.register(sock, selectors.EVENT_READ,
                                lambda: self._accept(sock, number))

    def _accept(self, listener, number):
        sock, _ = listener.accept()
        self._sockets.append(sock)
        connection = StubConnection(sock, number)
        self._selector.register(sock, selectors.EVENT_READ,
                                lambda: self._serve(connection))

    def _serve(self, connection):
        if not connection.serve():
            self._selector.unregister(connection.sock)
            connection.sock.close()

    def _run(self):
        while True:
            for key, _ in self._selector.select():
                if key.data is None:
                    return
                key.data()


class StubConnection:
    """One connection to a stub; knows enough RESP to count commands."""

    # What a proxy may ask of a server before it trusts it.
    GREETINGS = {b"PING": b"+PONG\r\n", b"SELECT": b"+OK\r\n",
                 b"AUTH": b"+OK\r\n", b"CLIENT": b"+OK\r\n"}

    def __init__(self, sock, number):
        self.sock = sock
        self._answer = b"$2\r\n%02d\r\n" % number
        self._rest = b""

    def serve(self):
        try:
            data = self.sock.recv(1 << 18)
            if not data:
                return False
            self.sock.sendall(self._answers(self._rest + data))
        except OSError:
            return False
        return True

    def _answers(self, data):
        """Answer the whole commands in data; keep what is left of it."""
        answers = []
        at = 0
        while True:
            end, name = self._command(data, at)
            if end < 0:
                break
            at = end
            answers.append(self.GREETINGS.get(name, self._answer))
        self._rest = data[at:]
        return b"".join(answers)

    @staticmethod
    def _command(data, at):
        """(where the command at `at` ends, its name), or (-1, None)."""
        line = data.find(b"\r\n", at)
        if line < 0:
            return -1, None
        count, name = int(data[at + 1:line]), None
        at = line + 2
        for _ in range(count):
            line = data.find(b"\r\n", at)
            if line < 0:
                return -1, None
            start = line + 2
            at = start + int(data[at + 1:line]) + 2
            if at > len(data):
                return -1, None
            name = name or data[start:at - 2].upper()
        return at, name


class Case:
    """One pool: what is hashed how, over which server lines."""

    def __init__(self, name, distribution, hash_name, servers, tag=None):
        self.name = name
        self.distribution = distribution
        self.hash_name = hash_name
        self.servers = servers
        self.tag = tag

    def yaml(self, port):
        lines = ["%s:" % self.name,
                 "  listen: 127.0.0.1:%d" % port,
                 "  redis: true",
                 "  distribution: %s" % self.distribution,
                 "  hash: %s" % self.hash_name]
        if self.tag:
            lines.append("  hash_tag: \"%s\"" % self.tag)
        lines.append("  servers:")
        lines += ["    - %s" % server for server in self.servers]
        return "\n".join(lines) + "\n"


def free_ports(count):
    """Ports that were free a moment ago, all different."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in sockets]
    for sock in sockets:
        sock.close()
    return ports


class Proxy:
    """A proxy process with one pool a case.  Use as a context manager."""

    def __init__(self, cases):
        self._directory = tempfile.TemporaryDirectory()
        self._stats, *ports = free_ports(len(cases) + 1)
        self.ports = {case.name: port for case, port in zip(cases, ports)}
        self._file = os.path.join(self._directory.name, "proxy.yml")
        with open(self._file, "w", encoding="utf-8") as file:
            file.write(self.preamble(self._stats))
            file.writelines(case.yaml(port) for case, port in zip(cases, ports))
        self._process = None

    def preamble(self, stats_port):
        """What stands in the file before the pools."""
        raise NotImplementedError

    def command(self, file, stats_port):
        """The words to start the proxy with."""
        raise NotImplementedError

    def __enter__(self):
        self._log = open(os.path.join(self._directory.name, "log"), "w+b")
        self._process = subprocess.Popen(
            self.command(self._file, self._stats), stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=self._log, cwd=self._directory.name)
        try:
            for port in self.ports.values():
                self._await(port)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc):
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        self._directory.cleanup()

    def log(self):
        self._log.seek(0)
        return self._log.read().decode("utf-8", "replace")

    def _await(self, port):
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                return
            except OSError:
                if self._process.poll() is not None:
                    raise AssertionError("it ended:\n" + self.log()) from None
                if time.monotonic() > deadline:
                    raise AssertionError("no answer:\n" + self.log()) from None
                time.sleep(0.02)

    def ask(self, name, requests):
        """The number of the stub that answers each request."""
        answers = []
        address = ("127.0.0.1", self.ports[name])
        with socket.create_connection(address, 20) as sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for at in range(0, len(requests), BATCH):
                batch = requests[at:at + BATCH]
                sock.sendall(b"".join(batch))
                answers += read_answers(sock, len(batch))
        return answers


class Nutcracker(Proxy):
    def preamble(self, stats_port):
        return ""

    def command(self, file, stats_port):
        return [NUTCRACKER, "-c", file, "-a", "127.0.0.1",
                "-s", str(stats_port), "-v", "3", "-m", "16384"]


class Pointsman(Proxy):
    def preamble(self, stats_port):
        return "pointsman:\n  stats: 127.0.0.1:%d\n" % stats_port

    def command(self, file, stats_port):
        return [POINTSMAN, "-c", file]


def read_answers(sock, count):
    data = bytearray()
    while len(data) < count * ANSWER_SIZE:
        more = sock.recv(1 << 18)
        if not more:
            raise AssertionError("closed after %r" % bytes(data[-200:]))
        data += more
        if data[0:1] == b"-":
            raise AssertionError("refused: %r" % bytes(data[:200]))
    answers = [bytes(data[i:i + ANSWER_SIZE])
               for i in range(0, len(data), ANSWER_SIZE)]
    for answer in answers:
        if answer[:4] != b"$2\r\n" or answer[-2:] != b"\r\n":
            raise AssertionError("unexpected answer %r in %r"
                                 % (answer, bytes(data[:200])))
    return [int(answer[4:6]) for answer in answers]


def get(key):
    return b"*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key)
