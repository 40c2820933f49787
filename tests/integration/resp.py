"""A client that shows the very bytes of every reply, RESP2 and RESP3."""

import socket

LINES = b"+-:_,#("        # one line is all there is
BULKS = b"$=!"            # a length, then so many bytes
AGGREGATES = b"*~>"       # a count, then so many replies
PAIRS = b"%|"             # a count, then twice as many


def encode(*words):
    """One request as an array of bulk strings."""
    parts = [b"*%d\r\n" % len(words)]
    for word in words:
        if not isinstance(word, bytes):
            word = str(word).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(word), word))
    return b"".join(parts)


class RawClient:
    """A socket that knows where a reply ends and nothing more."""

    def __init__(self, host, port, timeout, room=None):
        self.socket = socket.socket(
            socket.AF_INET6 if ":" in host else socket.AF_INET)
        if room is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(timeout)
        self.socket.connect((host, port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        """Send bytes as they are."""
        self.socket.sendall(data)

    def send_command(self, *words):
        self.send(encode(*words))

    def command(self, *words):
        """Send a request and return the bytes of its reply."""
        self.send_command(*words)
        return self.read_reply()

    def pipeline(self, *commands):
        """Send requests, each a list of words, at once; list of replies."""
        self.send(b"".join(encode(*words) for words in commands))
        return self.read_replies(len(commands))

    def read_replies(self, count):
        return [self.read_reply() for _ in range(count)]

    def read_reply(self):
        """One whole reply, as it came, attributes in front included."""
        pos = 0
        pending = 1
        while pending > 0:
            kind, count, pos = self._read_header(pos)
            pending -= 1
            if kind in BULKS and count >= 0:
                pos += count + 2
                self._fill(pos)
            elif kind in AGGREGATES:
                pending += max(count, 0)
            elif kind in PAIRS:
                # An attribute stands in front of the reply it belongs to.
                pending += 2 * count + (kind == ord("|"))
        reply = bytes(self.buffer[:pos])
        del self.buffer[:pos]
        return reply

    def _read_header(self, pos):
        """Type, number if it has one, and the position behind the line."""
        searched = pos
        while (end := self.buffer.find(b"\r\n", searched)) < 0:
            searched = max(pos, len(self.buffer) - 1)
            self._fill(len(self.buffer) + 1)
        kind = self.buffer[pos]
        if kind in LINES:
            return kind, 0, end + 2
        assert kind in BULKS + AGGREGATES + PAIRS, \
            f"not a reply: {bytes(self.buffer[pos:end])[:80]!r}"
        return kind, int(self.buffer[pos + 1:end]), end + 2

    def _fill(self, size):
        """Read until the buffer holds at least so many bytes."""
        while len(self.buffer) < size:
            data = self.socket.recv(1 << 20)
            if not data:
                raise ConnectionError(
                    f"closed after {bytes(self.buffer[:200])!r}")
            self.buffer += data

    def is_closed(self):
        """Wait for the other side to close; false if it sends something."""
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            return not self.buffer
        self.buffer += data
        return not self.buffer

    def is_quiet(self, period):
        """Whether nothing arrives within `period` seconds."""
        before = self.socket.gettimeout()
        self.socket.settimeout(period)
        try:
            self.buffer += self.socket.recv(1 << 16)
            return False
        except socket.timeout:
            return not self.buffer
        finally:
            self.socket.settimeout(before)
