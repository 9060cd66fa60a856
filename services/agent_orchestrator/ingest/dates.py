"""Dates as people write them in documents, as aware UTC instants."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from services.agent_orchestrator.ingest.documents import UnreadableError
from services.runtime.times import within_time


def read_date(name: str, value: Any) -> datetime | None:
    """An ISO 8601 date or time, or what YAML made of one; without a zone it is UTC. None for none.

    UnreadableError for anything else.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        value = _from_text(name, value)
    if isinstance(value, datetime):
        return within_time(_in_utc(name, value))
    if isinstance(value, date):
        return within_time(datetime.combine(value, time(), UTC))
    raise UnreadableError(f"{name} is not an ISO 8601 date")


def _from_text(name: str, text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        raise UnreadableError(f"{name} is not an ISO 8601 date") from None


def _in_utc(name: str, value: datetime) -> datetime:
    if value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise UnreadableError(f"{name} is outside of the years 1–9999") from None
