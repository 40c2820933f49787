"""Random faults of everything, for a while, and no promise broken.

    POINTSMAN_FAULTS  seconds, 60 by default
    POINTSMAN_SEED    a number, to have the same faults again

Three servers are killed and started, stopped and continued, and made to close
their connections; the relays in front of them cut, stop, delay, lose and put
garbage in; the proxy reads its configuration again; clients come, and go in
the middle of things.  Each client has counters and values of its own, so it
knows between which bounds each answer must lie: acknowledged increments have
been executed once, unknown ones once or not at all, refused ones never, and
what is read was written last, or its fate is unknown.  A fourth server is let
alone, and its clients get every answer.
"""

import collections

import os
import random
import signal
import socket
import threading
import time

import redis

from harness import SLOW, eventually, seconds
from lib_clock import now
from lib_faults import REFUSED, SEED, UNKNOWN, is_quiet
from lib_relay import (DOWN, FINISH, NO_LINGER, RESET, STOP, UP, VANISH, Relay,
                       inject)
from resp import RawClient, encode

DURATION = float(os.environ.get("POINTSMAN_FAULTS", "60"))
CLIENTS = 6
LARGE = 300_000
MEMORY_SLACK = 24 << 20
GARBAGE = b"\xff\xfe\xfd"

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
    demo:
      listen: 127.0.0.1:0
      redis: true
      distribution: modulo
      hash: crc32
      request_timeout: 2s
      reconnect_max: 200ms
      server_idle_timeout: 2s
      servers:
        - {name: a, address: "$a"}
        - {name: b, address: "$b"}
        - {name: c, address: "$c"}
        - {name: d, address: "$d"}
