"""Servers and networks that fail in every way that a relay can make.

Server a is behind the relay; b and c are well, and their clients must notice
nothing.  What a's clients are told is compared with what a has counted.
"""

import re
import time

import pytest

from harness import eventually, seconds
from lib_clock import now
from lib_bulk import big_request, send_value, value
from lib_faults import LATE_SENT, LOST, REFUSED, UNKNOWN, Pool
from lib_relay import DOWN, FINISH, RESET, STOP, UP, VANISH, inject

COUNT = 9           # INCRs in a pipeline: their replies have 4 bytes each
HUGE = 1_500_000    # a value that goes through in pieces
GARBAGE = b"HTTP/1.1 400 Bad Request\r\n\r\n"
CUTS = [0, 1, 3, 4, 6, 20, 34, 35]
ENDS = {"finish": FINISH, "reset": RESET, "garbage": inject(GARBAGE),
        "bad length": inject(b"$-7\r\n"), "nested": inject(b"*1\r\n" * 9000)}
BOTH = pytest.mark.parametrize("pool", [1, 2], indirect=True)
SILENCES = {"stop": STOP, "vanish": VANISH}


@pytest.fixture
def pool(request, world):
    """With one worker, or as many as a test wants: see BOTH."""
    this = Pool(world, workers=getattr(request, "param", 1))
    yield this
    this.close()


