"""Composes an answer from the tools' results: quoted statements with their sources and dates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from services.agent_orchestrator.agent.planner import (
    computed_answers,
    memory_answers,
    statement_selection,
)
from services.agent_orchestrator.agent.planner.comparisons import sides_left_out
from services.agent_orchestrator.agent.planner.computed import HISTORY
from services.agent_orchestrator.agent.planner.date_format import reference
from services.agent_orchestrator.agent.planner.draft import Draft, fact_line, quotation
from services.agent_orchestrator.agent.planner.fact_slots import names_relation
from services.agent_orchestrator.agent.planner.first_person import is_statement
from services.agent_orchestrator.agent.planner.history_paging import PAGE
from services.agent_orchestrator.agent.planner.language import fold, is_english
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.question_goals import Goal, goal_of
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.replies import (
    ACKNOWLEDGED,
    GREETING,
    asks_about_conversations,
    declares,
    reply_to,
)
from services.agent_orchestrator.agent.planner.routing import DOCUMENT_TOOLS
from services.agent_orchestrator.agent.planner.statements import Found, Statement, gather
from services.agent_orchestrator.agent.planner.time_preference import ALIKE
from services.agent_orchestrator.agent.planner.wordlists import phrases
from services.agent_orchestrator.agent.results import ResultItem, ToolResult
from services.agent_orchestrator.entity_memory.forgetting import asks_to_forget

NOTHING_ANSWERS: Final = "The documents do not say."
NOTHING_ABOUT: Final = "I found nothing about this in the documents."
# Where an answer would have to be computed: that no statement says it does not mean that the documents do not.
_CANNOT_COMPUTE: Final[dict[Goal | None, str]] = {
    Goal.COUNT: "I cannot count this from the documents.",
    Goal.COMPARE: "I cannot compare these from the documents.",
    Goal.ALL: "I cannot list all of these from the documents.",
    Goal.PERIOD: "I found nothing that is dated in this period.",
}
_MAY_BE_MORE: Final = "There may be more: only the sentences that answer best are quoted."
INTRODUCTION: Final = "Braid's local planner quotes the sources; no language model wrote this."
_ENGLISH_ONLY: Final = "Its own words are English in every language."
_EMPTY_GRAPH: Final = "The knowledge graph is empty: ingest documents or facts first."
_PARTS: Final = {
    "graph": "knowledge graph",
    "documents": "documents",
    "memory": "memory",
    "conversations": "conversations",
}
_ASKS_FOR_LATER: Final = phrases(
    "now|today|since|chang(?:e|es|ed)|later|still|afterwards|meanwhile"
)
_GRAPH_TOOLS: Final = (
    "search_knowledge_graph",
    "graph_search",
    "get_snapshot",
    "get_entity_history",
)
_TIMED: Final = frozenset({"get_snapshot", "diff_graph"})
_MAX_CHANGES: Final = 10
# Logits by which the text as given must be answered better than what it was completed to: a text that asks less is
# answered by more.
_CLEARLY_BETTER: Final = 2.0


@dataclass(frozen=True, slots=True)
class AnsweredPart:
    """A part of a question with the results of its calls. `bridge` is the fact that answered the inner question."""

    question: Question
    results: tuple[ToolResult, ...]
    bridge: Statement | None = None


async def compose(
    parts: Sequence[AnsweredPart],
    reading: Reading,
    *,
    introduce: bool,
    left_out: Sequence[str] = (),
) -> Draft:
    """Composes the answer to all parts. With `introduce` it says that the local planner is answering.

    `left_out` are parts of the question that were not looked up; the answer says so.
    """
    draft = Draft()
    for part in parts:
        known = len(draft.paragraphs)
        await _answer_part(draft, part, reading)
        is_refused = any(map(says_nothing_answers, draft.paragraphs[known : known + 1]))
        if is_refused and len(parts) > 1:
            draft.paragraphs[known] = f"“{part.question.text}”: {draft.paragraphs[known]}"
    if left_out:
        draft.paragraphs.append(
            f"Only the first {len(parts)} questions were answered. Ask again for the rest, from “{left_out[0]}” on."
        )
    failures = list(dict.fromkeys(one for part in parts for one in _failures(part)))
    unknown = list(dict.fromkeys(one for part in parts for one in _unknown_names(part)))
    # What an answer lacks is said before it; that the graph does not know a name, after what the documents say.
    first = failures if draft.has_answer else [*failures, *unknown]
    draft.paragraphs[:0] = [" ".join(first)] if first else []
    if unknown and draft.has_answer:
        draft.paragraphs.append(" ".join(unknown))
    if not draft.paragraphs:
        draft.paragraphs.append(GREETING)
    if introduce:
        is_foreign = not all(is_english(part.question.text) for part in parts)
        draft.paragraphs.append(f"{INTRODUCTION} {_ENGLISH_ONLY}" if is_foreign else INTRODUCTION)
    return draft


async def is_answered(part: AnsweredPart, reading: Reading) -> bool:
    """Whether the results of a part contain an answer; otherwise the documents are worth searching."""
    draft = Draft()
    await _answer_part(draft, part, reading)
    return draft.has_answer


async def is_clearly_answered(part: AnsweredPart, reading: Reading) -> bool:
    """Whether a part has an answer that documents need not be searched for: not only facts of unnamed relations."""
    if not await is_answered(part, reading):
        return False
    facts = await statement_selection.facts(reading, part.question, gather(part.results).facts)
    return all(names_relation(part.question, one) for one in facts)


async def better_readings(parts: Sequence[AnsweredPart], reading: Reading) -> list[AnsweredPart]:
    """Returns the parts without the readings that are answered less well than their alternatives."""
    kept: list[AnsweredPart] = []
    for part in parts:
        if not part.question.is_alternative or not kept:
            kept.append(part)
        elif await _is_answered_better(part, kept[-1], reading):
            kept[-1] = part
    return kept


async def _is_answered_better(
    alternative: AnsweredPart, completed: AnsweredPart, reading: Reading
) -> bool:
    score = await _best_score(alternative, reading)
    if score is None:
        return False
    if not await is_answered(completed, reading):
        return True
    known = await _best_score(completed, reading)
    return known is not None and score > known + _CLEARLY_BETTER


async def _best_score(part: AnsweredPart, reading: Reading) -> float | None:
    """Returns how well the best statement answers a part; None if none does."""
    found = gather(part.results)
    facts = await statement_selection.facts(reading, part.question, found.facts)
    quoted = await statement_selection.sentences(reading, part.question, found.passages)
    return max((one.score for one in [*facts, *quoted]), default=None)


async def _answer_part(draft: Draft, part: AnsweredPart, reading: Reading) -> None:
    """Adds the answer to a part: from the first kind of items that contains one."""
    if not part.results:
        return
    if any(result.status == "ambiguous" for result in part.results):
        draft.paragraphs.append(_clarifying_question(part))
        draft.has_answer = True
        return
    if part.bridge is not None:
        draft.paragraphs.append(fact_line(draft, part.bridge, part.question))
    found = gather(part.results)
    for add in _WAYS:
        if await add(draft, part, found, reading):
            return
    if _documents_were_searched(part):
        draft.paragraphs.append(_nothing(part, found))


async def _add_computed(draft: Draft, part: AnsweredPart, _found: Found, reading: Reading) -> bool:
    """Adds an answer that is computed from facts and dates: a list, a number, a duration, a comparison."""
    computed = await computed_answers.compute(part.question, part.results, reading)
    for paragraph in computed:
        lines = [
            f"{one.lead}{_line(draft, one.statement, part.question)}" for one in paragraph.lines
        ]
        if paragraph.limit:
            lines.append(paragraph.limit)
        if not draft.add_lines(paragraph.heading, lines):
            draft.paragraphs.append(paragraph.heading)
            draft.has_answer = True
    return bool(computed)


def _line(draft: Draft, one: Statement | None, question: Question) -> str:
    if one is None:
        return ""
    quote = quotation if one.item.kind == "passage" else fact_line
    return quote(draft, one, question)


async def _add_changes(draft: Draft, part: AnsweredPart, found: Found, reading: Reading) -> bool:
    """Adds the changes between two times."""
    if not _asked(part, "diff_graph"):
        return False
    changes = await statement_selection.changes(reading, part.question, found.facts)
    lines = [
        f"{_kind_of_change(one.item)}{fact_line(draft, one, part.question)}"
        for one in changes[:_MAX_CHANGES]
    ]
    total = max(result.total_count for result in part.results)
    if total > len(lines) > 0:
        more = "Name an entity or a relationship to see fewer."
        lines.append(f"Found {total} changes, showing {len(lines)}. {more}")
    return draft.add_lines(_time_heading(part, "Changes from"), lines)


async def _add_history(draft: Draft, part: AnsweredPart, found: Found, reading: Reading) -> bool:
    """Adds an entity's facts in time order, unless they were only read to compute an answer."""
    goal = goal_of(part.question)
    was_routed = goal is None or (goal is not Goal.COUNT and part.results[0].tool == HISTORY)
    if not was_routed or not _asked(part, HISTORY):
        return False
    chosen = await statement_selection.history(reading, part.question, found.facts)
    results = [one for one in part.results if one.tool == HISTORY]
    start = part.question.page * PAGE
    shown = chosen[start : start + PAGE]
    lines = [fact_line(draft, one, part.question) for one in shown]
    total = max(results[0].total_count, len(chosen))
    if start and not lines:
        return draft.add_lines("", [f"There are no more facts about {results[0].entity}."])
    heading = ""
    if start:
        last = start + len(lines)
        heading = (
            f"{results[0].entity}, facts {start + 1} to {last} of {total} in the order of time:"
        )
    elif len(lines) > 1:
        heading = results[0].summary or f"{results[0].entity} in the order of time:"
    if lines and (len(chosen) > start + len(lines) or results[-1].next_page):
        lines.append(
            f"These are {len(lines)} of {total} facts. Say “show more” for the next ones, or ask for a relationship "
            "or a period."
        )
    return draft.add_lines(heading, lines)


