"""Processor time of a tree of processes."""

from __future__ import annotations

import psutil

from tests.benchmarks.memory import tree


class Meter:
    """Counts from its making on."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._before = _used(root)

    def seconds(self) -> float:
        """What the process `root`, its children and theirs have used since, of those that still run."""
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
