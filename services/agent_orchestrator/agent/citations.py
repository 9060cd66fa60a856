"""The sources of an answer: the results that its `[n]` marks cite, and the positions of those marks."""

from __future__ import annotations

import re
from collections import defaultdict

from services.agent_orchestrator.agent.citation_numbers import Evidence
from services.agent_orchestrator.agent.results import Citation
from services.agent_orchestrator.agent.runs.events import Cited

MAX_QUOTE = 1_000
_SOURCES_EACH = 3
_MARK = re.compile(r"\[(\d{1,4})\]")


def cited_by(answer: str, evidence: Evidence) -> tuple[Cited, ...]:
    """Returns the sources that an answer cites, in order of first mention. Unknown numbers are ignored."""
    spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for mark in _MARK.finditer(answer):
        spans[int(mark[1])].append(mark.span())
    return tuple(
        as_cited(number, citation, tuple(places))
        for number, places in spans.items()
        for citation in evidence.citations(number)[:_SOURCES_EACH]
    )


def as_cited(number: int, citation: Citation, spans: tuple[tuple[int, int], ...]) -> Cited:
    """Returns a citation as an event of the run."""
    return Cited(
        number=number,
        document_id=citation.document_id,
        title=citation.title,
        source=citation.source,
        chunk_id=citation.chunk_id,
        start=citation.start,
        end=citation.end,
        quote=citation.quote[:MAX_QUOTE],
        spans=spans,
    )
