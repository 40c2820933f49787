"""Celery and RQ: jobs in Python that are kept in a pool.

Each has a site that hands out jobs, which may be late, fail and be tried
again, and a worker in another process.  They count in seconds, so that all
pools are tried at a time.
"""

import concurrent.futures
import os

from lib_apps import APPS, PYTHON, pools, shared_world
from lib_clients import run


def visit_all(script, arguments, environments, workers):
    """Run a site for each environment; nobody's worker may have failed."""
    def visit(words, environment):
        return run([PYTHON, os.path.join(APPS, script), *words],
                   environment=environment, timeout=120)
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as executor:
        outputs = list(executor.map(visit, arguments, environments))
    assert outputs == [b"done\n"] * len(workers), \
        [worker.log() for worker in workers]


def test_celery_works(pools, shared_world):
    """With a prefix in braces where there are shards."""
    chosen = [pools[name] for name in ("one", "three", "cluster")]
    environments = [{"REDIS_URL": pool.url, "PYTHONDONTWRITEBYTECODE": "1",
                     "PREFIX": "{jobs}" if pool.is_sharded else ""}
                    for pool in chosen]
    workers = [shared_world.process(
        f"celery-{pool.name}",
        [PYTHON, "-m", "celery", "-A", "celery_jobs", "worker", "-c", "2",
         "-n", f"{pool.name}@localhost", "-l", "WARNING"],
        env={**os.environ, **environment}, cwd=APPS)
        for pool, environment in zip(chosen, environments)]
    visit_all("celery_site.py", [[]] * len(chosen), environments, workers)
    for worker in workers:
        worker.end()


def test_rq_works(pools, shared_world):
    """It watches keys and changes others: all of them are on one shard."""
    chosen = [pools[name] for name in ("one", "prefixed")]
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    workers = [shared_world.process(
        f"rq-{pool.name}",
        ["rq", "worker", "--url", pool.url, "--with-scheduler", "mail"],
        env={**os.environ, **environment}, cwd=APPS) for pool in chosen]
    visit_all("rq_site.py", [[pool.url] for pool in chosen],
              [environment] * len(chosen), workers)
    for worker in workers:
        assert worker.wait() == 0, worker.log()
