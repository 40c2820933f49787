"""Web frameworks that keep their cache and their sessions in a pool."""

import concurrent.futures
import json
import os

import pytest

from harness import eventually
from lib_apps import APPS, PYTHON, Web, pool, pools, shared_world
from lib_clients import node_modules, run

PHP = os.path.join(APPS, "php")
NODE = os.path.join(APPS, "node")


def test_django_keeps_its_cache_and_its_sessions(pool):
    script = os.path.join(APPS, "django_cache.py")
    output = run([PYTHON, script, pool.url])
    assert output.endswith(b"done\n"), output
    assert sum(pool.sizes()) == 0


# --- PHP -----------------------------------------------------------------------


def start_php(world, pool):
    """PHP's own server, with four processes, and its sessions in the pool."""
    settings = {
        "session.save_handler": "redis",
        "session.save_path": f"tcp://127.0.0.1:{pool.port}?prefix=site:",
        "redis.session.locking_enabled": "1",
        "redis.session.lock_wait_time": "2000",
        "redis.session.lock_retries": "-1",
    }
    options = [f'-d{name}="{value}"' for name, value in settings.items()]
    return Web(lambda port: world.process(
        f"php-{pool.name}",
        ["php", "-S", f"127.0.0.1:{port}", "-t", PHP, *options],
        env={**os.environ, "PHP_CLI_SERVER_WORKERS": "4"}))


def test_sessions_of_php_survive_and_are_locked(pool, shared_world):
    site = start_php(shared_world, pool)
    assert site.get("/visits.php?name=Ada") == "1 Ada"
    site.restart()
    assert site.get("/visits.php") == "2 Ada"
    # None of many at a time is lost, since each waits for the lock.
    with concurrent.futures.ThreadPoolExecutor(4) as executor:
        pages = executor.map(site.get, ["/visits.php"] * 20)
        assert sorted(pages, key=lambda page: int(page.split()[0])) == \
            [f"{visit} Ada" for visit in range(3, 23)]
    assert site.get("/visits.php?renew") == "23 Ada"
    assert site.get("/visits.php?end") == "24 Ada"
    assert site.get("/visits.php").strip() == "1"
    site.process.end()


# --- connect-redis --------------------------------------------------------------


def start_express(world, pool):
    script = os.path.join(NODE, "visits.js")
    return Web(lambda port: world.process(
        f"express-{pool.name}", ["node", script, str(pool.port), str(port)],
        env={**os.environ, "NODE_PATH": node_modules(NODE)}))


def test_sessions_of_express_survive(pool, shared_world):
    site = start_express(shared_world, pool)

    def ask(path):
        return json.loads(site.get(path))
    assert ask("/visit?name=Ada") == [1, "Ada"]
    assert ask("/visit") == [2, "Ada"]
    site.restart()
    assert ask("/visit") == [3, "Ada"]
    assert ask("/renew") == "renewed"
    assert ask("/visit") == [4, None]
    assert (ask("/count"), ask("/all")) == (1, [4])
    assert ask("/leave") == "left"
    assert ask("/visit") == [1, None]
    assert ask("/clear") == "cleared"
    assert eventually(lambda: ask("/count") == 0)
    site.process.end()


# --- channels ------------------------------------------------------------------


@pytest.mark.parametrize("kind, name", [
    ("core.RedisChannelLayer", "one"),
    ("pubsub.RedisPubSubChannelLayer", "one"),
    ("pubsub.RedisPubSubChannelLayer", "three"),
    ("pubsub.RedisPubSubChannelLayer", "cluster")])
def test_messages_of_channels_arrive(pools, kind, name):
    """The first kind has scripts that do not name their keys."""
    output = run([PYTHON, os.path.join(APPS, "channel_layers.py"),
                  f"channels_redis.{kind}", pools[name].url])
    assert output == b"done\n"
