"""Results of tools as statements that an answer can quote: facts, and sentences of passages with their positions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from services.agent_orchestrator.agent.planner.language import sentences, stem, word_list
from services.agent_orchestrator.agent.planner.normalized_text import Wording, wording
from services.agent_orchestrator.agent.planner.relevance import Match, Need, match
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

_FACTS = frozenset({"fact", "state", "change", "mention"})


@dataclass(frozen=True, slots=True)
class Statement:
    """A quotable statement with its source. `place` is the index of the sentence in its passage."""

    text: str
    item: ResultItem
    citation: Citation | None
    match: Match
    place: int = 0

    @property
    def score(self) -> float:
        """How well it answers, including the search's own score."""
        return self.match.score + 0.1 * self.item.score


@dataclass(frozen=True, slots=True)
class Found:
    """The items of several results, grouped by kind."""

    facts: tuple[ResultItem, ...] = ()
    passages: tuple[ResultItem, ...] = ()
    others: tuple[ResultItem, ...] = ()
    results: tuple[ToolResult, ...] = field(default=())


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
        results=tuple(results),
    )


def fact_statements(need: Need, items: Iterable[ResultItem]) -> list[Statement]:
    """Returns facts as statements, scored by their text and the words of their relation."""
    # A fact always names two entities, so it always meets a request for a name.
    need = replace(need, kind="" if need.kind == "name" else need.kind)
    return [
        Statement(
            item.text,
            item,
            next(iter(item.citations), None),
            match(
                need,
                wording(f"{item.text} {item.subject} {item.object}"),
                wording(relation_words(item)),
            ),
        )
        for item in items
    ]


def passage_statements(need: Need, items: Sequence[ResultItem]) -> list[Statement]:
    """Returns the sentences of passages, each scored with its title and the previous sentence."""
    cut = [
        (item, [(one, wording(one.text)) for one in sentences(item.citations[0].quote)])
        for item in items
        if item.citations
    ]
    need = need.weighed([words for _, own in cut for _, words in own])
    found: dict[str, Statement] = {}
    for item, own in cut:
        citation = item.citations[0]
        title, before = wording(citation.title), Wording()
        for place, (sentence, words) in enumerate(own):
            quoted = citation.part(sentence.start, sentence.end)
            judged = match(need, words, title, before)
            found.setdefault(words.folded, Statement(sentence.text, item, quoted, judged, place))
            before = words
    return list(found.values())


def relation_words(item: ResultItem) -> str:
    """Returns the relation's name as words: MEMBER_OF is "member of"."""
    return item.relation.replace("_", " ").lower()


def relation_stems(item: ResultItem) -> frozenset[str]:
    """Returns the stems of a relation's name."""
    return frozenset(
        stem(word)
        for word in word_list(relation_words(item))
        if word not in {"of", "by", "on", "to"}
    )
