"""Output of figures, one per line, for people and programs: `<command>.<figure>: <number> <unit>`."""

from __future__ import annotations

import math
import sys
from typing import TextIO


class Figures:
    """Prints the figures of one command to `out`, by default standard output."""

    def __init__(self, command: str, out: TextIO | None = None) -> None:
        self._command = command
        self._out = out or sys.stdout

    def put(self, figure: str, number: float, unit: str) -> None:
        """Prints one figure. Raises ValueError for a number that is not finite, because a figure must be measured."""
        print(f"{self._command}.{figure}: {_shown(number)} {unit}", file=self._out, flush=True)


def note(text: str) -> None:
    """Prints progress for people on standard error."""
    print(text, file=sys.stderr, flush=True)


def _shown(number: float) -> str:
    if not math.isfinite(number):
        raise ValueError("a figure must be a finite number")
    if number == int(number):
        return str(int(number))
    return f"{number:.3f}".rstrip("0").rstrip(".")
