"""The vector tier's gRPC services, called over a real socket."""

from __future__ import annotations

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.vector.internal.v1 import deletion_pb2
from braid.vector.v1 import chunks_pb2, documents_pb2, search_pb2
from services.models.embedding.relevance import bend
from services.runtime.errors import BraidError
from services.runtime.metadata_limits import MAX_METADATA_BYTES
from services.runtime.status import error_from_rpc
from services.runtime.times import to_timestamp
from tests.integration.vector_search.conftest import Tier
from tests.integration.vector_search.messages import EAST, NORTH, document, embedding, upsert

OURS = Tier.credential("ours")
THEIRS = Tier.credential("theirs")


async def failure(call: Awaitable[Any]) -> BraidError:
    """Returns the typed error that a call fails with."""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    return error_from_rpc(failed.value)


async def bad_field(call: Awaitable[Any]) -> str:
    """Returns the one field that a call is refused for."""
    error = await failure(call)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert len(error.fields) == 1
    return error.fields[0].field


@pytest.fixture
async def filled(tier: Tier) -> Tier:
    """A tier where `ours` has a document about the red north and one about the blue east."""
    for key, text, at in (("n", "red north", NORTH), ("e", "blue east", EAST)):
        new = document(key, text, at=[at], title=key.upper(), metadata={"colour": text[:3]})
        await tier.documents.UpsertDocument(upsert(new, "compass"), metadata=OURS)
    return tier


async def test_unchanged_documents_are_reported_with_their_valid_times(tier: Tier) -> None:
    times = {"late": Timestamp(seconds=2_000), "early": Timestamp(seconds=1_000)}
    new = [document(key, key, at=[NORTH], valid_time=time) for key, time in times.items()]
    for one in new:
        await tier.documents.UpsertDocument(upsert(one, "compass"), metadata=OURS)
    prints = [
        documents_pb2.DocumentFingerprint(
            document_id=one.document_id, content_hash=one.content_hash
        )
        for one in new
    ]
    answer = await tier.documents.CheckDocuments(
        documents_pb2.CheckDocumentsRequest(documents=prints), metadata=OURS
    )
    assert {one.document_id: one.valid_time for one in answer.unchanged_documents} == times


async def test_hybrid_search_returns_score_parts_path_status_and_revision(filled: Tier) -> None:
    answer = await filled.search.HybridSearch(
        search_pb2.HybridSearchRequest(query="red north"), metadata=OURS
    )
    assert [hit.chunk.document_id for hit in answer.hits] == ["n", "e"]
    assert answer.leg.status == legs_pb2.LEG_STATUS_OK
    assert answer.vector_path == retrieval_pb2.VECTOR_PATH_EXACT
    assert answer.space_revision == 2
    best = answer.hits[0]
    assert (best.chunk.document_title, best.chunk.metadata["colour"]) == ("N", "red")
    parts = best.scores
    assert best.score == pytest.approx(bend(0.85 * parts.vector_fused + 0.15 * parts.text_fused))
    assert (parts.vector_rank, parts.text_rank) == (1, 1)


async def test_vector_search_uses_a_given_vector_and_otherwise_embeds_the_query(
    filled: Tier,
) -> None:
    given = search_pb2.VectorSearchRequest(query="x", limit=1, query_embedding=embedding(EAST))
    own = search_pb2.VectorSearchRequest(query="north", limit=1)
    for request, document_id in ((given, "e"), (own, "n")):
        answer = await filled.search.VectorSearch(request, metadata=OURS)
        assert [hit.chunk.document_id for hit in answer.hits] == [document_id]
        assert not answer.hits[0].scores.HasField("text")
    assert filled.embedder.texts == ["north"]


async def test_a_text_search_for_only_stop_words_has_no_match(filled: Tier) -> None:
    answer = await filled.search.TextSearch(
        search_pb2.TextSearchRequest(query="the and of"), metadata=OURS
    )
    assert answer.leg.status == legs_pb2.LEG_STATUS_NO_MATCH
    assert not answer.hits


