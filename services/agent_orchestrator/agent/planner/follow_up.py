"""Questions that refer to earlier ones: pronouns, "what about …", and "and in 2023?"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.agent_orchestrator.agent.planner.entity_recognition import (
    KnownEntity,
    LinkEntities,
    capitalised_names,
)
from services.agent_orchestrator.agent.planner.first_person import is_statement
from services.agent_orchestrator.agent.planner.history_paging import requested_page
from services.agent_orchestrator.agent.planner.language import content_words, fold, is_english
from services.agent_orchestrator.agent.planner.question import (
    Clock,
    Question,
    question_parts,
    read_question,
    without_times,
)
from services.agent_orchestrator.agent.planner.routing import HISTORY, route
from services.agent_orchestrator.agent.planner.small_talk import is_small_talk
from services.agent_orchestrator.agent.planner.tool_choice import DOCUMENTS, NOTHING, ChooseTool
from services.runtime.patterns import compile_linear, escape

# Characters that are parsed; the text after them is only used as a search query. The question comes first.
_MAX_READ: Final = 2_000
_PERSONAL: Final = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_PRONOUN: Final = re.compile(
    (
        r"\b(?:it|its|they|them|their|theirs|he|she|him|her|his|hers|this one|that one|"
        r"the same one|the former|the latter)\b"
        r"|\b(?:this|that|the same|said) (?:person|team|service|company|tool|vendor|project|"
        r"system|incident|decision|one)\b"
    ),
    re.IGNORECASE,
)
_BARE_THAT: Final = re.compile(
    r"\b(?:of|about|to|with|by|on|for|uses?|owns?|owned|leads?|has|have|had|did|does|is|was) (that|this)"
    r"(?=[?.!,]|$| (?:\w{1,40}ed|change|happen|work|look|depend|get|begin|been)\b)",
    re.IGNORECASE,
)
_POSSESSIVES: Final = frozenset({"its", "their", "theirs", "his", "hers"})
_POSSESSIVE_HER: Final = re.compile(r"\bher\s{1,9}\w", re.IGNORECASE)
_VERBS: Final = "who|what|which|where|when|why|how|is|are|was|were|do|does|did|has|have|list|show"
_ELLIPSIS: Final = re.compile(
    r"^(?:(?:and|but|or|so|then|also) ){0,5}(?:what|how) about\b"
    rf"|^(?:and|but|or|then)\b(?!.{{0,2000}}\b(?:{_VERBS})\b)|^(?:same (?:question )?(?:for|in)|instead)\b",
    re.IGNORECASE,
)
_LEAD_IN: Final = re.compile(
    r"^(?:(?:and|but|or|so|then|also) ){0,5}(?:(?:what|how) about |same (?:question )?(?=for|in))?",
    re.IGNORECASE,
)
_PERSON_TYPES: Final = frozenset({"person", "human", "employee", "people"})


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str = ""


async def understand(
    text: str, turns: Sequence[Turn], clock: Clock, link: LinkEntities, choose: ChooseTool
) -> list[Question]:
    """Returns the parts of a question with their entities, including entities that only earlier turns name."""
    paged = await _paged(text, turns, clock, link, choose)
    if paged:
        return paged
    understood: list[Question] = []
    for part in asked_parts(text):
        question = read_question(part, await named_entities(part, link), clock)
        question = await _completed(question, understood, turns, link)
        understood.append(await with_tool(question, choose))
    return understood


async def with_tool(question: Question, choose: ChooseTool) -> Question:
    """Returns a question with its tool. No grammar applies to other languages: their documents are searched."""
    if is_small_talk(question.text) or is_statement(question.text):
        return replace(question, tool=NOTHING)
    if not is_english(question.text):
        return replace(question, tool=DOCUMENTS)
    return replace(question, tool=await choose(question))


async def no_choice(_question: Question) -> str:
    """Chooses nothing, for a question that is only read for its names and times."""
    return ""


def asked_parts(text: str) -> list[str]:
    """Returns the parts of a question, for each of which entities are looked up."""
    return _independent_parts(question_parts(text[:_MAX_READ]))


async def _paged(
    text: str, turns: Sequence[Turn], clock: Clock, link: LinkEntities, choose: ChooseTool
) -> list[Question]:
    """Returns an earlier turn's question with the requested page of its history; empty for other questions."""
    asked = requested_page(text, [turn.question for turn in turns])
    if asked is None:
        return []
    before = await understand(turns[asked.turn].question, turns[: asked.turn], clock, link, choose)
    return [
        replace(question, page=asked.page)
        for question in before
        if any(call.tool == HISTORY for call in route(question))
    ]


