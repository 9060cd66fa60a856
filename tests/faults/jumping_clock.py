"""`python -m tests.faults.jumping_clock FILE MODULE ARGUMENTS…` runs a module with a shifted wall clock.

All of Braid's code gets the time from one function; this module replaces it by one that adds the seconds in FILE.
"""

from __future__ import annotations

import runpy
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from services.runtime import times


def install(file: Path) -> None:
    """Replaces the clock; must run before any other module imports the function."""
    real = times.utc_now

    def jumping() -> datetime:
        with suppress(FileNotFoundError, ValueError):
            return real() + timedelta(seconds=float(file.read_text()))
        return real()

    times.utc_now = jumping


if __name__ == "__main__":
    name, module, *arguments = sys.argv[1:]
    install(Path(name))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
