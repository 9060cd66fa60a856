"""Changing models in memory: facts' vectors alone, in one step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Protocol

from services.graph_query.embeddings.domain import Text, TextKind, TextVector, Vectors
from tests.oracles.graph.space import FakeSpace, Told


class Graph(Protocol):
    """The fake graph as far as vectors go."""

    spaces: dict[str, FakeSpace]


@dataclass(slots=True)
class FakeEmbeddings:
    """`EmbeddingStore` over the facts of a fake graph."""

    graph: Graph
    staged: dict[tuple[str, str, str], tuple[float, ...]] = field(default_factory=dict)
    # Values of the vectors that were laid beside last, by space and model.
    lengths: dict[tuple[str, str], int] = field(default_factory=dict)

    async def vectors(self, space: str) -> Vectors:
        """See `EmbeddingStore`."""
        held = self._space(space)
        total = sum(bool(one.embedding) for one in held.facts.values())
        return Vectors(held.model, "", total, held.dimension)

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """See `EmbeddingStore`."""
        held = self._space(space)
        if kind is not TextKind.FACT:
            return []
        return [
            Text(uuid, held.facts[uuid].given.fact, ("", uuid))
            for uuid in sorted(held.facts)
            if uuid > after[1] and not self._has(held, uuid, model)
        ][:limit]

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """See `EmbeddingStore`."""
        held, stored = self._space(space), 0
        for uuid, digest, values in vectors if kind is TextKind.FACT else ():
            fact = held.facts.get(uuid)
            if fact is None or sha256(fact.given.fact.encode()).hexdigest() != digest:
                continue
            stored += 1
            if held.model == model:
                held.check_vectors(model, len(values))
                held.note_vectors(model, len(values))
                self._use(held, {uuid: tuple(values)})
            else:
                self.staged[space, model, uuid] = tuple(values)
                self.lengths[space, model] = len(values)
        return stored

    async def activate(self, space: str, model: str) -> None:
        """See `EmbeddingStore`."""
        held = self._space(space)
        if held.model == model:
            return
        staged = {uuid: self.staged.pop((space, model, uuid), ()) for uuid in held.facts}
        # Vectors that were laid beside when the model's had another length are as good as none.
        dimension = self.lengths.pop((space, model), 0)
        self._use(
            held, {uuid: one if len(one) == dimension else () for uuid, one in staged.items()}
        )
        held.model, held.dimension = model, dimension

    def _has(self, held: FakeSpace, uuid: str, model: str) -> bool:
        if held.model == model:
            return bool(held.facts[uuid].embedding)
        return (held.space, model, uuid) in self.staged

    def _use(self, held: FakeSpace, vectors: dict[str, tuple[float, ...]]) -> None:
        for uuid, told in self._told(held):
            if uuid in vectors:
                told.embedding = vectors[uuid]
        held.rebuild()

    def _told(self, held: FakeSpace) -> Iterator[tuple[str, Told]]:
        found = held.resolution()
        for told in held.told.values():
            yield held.uuid_of(told.first, found), told

    def _space(self, space: str) -> FakeSpace:
        return self.graph.spaces.get(space) or FakeSpace(space)