def whole_replies(cut):
    """How many replies are whole when so many bytes have come."""
    return min(cut // 4, COUNT)


# --- answers that end in the middle ---------------------------------------


@BOTH
@pytest.mark.parametrize("end", ENDS)
def test_writes_without_an_answer_are_told_from_the_others(pool, end):
    """At each cut: what came before counts, the rest may have been executed,
    and all the rest is told so at once."""
    with pool.neighbours() as neighbours:
        for cut in CUTS:
            tally = pool.tally()
            pool.relay.after(DOWN, cut, ENDS[end], pool.relay.lane())
            tally.run(pool.raw, COUNT)
            if cut > 0:     # else the lane may end before they are sent
                assert tally.acknowledged == whole_replies(cut), (cut, end)
                assert tally.unknown == COUNT - tally.acknowledged
            eventually(pool.is_well)
            pool.check(tally)
            neighbours.wait_for_more()
    pool.settle()


@BOTH
@pytest.mark.parametrize("silence", SILENCES)
@pytest.mark.parametrize("cut", [0, 18])
def test_an_answer_that_never_comes_is_told_in_time(pool, silence, cut):
    tally = pool.tally()
    begin = now()
    with pool.neighbours() as neighbours:
        pool.relay.after(DOWN, cut, SILENCES[silence], pool.relay.lane())
        tally.run(pool.raw, COUNT)
        assert tally.acknowledged == whole_replies(cut)
        assert tally.unknown == COUNT - tally.acknowledged
        assert now() - begin < seconds(6)
        neighbours.wait_for_more()
    pool.settle()
    pool.check(tally)


def test_late_answers_are_dropped_by_count(pool):
    """A lane that was stopped for longer than the deadline goes on, and nobody
    gets the answer of another."""
    tally = pool.tally()
    pool.relay.stop(DOWN)
    tally.run(pool.raw, COUNT)
    assert tally.unknown == COUNT
    other = pool.proxy.raw(timeout=30)
    other.send_command("SET", pool.keys[0][1], "other")
    pool.relay.go()
    assert REFUSED.fullmatch(reply := other.read_reply()) or reply == \
        b"+OK\r\n" or UNKNOWN.fullmatch(reply), reply
    eventually(pool.is_well)
    other.close()
    pool.settle()
    pool.check(tally)


def test_an_answer_nobody_asked_for_costs_its_lane_alone(pool):
    tally = pool.tally()
    with pool.neighbours() as neighbours:
        for _ in range(5):
            tally.run(pool.raw, COUNT)
            assert not tally.texts
            fired = pool.relay.after(DOWN, 0, inject(b"+unasked\r\n"),
                                     pool.relay.lane())
            assert fired.wait(seconds(5))
            lanes = pool.relay.accepted
            eventually(lambda: pool.is_well() and
                       pool.relay.accepted > lanes)
            neighbours.wait_for_more()
    pool.settle()
    pool.check(tally)


@pytest.mark.parametrize("end", ["finish", "reset"])
def test_reads_without_an_answer_are_asked_again(pool, end):
    """Their clients see no fault at all."""
    key = pool.keys[0][0]
    with pool.neighbours():
        for cut in [0, 1, 4, 7, 8, 30, 63]:
            pool.relay.after(DOWN, cut, ENDS[end], pool.relay.lane())
            assert pool.raw.pipeline(*[("GET", key)] * COUNT) == \
                [b"$1\r\nv\r\n"] * COUNT
    pool.settle()


# --- requests that end in the middle --------------------------------------


@pytest.mark.parametrize("end", ["finish", "reset"])
def test_requests_cut_on_their_way_are_counted_right(pool, end):
    size = len(b"*2\r\n$4\r\nINCR\r\n$5\r\nkey00\r\n")
    with pool.neighbours():
        for cut in [1, size - 1, size, size + 5, 3 * size + 1]:
            tally = pool.tally()
            pool.relay.after(UP, cut, ENDS[end], pool.relay.lane())
            tally.run(pool.raw, COUNT)
            assert tally.unknown > 0
            eventually(pool.is_well)
            pool.check(tally)
    pool.settle()


def test_a_server_that_reads_nothing_is_told_in_time(pool):
    with pool.neighbours() as neighbours:
        tally = pool.tally()
        pool.relay.stop(UP)
        begin = now()
        tally.run(pool.raw, COUNT)
        assert tally.acknowledged == 0
        assert now() - begin < seconds(6)
        neighbours.wait_for_more()
    pool.settle()
    pool.check(tally)


def test_a_server_that_accepts_nobody_is_told_in_time(pool):
    """New connections hang, since nothing passes from their first byte on."""
    with pool.neighbours() as neighbours:
        tally = pool.tally()
        pool.relay.stop(UP, DOWN)
        pool.relay.cut(RESET)
        begin = now()
        tally.run(pool.raw, COUNT)
        assert tally.acknowledged == 0
        assert now() - begin < seconds(6)
        neighbours.wait_for_more()
    pool.settle()
    pool.check(tally)


def test_a_slow_network_slows_its_own_clients_alone(pool):
    tally = pool.tally()
    with pool.neighbours() as neighbours:
        pool.relay.set_delay(0.1)
        for _ in range(5):
            begin = time.monotonic()
            tally.run(pool.raw, COUNT)
            assert time.monotonic() - begin >= 0.2
        assert tally.acknowledged == 5 * COUNT
        before = min(each.requests for each in neighbours.all)
        tally.run(pool.raw, COUNT)
        assert min(each.requests for each in neighbours.all) > before + 4
    pool.settle()
    pool.check(tally)


# --- splits ---------------------------------------------------------------


@pytest.mark.parametrize("fault", ["finish", "reset", "stop", "vanish"])
def test_a_split_names_the_part_that_was_lost(pool, fault):
    """The other parts run, and what follows is answered in its place."""
    action = (ENDS | SILENCES)[fault]
    text = LATE_SENT if fault in SILENCES else LOST
    keys = [keys[2] for keys in pool.keys]
    wanted = b"-" + text + rb" \(proxy: other parts may have been executed\)"
    with pool.neighbours():
        for cut in (1, 3):
            pool.relay.after(DOWN, cut, action, pool.relay.lane())
            pool.raw.send_command("MSET", *(
                word for key in keys for word in (key, f"new{cut}")))
            pool.raw.send_command("ECHO", "behind")
            reply, behind = pool.raw.read_replies(2)
            assert re.fullmatch(wanted + rb"\r\n", reply), reply
            assert behind == b"$6\r\nbehind\r\n"
            for shard in range(3):
                assert pool.direct[shard].get(keys[shard]) == b"new%d" % cut
            pool.relay.mend()
            eventually(pool.is_well, 20)
    pool.settle()


# --- uploads --------------------------------------------------------------


def start_upload(pool, size, key):
    """A client that has sent so much of a SET of HUGE bytes."""
    raw = pool.proxy.raw(timeout=30)
    raw.send(big_request(HUGE, "SET", key))
    send_value(raw, size)
    return raw


def end_upload(raw, size):
    """The rest of it, and a request behind it."""
    send_value(raw, HUGE, size)
    raw.send(b"\r\n")
    raw.send_command("ECHO", "behind")


@pytest.mark.parametrize("end", ["finish", "reset"])
@pytest.mark.parametrize("name", [UP, DOWN])
def test_an_upload_cut_in_the_middle_was_not_executed(pool, end, name):
    """The client is told, its connection stays, the value is the old one."""
    key = pool.keys[0][2]
    with pool.neighbours() as neighbours:
        for cut in (70_000, 300_000, 800_000):
            fired = pool.relay.after(
                UP, cut, lambda way: ENDS[end](way.link.ways[name]))
            raw = start_upload(pool, 900_000, key)
            assert fired.wait(seconds(10))
            assert REFUSED.fullmatch(reply := raw.read_reply()), reply
            end_upload(raw, 900_000)
            assert raw.read_reply() == b"$6\r\nbehind\r\n"
            raw.close()
            neighbours.wait_for_more()
    assert pool.direct[0].get(key) == b"v"
    pool.settle()


@pytest.mark.parametrize("silence", SILENCES)
def test_an_upload_that_gets_nowhere_ends_in_time(pool, silence):
    """What the system has taken may go out later, and may be executed."""
    key = pool.keys[0][2]
    with pool.neighbours() as neighbours:
        fired = pool.relay.after(UP, 300_000, SILENCES[silence])
        raw = start_upload(pool, 400_000, key)
        end_upload(raw, 400_000)
        assert fired.wait(seconds(10))
        reply, behind = raw.read_replies(2)
        assert REFUSED.fullmatch(reply) or UNKNOWN.fullmatch(reply), reply
        assert behind == b"$6\r\nbehind\r\n"
        neighbours.wait_for_more()
        raw.close()
    pool.settle()


@pytest.mark.parametrize("fault", ["finish", "reset", "stop", "vanish"])
def test_an_upload_whose_answer_is_lost_may_have_been_executed(pool, fault):
    key = pool.keys[0][2]
    action = (ENDS | SILENCES)[fault]
    with pool.neighbours():
        pool.relay.stop(DOWN)
        raw = start_upload(pool, HUGE, key)
        raw.send(b"\r\n")
        eventually(lambda: pool.direct[0].strlen(key) == HUGE, 20)
        pool.relay.cut(lambda way: action(way.link.ways[DOWN]))
        reply = raw.read_reply()
        text = LATE_SENT if fault in SILENCES else LOST
        assert re.fullmatch(b"-" + text + rb"\r\n", reply), reply
        raw.close()
    pool.settle()


# --- large replies --------------------------------------------------------


@pytest.mark.parametrize("fault, cuts", [
    ("finish", [3, 9, 70_000, 700_000, HUGE + 10]),
    ("reset", [3, 9, 70_000, 700_000, HUGE + 10]),
    ("stop", [9, 700_000]),
    ("vanish", [9, 700_000])])
def test_a_large_reply_cut_in_the_middle_costs_its_client_alone(
        pool, fault, cuts):
    """Half an answer cannot be taken back: that client is closed, unless none
    of it has left; then the read is made again, or told to be late."""
    key = pool.keys[0][2]
    pool.direct[0].set(key, value(HUGE))
    whole = b"$%d\r\n%b\r\n" % (HUGE, value(HUGE))
    action = (ENDS | SILENCES)[fault]
    with pool.neighbours() as neighbours:
        for cut in cuts:
            raw = pool.proxy.raw(timeout=30)
            pool.relay.after(DOWN, cut, action, pool.relay.lane())
            raw.send_command("GET", key)
            try:
                reply = raw.read_reply()
            except ConnectionError:
                assert 0 < len(raw.buffer) <= cut
                assert whole.startswith(raw.buffer)
            else:
                assert reply == whole or UNKNOWN.fullmatch(reply), reply[:200]
            raw.close()
            pool.relay.mend()
            eventually(pool.is_well, 20)
            neighbours.wait_for_more()
    pool.direct[0].set(key, "v")
    pool.settle()
