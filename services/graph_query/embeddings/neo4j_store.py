"""Changing models in Neo4j: new vectors are staged as properties, then replace those in use, hundreds a transaction.

During the change the space has no model: vector searches skip it, and writes with vectors wait.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import Any

from services.graph_query.core.domain import FIRST
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import CHANGING
from services.graph_query.embeddings.domain import (
    RETRY_SECONDS,
    Text,
    TextKind,
    TextVector,
    Vectors,
)
from services.graph_query.neo4j.database import Database, Rows
from services.graph_query.neo4j.space_writer import SpaceWriter, Write
from services.runtime.errors import FieldError, InvalidFieldError, OverloadedError, WrongStateError

AT_ONCE = 500


# The query that counts a kind's vectors; vectors of names are not counted.
_COUNTS = {TextKind.FINDING: "change_finding_vectors"}


class Neo4jEmbeddings:
    """Implements `EmbeddingStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def vectors(self, space: str) -> Vectors:
        """See `EmbeddingStore`."""
        row = (await self._database.read("embedding_state", space=space))[0]
        if row["changing"]:
            return Vectors("", row["changing"], row["vectors"])
        return Vectors(row["model"], "", row["vectors"], row["dimension"])

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """See `EmbeddingStore`."""
        live = (await self.vectors(space)).model == model

        async def read(name: str, **value: Any) -> Rows:
            return await self._database.read(name, space=space, model=model, live=live, **value)

        rows = await _page(read, f"unembedded_{kind.value}", after, limit)
        return [Text(row["uuid"], row["text"], (row["key"], row["uuid"])) for row in rows]

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """See `EmbeddingStore`. Runs under the space's lock, so that no text changes concurrently."""

        async def work(writer: SpaceWriter) -> int:
            state = (await writer.read("embedding_state"))[0]
            if state["changing"]:
                raise OverloadedError(RETRY_SECONDS)
            rows = await _of_same_text(writer, kind, vectors)
            if not rows:
                return 0
            length = len(rows[0]["vector"])
            if state["model"] == model:
                await _use(writer, kind, rows, state["dimension"] or length)
                return len(rows)
            await writer.read(f"stage_{kind.value}", rows=rows, model=model)
            if (state["next_model"], state["next_dimension"]) != (model, length):
                await writer.read("set_next_vectors", model=model, dimension=length)
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
        """Moves some vectors and stores the position in one transaction; returns whether there may be more."""

        async def work(writer: SpaceWriter) -> bool:
            if not await _is_changing(writer, model):
                return False
            state = (await writer.read("get_embedding_cursor", kind=kind.value))[0]
            page = await _page(
                writer.read, f"page_of_{kind.value}", state["place"] or FIRST, AT_ONCE
            )
            if not page:
                return False
            parameters = {"model": model, "dimension": state["dimension"]}
            uuids = [row["uuid"] for row in page]
            row = (await writer.write(f"move_{kind.value}", uuids=uuids, **parameters))[0]
            await _count(writer, kind, row["change"], row["dimension"])
            place = [page[-1]["key"], page[-1]["uuid"]]
            await writer.write("set_embedding_cursor", kind=kind.value, place=place)
            return len(page) == AT_ONCE

        return (await self._write(space, work))[0]


async def _page(
    read: Callable[..., Awaitable[Rows]], name: str, after: Sequence[str], limit: int
) -> Rows:
    """Returns up to `limit` rows after a position in a listing by uuid; facts are listed by start, then by uuid.

    Facts take two queries: a single one would read all facts of the same start again for each page.
    """
    parameters = {"after_from": _start(after[0]), "after_uuid": after[1], "limit": limit}
    if not name.endswith(TextKind.FACT.value):
        return await read(name, **parameters)
    rows = await read(f"{name}_of_start", **parameters)
    if len(rows) < limit:
        rows = [*rows, *await read(name, **{**parameters, "limit": limit - len(rows)})]
    return rows


def _start(key: str) -> float:
    """Returns the start in a fact's position; the earliest start for the beginning of the listing."""
    try:
        return float(key or -OPEN)
    except ValueError:
        raise InvalidFieldError(
            FieldError("page_token", "is not a token of this service")
        ) from None


async def _begin(writer: SpaceWriter, model: str) -> None:
    state = (await writer.read("embedding_state"))[0]
    if state["changing"] not in ("", model):
        raise WrongStateError("The space is changing over to another model.")
    if state["model"] != model:
        await writer.write("begin_embedding_change", model=model, mark=CHANGING)


async def _finish(writer: SpaceWriter, model: str) -> None:
    if await _is_changing(writer, model):
        await writer.write("finish_embedding_change")


async def _is_changing(writer: SpaceWriter, model: str) -> bool:
    """Returns whether the change is still in progress: an overlapping call may have finished it."""
    return bool((await writer.read("embedding_state"))[0]["changing"] == model)


async def _use(writer: SpaceWriter, kind: TextKind, rows: Rows, length: int) -> None:
    """Sets active vectors of the space's model.

    Raises InvalidFieldError if their length differs from that of its others.
    """
    if len(rows[0]["vector"]) != length:
        raise InvalidFieldError(FieldError("embeddings", f"must have {length} values each"))
    change = (await writer.write(f"embed_{kind.value}", rows=rows))[0]["change"]
    await _count(writer, kind, change, length)


async def _count(writer: SpaceWriter, kind: TextKind, change: int, length: int | None) -> None:
    """Updates the counts that searches base their plan on, and the vectors' length; names are not counted."""
    if kind is TextKind.NAME:
        change = 0
    if change or length:
        name = _COUNTS.get(kind, "change_vectors")
        await writer.write(name, change=change, model=None, dimension=length)


async def _of_same_text(writer: SpaceWriter, kind: TextKind, vectors: Sequence[TextVector]) -> Rows:
    parameters = {vector.uuid: vector for vector in vectors}
    rows = await writer.read(f"texts_of_{kind.value}", uuids=sorted(parameters))
    return [
        {"uuid": row["uuid"], "vector": list(parameters[row["uuid"]].values)}
        for row in rows
        if sha256(row["text"].encode()).hexdigest() == parameters[row["uuid"]].text_sha256
    ]
