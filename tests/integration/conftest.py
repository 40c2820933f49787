"""Fixtures of the integration tests; what they are made of is in harness.py."""

import os
import signal

import pytest

from harness import running_world

MARKERS = {
    "threads": "worth running under ThreadSanitizer",
    "plain_only": "measures memory or time: senseless under a sanitizer",
    "soak": "runs for POINTSMAN_SOAK seconds, and only when that is set",
}


def pytest_configure(config):
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")
    # An end by SIGTERM clears up as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(config, items):
    """Leave the soak test out unless it is asked for."""
    if os.environ.get("POINTSMAN_SOAK"):
        return
    soaking = [item for item in items if item.get_closest_marker("soak")]
    if soaking:
        config.hook.pytest_deselected(items=soaking)
        items[:] = [item for item in items if item not in soaking]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Show the proxies' logs beside a failure."""
    outcome = yield
    report = outcome.get_result()
    world = item.funcargs.get("world") if hasattr(item, "funcargs") else None
    if report.when == "call" and report.failed and world is not None:
        for name, text in world.logs():
            report.sections.append((f"log of {name}", text))


@pytest.fixture
def world():
    """Everything that a test starts; ended and judged when it is over."""
    yield from running_world()


@pytest.fixture
def three(world):
    """Three servers and the world that they are in."""
    return world.start_servers(3)
