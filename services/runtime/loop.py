"""Runs a process's main coroutine on uvloop."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import uvloop

if TYPE_CHECKING:
    from collections.abc import Coroutine


def run(main: Coroutine[Any, Any, None]) -> None:
    """Runs `main` to its end."""
    uvloop.run(main)


def freeze_gc() -> None:
    """Excludes what the start allocated from garbage collection: each collection would scan it during some call."""
    gc.collect()
    gc.freeze()
