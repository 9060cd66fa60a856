"""Checks before a write, and the embedder that makes missing vectors."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from services.models.embedding.vectors import Matrix
from services.runtime.context import CallContext, call_scope
from services.runtime.errors import (
    BraidError,
    EmbedderUnavailableError,
    InvalidFieldError,
    WrongStateError,
)
from services.vector_search.documents.writer import DocumentWriter
from services.vector_search.domain import Model, NewDocument
from tests.oracles.vector.store import FakeStore
from tests.store_suite.vector.builders import EAST, MODEL, NORTH, SPACE, contents, document, meaning
from tests.unit.vector_search.embedder import CompassEmbedder, Unlisted


@pytest.fixture(autouse=True)
def call() -> Iterator[None]:
    with call_scope(CallContext("r", "m", SPACE, "u", frozenset({"write"}))):
        yield


@pytest.fixture
def embedder() -> CompassEmbedder:
    return CompassEmbedder()


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
def writer(store: FakeStore, embedder: CompassEmbedder) -> DocumentWriter:
    return DocumentWriter(store, embedder)


async def refused(writer: DocumentWriter, documents: list[NewDocument], model: str) -> list[str]:
    """Returns the fields for which a write is refused."""
    with pytest.raises(InvalidFieldError) as error:
        await writer.write(documents, model)
    return [field for field, _ in error.value.fields]


async def test_chunks_without_vectors_are_embedded_with_their_title(
    writer: DocumentWriter, embedder: CompassEmbedder, store: FakeStore
) -> None:
    new = document("d", "a", "b", title="north", at=[None, EAST])
    await writer.write([replace(new, title="north")], "compass")
    assert embedder.texts == ["north\na"]
    assert contents(await store.search(SPACE, meaning(NORTH, limit=1))) == ["a"]


async def test_stored_chunks_and_unchanged_documents_are_not_embedded_again(
    writer: DocumentWriter, embedder: CompassEmbedder
) -> None:
    await writer.write([document("d", "a", at=[None])], "")
    await writer.write([document("d", "a", at=[None])], "")
    await writer.write([document("d", "a", "b", at=[None, None])], "")
    assert embedder.texts == ["\na", "\nb"]


async def test_stored_chunks_of_a_renamed_document_are_embedded_with_the_new_title(
    writer: DocumentWriter, embedder: CompassEmbedder, store: FakeStore
) -> None:
    await writer.write([document("d", "a", title="north", at=[None])], "")
    await writer.write([document("d", "a", title="east", at=[None])], "")
    assert embedder.texts == ["north\na", "east\na"]
    found = await store.search(SPACE, meaning(EAST))
    assert found.hits[0].score > 0.9


async def test_without_an_embedder_nothing_is_written(
    writer: DocumentWriter, embedder: CompassEmbedder, store: FakeStore
) -> None:
    embedder.down = True
    with pytest.raises(EmbedderUnavailableError):
        await writer.write([document("d", "a", at=[None])], "")
    assert (await store.stats(SPACE)).documents == 0


async def test_a_model_of_unknown_dimension_writes_before_any_query_was_embedded(
    store: FakeStore, embedder: CompassEmbedder
) -> None:
    writer = DocumentWriter(store, Unlisted(embedder))
    new = [document(name, name, at=[None], path=name) for name in ("north", "east")]
    await writer.write(new, "")
    assert await store.space_model(SPACE) == Model("compass", 3)
    assert embedder.texts == ["\nnorth", "\neast"]
    assert contents(await store.search(SPACE, meaning(EAST, limit=1))) == ["east"]


async def test_an_unavailable_model_of_unknown_dimension_writes_nothing(
    store: FakeStore, embedder: CompassEmbedder
) -> None:
    embedder.down = True
    with pytest.raises(EmbedderUnavailableError):
        await DocumentWriter(store, Unlisted(embedder)).write([document("d", "a", at=[None])], "")
    assert (await store.stats(SPACE)).documents == 0


async def test_another_process_continues_with_a_model_of_unknown_dimension(
    writer: DocumentWriter, store: FakeStore
) -> None:
    await writer.write([document("d", "a", at=[None])], "")
    other = CompassEmbedder()
    await DocumentWriter(store, Unlisted(other)).write([document("e", "b", at=[None])], "")
    assert other.texts == ["\nb"]
    assert (await store.stats(SPACE)).documents == 2


async def test_a_model_that_turns_out_to_have_another_dimension_is_refused(
    writer: DocumentWriter, store: FakeStore
) -> None:
    await writer.write([document("d", "a", at=[None])], "")
    longer = Unlisted(CompassEmbedder(dimension=4))
    with pytest.raises(WrongStateError):
        await DocumentWriter(store, longer).write([document("e", "b", at=[None])], "")
    assert (await store.stats(SPACE)).documents == 1


class EmbedderWithAction(CompassEmbedder):
    """Runs an action while it embeds for the first time."""

    def __init__(self, action: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._action: Callable[[], Awaitable[object]] | None = action

    async def embed(self, texts: Sequence[str]) -> Matrix:
        action, self._action = self._action, None
        if action is not None:
            await action()
        return await super().embed(texts)


class Registry:
    """A registry with another model next to the tier's own."""

    def __init__(self, other: CompassEmbedder) -> None:
        self._other = other

    def named(self, model: str, _dimension: int | None = None) -> CompassEmbedder | None:
        return self._other if model == self._other.model else None


