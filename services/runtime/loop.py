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


def settle() -> None:
    """Leaves what a start has made out of garbage collections: each would look through all of it during some call."""
    gc.collect()
    gc.freeze()
