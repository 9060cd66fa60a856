"""Moves a space to another embedding model: chunks first, then the graph; each store serves throughout.

The job looks for missing vectors, so it can resume at any point. Writers wait only briefly, while the last vectors are
computed, and a chunk without a vector never becomes active.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from braid.common.v1 import errors_pb2
from braid.graph.internal.v1 import embeddings_pb2
from braid.vector.internal.v1 import models_pb2
from services.agent_orchestrator.clients.model_migration import (
    KINDS,
    GraphModels,
    Kind,
    VectorModels,
)
from services.agent_orchestrator.entity_memory.reembedding import MemoryReembedding
from services.agent_orchestrator.ingest.pipeline.space_embedder import AGAIN_SECONDS, Registry
from services.agent_orchestrator.jobs.embedding_pace import EmbeddingPace
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.tasks import Counts, Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import length_of
from services.runtime.context import call_scope, current_call
from services.runtime.errors import BraidError, WrongStateError

Answer = TypeVar("Answer")

HOLD_SECONDS = 20
# Maximum number of chunks that are embedded while writers wait.
LAST_CHUNKS = 128
SLICE_SECONDS = 10.0

Others = Callable[[], Awaitable[bool]]
# A space's further partitions of the tiers: one for each user with memories.
Partitions = Callable[[str], Awaitable[Sequence[str]]]


async def no_partitions(_space: str) -> Sequence[str]:
    """Returns none, for a space without memories."""
    return ()


class Reembedding:
    """The handler of jobs of kind `reembed`."""

    def __init__(
        self,
        registry: Registry,
        vector: VectorModels,
        graph: GraphModels,
        retries: Retries,
        others_waiting: Others,
        *,
        partitions: Partitions = no_partitions,
        entity_memory: MemoryReembedding | None = None,
    ) -> None:
        self._registry = registry
        self._vector = vector
        self._graph = graph
        self._retries = retries
        self._others_waiting = others_waiting
        self._partitions = partitions
        self._entity_memory = entity_memory
        self.pace = EmbeddingPace(retries)

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Migrates both stores. Raises WaitingError to let other work go first, or while the model is not configured.

        Raises WrongStateError if the space has vectors of the model with another length than configured.
        """
        model = task.job.arguments["model"]
        held = await self.call(self._vector.dimensions)
        # If the settings have changed to another model since, the job keeps the length that it began with.
        begun = None if model == self._registry.default.model else held.get(model)
        embedder = self._registry.named(model, begun)
        if embedder is None:
            raise WaitingError("the model is not configured any more", AGAIN_SECONDS)
        move = _Move(self, task, embedder)
        if self._entity_memory is not None:  # before queries use the model
            await self._entity_memory.fill(task.job.space, embedder, self.pace)
        await self._run(move, task, held)
        for partition in await self._partitions(task.job.space):
            with call_scope(replace(current_call(), space=partition)):
                held = await self.call(self._vector.dimensions)
                await self._run(_Move(self, task, embedder, of_space=move), task, held)
        if self._entity_memory is not None:
            await self._entity_memory.finish(task.job.space, embedder, self.pace)
        return {"model": model, "chunks": move.embedded, "graph_texts": move.texts}

    @staticmethod
    async def _run(move: _Move, task: Task, held: Mapping[str, int]) -> None:
        await move.check(held)
        await move.chunks(keep_former=bool(task.job.arguments.get("keep_former")))
        await move.graph()

    async def call(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """Returns a tier's answer; retries while the tier is temporarily unavailable."""
        return await self._retries.run(work)


class _Move:
    """One run of a job over the space or one of its partitions."""

    def __init__(
        self, parts: Reembedding, task: Task, embedder: Embedder, of_space: _Move | None = None
    ) -> None:
        """`of_space` is the move of the space itself, if this one is of a partition with memories."""
        self._parts = parts
        self._of_space = of_space
        self._vector, self._graph = parts._vector, parts._graph
        self._task = task
        self._embedder = embedder
        self._began = asyncio.get_running_loop().time()
        progress = (task.job.progress or {}) if of_space is None else {}
        self.embedded = int(progress.get("chunks", 0))
        self.texts = int(progress.get("texts", 0))
        self._former = str(progress.get("former", ""))
        self._total = int(progress.get("total", 0))

    async def check(self, held: Mapping[str, int]) -> None:
        """Raises WrongStateError if stored vectors of the model have another length than those to be computed.

        No store can hold both under one name, and the stored vectors would be used as if they had the requested length.
        """
        state = await self._parts.call(self._graph.state)
        of_graph = state.dimension if state.embedding_model == self._embedder.model else 0
        there = {one for one in (held.get(self._embedder.model, 0), of_graph) if one}
        if not there:
            return
        length = length_of(self._embedder) or await self._probe_model()
        other = next((one for one in there if one != length), None)
        if other is not None:
            raise _length_mismatch(self._embedder.model, other, length)

    async def chunks(self, *, keep_former: bool) -> None:
        """Migrates the vector tier."""
        recorded = (await self._parts.call(self._vector.recorded)).model
        if recorded and recorded != self._embedder.model:
            self._former = recorded
            self._total = await self._parts.call(self._vector.chunks)
            await self._parts.call(self._add)
            while not await self._complete_and_switch():
                pass
        await self._save()
        if self._former and not keep_former:
            await self._parts.call(self._remove_former)

    async def graph(self) -> None:
        """Migrates the graph tier, unless nothing in it needs a vector. Includes texts that were added meanwhile."""
        state = await self._parts.call(self._graph.state)
        if (
            not state.vector_count
            and not state.next_embedding_model
            and not await self._has_texts()
        ):
            await self._save(graph_ready=True)
            return
        if state.embedding_model != self._embedder.model:
            # A change that has begun is continued first: until it has ended, the graph accepts no vectors.
            for kind in KINDS if state.next_embedding_model != self._embedder.model else ():
                await self._fill_texts(kind)
            await self._parts.call(lambda: self._graph.activate(self._embedder.model))
        for kind in KINDS:
            await self._fill_texts(kind)
        await self._save(graph_ready=True)

    async def _has_texts(self) -> bool:
        """Whether there are facts or findings: they may have been added while no vectors were available."""
        model = self._embedder.model
        for kind in KINDS:
            page = await self._parts.call(lambda: self._graph.missing(kind, model, ""))  # noqa: B023
            if page.texts:
                return True
        return False

    async def _add(self) -> None:
        # Probed even if the length is known, so that no index is created for vectors that the model does not produce.
        await self._vector.add(self._embedder.model, await self._probe_model())

    async def _probe_model(self) -> int:
        """Returns the dimension of the model, from a first vector."""
        return int((await self._parts.pace.embed_next(self._embedder, ["dimension"])).shape[1])

    async def _complete_and_switch(self) -> bool:
        """Computes missing vectors; makes writers wait for the last few, then activates the model."""
        await self._fill_chunks()
        left = await self._parts.call(lambda: self._vector.missing(self._embedder.model, ""))
        if len(left.chunks) >= LAST_CHUNKS:
            return False
        await self._parts.call(lambda: self._vector.hold_writes(HOLD_SECONDS))
        try:
            await self._fill_chunks(holding=True)
            await self._parts.call(lambda: self._vector.activate(self._embedder.model))
        except BraidError as error:
            await self._parts.call(lambda: self._vector.hold_writes(0))
            if error.reason != errors_pb2.ERROR_REASON_WRONG_STATE:
                raise
            return False  # the hold expired before the last vector was stored
        return True

    async def _fill_chunks(self, *, holding: bool = False) -> None:
        token, more = "", True
        while more:
            model, start = self._embedder.model, token
            page = await self._parts.call(lambda: self._vector.missing(model, start))  # noqa: B023
            await self._put_chunks(page.chunks, pause=not holding)
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _put_chunks(self, page: Sequence[models_pb2.UnembeddedChunk], *, pause: bool) -> None:
        """Embeds and stores a page in parts, so that each part is kept whatever happens to the next."""
        while page:
            rows = await self._embed_next([chunk.text for chunk in page])
            vectors = [
                models_pb2.ChunkEmbedding(
                    chunk_id=chunk.chunk_id, text_sha256=chunk.text_sha256, values=row
                )
                for chunk, row in zip(page, rows, strict=False)
            ]
            await self._parts.call(lambda: self._vector.put(self._embedder.model, vectors))  # noqa: B023
            self.embedded += len(vectors)
            page = page[len(vectors) :]
            if pause:
                await self._pause()

    async def _fill_texts(self, kind: Kind) -> None:
        token, more = "", True
        while more:
            model, start = self._embedder.model, token
            page = await self._parts.call(lambda: self._graph.missing(kind, model, start))  # noqa: B023
            await self._put_texts(kind, page.texts)
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _put_texts(self, kind: Kind, texts: Sequence[embeddings_pb2.UnembeddedText]) -> None:
        while texts:
            rows = await self._embed_next([one.text for one in texts])
            vectors = [
                embeddings_pb2.TextEmbedding(id=one.id, text_sha256=one.text_sha256, values=row)
                for one, row in zip(texts, rows, strict=False)
            ]
            await self._parts.call(lambda: self._graph.put(kind, self._embedder.model, vectors))  # noqa: B023
            self.texts += len(vectors)
            texts = texts[len(vectors) :]
            await self._pause()

    async def _remove_former(self) -> None:
        try:
            await self._vector.remove(self._former)
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                raise

    async def _embed_next(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns the vectors of the first texts, as many as are embedded in a few seconds."""
        rows: list[list[float]] = (
            await self._parts.pace.embed_next(self._embedder, texts)
        ).tolist()
        return rows

    async def _pause(self) -> None:
        """Saves the progress; lets waiting jobs go first if this one has used its time."""
        await self._save()
        used = asyncio.get_running_loop().time() - self._began > SLICE_SECONDS
        if used and await self._parts._others_waiting():
            raise WaitingError("other jobs go first", 0.0)

    async def _save(self, *, graph_ready: bool = False) -> None:
        if self._of_space is not None:  # the space's progress is the job's
            await self._of_space._save(graph_ready=True)
            return
        total = max(self._total, self.embedded)
        progress = {
            "chunks": self.embedded,
            "texts": self.texts,
            "former": self._former,
            "total": self._total,
        }
        counts = Counts(total, self.embedded, total if graph_ready else 0)
        await self._task.save(progress, counts)


def _length_mismatch(model: str, there: int, length: int) -> WrongStateError:
    return WrongStateError(
        f"The space has vectors of {there} values of the model {model}, and the configured one makes {length}: a space"
        f" has a model in one dimension only. Set EMBEDDING_DIMENSION to {there}, or move the space to a model of"
        " another name first; vectors that were kept are removed by RemoveEmbeddingModel."
    )
