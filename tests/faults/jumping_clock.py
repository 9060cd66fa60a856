"""`python -m tests.faults.jumping_clock FILE MODULE ARGUMENTS…`: a module whose wall clock is off by a file's seconds.

Every process of Braid asks one function for the time; here it adds what the file says at that moment.
"""

from __future__ import annotations

import runpy
import sys
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from services.runtime import times


def install(file: Path) -> None:
    """Puts the injected clock in place of the machine's; before any other module has taken the function."""
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
