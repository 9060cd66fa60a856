"""The relation between named things that a question states: "is Ada still the owner of the Ledger"."""

from __future__ import annotations

from typing import Final

from services.agent_orchestrator.agent.planner.computed import Evidence
from services.agent_orchestrator.agent.planner.fact_slots import (
    began,
    connects,
    relation_key,
    slots_of,
    words_about,
    words_of,
)
from services.agent_orchestrator.agent.planner.language import content_stems, stem
from services.agent_orchestrator.agent.planner.reading import BAR
from services.agent_orchestrator.agent.planner.statements import Statement, fact_statements
from services.runtime.patterns import compile_linear

_STILL: Final = compile_linear(r"\b(?:still|any ?more|any longer)\s*", ignore_case=True)
_ASKING: Final = frozenset(
    stem(word) for word in ("long", "many", "year", "month", "week", "day", "period")
)
_MAX_READ: Final = 20


async def stated_relation(evidence: Evidence) -> list[Statement]:
    """Returns the facts, in the order of time, that say what a question asks to confirm or to measure."""
    question = evidence.question
    names = [entity.name for entity in question.entities]
    candidates = [one for one in evidence.facts if connects(one, names)] if len(names) > 1 else []
    if not candidates:
        said = words_about(question) - _ASKING - {"still", "anymore"}
        # A thing that the graph does not know must at least be named by the fact.
        candidates = [
            one
            for one in evidence.facts
            if said and said <= content_stems(one.text) | relation_key(one)
        ]
    asked = "".join(_pieces(question.text))
    statements = fact_statements(candidates)
    read = await evidence.reading.read(asked, statements, limit=_MAX_READ)
    words = words_about(question)
    named = [one for one in read if words & words_of(one.item)]
    if not named and any(words & words_of(one) for one in evidence.facts):
        # The question names another relation of these things.
        return []
    chosen = next((one for one in named or read if named or one.score >= BAR), None)
    if chosen is None:
        return []
    same = [one for one in statements if slots_of(one.item) == slots_of(chosen.item)]
    return sorted(same, key=began)


def _pieces(text: str) -> list[str]:
    """Returns a text without the words for "still"."""
    pieces, start = [], 0
    for found in _STILL.finditer(text):
        pieces.append(text[start : found.start()])
        start = found.end()
    return [*pieces, text[start:]]