async def test_searches_apply_filters_and_as_of(filled: Tier) -> None:
    wanted = chunks_pb2.ChunkFilter()
    wanted.metadata.update({"colour": "blu"})
    request = search_pb2.HybridSearchRequest(query="red north", filter=wanted)
    answer = await filled.search.HybridSearch(request, metadata=OURS)
    assert [hit.chunk.document_id for hit in answer.hits] == ["e"]
    past = search_pb2.TextSearchRequest(query="red", as_of=Timestamp(seconds=1))
    assert not (await filled.search.TextSearch(past, metadata=OURS)).hits


async def test_without_an_embedder_hybrid_search_is_degraded_and_vector_search_unavailable(
    filled: Tier,
) -> None:
    filled.embedder.down = True
    answer = await filled.search.HybridSearch(
        search_pb2.HybridSearchRequest(query="red"), metadata=OURS
    )
    assert answer.leg.status == legs_pb2.LEG_STATUS_DEGRADED
    assert answer.leg.reason == legs_pb2.LEG_REASON_EMBEDDER_UNAVAILABLE
    assert [hit.chunk.document_id for hit in answer.hits] == ["n"]
    error = await failure(
        filled.search.VectorSearch(search_pb2.VectorSearchRequest(query="red"), metadata=OURS)
    )
    assert error.reason == errors_pb2.ERROR_REASON_EMBEDDER_UNAVAILABLE


async def test_a_page_of_documents_with_large_metadata_is_cut_to_fit_into_a_message(
    tier: Tier,
) -> None:
    large = {"text": "x" * (MAX_METADATA_BYTES - 100)}
    ids = [f"d{number:02}" for number in range(40)]
    new = [document(one, "text", at=[NORTH], metadata=large) for one in ids]
    for few in (new[:20], new[20:]):
        await tier.documents.BatchUpsertDocuments(
            documents_pb2.BatchUpsertDocumentsRequest(documents=few, embedding_model="compass"),
            metadata=OURS,
        )
    token, found = "", list[list[str]]()
    while token or not found:
        request = documents_pb2.ListDocumentsRequest(page_size=40, page_token=token)
        page = await tier.documents.ListDocuments(request, metadata=OURS)
        found.append([one.document_id for one in page.documents])
        token = page.next_page_token
    assert [one for page in found for one in page] == ids
    assert {len(page) for page in found[:-1]} == {3}


async def test_versions_are_listed_in_pages_latest_first(filled: Tier) -> None:
    for text, year in (("one", 2001), ("two", 2002), ("three", 2003)):
        when = to_timestamp(datetime(year, 1, 1, tzinfo=UTC))
        await filled.documents.UpsertDocument(
            upsert(document("v", text, valid_time=when)), metadata=OURS
        )
    request = documents_pb2.ListDocumentVersionsRequest(document_id="v", page_size=2)
    first = await filled.documents.ListDocumentVersions(request, metadata=OURS)
    assert [one.version for one in first.versions] == [3, 2]
    assert [one.HasField("end_time") for one in first.versions] == [False, True]
    request.page_token = first.next_page_token
    second = await filled.documents.ListDocumentVersions(request, metadata=OURS)
    assert ([one.version for one in second.versions], second.next_page_token) == ([1], "")
    request.document_id = "e"
    call = filled.documents.ListDocumentVersions(request, metadata=OURS)
    assert await bad_field(call) == "page_token"
    unknown = documents_pb2.ListDocumentVersionsRequest(document_id="none")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await filled.documents.ListDocumentVersions(unknown, metadata=OURS)
    assert caught.value.code() is grpc.StatusCode.NOT_FOUND


