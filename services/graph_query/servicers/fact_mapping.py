"""Maps the contract's messages to domain types and back."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2, ingest_pb2, query_pb2
from services.graph_query.core.domain import (
    Citation,
    Entity,
    EntityListing,
    EntityName,
    EntityOrder,
    EntityRef,
    Fact,
    FactFilter,
    GivenFact,
    Origin,
    Passage,
    Scalar,
)
from services.graph_query.core.intervals import range_bounds
from services.graph_query.core.names import clean_name, clean_relation, filter_key, key_refusal
from services.graph_query.core.store import VectorPath
from services.graph_query.embeddings.space_models import DegradationReason
from services.graph_query.search.fact_search import Answer
from services.graph_query.search.ranking import FoundFact, Scores
from services.graph_query.search.reranking import Order, Ordering
from services.runtime.leg_reports import found_or_not, leg_report
from services.runtime.times import to_datetime, to_timestamp, utc_now

_ORIGINS = {
    Origin.GIVEN: facts_pb2.FACT_ORIGIN_GIVEN,
    Origin.EXTRACTED: facts_pb2.FACT_ORIGIN_EXTRACTED,
    Origin.LOCAL: facts_pb2.FACT_ORIGIN_LOCAL,
}


SHORTFALLS = {
    DegradationReason.EMBEDDER: legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE,
    DegradationReason.MODEL: legs_pb2.LEG_REASON_MODEL_MISMATCH,
    DegradationReason.RERANKER: legs_pb2.LEG_REASON_RERANKER_UNAVAILABLE,
    DegradationReason.LATE: legs_pb2.LEG_REASON_BUDGET_EXCEEDED,
}


_ORDERS = {
    Order.RRF: query_pb2.FACT_RERANKER_RRF,
    Order.MMR: query_pb2.FACT_RERANKER_MMR,
    Order.NODE_DISTANCE: query_pb2.FACT_RERANKER_NODE_DISTANCE,
    Order.CROSS_ENCODER: query_pb2.FACT_RERANKER_CROSS_ENCODER,
}


_TITLES = {
    query_pb2.DOCUMENT_TITLES_EXCLUDE: False,
    query_pb2.DOCUMENT_TITLES_ONLY: True,
}


_SCALARS = frozenset({"string_value", "number_value", "bool_value"})


_PATHS = {
    VectorPath.EXACT: retrieval_pb2.VECTOR_PATH_EXACT,
    VectorPath.INDEX: retrieval_pb2.VECTOR_PATH_INDEX,
}


def passage(message: ingest_pb2.EpisodeInput) -> Passage:
    """Maps a chunk to add."""
    value, versioned = message.HasField("reference_time"), message.HasField("version_time")
    timed = message.HasField("valid_time")
    return Passage(
        uuid=message.chunk_id.lower(),
        document_id=message.document_id,
        title=message.document_title,
        source=message.source,
        content=message.content,
        reference_time=to_datetime(message.reference_time) if value else None,
        version_time=to_datetime(message.version_time) if versioned else None,
        valid_time=to_datetime(message.valid_time) if timed else None,
    )


def fact_input(message: ingest_pb2.FactInput) -> GivenFact:
    """Maps a fact to add; a missing statement is built from its parts.

    Raises ValueError for what the graph cannot store.
    """
    subject, target = message.subject, message.object
    for field, end in (("subject", subject), ("object", target)):
        if not end.name.strip():
            raise ValueError(f"the {field}'s name must not be blank")
    words = f"{subject.name} {message.relation_type.replace('_', ' ').lower()} {target.name}"
    return GivenFact(
        subject=EntityName(subject.name, subject.type),
        relation=clean_relation(message.relation_type),
        object=EntityName(target.name, target.type),
        fact=message.statement.strip() or clean_name(words),
        valid_at=to_datetime(message.valid_time) if message.HasField("valid_time") else None,
        invalid_at=to_datetime(message.invalid_time) if message.HasField("invalid_time") else None,
        document_id=message.document_id,
        attributes=attributes(message.attributes),
        embedding=tuple(message.embedding),
    )


def fact_filter(
    selector: retrieval_pb2.TimeSelector | None, entity: str = "", relation: str = ""
) -> FactFilter:
    """Maps a request's filter; without a selector the time is now. Raises InvalidFieldError for a blank entity name."""
    since, until = _bounds(selector)
    key = filter_key(entity, "entity_name")
    return FactFilter(since, until, key, clean_relation(relation))


def ordering(request: query_pb2.SearchFactsRequest) -> Ordering:
    """Maps the requested order of facts."""
    asked = {number: order for order, number in _ORDERS.items()}
    ordering = Ordering(
        asked.get(request.reranker, Order.RRF),
        center_name=request.center_entity_name or request.entity_name,
        center_type=request.center_entity_type,
    )
    if request.HasField("mmr_lambda"):
        ordering = replace(ordering, mmr_lambda=request.mmr_lambda)
    return ordering


