"""Django's cache and its sessions, over django-redis: ADDRESS.

As a site has it in its settings; nothing of the proxy is known here.
"""

import sys
import threading

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="of no importance",
    CACHES={"default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": sys.argv[1],
        "TIMEOUT": 300,
        "KEY_PREFIX": "site",
    }},
    SESSION_ENGINE="django.contrib.sessions.backends.cache")
django.setup()

from django.contrib.sessions.backends.cache import SessionStore  # noqa: E402
from django.core.cache import cache  # noqa: E402


def check_single():
    assert cache.get("none") is None
    assert cache.get("none", "other") == "other"
    cache.set("a", {"any": ["thing", 1, 2.5, None]})
    assert cache.get("a") == {"any": ["thing", 1, 2.5, None]}
    assert cache.add("b", 1) is True
    assert cache.add("b", 2) is False
    assert cache.get("b") == 1
    assert "a" in cache and "none" not in cache
    assert cache.get_or_set("c", lambda: "made") == "made"
    assert cache.get_or_set("c", lambda: "again") == "made"
    assert cache.delete("c") and not cache.delete("c")
    cache.set("large", "x" * 3_000_000)
    assert len(cache.get("large")) == 3_000_000
    cache.set("old", 1, version=1)
    assert cache.incr_version("old") == 2
    assert cache.get("old") is None and cache.get("old", version=2) == 1


def check_numbers():
    cache.set("n", 10)
    assert cache.incr("n") == 11
    assert cache.incr("n", 9) == 20
    assert cache.decr("n", 5) == 15
    try:
        cache.incr("none")
    except ValueError:
        pass
    else:
        raise AssertionError("incr of what is not there")


def check_times():
    cache.set("brief", 1, timeout=100)
    assert 90 < cache.ttl("brief") <= 100
    assert cache.touch("brief", 500)
    assert 400 < cache.ttl("brief") <= 500
    assert cache.persist("brief") and cache.ttl("brief") is None
    assert cache.expire("brief", 50) and cache.ttl("brief") <= 50
    cache.set("gone", 1, timeout=0)
    assert cache.get("gone") is None


def check_many():
    values = {f"many:{i}": i for i in range(200)}
    cache.set_many(values)
    assert cache.get_many([*values, "none"]) == values
    assert sorted(cache.keys("many:*")) == sorted(values)
    assert sorted(cache.iter_keys("many:*")) == sorted(values)
    cache.delete_many([f"many:{i}" for i in range(50)])
    assert cache.delete_pattern("many:*") == 150
    assert cache.get_many(values) == {}


def check_lock():
    """Only one at a time is inside."""
    inside, most = [], []

    def work():
        for _ in range(5):
            with cache.lock("door", timeout=30, sleep=0.001):
                inside.append(1)
                most.append(len(inside))
                inside.pop()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20, most


def check_sessions():
    session = SessionStore()
    session["name"] = "Ada"
    session.set_expiry(600)
    session.save()
    again = SessionStore(session_key=session.session_key)
    assert again["name"] == "Ada"
    again.cycle_key()
    assert SessionStore(session.session_key).load() == {}
    assert SessionStore(again.session_key)["name"] == "Ada"
    again.flush()


check_single()
check_numbers()
check_times()
check_many()
check_lock()
check_sessions()
cache.set_many({f"last:{i}": i for i in range(60)})
cache.clear()
assert list(cache.iter_keys("*")) == []
print("done")
