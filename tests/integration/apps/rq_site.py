"""A site that has work for RQ, and waits until it is done: ADDRESS."""

import sys
import time
from datetime import timedelta

import redis
import rq
from rq.command import send_shutdown_command

from rq_jobs import add, fails, fails_twice

connection = redis.Redis.from_url(sys.argv[1])
queue = rq.Queue("mail", connection=connection)


def eventually(condition, what):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain: {what}"
        time.sleep(0.02)


def wait_for(*jobs, status="finished"):
    for job in jobs:
        eventually(lambda: job.get_status() == status,
                   f"{job.func_name} {status}")


def check_results():
    jobs = [queue.enqueue(add, number, 1) for number in range(10)]
    jobs += queue.enqueue_many([
        rq.Queue.prepare_data(add, (number, 1)) for number in range(10, 15)])
    wait_for(*jobs)
    assert [job.result for job in jobs] == list(range(1, 16))


def check_late():
    job = queue.enqueue_in(timedelta(seconds=1), add, 2, 3)
    assert job.get_status() == "scheduled"
    assert queue.scheduled_job_registry.get_job_ids() == [job.id]
    wait_for(job)
    assert job.result == 5


def check_failures():
    job = queue.enqueue(fails_twice, retry=rq.Retry(max=3))
    wait_for(job)
    assert job.result == 3
    job = queue.enqueue(fails)
    wait_for(job, status="failed")
    job.refresh()
    assert "ValueError: never" in job.exc_info
    assert queue.failed_job_registry.get_job_ids() == [job.id]
    job.delete()
    assert queue.failed_job_registry.count == 0


def check_dependencies():
    first = queue.enqueue(add, 1, 2)
    second = queue.enqueue(add, 3, 4, depends_on=first)
    third = queue.enqueue(add, 5, 6, depends_on=[first, second])
    wait_for(third)
    assert [job.result for job in (first, second, third)] == [3, 7, 11]


check_results()
check_failures()
check_dependencies()
check_late()
(worker,) = rq.Worker.all(queue=queue)
assert worker.successful_job_count >= 19, worker.successful_job_count
send_shutdown_command(connection, worker.name)
eventually(lambda: rq.Worker.all(queue=queue) == [], "the worker to leave")
assert queue.count == 0
queue.delete()
print("done")