def entity(one: Entity) -> facts_pb2.Entity:
    """Maps an entity."""
    return facts_pb2.Entity(
        id=one.uuid,
        name=one.name,
        type=one.type,
        summary=one.summary,
        mention_count=one.mentions,
        attributes=_struct(one.attributes),
        document_title=one.document_title,
    )


def entity_listing(request: query_pb2.ListEntitiesRequest) -> EntityListing:
    """Maps which entities are listed, and in which order."""
    by_mentions = request.order_by == query_pb2.ENTITY_ORDER_MENTIONS
    return EntityListing(
        type=request.type,
        order=EntityOrder.MENTIONS if by_mentions else EntityOrder.NAME,
        document_titles=_TITLES.get(request.document_titles),
    )


def entity_ref(one: EntityRef) -> facts_pb2.EntityRef:
    """Maps an endpoint of a fact."""
    return facts_pb2.EntityRef(id=one.uuid, name=one.name, type=one.type)


def fact(one: Fact) -> facts_pb2.Fact:
    """Maps a fact with its citations. A co-occurrence has its document's dates and no valid time of its own."""
    mentioned = one.origin is Origin.LOCAL
    return facts_pb2.Fact(
        id=one.uuid,
        statement=one.fact,
        relation_type=one.relation,
        subject=entity_ref(one.source),
        object=entity_ref(one.target),
        valid_time=None if mentioned else _stamp(one.valid_at),
        invalid_time=None if mentioned else _stamp(one.invalid_at),
        create_time=_stamp(one.created_at),
        origin=_ORIGINS[one.origin],
        sources=[citation(cited) for cited in one.citations],
        attributes=_struct(one.attributes),
        event=not mentioned and one.happened,
        mention_time=_stamp(one.valid_at) if mentioned else None,
    )


def citation(one: Citation) -> retrieval_pb2.Citation:
    """Maps the source of a statement."""
    return retrieval_pb2.Citation(
        chunk_id=one.chunk_id,
        document_id=one.document_id,
        document_title=one.title,
        source=one.source,
        quote=one.quote,
    )


def scores(value: Scores) -> facts_pb2.FactScores:
    """Maps the parts of a fused score."""
    return facts_pb2.FactScores(
        vector=value.vector,
        vector_rank=value.vector_rank,
        text_rank=value.text_rank,
        rerank=value.rerank,
        words=value.words,
        support=value.support,
        reading=value.reading,
    )


def answer(found: Answer, started: int) -> query_pb2.SearchFactsResponse:
    """Maps the result of a search that began at `started` (of `time.perf_counter_ns`)."""
    end = found_or_not(len(found.hits))
    if found.shortfall is not None:
        late = found.shortfall is DegradationReason.LATE
        status = legs_pb2.LEG_STATUS_TIMED_OUT if late else legs_pb2.LEG_STATUS_DEGRADED
        end = status, SHORTFALLS[found.shortfall]
    return query_pb2.SearchFactsResponse(
        hits=[_hit(one) for one in found.hits],
        leg=leg_report(legs_pb2.LEG_GRAPH, end, started, len(found.hits)),
        result_count=len(found.hits),
        vector_path=_PATHS[found.path] if found.path else retrieval_pb2.VECTOR_PATH_UNSPECIFIED,
        space_revision=found.revision,
        reranker=_ORDERS[found.order],
        relevance_floor=found.floor,
    )


def _hit(one: FoundFact) -> facts_pb2.FactHit:
    return facts_pb2.FactHit(fact=fact(one.fact), score=one.scores.fused, scores=scores(one.scores))


def _bounds(selector: retrieval_pb2.TimeSelector | None) -> tuple[float, float]:
    if selector is None or selector.WhichOneof("at") is None:
        now = utc_now().timestamp()
        return now, now
    if selector.WhichOneof("at") == "instant":
        instant = to_datetime(selector.instant).timestamp()
        return instant, instant
    span = selector.range
    start = to_datetime(span.start_time) if span.HasField("start_time") else None
    end = to_datetime(span.end_time) if span.HasField("end_time") else None
    return range_bounds(start, end)


def seconds(stamp: Timestamp) -> float:
    """Maps an instant in epoch seconds."""
    return to_datetime(stamp).timestamp()


def _stamp(value: datetime | None) -> Timestamp | None:
    return None if value is None else to_timestamp(value)


def _struct(attributes: Mapping[str, Scalar]) -> Struct | None:
    if not attributes:
        return None
    struct = Struct()
    struct.update(attributes)
    return struct


def attributes(struct: Struct) -> Mapping[str, Scalar]:
    """Maps the attributes of a fact. Raises ValueError for what the graph cannot store."""
    kept: dict[str, Scalar] = {}
    for name, value in struct.fields.items():  # the library's own way is several times as slow
        refusal = key_refusal(name)
        if refusal is not None:
            raise ValueError(f"attributes: {refusal}")
        kind = value.WhichOneof("kind")
        if kind == "null_value":
            continue
        if kind not in _SCALARS:
            raise ValueError("attributes must be flat values")
        result = getattr(value, kind)
        if kind == "number_value" and not math.isfinite(result):
            raise ValueError("attributes must be finite numbers")
        kept[name] = result
    return kept
