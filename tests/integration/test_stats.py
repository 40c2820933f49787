"""The stats port and INFO: what is said, and whether it is true."""

import http.client
import json
import math
import os
import re
import signal
import shutil
import socket
import time

import pytest

from harness import REPO, eventually, free_port, seconds
from resp import encode

CONFIG = """
    pointsman:
      workers: $workers
      stats: 127.0.0.1:0
      maxclients: 500
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: ketama
      hash: fnv1a_64
      servers:
        - $a:1 a
        - $b:1 b
    other:
      listen: 127.0.0.1:0
      redis: true
      servers:
        - $a:1 a
"""

NUTCRACKER = shutil.which("nutcracker") or shutil.which(
    "nutcracker", path="/usr/sbin:/usr/local/sbin")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
CONNECTIONS = 64  # the stats port's limit


def start(world, workers=1):
    a, b = (server.address for server in world.start_servers(2))
    return world.proxy(CONFIG, workers=workers, a=a, b=b)


@pytest.fixture
def proxy(world):
    return start(world)


# --- talking to the port ----------------------------------------------------

def request(proxy, method, path, headers=None):
    """Status, headers and body of one request."""
    connection = http.client.HTTPConnection(
        proxy.stats.host, proxy.stats.port, timeout=seconds(10))
    try:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.headers, response.read()
    finally:
        connection.close()


def connect(proxy):
    return socket.create_connection((proxy.stats.host, proxy.stats.port),
                                    seconds(10))


def read_all(sock):
    """Everything until the other side closes."""
    parts = []
    while part := sock.recv(65536):
        parts.append(part)
    return b"".join(parts)


def is_closed(sock):
    """Whether the other side has closed by now."""
    sock.setblocking(False)
    try:
        return sock.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


# --- a strict reader of both formats ----------------------------------------

