"""What the integration tests stand on: real servers, the real proxy, clients.

A World owns everything that one test starts: servers, proxies, clients and a
folder.  When the test is over it ends them all, by process id, and then says
what the proxies did wrong: an exit status other than 0, a sanitizer's report,
or a line of level=error that the test had not named.

Deadlines are written for a plain build on an idle machine; POINTSMAN_SLOW
stretches them all.  Nothing sleeps for a fixed time: see eventually().
"""

import ctypes
import os
import random
import re
import shutil
import signal
import socket
import string
import subprocess
import tempfile
import textwrap
import time

import redis

from lib_clock import now
from resp import RawClient
from stats import Stats

REPO = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
POINTSMAN = os.path.abspath(os.environ.get(
    "POINTSMAN", os.path.join(REPO, "build", "proxy", "pointsman")))
REDIS_SERVER = os.environ.get("REDIS_SERVER", "redis-server")
SLOW = float(os.environ.get("POINTSMAN_SLOW", "1"))

SANITIZER_REPORT = re.compile(
    r"ERROR: \w*Sanitizer|WARNING: ThreadSanitizer|runtime error:"
    r"|pointsman: bug:")
LOG_FIELD = re.compile(r'([\w.]+)=("(?:[^"\\]|\\.)*"|\S*)')


def seconds(plain):
    """A deadline for a plain build, stretched for this one."""
    return plain * SLOW


def eventually(condition, timeout=10, what=None):
    """Call `condition` until it returns something true, and return that.

    An AssertionError or a connection error inside counts as "not yet".
    """
    deadline = now() + seconds(timeout)
    pause = 0.001
    while True:
        problem = None
        try:
            result = condition()
            if result:
                return result
        except (AssertionError, OSError, redis.ConnectionError) as error:
            problem = error
        if now() > deadline:
            text = what or getattr(condition, "__name__", "the condition")
            raise AssertionError(
                f"waited {seconds(timeout):g} s in vain for: {text}"
            ) from problem
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


# Below what the kernel gives to connections, and a part for each process of
# a run that several share, so that a port stays free until it is used.
PORTS = range(12000, 32000)
PORT_SHARES = 10


def free_port():
    """A port of 127.0.0.1 that is free at this moment."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    share = int(worker.removeprefix("gw")) % PORT_SHARES
    for _ in range(1000):
        port = random.choice(PORTS[share::PORT_SHARES])
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError("no port is free")


def die_with_parent():
    """In a new child: end when the thread of ours that made it ends."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


class Process:
    """A child process whose output goes to a file."""

    def __init__(self, argv, log_path, **options):
        self.argv = argv
        self.log_path = log_path
        with open(log_path, "ab") as log:
            self.popen = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent, **options)
        self.pid = self.popen.pid

    def is_running(self):
        return self.popen.poll() is None

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def signal(self, number):
        self.popen.send_signal(number)

    def wait(self, timeout=10):
        """The exit status, negative for a signal."""
        return self.popen.wait(seconds(timeout))

    def end(self):
        """End it, whatever it takes."""
        if self.is_running():
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            try:
                self.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()

    def kill(self):
        """SIGKILL, and wait until it is gone."""
        if self.is_running():
            self.popen.kill()
        self.popen.wait()


class RedisServer:
    """A redis-server on a port of its own, which it keeps over restarts."""

    def __init__(self, folder, name, arguments=(), host="127.0.0.1"):
        self.host = host
        self.folder = os.path.join(folder, name)
        os.makedirs(self.folder, exist_ok=True)
        self.name = name
        self.arguments = list(arguments)
        self.process = None
        self.port = None
        self.clients = []

    @property
    def address(self):
        return f"{self.host}:{self.port}"

    @property
    def pid(self):
        return self.process.pid

    def _argv(self):
        return [REDIS_SERVER, "--bind", self.host, "--port", str(self.port),
                "--dir", self.folder, "--save", "", "--appendonly", "no",
                "--daemonize", "no"] + self.arguments

    def _answers(self):
        """Whether the one that answers on our port is ours."""
        if not self.process.is_running():
            return True
        with RawClient(self.host, self.port, seconds(5)) as client:
            reply = client.command("PING")
            assert not reply.startswith(b"-LOADING")
        # Nobody else can listen there while ours is alive and accepts.
        return "Ready to accept connections" in self.process.log()

    def start(self):
        """Start, on the port of last time if there was one."""
        fixed = self.port is not None
        for _ in range(10):
            if not fixed:
                self.port = free_port()
            path = os.path.join(self.folder, "log")
            if os.path.exists(path):
                os.remove(path)
            self.process = Process(self._argv(), path)
            eventually(self._answers, 20, f"{self.name} to answer")
            if self.process.is_running():
                return self
            assert "Address already in use" in self.process.log(), \
                self.process.log()
        raise AssertionError(f"no port for {self.name}")

    def client(self, **options):
        """A redis-py client that speaks to this server directly."""
        options.setdefault("socket_timeout", seconds(10))
        client = redis.Redis(self.host, self.port, **options)
        self.clients.append(client)
        return client

    def raw(self):
        client = RawClient(self.host, self.port, seconds(10))
        self.clients.append(client)
        return client

    def unread_bytes(self):
        """What clients have sent and it has not read yet."""
        waiting = 0
        with open("/proc/net/tcp", encoding="ascii") as file:
            for words in map(str.split, list(file)[1:]):
                if int(words[1].split(":")[1], 16) == self.port and \
                        words[3] == "01":
                    waiting += int(words[4].split(":")[1], 16)
        return waiting

    def wait_for_replicas(self):
        """Until those that it has got have all that it has written by now.

        WAIT would look at what its own connection has written.
        """
        client = self.client()
        wanted = client.info("replication")["master_repl_offset"]

        def have_all():
            told = client.info("replication")
            return told["connected_slaves"] > 0 and all(
                told[f"slave{number}"]["offset"] >= wanted
                for number in range(told["connected_slaves"]))

        eventually(have_all, 20, "the replicas to have it")

    def stop(self):
        """End it politely; its memory is lost."""
        for client in self.clients:
            client.close()
        self.clients.clear()
        if self.process is not None:
            self.process.end()

    def kill(self):
        self.process.kill()

    def pause(self):
        """It keeps its connections and answers nothing."""
        self.process.signal(signal.SIGSTOP)

    def resume(self):
        self.process.signal(signal.SIGCONT)


