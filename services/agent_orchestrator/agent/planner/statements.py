"""Results of tools as statements that an answer can quote: facts, and sentences of passages with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from services.agent_orchestrator.agent.planner.language import sentences
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

_FACTS = frozenset({"fact", "state", "change", "mention"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A quotable statement with its source.

    `read_as` is what is compared with the question: a sentence with its title. `place` is the index of the sentence
    in its passage, `rank` the index of its item in the results. `score` is the logit that the statement answers the
    question, once it was read.
    """

    text: str
    read_as: str
    item: ResultItem
    citation: Citation | None
    place: int = 0
    rank: int = 0
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The items of several results, grouped by kind."""

    facts: tuple[ResultItem, ...] = ()
    passages: tuple[ResultItem, ...] = ()
    others: tuple[ResultItem, ...] = ()


def gather(results: Sequence[ToolResult]) -> Found:
    """Groups the items of results, without duplicates."""
    items: dict[tuple[str, str, str], ResultItem] = {}
    for result in results:
        for item in result.items:
            items.setdefault((item.kind, item.text, item.change), item)
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
    """Returns the sentences of passages, each read with the title of its document; none twice."""
    found: dict[str, Statement] = {}
    for rank, item in enumerate(item for item in items if item.citations):
        citation = item.citations[0]
        for place, sentence in enumerate(sentences(citation.quote)):
            quoted = citation.part(sentence.start, sentence.end)
            read_as = f"{citation.title}: {sentence.text}"
            key = " ".join(sentence.text.casefold().split())
            found.setdefault(key, Statement(sentence.text, read_as, item, quoted, place, rank))
    return list(found.values())
