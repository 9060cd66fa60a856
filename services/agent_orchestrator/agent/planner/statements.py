"""Results of tools as statements that an answer can quote: facts, and sentences of passages with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from services.agent_orchestrator.agent.planner.language import Sentence, fold, sentences
from services.agent_orchestrator.agent.planner.messages import Message, messages_in
from services.agent_orchestrator.agent.planner.sections import Line, line_at, lines_of, with_columns
from services.agent_orchestrator.agent.planner.wordlists import word_set
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

# A sentence that begins with one of these is about what the sentence before it names.
_PRONOUNS: Final = word_set("it its this that these those he his she her they their")
_FACTS = frozenset({"fact", "state", "change", "mention"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A quotable statement with its source.

    `read_as` is what is compared with the question: a sentence with its title and headings, with the sentence before it
    if it begins with a pronoun, a table's row with its columns, or a sentence with the author and date of its message.
    `place` is the index of the sentence in its passage,
    `rank` the index of its item in the results. `score` is the logit that the statement answers the question, once it
    was read. `message` is the message that it is from; the item of such a statement is valid from the time of the
    message. The `context` of a sentence is its title, its headings, itself and its neighbors; its `section` is the last
    of the headings. It `follows` the sentence before it if it is read with it.
    """

    text: str
    read_as: str
    item: ResultItem
    citation: Citation | None
    place: int = 0
    rank: int = 0
    score: float = 0.0
    message: Message | None = None
    context: str = ""
    section: str = ""
    follows: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """The items of several results, grouped by kind."""

    facts: tuple[ResultItem, ...] = ()
    passages: tuple[ResultItem, ...] = ()
    others: tuple[ResultItem, ...] = ()


def gather(results: Sequence[ToolResult]) -> Found:
    """Groups the items of results, without duplicates. The same fact with other dates is another term."""
    items: dict[tuple[object, ...], ResultItem] = {}
    for result in results:
        for item in result.items:
            dates = (item.valid_from, item.valid_until) if item.kind in _FACTS else ()
            items.setdefault((item.kind, item.text, item.change, *dates), item)
    return Found(
        facts=tuple(item for item in items.values() if item.kind in _FACTS),
        passages=tuple(item for item in items.values() if item.kind == "passage"),
        others=tuple(item for item in items.values() if item.kind in {"finding", "memory"}),
    )


def fact_statements(items: Iterable[ResultItem]) -> list[Statement]:
    """Returns facts as statements."""
    return [
        Statement(item.text, item.text, item, next(iter(item.citations), None), rank=rank)
        for rank, item in enumerate(items)
    ]


def passage_statements(items: Sequence[ResultItem]) -> list[Statement]:
    """Returns the sentences of passages, each read with the title of its document and its headings; none twice.

    Headings are no sentences, except in a passage without others. A sentence of a message is read and quoted without
    the message's heading, and only within that message.
    """
    found: dict[tuple[str, str], Statement] = {}
    for rank, item in enumerate(item for item in items if item.citations):
        citation = item.citations[0]
        lines = lines_of(citation.quote)
        found_here = _sentences_of_messages(citation.quote, lines)
        for place, (sentence, message) in enumerate(found_here):
            quoted = citation.part(sentence.start, sentence.end)
            author = message.author if message is not None else ""
            key = (author, " ".join(sentence.text.casefold().split()))
            stated = item if message is None else replace(item, valid_from=message.time)
            line = line_at(lines, sentence.start)
            headings = [_heading(citation.title, message)]
            headings += [one for one in line.headings if fold(one) != fold(citation.title)]
            read = with_columns(sentence.text, line.header) if line.header else sentence.text
            before, message_before = found_here[place - 1]
            between = citation.quote[before.end : sentence.start]
            follows = place > 0 and message == message_before and _continues(sentence.text, between)
            read = f"{before.text} {read}" if follows else read
            near = [one.text for one, _ in found_here[max(place - 1, 0) : place + 2]]
            one = Statement(
                sentence.text,
                ": ".join([*headings, read]),
                stated,
                quoted,
                place,
                rank,
                message=message,
                context=" ".join([citation.title, *headings, *line.header, *near]),
                section=headings[-1] if len(headings) > 1 else "",
                follows=follows,
            )
            found.setdefault(key, one)
    return list(found.values())


def _continues(sentence: str, between: str) -> bool:
    """Whether a sentence is about what the one before it names, given the text between them."""
    first = sentence.split(maxsplit=1)[0].casefold().partition("'")[0]
    return first in _PRONOUNS and not between.strip() and between.count("\n") <= 1


def _heading(title: str, message: Message | None) -> str:
    if message is None:
        return title
    when = f"{message.time.day} {message.time:%B %Y}"
    return f"{message.author} ({when})" if message.author else f"{title} ({when})"


def _sentences_of_messages(
    passage: str, lines: Sequence[Line]
) -> list[tuple[Sentence, Message | None]]:
    messages = messages_in(passage)
    if not messages:
        every = sentences(passage)
        said = [one for one in every if not line_at(lines, one.start).is_label]
        return [(sentence, None) for sentence in said or every]
    start = messages[0].start
    # The rest of a message of the previous passage; the heading of the first message is not part of it.
    before = passage[: passage.rfind("\n", 0, start) + 1]
    found: list[tuple[Sentence, Message | None]] = [(one, None) for one in sentences(before)]
    for message in messages:
        for one in sentences(passage[message.start : message.end]):
            moved = Sentence(one.text, one.start + message.start, one.end + message.start)
            found.append((moved, message))
    return found
