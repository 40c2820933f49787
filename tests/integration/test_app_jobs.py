"""Queues of jobs that are kept in a pool, with workers of their own.

Each has a site that hands out jobs, which may be late, fail and be tried
again, and a worker in another process.
"""

import concurrent.futures
import os

from lib_apps import APPS, pool, pools, shared_world
from lib_clients import node_modules, run

NODE = os.path.join(APPS, "node")
SIDEKIQ = os.path.join(APPS, "sidekiq")


def test_bullmq_works_with_a_tagged_prefix(pool):
    output = run(["node", os.path.join(NODE, "bull.js"), str(pool.port),
                  pool.tag("bull")],
                 environment={"NODE_PATH": node_modules(NODE)})
    assert output.endswith(b"done\n"), output


# --- Sidekiq -------------------------------------------------------------------

# On shards BRPOP over several queues needs them together, in a namespace.
SIDEKIQ_SITES = {
    "one": {"QUEUES": "default mail"},
    "three": {"QUEUES": "default"},
    "cluster": {"QUEUES": "default mail", "NAMESPACE": "{jobs}"},
}


def start_sidekiq(world, name, environment):
    queues = environment["QUEUES"].split()
    return world.process(
        f"sidekiq-{name}",
        ["sidekiq", "-e", "production", "-c", "5", "-r",
         os.path.join(SIDEKIQ, "jobs.rb"),
         *[word for queue in queues for word in ("-q", queue)]],
        env={**os.environ, **environment}, cwd=SIDEKIQ)


def test_sidekiq_works(pools, shared_world):
    """At all pools at a time, since it counts and waits in seconds."""
    sites = {name: {"REDIS_URL": pools[name].url, **environment}
             for name, environment in SIDEKIQ_SITES.items()}
    for pool in pools.values():
        pool.clear()
    workers = [start_sidekiq(shared_world, name, environment)
               for name, environment in sites.items()]

    def visit(environment):
        return run(["ruby", os.path.join(SIDEKIQ, "site.rb")],
                   environment=environment, timeout=90)
    with concurrent.futures.ThreadPoolExecutor(len(sites)) as executor:
        outputs = list(executor.map(visit, sites.values()))
    assert outputs == [b"done\n"] * len(sites)
    for worker in workers:
        worker.end()
        assert worker.wait() == 0, worker.log()
