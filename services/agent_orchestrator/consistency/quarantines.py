"""Quarantines of a space: one receipt over the space's graph and those of its users' memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import NamedTuple

from braid.agent.v1 import consistency_pb2
from braid.graph.internal.v1 import quarantine_pb2
from services.agent_orchestrator.clients.quarantine import RESTORED_AT_ONCE, GraphQuarantine, Kind
from services.agent_orchestrator.consistency.checking import Scope, in_scope
from services.runtime.context import current_call
from services.runtime.errors import FieldError, InvalidFieldError, NotFoundError
from services.runtime.paging import decode_token, encode_token, page_size, text_position

_DEFAULT_PAGE_SIZE = 100
_MAX_PAGE_SIZE = 1_000
_NO_TOKEN = FieldError("page_token", "is not a token of this service")

Counts = Counter[Kind]


class Place(NamedTuple):
    """A position in a quarantine's items: the number of the scope, and the tier's token in it."""

    scope: int
    token: str


class Quarantines:
    """Lists, restores and purges quarantines of the current call's space."""

    def __init__(self, graph: GraphQuarantine, scopes: Callable[[], AsyncIterator[Scope]]) -> None:
        self._graph = graph
        self._scopes = scopes

    async def page(
        self, request: consistency_pb2.ListQuarantinesRequest
    ) -> consistency_pb2.ListQuarantinesResponse:
        """Returns a page of quarantines, newest first."""
        size = _size(request.page_size)
        query = ("space-quarantines", current_call().space)
        after = text_position(request.page_token, query)
        found = sorted((await self._all()).values(), key=_position, reverse=True)
        left = [one for one in found if not after or _position(one) < after]
        more = len(left) > size
        return consistency_pb2.ListQuarantinesResponse(
            quarantines=left[:size],
            next_page_token=encode_token(query, [_position(left[size - 1])]) if more else "",
        )

    async def get(self, quarantine_id: str) -> consistency_pb2.Quarantine:
        """Returns a quarantine. Raises NotFoundError if the space has none with this id."""
        found = (await self._all()).get(quarantine_id)
        if found is None:
            raise NotFoundError("quarantine")
        return found

    async def items(
        self, request: consistency_pb2.GetQuarantineRequest
    ) -> consistency_pb2.GetQuarantineResponse:
        """Returns a quarantine and a page of its items, scope by scope."""
        quarantine_id = request.quarantine_id.lower()
        quarantine = await self.get(quarantine_id)
        query = ("quarantine-items", current_call().space, quarantine_id)
        place, size = _place(request.page_token, query), _size(request.page_size)
        scopes = [scope async for scope in self._scopes()]
        items: list[consistency_pb2.QuarantinedItem] = []
        while place.scope < len(scopes) and len(items) < size:
            with in_scope(scopes[place.scope]):
                page = await self._graph.items(quarantine_id, size - len(items), place.token)
            shown = scopes[place.scope].owner.user in (None, current_call().user)
            items += [_item(one, shown=shown) for one in page.items]
            token = page.next_page_token
            place = Place(place.scope, token) if token else Place(place.scope + 1, "")
        more = place.scope < len(scopes)
        return consistency_pb2.GetQuarantineResponse(
            quarantine=quarantine,
            items=items,
            next_page_token=encode_token(query, list(place)) if more else "",
        )

    async def restore(self, quarantine_id: str, item_ids: Sequence[str]) -> Counts:
        """Restores items, or without ids all of them; returns how many. Raises NotFoundError if it does not exist."""
        await self.get(quarantine_id)
        total: Counts = Counter()
        async for scope in self._scopes():
            with in_scope(scope):
                total += await self._restore(quarantine_id, item_ids)
        return total

    async def purge(self, quarantine_id: str) -> Counts:
        """Deletes a quarantine for good; returns what it held. Raises NotFoundError if it does not exist."""
        await self.get(quarantine_id)
        total: Counts = Counter()
        async for scope in self._scopes():
            with in_scope(scope):
                total += _counted(await self._graph.purge(quarantine_id))
        return total

    async def _restore(self, quarantine_id: str, item_ids: Sequence[str]) -> Counts:
        """Restores until a pass restores nothing more: an item may wait for another that it is linked to."""
        total: Counts = Counter()
        while True:
            restored: Counts = Counter()
            async for part in self._parts(quarantine_id, item_ids):
                restored += _counted(await self._graph.restore(quarantine_id, part))
            if not restored:
                return total
            total += restored

    async def _parts(
        self, quarantine_id: str, item_ids: Sequence[str]
    ) -> AsyncIterator[Sequence[str]]:
        if item_ids:
            for start in range(0, len(item_ids), RESTORED_AT_ONCE):
                yield item_ids[start : start + RESTORED_AT_ONCE]
            return
        token, more = "", True
        while more:
            page = await self._graph.items(quarantine_id, RESTORED_AT_ONCE, token)
            if page.items:
                yield [one.item_id for one in page.items]
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _all(self) -> dict[str, consistency_pb2.Quarantine]:
        """Returns all quarantines by id, each with the counts of all scopes."""
        found: dict[str, consistency_pb2.Quarantine] = {}
        async for scope in self._scopes():
            with in_scope(scope):
                async for one in self._graph.quarantines():
                    known = found.get(one.quarantine_id)
                    found[one.quarantine_id] = _merged(one, known)
        return found


