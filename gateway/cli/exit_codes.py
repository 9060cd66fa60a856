"""The exit codes of every command. `braid --help` and docs/command-line.md list the same table."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    PARTIAL = 4
    UNAVAILABLE = 5
    DENIED = 6
    INTERRUPTED = 130


MEANINGS = {
    ExitCode.OK: "done, also when a search found nothing",
    ExitCode.FAILED: "failed, `space check` found an inconsistency, or `eval` missed a goal",
    ExitCode.USAGE: "wrong command, option or value; ambiguous entity name",
    ExitCode.NOT_FOUND: "the named resource does not exist",
    ExitCode.PARTIAL: "partly done: a file was refused, or a part of the system was unavailable",
    ExitCode.UNAVAILABLE: "the gateway or a store is unavailable, overloaded or too slow: try again",
    ExitCode.DENIED: "no valid API key, or its scopes do not allow the command",
    ExitCode.INTERRUPTED: "stopped by Ctrl-C",
}

_BY_REASON = {
    "USAGE": ExitCode.USAGE,
    "INVALID_FIELD": ExitCode.USAGE,
    "IDEMPOTENCY_KEY_REUSED": ExitCode.USAGE,
    "NOT_FOUND": ExitCode.NOT_FOUND,
    "UNREACHABLE": ExitCode.UNAVAILABLE,
    "STORE_UNAVAILABLE": ExitCode.UNAVAILABLE,
    "EMBEDDER_UNAVAILABLE": ExitCode.UNAVAILABLE,
    "ALL_LEGS_FAILED": ExitCode.UNAVAILABLE,
    "OVERLOADED": ExitCode.UNAVAILABLE,
    "DEADLINE": ExitCode.UNAVAILABLE,
    "CALL_IN_PROGRESS": ExitCode.UNAVAILABLE,
    "INVALID_CREDENTIAL": ExitCode.DENIED,
    "MISSING_SCOPE": ExitCode.DENIED,
    "INTERRUPTED": ExitCode.INTERRUPTED,
}
# Statuses of a leg that could not search everything.
_FAILED = frozenset({"TIMED_OUT", "UNAVAILABLE"})
_INCOMPLETE = _FAILED | {"DEGRADED"}


def of_reason(reason: str) -> ExitCode:
    """Returns the exit code for a failure with this reason of REST."""
    return _BY_REASON.get(reason, ExitCode.FAILED)


def of_legs(legs: list[dict[str, object]]) -> ExitCode:
    """Returns the exit code of a search with these legs."""
    statuses = {leg["status"] for leg in legs}
    if statuses and statuses <= _FAILED:
        return ExitCode.UNAVAILABLE
    return ExitCode.PARTIAL if statuses & _INCOMPLETE else ExitCode.OK


def of_search(answer: dict[str, Any]) -> ExitCode:
    """Returns the exit code of a search by its legs and by its expansion and reranking."""
    code = of_legs(answer["legs"])
    steps = [answer.get("expansion"), answer.get("reranking")]
    undone = any(step and step["status"] in _INCOMPLETE for step in steps)
    return ExitCode.PARTIAL if code is ExitCode.OK and undone else code


def table() -> str:
    """Returns the codes with their meanings, one per line."""
    return "\n".join(f"{code.value:>5}  {meaning}" for code, meaning in MEANINGS.items())
