"""Throttled processes get their share of the processors, and continue at full speed afterwards."""

from __future__ import annotations

import subprocess
import sys

import psutil

from tests.throttling import Throttle

BUSY = """
import subprocess, sys
if len(sys.argv) < 2:
    subprocess.Popen([sys.executable, *sys.orig_argv[1:], "a child"])
while True:
    pass
"""


def test_processes_and_their_children_get_a_share_and_continue_afterwards() -> None:
    started = subprocess.Popen([sys.executable, "-c", BUSY])
    process = psutil.Process(started.pid)
    ended = 0.0
    try:
        with Throttle(0.1, lambda: [process]) as throttle:
            while throttle.cpu_seconds < 0.6:
                throttle._ended.wait(0.1)
            assert throttle.cpu_seconds / throttle.seconds <= 0.15 * (psutil.cpu_count() or 1)
            [child] = process.children()
        ended = process.cpu_times().user
        while process.cpu_times().user < ended + 0.2:
            throttle._ended.wait(0)
        assert process.status() != psutil.STATUS_STOPPED
        assert child.status() != psutil.STATUS_STOPPED
    finally:
        for one in (*process.children(), process):
            one.kill()
        started.wait()
