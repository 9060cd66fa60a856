"""A space changes to a second embedding model while the first serves, over a socket and real PostgreSQL."""

from __future__ import annotations

import asyncio
from hashlib import sha256

import asyncpg
import grpc
import numpy as np
import pytest

from braid.common.v1 import errors_pb2
from braid.vector.internal.v1 import deletion_pb2, models_pb2
from braid.vector.v1 import documents_pb2, search_pb2
from services.runtime.errors import InvalidFieldError, WrongStateError
from services.vector_search.domain import ChunkVector, Model, QueryVector, Search, VectorPath
from services.vector_search.postgres_store import PostgresStore
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import EAST, NORTH, document, embedding, upsert
from tests.integration.vector_search.test_service import bad_field, failure
from tests.store_suite.vector.builders import MODEL, SPACE
from tests.store_suite.vector.builders import document as stored
from tests.stores import TestDatabase

OURS, ADMIN = Tier.credential("ours"), Tier.credential("our-admin")
THEIR_ADMIN = Tier.credential("their-admin")
WRONG_STATE = errors_pb2.ERROR_REASON_WRONG_STATE
NOT_FOUND = errors_pb2.ERROR_REASON_NOT_FOUND
NEW = "newer"


@pytest.fixture
async def filled(tier: Tier) -> Tier:
    """A space with three chunks under the model `compass`, and the model `newer` added."""
    for key, at in (("n", NORTH), ("e", EAST)):
        texts = (f"{key} one", f"{key} two")[: 2 if key == "n" else 1]
        new = document(key, *texts, at=[at] * len(texts), title=f"Title {key}")
        await tier.documents.UpsertDocument(upsert(new, "compass"), metadata=OURS)
    request = models_pb2.AddEmbeddingModelRequest(embedding_model=NEW, dimension=2)
    await tier.models.AddEmbeddingModel(request, metadata=ADMIN)
    return tier


async def missing(tier: Tier) -> list[models_pb2.UnembeddedChunk]:
    """Returns the chunks without a vector of the new model."""
    request = models_pb2.ListChunksWithoutEmbeddingRequest(embedding_model=NEW)
    answer = await tier.models.ListChunksWithoutEmbedding(request, metadata=ADMIN)
    return list(answer.chunks)


async def put(tier: Tier, chunks: list[models_pb2.UnembeddedChunk], *values: float) -> int:
    """Stores a vector of the new model for each chunk. Returns how many were stored."""
    embeddings = [
        models_pb2.ChunkEmbedding(
            chunk_id=chunk.chunk_id, text_sha256=chunk.text_sha256, values=values or (1.0, 0.0)
        )
        for chunk in chunks
    ]
    request = models_pb2.PutEmbeddingsRequest(embedding_model=NEW, embeddings=embeddings)
    return (await tier.models.PutEmbeddings(request, metadata=ADMIN)).stored_count


async def models(tier: Tier) -> dict[str, tuple[bool, int]]:
    """Returns by model whether it is active, and how many chunks have its vectors."""
    request = models_pb2.ListEmbeddingModelsRequest()
    answer = await tier.models.ListEmbeddingModels(request, metadata=ADMIN)
    return {
        model.embedding_model: (model.active, model.embedded_chunk_count) for model in answer.models
    }


async def found(tier: Tier, model: str, values: tuple[float, ...]) -> list[str]:
    """Returns the documents found by a vector of a model."""
    given = embedding(values, model)
    request = search_pb2.VectorSearchRequest(query="north", limit=1, query_embedding=given)
    answer = await tier.search.VectorSearch(request, metadata=OURS)
    return [hit.chunk.document_id for hit in answer.hits]


def activate() -> models_pb2.ActivateEmbeddingModelRequest:
    """The request to activate the new model."""
    return models_pb2.ActivateEmbeddingModelRequest(embedding_model=NEW)