async def test_a_write_without_a_model_name_follows_a_concurrent_change_of_model(
    store: FakeStore,
) -> None:
    by_other = document("first", "a")
    own = EmbedderWithAction(lambda: store.upsert(SPACE, Model("mine", 3), [by_other]))
    mine = CompassEmbedder("mine")
    await DocumentWriter(store, own, Registry(mine)).write([document("d", "b", at=[None])], "")
    assert mine.texts == ["\nb"]
    assert await store.space_model(SPACE) == Model("mine", 3)
    assert (await store.stats(SPACE)).documents == 2


async def test_a_write_with_a_model_name_fails_after_a_concurrent_change_of_model(
    store: FakeStore,
) -> None:
    own = EmbedderWithAction(
        lambda: store.upsert(SPACE, Model("mine", 3), [document("first", "a")])
    )
    writer = DocumentWriter(store, own, Registry(CompassEmbedder("mine")))
    assert await refused(writer, [document("d", "b", at=[None])], "compass") == ["embedding_model"]


async def test_given_vectors_need_the_name_of_their_model(writer: DocumentWriter) -> None:
    assert await refused(writer, [document("d", "a")], "") == ["embedding_model"]


async def test_the_first_writer_determines_the_model_of_the_space(
    writer: DocumentWriter, store: FakeStore
) -> None:
    await writer.write([document("d", "a")], "mine")
    assert await store.space_model(SPACE) == Model("mine", 3)
    assert await refused(writer, [document("e", "a")], "other") == ["embedding_model"]
    with pytest.raises(WrongStateError):
        await writer.write([document("e", "a", at=[None])], "mine")


async def test_another_model_than_the_tiers_is_refused_if_vectors_are_missing(
    writer: DocumentWriter,
) -> None:
    assert await refused(writer, [document("d", "a", at=[None])], "other") == ["embedding_model"]


@pytest.mark.parametrize("configured", ["newer", MODEL.name])
async def test_missing_vectors_have_the_model_and_dimension_of_the_space(
    store: FakeStore, configured: str
) -> None:
    """This holds if the settings name another model, or another dimension of the same model."""

    class AnyDimension:
        def named(self, model: str, dimension: int | None = None) -> CompassEmbedder:
            return CompassEmbedder(model, dimension or 4)

    await store.upsert(SPACE, MODEL, [document("d", "red", at=[NORTH])])
    ours = CompassEmbedder(configured, 4)
    await DocumentWriter(store, ours, AnyDimension()).write([document("e", "east", at=[None])], "")
    assert contents(await store.search(SPACE, meaning(EAST, limit=1))) == ["east"]
    assert ours.texts == []


async def test_no_embedder_is_requested_for_a_model_that_only_the_caller_names(
    store: FakeStore,
) -> None:
    requested: list[str] = []

    class AnyModel:
        def named(self, model: str, _dimension: int | None = None) -> CompassEmbedder:
            requested.append(model)
            return CompassEmbedder(model)

    mixed = document("d", "a", "b", at=[EAST, None])
    alone = DocumentWriter(store, CompassEmbedder(), AnyModel())
    assert await refused(alone, [mixed], "other") == ["embedding_model"]
    assert requested == []


async def test_given_vectors_must_have_the_dimension_of_those_that_the_tier_makes(
    writer: DocumentWriter,
) -> None:
    mixed = document("d", "a", "b", at=[(1, 0), None])  # type: ignore[list-item] # two dimensions only
    assert await refused(writer, [mixed], CompassEmbedder().model) == ["embedding_model"]


async def test_vectors_of_another_dimension_are_refused_by_field(writer: DocumentWriter) -> None:
    await writer.write([document("d", "a")], "mine")
    wrong = document("e", "a", "b", at=[NORTH, (1, 0)], path="documents[3]")  # type: ignore[list-item]
    assert await refused(writer, [wrong], "mine") == ["documents[3].chunks[1].embedding"]


async def test_duplicate_ids_and_reversed_spans_are_reported_together(
    writer: DocumentWriter,
) -> None:
    first = document("d", "a", path="documents[0]")
    twice = replace(first, path="documents[1]")
    backwards = document("e", "a", path="documents[2]")
    chunk = replace(backwards.chunks[0], start_char=9, end_char=3)
    backwards = replace(backwards, chunks=(chunk,))
    assert await refused(writer, [first, twice, backwards], "mine") == [
        "documents[1].document_id",
        "documents[1].chunks[0].id",
        "documents[2].chunks[0].end_char",
    ]


async def test_a_refused_batch_writes_nothing(writer: DocumentWriter, store: FakeStore) -> None:
    with pytest.raises(BraidError):
        await writer.write([document("d", "a"), document("d", "b")], "mine")
    assert (await store.stats(SPACE)).revision == 0
