"""The last words of a proxy that crashes."""

import ctypes
import os
import re
import signal

import pytest

from harness import eventually
from lib_faults import Neighbours, Pool
from resp import encode

# Sanitizers take these signals for themselves.
pytestmark = pytest.mark.plain_only

CONFIG = """
    pointsman:
      workers: 2
      stats: 127.0.0.1:0
      log_file: $log
    demo:
      listen: 127.0.0.1:0
      redis: true
      servers: ["$a:1 a"]
"""
FRAME = re.compile(r"^\S*pointsman\(\S*\+0x[0-9a-f]+\) ?\[0x[0-9a-f]+\]$",
                   re.MULTILINE)
SYS_TGKILL = 234


def kill_thread(proxy, thread, number):
    """A signal to one thread alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.uname().machine != "x86_64":
        pytest.skip("another machine has another number for tgkill")
    assert libc.syscall(SYS_TGKILL, proxy.pid, thread, int(number)) == 0


def ends_by(proxy, number):
    """The status is that of the signal; nothing else is expected of it."""
    status = proxy.wait()
    process, proxy.process = proxy.process, None
    return status == -number and not process.is_running()


def read_lines(text, msg):
    return [line for line in text.splitlines()
            if line.startswith("ts=") and f'level=error msg="{msg}"' in line]


def all_threads_wait(proxy):
    """A worker that never ran yet is not in the list of who did what."""
    for thread in os.listdir(f"/proc/{proxy.pid}/task"):
        with open(f"/proc/{proxy.pid}/task/{thread}/stat",
                  encoding="ascii") as file:
            if file.read().rpartition(")")[2].split()[0] != "S":
                return False
    return True


def start(world, log, server):
    """A proxy whose log is there, and where to read it."""
    path = os.path.join(world.folder, "crash.log")
    proxy = world.make_proxy(CONFIG, a=server.address,
                             log=path if log == "file" else '"-"').spawn()
    if log == "file":
        proxy.process.log_path = path
    proxy.wait_for_event("ready")
    eventually(lambda: all_threads_wait(proxy))
    return proxy, proxy.process.log_path


@pytest.mark.parametrize("log", ["file", "stderr"])
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT,
                                    signal.SIGBUS, signal.SIGFPE])
def test_a_crash_tells_where_and_what_everybody_did(world, log, number):
    server = world.server()
    proxy, path = start(world, log, server)
    raw = proxy.raw()
    assert raw.command("SET", "k", "v") == b"+OK\r\n"
    server.pause()
    raw.send(encode("GET", "k"))
    eventually(lambda: proxy.stats.value("pointsman_server_out_queue") == 1)
    kill_thread(proxy, proxy.worker_threads()[0], number)
    assert ends_by(proxy, number)
    server.resume()
    with open(path, encoding="utf-8") as file:
        text = file.read()
    crashed, = read_lines(text, "crashed")
    assert f"signal={number.name[3:]} sender={os.getpid()} thread=worker " \
        "number=0 pid=" in crashed
    last_words = text[text.index(crashed):]
    assert len(FRAME.findall(last_words)) > 2, last_words
    doing = read_lines(last_words, "was doing")
    doing = sorted(line[line.index(" thread="):] for line in doing)
    assert len(doing) == 3 and "thread=control number=0" in doing[0]
    assert doing[1] == " thread=worker number=0 pool=demo id=1 command=get " \
        "crashed=1"
    assert doing[2].startswith(" thread=worker number=1")
    assert re.match(r"ts=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ", crashed)
    # The time is that of the lines before.
    before = re.findall(r"^ts=(\S{16})", text[:text.index(crashed)],
                        re.MULTILINE)[-1]
    assert crashed[3:19] >= before and crashed[3:16] <= before[:10] + "T99"
    raw.close()


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_crash_under_load_ends_at_once(world, number):
    """Whoever the signal meets, and whatever it does at the moment."""
    pool = Pool(world, workers=2)
    proxy = pool.proxy
    with pytest.raises(AssertionError):  # theirs, at the end
        with Neighbours(pool, 4) as neighbours:
            neighbours.wait_for_more(100)
            path = proxy.process.log_path
            proxy.signal(number)
            assert ends_by(proxy, number)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert len(read_lines(text, "crashed")) == 1
    assert len(read_lines(text, "was doing")) == 3
    assert len(FRAME.findall(text)) > 2
    pool.close()


def test_threads_that_crash_together_are_told_once(world):
    server = world.server()
    proxy, path = start(world, "file", server)
    threads = proxy.worker_threads()
    for _ in range(3):
        for thread in threads:
            try:
                kill_thread(proxy, thread, signal.SIGSEGV)
            except AssertionError:
                break  # it is over
    assert ends_by(proxy, signal.SIGSEGV)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    assert len(read_lines(text, "crashed")) == 1