async def test_a_second_model_is_filled_in_and_activated_while_the_first_serves(
    filled: Tier,
) -> None:
    assert await models(filled) == {"compass": (True, 3), NEW: (False, 0)}
    chunks = await missing(filled)
    assert sorted(chunk.text for chunk in chunks) == [
        "Title e\ne one",
        "Title n\nn one",
        "Title n\nn two",
    ]
    east = [chunk for chunk in chunks if "Title e" in chunk.text]
    north = [chunk for chunk in chunks if "Title n" in chunk.text]
    assert await put(filled, north, 1.0, 0.0) == 2
    error = await failure(filled.models.ActivateEmbeddingModel(activate(), metadata=ADMIN))
    assert error.reason == WRONG_STATE
    assert await found(filled, "compass", EAST) == ["e"]
    assert await put(filled, east, 0.0, 2.0) == 1
    assert await missing(filled) == []
    before = await filled.documents.GetVectorStats(
        documents_pb2.GetVectorStatsRequest(), metadata=OURS
    )
    answer = await filled.models.ActivateEmbeddingModel(activate(), metadata=ADMIN)
    assert answer.space_revision == before.space_revision + 1
    assert await models(filled) == {"compass": (False, 3), NEW: (True, 3)}
    filled.embedder.model, filled.embedder.dimension = NEW, 2
    assert await found(filled, NEW, (0.0, 1.0)) == ["e"]
    assert await found(filled, NEW, (1.0, 0.0)) == ["n"]


async def test_a_model_is_not_activated_until_chunks_written_meanwhile_are_filled_in(
    filled: Tier,
) -> None:
    await put(filled, await missing(filled))
    new = document("late", "late text", at=[NORTH])
    await filled.documents.UpsertDocument(upsert(new, "compass"), metadata=OURS)
    error = await failure(filled.models.ActivateEmbeddingModel(activate(), metadata=ADMIN))
    assert error.reason == WRONG_STATE
    assert [chunk.text for chunk in await missing(filled)] == ["\nlate text"]
    await put(filled, await missing(filled))
    await filled.models.ActivateEmbeddingModel(activate(), metadata=ADMIN)


async def test_vectors_of_chunks_renamed_or_deleted_meanwhile_are_discarded(filled: Tier) -> None:
    chunks = await missing(filled)
    renamed = document("n", "n one", "n two", at=[NORTH, NORTH], title="Other")
    await filled.documents.UpsertDocument(upsert(renamed, "compass"), metadata=OURS)
    await filled.deletion.DeleteDocument(
        deletion_pb2.DeleteDocumentRequest(document_id="e"), metadata=OURS
    )
    assert await put(filled, chunks) == 0
    assert sorted(chunk.text for chunk in await missing(filled)) == ["Other\nn one", "Other\nn two"]
    await put(filled, await missing(filled))
    again = document("n", "n one", "n two", at=[NORTH, NORTH], title="Third")
    await filled.documents.UpsertDocument(upsert(again, "compass"), metadata=OURS)
    assert (await models(filled))[NEW] == (False, 0)


async def test_chunks_are_listed_in_pages_by_id(filled: Tier) -> None:
    request = models_pb2.ListChunksWithoutEmbeddingRequest(embedding_model=NEW, page_size=2)
    first = await filled.models.ListChunksWithoutEmbedding(request, metadata=ADMIN)
    request.page_token = first.next_page_token
    rest = await filled.models.ListChunksWithoutEmbedding(request, metadata=ADMIN)
    assert (bool(first.next_page_token), rest.next_page_token) == (True, "")
    ids = [chunk.chunk_id for chunk in (*first.chunks, *rest.chunks)]
    assert len(ids) == 3
    assert ids == sorted(ids)
    assert all(sha256(c.text.encode()).hexdigest() == c.text_sha256 for c in first.chunks)


async def test_a_former_model_can_be_removed_and_the_active_model_cannot(filled: Tier) -> None:
    def remove(name: str) -> models_pb2.RemoveEmbeddingModelRequest:
        return models_pb2.RemoveEmbeddingModelRequest(embedding_model=name)

    await put(filled, await missing(filled))
    await filled.models.ActivateEmbeddingModel(activate(), metadata=ADMIN)
    error = await failure(filled.models.RemoveEmbeddingModel(remove(NEW), metadata=ADMIN))
    assert error.reason == WRONG_STATE
    gone = await filled.models.RemoveEmbeddingModel(remove("compass"), metadata=ADMIN)
    assert gone.removed_count == 3
    assert await models(filled) == {NEW: (True, 3)}
    error = await failure(filled.models.RemoveEmbeddingModel(remove("compass"), metadata=ADMIN))
    assert error.reason == NOT_FOUND


