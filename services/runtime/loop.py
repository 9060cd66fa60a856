"""Runs a process's main coroutine on uvloop."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import uvloop

from services.runtime.errors import SetupError

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run(main: Coroutine[Any, Any, None]) -> None:
    """Runs `main` to its end. SystemExit with a sentence where the process cannot start as it is set up."""
    try:
        uvloop.run(main)
    except SetupError as error:
        raise SystemExit(str(error)) from None


def freeze_gc() -> None:
    """Excludes what the start allocated from garbage collection: each collection would scan it during some call."""
    gc.collect()
    gc.freeze()
