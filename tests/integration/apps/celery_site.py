"""A site that has work for Celery, and waits until it is done."""

import celery

from celery_jobs import add, app, fails, fails_twice, reports, total

WAIT = {"timeout": 60}


def check_plain():
    results = [add.delay(number, 1) for number in range(40)]
    assert [result.get(**WAIT) for result in results] == list(range(1, 41))
    assert all(result.successful() for result in results)
    results[0].forget()
    assert results[0].state == "PENDING"


def check_late():
    result = add.apply_async((2, 3), countdown=0.5)
    assert result.get(**WAIT) == 5


def check_failures():
    assert fails_twice.delay().get(**WAIT) == 2
    result = fails.delay()
    try:
        result.get(**WAIT)
        raise AssertionError("no error")
    except ValueError as error:
        assert error.args == ("never",)
    assert result.failed()


def check_canvas():
    chain = add.s(1, 2) | add.s(3) | add.s(4)
    assert chain.delay().get(**WAIT) == 10
    group = celery.group(add.s(number, number) for number in range(10))
    assert group.delay().get(**WAIT) == [2 * n for n in range(10)]
    chord = celery.chord([add.s(n, n) for n in range(10)], total.s())
    assert chord.delay().get(**WAIT) == 90


def check_control():
    """By messages to all workers, and their answers."""
    answers = app.control.ping(timeout=20, limit=1)
    assert [list(answer.values()) for answer in answers] == [[{"ok": "pong"}]]
    names = app.control.inspect(timeout=20, limit=1).registered()
    assert "celery_jobs.add" in list(names.values())[0]
    later = add.apply_async((1, 1), countdown=1000)
    later.revoke()
    assert app.control.inspect(timeout=20, limit=1).revoked().popitem()[1] == [later.id]


def check_priorities():
    results = [add.apply_async((n, 0), priority=n % 10) for n in range(30)]
    assert [result.get(**WAIT) for result in results] == list(range(30))


check_plain()
check_late()
check_failures()
check_canvas()
check_priorities()
assert reports.delay().get(**WAIT) == "whole"
check_control()
assert app.control.purge() == 0
print("done")
