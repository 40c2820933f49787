"""What it lives on: its standard streams, the places of its files."""

import os
import shutil
import signal
import subprocess

import pytest

import harness
from harness import eventually, seconds

CONFIG = """
    pointsman:
      stats: 127.0.0.1:0
      log_file: "$log"
    demo:
      listen: 127.0.0.1:0
      servers: [$server:1]
      redis: true
"""

CHECKED = """
    demo: {listen: "127.0.0.1:0", servers: ["127.0.0.1:1:1"], redis: true}
"""


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


@pytest.mark.parametrize("log", ["$folder/log", "-"])
def test_streams_that_are_closed_lead_nowhere(world, log):
    """What is written to them must not reach a client or the log."""
    path = os.path.join(world.folder, "log")
    log = log.replace("$folder", world.folder)
    proxy = world.make_proxy(CONFIG, server=world.server().address, log=log)
    proxy.write_config(read(proxy.config_path).replace(
        "listen: 127.0.0.1:0", f"listen: {world.folder}/demo.sock"))
    process = world.process("closed", [
        "sh", "-c", 'exec "$0" -c "$1" <&- >&- 2>&-', harness.POINTSMAN,
        proxy.config_path])
    socket = os.path.join(world.folder, "demo.sock")
    eventually(lambda: os.path.exists(socket) or not process.is_running())
    assert process.is_running()
    assert typed("-s", socket, "set", "k", "v") == "OK\n"
    assert [os.readlink(f"/proc/{process.pid}/fd/{number}")
            for number in range(3)] == ["/dev/null"] * 3
    process.signal(signal.SIGTERM)
    assert process.wait() == 0
    assert ("stopped" in read(path)) == (log == path)


def typed(*words):
    return subprocess.run(["redis-cli", *words], check=True, text=True,
                          stdout=subprocess.PIPE, timeout=seconds(20)).stdout


@pytest.mark.parametrize("words", [
    ["--version"], ["--help"], ["-t", "-c", "CONFIG"],
    ["route", "-c", "CONFIG", "demo", "key"]])
def test_output_that_nobody_gets_is_a_failure(world, words):
    path = os.path.join(world.folder, "pointsman.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(harness.fill(CHECKED, {}))
    words = [path if word == "CONFIG" else word for word in words]
    with open("/dev/full", "w", encoding="ascii") as full:
        result = subprocess.run(
            [harness.POINTSMAN, *words], stdout=full, stderr=subprocess.PIPE,
            text=True, check=False, timeout=seconds(20))
    assert result.returncode == 1
    assert result.stderr == ("pointsman: cannot write to standard output: "
                             "No space left on device\n")


def test_a_log_that_cannot_be_opened_again_is_told_of_elsewhere(world):
    """The log itself may stand in a file that is gone."""
    folder = os.path.join(world.folder, "logs")
    path = os.path.join(folder, "log")
    os.mkdir(folder)
    proxy = world.make_proxy(CONFIG, server=world.server().address, log=path)
    proxy.spawn()
    eventually(lambda: 'msg="ready"' in read(path))
    shutil.rmtree(folder)
    proxy.signal(signal.SIGUSR1)
    eventually(lambda: proxy.log() ==
               f"pointsman: cannot open log file {path}: "
               "No such file or directory\n")
    os.mkdir(folder)
    proxy.signal(signal.SIGUSR1)
    eventually(lambda: 'msg="log reopened"' in read(path))


def test_a_file_in_the_place_of_a_socket_is_left_and_named(world):
    path = os.path.join(world.folder, "demo.sock")
    with open(path, "w", encoding="ascii") as file:
        file.write("precious")
    result = world.run("-c", "CONFIG", config="""\
        pointsman: {stats: off}
        demo: {listen: $path, servers: ["127.0.0.1:1:1"], redis: true}
        """, path=path)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        f"pointsman: pool demo: cannot listen on {path}: "
        "something that is no socket has this name")
    assert read(path) == "precious"


def test_signals_that_come_early_are_kept(world):
    """Who has just started it may send them before it is ready for them."""
    proxy = world.make_proxy(CONFIG, server="127.0.0.1:1",
                             log=world.folder + "/log")
    # It waits for its file until both have been sent.
    path, proxy.config_path = proxy.config_path, world.folder + "/fifo"
    os.mkfifo(proxy.config_path)
    proxy.spawn()
    with open(proxy.config_path, "w", encoding="utf-8") as file:
        proxy.signal(signal.SIGHUP)
        proxy.signal(signal.SIGUSR1)
        file.write(read(path))
        os.rename(path, proxy.config_path)
    log = world.folder + "/log"
    eventually(lambda: 'msg="reloaded"' in read(log) and
               'msg="log reopened"' in read(log))


