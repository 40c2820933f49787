"""scripts/quickstart, as somebody who has just cloned the project uses it."""

import glob
import os
import re
import shutil
import signal
import subprocess

import pytest

from harness import REPO, Process, eventually, seconds

QUICKSTART = os.path.join(REPO, "scripts", "quickstart")
READY = "Ctrl-C ends the proxy"
CONFIG = """\
pool:
  listen: 127.0.0.1:0
  distribution: modula
  servers: [{address}:1]
"""

# It builds what everybody may run, which no sanitizer looks at.
pytestmark = pytest.mark.plain_only


class Run:
    """One in a terminal of its own, with its folder for temporary files."""

    def __init__(self, world, *arguments):
        self.folder = os.path.join(world.folder, "it's a tmp \u00f6")
        os.makedirs(self.folder, exist_ok=True)
        self.process = Process(
            [QUICKSTART, *arguments], os.path.join(world.folder, "quickstart"),
            env={**os.environ, "TMPDIR": self.folder}, start_new_session=True)

    def wait_for(self, text):
        """What it has printed, once this is part of it; it may have to build."""
        def has_said():
            assert self.process.is_running(), self.process.log()
            return text in self.process.log()

        eventually(has_said, 300, text)
        return self.process.log()

    def press_ctrl_c(self):
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(30)

    def end(self):
        if self.process.is_running():
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)

    def others(self):
        """The ids of those that it has started: they name the folder."""
        return [folder for folder in glob.glob("/proc/[0-9]*")
                if self.folder in read(f"{folder}/cmdline") +
                where(f"{folder}/cwd")]


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def where(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


@pytest.fixture(name="run")
def run_fixture(world):
    runs = []

    def run(*arguments):
        runs.append(Run(world, *arguments))
        return runs[-1]

    yield run
    for each in runs:
        each.end()


def typed(command):
    return subprocess.run(command, shell=True, check=True, text=True,
                          stdout=subprocess.PIPE, timeout=seconds(20)).stdout


def test_the_demo_serves_what_it_says_and_leaves_nothing(run):
    demo = run()
    hints = re.findall(r"^    (\S.*)$", demo.wait_for(READY), re.MULTILINE)
    answers = [typed(hint) for hint in hints]
    assert answers[:3] == ["OK\n", "OK\n", "hello\n1\n2\n3\n"]
    assert '"demo"' in answers[3]
    assert re.findall(r"\b(?:one|two|three)\b", answers[4])
    assert len(demo.others()) == 4  # three servers and the proxy
    assert demo.press_ctrl_c() == 0
    assert demo.others() == []
    assert os.listdir(demo.folder) == []


def test_a_file_is_served(run, world):
    server = world.server()
    path = os.path.join(world.folder, "mine.yml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(CONFIG.format(address=server.address))
    mine = run(path)
    port = re.search(r"listening\" pool=pool addr=127.0.0.1:(\d+)",
                     mine.wait_for('msg="ready"')).group(1)
    assert typed(f"redis-cli -p {port} set k v") == "OK\n"
    assert server.client().get("k") == b"v"
    assert mine.press_ctrl_c() == 0


def test_a_file_that_is_not_there_is_named_before_the_build():
    result = subprocess.run([QUICKSTART, "/no/such/file.yml"], check=False,
                            capture_output=True, text=True,
                            timeout=seconds(20))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr == "quickstart: /no/such/file.yml cannot be read\n"


CONFIGURE = """\
#!/bin/sh
case $0 in *' '*) echo "unsafe srcdir value: $0"; exit 1 ;; esac
printf 'all:\\n\\t@echo made of %s\\n' "$0" >Makefile
"""


def test_a_clone_may_have_blanks_in_its_path(world):
    """What Automake makes of configure.ac refuses them where it is called."""
    clone = os.path.join(world.folder, "a cl\u00f6ne")
    shutil.copytree(os.path.join(REPO, "scripts"),
                    os.path.join(clone, "scripts"))
    for name, text in ("configure.ac", ""), ("configure", CONFIGURE):
        with open(os.path.join(clone, name), "w", encoding="utf-8") as file:
            file.write(text)
    os.chmod(os.path.join(clone, "configure"), 0o755)
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("BUILD_DIR", "MAKEFLAGS")}
    result = subprocess.run(
        [os.path.join(clone, "scripts", "build")], check=False, text=True,
        capture_output=True, timeout=seconds(60), env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout == "made of ../configure\n"


def test_packages_that_nobody_has_heard_of_are_missing():
    """Where dpkg does not know a name, errexit ended the search for others."""
    found = subprocess.run(
        ["bash", "-euc", 'dpkg-query() { [ "$4" = known ] && echo "ii "; }\n'
         '. "$0"\n'
         'while read -r name; do echo "<$name>"; done < <(missing_packages '
         'one known two)', os.path.join(REPO, "scripts", "lib.sh")],
        check=True, text=True, stdout=subprocess.PIPE).stdout
    assert found == "<one>\n<two>\n"
