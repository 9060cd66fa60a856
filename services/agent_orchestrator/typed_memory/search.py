"""Searches memories by meaning and words, reranks and expands them along relations, and counts each as found."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, TypeAlias

from google.protobuf.struct_pb2 import Struct

from braid.agent.v1 import memories_pb2
from braid.agent.v1 import search_pb2 as agent_search_pb2
from braid.common.v1 import expansion_pb2 as options_pb2
from braid.common.v1 import legs_pb2, reranking_pb2
from braid.graph.v1 import expansion_pb2
from braid.vector.v1 import chunks_pb2, search_pb2
from services.agent_orchestrator.clients.budget import Budget
from services.agent_orchestrator.clients.chunk_searches import ChunkSearches
from services.agent_orchestrator.clients.relations import GraphRelations
from services.agent_orchestrator.expansion.formula import check_types, expand_request
from services.agent_orchestrator.reranking.reranking import (
    MAX_RERANKED,
    OFF,
    Mode,
    Reranking,
)
from services.agent_orchestrator.typed_memory.domain import Memory, Owner
from services.agent_orchestrator.typed_memory.memories import in_partition
from services.agent_orchestrator.typed_memory.store import MemoryStore
from services.runtime.context import may_write, remaining
from services.runtime.errors import BraidError, FieldError, InvalidFieldError
from services.runtime.telemetry import get_logger

DEFAULT_LIMIT = 10
# Number of first memories of an answer that count as found together.
MAX_TOGETHER = 3
MAX_NEAREST = 3
# Maximum seconds of a step, and its maximum share of the remaining time.
_RERANK_SECONDS = 2.0
_EXPANSION_SECONDS = 3.0
_SHARE = 0.5

Request = memories_pb2.SearchMemoriesRequest
Status: TypeAlias = legs_pb2.LegStatus.ValueType
Reason: TypeAlias = legs_pb2.LegReason.ValueType


@dataclass(frozen=True, slots=True)
class Hit:
    """A found memory."""

    memory: Memory
    score: float
    composite: float
    depth: int = 0
    path: Sequence[expansion_pb2.ExpansionStep] = ()
    penalty: float = 0.0


@dataclass(frozen=True, slots=True)
class Found:
    """The results of a search; `nearest` are the best memories if none is relevant."""

    hits: Sequence[Hit]
    status: Status
    reason: Reason = legs_pb2.LEG_REASON_UNSPECIFIED
    related: Sequence[Hit] = ()
    nearest: Sequence[Hit] = ()
    expansion: options_pb2.ExpansionReport | None = None


@dataclass(frozen=True, slots=True)
class _Searched:
    """Scores by chunk, best first; those of the nearest if none is relevant."""

    scores: Mapping[str, float] = field(default_factory=dict)
    nearest: Mapping[str, float] = field(default_factory=dict)
    status: Status = legs_pb2.LEG_STATUS_OK
    reason: Reason = legs_pb2.LEG_REASON_UNSPECIFIED


class MemorySearch:
    """Searches memories of one owner at a time."""

    def __init__(
        self,
        store: MemoryStore,
        searches: ChunkSearches,
        relations: GraphRelations,
        reranking: Reranking,
    ) -> None:
        self._store = store
        self._searches = searches
        self._relations = relations
        self._reranking = reranking

    async def run(self, owner: Owner, request: Request) -> Found:
        """Returns the memories that match the request. Without the graph the list is not expanded, as reported."""
        mode = request.expansion.mode
        if mode not in _MODES:
            raise InvalidFieldError(FieldError("expansion.mode", "must be FORMULA or NONE"))
        check_types(request.expansion)
        rerank = self._rerank_mode(request)
        limit = request.limit if request.HasField("limit") else DEFAULT_LIMIT
        # What is reranked is the same for every limit.
        depth = limit if rerank in OFF else max(limit, MAX_RERANKED)
        searched = await self._search(owner, request, depth)
        known = await self._store.by_id(owner, searched.scores)
        searched = await self._reranked(request, rerank, searched, known)
        scores = dict(list(searched.scores.items())[:limit])
        if mode != options_pb2.EXPANSION_MODE_FORMULA or not scores:
            found = _plain(scores, known, searched)
        else:
            found = await self._expanded(owner, request, limit, scores, searched)
        found = await self._with_nearest(owner, found, searched)
        if may_write():
            await self._note_access(owner, found)
        return found

    async def _with_nearest(self, owner: Owner, found: Found, searched: _Searched) -> Found:
        if found.hits or not searched.nearest:
            return found
        known = await self._store.by_id(owner, searched.nearest)
        nearest = [Hit(known[id_], s, s) for id_, s in searched.nearest.items() if id_ in known]
        return replace(found, nearest=nearest)

    def _rerank_mode(self, request: Request) -> Mode:
        """Returns the requested mode or the service's setting; if neither is set, LOCAL, because memories are few."""
        mode = self._reranking.mode(request.rerank)
        unsaid = request.rerank == reranking_pb2.RERANK_MODE_UNSPECIFIED
        local = reranking_pb2.RERANK_MODE_LOCAL
        return local if unsaid and mode in OFF and self._reranking.has(local) else mode

    async def _reranked(
        self, request: Request, mode: Mode, searched: _Searched, known: Mapping[str, Memory]
    ) -> _Searched:
        """Reorders the known memories; on a failure of the reranker the order is kept, as the status reports."""
        scores = {id_: score for id_, score in searched.scores.items() if id_ in known}
        found = replace(searched, scores=scores)
        if mode in OFF or len(scores) <= 1:
            return found
        results = [_result(known[id_], score) for id_, score in scores.items()]
        budget = Budget(min(_RERANK_SECONDS, remaining(2 * _RERANK_SECONDS) * _SHARE))
        reordered, report = await self._reranking.rerank(mode, request.query, results, budget)
        scores = {one.id: one.score for one in reordered}
        if report.status == legs_pb2.LEG_STATUS_DEGRADED and not found.reason:
            return replace(found, scores=scores, status=report.status, reason=report.reason)
        return replace(found, scores=scores)

    async def _search(self, owner: Owner, request: Request, limit: int) -> _Searched:
        """Searches once for each requested type, because a metadata filter has no alternatives."""
        answers = [
            await self._search_type(owner, request, kind, limit)
            for kind in dict.fromkeys(name.upper() for name in request.types or [""])
        ]
        merged = {id_: score for answer in answers for id_, score in answer.scores.items()}
        near = {id_: score for answer in answers for id_, score in answer.nearest.items()}
        best = _best(merged, limit)
        worst = next((one for one in answers if one.reason), answers[0])
        status = worst.status if worst.reason else _of_hits(best)
        nearest = {} if best else _best(near, MAX_NEAREST)
        return _Searched(best, nearest, status, worst.reason)

    async def _search_type(
        self, owner: Owner, request: Request, kind: str, limit: int
    ) -> _Searched:
        only = _filter(request, kind)
        lowest = request.min_score if request.HasField("min_score") else None
        with in_partition(owner):
            match request.mode:
                case memories_pb2.MEMORY_SEARCH_MODE_VECTOR:
                    by_meaning = await self._searches.vector(
                        search_pb2.VectorSearchRequest(
                            query=request.query,
                            limit=limit,
                            filter=only,
                            min_score=lowest,
                            cache=request.cache,
                        )
                    )
                    return _Searched(_scores(by_meaning.hits), status=by_meaning.leg.status)
                case memories_pb2.MEMORY_SEARCH_MODE_TEXT:
                    by_words = await self._searches.text(
                        search_pb2.TextSearchRequest(
                            query=request.query,
                            limit=limit,
                            filter=only,
                            min_score=lowest,
                            cache=request.cache,
                        )
                    )
                    return _Searched(_scores(by_words.hits), status=by_words.leg.status)
                case _:
                    answer = await self._searches.hybrid(
                        search_pb2.HybridSearchRequest(
                            query=request.query,
                            limit=limit,
                            filter=only,
                            min_score=lowest,
                            cache=request.cache,
                        )
                    )
                    return _Searched(
                        _scores(answer.hits),
                        _scores(answer.nearest),
                        answer.leg.status,
                        answer.leg.reason,
                    )

    async def _expanded(
        self,
        owner: Owner,
        request: Request,
        limit: int,
        scores: Mapping[str, float],
        searched: _Searched,
    ) -> Found:
        asked = expand_request(request.expansion, scores, limit)
        asked.keep_ranking = request.keep_ranking
        asked.cache = request.cache
        began = time.monotonic()
        try:
            with in_partition(owner):
                answer = await self._relations.expand(asked, _expansion_seconds())
        except BraidError as error:
            get_logger("memories").warning("not expanded", cause=type(error).__name__)
            known = await self._store.by_id(owner, scores)
            report = _report(None, time.monotonic() - began)
            return _plain(scores, known, searched, report)
        listed = [*answer.items, *answer.context]
        known = await self._store.by_id(owner, [item.chunk_id for item in listed])
        hits = [_hit(item, known, scores) for item in answer.items if item.chunk_id in known]
        related = [_hit(item, known, scores) for item in answer.context if item.chunk_id in known]
        report = _report(answer, time.monotonic() - began)
        status = searched.status if searched.reason else _of_hits(hits)
        return Found(hits, status, searched.reason, related, expansion=report)

    async def _note_access(self, owner: Owner, found: Found) -> None:
        ids = [hit.memory.id for hit in found.hits]
        await self._store.note_access(owner, ids)
        await self._store.note_co_access(owner, ids[:MAX_TOGETHER])