@pytest.mark.parametrize("command", [
    'ulimit -f 0; exec "$0" -c "$1"',
    'exec 3<>"$2"; exec 2>"$2"; exec 3>&-; exec "$0" -c "$1"'],
    ids=["at its limit", "read by nobody"])
def test_a_log_that_takes_nothing_ends_nothing(world, command):
    socket = os.path.join(world.folder, "demo.sock")
    fifo = os.path.join(world.folder, "fifo")
    os.mkfifo(fifo)
    log = "-" if "$2" in command else world.folder + "/log"
    proxy = world.make_proxy(CONFIG, server=world.server().address, log=log)
    proxy.write_config(read(proxy.config_path).replace(
        "listen: 127.0.0.1:0", f"listen: {socket}"))
    process = world.process("limited", ["sh", "-c", command, harness.POINTSMAN,
                                        proxy.config_path, fifo])
    eventually(lambda: os.path.exists(socket) or not process.is_running())
    assert process.is_running()
    assert typed("-s", socket, "set", "k", "v") == "OK\n"
    process.signal(signal.SIGTERM)
    assert process.wait() == 0


FILES = """
    pointsman:
      pid_file: $pid
      state_file: $state
    demo:
      listen: 127.0.0.1:0
      servers: ["127.0.0.1:1:1"]
      redis: true
"""


def test_a_pid_file_that_is_not_ours_is_left(world):
    """Such as /dev/null, which the next program would miss."""
    path = os.path.join(world.folder, "pid")
    for target, error in ((os.devnull, None),
                          ("/dev/full", "No space left on device"),
                          (world.folder, "Is a directory")):
        os.symlink(target, path)
        proxy = world.proxy(FILES, pid=path, state=world.folder + "/epochs")
        warnings = proxy.events("cannot write pid_file")
        assert [line["error"] for line in warnings] == [error] * bool(error)
        proxy.stop()
        assert os.readlink(path) == target
        os.remove(path)


def test_a_state_file_that_cannot_be_written_is_told_of_at_the_start(world):
    """Not only when a failover wants to."""
    device = os.path.join(world.folder, "device")
    os.symlink(os.devnull, device)
    for path, error in (("/no/such/folder", "No such file or directory"),
                        (device, "Not a regular file")):
        proxy = world.proxy(FILES, pid=world.folder + "/pid", state=path)
        proxy.expect_errors("state_file cannot be written")
        assert [line["error"] for line in proxy.events(
            "state_file cannot be written")] == [error]
        proxy.stop()
    assert os.readlink(device) == os.devnull


def test_paths_in_the_log_may_have_blanks(world):
    path = os.path.join(world.folder, 'it is a "p\u00e4th"', "file")
    proxy = world.make_proxy(FILES, pid=path, state=path)
    proxy.config_path = os.path.join(world.folder, "a b.yml")
    proxy.write_config(harness.without_fixed_ports(
        harness.fill(FILES, {"pid": path, "state": path})))
    proxy.expect_errors("state_file cannot be written", "reload refused",
                        "configuration")
    proxy.start()
    os.remove(proxy.config_path)
    proxy.signal(signal.SIGHUP)
    for msg in "starting", "reloading", "reload refused":
        event = eventually(lambda msg=msg: proxy.events(msg))[0]
        assert event["file"] == proxy.config_path
    for msg in "cannot write pid_file", "state_file cannot be written":
        event = proxy.events(msg)[0]
        assert event["path"].encode("latin-1").decode() == path


def test_a_device_is_no_state_file_after_a_reload_either(world):
    device = os.path.join(world.folder, "device")
    os.symlink(os.devnull, device)
    proxy = world.proxy(FILES, pid=world.folder + "/pid",
                        state=world.folder + "/epochs")
    proxy.expect_errors("state_file cannot be written")
    text = read(proxy.config_path)
    proxy.write_config(text.replace(world.folder + "/epochs", device))
    proxy.signal(signal.SIGHUP)
    eventually(lambda: proxy.events("reloaded"))
    assert os.readlink(device) == os.devnull
