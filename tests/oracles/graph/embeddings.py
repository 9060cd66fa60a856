"""In-memory model changes, for vectors of facts only and in one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

from services.graph_query.embeddings.domain import Text, TextKind, TextVector, Vectors
from tests.oracles.graph.space import FakeSpace, StatedFact


class Graph(Protocol):
    """The part of the fake graph that has vectors."""

    spaces: dict[str, FakeSpace]


@dataclass(slots=True)
class FakeEmbeddings:
    """Implements `EmbeddingStore` over the facts of a fake graph."""

    graph: Graph
    staged: dict[tuple[str, str, str], tuple[float, ...]] = field(default_factory=dict)
    # The length of the last vectors stored for the next model, by space and model.
    lengths: dict[tuple[str, str], int] = field(default_factory=dict)

    async def vectors(self, space: str) -> Vectors:
        """See `EmbeddingStore`."""
        stored = self._space(space)
        total = sum(bool(one.embedding) for one in stored.facts.values())
        return Vectors(stored.model, "", total, stored.dimension)

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """See `EmbeddingStore`."""
        stored = self._space(space)
        if kind is not TextKind.FACT:
            return []
        return [
            Text(uuid, stored.facts[uuid].given.fact, ("", uuid))
            for uuid in sorted(stored.facts)
            if uuid > after[1] and not self._has(stored, uuid, model)
        ][:limit]

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """See `EmbeddingStore`."""
        existing, stored = self._space(space), 0
        for uuid, digest, values in vectors if kind is TextKind.FACT else ():
            fact = existing.facts.get(uuid)
            if fact is None or sha256(fact.given.fact.encode()).hexdigest() != digest:
                continue
            stored += 1
            if existing.model == model:
                existing.check_vectors(model, len(values))
                existing.note_vectors(model, len(values))
                self._use(existing, {uuid: tuple(values)})
            else:
                self.staged[space, model, uuid] = tuple(values)
                self.lengths[space, model] = len(values)
        return stored

    async def activate(self, space: str, model: str) -> None:
        """See `EmbeddingStore`."""
        stored = self._space(space)
        if stored.model == model:
            return
        staged = {uuid: self.staged.pop((space, model, uuid), ()) for uuid in stored.facts}
        # Earlier vectors of another length are dropped.
        dimension = self.lengths.pop((space, model), 0)
        self._use(
            stored, {uuid: one if len(one) == dimension else () for uuid, one in staged.items()}
        )
        stored.model, stored.dimension = model, dimension

    def _has(self, stored: FakeSpace, uuid: str, model: str) -> bool:
        if stored.model == model:
            return bool(stored.facts[uuid].embedding)
        return (stored.space, model, uuid) in self.staged

    def _use(self, stored: FakeSpace, vectors: dict[str, tuple[float, ...]]) -> None:
        for uuid, value in self._stated_by_uuid(stored):
            if uuid in vectors:
                value.embedding = vectors[uuid]
        stored.rebuild()

    def _stated_by_uuid(self, stored: FakeSpace) -> Iterator[tuple[str, StatedFact]]:
        found = stored.resolution()
        for value in stored.stated.values():
            yield stored.uuid_of(value.first, found), value

    def _space(self, space: str) -> FakeSpace:
        return self.graph.spaces.get(space) or FakeSpace(space)