async def test_invalid_vectors_are_refused_naming_the_field_and_none_is_stored(
    filled: Tier,
) -> None:
    chunk = (await missing(filled))[0]
    cases: list[tuple[str, list[models_pb2.ChunkEmbedding]]] = []
    for field, values in (
        ("values", (1.0, 0.0, 0.0)),
        ("values", (0.0, 0.0)),
        ("values[0]", (float("nan"), 0.0)),
    ):
        good = models_pb2.ChunkEmbedding(
            chunk_id=(await missing(filled))[1].chunk_id,
            text_sha256=chunk.text_sha256,
            values=(1.0, 0.0),
        )
        bad = models_pb2.ChunkEmbedding(
            chunk_id=chunk.chunk_id, text_sha256=chunk.text_sha256, values=values
        )
        cases.append((f"embeddings[1].{field}", [good, bad]))
    cases.append(("embeddings[1].chunk_id", [cases[0][1][0]] * 2))
    for field, embeddings in cases:
        request = models_pb2.PutEmbeddingsRequest(embedding_model=NEW, embeddings=embeddings)
        call = filled.models.PutEmbeddings(request, metadata=ADMIN)
        assert await bad_field(call) == field
    assert (await models(filled))[NEW] == (False, 0)


async def test_another_dimension_and_vectors_for_the_active_model_are_refused(filled: Tier) -> None:
    other = models_pb2.AddEmbeddingModelRequest(embedding_model=NEW, dimension=3)
    assert await bad_field(filled.models.AddEmbeddingModel(other, metadata=ADMIN)) == "dimension"
    chunk = models_pb2.ChunkEmbedding(
        chunk_id=document("n", "n one").chunks[0].id, text_sha256="0" * 64, values=(1.0, 0.0, 0.0)
    )
    active = models_pb2.PutEmbeddingsRequest(embedding_model="compass", embeddings=[chunk])
    error = await failure(filled.models.PutEmbeddings(active, metadata=ADMIN))
    assert error.reason == WRONG_STATE


async def test_models_are_administered_only_within_their_space_and_by_admins(filled: Tier) -> None:
    theirs = await filled.models.ListEmbeddingModels(
        models_pb2.ListEmbeddingModelsRequest(), metadata=THEIR_ADMIN
    )
    assert not theirs.models
    calls = (
        filled.models.ActivateEmbeddingModel(activate(), metadata=THEIR_ADMIN),
        filled.models.RemoveEmbeddingModel(
            models_pb2.RemoveEmbeddingModelRequest(embedding_model=NEW), metadata=THEIR_ADMIN
        ),
        filled.models.ListChunksWithoutEmbedding(
            models_pb2.ListChunksWithoutEmbeddingRequest(embedding_model=NEW), metadata=THEIR_ADMIN
        ),
    )
    for call in calls:
        assert (await failure(call)).reason == NOT_FOUND
    empty = models_pb2.AddEmbeddingModelRequest(embedding_model="x", dimension=2)
    error = await failure(filled.models.AddEmbeddingModel(empty, metadata=THEIR_ADMIN))
    assert error.reason == WRONG_STATE
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await filled.models.ActivateEmbeddingModel(activate(), metadata=OURS)
    assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED


STRAY = """
select count(*) from (select * from embedding_2 union all select * from embedding_2_unindexed) e
left join chunk c on c.space = e.space and c.id = e.chunk_id
where e.space = $1 and (c.id is null or c.current <> e.current)"""


async def test_a_model_name_may_have_another_dimension_in_another_space(
    store: PostgresStore,
) -> None:
    short, long = Model("theirs", 2), Model("theirs", 3)
    one = stored("d", "red", at=[(1.0, 0.0)])  # type: ignore[list-item] # two dimensions only
    await store.upsert(SPACE, short, [one])
    await store.upsert("other", long, [stored("d", "red", space="other", at=[(0.0, 1.0, 0.0)])])
    for space, model, direction in ((SPACE, short, [1.0, 0.0]), ("other", long, [0.0, 1.0, 0.0])):
        asked = Search(vector=QueryVector("theirs", np.array(direction, dtype=np.float32)))
        found = await store.search(space, asked)
        assert (found.model, len(found.hits)) == (model, 1)
    with pytest.raises(InvalidFieldError, match="dimension"):
        await store.add_model(SPACE, long)


