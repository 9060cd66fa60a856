"""Compares two things, or one thing at two times: their facts side by side, relation by relation.

Without facts about both, the answer quotes a sentence about each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.agent_orchestrator.agent.planner.computed import Computed, Evidence, Line
from services.agent_orchestrator.agent.planner.date_format import is_current, overlaps, reference
from services.agent_orchestrator.agent.planner.fact_slots import Slot, slots_of, words_about
from services.agent_orchestrator.agent.planner.language import content_stems, fold, stem
from services.agent_orchestrator.agent.planner.question import Question, without_times
from services.agent_orchestrator.agent.planner.question_goals import asks_for_comparison
from services.agent_orchestrator.agent.planner.statements import Statement, fact_statements
from services.agent_orchestrator.agent.results import ResultItem
from services.runtime.patterns import compile_linear

_MAX_SIDES: Final = 3
_MAX_RELATIONS: Final = 10
_MAX_FACTS: Final = 5

_BETWEEN_SIDES: Final = compile_linear(
    r"\b(?:and|or|versus|vs|with|to|from|than)\b", ignore_case=True
)
_COMPARING: Final = frozenset(
    map(stem, ("compare", "comparison", "differ", "difference", "different", "versus", "vs"))
)

# A label, the thing, and whether a fact belongs to this side.
Side = tuple[str, str, Callable[[ResultItem], bool]]


def compare(evidence: Evidence) -> list[Computed]:
    """Returns a paragraph for each relation; none if the facts do not speak about both sides."""
    sides = _sides(evidence)
    columns = [_by_relation(evidence, name, holds) for _, name, holds in sides]
    if len(sides) < 2 or not all(columns):  # noqa: PLR2004 a comparison
        return []
    relations = list(dict.fromkeys(one for column in columns for one in column))
    asked = words_about(evidence.question)
    relations = [one for one in relations if one.relation & asked] or relations
    answer = [
        _paragraph(relation, [label for label, _, _ in sides], columns)
        for relation in relations[:_MAX_RELATIONS]
    ]
    left = len(relations) - len(answer)
    names = dict.fromkeys(name for _, name, _ in sides)
    limits = [limit for limit in map(evidence.limit_of, names) if limit]
    if left:
        limits.append(f"{left} more relations are not shown: name one.")
    return [*answer[:-1], Computed(answer[-1].heading, answer[-1].lines, " ".join(limits))]


def _sides(evidence: Evidence) -> list[Side]:
    question = evidence.question
    now, zone = question.clock.now, question.clock.zone
    names = [one.name for one in question.entities if evidence.history_of(one.name)]
    if len(names) == 1 and len(question.times) > 1:
        return [
            (
                reference(time.range.start or now, time.range.end, zone),
                names[0],
                lambda item, time=time: overlaps(item, time.range.start, time.range.end),  # type: ignore[misc]
            )
            for time in question.times[:_MAX_SIDES]
        ]
    return [(name, name, lambda item: is_current(item, now)) for name in names[:_MAX_SIDES]]


def _by_relation(
    evidence: Evidence, name: str, holds: Callable[[ResultItem], bool]
) -> dict[Slot, list[Statement]]:
    """Returns the facts of one side by relation, whatever the thing is called."""
    found: dict[Slot, list[Statement]] = {}
    for one in fact_statements(item for item in evidence.about(name) if holds(item)):
        for slot in slots_of(one.item):
            if slot.topic == fold(name):
                found.setdefault(Slot("", slot.relation, slot.is_subject), []).append(one)
    return found


def _paragraph(
    relation: Slot, labels: Sequence[str], columns: Sequence[dict[Slot, list[Statement]]]
) -> Computed:
    lines: list[Line] = []
    for label, column in zip(labels, columns, strict=True):
        stated = column.get(relation, [])
        lines += [Line(one, f"{label}: ") for one in stated[:_MAX_FACTS]]
        if not stated:
            lines.append(Line(None, f"{label}: nothing is stated."))
        if len(stated) > _MAX_FACTS:
            lines.append(Line(None, f"{label}: {len(stated) - _MAX_FACTS} more."))
    items = [one.item for column in columns for one in column.get(relation, [])]
    words = items[0].relation.casefold().replace("_", " ")
    heading = f"{words[:1].upper()}{words[1:]}:" if relation.is_subject else f"… {words} it:"
    return Computed(heading, tuple(lines))


def with_each_side(
    question: Question, chosen: Sequence[Statement], read: Sequence[Statement]
) -> list[Statement]:
    """Adds to the answer of a comparison the best sentence about each side that it leaves out.

    A side is known by the words that only it has: "the Kestrel probe and the Osprey probe" by "Kestrel" and "Osprey".
    An answer about no side stays as it is.
    """
    sides = _named_sides(question)
    left_out = _left_out(sides, chosen)
    if len(left_out) == len(sides):
        return list(chosen)
    best = (next((one for one in read if _is_about(one, side, sides)), None) for side in left_out)
    return [*chosen, *(one for one in best if one is not None)]


def sides_left_out(question: Question, chosen: Sequence[Statement]) -> list[str]:
    """Returns the names of the sides of a comparison of which an answer has no word, if it has of another."""
    sides = _named_sides(question)
    said = frozenset[str]().union(*(content_stems(f"{one.context} {one.text}") for one in chosen))
    left_out = [side.name for side in sides if not _identifying(side) & said]
    return left_out if len(left_out) < len(sides) else []


@dataclass(frozen=True, slots=True)
class _NamedSide:
    """A side as the question names it, and the stems of the words that only it has."""

    name: str
    stems: frozenset[str]


def _named_sides(question: Question) -> list[_NamedSide]:
    text = without_times(question.text, question.times)
    if not asks_for_comparison(text):
        return []
    parts = _BETWEEN_SIDES.split(text)
    stems = [content_stems(part) - _COMPARING for part in parts]
    own = [one.difference(*(stems[:place] + stems[place + 1 :])) for place, one in enumerate(stems)]
    sides = [
        _NamedSide(_words_with(side, part), side)
        for part, side in zip(parts, own, strict=True)
        if side
    ]
    return sides[:_MAX_SIDES]


def _words_with(stems: frozenset[str], text: str) -> str:
    """Returns the words of a text that have these stems, as they are written."""
    return " ".join(word.strip("?.!,;:'\"") for word in text.split() if content_stems(word) & stems)


def _identifying(side: _NamedSide) -> frozenset[str]:
    """Returns the stems of a side's capitalized words, or of all: another probe is not the Kestrel probe."""
    proper = " ".join(word for word in side.name.split() if word[:1].isupper())
    return content_stems(proper) or side.stems


def _left_out(sides: Sequence[_NamedSide], chosen: Sequence[Statement]) -> list[_NamedSide]:
    return [side for side in sides if not any(_is_about(one, side, sides) for one in chosen)]


def _is_about(one: Statement, side: _NamedSide, sides: Sequence[_NamedSide]) -> bool:
    said = content_stems(one.text)
    others = frozenset[str]().union(*(other.stems for other in sides)) - side.stems
    return side.stems <= said or (side.stems <= content_stems(one.context) and not said & others)
