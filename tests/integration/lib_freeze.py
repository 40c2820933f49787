"""Stopping one thread of a process while the others go on."""

import contextlib
import ctypes
import os

import pytest

PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p,
                        ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, thread):
    if libc.ptrace(request, thread, None, None) < 0:
        pytest.skip(f"ptrace: {os.strerror(ctypes.get_errno())}")


@contextlib.contextmanager
def frozen(thread):
    """Inside, this thread does nothing; it must be of a child of ours."""
    ptrace(PTRACE_SEIZE, thread)
    ptrace(PTRACE_INTERRUPT, thread)
    os.waitpid(thread, WALL)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, thread, None, None)
