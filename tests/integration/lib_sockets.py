"""What the kernel knows about the connections of this machine."""

import os
import socket
import struct
import time

from harness import seconds

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ANY_STATE = 0xffffffff
ANY_COOKIE = b"\xff" * 8
LOOPBACK = socket.inet_aton("127.0.0.1")

NETLINK_HEADER = struct.Struct("=IHHII")
SOCKET_ID_SIZE = 48
QUEUES_AT = NETLINK_HEADER.size + 4 + SOCKET_ID_SIZE + 4


def ask_about(port, peer_port):
    """A question of sock_diag(7) about one TCP connection of 127.0.0.1."""
    query = struct.pack("=BBBxI", socket.AF_INET, socket.IPPROTO_TCP, 0,
                        ANY_STATE)
    socket_id = struct.pack("!HH4s12x4s12xI8s", port, peer_port, LOOPBACK,
                            LOOPBACK, 0, ANY_COOKIE)
    size = NETLINK_HEADER.size + len(query) + len(socket_id)
    return NETLINK_HEADER.pack(size, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1,
                               0) + query + socket_id


def unread_bytes(port, peer_port):
    """Bytes that have come for the socket at `port` and are not read yet."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW,
                       NETLINK_SOCK_DIAG) as netlink:
        netlink.send(ask_about(port, peer_port))
        answer = netlink.recv(4096)
    kind = NETLINK_HEADER.unpack_from(answer)[1]
    assert kind == SOCK_DIAG_BY_FAMILY, f"no connection {peer_port} -> {port}"
    return struct.unpack_from("=I", answer, QUEUES_AT)[0]


def wait_until_read(raw):
    """Wait until the other side of a RawClient has read all that was sent."""
    port = raw.socket.getpeername()[1]
    own_port = raw.socket.getsockname()[1]
    deadline = time.monotonic() + seconds(10)
    while unread_bytes(port, own_port) > 0:
        assert time.monotonic() < deadline, "what was sent is not read"
        os.sched_yield()