def counts_of(counts: Counts) -> list[consistency_pb2.QuarantinedItemCount]:
    """Returns counts as the contract has them."""
    return [
        consistency_pb2.QuarantinedItemCount(kind=_kind(kind), count=count)
        for kind, count in sorted(counts.items())
        if count
    ]


def _merged(
    one: quarantine_pb2.GraphQuarantine, known: consistency_pb2.Quarantine | None
) -> consistency_pb2.Quarantine:
    counts = _counted(one.counts)
    items, time = one.item_count, one.create_time
    if known is not None:
        counts += Counter({_graph_kind(count.kind): count.count for count in known.counts})
        items += known.item_count
        time = min(time, known.create_time, key=lambda value: value.ToNanoseconds())
    return consistency_pb2.Quarantine(
        id=one.quarantine_id, create_time=time, counts=counts_of(counts), item_count=items
    )


def _position(one: consistency_pb2.Quarantine) -> str:
    """Returns the position of a quarantine in the listing as text that sorts by time, then by id."""
    return f"{one.create_time.ToNanoseconds():020d}{one.id}"


def _place(token: str, query: tuple[str, ...]) -> Place:
    if not token:
        return Place(0, "")
    scope, inner = decode_token(token, query, length=2)
    if type(scope) is not int or scope < 0 or not isinstance(inner, str):
        raise InvalidFieldError(_NO_TOKEN)
    return Place(scope, inner)


def _size(asked: int) -> int:
    return page_size(asked, default=_DEFAULT_PAGE_SIZE, largest=_MAX_PAGE_SIZE)


def _counted(counts: Iterable[quarantine_pb2.QuarantinedCount]) -> Counts:
    return Counter({one.kind: one.count for one in counts})


def _kind(kind: Kind) -> consistency_pb2.QuarantinedItemKind.ValueType:
    name = quarantine_pb2.QuarantinedKind.Name(kind).removeprefix("QUARANTINED_KIND_")
    return consistency_pb2.QuarantinedItemKind.Value(f"QUARANTINED_ITEM_KIND_{name}")


def _graph_kind(kind: consistency_pb2.QuarantinedItemKind.ValueType) -> Kind:
    name = consistency_pb2.QuarantinedItemKind.Name(kind).removeprefix("QUARANTINED_ITEM_KIND_")
    return quarantine_pb2.QuarantinedKind.Value(f"QUARANTINED_KIND_{name}")


def _item(one: quarantine_pb2.QuarantinedData, *, shown: bool) -> consistency_pb2.QuarantinedItem:
    """Returns an item; with `shown` False, for another user's memory, without its ids and text."""
    return consistency_pb2.QuarantinedItem(
        id=one.item_id,
        kind=_kind(one.kind),
        subject_id=one.subject_id if shown else "",
        document_id=one.document_id if shown else "",
        text=one.text if shown else "",
        quarantine_time=one.quarantine_time,
    )