async def test_documents_are_listed_deleted_and_counted(filled: Tier) -> None:
    listed = await filled.documents.ListDocuments(
        documents_pb2.ListDocumentsRequest(page_size=1), metadata=OURS
    )
    rest = await filled.documents.ListDocuments(
        documents_pb2.ListDocumentsRequest(page_token=listed.next_page_token), metadata=OURS
    )
    found = [*listed.documents, *rest.documents]
    assert [(d.document_id, d.version, d.chunk_count) for d in found] == [("e", 1, 1), ("n", 1, 1)]
    assert rest.next_page_token == ""
    gone = await filled.deletion.DeleteDocument(
        deletion_pb2.DeleteDocumentRequest(document_id="n"), metadata=OURS
    )
    assert (gone.deleted_version_count, gone.deleted_chunk_count) == (1, 1)
    stats = await filled.documents.GetVectorStats(
        documents_pb2.GetVectorStatsRequest(), metadata=OURS
    )
    assert (stats.document_count, stats.chunk_count, stats.space_revision) == (1, 1, 3)
    assert (stats.embedding_model, stats.embedding_dimension) == ("compass", 3)


async def test_documents_of_another_space_can_neither_be_read_nor_deleted_nor_guessed(
    filled: Tier,
) -> None:
    ours = document("n", "red north").chunks[0].id
    chunks = await filled.search.GetChunks(
        search_pb2.GetChunksRequest(chunk_ids=[ours]), metadata=THEIRS
    )
    scores = await filled.search.ScoreChunks(
        search_pb2.ScoreChunksRequest(query="red", chunk_ids=[ours]), metadata=THEIRS
    )
    hits = await filled.search.HybridSearch(
        search_pb2.HybridSearchRequest(
            query="red", filter=chunks_pb2.ChunkFilter(document_ids=["n"])
        ),
        metadata=THEIRS,
    )
    assert not chunks.chunks
    assert not scores.scores
    assert not hits.hits
    for call in (
        filled.documents.GetDocument(
            documents_pb2.GetDocumentRequest(document_id="n"), metadata=THEIRS
        ),
        filled.deletion.DeleteDocument(
            deletion_pb2.DeleteDocumentRequest(document_id="n"), metadata=THEIRS
        ),
    ):
        theirs = await failure(call)
        assert theirs.reason == errors_pb2.ERROR_REASON_NOT_FOUND
        assert "n" not in theirs.metadata.values()
    kept = await filled.search.GetChunks(
        search_pb2.GetChunksRequest(chunk_ids=[ours]), metadata=OURS
    )
    assert [chunk.content for chunk in kept.chunks] == ["red north"]


async def test_a_chunk_id_used_in_two_spaces_is_stored_separately_in_each(filled: Tier) -> None:
    copy = document("n", "red north", at=[EAST])
    await filled.documents.UpsertDocument(upsert(copy, "compass"), metadata=THEIRS)
    await filled.deletion.DeleteDocument(
        deletion_pb2.DeleteDocumentRequest(document_id="n"), metadata=THEIRS
    )
    answer = await filled.search.TextSearch(
        search_pb2.TextSearchRequest(query="red"), metadata=OURS
    )
    assert [hit.chunk.document_id for hit in answer.hits] == ["n"]


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("query", search_pb2.HybridSearchRequest(query="")),
        ("query", search_pb2.HybridSearchRequest(query=" \n\t")),
        ("query", search_pb2.HybridSearchRequest(query="a\x00b")),
        ("query", search_pb2.HybridSearchRequest(query="x" * 1_000_000)),
        ("limit", search_pb2.HybridSearchRequest(query="x", limit=0)),
        ("limit", search_pb2.HybridSearchRequest(query="x", limit=51)),
        ("limit", search_pb2.HybridSearchRequest(query="x", limit=-1)),
        ("text_weight", search_pb2.HybridSearchRequest(query="x", text_weight=1.1)),
        ("min_score", search_pb2.HybridSearchRequest(query="x", min_score=1.1)),
        (
            "query_embedding.values",
            search_pb2.HybridSearchRequest(query="x", query_embedding=embedding((1.0, 0.0))),
        ),
        (
            "query_embedding.values",
            search_pb2.HybridSearchRequest(query="x", query_embedding=embedding((0.0, 0.0, 0.0))),
        ),
        (
            "query_embedding.values[1]",
            search_pb2.HybridSearchRequest(
                query="x", query_embedding=embedding((0.0, float("nan"), 0.0))
            ),
        ),
        (
            "query_embedding.embedding_model",
            search_pb2.HybridSearchRequest(query="x", query_embedding=embedding(NORTH, "a\x00")),
        ),
        (
            "filter.document_ids[0]",
            search_pb2.HybridSearchRequest(
                query="x", filter=chunks_pb2.ChunkFilter(document_ids=["\x00"])
            ),
        ),
    ],
)
async def test_an_invalid_search_is_refused_naming_the_field(
    filled: Tier, field: str, request_: search_pb2.HybridSearchRequest
) -> None:
    assert await bad_field(filled.search.HybridSearch(request_, metadata=OURS)) == field


