"""What counts as a leak: text or ids of another in an answer, an answer that depends on them, or a change of theirs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# What differs between two equal calls.
_VOLATILE = re.compile(
    r"(^|_)(request_id|took|elapsed|ms|seconds|cache|cached|now)(_|$)|(_at|_time|_ms)$|^(latency|timings?)$"
)
_PLACEHOLDER = "<given>"
# The status of a request that could not be made, or of a tool that takes none of those that were.
NOT_SENT = "invalid"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: its code or status, and all that was answered, as JSON would have it."""

    status: str
    body: Any = None

    @property
    def accepted(self) -> bool:
        """Whether the call was more than refused for its form."""
        return self.status not in {"INVALID_ARGUMENT", "422", "400", NOT_SENT, "UNIMPLEMENTED"}

    @property
    def succeeded(self) -> bool:
        """Whether the call did what it was for."""
        return self.status == "OK" or self.status.startswith("2")


@dataclass(frozen=True, slots=True)
class Leak:
    """One leak, for people."""

    operation: str
    actor: str
    victim: str
    what: str


@dataclass(slots=True)
class Found:
    """What a run has checked and found."""

    checked: int = 0
    leaks: list[Leak] = field(default_factory=list)

    def add(self, leak: Leak) -> None:
        """Notes a leak."""
        self.leaks.append(leak)


def legs_in_order(parts: Sequence[Any]) -> list[Any]:
    """The parts of a streamed answer with its legs in the order of their names: they come as each of them ends."""
    legs = [part for part in parts if isinstance(part, dict) and set(part) == {"leg"}]
    others = [part for part in parts if part not in legs]
    return [*sorted(legs, key=_leg_name), *others]


def _leg_name(part: Mapping[str, Any]) -> str:
    leg = part["leg"]
    return str(leg.get("report", leg).get("leg", ""))


def seen_in(outcome: Outcome, secrets: Collection[str], given: Collection[str]) -> list[str]:
    """The secrets that an answer tells, other than those that were given with the request."""
    text = repr(outcome.body).lower()
    for known in given:
        text = text.replace(known.lower(), _PLACEHOLDER)
    told = {one.lower() for one in given}
    return sorted(one for one in secrets if one.lower() not in told and one.lower() in text)


def same(first: Outcome, second: Outcome, given: Collection[str], *, status_only: bool) -> bool:
    """Whether two answers are equal but for what was given and for times."""
    if first.status != second.status:
        return False
    return status_only or _plain(first.body, given) == _plain(second.body, given)


def plain(outcome: Outcome, given: Collection[str] = ()) -> Any:
    """An answer without what differs between two equal calls."""
    return outcome.status, _plain(outcome.body, given)


def difference(first: Any, second: Any, place: str = "") -> str:
    """Where two answers differ first, and how."""
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
