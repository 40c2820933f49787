"""What ten thousand clients cost that do nothing."""

import selectors
import socket

import pytest

from harness import SLOW, eventually, seconds
from lib_bulk import MB, Memory, raise_file_limit
from resp import encode

CLIENTS = 9800
LIMIT = 6 * MB

CONFIG = """
    pointsman:
      workers: $workers
      maxclients: 10000
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
"""


def connect_many(port, count):
    """So many connections, each of which has asked and was answered."""
    request = encode("GET", "greeting")
    wanted = b"$5\r\nhello\r\n"
    clients = []
    selector = selectors.DefaultSelector()
    for _ in range(count):
        client = socket.create_connection(("127.0.0.1", port), seconds(20))
        client.sendall(request)
        selector.register(client, selectors.EVENT_READ)
        clients.append(client)
    unanswered = count
    while unanswered > 0:
        events = selector.select(seconds(20))
        assert events, f"{unanswered} clients were not answered"
        for key, _ in events:
            assert key.fileobj.recv(100) == wanted
            selector.unregister(key.fileobj)
            unanswered -= 1
    selector.close()
    return clients


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.plain_only
def test_an_idle_client_costs_little_and_nothing_when_gone(world, workers):
    raise_file_limit(2 * CLIENTS)
    server = world.server()
    server.client().set("greeting", "hello")
    proxy = world.proxy(CONFIG, a=server.address, workers=workers)
    memory = Memory(proxy)
    clients = connect_many(proxy.port(), CLIENTS)
    try:
        memory.wait_until_back(LIMIT)
        growth = memory.growth()
        print(f"{len(clients)} clients: grown by {growth / MB:.2f} MB, "
              f"{growth / len(clients):.0f} bytes each")
        assert proxy.stats.value("pointsman_pool_client_connections") \
            == CLIENTS
    finally:
        for client in clients:
            client.close()
    eventually(lambda: proxy.stats.value(
        "pointsman_pool_client_connections") == 0)
    memory.wait_until_back(LIMIT // 2)


def test_thousands_of_clients_come_and_go(world):
    """The same under sanitizers, with fewer."""
    count = int(2000 / SLOW)
    raise_file_limit(2 * count + 100)
    server = world.server()
    server.client().set("greeting", "hello")
    proxy = world.proxy(CONFIG, a=server.address, workers=2)
    for _ in range(3):
        clients = connect_many(proxy.port(), count)
        for client in clients:
            client.close()
        eventually(lambda: proxy.stats.value(
            "pointsman_pool_client_connections") == 0)
    files = proxy.fd_count()
    assert files < 30, files
