"""Clients in other languages: where they are, and how they are run."""

import hashlib
import os
import shutil
import subprocess
import tempfile

from harness import REPO, seconds

CLIENTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "clients")


def run(argv, stdin=b"", environment=None, timeout=60):
    """Run to the end, which must be a good one; what it wrote."""
    result = subprocess.run(
        argv, input=stdin, capture_output=True, timeout=seconds(timeout),
        check=False, env={**os.environ, **(environment or {})})
    assert result.returncode == 0, (argv, result.stdout, result.stderr)
    return result.stdout


def node_modules(source=os.path.join(CLIENTS, "node")):
    """Installed once for each lock file, under build-clients/."""
    with open(os.path.join(source, "package-lock.json"), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:16]
    target = os.path.join(REPO, "build-clients", "node-" + digest)
    if not os.path.isdir(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        folder = tempfile.mkdtemp(dir=os.path.dirname(target))
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(source, name), folder)
        run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund",
             "--prefix", folder], timeout=300)
        _move_unless_there(folder, target)
    return os.path.join(target, "node_modules")


def _move_unless_there(folder, target):
    """Another run may have been faster."""
    try:
        os.rename(folder, target)
    except OSError:
        assert os.path.isdir(target)
        shutil.rmtree(folder)