_MODES = frozenset(
    {
        options_pb2.EXPANSION_MODE_UNSPECIFIED,
        options_pb2.EXPANSION_MODE_NONE,
        options_pb2.EXPANSION_MODE_FORMULA,
    }
)


def _filter(request: Request, kind: str) -> chunks_pb2.ChunkFilter | None:
    wanted: dict[str, Any] = {}
    if kind:
        wanted["type"] = kind
    if request.tags:
        wanted["tags"] = list(request.tags)
    if request.session_id:
        wanted["session_id"] = request.session_id
    if not wanted:
        return None
    metadata = Struct()
    metadata.update(wanted)
    return chunks_pb2.ChunkFilter(metadata=metadata)


def _scores(hits: Iterable[chunks_pb2.ChunkHit]) -> dict[str, float]:
    return {hit.chunk.id: hit.score for hit in hits}


def _best(scores: Mapping[str, float], limit: int) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])


def _plain(
    scores: Mapping[str, float],
    known: Mapping[str, Memory],
    searched: _Searched,
    report: options_pb2.ExpansionReport | None = None,
) -> Found:
    hits = [Hit(known[id_], score, score) for id_, score in scores.items() if id_ in known]
    status = searched.status if searched.reason else _of_hits(hits)
    return Found(hits, status, searched.reason, expansion=report)


