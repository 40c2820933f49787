"""Tasks of Celery.  From the environment: REDIS_URL, and PREFIX, which may be
missing."""

import os

import celery

URL = os.environ["REDIS_URL"]
PREFIX = os.environ.get("PREFIX", "")
OPTIONS = {"global_keyprefix": PREFIX} if PREFIX else {}

app = celery.Celery("celery_jobs", broker=URL, backend=URL)
app.conf.update(
    broker_transport_options=OPTIONS,
    result_backend_transport_options=OPTIONS,
    task_acks_late=True,
    worker_prefetch_multiplier=2)


@app.task
def add(a, b):
    return a + b


@app.task
def total(numbers):
    return sum(numbers)


@app.task(bind=True, max_retries=3, default_retry_delay=0.1)
def fails_twice(self):
    if self.request.retries < 2:
        raise self.retry()
    return self.request.retries


@app.task
def fails():
    raise ValueError("never")


@app.task(bind=True)
def reports(self):
    self.update_state(state="HALF", meta={"done": 50})
    return "whole"