async def _add_forgotten(
    draft: Draft, part: AnsweredPart, _found: Found, _reading: Reading
) -> bool:
    """Adds what was forgotten, or what the user has to say to have it forgotten."""
    asked = [result for result in part.results if result.tool == "forget"]
    said = [result.message for result in asked if not result.unavailable]
    draft.paragraphs += said
    draft.has_answer |= bool(said)
    return bool(asked)


async def _add_records(draft: Draft, part: AnsweredPart, found: Found, reading: Reading) -> bool:
    """Adds findings and records of the user's memory unchanged, and the number of records if it leaves some out."""
    chosen = await memory_answers.select(part.question, found.others, reading)
    lines = [
        f"{item.text}{draft.mark(next(iter(item.citations), None), item)}"
        for item in chosen[:_MAX_CHANGES]
    ]
    is_listed = len(chosen) == len(found.others)
    total = sum(one.total_count for one in part.results if one.tool == "query_graph" and is_listed)
    if lines and total > len(lines):
        lines.append(f"These are {len(lines)} of {total}. `braid memory list` shows all.")
    return draft.add_lines("", lines)


async def _add_facts(draft: Draft, part: AnsweredPart, found: Found, reading: Reading) -> bool:
    """Adds facts that are true at the requested time; for a past time also what has changed since.

    Of a search that found passages too, facts come first if they answer about as well as the best sentence. Scores do
    not say that of other languages than English: there the passages answer.
    """
    question = part.question
    if found.passages and not is_english(question.text):
        return False
    stated = found.facts
    if goal_of(question) is Goal.COUNT and _asked(part, HISTORY):
        # The history was read, and nothing in it was meant.
        stated = ()
    facts = await statement_selection.facts(reading, question, stated)
    is_asked = all(names_relation(question, one) for one in facts)
    if found.passages and not (is_asked and part.results[0].tool in _GRAPH_TOOLS):
        quoted = await statement_selection.sentences(reading, question, found.passages)
        best = max((one.score for one in quoted), default=float("-inf"))
        reach = ALIKE if is_asked else 0.0
        facts = facts if max((one.score for one in facts), default=best) > best - reach else []
    lines = [fact_line(draft, one, question) for one in facts]
    heading = _time_heading(part, "As of")
    if heading and _ASKS_FOR_LATER.search(question.text):
        later = statement_selection.changes_since(facts, found.facts)
        lines += [f"Since then: {fact_line(draft, one, question)}" for one in later]
    if not heading and statement_selection.is_contested(question, facts, question.clock.now):
        heading = "The sources name more than one:"
    return draft.add_lines(heading, lines)


