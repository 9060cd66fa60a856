"""Reads a run's events from the gateway, and resumes after a broken connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError, UnreachableError

if TYPE_CHECKING:
    from gateway.cli.api import Api

ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event: its id, kind and data."""

    id: str
    kind: str
    data: dict[str, Any]

    @property
    def is_last(self) -> bool:
        """Whether this is the last event."""
        return self.kind in {"done", "error"}


class RunStream:
    """One run. Its id is known after the first event; it can be cancelled from then on."""

    def __init__(self, api: Api, body: dict[str, Any]) -> None:
        self._api = api
        self._body = body
        self.run_id = ""
        self._last_id = ""

    def events(self) -> Iterator[RunEvent]:
        """Yields events until the last one. Raises CliError if the run fails, UnreachableError without a gateway."""
        for attempt in range(ATTEMPTS):
            try:
                for event in self._open():
                    yield event
                    if event.is_last:
                        return
            except UnreachableError:
                if not self.run_id or attempt == ATTEMPTS - 1:
                    raise
        raise UnreachableError("the answer broke off", reason="UNREACHABLE")

    def cancel(self) -> None:
        """Stops the run if it has started."""
        if self.run_id:
            self._api.request_empty("POST", f"/api/chat/{self.run_id}/cancel")

    def _open(self) -> Iterator[RunEvent]:
        if self.run_id:
            path = f"/api/chat/{self.run_id}/events"
            lines = self._api.stream("GET", path, headers={"last-event-id": self._last_id})
        else:
            lines = self._api.stream("POST", "/api/chat", json={**self._body, "stream": True})
        for event in read_events(lines):
            if event.kind == "started":
                self.run_id = str(event.data["run_id"])
            self._last_id = event.id or self._last_id
            if event.kind == "error":
                detail, reason = str(event.data.get("detail", "")), event.data.get("reason", "")
                raise CliError(detail, reason=str(reason))
            yield event


def read_events(lines: Iterator[str]) -> Iterator[RunEvent]:
    """Yields server-sent events; skips comments and data that is not JSON."""
    fields: dict[str, str] = {}
    for text in lines:
        if text:
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if "event" in fields and "data" in fields:
            yield RunEvent(fields.get("id", ""), fields["event"], _object(fields["data"]))
        fields = {}


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
