"""A process that is starting: since when, what it reports, and whether it advances.

A start has no deadline: on a slow machine it may take very long. A process that uses no CPU time, logs nothing and
reports nothing new for several minutes is stuck.
"""

import time
from collections.abc import Callable
from pathlib import Path

import psutil

STUCK_SECONDS = 300.0
# Less than this share of a core is what an idle process uses for its timers; a busy one gets more even if it is
# throttled to a twentieth.
_IDLE_SHARE = 0.01
_IDLE_SECONDS = 0.1

Report = Callable[[str], None]
"""Receives what a process says about its state, such as the reason why it does not serve."""


def ignore(_detail: str) -> None:
    """Drop a report."""


class Waiting:
    """The wait for one process.

    Args:
        name: the process.
        blocked: whether it waits for another process, which is then the one that has to advance.
        stuck_seconds: after this time without progress the process is stuck.
    """

    def __init__(
        self,
        name: str,
        *,
        blocked: Callable[[], bool] = lambda: False,
        stuck_seconds: float = STUCK_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self.detail = ""
        self._blocked = blocked
        self._stuck_seconds = stuck_seconds
        self._clock = clock
        self._began = self._advanced = clock()
        self._used = 0.0
        self._seen: tuple[str, int] = ("", 0)

    def __str__(self) -> str:
        detail = f": {self.detail}" if self.detail else ""
        return f"{self.name} ({self.seconds:.0f} s{detail})"

    @property
    def seconds(self) -> float:
        """Seconds since the start began."""
        return self._clock() - self._began

    def report(self, detail: str) -> None:
        """Record what the process says about its state."""
        self.detail = detail

    def is_stuck(self, pid: int, log: Path) -> bool:
        """Look at the process; whether it has made no progress for too long."""
        now, used = self._clock(), _cpu_seconds(pid)
        seen = (self.detail, log.stat().st_size if log.exists() else 0)
        least = _IDLE_SECONDS + _IDLE_SHARE * (now - self._advanced)
        if seen != self._seen or used - self._used >= least or self._blocked():
            self._seen, self._used, self._advanced = seen, used, now
        return now - self._advanced > self._stuck_seconds


def _cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process and its children have used; 0 if it has ended."""
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
        times = [member.cpu_times() for member in family]
    except psutil.Error:
        return 0.0
    return sum(one.user + one.system for one in times)
