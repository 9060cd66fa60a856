"""The RPCs about history: pages, differences and summaries of facts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from google.protobuf.message import Message

from braid.graph.v1 import history_pb2, structure_pb2
from services.graph_query.core.domain import Fact, FactFilter
from services.graph_query.core.intervals import OPEN, end_of, start_of
from services.graph_query.core.names import clean_relation
from services.graph_query.history.domain import (
    EntityHistory,
    HistoryStore,
    Page,
    Place,
    Position,
    Scope,
    Times,
    Version,
    vanished,
)
from services.graph_query.history.summary import grouped, summarize
from services.graph_query.servicers import fact_mapping as words
from services.graph_query.servicers import history_mapping as mapping
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from services.runtime.paging import decode_token, encode_token, page_size
from services.runtime.times import utc_now

_OWN = ("page_token", "page_size")


class Pages:
    """The page tokens of one query in one space; the query is the request without its paging fields."""

    def __init__(self, space: str, request: Message) -> None:
        asked = type(request)()
        asked.CopyFrom(request)
        for field in _OWN:
            asked.ClearField(field)
        result = asked.SerializeToString(deterministic=True)
        digest = hashlib.sha256(result).hexdigest()
        self._query = (request.DESCRIPTOR.name, space, digest)

    def token(self, *position: float | str) -> str:
        """Returns the token of the page after a position."""
        return encode_token(self._query, list(position))

    def numbers_and_uuid(self, token: str, numbers: int) -> tuple[list[float], str] | None:
        """Returns the position in a token, None for the first page.

        Raises InvalidFieldError for another query's token.
        """
        if not token:
            return None
        *found, uuid = decode_token(token, self._query, length=numbers + 1)
        if not isinstance(uuid, str) or not all(isinstance(one, float) for one in found):
            raise InvalidFieldError(FieldError("page_token", "is not a token of this service"))
        return found, uuid


def position(found: tuple[list[float], str] | None) -> Position | None:
    """Returns the position whose first number is a start."""
    return None if found is None else Position(found[0][0], found[1])


_PAGE_SIZE = 50
_MAX_PAGE_SIZE = 200


_VERSIONS = 1_000


_DIFFERENCES = 20_000


@dataclass(frozen=True, slots=True)
class _Page:
    """Part of a list, and the token of the next page."""

    facts: Sequence[Fact]
    token: str


class HistoryHandler:
    """Reads facts of the caller's space in valid time and in knowledge time."""

    def __init__(self, store: HistoryStore) -> None:
        self._store = store

    async def list_facts(
        self, request: structure_pb2.ListFactsRequest
    ) -> structure_pb2.ListFactsResponse:
        """Returns a page of facts."""
        scope = Scope(
            subject=mapping.selector(request.subject) if request.HasField("subject") else None,
            object=mapping.selector(request.object) if request.HasField("object") else None,
            relation=clean_relation(request.relation_type),
            known=_known(request),
        )
        page = await self._page(request, scope)
        return structure_pb2.ListFactsResponse(
            facts=[words.fact(fact) for fact in page.facts], next_page_token=page.token
        )

    async def get_fact(
        self, request: structure_pb2.GetFactRequest
    ) -> structure_pb2.GetFactResponse:
        """Returns a fact with its versions."""
        space, uuid = current_call().space, request.fact_id.lower()
        versions = await self._store.versions(space, uuid, _VERSIONS)
        found = (await self._store.facts_known(space, [uuid], None)).get(uuid)
        if found is None and not versions:
            raise NotFoundError("fact")
        return structure_pb2.GetFactResponse(
            fact=None if found is None else words.fact(found),
            versions=[mapping.version(one) for one in versions],
        )

    async def history(
        self, request: history_pb2.GetEntityHistoryRequest
    ) -> history_pb2.GetEntityHistoryResponse:
        """Returns an entity's facts in time order, and on the first page a summary of the whole history."""
        pages, size = Pages(current_call().space, request), _size(request)
        found = pages.numbers_and_uuid(request.page_token, 2)
        page = Page(
            limit=size + 1,
            since=mapping.seconds(request.since_time) if request.HasField("since_time") else -OPEN,
            after=None if found is None else Place(found[0][0], found[0][1], found[1]),
            reference=_reference(request),
        )
        withdrawn = await self._withdrawn(request)
        try:
            life = await self._life(request, page)
        except NotFoundError:
            if not withdrawn:
                raise
            # The entity has vanished with the last of its facts.
            life = EntityHistory(vanished(mapping.selector(request.entity), withdrawn))
        if life.entity is None:
            homonyms = [words.entity_ref(one) for one in life.homonyms]
            return history_pb2.GetEntityHistoryResponse(homonyms=homonyms)
        shown = life.page[:size]
        return history_pb2.GetEntityHistoryResponse(
            entity=mapping.entity(life.entity),
            facts=[words.fact(fact) for fact in shown],
            next_page_token=pages.token(*_place(shown[-1])) if len(life.page) > size else "",
            summary=_summary(life, page) if page.after is None else None,
            withdrawn=[mapping.withdrawn(one) for one in withdrawn[:_MAX_PAGE_SIZE]],
            withdrawn_truncated=len(withdrawn) > _MAX_PAGE_SIZE,
        )

    async def _life(
        self, request: history_pb2.GetEntityHistoryRequest, page: Page
    ) -> EntityHistory:
        return await self._store.life(
            current_call().space,
            mapping.selector(request.entity),
            clean_relation(request.relation_type),
            _known(request),
            page,
        )

    async def _withdrawn(self, request: history_pb2.GetEntityHistoryRequest) -> Sequence[Version]:
        """Returns the withdrawn facts of a history, one more than are shown, if they are asked for."""
        if not request.include_withdrawn or request.page_token:
            return ()
        return await self._store.withdrawn(
            current_call().space,
            mapping.selector(request.entity),
            clean_relation(request.relation_type),
            _known(request),
            _MAX_PAGE_SIZE + 1,
        )

    async def snapshot(
        self, request: history_pb2.GetSnapshotRequest
    ) -> history_pb2.GetSnapshotResponse:
        """Returns the facts valid at a time, and on the first page the differences from now."""
        scope = _scope(request)
        page = await self._page(request, replace(scope, lasting=True))
        changes = None
        if not request.page_token:
            times = Times(words.fact_filter(request.as_of), words.fact_filter(None))
            changes = await self._difference(scope, times, _size(request))
        return history_pb2.GetSnapshotResponse(
            facts=[words.fact(fact) for fact in page.facts],
            next_page_token=page.token,
            changes=changes,
        )

    async def diff(self, request: history_pb2.DiffGraphRequest) -> history_pb2.DiffGraphResponse:
        """Returns the differences between two times."""
        after = words.fact_filter(request.after if request.HasField("after") else None)
        times = Times(words.fact_filter(request.before), after)
        limit = request.limit if request.HasField("limit") else _PAGE_SIZE
        found = await self._difference(_scope(request), times, limit)
        return history_pb2.DiffGraphResponse(diff=found)

    async def _page(
        self, request: structure_pb2.ListFactsRequest | history_pb2.GetSnapshotRequest, scope: Scope
    ) -> _Page:
        """Returns a page as of the requested time; a listing as of now keeps its first page's time."""
        space = current_call().space
        pages = Pages(space, request)
        found = pages.numbers_and_uuid(request.page_token, 2)
        only = words.fact_filter(request.as_of if request.HasField("as_of") else None)
        if found is not None and not request.HasField("as_of"):
            only = FactFilter(found[0][1], found[0][1])
        size = _size(request)
        facts = await self._store.list_facts(space, scope, only, position(found), size + 1)
        if len(facts) <= size:
            return _Page(facts, "")
        last = facts[size - 1]
        token = pages.token(start_of(last.valid_at), only.since, last.uuid)
        return _Page(facts[:size], token)

    async def _difference(self, scope: Scope, times: Times, limit: int) -> history_pb2.GraphDiff:
        space = current_call().space
        found = await self._store.differences(space, scope, times, _DIFFERENCES + 1)
        result = grouped(found[:_DIFFERENCES], limit)
        facts = await self._store.facts_known(space, result.uuids(), scope.known)
        return mapping.diff(result, facts, incomplete=len(found) > _DIFFERENCES)


