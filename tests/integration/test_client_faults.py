"""Clients that vanish, reset, half-close and stop, at any moment."""

import random
import socket

import pytest

from harness import eventually, seconds
from lib_bulk import big_request, pattern, value
from lib_faults import Pool
from lib_relay import NO_LINGER, DOWN, FINISH, RESET, UP, Relay
from resp import RawClient, encode

HUGE = 1_500_000
BOTH = pytest.mark.parametrize("pool", [1, 2], indirect=True)


@pytest.fixture
def pool(request, world):
    """With one worker, or as many as a test wants: see BOTH."""
    this = Pool(world, workers=getattr(request, "param", 1))
    yield this
    this.close()


def leave_with_reset(raw):
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    raw.close()


def leave_with_end(raw):
    raw.close()


def leave_half(raw):
    """No more requests, and whatever comes is read to its end."""
    raw.socket.shutdown(socket.SHUT_WR)
    while raw.socket.recv(1 << 20):
        pass
    raw.close()


LEAVES = [leave_with_reset, leave_with_end, leave_half]


def leave_each_way(pool, leave, data, times=20):
    """So many clients send this and go."""
    for _ in range(times):
        raw = pool.proxy.raw(timeout=30)
        raw.send(data)
        try:
            leave(raw)
        except ConnectionError:
            raw.close()     # cut off for half a request: as good


@pytest.mark.parametrize("leave", LEAVES)
def test_leaving_in_a_request_executes_nothing(pool, leave):
    tally = pool.tally()
    data = encode("INCR", tally.key)
    with pool.neighbours():
        for cut in range(1, len(data)):
            leave_each_way(pool, leave, data[:cut], 1)
    pool.settle()
    assert not pool.direct[0].exists(tally.key)


@BOTH
@pytest.mark.parametrize("leave", LEAVES)
def test_leaving_with_requests_unanswered_executes_none_twice(pool, leave):
    tally = pool.tally()
    with pool.neighbours():
        leave_each_way(pool, leave, encode("INCR", tally.key) * 50)
        tally.unknown += 20 * 50
    pool.settle()
    pool.check(tally)
    if leave is leave_half:
        assert int(pool.direct[0].get(tally.key)) == 20 * 50


@pytest.mark.parametrize("leave", LEAVES)
def test_leaving_in_a_split_leaves_whole_parts(pool, leave):
    keys = [key for keys in pool.keys for key in keys[2:4]]
    pairs = [word for key in keys for word in (key, "w" * 3000)]
    with pool.neighbours():
        leave_each_way(pool, leave, encode("MSET", *pairs) * 3 +
                       encode("MGET", *keys) * 50)
        leave_each_way(pool, leave, encode("MSET", *pairs)[:-7])
    pool.settle()
    for shard, direct in enumerate(pool.direct):
        assert direct.strlen(pool.keys[shard][2]) in (1, 3000)


@BOTH
@pytest.mark.parametrize("leave", LEAVES)
def test_leaving_in_an_upload_writes_nothing(pool, leave):
    key = pool.keys[0][2]
    part = big_request(HUGE, "SET", key) + bytes(pattern(0, 900_000))
    with pool.neighbours():
        for size in (len(part), 100_000, 66_000, 65_536, 30_000):
            leave_each_way(pool, leave, part[:size], 2)
    pool.settle()
    assert pool.direct[0].get(key) == b"v"


@pytest.mark.parametrize("leave", [leave_with_reset, leave_with_end])
def test_leaving_in_a_large_reply_frees_its_connection(pool, leave):
    key = pool.keys[0][2]
    pool.direct[0].set(key, value(HUGE * 4))
    with pool.neighbours():
        for _ in range(5):
            raw = pool.proxy.raw(timeout=30)
            raw.send(encode("GET", key) * 3)
            assert raw.socket.recv(1000)
            leave(raw)
    pool.direct[0].set(key, "v")
    pool.settle()


def test_requests_of_a_client_that_reads_no_more_are_answered(pool):
    """As of printf | nc: every answer comes, and then the end."""
    tally = pool.tally()
    text = f"INCR {tally.key.decode()}\r\n" * 100 + "PING\r\n" + \
        f"SET {pool.keys[1][3].decode()} x\r\n" + "ECHO last\r\n"
    answers = b""
    with pool.neighbours():
        raw = pool.proxy.raw(timeout=30)
        raw.send(text.encode())
        raw.socket.shutdown(socket.SHUT_WR)
        while data := raw.socket.recv(65536):
            answers += data
        raw.close()
    assert answers == b"".join(b":%d\r\n" % i for i in range(1, 101)) + \
        b"+PONG\r\n+OK\r\n$4\r\nlast\r\n"
    pool.settle()


def clients(pool):
    """Those who ever came, and those who are there."""
    return (pool.proxy.stats.value("pointsman_pool_clients_accepted_total"),
            pool.proxy.stats.value("pointsman_pool_client_connections"))


@pytest.mark.parametrize("action", [FINISH, RESET])
@pytest.mark.parametrize("name", [UP, DOWN])
def test_a_client_cut_at_any_byte_has_sent_whole_requests_or_none(
        pool, action, name):
    """Behind a relay of its own; the server's number is what its whole
    requests come to at most, and what it was told at least."""
    relay = Relay(pool.proxy.port())
    dice = random.Random(7)
    request_size = len(encode("INCR", pool.keys[0][2]))
    with pool.neighbours():
        accepted, present = clients(pool)
        for _ in range(15):
            tally = pool.tally()
            cut = dice.randrange(1, request_size * 20 if name == UP else 80)
            relay.after(name, cut, action)
            with RawClient("127.0.0.1", relay.port, seconds(30)) as raw:
                try:
                    tally.send(raw, 30)
                    while True:
                        tally.note(raw.read_reply())
                except OSError:
                    pass
            assert not tally.texts
            most = cut // request_size if name == UP else 30
            tally.unknown = most - tally.acknowledged
            accepted += 1
            eventually(lambda: clients(pool) == (accepted, present))
            eventually(pool.is_quiet)
            pool.check(tally)
    relay.close()
    pool.settle()


@BOTH
def test_a_churn_of_all_of_this_leaves_nothing(pool):
    """Many clients of every kind, in a random order."""
    dice = random.Random(11)
    tally = pool.tally()
    keys = [keys[3] for keys in pool.keys]
    pieces = [encode("INCR", tally.key), encode("MGET", *keys),
              encode("PING"), encode("DEL", "x1", "x2", "x3"),
              encode("SET", pool.keys[0][4], b"x" * 70_000)]
    with pool.neighbours():
        for _ in range(300):
            data = b"".join(dice.choices(pieces, k=dice.randrange(1, 12)))
            tally.unknown += data.count(pieces[0])
            if dice.random() < 0.5:
                data = data[:dice.randrange(1, len(data))]
            leave_each_way(pool, dice.choice(LEAVES), data, 1)
    pool.settle()
    pool.check(tally)
    eventually(lambda: pool.proxy.fd_count() <= pool.fds + 8)
