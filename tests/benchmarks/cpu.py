"""The processor time of a process tree."""

from __future__ import annotations

import psutil

from tests.benchmarks.memory import tree


class Meter:
    """Measures processor time from its construction on."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._before = _used(root)

    def seconds(self) -> float:
        """Returns the processor time since then of `root` and its descendants that still run."""
        return sum(
            max(0.0, used - self._before.get(pid, 0.0)) for pid, used in _used(self._root).items()
        )


def _used(root: int) -> dict[int, float]:
    used: dict[int, float] = {}
    for process in tree(root):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        used[process.pid] = times.user + times.system
    return used