def _scope(request: history_pb2.GetSnapshotRequest | history_pb2.DiffGraphRequest) -> Scope:
    return Scope(
        either=mapping.selector(request.entity) if request.HasField("entity") else None,
        relation=clean_relation(request.relation_type),
        known=_known(request),
    )


def _known(
    request: structure_pb2.ListFactsRequest
    | history_pb2.GetEntityHistoryRequest
    | history_pb2.GetSnapshotRequest
    | history_pb2.DiffGraphRequest,
) -> float | None:
    return mapping.seconds(request.known_time) if request.HasField("known_time") else None


def _size(
    request: structure_pb2.ListFactsRequest
    | history_pb2.GetEntityHistoryRequest
    | history_pb2.GetSnapshotRequest,
) -> int:
    return page_size(request.page_size, default=_PAGE_SIZE, largest=_MAX_PAGE_SIZE)


def _reference(request: history_pb2.GetEntityHistoryRequest) -> float:
    result = request.HasField("as_of")
    return mapping.seconds(request.as_of) if result else utc_now().timestamp()


def _summary(life: EntityHistory, page: Page) -> history_pb2.HistorySummary:
    moments = [one for one in life.moments if one.valid_until > page.since]
    result = summarize(life, moments, page.reference)
    return mapping.summary(result, {fact.uuid: fact for fact in (*life.page, *life.current)})


def _place(fact: Fact) -> Place:
    return Place(start_of(fact.valid_at), end_of(fact.invalid_at), fact.uuid)