SAMPLE = re.compile(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_]\w*)="((?:[^"\\\n]|\\[\\"n])*)"')
TYPES = {"counter", "gauge", "histogram", "info"}


class Family:
    """A name, its type and its samples, in the order written."""

    def __init__(self, name, kind, is_open):
        assert kind in TYPES, kind
        assert is_open or kind != "info"
        self.name = name
        self.kind = kind
        self.help = None
        self.unit = None
        self.samples = {}  # (name, labels) -> value
        total = "_total" if is_open else ""
        suffixes = {"counter": [total], "gauge": [""], "info": ["_info"],
                    "histogram": ["_bucket", "_sum", "_count"]}
        self.sample_names = {name + s for s in suffixes[kind]}
        assert kind != "counter" or is_open or name.endswith("_total"), name

    def add(self, name, labels, value):
        assert self.help, f"{self.name} has no help before its samples"
        assert name in self.sample_names, (name, self.name)
        key = (name, labels)
        assert key not in self.samples, f"{key} comes twice"
        assert not math.isnan(value)
        assert self.kind == "gauge" or value >= 0, key
        self.samples[key] = value

    def check_histograms(self):
        """Buckets ascend, end with +Inf, and agree with the count."""
        buckets = {}
        for (name, labels), value in self.samples.items():
            if name.endswith("_bucket"):
                others = tuple(pair for pair in labels if pair[0] != "le")
                bound = float(dict(labels)["le"])
                buckets.setdefault(others, []).append((bound, value))
        assert buckets
        for labels, pairs in buckets.items():
            assert pairs == sorted(pairs), self.name
            assert [v for _, v in pairs] == sorted(v for _, v in pairs)
            assert len({bound for bound, _ in pairs}) == len(pairs)
            assert pairs[-1][0] == math.inf
            assert self.samples[(self.name + "_count", labels)] == \
                pairs[-1][1]
            assert (self.name + "_sum", labels) in self.samples


def parse_labels(text):
    """A tuple of sorted pairs; every character must be accounted for."""
    if text is None:
        return ()
    pairs = LABEL.findall(text)
    assert ",".join(f'{name}="{value}"' for name, value in pairs) == text, text
    assert len(dict(pairs)) == len(pairs), text
    return tuple(sorted(pairs))


def parse(text, is_open=False):
    """Every family by name; whatever is not in order is an assertion."""
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    if is_open:
        assert lines.pop() == "# EOF"
    families = {}
    family = None
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in families, f"{name} comes twice"
            family = families[name] = Family(name, kind, is_open)
        elif line.startswith("# HELP "):
            _, _, name, words = line.split(" ", 3)
            assert name == family.name and family.help is None and words
            family.help = words
        elif line.startswith("# UNIT "):
            _, _, name, unit = line.split(" ")
            assert is_open and name == family.name and not family.samples
            assert name.endswith("_" + unit), line
            family.unit = unit
        else:
            match = SAMPLE.fullmatch(line)
            assert match, f"not a sample: {line!r}"
            name, labels, value = match.groups()
            family.add(name, parse_labels(labels), float(value))
    for family in families.values():
        if family.kind == "histogram":
            family.check_histograms()
    return families


def metrics(proxy):
    _, _, body = request(proxy, "GET", "/metrics")
    return parse(body.decode())


class Counted:
    """The metrics of a pool at one moment."""

    def __init__(self, proxy, pool="demo"):
        self.pool = pool
        self.families = metrics(proxy)

    def value(self, name, **labels):
        """The sum of the samples with these labels; 0 for none."""
        family = self.families[f"pointsman_{name}"]
        wanted = {"pool": self.pool, **labels}.items()
        return sum(value for (sample, have), value in family.samples.items()
                   if sample == family.name and wanted <= dict(have).items())

    def observations(self, name):
        family = self.families[f"pointsman_{name}"]
        return sum(value for (sample, have), value in family.samples.items()
                   if sample.endswith("_count") and
                   dict(have)["pool"] == self.pool)


# --- /metrics ---------------------------------------------------------------

def test_metrics_are_well_formed_in_the_older_format(proxy):
    status, headers, body = request(proxy, "GET", "/metrics")
    assert status == 200
    assert headers["Content-Type"] == \
        "text/plain; version=0.0.4; charset=utf-8"
    families = parse(body.decode())
    build = families["pointsman_build_info"]
    assert build.kind == "gauge" and list(build.samples.values()) == [1]
    assert families["pointsman_pool_requests_total"].kind == "counter"
    assert families["pointsman_server_connections"].kind == "gauge"
    assert families["pointsman_pool_latency_seconds"].kind == "histogram"
    assert families["pointsman_server_latency_seconds"].kind == "histogram"


def test_metrics_are_well_formed_as_openmetrics(proxy):
    proxy.client().set("a", 1)
    status, headers, body = request(
        proxy, "GET", "/metrics",
        {"Accept": OPEN_METRICS + ";q=0.75,text/plain;version=0.0.4;q=0.5"})
    assert status == 200
    assert headers["Content-Type"] == OPEN_METRICS
    families = parse(body.decode(), is_open=True)
    assert families["pointsman_build"].kind == "info"
    assert families["pointsman_pool_requests"].kind == "counter"
    assert families["pointsman_pool_request_bytes"].unit == "bytes"
    assert families["pointsman_pool_latency_seconds"].unit == "seconds"


def test_every_pool_and_server_is_there_before_any_traffic(proxy):
    families = metrics(proxy)

    def labels(name):
        return {tuple(value for _, value in have)
                for _, have in families[name].samples}

    assert labels("pointsman_pool_requests_total") == {("demo",), ("other",)}
    assert labels("pointsman_server_requests_total") == {
        ("demo", "a"), ("demo", "b"), ("other", "a")}
    assert set(families["pointsman_server_requests_total"].samples
               .values()) == {0}
    assert families["pointsman_pool_commands_total"].samples == {}


@pytest.mark.parametrize("group, table", [
    ("pool", "session/session_stats.def"),
    ("server", "upstream/server_stats.def"),
    ("worker", "admin/worker_stats.def"),
    ("stats", "admin/port_stats.def")])
def test_every_row_of_the_tables_is_on_the_page(proxy, group, table):
    with open(os.path.join(REPO, "proxy", table), encoding="utf-8") as file:
        rows = re.findall(r"^STAT\((\w+), (\w+)", file.read(), re.MULTILINE)
    assert rows
    families = metrics(proxy)
    for name, kind in rows:
        name = f"pointsman_{group}_{name.removeprefix(group + '_')}"
        name += "_total" if kind == "COUNTER" else ""
        assert families[name].kind == kind.lower()


def test_the_process_describes_itself(proxy):
    families = metrics(proxy)

    def value(name):
        (only,) = families[name].samples.values()
        return only

    assert value("pointsman_ready") == 1
    assert value("pointsman_workers") == 1
    assert value("pointsman_maxclients") == 500
    assert 0 < value("pointsman_uptime_seconds") < 600
    assert abs(value("process_start_time_seconds") - time.time()) < 600
    assert value("process_resident_memory_bytes") > 1_000_000
    assert value("process_cpu_seconds_total") > 0


@pytest.mark.threads
def test_requests_are_counted_by_the_right_amounts(world):
    proxy = start(world, workers=2)
    raw = proxy.raw("demo")
    commands = [("SET", f"key{i}", "x" * i) for i in range(30)]
    commands += [("GET", f"key{i}") for i in range(20)]
    sent = b"".join(encode(*words) for words in commands)
    replies = raw.pipeline(*commands)

    def counted():
        now = Counted(proxy)
        assert now.value("pool_requests_total") == 50
        assert now.value("pool_replies_total") == 50
        return now

    now = eventually(counted)
    assert now.value("pool_request_bytes_total") == len(sent)
    assert now.value("pool_reply_bytes_total") == sum(map(len, replies))
    assert now.value("pool_commands_total", command="set") == 30
    assert now.value("pool_commands_total", command="get") == 20
    assert now.value("pool_commands_total") == 50
    assert now.value("pool_requests_in_flight") == 0
    assert now.observations("pool_latency_seconds") == 50
    assert now.value("server_requests_total") == 50
    assert now.value("server_responses_total") == 50
    assert now.observations("server_latency_seconds") == 50
    assert all(now.value("server_requests_total", server=name) > 0
               for name in "ab")
    assert Counted(proxy, "other").value("pool_requests_total") == 0


def test_connections_are_counted_and_the_reason_of_their_end(proxy):
    raw = proxy.raw("demo")
    raw.command("PING")
    now = Counted(proxy)
    assert now.value("pool_client_connections") == 1
    assert now.value("pool_clients_accepted_total") == 1
    raw.close()

    def gone():
        later = Counted(proxy)
        assert later.value("pool_client_connections") == 0
        return later

    later = eventually(gone)
    assert later.value("pool_client_eof_total") == 1
    assert later.value("pool_closed_total", reason="client_eof") == 1
    assert later.value("pool_closed_total") == 1


def test_errors_are_counted_by_kind(proxy):
    raw = proxy.raw("demo")
    assert raw.command("SET", "k", "text") == b"+OK\r\n"
    for words in [("NOSUCH", "a"), ("GET",), ("SHUTDOWN",), ("INCR", "k")]:
        assert raw.command(*words).startswith(b"-"), words
    now = eventually(lambda: Counted(proxy))
    assert now.value("pool_errors_unknown_command_total") == 1
    assert now.value("pool_errors_arity_total") == 1
    assert now.value("pool_errors_refused_total") == 1
    assert now.value("pool_command_failed_total", command="incr") == 1
    assert now.value("pool_command_rejected_total", command="get") == 1
    assert now.value("pool_error_replies_total", code="ERR") == 4
    assert now.value("pool_errors_server_total") == 1
    assert now.value("pool_forward_error_total") == 3


@pytest.mark.threads
def test_every_worker_says_how_many_clients_it_has(world):
    proxy = start(world, workers=2)
    clients = [proxy.raw("demo") for _ in range(10)]
    for client in clients:
        client.command("PING")

    def spread():
        samples = metrics(proxy)["pointsman_worker_sessions"].samples
        counts = {dict(labels)["worker"]: value
                  for (_, labels), value in samples.items()}
        assert set(counts) == {"0", "1"}
        assert sum(counts.values()) == 10 and min(counts.values()) > 0
        return True

    eventually(spread)


# --- twemproxy's JSON -------------------------------------------------------

def test_a_client_that_says_nothing_is_given_the_json(proxy):
    with connect(proxy) as sock:
        text = read_all(sock)
    assert text.endswith(b"}\n") and text.count(b"\n") == 1
    stats = json.loads(text)
    assert stats["service"] == "pointsman"
    assert stats["source"] == socket.gethostname()
    assert set(stats) >= {"demo", "other", "uptime", "timestamp"}


def test_a_client_that_only_reads_need_not_wait(proxy):
    with connect(proxy) as sock:
        sock.shutdown(socket.SHUT_WR)
        assert json.loads(read_all(sock))["demo"]["client_eof"] == 0


def test_a_request_may_be_slow_once_it_has_begun(proxy):
    with connect(proxy) as slow, connect(proxy) as silent:
        slow.sendall(b"G")
        assert b"demo" in read_all(silent)
        slow.sendall(b"ET /healthz HTTP/1.1\r\nHost: a\r\n"
                     b"Connection: close\r\n\r\n")
        assert read_all(slow).startswith(b"HTTP/1.1 200 OK\r\n")


@pytest.mark.skipif(NUTCRACKER is None, reason="nutcracker is not installed")
def test_the_json_has_the_fields_of_nutcracker(world, proxy):
    port, stats = free_port(), free_port()
    path = f"{world.folder}/nutcracker.yml"
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"demo:\n  listen: 127.0.0.1:{port}\n  redis: true\n"
                   "  servers:\n"
                   "    - 127.0.0.1:1:1 a\n    - 127.0.0.1:2:1 b\n")
    world.process("nutcracker", [NUTCRACKER, "-c", path, "-a", "127.0.0.1",
                                 "-s", str(stats)])

    def ask():
        with socket.create_connection(("127.0.0.1", stats), 5) as sock:
            return json.loads(read_all(sock))

    theirs, ours = eventually(ask), proxy.stats.json()
    del ours["other"]
    assert set(ours) == set(theirs)
    assert set(ours["demo"]) == set(theirs["demo"])
    assert set(ours["demo"]["a"]) == set(theirs["demo"]["a"])
    for name in set(ours) - {"demo"}:
        assert type(ours[name]) is type(theirs[name]), name


