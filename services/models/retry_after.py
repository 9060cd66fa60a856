"""How long a provider asks to be left alone."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# Seconds: whoever is asked for more may as well look again after a day, and neither timers nor answers fail at it.
LONGEST_WAIT = 86_400.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait: `retry-after` as a number or an HTTP date; from 0 to `LONGEST_WAIT`.

    None without it, and for a value that is neither: below zero, infinite, or no number and no date at all.
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        wait = float(value)
    except ValueError:
        return _until(value)
    return min(wait, LONGEST_WAIT) if math.isfinite(wait) and wait >= 0 else None


def _until(date: str) -> float | None:
    """A date that is over asks for no wait."""
    try:
        wait = parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT)
