"""Questions that refer to earlier ones: by a pronoun, or by naming only what differs ("and in 2023?", "since when?").

They are completed from the conversation. Where the text could also be meant as it stands, both readings are returned.
"""

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
from services.agent_orchestrator.agent.planner.history_paging import requested_page
from services.agent_orchestrator.agent.planner.language import content_words, fold, is_english
from services.agent_orchestrator.agent.planner.question import (
    Clock,
    Question,
    question_parts,
    read_question,
    without_times,
)
from services.agent_orchestrator.agent.planner.replies import (
    asks_about_conversations,
    asks_nothing,
)
from services.agent_orchestrator.agent.planner.routing import HISTORY, route
from services.agent_orchestrator.agent.planner.small_talk import is_small_talk
from services.agent_orchestrator.agent.planner.tool_choice import (
    DOCUMENTS,
    FORGET,
    MEMORY,
    NOTHING,
    ChooseTool,
)
from services.agent_orchestrator.agent.planner.topics import (
    interrogative,
    replace_topic,
    said_by,
    topic,
    with_interrogative,
)
from services.agent_orchestrator.entity_memory.forgetting import names_what_to_forget
from services.runtime.patterns import compile_linear, escape

# Characters that are parsed; the text after them is only used as a search query. The question comes first.
_MAX_READ: Final = 2_000
# Questions of one text that are answered; each is searched for.
MAX_PARTS: Final = 5
# Earlier turns that a question may refer to.
_MAX_TURNS: Final = 6
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
# A question about its asker stands alone: "What do you know about me?". "Why did we?" does not, and "US" is a country.
_ASKER: Final = re.compile(r"\b(?:me|my|mine|myself|our|ours|(?-i:us))\b", re.IGNORECASE)
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
_TIME_PREPOSITION: Final = re.compile(r"(?: (?:in|on|at|since|during|for|by|until)){1,3}$")
_PERSON_TYPES: Final = frozenset({"person", "human", "employee", "people"})


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str = ""


async def understand(
    text: str, turns: Sequence[Turn], clock: Clock, link: LinkEntities, choose: ChooseTool
) -> list[Question]:
    """Returns the parts of a question, completed from the conversation where they need it.

    After a completed part that could also be meant as it stands, this reading follows as an alternative: both are
    searched, and the one that is answered better counts.
    """
    turns = turns[-_MAX_TURNS:]
    paged = await _paged(text, turns, clock, link, choose)
    if paged:
        return paged
    completed: list[Question] = []
    readings: list[Question] = []
    for part in asked_parts(text):
        given = read_question(part, await named_entities(part, link), clock)
        completed.append(await _completed(given, completed, turns, link))
        readings.append(await with_tool(completed[-1], choose))
        is_completed = completed[-1] is not given
        if is_completed and (turns or len(completed) > 1) and _names_something(given):
            readings.append(replace(given, is_alternative=True, tool=DOCUMENTS))
    return readings


def _names_something(question: Question) -> bool:
    """Whether a text has a topic of its own; "who owns it" has none."""
    words = content_words(without_times(question.text, question.times))
    return bool(question.entities) or len(words) > 1


async def with_tool(question: Question, choose: ChooseTool) -> Question:
    """Returns a question with its tool. No grammar applies to other languages: their documents are searched."""
    if names_what_to_forget(question.text):
        return replace(question, tool=FORGET)
    if asks_about_conversations(question.text):
        return replace(question, tool=MEMORY)
    if asks_nothing(question.text):
        return replace(question, tool=NOTHING)
    if not is_english(question.text):
        return replace(question, tool=DOCUMENTS)
    return replace(question, tool=await choose(question))


async def no_choice(_question: Question) -> str:
    """Chooses nothing, for a question that is only read for its names and times."""
    return ""


def asked_parts(text: str) -> list[str]:
    """Returns the parts of a question that are answered, for each of which entities are looked up."""
    return _independent_parts(question_parts(text[:_MAX_READ]))[:MAX_PARTS]


def parts_left_out(text: str) -> list[str]:
    """Returns the parts of a question that are not answered, as there are too many."""
    return _independent_parts(question_parts(text[:_MAX_READ]))[MAX_PARTS:]


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
    """Returns parts that can be asked alone: a part too short for that is joined to the previous one.

    After a question mark a part stands alone with one word of its own: "When is lunch?".
    """
    kept: list[str] = []
    for part in parts:
        names = capitalised_names(part)
        needed = 1 if kept and kept[-1].endswith("?") else 2
        too_little = len(content_words(part)) < needed and not names and not _pronoun(part)
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
    if is_small_talk(question.text):
        return question
    asks = _bare_interrogative(question)
    if (earlier or turns) and (asks or _lacks_verb(question)):
        before = earlier[-1] if earlier else await _last_question(turns, question.clock, link)
        if asks:
            text = with_interrogative(before.text.rstrip(" ?.!"), asks)
            return read_question(f"{text}?", before.entities, question.clock)
        return _about_something_else(before, question)
    pronoun = _pronoun(question.text)
    if pronoun is None or _is_own_reference(question, pronoun):
        return question
    return _from_parts(question, pronoun, earlier) or await _from_turns(
        question, pronoun, turns, link
    )


