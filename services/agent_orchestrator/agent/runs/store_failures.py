"""Store failures that a run tolerates: it still answers and reports what could not be stored."""

from __future__ import annotations

from typing import Final

from services.runtime.errors import DeadlineError, OverloadedError, StoreUnavailableError
from services.runtime.telemetry import get_logger

STORE_FAILURES: Final = (StoreUnavailableError, DeadlineError, OverloadedError, TimeoutError)


def warn(event: str, error: Exception) -> None:
    """Logs a store failure as a warning."""
    get_logger("agent").warning(event, cause=type(error).__name__)
