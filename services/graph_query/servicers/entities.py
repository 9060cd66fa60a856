"""The RPCs about entities and paths."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Collection, Sequence
from functools import partial
from itertools import pairwise

from braid.graph.v1 import entities_pb2, structure_pb2
from services.graph_query.core.domain import EntityRef, FactFilter
from services.graph_query.entities.domain import EntityStore, Pair, Path, Seeds, Step
from services.graph_query.entities.linking import Place, Text
from services.graph_query.entities.paths import shortest
from services.graph_query.history.domain import Selector
from services.graph_query.servicers import entity_mapping as mapping
from services.graph_query.servicers import fact_mapping as words
from services.graph_query.servicers.history_mapping import selector
from services.runtime.context import current_call
from services.runtime.errors import NotFoundError
from services.runtime.times import to_datetime, utc_now

_LINKED = 50


_HOPS = 4


_PATHS = 5


# Each search excludes the pairs that earlier searches used although no fact joins them.
_MAX_SEARCHES = 4


_MAX_MENTIONS = 20


_MAX_ABOUT = 10


_MAX_EPISODES = 700


class EntityHandler:
    """Reads entities and paths of the caller's space."""

    def __init__(self, store: EntityStore) -> None:
        self._store = store

    async def entity(
        self, request: entities_pb2.GetEntityRequest
    ) -> entities_pb2.GetEntityResponse:
        """Returns an entity, and those that share its name."""
        now = utc_now().timestamp()
        found = await self._store.entities(current_call().space, selector(request.entity), now)
        if not found:
            raise NotFoundError("entity")
        return entities_pb2.GetEntityResponse(entities=[mapping.details(one) for one in found])

    async def link(
        self, request: entities_pb2.LinkEntitiesRequest
    ) -> entities_pb2.LinkEntitiesResponse:
        """Returns the entities that a text names, each at its first position."""
        space = current_call().space
        places = await self._places(space, unicodedata.normalize("NFC", request.text))
        limit = request.limit if request.HasField("limit") else _LINKED
        found = await self._store.titled(space, [place.uuid for place in places[:limit]])
        return entities_pb2.LinkEntitiesResponse(
            entities=[
                mapping.linked(place, found[place.uuid])
                for place in places[:limit]
                if place.uuid in found
            ],
            truncated=len(places) > limit,
        )

    async def paths(
        self, request: structure_pb2.FindPathsRequest
    ) -> structure_pb2.FindPathsResponse:
        """Returns the shortest paths between two entities; none while an end is ambiguous."""
        space = current_call().space
        sources, targets = [
            await self._ends(space, selector(end), field)
            for end, field in ((request.source, "source"), (request.target, "target"))
        ]
        response = structure_pb2.FindPathsResponse(
            source_homonyms=[words.entity_ref(one) for one in sources if len(sources) > 1],
            target_homonyms=[words.entity_ref(one) for one in targets if len(targets) > 1],
        )
        if len(sources) == len(targets) == 1:
            await self._connect(request, (sources[0], targets[0]), response)
        return response

    async def subgraph(
        self, request: structure_pb2.GetMentionSubgraphRequest
    ) -> structure_pb2.GetMentionSubgraphResponse:
        """Returns the chunks around some chunks and entities."""
        value = request.HasField
        seeds = Seeds(
            chunks=_distinct(request.chunk_ids),
            entities=_distinct(request.entity_ids),
            max_mentions=request.max_mentions if value("max_mentions") else _MAX_MENTIONS,
            max_about=request.max_about if value("max_about") else _MAX_ABOUT,
            max_episodes=request.max_episodes if value("max_episodes") else _MAX_EPISODES,
            at=to_datetime(request.as_of).timestamp() if value("as_of") else utc_now().timestamp(),
            details=not request.without_details,
        )
        return mapping.subgraph(await self._store.subgraph(current_call().space, seeds))

    async def _places(self, space: str, content: str) -> list[Place]:
        text = await asyncio.to_thread(Text.of, content)
        known = await self._store.entities_by_link_key(space, sorted(text.candidates()))
        first: dict[str, Place] = {}
        for place in await asyncio.to_thread(lambda: list(text.places(known))):
            first.setdefault(place.uuid, place)
        return list(first.values())

    async def _ends(self, space: str, entity: Selector, field: str) -> list[EntityRef]:
        found = await self._store.entities(space, entity, utc_now().timestamp())
        if not found:
            raise NotFoundError("entity", f"There is no such entity as `{field}` in this space.")
        refs = (one.entity for one in found)
        return [EntityRef(one.uuid, one.name, one.type) for one in refs]

    async def _connect(
        self,
        request: structure_pb2.FindPathsRequest,
        ends: tuple[EntityRef, EntityRef],
        response: structure_pb2.FindPathsResponse,
    ) -> None:
        space = current_call().space
        only = words.fact_filter(request.as_of if request.HasField("as_of") else None)
        limit = request.limit if request.HasField("limit") else _PATHS
        hops = request.max_hops if request.HasField("max_hops") else _HOPS
        contradicted: set[Pair] = set()
        steps = partial(self._steps, space, only, request.include_local, contradicted)
        uuids = (ends[0].uuid, ends[1].uuid)
        for _ in range(_MAX_SEARCHES):
            found = await shortest(uuids, steps, hops, limit + 1)
            pairs = {pair for way in found.ways[:limit] for pair in pairwise(way)}
            facts = await self._store.joining(
                space, sorted(pairs), only, local=request.include_local
            )
            # Facts may contradict all sentences that join two entities, and a fact may be deleted between two reads.
            missing = pairs - facts.keys()
            if not missing:
                break
            contradicted |= missing | {(target, source) for source, target in missing}
        refs = {ends[0].uuid: ends[0], ends[1].uuid: ends[1]}
        for fact in facts.values():
            refs |= {fact.source.uuid: fact.source, fact.target.uuid: fact.target}
        for way in found.ways[:limit]:
            if missing.isdisjoint(pairwise(way)):
                nodes = tuple(refs[uuid] for uuid in way)
                one = Path(nodes, tuple(facts[pair] for pair in pairwise(way)))
                response.paths.append(mapping.path(one))
        response.truncated = len(found.ways) > limit
        response.incomplete = found.incomplete or bool(missing)

    async def _steps(  # noqa: PLR0917 - the first four are bound once
        self,
        space: str,
        only: FactFilter,
        local: bool,
        without: Collection[Pair],
        uuids: Sequence[str],
        limit: int,
    ) -> Sequence[Step]:
        found = await self._store.steps(space, uuids, only, limit, local=local)
        if not without or len(found) >= limit:  # So many that the search is stopped.
            return found
        return [step for step in found if (step.source, step.target) not in without]


def _distinct(uuids: Sequence[str]) -> list[str]:
    return sorted({uuid.lower() for uuid in uuids})
