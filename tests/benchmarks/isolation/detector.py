"""Detects leaks: another's text or ids in a response, a response that depends on them, or a change of their data."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Fields that differ between two equal calls.
_VOLATILE = re.compile(
    r"(^|_)(request_id|took|elapsed|ms|seconds|cache|cached|now)(_|$)|(_at|_time|_ms)$|^(latency|timings?)$"
)
_PLACEHOLDER = "<given>"
# The status if no valid request could be built, or a tool refused all arguments.
NOT_SENT = "invalid"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a call: its code or status, and the whole response as JSON."""

    status: str
    body: Any = None

    @property
    def accepted(self) -> bool:
        """Returns whether the request was valid, so that the operation was reached."""
        return self.status not in {"INVALID_ARGUMENT", "422", "400", NOT_SENT, "UNIMPLEMENTED"}

    @property
    def succeeded(self) -> bool:
        """Returns whether the call succeeded."""
        return self.status == "OK" or self.status.startswith("2")


@dataclass(frozen=True, slots=True)
class Leak:
    """A description of one leak."""

    operation: str
    actor: str
    victim: str
    what: str


@dataclass(slots=True)
class Found:
    """The number of checks of a run, and the leaks found."""

    checked: int = 0
    leaks: list[Leak] = field(default_factory=list)

    def add(self, leak: Leak) -> None:
        """Records a leak."""
        self.leaks.append(leak)


def legs_in_order(parts: Sequence[Any]) -> list[Any]:
    """Returns the parts of a streamed response with its legs sorted by name, because they arrive in any order."""
    legs = [part for part in parts if isinstance(part, dict) and set(part) == {"leg"}]
    others = [part for part in parts if part not in legs]
    return [*sorted(legs, key=_leg_name), *others]


def _leg_name(part: Mapping[str, Any]) -> str:
    leg = part["leg"]
    return str(leg.get("report", leg).get("leg", ""))


def seen_in(outcome: Outcome, secrets: Collection[str], given: Collection[str]) -> list[str]:
    """Returns the secrets in a response, except those that the request contained."""
    text = repr(outcome.body).lower()
    for known in given:
        text = text.replace(known.lower(), _PLACEHOLDER)
    in_request = {one.lower() for one in given}
    return sorted(one for one in secrets if one.lower() not in in_request and one.lower() in text)


def same(first: Outcome, second: Outcome, given: Collection[str], *, status_only: bool) -> bool:
    """Returns whether two responses are equal, ignoring values of the requests, and times."""
    if first.status != second.status:
        return False
    return status_only or _plain(first.body, given) == _plain(second.body, given)


def plain(outcome: Outcome, given: Collection[str] = ()) -> Any:
    """Returns a response without the fields that differ between two equal calls."""
    return outcome.status, _plain(outcome.body, given)


def difference(first: Any, second: Any, place: str = "") -> str:
    """Describes the first difference between two responses."""
    if isinstance(first, dict) and isinstance(second, dict):
        for name in first.keys() | second.keys():
            if first.get(name) != second.get(name):
                return difference(first.get(name), second.get(name), f"{place}.{name}")
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        for number, (one, other) in enumerate(zip(first, second, strict=False)):
            if one != other:
                return difference(one, other, f"{place}[{number}]")
    return f"{place}: {str(first)[:300]} → {str(second)[:300]}"


def _plain(value: Any, given: Collection[str]) -> Any:
    if isinstance(value, dict):
        return {
            name: _plain(part, given)
            for name, part in value.items()
            if not _VOLATILE.search(str(name))
        }
    if isinstance(value, list):
        return [_plain(part, given) for part in value]
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, str):
        for known in given:
            value = value.replace(known, _PLACEHOLDER)
    return value
