"""Slows processes down: stops and continues them in short turns, so that they use only a share of the processors."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import psutil

_TURN = 0.02
_LOOK = 0.25  # seconds between two looks for new processes
# What may be used at once after a time of waiting, as a share of a second.
_BURST = 0.1

Roots = Callable[[], Sequence[psutil.Process]]


def own_children() -> list[psutil.Process]:
    """Returns the processes that this process has started."""
    return psutil.Process().children()


class Throttle:
    """Limits processes and their descendants to a share of all processors; only those that the test has started.

    A context manager; at its end all processes continue at full speed.
    """

    def __init__(self, share: float, roots: Roots = own_children) -> None:
        """`roots` returns the processes, which may change."""
        self._rate = share * (psutil.cpu_count() or 1)
        self._roots = roots
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="throttle")
        self._family: dict[int, psutil.Process] = {}
        self._used: dict[int, float] = {}
        self.cpu_seconds = 0.0
        self.seconds = 0.0

    def __enter__(self) -> Throttle:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Lets all processes continue at full speed; may be called before the block is left."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        began = looked = time.monotonic()
        credit = 0.0
        self._find()
        try:
            while not self._ended.wait(_TURN):
                now = time.monotonic()
                if now - looked > _LOOK:
                    self._find()
                    looked = now
                credit += self._rate * (now - began - self.seconds) - self._measure()
                credit = min(credit, _BURST)
                self.seconds = now - began
                # New processes are stopped too, so that this is sent in each turn.
                self._signal(signal.SIGSTOP if credit < 0 else signal.SIGCONT)
        finally:
            self._find()
            self._signal(signal.SIGCONT)

    def _find(self) -> None:
        with contextlib.suppress(psutil.Error):
            for root in self._roots():
                for process in self._with_descendants(root):
                    self._family.setdefault(process.pid, process)

    @staticmethod
    def _with_descendants(root: psutil.Process) -> Iterator[psutil.Process]:
        yield root
        with contextlib.suppress(psutil.Error):
            yield from root.children(recursive=True)

    def _measure(self) -> float:
        """Returns the processor time that was used since the last turn; forgets processes that have ended."""
        spent = 0.0
        for pid, process in list(self._family.items()):
            try:
                times = process.cpu_times()
            except psutil.Error:
                del self._family[pid]
                continue
            used = times.user + times.system
            spent += used - self._used.get(pid, used)
            self._used[pid] = used
        self.cpu_seconds += spent
        return spent

    def _signal(self, number: signal.Signals) -> None:
        for process in self._family.values():
            with contextlib.suppress(psutil.Error):
                process.send_signal(number)