@pytest.mark.parametrize(
    ("field", "input_", "model"),
    [
        ("document.chunks[0].embedding", document("x", "t", at=[(1.0, 0.0)]), "compass"),
        ("document.chunks[0].embedding", document("x", "t", at=[(0.0, 0.0, 0.0)]), "compass"),
        (
            "document.chunks[0].embedding[0]",
            document("x", "t", at=[(float("nan"), 0.0, 1.0)]),
            "compass",
        ),
        ("embedding_model", document("x", "t", at=[NORTH]), "unknown"),
        ("embedding_model", document("x", "t", at=[NORTH]), ""),
        ("embedding_model", document("x", "t"), "unknown"),
        ("document.chunks[0].content", document("x", "t" * 32_769), ""),
        ("document.chunks[0].content", document("x", "t\x00"), ""),
        ("document.metadata", document("x", "t", metadata={"k": "\x00"}), ""),
        ("document.chunks[1].id", document("x", "t", "t"), ""),
        ("document.document_id", document("x\x00", "t"), ""),
    ],
)
async def test_an_invalid_document_is_refused_naming_the_field_and_nothing_is_written(
    filled: Tier, field: str, input_: documents_pb2.DocumentInput, model: str
) -> None:
    call = filled.documents.UpsertDocument(upsert(input_, model), metadata=OURS)
    assert await bad_field(call) == field
    stats = await filled.documents.GetVectorStats(
        documents_pb2.GetVectorStatsRequest(), metadata=OURS
    )
    assert (stats.document_count, stats.space_revision) == (2, 2)


async def test_a_second_version_with_the_same_valid_time_is_refused(filled: Tier) -> None:
    when = Timestamp(seconds=1_000)
    first = document("v", "one", valid_time=when)
    await filled.documents.UpsertDocument(upsert(first), metadata=OURS)
    second = document("v", "two", valid_time=when)
    call = filled.documents.UpsertDocument(upsert(second), metadata=OURS)
    assert await bad_field(call) == "document.valid_time"


@pytest.mark.parametrize("token", ["nonsense", "W10", "é", "A" * 2_000])
async def test_a_bad_page_token_is_refused(filled: Tier, token: str) -> None:
    request = documents_pb2.ListDocumentsRequest(page_token=token)
    call = filled.documents.ListDocuments(request, metadata=OURS)
    assert await bad_field(call) == "page_token"


async def test_a_page_token_of_another_space_is_refused(filled: Tier) -> None:
    page = await filled.documents.ListDocuments(
        documents_pb2.ListDocumentsRequest(page_size=1), metadata=OURS
    )
    request = documents_pb2.ListDocumentsRequest(page_token=page.next_page_token)
    call = filled.documents.ListDocuments(request, metadata=THEIRS)
    assert await bad_field(call) == "page_token"
