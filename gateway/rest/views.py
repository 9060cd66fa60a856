"""Messages as JSON shapes: plain dicts, built field by field because that is the cheapest way there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from braid.agent.v1 import consistency_pb2, ingest_pb2
from braid.common.v1 import legs_pb2, retrieval_pb2
from braid.graph.v1 import facts_pb2, query_pb2
from braid.vector.v1 import chunks_pb2
from gateway.rest.values import LAST_EXACT_INT

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from google.protobuf.struct_pb2 import Struct, Value
    from google.protobuf.timestamp_pb2 import Timestamp

    from braid.agent.v1 import search_pb2
    from braid.vector.v1 import documents_pb2

Json = dict[str, Any]


def enum_names(enum: Any, prefix: str) -> dict[int, str | None]:
    """An enum's values in lower case, without the prefix that they share; null for the unspecified one."""
    return {v: k.removeprefix(prefix).lower() if v else None for k, v in enum.items()}


_STATUS: dict[int, str] = {v: k.removeprefix("LEG_STATUS_") for k, v in legs_pb2.LegStatus.items()}
_REASON: dict[int, str] = {v: k.removeprefix("LEG_REASON_") for k, v in legs_pb2.LegReason.items()}
_ORIGIN = {v: k.removeprefix("FACT_ORIGIN_").lower() for k, v in facts_pb2.FactOrigin.items()}
_STATE = {v: k.removeprefix("JOB_STATE_") for k, v in ingest_pb2.JobState.items()}
_SOURCE = enum_names(retrieval_pb2.EmbeddingSource, "EMBEDDING_SOURCE_")
_CHUNK_PATH = enum_names(chunks_pb2.VectorPath, "VECTOR_PATH_")
_FACT_PATH = enum_names(query_pb2.FactVectorPath, "FACT_VECTOR_PATH_")
_KIND = {
    v: k.removeprefix("INCONSISTENCY_KIND_") for k, v in consistency_pb2.InconsistencyKind.items()
}
_CHUNK_SCORES = ("vector", "text", "vector_fused", "text_fused", "vector_rank", "text_rank")
_FACT_SCORES = ("vector", "text", "vector_rank", "text_rank", "words", "support")


def time(message: Any, name: str) -> str | None:
    """A timestamp field as RFC 3339 in UTC; null when it is unset."""
    if not message.HasField(name):
        return None
    value: Timestamp = getattr(message, name)
    return value.ToJsonString()


def struct(value: Struct) -> Json:
    """A JSON object; whole numbers are shown as such."""
    return {name: _plain(field) for name, field in value.fields.items()}


def _plain(value: Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() and abs(number) <= LAST_EXACT_INT else number
    if kind == "struct_value":
        return struct(value.struct_value)
    if kind == "list_value":
        return [_plain(item) for item in value.list_value.values]
    return getattr(value, kind) if kind in ("string_value", "bool_value") else None


def scores(parts: Any, names: tuple[str, ...]) -> Json:
    """Score parts by name; null for those that did not run."""
    return {name: getattr(parts, name) if parts.HasField(name) else None for name in names}


def chunk_hit(hit: chunks_pb2.ChunkHit) -> Json:
    """A found chunk."""
    chunk = hit.chunk
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "title": chunk.document_title,
        "source": chunk.source,
        "content": chunk.content,
        "start_char": chunk.start_char,
        "end_char": chunk.end_char,
        "page": chunk.page or None,
        "score": hit.score,
        "scores": scores(hit.scores, _CHUNK_SCORES),
        "metadata": struct(chunk.metadata),
    }


def fact_hit(hit: facts_pb2.FactHit) -> Json:
    """A found fact."""
    return fact(hit.fact) | {"score": hit.score, "scores": scores(hit.scores, _FACT_SCORES)}


def fact(message: facts_pb2.Fact) -> Json:
    """A dated fact with its citations; `score` is null where nothing was searched for."""
    return {
        "uuid": message.uuid,
        "fact": message.fact,
        "relation": message.relation,
        "source_entity": entity_ref(message.source_entity),
        "target_entity": entity_ref(message.target_entity),
        "valid_at": time(message, "valid_time"),
        "invalid_at": time(message, "invalid_time"),
        "event": message.event,
        "mentioned_at": time(message, "mention_time"),
        "sources": [citation(source) for source in message.sources],
        "origin": _ORIGIN.get(message.origin, "unspecified"),
        "score": None,
    }


