"""Changing models in Neo4j: new vectors lie beside those in use as properties, then move in hundreds a transaction.

While they move, the space has no model: searches by vector skip it, and writes that bring vectors wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from services.graph_query.embeddings.store import Text, TextKind, TextVector, Vectors
from services.graph_query.intervals import OPEN
from services.graph_query.inventory.neo4j_store import Write
from services.graph_query.neo4j_database import Database
from services.graph_query.neo4j_writer import SpaceWriter
from services.graph_query.positions import FIRST
from services.runtime.errors import FieldError, InvalidFieldError, OverloadedError, WrongStateError

AT_ONCE = 500
RETRY_SECONDS = 1.0


class Neo4jEmbeddings:
    """`EmbeddingStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def vectors(self, space: str) -> Vectors:
        """See `EmbeddingStore`."""
        row = (await self._database.read("embedding_state", space=space))[0]
        model = "" if row["changing"] else row["model"]
        return Vectors(model, row["changing"], row["vectors"])

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """See `EmbeddingStore`."""
        live = (await self.vectors(space)).model == model
        told = {"space": space, "model": model, "live": live, "limit": limit, **_after(after)}
        rows = await self._database.read(f"unembedded_{kind.value}", **told)
        return [Text(row["uuid"], row["text"], (row["key"], row["uuid"])) for row in rows]

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """See `EmbeddingStore`. Under the space's lock: no text changes meanwhile."""

        async def work(writer: SpaceWriter) -> int:
            state = (await writer.ask("embedding_state"))[0]
            if state["changing"]:
                raise OverloadedError(RETRY_SECONDS)
            rows = await _of_same_text(writer, kind, vectors)
            if rows and state["model"] == model:
                change = (await writer.run(f"embed_{kind.value}", rows=rows))[0]["change"]
                await _count(writer, kind, change)
            elif rows:
                await writer.ask(f"stage_{kind.value}", rows=rows, model=model)
            return len(rows)

        return (await self._write(space, work))[0]

    async def activate(self, space: str, model: str) -> None:
        """See `EmbeddingStore`."""
        state = await self.vectors(space)
        if state.model == model:
            return
        await self._write(space, lambda writer: _begin(writer, model))
        for kind in TextKind:
            while await self._move(space, kind, model):
                pass
        await self._write(space, lambda writer: _finish(writer, model))

    async def _move(self, space: str, kind: TextKind, model: str) -> bool:
        """Moves some vectors and notes how far it is, in one transaction; whether there may be more."""

        async def work(writer: SpaceWriter) -> bool:
            if not await _is_changing(writer, model):
                return False
            place = (await writer.ask("embedding_place", kind=kind.value))[0]["place"] or FIRST
            told = {"model": model, "limit": AT_ONCE, **_after(place)}
            row = (await writer.run(f"move_{kind.value}", **told))[0]
            await _count(writer, kind, row["change"])
            if row["last"]:
                await writer.run("note_embedding_place", kind=kind.value, place=row["last"])
            return bool(row["seen"] == AT_ONCE)

        return (await self._write(space, work))[0]


def _after(place: Sequence[str]) -> dict[str, Any]:
    """A place in a listing by uuid, or, of facts, by start and uuid."""
    try:
        start = float(place[0] or -OPEN)
    except ValueError:
        raise InvalidFieldError(
            FieldError("page_token", "is not a token of this service")
        ) from None
    return {"after_from": start, "after_uuid": place[1]}


async def _begin(writer: SpaceWriter, model: str) -> None:
    state = (await writer.ask("embedding_state"))[0]
    if state["changing"] not in ("", model):
        raise WrongStateError("The space is changing over to another model.")
    if state["model"] != model:
        await writer.run("begin_embedding_change", model=model)


async def _finish(writer: SpaceWriter, model: str) -> None:
    if await _is_changing(writer, model):
        await writer.run("finish_embedding_change")


async def _is_changing(writer: SpaceWriter, model: str) -> bool:
    """Whether the change is still to be made: an overlapping call may have ended it."""
    return bool((await writer.ask("embedding_state"))[0]["changing"] == model)


async def _count(writer: SpaceWriter, kind: TextKind, change: int) -> None:
    """Keeps the counts that searches choose their way by; names have none."""
    counts = {TextKind.FACT: "change_vectors", TextKind.FINDING: "change_finding_vectors"}
    if change and kind in counts:
        await writer.run(counts[kind], change=change, model=None)


async def _of_same_text(
    writer: SpaceWriter, kind: TextKind, vectors: Sequence[TextVector]
) -> list[dict[str, Any]]:
    told = {vector.uuid: vector for vector in vectors}
    rows = await writer.ask(f"texts_of_{kind.value}", uuids=sorted(told))
    return [
        {"uuid": row["uuid"], "vector": list(told[row["uuid"]].values)}
        for row in rows
        if sha256(row["text"].encode()).hexdigest() == told[row["uuid"]].text_sha256
    ]
