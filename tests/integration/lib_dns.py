"""A small name server, whose answers a test writes.

    dns = NameServer()
    dns.set("cache.test", a=["127.0.0.2"], ttl=1)
    dns.set("cache.test", a=["127.0.0.1"], aaaa=["::1"])
    dns.set("cache.test", rcode=SERVFAIL)
    dns.silent = True

It answers by UDP and TCP on one port of 127.0.0.1.  A name that was never set
does not exist.  Whoever sets `truncate` makes UDP answers empty, so that they
are asked for by TCP.
"""

import socket
import socketserver
import struct
import threading

NOERROR, SERVFAIL, NXDOMAIN = 0, 2, 3
TYPE_A, TYPE_AAAA = 1, 28


class Answer:
    def __init__(self, rcode, addresses, ttl, failing=()):
        self.rcode = rcode
        self.failing = failing  # types that are answered SERVFAIL
        self.addresses = addresses  # by type, as bytes
        self.ttl = ttl


def read_question(query):
    """The name and the type that are asked for, and where the question ends."""
    labels, at = [], 12
    while query[at] != 0:
        labels.append(query[at + 1:at + 1 + query[at]].decode("ascii"))
        at += 1 + query[at]
    kind = struct.unpack_from(">H", query, at + 1)[0]
    return ".".join(labels).lower(), kind, at + 5


class Udp(socketserver.BaseRequestHandler):
    def handle(self):
        query, sock = self.request
        answer = self.server.owner.answer(query, is_udp=True)
        if answer is not None:
            sock.sendto(answer, self.client_address)


class Tcp(socketserver.StreamRequestHandler):
    def handle(self):
        while len(head := self.rfile.read(2)) == 2:
            query = self.rfile.read(struct.unpack(">H", head)[0])
            answer = self.server.owner.answer(query, is_udp=False)
            if answer is None:
                return
            self.wfile.write(struct.pack(">H", len(answer)) + answer)


class NameServer:
    def __init__(self):
        self.answers = {}
        self.questions = []  # names and types, in the order asked
        self.silent = False
        self.truncate = False
        self.lock = threading.Lock()
        self._bind()
        for server in self.udp, self.tcp:
            server.owner = self
            threading.Thread(target=server.serve_forever,
                             kwargs={"poll_interval": 0.05},
                             daemon=True).start()

    def _bind(self):
        """One port that is free for both."""
        for _ in range(20):
            self.udp = socketserver.ThreadingUDPServer(
                ("127.0.0.1", 0), Udp)
            self.port = self.udp.server_address[1]
            try:
                self.tcp = socketserver.ThreadingTCPServer(
                    ("127.0.0.1", self.port), Tcp)
                self.tcp.daemon_threads = True
                return
            except OSError:
                self.udp.server_close()
        raise AssertionError("no port is free for UDP and TCP")

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def set(self, name, a=(), aaaa=(), rcode=NOERROR, ttl=0, failing=()):
        """What is answered from now on."""
        addresses = {
            TYPE_A: [socket.inet_pton(socket.AF_INET, one) for one in a],
            TYPE_AAAA: [socket.inet_pton(socket.AF_INET6, one)
                        for one in aaaa],
        }
        with self.lock:
            self.answers[name.lower()] = Answer(rcode, addresses, ttl,
                                                failing)

    def count(self, name, kind=TYPE_A):
        """How often it was asked."""
        with self.lock:
            return self.questions.count((name, kind))

    def answer(self, query, is_udp):
        name, kind, end = read_question(query)
        with self.lock:
            self.questions.append((name, kind))
            if self.silent:
                return None
            found = self.answers.get(name, Answer(NXDOMAIN, {}, 0))
            truncate = self.truncate and is_udp
        records = [] if truncate else found.addresses.get(kind, [])
        rcode = SERVFAIL if kind in found.failing else found.rcode
        flags = 0x8180 | rcode | (0x0200 if truncate else 0)
        message = query[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0,
                                          0) + query[12:end]
        for record in records:
            message += struct.pack(">HHHIH", 0xc00c, kind, 1, found.ttl,
                                   len(record)) + record
        return message

    def close(self):
        for server in self.udp, self.tcp:
            server.shutdown()
            server.server_close()
