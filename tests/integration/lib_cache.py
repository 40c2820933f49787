"""A client that keeps what it reads until it is told that it was changed."""

from harness import eventually
from resp import encode


class Cache:
    """What a client of CLIENT TRACKING believes: the last answer to GET.

    It may be told over another connection.
    """

    def __init__(self, raw, *options, told_over=None):
        self.raw = raw
        self.other = told_over
        if told_over is not None:
            told_over.command("HELLO", 3)
            number = told_over.command("CLIENT", "ID")[1:-2].decode()
            options = [*options, "REDIRECT", number]
        self.values = {}
        self.told = 0
        self.told_all = 0
        raw.command("HELLO", 3)
        assert raw.command("CLIENT", "TRACKING", "ON", *options) == b"+OK\r\n"

    def _take_push(self, frame):
        words = frame.split(b"\r\n")
        assert words[2] == b"invalidate", frame
        self.told += 1
        if words[3] == b"_":
            self.told_all += 1
            self.values.clear()
        for key in words[5::2]:
            self.values.pop(key.decode(), None)

    def _read(self):
        """The next answer; what it is told on the way it heeds."""
        while (frame := self.raw.read_reply()).startswith(b">"):
            self._take_push(frame)
        return frame

    def ask(self, keys):
        self.raw.send(b"".join(encode("GET", key) for key in keys))

    def take(self, keys):
        for key in keys:
            answer = self._read()
            if answer.startswith(b"-"):
                self.values.pop(key, None)
            else:
                self.values[key] = answer

    def heed(self):
        """Hear what has been told by now."""
        for raw in filter(None, [self.raw, self.other]):
            raw.send_command("PING")
            while (frame := raw.read_reply()) != b"+PONG\r\n":
                self._take_push(frame)

    def believes_only(self, truth):
        """Of what it has: is all of it true?"""
        self.heed()
        return all(value == truth(key) for key, value in self.values.items())


def race(cache, writer, keys, rounds, between=None):
    """Read all keys while they are written, again and again.

    Each round adds 1 to each key; whatever the cache has of them when all is
    quiet must be that.
    """
    for number in range(1, rounds + 1):
        writes = [encode("SET", key, number) for key in keys]
        cache.ask(keys)
        writer.send(b"".join(writes))
        cache.ask(keys)
        if between is not None:
            between(number)
        for answer in writer.read_replies(len(keys)):
            assert answer == b"+OK\r\n"
        cache.take([*keys, *keys])
        text = str(number)
        value = f"${len(text)}\r\n{text}\r\n".encode()
        eventually(lambda: cache.believes_only(lambda _: value), 10,
                   f"a cache without old values in round {number}")
