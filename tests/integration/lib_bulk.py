"""Big values without holding them, memory, and files of a process."""

import random
import resource

from harness import SLOW, eventually
from resp import encode

MB = 1 << 20

# A prime number of bytes, so that no power of two hides a piece that is
# missing or stands in the wrong place.
PERIOD = 999_983
BLOCK = random.Random(1).randbytes(PERIOD)
TWICE = memoryview(BLOCK + BLOCK + BLOCK)


def scaled(size):
    """A size for a plain build, smaller in a slow one."""
    return max(int(size / SLOW), 1)


def pattern(pos, size):
    """Bytes pos to pos + size of an endless value; size is one PERIOD at
    most twice."""
    start = pos % PERIOD
    return TWICE[start:start + size]


def value(size):
    """The first bytes of the endless value."""
    return (BLOCK * (size // PERIOD + 1))[:size]


def send_value(raw, size, start=0):
    """The bytes start to size of the endless value, and no CRLF."""
    pos = start
    while pos < size:
        step = min(PERIOD, size - pos)
        raw.socket.sendall(pattern(pos, step))
        pos += step


def big_request(size, *words):
    """A request whose last word, of `size` bytes, is still to come."""
    head = encode(*words, b"")
    count = b"*%d\r\n" % (len(words) + 1)
    assert head.startswith(count) and head.endswith(b"$0\r\n\r\n")
    return head[:-len(b"$0\r\n\r\n")] + b"$%d\r\n" % size


def upload(raw, size, *words):
    """Send a request with the endless value as its last word."""
    raw.send(big_request(size, *words))
    send_value(raw, size)
    raw.send(b"\r\n")


def read_line(raw):
    """A line of a reply, without its end."""
    while b"\r\n" not in raw.buffer:
        data = raw.socket.recv(1 << 16)
        assert data, "closed"
        raw.buffer += data
    line, _, rest = bytes(raw.buffer).partition(b"\r\n")
    raw.buffer[:] = rest
    return line


def check_value(raw, size):
    """Read a bulk string and see that it is the endless value."""
    assert read_line(raw) == b"$%d" % size
    pos = 0
    room = bytearray(1 << 18)
    while pos < size + 2:
        if raw.buffer:
            piece = bytes(raw.buffer[:len(room)])
            del raw.buffer[:len(piece)]
        else:
            want = min(len(room), size + 2 - pos)
            got = raw.socket.recv_into(memoryview(room)[:want])
            assert got > 0, f"closed after {pos} bytes"
            piece = memoryview(room)[:got]
        mine = max(min(len(piece), size - pos), 0)
        # Of two memoryviews Python would compare every byte by itself.
        assert bytes(piece[:mine]) == bytes(pattern(pos, mine)), \
            f"wrong bytes near {pos}"
        if mine < len(piece):
            end = pos + mine - size
            wanted = b"\r\n"[end:end + len(piece) - mine]
            assert bytes(piece[mine:mine + len(wanted)]) == wanted
            raw.buffer[:0] = piece[mine + len(wanted):]
            mine += len(wanted)
        pos += mine


class Memory:
    """How a process grows from now on."""

    def __init__(self, process):
        self.pid = process.pid
        self.before = self._field("VmRSS")
        with open(f"/proc/{self.pid}/clear_refs", "w",
                  encoding="ascii") as file:
            file.write("5")

    def _field(self, name):
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
        raise AssertionError(name)

    def growth(self):
        """Resident bytes more than at first."""
        return self._field("VmRSS") - self.before

    def peak(self):
        """The most that this has been."""
        return self._field("VmHWM") - self.before

    def wait_until_back(self, limit, timeout=15):
        """Wait until it has grown by less than `limit` bytes."""
        try:
            eventually(lambda: self.growth() < limit, timeout,
                       "memory to be given back")
        except AssertionError as error:
            raise AssertionError(
                f"{error}, {self.growth() / MB:.2f} MB are held") from error


def raise_file_limit(wanted):
    """Let this process and its children have so many files open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        hard = wanted       # needs to be root, and says so if not
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
