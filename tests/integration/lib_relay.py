"""A TCP relay that a test puts in the way of two others, to do harm there.

    relay = Relay(port)                  # listens at relay.address
    relay.stop(DOWN)                     # nothing passes, nothing is lost
    relay.after(DOWN, 7, STOP)           # exactly 7 more bytes pass, then that
    relay.cut(RESET)                     # all connections, now
    relay.mend()                         # as if nothing had been

UP is towards the server, DOWN towards the client.  Every connection is a Link.
What happens to a link:

    STOP    no more bytes pass this way until go(); the sender meets a full
            window in the end
    VANISH  half-open: bytes are read and dropped both ways, no end is passed on
    FINISH  both sides see an orderly end
    RESET   both sides see a reset

or the result of inject(), which puts bytes in front of those that come next.
"""

import collections
import select
import socket
import struct
import threading
import time

UP, DOWN = "up", "down"
PIECE = 65536
NO_LINGER = struct.pack("ii", 1, 0)
TICK = 0.002
PING = b"*1\r\n$4\r\nPING\r\n"


class Way:
    """One direction of a link."""

    def __init__(self, link, name, source, sink):
        self.link = link
        self.name = name
        self.source = source
        self.sink = sink
        self.bytes = 0              # passed on
        self.waiting = collections.deque()      # (when due, bytes)
        self.is_stopped = False
        self.is_ended = False       # the source has sent its end
        self.end_is_passed = False

    def receive(self, delay):
        """Read once; the end counts as read too."""
        data = self.source.recv(PIECE)
        if self.name == UP and data not in (b"", PING):
            self.link.used = time.monotonic()
        if not data:
            self.is_ended = True
        elif not self.link.is_void:
            self.waiting.append((time.monotonic() + delay, data))

    def has_due(self):
        return bool(self.waiting) and self.waiting[0][0] <= time.monotonic()

    def send(self, limit):
        """Pass on up to `limit` bytes of the first piece; how many it were."""
        due, data = self.waiting.popleft()
        sent = 0
        try:
            sent = self.sink.send(data[:limit])
        except BlockingIOError:
            pass
        if sent < len(data):
            self.waiting.appendleft((due, data[sent:]))
        self.bytes += sent
        return sent

    def pass_end_on(self):
        self.end_is_passed = True
        try:
            self.sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass        # it has gone before


class Link:
    """One connection through the relay."""

    def __init__(self, client, server):
        self.sockets = (client, server)
        self.is_void = False
        self.is_open = True
        self.used = 0.0             # when more than a PING came last
        self.ways = {UP: Way(self, UP, client, server),
                     DOWN: Way(self, DOWN, server, client)}

    def close(self):
        self.is_open = False
        for sock in self.sockets:
            sock.close()

    def is_over(self):
        """Whoever still speaks is listened to, or it would be reset."""
        return all(way.is_ended if self.is_void else way.end_is_passed
                   for way in self.ways.values())


# --- what can happen to a link --------------------------------------------


def STOP(way):      # pylint: disable=invalid-name
    way.is_stopped = True


def VANISH(way):    # pylint: disable=invalid-name
    way.link.is_void = True
    for each in way.link.ways.values():
        each.waiting.clear()


def FINISH(way):    # pylint: disable=invalid-name
    VANISH(way)
    for each in way.link.ways.values():
        each.pass_end_on()


def RESET(way):     # pylint: disable=invalid-name
    for sock in way.link.sockets:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    way.link.close()


def inject(data):
    """Bytes that nobody has sent."""
    def act(way):
        way.waiting.appendleft((0, data))
    return act


class Trigger:
    """What is to happen once to the first link that gets so far."""

    def __init__(self, name, count, action, links):
        self.name = name
        self.count = count
        self.action = action
        self.starts = {link: link.ways[name].bytes for link in links}
        self.only = bool(links)
        self.fired = threading.Event()

    def left(self, way):
        """Bytes that may pass before it fires; None: it does not concern."""
        if self.fired.is_set() or way.name != self.name or \
                self.only and way.link not in self.starts:
            return None
        start = self.starts.setdefault(way.link, way.bytes)
        return self.count - (way.bytes - start)