"""


class Counter:
    """What a client knows of a number that it alone increments."""

    def __init__(self, key):
        self.key = key
        self.acknowledged = 0
        self.unknown = 0
        self.seen = 0       # the highest that was ever read
        self.refused = 0

    def check(self, value):
        assert max(self.acknowledged, self.seen) <= value <= \
            self.acknowledged + self.unknown, (value, vars(self))
        self.seen = value

    def check_end(self, text):
        self.check(int(text or 0))

    def on_increment(self, reply):
        if reply is None or UNKNOWN.fullmatch(reply):
            self.unknown += 1
        elif REFUSED.fullmatch(reply):
            self.refused += 1
        else:
            self.acknowledged += 1
            assert int(reply[1:]) > self.seen, (reply, vars(self))
            self.check(int(reply[1:]))

    def on_read(self, reply):
        if reply is None or is_error(reply):
            return
        self.check(int(reply.split(b"\r\n")[1]) if reply[1:2] != b"-" else 0)


def is_error(reply):
    return bool(REFUSED.fullmatch(reply) or UNKNOWN.fullmatch(reply))


class Value:
    """A key whose texts are numbered, so that it is known which it may have."""

    def __init__(self, key):
        self.key = key
        self.made = 0
        self.last = 0           # acknowledged last; 0: there is none
        self.unknown = set()    # may be executed, now or later

    def fresh(self, size):
        """A text, and the judge of its being written."""
        self.made += 1
        return b"%b:%d:" % (self.key, self.made) + b"x" * size, \
            Write([(self, self.made)])

    def check(self, text):
        number = 0
        if text is not None:
            key, number = text.rsplit(b":", 1)[0].rsplit(b":", 1)
            assert key == self.key, (self.key, text[:80])
            number = int(number)
        assert number == self.last or number in self.unknown, \
            (number, vars(self))

    check_end = check

    def on_read(self, reply):
        if reply is None or is_error(reply):
            return
        self.check(None if reply == b"$-1\r\n" else
                   reply.split(b"\r\n", 1)[1][:-2])


class Write:
    """Texts that are on their way to keys."""

    def __init__(self, texts):
        self.texts = texts

    def on_written(self, reply):
        if reply is not None and REFUSED.fullmatch(reply) and \
                b"other parts" not in reply:
            return
        for value, number in self.texts:
            if reply == b"+OK\r\n":
                value.last = number
            else:
                assert reply is None or is_error(reply), reply
                value.unknown.add(number)


class Life(threading.Thread):
    """One client after the other, each with some pipelines."""

    def __init__(self, port, number, over):
        super().__init__()
        self.port = port
        self.over = over
        self.random = random.Random(SEED * 100 + number)
        self.counters = [Counter(b"n%d:%d" % (number, i)) for i in range(12)]
        self.values = [Value(b"v%d:%d" % (number, i)) for i in range(12)]
        self.answered = 0
        self.cut = 0
        self.problem = None

    def run(self):
        try:
            while not self.over.is_set():
                with RawClient("127.0.0.1", self.port, seconds(30)) as raw:
                    self.visit(raw)
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error

    def visit(self, raw):
        """Some pipelines; the last may be left in the middle."""
        for _ in range(self.random.randrange(1, 40)):
            if self.over.is_set():
                return
            steps = [self.step() for _ in range(self.random.randrange(1, 25))]
            leaves = self.random.random() < 0.03
            if not self.converse(raw, steps, leaves):
                return
            self.over.wait(self.random.random() * 0.02)

    def step(self):
        """A request, and who judges its reply."""
        counter = self.random.choice(self.counters)
        value = self.random.choice(self.values)
        kind = self.random.random()
        if kind < 0.5:
            return encode("INCR", counter.key), counter.on_increment
        if kind < 0.7:
            return encode("GET", counter.key), counter.on_read
        if kind < 0.8:
            text, write = value.fresh(self.random.choice([1, 100, 5000]))
            return encode("SET", value.key, text), write.on_written
        if kind < 0.81:
            text, write = value.fresh(LARGE)
            return encode("SET", value.key, text), write.on_written
        if kind < 0.83:
            return self.write_several()
        if kind < 0.9:
            return encode("GET", value.key), value.on_read
        text = b"%d" % self.random.randrange(1 << 60)
        if kind < 0.92:
            return encode("ECHO", text), Exactly(
                b"$%d\r\n%b\r\n" % (len(text), text)).on_read
        several = self.random.sample(self.counters, 5)
        return encode("EXISTS", *(each.key for each in several)), on_count

    def write_several(self):
        words, texts = [], []
        for value in self.random.sample(self.values, 4):
            text, write = value.fresh(10)
            words += [value.key, text]
            texts += write.texts
        return encode("MSET", *words), Write(texts).on_written

    def converse(self, raw, steps, leaves):
        """Send them all, read the replies; false when the link is at an end."""
        sent = threading.Thread(target=self.send, args=(
            raw, b"".join(data for data, _ in steps)))
        sent.start()
        read = self.random.randrange(len(steps)) if leaves else len(steps)
        done = 0
        try:
            for _, judge in steps[:read]:
                reply = raw.read_reply()
                judge(None if GARBAGE in reply else reply)
                done += 1
                self.answered += 1
        except ConnectionError as error:
            # The proxy closes only when half an answer has left.  As it has not
            # read all by then, that may be a reset, which takes answers before
            # that one with it.
            judges = [judge for _, judge in steps[done:]]
            if not isinstance(error, ConnectionResetError):
                judges = judges[:1]
            assert any(getattr(judge, "__func__", None) is Value.on_read
                       for judge in judges), (repr(error), judges)
            self.cut += 1
        if done < len(steps):
            self.leave(raw, sent)
        sent.join()
        for _, judge in steps[done:]:
            judge(None)
        return done == len(steps)

    def send(self, raw, data):
        try:
            raw.send(data)
        except OSError:
            pass        # judged by what is read

    def stop_sending(self, raw):
        try:
            raw.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass        # the proxy has closed before

    def leave(self, raw, sent):
        """With an orderly end or a reset."""
        if sent.is_alive():
            self.stop_sending(raw)
            sent.join()     # nobody else may use the number of the socket
        if self.random.random() < 0.5:
            raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                  NO_LINGER)
        raw.close()


class Exactly:
    """The one answer that it must be."""

    def __init__(self, wanted):
        self.wanted = wanted

    def on_read(self, reply):
        assert reply is None or reply == self.wanted, (reply, self.wanted)


def on_count(reply):
    assert reply is None or is_error(reply) or 0 <= int(reply[1:]) <= 5, reply


class Calm(threading.Thread):
    """A client of the server that is let alone."""

    def __init__(self, raw, key, over):
        super().__init__()
        self.raw = raw
        self.key = key
        self.over = over
        self.count = 0
        self.slowest = 0.0
        self.problem = None

    def run(self):
        try:
            while not self.over.is_set():
                begin = now()
                self.count += 1
                reply = self.raw.command("INCR", self.key)
                assert reply == b":%d\r\n" % self.count, (reply, self.count)
                self.slowest = max(self.slowest, now() - begin)
                self.over.wait(0.002)
        except Exception as error:  # pylint: disable=broad-except
            self.problem = error


class Demon:
    """Does one harm after the other, and undoes it."""

    def __init__(self, proxy, servers, relays):
        self.proxy = proxy
        self.servers = servers
        self.relays = relays
        self.deeds = [self.kill, self.pause, self.kill_clients, self.cut,
                      self.cut_later, self.stop, self.delay, self.vanish,
                      self.corrupt, self.reload]
        self.random = random.Random(SEED)
        self.done = []
        self.over = threading.Event()

    def harm(self):
        """One fault, from its beginning to its end."""
        number = self.random.randrange(len(self.servers))
        deed = self.random.choice(self.deeds)
        self.done.append((deed.__name__, number))
        deed(self.servers[number], self.relays[number])

    def wait(self, most):
        time.sleep(self.random.random() * most)

    def kill(self, server, _):
        server.kill()
        self.wait(1)
        server.start()

    def pause(self, server, _):
        server.pause()
        self.wait(3)
        server.resume()

    def kill_clients(self, server, _):
        """By the server, with the address of a client, or all of them."""
        with server.client() as direct:
            for _ in range(self.random.randrange(1, 5)):
                clients = [each["addr"] for each in direct.client_list()
                           if each["cmd"] != "client|list"]
                if clients and self.random.random() < 0.5:
                    self.kill_one(direct, self.random.choice(clients))
                else:
                    direct.client_kill_filter(_type="normal", skipme=True)
                self.wait(0.3)

    def kill_one(self, direct, address):
        try:
            direct.client_kill(address)
        except redis.ResponseError as error:
            assert "No such client" in str(error)

    def corrupt(self, _, relay):
        """What a server says, somewhere in the middle of it."""
        for _ in range(self.random.randrange(1, 5)):
            relay.after(DOWN, self.random.randrange(1, 5000), inject(GARBAGE))
            self.wait(0.3)
        relay.mend()

    def reload(self, *_):
        """By a file in which nothing has changed."""
        for _ in range(self.random.randrange(1, 4)):
            count = len(self.proxy.events("reloaded"))
            self.proxy.signal(signal.SIGHUP)
            self.proxy.wait_for_event("reloaded", count + 1, timeout=30)
            self.wait(0.3)

    def cut(self, _, relay):
        for _ in range(self.random.randrange(1, 5)):
            relay.cut(self.random.choice([RESET, FINISH]))
            self.wait(0.3)

    def cut_later(self, _, relay):
        for _ in range(self.random.randrange(1, 8)):
            action = self.random.choice([RESET, FINISH, STOP])
            relay.after(self.random.choice([UP, DOWN]),
                        self.random.randrange(1, 20000), action)
            self.wait(0.5)
        relay.mend()

    def stop(self, _, relay):
        relay.stop(self.random.choice([UP, DOWN]))
        self.wait(3)
        relay.go()

    def delay(self, _, relay):
        relay.set_delay(self.random.random() * 0.1)
        self.wait(2)
        relay.mend()

    def vanish(self, _, relay):
        relay.cut(VANISH)
        self.wait(3)
        relay.mend()


class Stage:
    """All that takes part."""

    def __init__(self, world):
        # What was acknowledged outlives a kill.
        self.servers = world.start_servers(4, "--appendonly", "yes",
                                           "--appendfsync", "no")
        self.relays = [Relay(server.port) for server in self.servers[:3]]
        a, b, c = (relay.address for relay in self.relays)
        self.proxy = world.proxy(CONFIG, a=a, b=b, c=c,
                                 d=self.servers[3].address)
        self.over = threading.Event()
        self.lives = [Life(self.proxy.port(), number, self.over)
                      for number in range(CLIENTS)]
        self.calm = [Calm(self.proxy.raw(timeout=30), key, self.over)
                     for key in self.calm_keys()]

    def calm_keys(self):
        """Two keys of the server that is let alone."""
        with self.proxy.raw() as raw:
            for i in range(60):
                raw.command("SET", f"calm{i}", "v")
        keys = self.servers[3].client().keys()[:2]
        self.servers[3].client().delete(*keys)
        return keys

    def threads(self):
        return self.lives + self.calm

    def problems(self):
        return [repr(each.problem) for each in self.threads() if each.problem]

    def play(self, demon):
        """Until the time is over or something is wrong; the proxy's memory."""
        memory = []
        end = time.monotonic() + DURATION
        while time.monotonic() < end and not self.problems():
            demon.harm()
            memory.append(self.proxy.rss_bytes())
            time.sleep(demon.random.random() * 0.5)
        return memory

    def end(self):
        for relay in self.relays:
            relay.mend()
        self.over.set()
        for each in self.threads():
            each.join(seconds(60))

    def check_counters(self):
        """By what the servers themselves say."""
        direct = [server.client() for server in self.servers]
        for life in self.lives:
            for each in life.counters + life.values:
                found = [client.get(each.key) for client in direct]
                found = [text for text in found if text is not None]
                assert len(found) <= 1, (each.key, found)
                each.check_end(found[0] if found else None)

    def report(self, demon):
        """What was done and met, for whoever wants to know."""
        counters = [counter for life in self.lives for counter in life.counters]
        print(f"answered {sum(life.answered for life in self.lives)}, calm "
              f"{sum(each.count for each in self.calm)}, increments "
              f"acknowledged {sum(each.acknowledged for each in counters)}, "
              f"unknown {sum(each.unknown for each in counters)}, refused "
              f"{sum(each.refused for each in counters)}, replies cut "
              f"{sum(life.cut for life in self.lives)}")
        deeds = collections.Counter(deed for deed, _ in demon.done)
        print("faults", *(f"{deed} {count}" for deed, count in deeds.items()))

    def is_idle(self):
        """No request, and no connection to a server but for probes."""
        return is_quiet(self.proxy, {"pointsman_pool_client_connections",
                                     "pointsman_pool_heavy_clients",
                                     "pointsman_server_lanes_shared",
                                     "pointsman_server_lanes_private"})


def test_random_faults_break_no_promise(world):
    print(f"POINTSMAN_SEED={SEED}")
    stage = Stage(world)
    eventually(lambda: stage.proxy.stats.value(
        "pointsman_pool_client_connections") == len(stage.calm))
    fds = stage.proxy.fd_count()
    demon = Demon(stage.proxy, stage.servers[:3], stage.relays)
    for each in stage.threads():
        each.start()
    try:
        memory = stage.play(demon)
    finally:
        stage.end()
        stage.report(demon)
    assert not stage.problems(), (stage.problems(), demon.done)
    assert not any(each.is_alive() for each in stage.threads())
    assert max(each.slowest for each in stage.calm) < seconds(2)
    assert all(life.answered > DURATION for life in stage.lives)
    stage.check_counters()
    stage.proxy.close_clients()
    eventually(stage.is_idle, 30, "everything to be given back")
    eventually(lambda: stage.proxy.fd_count() <= fds, 10,
               "descriptors to be closed")
    if SLOW == 1 and len(memory) > 20:
        half = len(memory) // 2
        assert max(memory[half:]) < max(memory[:half]) + MEMORY_SLACK, memory
    for relay in stage.relays:
        relay.close()