def _independent_parts(parts: Sequence[str]) -> list[str]:
    """Returns parts that can be asked alone: a part too short for that is joined to the previous one."""
    kept: list[str] = []
    for part in parts:
        names = capitalised_names(part)
        too_little = len(content_words(part)) <= 1 and not names and not _pronoun(part)
        if kept and too_little and not is_small_talk(part) and not is_small_talk(kept[-1]):
            kept[-1] = f"{kept[-1].rstrip(' ,;')} and {part}"
        else:
            kept.append(part)
    return kept


async def named_entities(text: str, link: LinkEntities) -> list[KnownEntity]:
    """Returns the entities of the space that a text names, in its order; otherwise runs of capitalized words."""
    known = list(await link(text))
    folded = fold(text)
    known.sort(key=lambda entity: folded.find(fold(entity.name)) % (len(folded) + 1))
    return _distinct(known) or capitalised_names(text)


async def _completed(
    question: Question, earlier: Sequence[Question], turns: Sequence[Turn], link: LinkEntities
) -> Question:
    if turns and not earlier and _ELLIPSIS.match(question.text):
        return await _from_last_question(question, turns, link)
    pronoun = _pronoun(question.text)
    if pronoun is None or _is_own_reference(question, pronoun):
        return question
    wants_person = bool(_PERSONAL.fullmatch(pronoun[0]))
    entity = _antecedent([one for part in earlier for one in part.entities], wants_person)
    if entity is None:
        entity = await _from_turns(turns, wants_person, link)
    return question if entity is None else _with_antecedent(question, pronoun, entity)


async def _from_last_question(
    question: Question, turns: Sequence[Turn], link: LinkEntities
) -> Question:
    """Returns the last question with the time or entity that the follow-up names instead."""
    before = (await understand(turns[-1].question, turns[:-1], question.clock, link, no_choice))[-1]
    text = before.text.rstrip(" ?.!")
    if question.times:
        text = without_times(text, before.times).rstrip(" ?.!")
    if question.entities and before.entities:
        text = _replaced(text, before.entity, question.entity)
    rest = _LEAD_IN.sub("", question.text, count=1).strip(" ?.!")
    if not question.entities or not before.entities:
        text = f"{text} {rest}"
    elif question.times:
        text = f"{text} {question.text[question.times[0].start : question.times[0].end]}"
    entities = question.entities or before.entities
    return read_question(f"{text}?", entities, question.clock)


async def _from_turns(
    turns: Sequence[Turn], wants_person: bool, link: LinkEntities
) -> KnownEntity | None:
    """Returns a matching entity of the latest turn that names one; a person may be named only by an answer."""
    for turn in reversed(turns):
        asked = await named_entities(turn.question, link)
        answered = list(await link(turn.answer[:2_000])) if turn.answer else []
        entity = _antecedent(asked, wants_person) if not wants_person else None
        entity = entity or _antecedent(
            [*answered, *asked] if wants_person else answered, wants_person
        )
        if entity is not None:
            return entity
    return None


def _antecedent(entities: Sequence[KnownEntity], wants_person: bool) -> KnownEntity | None:
    """Returns the first matching entity: for "he" a person, for "it" anything else, if types are known."""
    fitting = [one for one in entities if not one.type or _is_person(one) == wants_person]
    return next(iter(fitting or entities), None)


def _is_person(entity: KnownEntity) -> bool:
    return entity.type.casefold() in _PERSON_TYPES


def _pronoun(text: str) -> re.Match[str] | None:
    return _PRONOUN.search(text) or _BARE_THAT.search(text)


def _is_own_reference(question: Question, pronoun: re.Match[str]) -> bool:
    """Whether the pronoun refers to an entity that the same part names before it."""
    before = fold(question.text[: pronoun.start()])
    return any(fold(entity.name) in before for entity in question.entities)


def _with_antecedent(question: Question, pronoun: re.Match[str], entity: KnownEntity) -> Question:
    """Returns the question with the name in place of the pronoun, and that entity first."""
    group = 1 if pronoun.re is _BARE_THAT else 0
    start, end = pronoun.span(group)
    word = pronoun[group].casefold()
    possessive = word in _POSSESSIVES or (
        word == "her" and _POSSESSIVE_HER.match(question.text[start:])
    )
    name = f"{entity.name}'s" if possessive else entity.name
    text = f"{question.text[:start]}{name}{question.text[end:]}"
    entities = _distinct([entity, *question.entities])
    return read_question(text, entities, question.clock)


def _replaced(text: str, old: str, new: str) -> str:
    found = compile_linear(escape(old), ignore_case=True).search(text)
    return f"{text[: found.start()]}{new}{text[found.end() :]}" if found else text


def _distinct(entities: Sequence[KnownEntity]) -> list[KnownEntity]:
    return list({fold(entity.name): entity for entity in reversed(entities)}.values())[::-1]
