"""Jobs of RQ."""

import rq


def add(a, b):
    return a + b


def fails():
    raise ValueError("never")


def fails_twice():
    job = rq.get_current_job()
    job.meta["tries"] = job.meta.get("tries", 0) + 1
    job.save_meta()
    if job.meta["tries"] < 3:
        raise ValueError("not yet")
    return job.meta["tries"]
