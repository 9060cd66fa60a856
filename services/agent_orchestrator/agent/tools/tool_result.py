"""The form of every tool answer: numbered items in a delimited text for the model, plus the typed result.

Retrieved text is data. It is enclosed in `<search_results>`, which a document cannot close, so that a model can
distinguish a user's request from a document's text.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic_ai import ModelRetry, ToolReturn

from braid.common.v1 import errors_pb2, legs_pb2
from services.agent_orchestrator.agent.results import (
    MAX_CHARACTERS,
    ResultItem,
    ToolResult,
    capped_text,
    shown_count,
)
from services.runtime.errors import BraidError
from services.runtime.leg_reports import leg_report

if TYPE_CHECKING:
    from services.agent_orchestrator.agent.dependencies import AgentDependencies

_OPEN, _CLOSE = "<search_results>", "</search_results>"
_DELIMITER = re.compile(r"<(?=\s{0,99}/?\s{0,99}search_results)", re.IGNORECASE)
_MAX_HEADING = 900
_ROOM = MAX_CHARACTERS - len(_OPEN) - len(_CLOSE) - 2
_MAX_MESSAGE = 300
_UNAVAILABLE_STATUS = {
    errors_pb2.ERROR_REASON_DEADLINE: legs_pb2.LEG_STATUS_TIMED_OUT,
}
_UNAVAILABLE_REASON = {
    errors_pb2.ERROR_REASON_DEADLINE: legs_pb2.LEG_REASON_BUDGET_EXCEEDED,
    errors_pb2.ERROR_REASON_OVERLOADED: legs_pb2.LEG_REASON_OVERLOADED,
    errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE: legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    errors_pb2.ERROR_REASON_STORE_UNAVAILABLE: legs_pb2.LEG_REASON_STORE_UNAVAILABLE,
}

Report = legs_pb2.LegReport


def respond(
    deps: AgentDependencies, result: ToolResult, heading: str = "", next_page: str = ""
) -> ToolReturn[str]:
    """Returns the tool's answer. Its text has the result's message first, then `heading`, then the items.

    `next_page` is the token of the page after the items in the text.
    """
    first = deps.evidence.add(result.items)
    text = capped_text(
        _head(result, heading, next_page),
        result.items,
        result.total_count,
        first_number=first,
        max_characters=_ROOM,
    )
    delimited = replace(result, summary=heading, text=f"{_OPEN}\n{_harmless(text)}\n{_CLOSE}")
    deps.evidence.record(delimited)
    return ToolReturn(return_value=delimited.text, metadata=delimited)


def shown_items(result: ToolResult, heading: str, next_page: str) -> int:
    """Returns how many of the result's items the text of `respond` certainly shows, for a token as long as this one."""
    return shown_count(_head(result, heading, next_page), result.items, max_characters=_ROOM)


def _head(result: ToolResult, heading: str, next_page: str) -> str:
    head = "\n".join(part for part in (result.message, heading) if part)[:_MAX_HEADING]
    return f"{head}\nNext page: {next_page}" if next_page else head


def _harmless(text: str) -> str:
    """Replaces characters that would open or close the delimiters; the length stays the same."""
    return _DELIMITER.sub("‹", text)


def retry_for(error: BraidError) -> ModelRetry:
    """Maps a tier's rejection of arguments to a retry by the model."""
    return ModelRetry(f"The arguments are not valid: {error.message[:_MAX_MESSAGE]}")


def is_refusal(error: BraidError) -> bool:
    """Whether a failure was caused by the arguments."""
    return error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD


def is_unknown(error: BraidError) -> bool:
    """Whether a failure means that the requested item does not exist."""
    return error.reason == errors_pb2.ERROR_REASON_NOT_FOUND


class LegClock:
    """Measures one leg of a tool and reports how it ended."""

    def __init__(self, deps: AgentDependencies, call_id: str, leg: legs_pb2.Leg.ValueType) -> None:
        self._deps = deps
        self._call_id = call_id
        self._leg = leg
        self._started = time.perf_counter_ns()

    def ended(
        self,
        status: legs_pb2.LegStatus.ValueType,
        reason: legs_pb2.LegReason.ValueType = legs_pb2.LEG_REASON_UNSPECIFIED,
        count: int = 0,
    ) -> None:
        """Reports the end of the leg."""
        report = leg_report(self._leg, (status, reason), self._started, count)
        self._deps.leg_ended(self._call_id, report)

    def answered(self, answer: Any) -> None:
        """Reports a search's answer with its own status."""
        self.ended(answer.leg.status, answer.leg.reason, len(answer.hits))

    def found(self, items: Sequence[ResultItem] | Sequence[Any]) -> None:
        """Reports a look-up with the number of its results."""
        self.ended(
            legs_pb2.LEG_STATUS_OK if items else legs_pb2.LEG_STATUS_NO_MATCH, count=len(items)
        )

    def failed(self, error: BraidError) -> None:
        """Reports a failed leg."""
        self.ended(
            _UNAVAILABLE_STATUS.get(error.reason, legs_pb2.LEG_STATUS_UNAVAILABLE),
            _UNAVAILABLE_REASON.get(error.reason, legs_pb2.LEG_REASON_INTERNAL),
        )
