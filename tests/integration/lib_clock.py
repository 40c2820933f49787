"""A clock that stands still while the machine does.

Machines that others use too stop for seconds.  What is judged by this clock is
judged by the time in which this process, and so the proxy, could have run.
"""

import threading
import time

TICK_S = 0.02
STALL_S = 0.1   # so long without a tick: nothing ran


class _Clock(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self._lock = threading.Lock()
        self._last = time.monotonic()
        self._stood = 0.0
        self.start()

    def run(self):
        while True:
            time.sleep(TICK_S)
            self.read()

    def read(self):
        with self._lock:
            real = time.monotonic()
            pause = real - self._last
            self._last = real
            if pause > STALL_S:
                self._stood += pause - TICK_S
            return real - self._stood


_CLOCK = _Clock()


def now():
    """Seconds since some moment."""
    return _CLOCK.read()
