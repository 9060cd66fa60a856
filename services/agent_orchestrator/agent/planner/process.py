"""The process in which the local planner reads texts: a `StepRequest` is answered with the next step.

It asks its parent for what it needs of other services: the entities that a text names (`link`), the vector of a
question (`vector`), and how well texts answer a question (`read`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final
from zoneinfo import ZoneInfo, available_timezones

from pydantic import TypeAdapter

from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.question import Clock, Question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.steps import (
    Conversation,
    PlannerContext,
    Step,
    next_step,
)
from services.agent_orchestrator.agent.planner.tool_choice import ToolChoice, ToolChooser
from services.runtime.text_worker import answer_requests, call

# What is imported only when it is needed. It must be imported before the process is confined.
_LAZY_IMPORTS: Final = ("_strptime", "sentencex.sentencex")
# Runs whose parsed questions are kept for their next step.
_MAX_RUNS: Final = 256


@dataclass(frozen=True, slots=True)
class StepRequest:
    """What the next step of a run depends on. `zone` is the name of the caller's time zone, `now` an instant in it."""

    run_id: str
    talk: Conversation
    tools: tuple[str, ...]
    now: datetime
    zone: str
    is_remembered: bool = False
    is_in_conversation: bool = False


REQUEST: Final = TypeAdapter(StepRequest)
STEP: Final = TypeAdapter(Step)


@dataclass(frozen=True, slots=True)
class _KnownRun:
    """What earlier steps of a run have found out."""

    understood: dict[str, list[Question]]
    read: dict[tuple[str, str], float]


class Planner:
    """Plans the steps of many runs."""

    def __init__(self, choice: ToolChoice, zones: dict[str, ZoneInfo]) -> None:
        self._chooser = ToolChooser(choice, _vector_of)
        self._zones = zones
        self._runs: OrderedDict[str, _KnownRun] = OrderedDict()

    async def step(self, given: Any) -> Any:
        """Returns the next step as a JSON value."""
        request = REQUEST.validate_python(given)
        known = self._known(request.run_id)
        zone = self._zones.get(request.zone, request.now.tzinfo or UTC)
        context = PlannerContext(
            Clock(request.now.astimezone(UTC), zone),
            _link,
            self._chooser.choose,
            Reading(_read, known.read),
            known.understood,
            request.is_remembered,
            request.is_in_conversation,
            _note,
        )
        step = await next_step(request.talk, request.tools, context)
        return STEP.dump_python(step, mode="json")

    def _known(self, run_id: str) -> _KnownRun:
        known = self._runs.pop(run_id, None) or _KnownRun({}, {})
        self._runs[run_id] = known
        if len(self._runs) > _MAX_RUNS:
            self._runs.popitem(last=False)
        return known


async def _link(text: str) -> Sequence[KnownEntity]:
    return [KnownEntity(*values) for values in await call("link", text)]


async def _vector_of(text: str) -> Sequence[float] | None:
    vector: list[float] | None = await call("vector", text)
    return vector


async def _note(turns: Sequence[str]) -> str | None:
    noted: str | None = await call("note", list(turns))
    return noted


async def _read(pairs: Sequence[tuple[str, str]]) -> list[float] | None:
    scores: list[float] | None = await call("read", list(pairs))
    return scores


def main() -> None:
    """Answers requests until there are no more."""
    for name in _LAZY_IMPORTS:
        import_module(name)
    zones = {name: ZoneInfo(name) for name in available_timezones()}
    answer_requests(Planner(ToolChoice.load(), zones).step)


if __name__ == "__main__":
    main()
