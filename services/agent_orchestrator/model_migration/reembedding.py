"""A space's move to another embedding model: chunks first, then the graph; each store serves until it has changed over.

Everything is found by what is missing, so the job goes on wherever it was ended. Writers never stop for long: they wait
only while the last vectors are made, and a chunk without a vector never comes into use.
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
from services.agent_orchestrator.jobs.retries import Retries
from services.agent_orchestrator.jobs.tasks import Counts, Task
from services.agent_orchestrator.jobs.time_slice import WaitingError
from services.models.embedding.embedder import Embedder
from services.models.embedding.registry import length_of
from services.runtime.context import call_scope, current_call
from services.runtime.errors import BraidError, WrongStateError

Answer = TypeVar("Answer")

EMBED_SECONDS = 120.0
HOLD_SECONDS = 20
# So few are made while writers wait.
LAST_CHUNKS = 128
SLICE_SECONDS = 10.0

Others = Callable[[], Awaitable[bool]]
# The parts of the tiers that a space has besides its documents': one for each user with memories.
Partitions = Callable[[str], Awaitable[Sequence[str]]]


async def no_partitions(_space: str) -> Sequence[str]:
    """A space without memories."""
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

    async def run(self, task: Task) -> Mapping[str, Any]:
        """Both stores. WaitingError to let other work go first, or while the model is not configured.

        WrongStateError where the space has the model with vectors of another length than the settings ask for.
        """
        model = task.job.arguments["model"]
        held = await self.call(self._vector.dimensions)
        # A job whose model the settings have left since goes on with the length that it began with.
        begun = None if model == self._registry.default.model else held.get(model)
        embedder = self._registry.named(model, begun)
        if embedder is None:
            raise WaitingError("the model is not configured any more", AGAIN_SECONDS)
        move = _Move(self, task, embedder)
        if self._entity_memory is not None:  # before queries are embedded with the model
            await self._entity_memory.fill(task.job.space, embedder)
        await self._run(move, task, held)
        for partition in await self._partitions(task.job.space):
            with call_scope(replace(current_call(), space=partition)):
                held = await self.call(self._vector.dimensions)
                await self._run(_Move(self, task, embedder, of_space=move), task, held)
        if self._entity_memory is not None:
            await self._entity_memory.finish(task.job.space, embedder)
        return {"model": model, "chunks": move.embedded, "graph_texts": move.texts}

    @staticmethod
    async def _run(move: _Move, task: Task, held: Mapping[str, int]) -> None:
        await move.check(held)
        await move.chunks(keep_former=bool(task.job.arguments.get("keep_former")))
        await move.graph()

    async def call(self, work: Callable[[], Awaitable[Answer]]) -> Answer:
        """A tier's answer, asked for again while it is away for a moment."""
        return await self._retries.run(work)


class _Move:
    """One run of a job."""

    def __init__(
        self, parts: Reembedding, task: Task, embedder: Embedder, of_space: _Move | None = None
    ) -> None:
        """`of_space` is the move of the space itself, where this one is of a part with memories."""
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
        """WrongStateError where vectors of the model are there, and longer or shorter than those that would be made.

        No store has room for both under one name, and those that are there would pass for what was asked for.
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
        """The vector tier's part."""
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
        """The graph tier's part; nothing where nothing could have a vector. What came meanwhile is made up for."""
        state = await self._parts.call(self._graph.state)
        if (
            not state.vector_count
            and not state.next_embedding_model
            and not await self._has_texts()
        ):
            await self._save(graph_ready=True)
            return
        if state.embedding_model != self._embedder.model:
            # A change that was begun goes on first: until it has ended, no vector is taken.
            for kind in KINDS if state.next_embedding_model != self._embedder.model else ():
                await self._fill_texts(kind)
            await self._parts.call(lambda: self._graph.activate(self._embedder.model))
        for kind in KINDS:
            await self._fill_texts(kind)
        await self._save(graph_ready=True)

    async def _has_texts(self) -> bool:
        """Whether there are facts or findings: they may have come while no vector was to be had."""
        model = self._embedder.model
        for kind in KINDS:
            page = await self._parts.call(lambda: self._graph.missing(kind, model, ""))  # noqa: B023
            if page.texts:
                return True
        return False

    async def _add(self) -> None:
        # Asked even where the length is known: no room is made for vectors that the model does not make.
        await self._vector.add(self._embedder.model, await self._probe_model())

    async def _probe_model(self) -> int:
        """Values of the model's vectors, by a first one."""
        return int((await self._embed(["dimension"])).shape[1])

    async def _complete_and_switch(self) -> bool:
        """Fills in what is missing; once little is, lets writers wait for the rest, and changes over."""
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
            return False  # the hold was over before the last vector was there
        return True

    async def _fill_chunks(self, *, holding: bool = False) -> None:
        token, more = "", True
        while more:
            model, start = self._embedder.model, token
            page = await self._parts.call(lambda: self._vector.missing(model, start))  # noqa: B023
            if page.chunks:
                await self._put_chunks(page.chunks)
            if not holding:
                await self._pause()
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _put_chunks(self, page: Sequence[models_pb2.UnembeddedChunk]) -> None:
        rows = await self._embed([chunk.text for chunk in page])
        vectors = [
            models_pb2.ChunkEmbedding(
                chunk_id=chunk.chunk_id, text_sha256=chunk.text_sha256, values=row
            )
            for chunk, row in zip(page, rows.tolist(), strict=True)
        ]
        await self._parts.call(lambda: self._vector.put(self._embedder.model, vectors))
        self.embedded += len(page)

    async def _fill_texts(self, kind: Kind) -> None:
        token, more = "", True
        while more:
            model, start = self._embedder.model, token
            page = await self._parts.call(lambda: self._graph.missing(kind, model, start))  # noqa: B023
            if page.texts:
                await self._put_texts(kind, page.texts)
                await self._pause()
            token, more = page.next_page_token, bool(page.next_page_token)

    async def _put_texts(self, kind: Kind, texts: Sequence[embeddings_pb2.UnembeddedText]) -> None:
        rows = await self._embed([one.text for one in texts])
        vectors = [
            embeddings_pb2.TextEmbedding(id=one.id, text_sha256=one.text_sha256, values=row)
            for one, row in zip(texts, rows.tolist(), strict=True)
        ]
        await self._parts.call(lambda: self._graph.put(kind, self._embedder.model, vectors))
        self.texts += len(texts)

    async def _remove_former(self) -> None:
        try:
            await self._vector.remove(self._former)
        except BraidError as error:
            if error.reason != errors_pb2.ERROR_REASON_NOT_FOUND:
                raise

    async def _embed(self, texts: Sequence[str]) -> Any:
        async def embed() -> Any:
            async with asyncio.timeout(EMBED_SECONDS):
                return await self._embedder.embed(texts)

        return await self._parts.call(embed)

    async def _pause(self) -> None:
        """Notes how far it is; lets other jobs go first when they wait and this one had its time."""
        await self._save()
        used = asyncio.get_running_loop().time() - self._began > SLICE_SECONDS
        if used and await self._parts._others_waiting():
            raise WaitingError("other jobs go first", 0.0)

    async def _save(self, *, graph_ready: bool = False) -> None:
        if self._of_space is not None:  # how far the space is tells how far the job is
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
