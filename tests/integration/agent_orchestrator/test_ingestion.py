"""Uploaded documents are stored in both tiers; invalid uploads are rejected."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import jobs_pb2
from braid.common.v1 import errors_pb2
from services.runtime.errors import (
    FieldError,
)
from services.runtime.ids import chunk_id, content_sha256
from tests.hostile import pdf
from tests.integration.agent_orchestrator.conftest import BOB, World
from tests.integration.agent_orchestrator.uploads import (
    FAILED,
    SUCCEEDED,
    Part,
    data,
    document,
    ingest,
    lines,
    reasons,
    refused,
    submit,
    watched,
)


@pytest.fixture
def settings() -> dict[str, object]:
    return {"retry_seconds": 1, "max_upload_bytes": 65_536, "max_waiting_jobs": 4}


async def test_a_document_becomes_searchable_and_graph_ready(world: World) -> None:
    job = await ingest(
        world, document("text/markdown", source="notes/a.md"), data("# Title\n\n"), data("Text.")
    )
    assert job.state == SUCCEEDED
    assert (job.unit_count, job.searchable_count, job.graph_ready_count) == (1, 1, 1)
    assert (job.written_chunk_count, job.failed_count) == (1, 0)
    [stored] = world.vector.documents.values()
    [episode] = world.graph.episodes.values()
    assert (stored.document_id, stored.title) == ("notes/a.md", "Title")
    assert stored.chunks[0].content == episode.content == "# Title\n\nText."
    assert stored.chunks[0].id == episode.chunk_id
    assert episode.chunk_id == chunk_id("alice", "notes/a.md", content_sha256(episode.content), 0)
    assert (episode.document_id, episode.document_title) == ("notes/a.md", "Title")
    assert not stored.HasField("valid_time")
    assert episode.reference_time == job.create_time
    assert job.kind == jobs_pb2.JOB_KIND_UPLOAD
    assert (job.source, job.title, job.document_id) == ("notes/a.md", "", "")
    times = (job.create_time, job.start_time, job.end_time)
    assert sorted(time.ToNanoseconds() for time in times) == [one.ToNanoseconds() for one in times]


async def test_chunks_are_embedded_with_their_title_and_stored_under_the_models_name(
    world: World,
) -> None:
    await ingest(world, document(document_id="d", title="T"), data("content"))
    assert world.embedder.texts == ["T\ncontent"]
    [request] = world.vector.script.requests["BatchUpsertDocuments"]
    assert request.embedding_model == "stub"
    assert len(request.documents[0].chunks[0].embedding) == 4


async def test_valid_lines_are_ingested_despite_invalid_ones(world: World) -> None:
    job = await ingest(
        world,
        *lines(
            {"id": "a", "text": "alpha"}, "{", {"id": "b", "text": ""}, {"id": "c", "text": "x"}
        ),
    )
    assert job.state == SUCCEEDED
    assert (job.unit_count, job.graph_ready_count, job.failed_count) == (4, 2, 2)
    assert reasons(job) == {"line 2": "is not valid JSON", "b": "line 3: text is empty"}
    assert {key for _, key in world.vector.documents} == {"a", "c"}


async def test_a_job_without_any_valid_document_fails(world: World) -> None:
    job = await ingest(world, *lines("{", "["))
    assert job.state == FAILED
    assert job.failed_count == 2


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"a\x00b", "the document holds a NUL character"),
        (b"x" * 65_537, "must be at most 65536 bytes in all"),
    ],
)
async def test_an_empty_oversized_or_non_text_document_is_a_field_error(
    world: World, content: bytes, description: str
) -> None:
    error = await refused(world, document(), data(content))
    assert error.fields == (FieldError("data", description),)


async def test_json_lines_without_any_line_are_a_field_error(world: World) -> None:
    error = await refused(world, *lines("", " "))
    assert error.fields == (FieldError("data", "holds no document"),)


async def test_an_unreadable_document_fails_with_its_reason(
    world: World,
) -> None:
    job = await ingest(world, document("application/pdf", source="a.pdf"), data("no such file"))
    assert job.state == FAILED
    assert reasons(job) == {"a.pdf": "is not a readable PDF file"}
    job = await ingest(world, document(source="a.txt"), data(b"caf\xe9\x01" + b"x" * 40_000))
    assert reasons(job) == {"a.txt": "is not UTF-8 text (byte 3): save it as UTF-8"}


@pytest.mark.parametrize("kind", ["text/plain", "text/markdown"])
async def test_short_bytes_that_are_no_text_are_a_field_error(world: World, kind: str) -> None:
    error = await refused(world, document(kind), data(b"caf\xe9\x01"))
    assert error.fields == (FieldError("data", "is not UTF-8 text (byte 3): save it as UTF-8"),)


async def test_the_page_number_of_a_chunk_is_stored(world: World) -> None:
    paged = pdf([[], ["On the second page."]])
    await ingest(world, document("application/pdf", source="a.pdf"), data(paged))
    [stored] = world.vector.documents.values()
    assert [(chunk.content, chunk.page) for chunk in stored.chunks] == [("On the second page.", 2)]


async def test_a_message_is_dated_by_the_time_it_was_written(world: World) -> None:
    line = '{"thread": "t", "author": "Ada", "time": "2024-05-01", "text": "Hello."}'
    await ingest(world, document("application/vnd.braid.messages+jsonl"), data(line))
    [episode] = world.graph.episodes.values()
    assert (episode.document_id, episode.reference_time.ToJsonString()) == (
        "t",
        "2024-05-01T00:00:00Z",
    )


@pytest.mark.parametrize(
    "parts", [[], [data("text")], [document(), document(), data("text")]], ids=str
)
async def test_parts_out_of_order_are_a_field_error(world: World, parts: list[Part]) -> None:
    error = await refused(world, *parts)
    assert [f.field for f in error.fields] == ["metadata"]


async def test_an_unknown_content_type_is_a_field_error(world: World) -> None:
    error = await refused(world, document("application/x-unknown"), data("text"))
    assert [f.field for f in error.fields] == ["metadata.content_type"]


async def test_a_space_at_its_job_limit_is_rejected_with_a_delay_and_others_are_not(
    world: World,
) -> None:
    released = asyncio.Event()

    async def wait(_request: object) -> None:
        await released.wait()

    world.vector.script.acts["CheckDocuments"] = wait
    jobs = [await submit(world, document(document_id=str(n)), data("text")) for n in range(3)]
    error = await refused(world, document(), data("text"))
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after == 1.0
    others = await submit(world, document(document_id="d"), data("text"), caller=BOB)
    released.set()
    for job in jobs:
        assert (await watched(world, job))[-1].state == SUCCEEDED
    assert (await watched(world, others, BOB))[-1].state == SUCCEEDED
    assert (await ingest(world, document(), data("text"))).state == SUCCEEDED


async def test_the_stages_of_a_job_overlap(world: World) -> None:
    """The graph holds the first batch back until a later one has been embedded."""
    embedded = asyncio.Event()

    async def wait_for_a_later_batch(_request: object) -> None:
        async with asyncio.timeout(5):
            while not any("last" in text for text in world.embedder.texts):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        embedded.set()

    world.graph.script.acts["BatchAddEpisodes"] = wait_for_a_later_batch
    values = [{"id": str(n), "text": "x"} for n in range(200)]
    job = await ingest(world, *lines(*values, {"id": "z", "text": "last"}))
    assert embedded.is_set()
    assert job.graph_ready_count == 201


async def test_a_job_lists_what_was_not_taken_of_its_documents(world: World) -> None:
    text = b"---\ntitle: A: B\ndate: some day\n---\nText of 5 \x80."
    upload = document(source="2099-01-01.md", content_type="text/markdown")
    job = await ingest(world, upload, data(text))
    assert (job.state, job.failed_count, job.warning_count) == (SUCCEEDED, 0, 4)
    assert [(one.document_id, one.reason) for one in job.warnings] == [
        ("2099-01-01.md", jobs_pb2.JOB_WARNING_REASON_ENCODING_GUESSED),
        ("2099-01-01.md", jobs_pb2.JOB_WARNING_REASON_METADATA_NOT_UNDERSTOOD),
        ("2099-01-01.md", jobs_pb2.JOB_WARNING_REASON_DATE_NOT_UNDERSTOOD),
        ("2099-01-01.md", jobs_pb2.JOB_WARNING_REASON_VALID_LATER),
    ]
    assert job.warnings[2].where == "date"