async def _add_sentences(draft: Draft, part: AnsweredPart, found: Found, reading: Reading) -> bool:
    """Adds quoted sentences of documents."""
    chosen = await statement_selection.sentences(reading, part.question, found.passages)
    lines = [quotation(draft, one, part.question) for one in chosen]
    left_out = sides_left_out(part.question, chosen)
    lines += [f"{side}: nothing was found." for side in left_out]
    if lines and goal_of(part.question) is Goal.ALL:
        lines.append(_MAY_BE_MORE)
    return draft.add_lines("", lines)


Way = Callable[[Draft, AnsweredPart, Found, Reading], Awaitable[bool]]
_WAYS: Final[tuple[Way, ...]] = (
    _add_forgotten,
    _add_computed,
    _add_changes,
    _add_history,
    _add_records,
    _add_facts,
    _add_sentences,
)


def _asked(part: AnsweredPart, *tools: str) -> bool:
    return any(result.tool in tools for result in part.results)


def _kind_of_change(item: ResultItem) -> str:
    return {"added": "New: ", "ended": "Ended: ", "changed": "Changed: "}.get(item.change, "")


def _time_heading(part: AnsweredPart, what: str) -> str:
    """Returns a heading with the time that the facts are about; empty for the present."""
    for result in part.results:
        if result.as_of is not None and result.tool in _TIMED:
            zone = part.question.clock.zone
            return f"{what} {reference(result.as_of, result.as_of_end, zone)}:"
    return ""


