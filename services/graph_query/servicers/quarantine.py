"""GraphQuarantineService: maps messages to the store and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.internal.v1 import quarantine_pb2, quarantine_pb2_grpc
from services.graph_query.quarantine.domain import Item, ItemKind, Quarantine, QuarantineStore
from services.runtime.context import current_call
from services.runtime.paging import encode_token, page_size, text_position

Context: TypeAlias = Any

_DEFAULT_PAGE_SIZE = 100
_MAX_PAGE_SIZE = 1_000


class GraphQuarantineServicer(quarantine_pb2_grpc.GraphQuarantineServiceServicer):
    """Quarantines and restores data of the caller's space."""

    def __init__(self, store: QuarantineStore) -> None:
        self._store = store

    async def QuarantineData(
        self, request: quarantine_pb2.QuarantineDataRequest, _context: Context
    ) -> quarantine_pb2.QuarantineDataResponse:
        """See the contract."""
        kind = ItemKind(request.kind)
        ids = request.ids if kind is ItemKind.DOCUMENT else [one.lower() for one in request.ids]
        counts = await self._store.quarantine(
            current_call().space, request.quarantine_id.lower(), kind, sorted(set(ids))
        )
        return quarantine_pb2.QuarantineDataResponse(counts=_counts(counts))

    async def ListGraphQuarantines(
        self, request: quarantine_pb2.ListGraphQuarantinesRequest, _context: Context
    ) -> quarantine_pb2.ListGraphQuarantinesResponse:
        """See the contract."""
        space, size = current_call().space, _size(request.page_size)
        query = ("quarantines", space)
        found = await self._store.quarantines(
            space, text_position(request.page_token, query), size + 1
        )
        more = len(found) > size
        return quarantine_pb2.ListGraphQuarantinesResponse(
            quarantines=(_quarantine(one) for one in found[:size]),
            next_page_token=encode_token(query, [found[size - 1].id]) if more else "",
        )

    async def ListQuarantinedData(
        self, request: quarantine_pb2.ListQuarantinedDataRequest, _context: Context
    ) -> quarantine_pb2.ListQuarantinedDataResponse:
        """See the contract."""
        space, size = current_call().space, _size(request.page_size)
        quarantine = request.quarantine_id.lower()
        query = ("quarantined", space, quarantine)
        after = text_position(request.page_token, query)
        found = await self._store.items(space, quarantine, after, size + 1)
        more = len(found) > size
        return quarantine_pb2.ListQuarantinedDataResponse(
            items=(_item(one) for one in found[:size]),
            next_page_token=encode_token(query, [found[size - 1].id]) if more else "",
        )

    async def RestoreData(
        self, request: quarantine_pb2.RestoreDataRequest, _context: Context
    ) -> quarantine_pb2.RestoreDataResponse:
        """See the contract."""
        ids = [one.lower() for one in request.item_ids]
        counts = await self._store.restore(current_call().space, request.quarantine_id.lower(), ids)
        return quarantine_pb2.RestoreDataResponse(counts=_counts(counts))

    async def PurgeGraphQuarantine(
        self, request: quarantine_pb2.PurgeGraphQuarantineRequest, _context: Context
    ) -> quarantine_pb2.PurgeGraphQuarantineResponse:
        """See the contract."""
        counts = await self._store.purge(current_call().space, request.quarantine_id.lower())
        return quarantine_pb2.PurgeGraphQuarantineResponse(counts=_counts(counts))


def _size(asked: int) -> int:
    return page_size(asked, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)


def _counts(counts: Mapping[ItemKind, int]) -> list[quarantine_pb2.QuarantinedCount]:
    return [
        quarantine_pb2.QuarantinedCount(kind=_kind(kind), count=count)
        for kind, count in sorted(counts.items())
        if count
    ]


def _kind(kind: ItemKind) -> quarantine_pb2.QuarantinedKind.ValueType:
    return quarantine_pb2.QuarantinedKind.Value(f"QUARANTINED_KIND_{kind.name}")


def _quarantine(one: Quarantine) -> quarantine_pb2.GraphQuarantine:
    time = Timestamp()
    time.FromDatetime(one.created_at)
    return quarantine_pb2.GraphQuarantine(
        quarantine_id=one.id,
        create_time=time,
        counts=_counts(one.counts),
        item_count=one.items,
    )


def _item(one: Item) -> quarantine_pb2.QuarantinedData:
    time = Timestamp()
    time.FromDatetime(one.created_at)
    return quarantine_pb2.QuarantinedData(
        item_id=one.id,
        kind=_kind(one.kind),
        subject_id=one.subject,
        document_id=one.document_id,
        text=one.text,
        quarantine_time=time,
    )