def entity_ref(entity: facts_pb2.EntityRef) -> Json:
    """A fact's endpoint."""
    return {"uuid": entity.uuid, "name": entity.name, "type": entity.type}


def entity(message: facts_pb2.Entity) -> Json:
    """A node of the graph."""
    return {
        "uuid": message.uuid,
        "name": message.name,
        "type": message.type,
        "summary": message.summary,
        "mentions": message.mentions,
    }


def listed_entity(message: facts_pb2.Entity) -> Json:
    """The same in a listing, which tells what is only the title of a document."""
    return entity(message) | {"document_title": message.document_title}


def citation(source: retrieval_pb2.Citation) -> Json:
    """Where a statement stands."""
    return {
        "chunk_id": source.chunk_id,
        "document_id": source.document_id,
        "document_title": source.document_title,
        "source": source.source,
        "quote": source.quote,
    }


def leg(report: legs_pb2.LegReport) -> Json:
    """How one leg ended."""
    took = report.took.seconds * 1000 + report.took.nanos / 1e6
    return leg_told(report.name, report.status, report.reason, took, cached=report.cached)


def leg_told(name: str, status: int, reason: int, took_ms: float, *, cached: bool) -> Json:
    """How one leg ended, from its parts; `reason` is null where there is nothing to explain."""
    return {
        "name": name,
        "status": _STATUS.get(status, "UNSPECIFIED"),
        "reason": _REASON.get(reason, "UNSPECIFIED") if reason else None,
        "took_ms": round(took_ms, 2),
        "cached": cached,
    }


def embedding(source: int) -> str | None:
    """Where a query's vector came from; null when none was used."""
    return _SOURCE.get(source)


def chunks_searched(answer: Any) -> Json:
    """How chunks were searched: null where no vector was used. A search by words has no vector to tell of."""
    return {
        "embedding": embedding(getattr(answer, "embedding", 0)),
        "vector_path": _CHUNK_PATH.get(getattr(answer, "vector_path", 0)),
        "revision": answer.space_revision,
    }


def facts_searched(answer: query_pb2.SearchFactsResponse) -> Json:
    """How facts were searched: null where no vector was used."""
    return {"vector_path": _FACT_PATH.get(answer.vector_path), "revision": answer.space_revision}


def comprehensive(
    answer: search_pb2.ComprehensiveSearchResponse, include: Collection[str] = ()
) -> Json:
    """What all tiers found; of the lists those that are included, all where none is named."""
    lists: dict[str, Callable[[], list[Json]]] = {
        "vector_results": lambda: [chunk_hit(hit) for hit in answer.vector_results],
        "graph_results": lambda: [fact_hit(hit) for hit in answer.graph_results],
        "results": lambda: _fused_list(answer),
    }
    return {name: shown() for name, shown in lists.items() if not include or name in include} | {
        "legs": [leg(report) for report in answer.legs],
        "total_results": answer.total_results,
        "embedding": embedding(answer.embedding),
    }


def _fused_list(answer: search_pb2.ComprehensiveSearchResponse) -> list[Json]:
    metadata = {hit.chunk.id: hit.chunk.metadata for hit in answer.vector_results}
    return [fused(result, metadata.get(result.id, result.metadata)) for result in answer.results]


def fused(result: search_pb2.SearchResult, metadata: Struct) -> Json:
    """One entry of the fused list; `scores` holds each leg's part in it."""
    return {
        "id": result.id,
        "document_id": result.document_id,
        "title": result.title,
        "source": result.source,
        "content": result.content,
        "score": result.score,
        "scores": {
            part.leg: {"rank": part.rank or None, "score": part.score, "share": part.share}
            for part in result.contributions
        },
        "metadata": struct(metadata),
        "facts": [fact(item) for item in result.facts],
    }


def leg_results(results: search_pb2.LegResults) -> Json:
    """One leg of a streamed search."""
    return {
        "leg": leg(results.report),
        "vector_results": [chunk_hit(hit) for hit in results.vector_results],
        "graph_results": [fact_hit(hit) for hit in results.graph_results],
    }