def _documents_were_searched(part: AnsweredPart) -> bool:
    """Whether the documents could be searched; otherwise they may contain an answer that was not found."""
    return not any("documents" in result.unavailable for result in part.results)


def _nothing(part: AnsweredPart, found: Found) -> str:
    if _asked(part, "search_conversations") and asks_about_conversations(part.question.text):
        return "Nothing about this was said in a conversation that is kept."
    if _asked(part, "query_graph") and not _asked(part, *DOCUMENT_TOOLS):
        return "Nothing is remembered about you on this yet."
    said = _CANNOT_COMPUTE.get(goal_of(part.question), NOTHING_ANSWERS)
    if declares(part.question.text):
        said = NOTHING_ABOUT
    cited = [item.citations[0] for item in found.passages if item.citations]
    if not cited or not cited[0].title:
        return said
    source = f" ({cited[0].source})" if cited[0].source else ""
    return f"{said} The nearest document is “{cited[0].title}”{source}."


def says_nothing_answers(text: str) -> bool:
    """Whether an answer says that the documents do not contain the answer, or that it cannot be computed from them."""
    return any(said in text for said in (NOTHING_ANSWERS, NOTHING_ABOUT, *_CANNOT_COMPUTE.values()))


def _clarifying_question(part: AnsweredPart) -> str:
    result = next(one for one in part.results if one.status == "ambiguous")
    names = [f"{one.name} ({one.type})" if one.type else one.name for one in result.candidates]
    return f"Several are named {result.entity or part.question.entity}: {', '.join(names)}. Which one do you mean?"


def _failures(part: AnsweredPart) -> list[str]:
    """Returns a notice for each search that failed, and for a graph that is empty."""
    notices: list[str] = []
    for result in part.results:
        notices.extend(_unavailable(name, result) for name in result.unavailable)
        # What happened in a period is looked up in the documents anyway.
        if result.status == "empty_graph" and goal_of(part.question) is not Goal.PERIOD:
            notices.append(_EMPTY_GRAPH)
    return notices


def _unknown_names(part: AnsweredPart) -> list[str]:
    """Returns a notice for each name that neither the graph nor the documents that were found know."""
    passages = [fold(item.text) for item in gather(part.results).passages]
    names = [
        result.entity or part.question.entity
        for result in part.results
        if result.status == "unknown_entity"
    ]
    return [
        f"The knowledge graph does not know “{name}”; the documents were searched instead."
        for name in names
        if not any(fold(name) in passage for passage in passages)
    ]


def _unavailable(name: str, result: ToolResult) -> str:
    called = _PARTS.get(name, name)
    instead = " The documents were searched instead." if name == "graph" and result.items else ""
    return f"The {called} cannot be searched now.{instead}"


def nothing_to_look_up(
    questions: Sequence[Question], *, introduce: bool, noted: str = ACKNOWLEDGED
) -> Draft:
    """Returns the reply to small talk, or to the part of it that states something or asks to forget it.

    `noted` is the reply to a statement.
    """
    texts = [question.text for question in questions]
    special = (one for one in texts if is_statement(one) or asks_to_forget(one))
    text = next(special, " ".join(texts))
    draft = Draft([reply_to(text, noted)])
    if introduce:
        draft.paragraphs.append(INTRODUCTION)
    return draft
