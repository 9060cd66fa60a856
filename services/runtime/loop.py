"""Runs a process's main coroutine on uvloop."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import uvloop

from services.runtime.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run(main: Coroutine[Any, Any, None]) -> None:
    """Runs `main` to its end. Raises SystemExit with a sentence if the process cannot start with its settings."""
    try:
        uvloop.run(main)
    except SetupError as error:
        raise SystemExit(str(error)) from None


def freeze_gc() -> None:
    """Excludes objects allocated at startup from garbage collection: each collection would scan them during a call."""
    gc.collect()
    gc.freeze()