def test_the_json_counts_what_happens(proxy):
    client = proxy.client("demo")
    for i in range(40):
        client.set(f"key{i}", i)

    def counted():
        stats = proxy.stats.json()
        demo = stats["demo"]
        assert sum(demo[name]["requests"] for name in "ab") == 40
        assert sum(demo[name]["responses"] for name in "ab") == 40
        return stats

    stats = eventually(counted)
    assert stats["demo"]["client_connections"] == 1
    assert stats["demo"]["a"]["server_connections"] == 1
    assert stats["demo"]["a"]["request_bytes"] > 0
    assert stats["curr_connections"] == 3
    assert stats["total_connections"] == 3
    assert stats["other"]["a"]["requests"] == 0


# --- pages, health, manners -------------------------------------------------

def test_health_and_readiness_are_told_by_status(proxy):
    assert proxy.stats.get("/healthz") == (200, "ok\n")
    status, text = proxy.stats.get("/readyz")
    assert status == 200
    assert text == "process: ready\npool demo: ready\npool other: ready\n"
    assert proxy.stats.get("/readyz?pool=other") == (
        200, "process: ready\npool other: ready\n")
    assert proxy.stats.get("/readyz?pool=nosuch")[0] == 404


def test_a_proxy_that_drains_is_alive_but_not_ready(world, proxy):
    raw = proxy.raw("demo")
    assert raw.command("SET", "k", "v") == b"+OK\r\n"
    for server in world.servers:
        server.pause()
    raw.send_command("GET", "k")
    eventually(lambda: Counted(proxy).value("pool_requests_in_flight") == 1)
    proxy.signal(signal.SIGTERM)
    eventually(lambda: proxy.stats.get("/readyz")[0] == 503)
    assert proxy.stats.get("/readyz?pool=demo")[0] == 503
    assert proxy.stats.get("/healthz")[0] == 200
    for server in world.servers:
        server.resume()
    assert raw.read_reply() == b"$1\r\nv\r\n"
    assert proxy.wait() == 0


