"""Why clients were not taken: counted, and logged, but not without end.

The other reasons of base/close_reason.def have their cases in tests/replay.
"""

import pytest

from harness import eventually
from lib_freeze import frozen
from resp import encode

CONFIG = """
    pointsman:
      workers: 1
      stats: 127.0.0.1:0
      maxclients: $maxclients
      log_repeats: $repeats
    demo:
      listen: 127.0.0.1:0
      redis: true
      client_connections: $pool_clients
      servers: ["$a:1 a"]
"""

TOO_MANY = b"-ERR max number of clients reached\r\n"


def start(world, **values):
    values = {"maxclients": 100, "pool_clients": 0, "repeats": 10, **values}
    return world.proxy(CONFIG, a=world.server().address, **values)


def refuse(proxy, count):
    """Clients one too many."""
    for _ in range(count):
        with proxy.raw() as raw:
            assert raw.read_reply() == TOO_MANY
            assert raw.is_closed()


@pytest.mark.parametrize("reason, values", [
    ("refused_maxclients", {"maxclients": 2}),
    ("refused_pool_clients", {"pool_clients": 2}),
])
def test_a_client_that_is_refused_leaves_a_reason(world, reason, values):
    proxy = start(world, **values)
    inside = [proxy.raw() for _ in range(2)]
    for raw in inside:
        assert raw.command("PING") == b"+PONG\r\n"
    refuse(proxy, 3)
    assert proxy.stats.value("pointsman_pool_closed_total", pool="demo",
                             reason=reason) == 3
    assert proxy.stats.value("pointsman_pool_clients_refused_total") == 3
    events = proxy.events("client refused", level="warn", pool="demo",
                          reason=reason)
    assert len(events) == 3
    assert all(raw.command("PING") == b"+PONG\r\n" for raw in inside)


BUSY = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      gather_timeout: 10ms
    demo:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
"""
MAILBOX_SIZE = 65536
WINDOW = 1024


def test_a_client_is_refused_while_its_worker_takes_no_messages(world):
    """The worker stands still, and questions to all workers fill its box."""
    reason = "refused_busy"
    proxy = world.proxy(BUSY, a=world.server().address)
    first, second = proxy.raw(), proxy.raw()
    assert first.command("PING") == second.command("PING") == b"+PONG\r\n"
    first.close()
    eventually(lambda: proxy.stats.value("pointsman_worker_sessions",
                                         worker="0") == 0)
    with frozen(proxy.worker_threads()[0]):
        for _ in range(MAILBOX_SIZE // WINDOW + 1):
            second.send(encode("CLIENT", "LIST") * WINDOW)
            for _ in range(WINDOW):
                assert second.read_reply().startswith(b"$")
        refuse(proxy, 2)
        assert proxy.stats.value("pointsman_pool_closed_total",
                                 reason=reason) == 2
        assert len(proxy.events("client refused", reason=reason)) == 2
    def is_served():
        with proxy.raw() as raw:
            return raw.command("PING") == b"+PONG\r\n"

    eventually(is_served, 20)


def test_repeated_lines_are_counted_instead_of_written(world):
    proxy = start(world, maxclients=1, repeats=3)
    inside = proxy.raw()
    assert inside.command("PING") == b"+PONG\r\n"
    refuse(proxy, 25)
    assert len(proxy.events("client refused")) == 3
    told = proxy.wait_for_event("repeated", timeout=20)
    assert told["line"] == "client refused"
    assert told["pool"] == "demo"
    assert told["key"] == "refused_maxclients"
    assert told["level"] == "warn"
    refuse(proxy, 5)
    proxy.stop()
    written = len(proxy.events("client refused"))
    held = sum(int(event["times"]) for event in proxy.events("repeated"))
    assert written + held == 30


def test_a_server_that_is_away_does_not_fill_the_log(world):
    """And what the log has agrees with what was counted."""
    server = world.server()
    proxy = world.proxy(CONFIG, a=server.address, maxclients=100,
                        pool_clients=0, repeats=5)
    server.kill()
    raw = proxy.raw()
    for _ in range(40):
        raw.send(encode("GET", "k") * 50)
        for _ in range(50):
            assert raw.read_reply().startswith(b"-CLUSTERDOWN ")
    raw.close()
    closed = proxy.stats.value("pointsman_server_closed_total", server="a",
                               reason="server_connect")
    assert closed >= 1
    assert proxy.stats.value(
        "pointsman_pool_errors_unreachable_total") == 2000
    proxy.stop()
    lines = proxy.events("connection to server ended", server="a",
                         reason="server_connect")
    held = sum(int(event["times"]) for event in proxy.events("repeated"))
    assert 0 < len(lines) <= closed <= len(lines) + held
    assert len(proxy.log().splitlines()) < 100
