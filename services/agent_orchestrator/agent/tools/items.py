"""Maps the tiers' messages to items of a tool's result, without embeddings and without the base label `Entity`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from braid.graph.v1 import facts_pb2, findings_pb2
from services.agent_orchestrator.agent.results import (
    Candidate,
    Change,
    Citation,
    ItemKind,
    ResultItem,
)
from services.runtime.times import to_datetime

if TYPE_CHECKING:
    from braid.agent.v1 import search_pb2
    from braid.common.v1 import retrieval_pb2
    from braid.graph.v1 import history_pb2
    from braid.vector.v1 import chunks_pb2

    Chunks = Mapping[str, chunks_pb2.Chunk]

BASE_LABEL = "Entity"
# Maximum characters of a passage, so that one cannot fill a result. Longer ones are cut after a sentence if possible.
MAX_PASSAGE = 1_600
MAX_CITATIONS = 5
_SENTENCE_ENDS = (". ", "! ", "? ", ".\n", "\n\n")


def passage(chunk: chunks_pb2.Chunk, score: float) -> ResultItem:
    """Maps a chunk to an item."""
    cited = chunk_citation(chunk)
    length = _passage_length(chunk.content)
    if length < len(chunk.content):
        cited = cited.part(0, length)
    since = to_datetime(chunk.valid_time) if chunk.HasField("valid_time") else None
    return ResultItem(
        kind="passage", text=cited.quote, score=score, valid_from=since, citations=(cited,)
    )


def chunk_citation(chunk: chunks_pb2.Chunk) -> Citation:
    """Returns a citation of the whole chunk."""
    return Citation(
        document_id=chunk.document_id,
        title=chunk.document_title,
        source=chunk.source,
        chunk_id=chunk.id,
        start=chunk.start_char,
        end=chunk.end_char,
        quote=chunk.content,
    )


def search_result(result: search_pb2.SearchResult, chunks: Chunks) -> ResultItem:
    """Maps an entry of the fused list."""
    if (chunk := chunks.get(result.id)) is not None:
        return passage(chunk, result.score)
    if result.facts:
        return fact_item(result.facts[0], chunks, score=result.score)
    cited = Citation(
        result.document_id, result.title, result.source, result.id, 0, 0, result.content
    )
    return ResultItem(kind="passage", text=result.content, score=result.score, citations=(cited,))


def fact_item(
    fact: facts_pb2.Fact,
    chunks: Chunks,
    *,
    score: float = 0.0,
    kind: ItemKind = "fact",
    change: Change = "",
) -> ResultItem:
    """Maps a fact with its subject, object, dates and sources."""
    local = fact.origin == facts_pb2.FACT_ORIGIN_LOCAL
    return ResultItem(
        kind="mention" if local else kind,
        text=fact.statement,
        score=score,
        subject=fact.subject.name,
        relation=fact.relation_type,
        object=fact.object.name,
        valid_from=_instant(fact, "mention_time" if local else "valid_time"),
        valid_until=_instant(fact, "invalid_time"),
        is_event=fact.event or local,
        change=change,
        citations=tuple(located(source, chunks) for source in fact.sources[:MAX_CITATIONS]),
        subject_type=entity_type(fact.subject.type),
        object_type=entity_type(fact.object.type),
    )


def changed_item(changed: history_pb2.ChangedFacts, chunks: Chunks) -> ResultItem:
    """Maps a subject and relation whose objects changed to one item."""
    before = [fact_item(fact, chunks) for fact in changed.before]
    after = [fact_item(fact, chunks) for fact in changed.after]
    latest = after[0] if after else before[0]
    was = "; ".join(item.text for item in before)
    now = "; ".join(item.text for item in after)
    return replace(
        latest,
        kind="change",
        change="changed",
        text=f"Before: {was} → after: {now}",
        citations=tuple(cited for item in (*before, *after) for cited in item.citations)[
            :MAX_CITATIONS
        ],
    )


def finding_item(hit: findings_pb2.FindingHit, chunks: Chunks) -> ResultItem:
    """Maps a finding, an intent or an outcome, with its fields as text."""
    finding = hit.finding
    return ResultItem(
        kind="finding",
        text=_finding_text(finding),
        score=hit.score,
        subject=", ".join(entity.name for entity in finding.about_entities),
        citations=tuple(located(source, chunks) for source in finding.sources[:MAX_CITATIONS]),
    )


def located(source: retrieval_pb2.Citation, chunks: Chunks) -> Citation:
    """Maps a citation, with its position in the document if its chunk is known."""
    chunk = chunks.get(source.chunk_id)
    if chunk is None:
        return Citation(
            source.document_id,
            source.document_title,
            source.source,
            source.chunk_id,
            0,
            0,
            source.quote,
        )
    whole = chunk_citation(chunk)
    at = chunk.content.find(source.quote) if source.quote else -1
    return whole if at < 0 else whole.part(at, at + len(source.quote))


def cited_chunk_ids(facts: Iterable[facts_pb2.Fact]) -> list[str]:
    """Returns the ids of the chunks that facts cite, without duplicates."""
    return list(
        dict.fromkeys(
            source.chunk_id
            for fact in facts
            for source in fact.sources[:MAX_CITATIONS]
            if source.chunk_id
        )
    )


def candidates(homonyms: Sequence[facts_pb2.EntityRef]) -> tuple[Candidate, ...]:
    """Maps entities that share a name to candidates that their types distinguish."""
    return tuple(Candidate(entity.name, entity_type(entity.type)) for entity in homonyms)


def entity_type(name: str) -> str:
    """Returns a type to show; empty for the base label, which every entity has."""
    return "" if name == BASE_LABEL else name


def _finding_text(finding: findings_pb2.Finding) -> str:
    kind = finding.WhichOneof("details")
    if kind == "finding":
        of = finding.finding
        about = {
            "type": of.type,
            "confidence": f"{of.confidence:g}" if of.HasField("confidence") else "",
            "methodology": of.methodology,
        }
        return _with_fields("Finding", of.key_insight, about)
    if kind == "intent":
        wish = finding.intent
        priority = findings_pb2.IntentPriority.Name(wish.priority)
        name = priority.removeprefix("INTENT_PRIORITY_").lower()
        about = {
            "status": wish.status,
            "priority": "" if name == "unspecified" else name,
            "owner": wish.owner,
        }
        return _with_fields("Intent", wish.goal, about)
    outcome = finding.outcome
    metrics = ", ".join(f"{metric.name} {metric.value:g}" for metric in outcome.metrics)
    about = {"metrics": metrics, "blockers": "; ".join(outcome.blockers)}
    return _with_fields("Outcome", outcome.result, about)


def _with_fields(kind: str, statement: str, fields: Mapping[str, str]) -> str:
    details = "; ".join(f"{name}: {value}" for name, value in fields.items() if value)
    return f"{kind}: {statement}" + (f" ({details})" if details else "")


def _instant(fact: facts_pb2.Fact, name: str) -> datetime | None:
    return to_datetime(getattr(fact, name)) if fact.HasField(name) else None  # type: ignore[arg-type]


def _passage_length(text: str) -> int:
    if len(text) <= MAX_PASSAGE:
        return len(text)
    ends = [text.rfind(end, 0, MAX_PASSAGE) + 1 for end in _SENTENCE_ENDS]
    return max(ends) or MAX_PASSAGE