class Relay:
    """Listens on a port of its own and connects to `port` for each client."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.lock = threading.RLock()
        self.links = []
        self.triggers = []
        self.delay = 0.0
        self.stopped = set()        # ways of new links that begin stopped
        self.accepted = 0
        self.is_over = False
        self.wake_read, self.wake_write = socket.socketpair()
        self.wake_read.setblocking(False)
        self.wake_write.setblocking(False)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    # --- for tests --------------------------------------------------------

    def lane(self):
        """The link that was used last, other than for probes."""
        with self.lock:
            return max(self.links, key=lambda link: link.used)

    def after(self, name, count, action, *links):
        """When `count` more bytes have passed: on any link, or one of these.

        Returns an event that is set when it has happened.
        """
        with self.lock:
            trigger = Trigger(name, count, action, links)
            self.triggers.append(trigger)
            if links:
                # It may be due at once, with no byte that waits.
                for link in links:
                    self._fire(link.ways[name])
        self._wake()
        return trigger.fired

    def stop(self, *names):
        """Nothing passes on any link, new ones included."""
        with self.lock:
            self.stopped.update(names)
            for link in self.links:
                for name in names:
                    link.ways[name].is_stopped = True

    def go(self):
        """What was stopped passes on."""
        with self.lock:
            self.stopped.clear()
            for link in self.links:
                for way in link.ways.values():
                    way.is_stopped = False
        self._wake()

    def set_delay(self, delay):
        """Everything that comes from now on is passed on so much later."""
        with self.lock:
            self.delay = delay

    def cut(self, action):
        """Do this to every link."""
        with self.lock:
            for link in self.links:
                if link.is_open:
                    action(link.ways[UP])
        self._wake()

    def mend(self):
        """No more faults; links that vanished are reset."""
        with self.lock:
            self.triggers.clear()
            self.delay = 0.0
            for link in self.links:
                if link.is_void and link.is_open:
                    RESET(link.ways[UP])
        self.go()

    def close(self):
        self.is_over = True
        self._wake()
        self.thread.join(5)
        for link in self.links:
            link.close()
        for sock in (self.listener, self.wake_read, self.wake_write):
            sock.close()

    # --- the loop ---------------------------------------------------------

    def _wake(self):
        try:
            self.wake_write.send(b"x")
        except BlockingIOError:
            pass        # it is being woken already

    def _run(self):
        while not self.is_over:
            with self.lock:
                poll, timeout = self._interests()
            events = poll.poll(timeout)
            with self.lock:
                self._turn({fd for fd, _ in events})

    def _interests(self):
        reads = {self.listener.fileno(), self.wake_read.fileno()}
        writes, late = set(), False
        for way in self._ways():
            if not way.is_ended and len(way.waiting) < 16:
                reads.add(way.source.fileno())
            if way.waiting and not way.is_stopped:
                if way.has_due():
                    writes.add(way.sink.fileno())
                else:
                    late = True
        poll = select.poll()
        for fd in reads | writes:
            poll.register(fd, (fd in reads) * select.POLLIN |
                          (fd in writes) * select.POLLOUT)
        return poll, TICK * 1000 if late else None

    def _ways(self):
        return [way for link in self.links if link.is_open
                for way in link.ways.values()]

    def _turn(self, ready):
        if self.wake_read.fileno() in ready:
            self.wake_read.recv(PIECE)
        for way in self._ways():
            try:
                self._serve(way, ready)
            except BlockingIOError:
                continue
            except OSError:
                # One side was reset, and the other is to learn of it.
                RESET(way)
        self.links = [link for link in self.links if link.is_open]
        if self.listener.fileno() in ready:
            self._accept()

    def _accept(self):
        client, _ = self.listener.accept()
        self.accepted += 1
        try:
            server = socket.create_connection(self.target, 5)
        except OSError:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            client.close()
            return
        for sock in (client, server):
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        link = Link(client, server)
        for name in self.stopped:
            link.ways[name].is_stopped = True
        self.links.append(link)

    def _serve(self, way, ready):
        """Read and pass on what can be."""
        if not way.link.is_open:
            return
        if way.source.fileno() in ready and not way.is_ended:
            way.receive(self.delay)
        while way.link.is_open and way.has_due() and not way.is_stopped:
            self._fire(way)
            if not way.link.is_open or way.is_stopped or not way.waiting:
                break
            if way.send(self._limit(way)) == 0:
                break
            self._fire(way)
        if way.link.is_open and way.is_ended and not way.waiting and \
                not way.end_is_passed and not way.link.is_void:
            way.pass_end_on()
        if way.link.is_open and way.link.is_over():
            way.link.close()

    def _limit(self, way):
        lefts = [trigger.left(way) for trigger in self.triggers]
        return min([left for left in lefts if left is not None],
                   default=PIECE)

    def _fire(self, way):
        """What is due on this way happens."""
        for trigger in list(self.triggers):
            if way.link.is_open and trigger.left(way) == 0:
                self.triggers.remove(trigger)
                trigger.action(way)
                trigger.fired.set()