class Proxy:
    """The proxy under test, on the configuration of the caller."""

    def __init__(self, folder, config, arguments=(), environment=None):
        self.folder = folder
        self.config_path = os.path.join(folder, "pointsman.yml")
        self.log_path = os.path.join(folder, "log")
        self.arguments = list(arguments)
        self.environment = environment or {}
        self.process = None
        self.clients = []
        self.expected_errors = []
        self.write_config(config)

    def write_config(self, text):
        """Replace the configuration file; SIGHUP makes the proxy read it."""
        fresh = self.config_path + ".new"
        with open(fresh, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(fresh, self.config_path)

    # --- life ---------------------------------------------------------------

    def spawn(self):
        """Start without waiting for anything."""
        environment = dict(os.environ)
        environment.setdefault("ASAN_OPTIONS", "detect_leaks=1")
        environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
        environment.setdefault("TSAN_OPTIONS", "second_deadlock_stack=1")
        environment.update(self.environment)
        argv = [POINTSMAN, "-c", self.config_path] + self.arguments
        self.process = Process(argv, self.log_path, env=environment)
        return self

    def start(self):
        """Start and wait until every pool is served."""
        self.spawn()
        eventually(self._is_ready_or_gone, 20, "the proxy to be ready")
        assert self.process.is_running(), self.log()
        return self

    def _is_ready_or_gone(self):
        return self.events("ready") or not self.process.is_running()

    @property
    def pid(self):
        return self.process.pid

    def is_running(self):
        return self.process.is_running()

    def signal(self, number):
        self.process.signal(number)

    def wait(self, timeout=40):
        return self.process.wait(timeout)

    def close_clients(self):
        for client in self.clients:
            client.close()
        self.clients.clear()

    def stop(self):
        """Drain, end, and check what a well-behaved proxy leaves."""
        self.close_clients()
        if self.process is None:
            return
        if self.is_running():
            self.signal(signal.SIGTERM)
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.signal(signal.SIGABRT)
                self.process.kill()
                raise AssertionError(
                    "SIGTERM did not end the proxy") from None
        self.check()

    def check(self):
        """After the end: exit status, sanitizers, errors nobody named."""
        text = self.log()
        report = SANITIZER_REPORT.search(text)
        assert not report, text[report.start():][:8000]
        status = self.process.popen.returncode
        assert status == 0, f"exit status {status}; {text[-4000:]}"
        unnamed = [line for line in text.splitlines()
                   if " level=error " in line and
                   not any(part in line for part in self.expected_errors)]
        assert not unnamed, "errors that no test named:\n" + "\n".join(unnamed)

    def expect_errors(self, *substrings):
        """Name lines of level=error that belong to the test."""
        self.expected_errors.extend(substrings)

    # --- log ----------------------------------------------------------------

    def log(self):
        return self.process.log()

    def events(self, msg=None, **fields):
        """The log lines, as dicts, that have this msg and these fields."""
        found = []
        for line in self.log().splitlines():
            event = parse_logfmt(line)
            if msg is not None and event.get("msg") != msg:
                continue
            if all(event.get(k) == str(v) for k, v in fields.items()):
                found.append(event)
        return found

    def wait_for_event(self, msg, count=1, timeout=10, **fields):
        """Wait for the count-th such line and return it."""
        eventually(lambda: len(self.events(msg, **fields)) >= count, timeout,
                   f"log line {msg!r} {fields}")
        return self.events(msg, **fields)[count - 1]

    # --- where it listens ---------------------------------------------------

    def address(self, pool=None):
        """Where a pool listens, the only or first one by default."""
        fields = {} if pool is None else {"pool": pool}
        events = self.events("listening", **fields)
        assert events, f"pool {pool} does not listen: {self.log()}"
        # The last line counts: a reload may have moved it.
        return events[0 if pool is None else -1]["addr"]

    def port(self, pool=None):
        return int(self.address(pool).rsplit(":", 1)[1])

    def client(self, pool=None, **options):
        """A redis-py client of a pool."""
        options.setdefault("socket_timeout", seconds(10))
        client = redis.Redis("127.0.0.1", self.port(pool), **options)
        self.clients.append(client)
        return client

    def raw(self, pool=None, timeout=10, room=None):
        """A client that sends and reads bytes.

        `room`: bytes that its kernel may keep before it has read them, which
        may be tens of megabytes otherwise.
        """
        client = RawClient("127.0.0.1", self.port(pool), seconds(timeout),
                           room)
        self.clients.append(client)
        return client

    @property
    def stats(self):
        events = self.events("stats listening")
        assert events, "this configuration has no stats port"
        return Stats(events[-1]["addr"], seconds(10))

    # --- what it uses -------------------------------------------------------

    def rss_bytes(self):
        """Resident memory."""
        return self._status_field("VmRSS") * 1024

    def worker_threads(self):
        """The ids of the workers' threads, in their order."""
        return sorted(map(int, os.listdir(f"/proc/{self.pid}/task")))[1:]

    def thread_count(self):
        return self._status_field("Threads")

    def _status_field(self, name):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            return int(re.search(rf"^{name}:\s+(\d+)", file.read(),
                                 re.MULTILINE).group(1))

    def fd_count(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_seconds(self):
        """Processor time of all threads, user and system."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parse_logfmt(line):
    """One log line as a dict; {} for a line of another kind."""
    event = {}
    for key, value in LOG_FIELD.findall(line):
        if value.startswith('"'):
            value = re.sub(r"\\(x[0-9a-f]{2}|.)", unescape, value[1:-1])
        event[key] = value
    return event if "level" in event and "msg" in event else {}


def unescape(match):
    text = match.group(1)
    return chr(int(text[1:], 16)) if len(text) == 3 else text


def fill(config, values):
    """An indented YAML text with $names replaced; "$$" is a dollar."""
    return string.Template(textwrap.dedent(config)).substitute(values)


def without_fixed_ports(config):
    """A text that names no stats port gets none.

    The default is one fixed port, and two tests may run at a time.
    """
    if re.search(r"^ +stats:", config, re.MULTILINE):
        return config
    if re.search(r"^pointsman: *$", config, re.MULTILINE):
        return re.sub(r"^(pointsman: *\n)( +)", r"\1\2stats: off\n\2", config,
                      count=1, flags=re.MULTILINE)
    return "pointsman: {stats: off}\n" + config


class World:
    """What one test has started."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="pointsman-test-")
        self.servers = []
        self.proxies = []
        self.processes = []

    def server(self, *arguments, name=None, host="127.0.0.1", port=None):
        """Start a redis-server, with arguments for its command line.

        On this host and port; without a port, on one that is free.
        """
        name = name or f"server{len(self.servers) + 1}"
        server = RedisServer(self.folder, name, arguments, host)
        server.port = port
        self.servers.append(server)
        return server.start()

    def start_servers(self, count, *arguments):
        return [self.server(*arguments) for _ in range(count)]

    def make_proxy(self, config, *arguments, environment=None, **values):
        """A proxy that is not started; see proxy()."""
        folder = os.path.join(self.folder, f"proxy{len(self.proxies) + 1}")
        os.makedirs(folder)
        config = without_fixed_ports(fill(config, values))
        proxy = Proxy(folder, config, arguments, environment)
        self.proxies.append(proxy)
        return proxy

    def proxy(self, config, *arguments, environment=None, **values):
        """Start the proxy on `config`, with $names replaced by `values`."""
        return self.make_proxy(config, *arguments, environment=environment,
                               **values).start()

    def run(self, *arguments, config=None, timeout=30, **values):
        """Run the program to its end; "CONFIG" names the file written."""
        if config is not None:
            path = os.path.join(self.folder, "run.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(fill(config, values))
            arguments = [path if a == "CONFIG" else a for a in arguments]
        return subprocess.run([POINTSMAN, *arguments], capture_output=True,
                              text=True, timeout=seconds(timeout), check=False)

    def process(self, name, argv, **options):
        """Start another program, ended with the rest."""
        process = Process(argv, os.path.join(self.folder, name + ".log"),
                          **options)
        self.processes.append(process)
        return process

    def logs(self):
        """The ends of the proxies' logs, for a report of failure."""
        return [(proxy.folder, proxy.log()[-8000:])
                for proxy in self.proxies if proxy.process is not None]

    def close(self):
        """End everything, proxies first; then tell what was wrong."""
        problems = []
        for proxy in self.proxies:
            try:
                proxy.stop()
            except AssertionError as error:
                problems.append(str(error))
        for server in self.servers:
            server.stop()
        for process in self.processes:
            process.end()
        shutil.rmtree(self.folder, ignore_errors=True)
        assert not problems, "\n\n".join(problems)


def running_world():
    """For fixtures: a World that is ended and judged when it is over."""
    this = World()
    try:
        yield this
    finally:
        this.close()