def _hit(
    item: expansion_pb2.ExpandedItem, known: Mapping[str, Memory], scores: Mapping[str, float]
) -> Hit:
    return Hit(
        memory=known[item.chunk_id],
        score=scores.get(item.chunk_id, item.score + item.penalty),
        composite=item.score,
        depth=item.depth,
        path=item.path,
        penalty=item.penalty,
    )


def _result(memory: Memory, score: float) -> agent_search_pb2.SearchResult:
    given = memory.given
    return agent_search_pb2.SearchResult(
        id=memory.id, title=given.title, content=given.content, score=score
    )


def _expansion_seconds() -> float:
    return min(_EXPANSION_SECONDS, remaining(2 * _EXPANSION_SECONDS) * _SHARE)


def _of_hits(hits: Collection[object]) -> Status:
    return legs_pb2.LEG_STATUS_OK if hits else legs_pb2.LEG_STATUS_NO_MATCH


def _report(
    answer: expansion_pb2.ExpandResponse | None, seconds: float
) -> options_pb2.ExpansionReport:
    """Returns the report of an expansion; `answer` is None if the graph did not answer."""
    report = options_pb2.ExpansionReport(mode=options_pb2.EXPANSION_MODE_FORMULA)
    report.elapsed.FromTimedelta(timedelta(seconds=seconds))
    if answer is None:
        report.status = legs_pb2.LEG_STATUS_DEGRADED
        report.reason = legs_pb2.LEG_REASON_STORE_UNAVAILABLE
        return report
    stats = answer.stats
    reached = stats.expanded_count > stats.initial_count
    report.status = legs_pb2.LEG_STATUS_OK if reached else legs_pb2.LEG_STATUS_NO_MATCH
    report.initial_count = stats.initial_count
    report.expanded_count = len(answer.items)
    report.new_count = stats.new_count
    report.kept_count = stats.kept_count
    report.dropped_count = stats.dropped_count
    report.expansion_rate = stats.expansion_rate
    report.incident_relation_count = stats.incident_relation_count
    report.followed_relation_count = stats.followed_relation_count
    report.utilisation = stats.utilisation
    return report