def _from_parts(
    question: Question, pronoun: re.Match[str], earlier: Sequence[Question]
) -> Question | None:
    """Returns the question with what an earlier part of the same text names in place of a pronoun."""
    wants_person = bool(_PERSONAL.fullmatch(pronoun[0]))
    entity = _antecedent([one for part in earlier for one in part.entities], wants_person)
    if entity is not None:
        return _with_antecedent(question, pronoun, entity.name, entity)
    phrase = topic(earlier[-1]) if earlier else None
    return None if phrase is None else _with_antecedent(question, pronoun, phrase.text)


def _lacks_verb(question: Question) -> bool:
    """Whether a text only names what differs from the last question: "and the red lamp?", "In September?"."""
    if _ELLIPSIS.match(question.text):
        return True
    rest = without_times(question.text, question.times)
    return bool(question.times) and not content_words(rest) and not interrogative(rest)


def _bare_interrogative(question: Question) -> str:
    """Returns the words of a question that only asks: "Since when?", "And why?"; empty for any other."""
    rest = _LEAD_IN.sub("", question.text, count=1).strip()
    asks = interrogative(rest)
    has_more = content_words(rest[len(asks) :]) or question.entities or question.times
    return "" if has_more or _PRONOUN.search(rest) or _ASKER.search(rest) else asks


async def _last_question(turns: Sequence[Turn], clock: Clock, link: LinkEntities) -> Question:
    """Returns the last part of the last turn's question, itself completed."""
    understood = await understand(turns[-1].question, turns[:-1], clock, link, no_choice)
    return [one for one in understood if not one.is_alternative][-1]


def _about_something_else(before: Question, question: Question) -> Question:
    """Returns the last question with the time or the thing that the follow-up names instead."""
    text = before.text.rstrip(" ?.!")
    asked = _LEAD_IN.sub("", question.text, count=1)
    rest = asked.strip(" ?.!")
    if question.times:
        text = _TIME_PREPOSITION.sub("", without_times(text, before.times).rstrip(" ?.!"))
        rest = without_times(question.text, question.times)
        rest = _LEAD_IN.sub("", f"{rest} ", count=1).strip(" ?.!,")
    if question.entities and before.entities:
        text = _replaced(text, before.entity, question.entity)
    elif rest:
        same = replace(before, text=text, times=before.times if not question.times else ())
        text = replace_topic(same, rest) or f"{text} {rest}"
    for time in question.times[:1]:
        text = f"{text} {question.text[time.start : time.end]}"
    entities = [
        one
        for one in _distinct([*question.entities, *before.entities])
        if fold(one.name) in fold(text)
    ]
    return read_question(f"{text}?", entities, question.clock)


async def _from_turns(
    question: Question, pronoun: re.Match[str], turns: Sequence[Turn], link: LinkEntities
) -> Question:
    """Returns the question with what the latest turn is about that names anything that fits the pronoun."""
    wants_person = bool(_PERSONAL.fullmatch(pronoun[0]))
    for place in range(len(turns) - 1, -1, -1):
        before = await _last_question(turns[: place + 1], question.clock, link)
        entity = await _named_in(turns[place], wants_person, link)
        phrase = topic(before) if not is_small_talk(before.text) else None
        said = said_by(before.text) if phrase is not None and pronoun.re is _BARE_THAT else ""
        name = said or (entity.name if entity is not None else phrase.text if phrase else "")
        if name:
            return _with_antecedent(question, pronoun, name, entity)
    return question


async def _named_in(turn: Turn, wants_person: bool, link: LinkEntities) -> KnownEntity | None:
    """Returns the entity of a turn that fits a pronoun; a person may be named only by the answer."""
    asked = await named_entities(turn.question, link)
    answer = turn.answer[:_MAX_READ]
    answered = list(await link(answer)) if answer else []
    if not wants_person:
        return _antecedent(asked, wants_person) or _antecedent(answered, wants_person)
    known = _antecedent([*answered, *asked], wants_person)
    return known or next(iter(capitalised_names(answer)), None)


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


def _with_antecedent(
    question: Question, pronoun: re.Match[str], name: str, entity: KnownEntity | None = None
) -> Question:
    """Returns the question with a name in place of the pronoun, and its entity first."""
    group = 1 if pronoun.re is _BARE_THAT else 0
    start, end = pronoun.span(group)
    word = pronoun[group].casefold()
    possessive = word in _POSSESSIVES or (
        word == "her" and _POSSESSIVE_HER.match(question.text[start:])
    )
    named = f"{name}'s" if possessive else name
    text = f"{question.text[:start]}{named}{question.text[end:]}"
    entities = question.entities if entity is None else _distinct([entity, *question.entities])
    return read_question(text, entities, question.clock)


def _replaced(text: str, old: str, new: str) -> str:
    found = compile_linear(escape(old), ignore_case=True).search(text)
    return f"{text[: found.start()]}{new}{text[found.end() :]}" if found else text


def _distinct(entities: Sequence[KnownEntity]) -> list[KnownEntity]:
    return list({fold(entity.name): entity for entity in reversed(entities)}.values())[::-1]