def neighborhood(answer: query_pb2.GetNeighborhoodResponse) -> Json:
    """An entity, its neighbours and what joins them."""
    return {
        "center": entity(answer.center),
        "nodes": [entity(node) for node in answer.nodes],
        "edges": [fact(edge) for edge in answer.edges],
        "total": answer.total,
        "truncated": answer.truncated,
        "homonyms": [entity_ref(other) for other in answer.homonyms],
    }


def graph_stats(answer: query_pb2.GetGraphStatsResponse) -> Json:
    """The graph in numbers."""
    return {
        "entities": answer.entities,
        "facts": answer.facts,
        "local_facts": answer.local_facts,
        "episodes": answer.episodes,
        "entities_by_type": dict(answer.entities_by_type),
        "last_ingest_at": time(answer, "last_ingest_time"),
        "indexes": dict(answer.indexes),
        "revision": answer.space_revision,
    }


def document(message: documents_pb2.Document) -> Json:
    """A stored document's current version."""
    return {
        "id": message.document_id,
        "title": message.title,
        "source": message.source,
        "metadata": struct(message.metadata),
        "version": message.version,
        "valid_at": time(message, "valid_time"),
        "created_at": time(message, "create_time"),
        "chunk_count": message.chunk_count,
    }


def job(message: ingest_pb2.IngestJob) -> Json:
    """An upload's way through the tiers."""
    return {
        "id": message.id,
        "state": _STATE.get(message.state, "UNSPECIFIED"),
        "documents_total": message.documents_total,
        "documents_searchable": message.documents_searchable,
        "documents_graph_ready": message.documents_graph_ready,
        "documents_unchanged": message.documents_unchanged,
        "documents_failed": message.documents_failed,
        "chunks_written": message.chunks_written,
        "failures": [failure(one) for one in message.failures],
        "kind": message.kind,
        "waiting_for": message.waiting_for or None,
        "searchable_per_second": message.searchable_per_second,
        "graph_ready_per_second": message.graph_ready_per_second,
        "removed": _removed(message.removed),
        "document_id": message.document_id or None,
        "title": message.title or None,
        "source": message.source or None,
        "created_at": time(message, "create_time"),
        "updated_at": time(message, "update_time"),
        "started_at": time(message, "start_time"),
        "ended_at": time(message, "end_time"),
    }


def failure(message: ingest_pb2.IngestFailure) -> Json:
    """A document that could not be taken."""
    return {"id": message.document_id, "reason": message.reason, "stage": message.stage}


def dead_document(message: ingest_pb2.DeadDocument) -> Json:
    """The same in the list of its space."""
    told = failure(message.failure)
    return {"job_id": message.job_id, **told, "failed_at": time(message, "create_time")}


def receipt(document_id: str, answer: ingest_pb2.DeleteDocumentResponse) -> Json:
    """What deleting a document removed, and its job."""
    return {"id": document_id, "removed": _removed(answer.removed), "job": job(answer.job)}


def _removed(rows: Iterable[ingest_pb2.RemovedRows]) -> list[Json]:
    return [{"store": row.store, "kind": row.kind, "count": row.count} for row in rows]


def consistency(report: consistency_pb2.ConsistencyReport) -> Json:
    """What both stores hold, and what is amiss."""
    return {
        "consistent": report.consistent,
        "chunks": report.chunks,
        "episodes": report.episodes,
        "graph_documents": report.graph_documents,
        "entities": report.entities,
        "pending": report.pending,
        "counts": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED")}
            | {"found": one.found, "repaired": one.repaired}
            for one in report.counts
        ],
        "listed": [
            {"kind": _KIND.get(one.kind, "UNSPECIFIED")}
            | {"id": one.id, "document_id": one.document_id or None}
            for one in report.listed
        ],
    }


def facts_taken(answer: ingest_pb2.IngestFactsResponse) -> Json:
    """What became of given facts."""
    return {
        "added": answer.added,
        "unchanged": answer.unchanged,
        "refused": [{"index": item.index, "reason": item.reason} for item in answer.refused],
        "refused_total": answer.refused_total,
    }