async def test_a_space_may_add_15_new_models_and_any_that_other_spaces_know(
    store: PostgresStore,
) -> None:
    await store.upsert(SPACE, MODEL, [stored("d", "red")])
    await store.upsert("other", Model("known", 3), [stored("d", "red", space="other")])
    for n in range(15):
        await store.add_model(SPACE, Model(f"model-{n}", 3))
    with pytest.raises(WrongStateError):
        await store.add_model(SPACE, Model("one too many", 3))
    await store.add_model(SPACE, Model("known", 3))
    await store.add_model("other", Model("one too many", 3))


async def test_a_space_whose_last_document_was_deleted_has_no_model(store: PostgresStore) -> None:
    await store.upsert(SPACE, Model("first", 3), [stored("d", "red")])
    await store.add_model(SPACE, Model("added", 4))
    await store.delete_document(SPACE, "d")
    assert (await store.list_models(SPACE)).models == []
    with pytest.raises(WrongStateError):
        await store.add_model(SPACE, Model("second", 3))
    one = stored("d", "red", at=[(1.0, 0.0)])  # type: ignore[list-item] # two dimensions only
    await store.upsert(SPACE, Model("first", 2), [one])
    assert await store.space_model(SPACE) == Model("first", 2)
    listed = await store.list_models(SPACE)
    assert [one.model for one in listed.models] == [Model("first", 2)]


async def test_reads_that_a_write_depends_on_do_not_go_to_a_replica(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    """A lagging replica would report a deleted document as unchanged, and return the former model to a worker."""
    new = stored("d", "red")
    await store.upsert(SPACE, MODEL, [new])
    unreachable = "postgresql://braid_reader@127.0.0.1:9/none"
    writers = vector_database.dsn("braid_writer")
    writer_only = await PostgresStore.open(read_url=unreachable, write_url=writers)
    try:
        found = await writer_only.unchanged_documents(SPACE, [("d", new.content_hash)])
        known = await writer_only.stats(SPACE)
    finally:
        await writer_only.close()
    assert list(found) == ["d"]
    assert known.model == MODEL


async def write(store: PostgresStore, done: asyncio.Event) -> None:
    """Writes, renames and deletes documents."""
    for turn in range(30):
        key = f"d{turn % 7}"
        await store.upsert(SPACE, MODEL, [stored(key, f"text {turn}", title=f"t{turn % 3}")])
        if turn % 5 == 0:
            await store.delete_document(SPACE, key)
    done.set()


async def fill(store: PostgresStore, done: asyncio.Event) -> None:
    """Fills in missing vectors until writing has ended and none is missing."""
    one = np.array([1.0, 0.0], dtype=np.float32)
    while not (done.is_set() and not await store.unembedded_chunks(SPACE, NEW, None, 1)):
        chunks = await store.unembedded_chunks(SPACE, NEW, None, 5)
        vectors = [ChunkVector(c.chunk_id, c.text_sha256, one) for c in chunks]
        await store.fill_embeddings(SPACE, NEW, vectors)


async def search(store: PostgresStore, done: asyncio.Event) -> None:
    """Searches by vectors of the first model."""
    direction = np.array([1.0, 0.0, 0.0], dtype=np.float32)
    while not done.is_set():
        result = await store.search(SPACE, Search(vector=QueryVector(MODEL.name, direction)))
        assert result.path is VectorPath.EXACT
        assert len(result.hits) == 10


async def test_filling_in_during_writes_leaves_no_stray_vector_and_searches_stay_complete(
    store: PostgresStore, vector_database: TestDatabase
) -> None:
    newer = Model(NEW, 2)
    await store.upsert(SPACE, MODEL, [stored(f"d{i}", f"text {i}") for i in range(20)])
    await store.add_model(SPACE, newer)
    done = asyncio.Event()

    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        for work in (write, fill, search):
            group.create_task(work(store, done))
    connection = await asyncpg.connect(vector_database.dsn("braid_reader"))
    try:
        assert await connection.fetchval(STRAY, SPACE) == 0
    finally:
        await connection.close()
    await store.activate_model(SPACE, NEW)
    assert await store.space_model(SPACE) == newer
