"""Reads how long a provider asks clients to wait."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# In seconds: after a day a client may as well try again, and such a value is safe for timers and answers.
LONGEST_WAIT = 86_400.0


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds that the server asks to wait, from 0 to `LONGEST_WAIT`.

    The header `retry-after` is a number or an HTTP date. None without it, and for an invalid value: negative, infinite,
    or neither number nor date.
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
    """Returns the seconds until a date; a past date asks for no wait."""
    try:
        wait = parsedate_to_datetime(date).timestamp() - time.time()
    except (ValueError, OverflowError):
        return None
    return min(max(wait, 0.0), LONGEST_WAIT)
