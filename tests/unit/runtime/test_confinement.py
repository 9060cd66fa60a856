"""A confined process computes and uses its pipes; it opens no file, no connection and no process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys

import pytest

from services.runtime.confinement import set_limit

# Each attempt runs in a process that is confined; it prints the attempt's outcome on its pipe.
SCRIPT = """
import json, os, resource, signal, socket, sys, threading, time
from dataclasses import asdict
from services.runtime.confinement import confine_process
parent = os.getppid()
held = asdict(confine_process())
try:
    outcome = repr({attempt})
except (OSError, RuntimeError, ValueError) as error:
    outcome = type(error).__name__
print(json.dumps([held, outcome]))
"""


def attempt(expression: str) -> tuple[dict[str, bool], str]:
    """Returns which protections hold in a confined process, and the outcome of an expression in it."""
    ran = subprocess.run(
        [sys.executable, "-P", "-c", SCRIPT.format(attempt=expression)],
        check=True,
        capture_output=True,
        timeout=60,
    )
    held, outcome = json.loads(ran.stdout)
    return held, outcome


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("open('/etc/passwd')", "PermissionError"),
        ("open(sys.executable, 'rb')", "PermissionError"),
        ("os.listdir('.')", "PermissionError"),
        ("os.stat('/')", "PermissionError"),
        ("os.unlink('/no-such-file')", "PermissionError"),
        ("socket.socket()", "PermissionError"),
        ("socket.socket(socket.AF_UNIX)", "PermissionError"),
        ("socket.socketpair()", "PermissionError"),
        ("os.fork()", "PermissionError"),
        ("os.execv('/bin/true', ['true'])", "PermissionError"),
        ("os.kill(parent, 0)", "PermissionError"),
        ("resource.prlimit(parent, resource.RLIMIT_CPU)", "PermissionError"),
        ("os.memfd_create('code')", "PermissionError"),
        ("threading.Thread(target=print).start()", "RuntimeError"),
        ("resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))", "ValueError"),
        ("len(os.urandom(4))", "4"),
        ("time.sleep(0.001)", "None"),
        ("sum(range(100_000))", "4999950000"),
        ("resource.setrlimit(resource.RLIMIT_CPU, (50, 60))", "None"),
    ],
)
def test_a_confined_process_only_computes(expression: str, outcome: str) -> None:
    assert attempt(expression)[1] == outcome


def test_all_protections_hold_on_a_current_linux() -> None:
    held, _ = attempt("None")
    assert held == dict.fromkeys(held, True)


def test_a_protection_that_the_system_lacks_is_reported_and_the_others_hold() -> None:
    script = SCRIPT.replace(
        "parent =",
        "import platform; platform.machine = lambda: 'vax'; parent =",
    )
    ran = subprocess.run(
        [sys.executable, "-P", "-c", script.format(attempt="open('/etc/passwd')")],
        check=True,
        capture_output=True,
        timeout=60,
    )
    held, outcome = json.loads(ran.stdout)
    assert held["seccomp"] is False
    assert held["landlock"] is True
    assert held["files_denied"] is True
    assert outcome == "PermissionError"


def test_a_limit_is_never_raised() -> None:

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert set_limit(resource.RLIMIT_NOFILE, soft, hard)
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