def test_the_page_for_people_names_pools_and_servers(proxy):
    status, headers, body = request(proxy, "GET", "/")
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    text = body.decode()
    assert "<td>demo</td>" in text and "<td>b</td>" in text
    assert proxy.address("demo") in text
    assert "<script" not in text


def test_head_gives_the_head_only(proxy):
    for path in ["/", "/metrics", "/stats.json", "/healthz", "/readyz"]:
        status, headers, body = request(proxy, "HEAD", path)
        assert status == 200 and body == b"", path
        assert int(headers["Content-Length"]) > 0, path


def test_what_is_not_there_is_404_and_what_is_not_reading_405(proxy):
    assert proxy.stats.get("/nosuch")[0] == 404
    assert proxy.stats.get("/metrics/")[0] == 404
    status, headers, _ = request(proxy, "POST", "/metrics")
    assert status == 405 and headers["Allow"] == "GET, HEAD"


def test_a_connection_serves_many_requests(proxy):
    connection = http.client.HTTPConnection(
        proxy.stats.host, proxy.stats.port, timeout=seconds(10))
    connection.connect()
    first = connection.sock
    for path in ["/metrics", "/stats.json", "/healthz"] * 5:
        connection.request("GET", path)
        response = connection.getresponse()
        assert response.status == 200 and response.read()
    assert connection.sock is first
    connection.close()


