"""Failures of the store that a run gets over: it answers all the same, and says what could not be kept."""

from __future__ import annotations

from typing import Final

from services.runtime.errors import DeadlineError, OverloadedError, StoreUnavailableError
from services.runtime.telemetry import get_logger

STORE_FAILURES: Final = (StoreUnavailableError, DeadlineError, OverloadedError, TimeoutError)


def warn(event: str, error: Exception) -> None:
    """Logs what could not be stored or read."""
    get_logger("agent").warning(event, cause=type(error).__name__)