def test_rubbish_is_refused_and_harms_nobody(proxy):
    for rubbish in [b"\0\1\2\3\r\n\r\n", b"PING\r\n\r\n", b"GET /\r\n\r\n",
                    b"GET / HTTP/1.1\r\n" + b"x" * 100_000,
                    b"GET /" + b"y" * 100_000]:
        with connect(proxy) as sock:
            # Some of it is taken for the beginning of a request.
            sock.settimeout(seconds(0.5))
            try:
                sock.sendall(rubbish)
                answer = sock.recv(65536)
            except OSError:
                answer = b""
            assert b" 200 OK" not in answer, rubbish[:20]
        assert proxy.stats.get("/healthz")[0] == 200


def test_connections_are_bounded_and_given_back(proxy):
    socks = []
    for _ in range(CONNECTIONS + 20):
        socks.append(connect(proxy))
        try:
            # At once: whoever is silent for long is given the json.
            socks[-1].sendall(b"GET /healthz")
        except OSError:
            pass
    eventually(lambda: sum(map(is_closed, socks)) == 20)
    assert proxy.raw("demo").command("PING") == b"+PONG\r\n"
    for sock in socks:
        sock.close()
    eventually(lambda: proxy.stats.get("/healthz")[0] == 200)
    families = metrics(proxy)
    refused = families["pointsman_stats_refused_total"].samples
    assert list(refused.values())[0] >= 20

    def given_back():
        count = metrics(proxy)["pointsman_stats_connections"].samples
        return list(count.values()) == [1]

    eventually(given_back)


def test_a_client_that_does_not_read_holds_nobody_up(proxy):
    with connect(proxy) as sock:
        sock.settimeout(seconds(0.2))
        try:
            for _ in range(2000):
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
        except TimeoutError:
            pass
        assert proxy.stats.get("/healthz")[0] == 200
        assert proxy.raw("demo").command("PING") == b"+PONG\r\n"


# --- INFO -------------------------------------------------------------------

def test_info_is_what_client_libraries_look_for(proxy):
    client = proxy.client("demo")
    client.set("a", 1)
    info = client.info()
    assert info["redis_version"] == "7.0.15"
    assert info["redis_mode"] == "standalone"
    assert info["role"] == "master" and info["connected_slaves"] == 0
    assert info["loading"] == 0 and info["cluster_enabled"] == 0
    assert info["process_id"] == proxy.pid
    assert info["tcp_port"] == proxy.port("demo")
    assert info["connected_clients"] == 1 and info["maxclients"] == 500
    assert info["used_memory"] > 0 and info["uptime_in_seconds"] >= 0
    assert info["total_commands_processed"] >= 1
    assert info["pointsman_pool"] == "demo"


def headings(proxy, *sections):
    reply = proxy.raw("demo").command("INFO", *sections)
    assert reply.startswith(b"$") and reply.endswith(b"\r\n")
    body = reply.split(b"\r\n", 1)[1][:-2]
    assert all(line == b"" or line.startswith(b"# ") or b":" in line
               for line in body.split(b"\r\n"))
    return re.findall(rb"^# (\w+)", body, re.MULTILINE)


def test_info_gives_the_sections_asked_for(proxy):
    everything = [b"Server", b"Clients", b"Memory", b"Persistence", b"Stats",
                  b"Replication", b"CPU", b"Modules", b"Commandstats",
                  b"Errorstats", b"Latencystats", b"Cluster", b"Keyspace"]
    assert headings(proxy, "all") == headings(proxy, "Everything") == everything
    del everything[10], everything[8]
    assert headings(proxy) == headings(proxy, "DEFAULT") == everything
    assert headings(proxy, "cpu", "SERVER", "nosuch") == [b"Server", b"CPU"]
    assert headings(proxy, "nosuch") == []
