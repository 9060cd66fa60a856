"""Documents on their way into both tiers: what arrives, what is refused, and what a repetition does."""

from __future__ import annotations

import asyncio

import grpc
import pytest

from braid.agent.v1 import ingest_pb2
from braid.common.v1 import errors_pb2
from braid.vector.v1 import documents_pb2
from services.runtime.errors import (
    BraidError,
    FieldError,
    InvalidFieldError,
    OverloadedError,
    StoreUnavailableError,
    WrongStateError,
)
from services.runtime.ids import chunk_id, content_sha256
from services.runtime.status import error_from_rpc
from tests.hostile import pdf
from tests.integration.agent_orchestrator.conftest import ALICE, BOB, Metadata, World
from tests.integration.agent_orchestrator.uploads import (
    FAILED,
    SUCCEEDED,
    Part,
    data,
    document,
    ingest,
    lines,
    reasons,
    submit,
    watch,
    watched,
)
from tests.stubs.script import fail, hang


@pytest.fixture
def settings() -> dict[str, object]:
    return {"retry_seconds": 1, "max_upload_bytes": 65_536, "max_waiting_jobs": 3}


async def refused(world: World, *parts: Part) -> BraidError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await submit(world, *parts)
    return error_from_rpc(caught.value)


async def test_a_document_becomes_searchable_and_graph_ready(world: World) -> None:
    job = await ingest(
        world, document("text/markdown", source="notes/a.md"), data("# Title\n\n"), data("Text.")
    )
    assert job.state == SUCCEEDED
    assert (job.documents_total, job.documents_searchable, job.documents_graph_ready) == (1, 1, 1)
    assert (job.chunks_written, job.documents_failed) == (1, 0)
    [stored] = world.vector.documents.values()
    [episode] = world.graph.episodes.values()
    assert (stored.document_id, stored.title) == ("notes/a.md", "Title")
    assert stored.chunks[0].content == episode.content == "# Title\n\nText."
    assert stored.chunks[0].id == episode.uuid
    assert episode.uuid == chunk_id("alice", "notes/a.md", content_sha256(episode.content), 0)
    assert (episode.document_id, episode.document_title) == ("notes/a.md", "Title")
    assert not stored.HasField("valid_time")
    assert episode.reference_time == job.create_time


async def test_chunks_are_embedded_with_their_title_and_stored_under_the_models_name(
    world: World,
) -> None:
    await ingest(world, document(document_id="d", title="T"), data("content"))
    assert world.embedder.texts == ["T\ncontent"]
    [request] = world.vector.script.requests["BatchUpsertDocuments"]
    assert request.embedding_model == "stub"
    assert len(request.documents[0].chunks[0].embedding) == 4


async def test_a_job_is_answered_before_its_work_is_done(world: World) -> None:
    world.vector.script.acts["CheckDocuments"] = hang
    job = await submit(world, document(), data("text"))
    assert job.state == ingest_pb2.JOB_STATE_QUEUED
    assert job.documents_total == 1


async def test_the_work_goes_on_for_the_callers_space_when_the_call_is_over(world: World) -> None:
    await ingest(world, document(document_id="d"), data("text"))
    calls = [*world.vector.script.calls, *world.graph.script.calls]
    assert {call.space for call in calls} == {"alice"}
    assert all(call.deadline is not None for call in calls)


async def test_good_lines_go_on_around_bad_ones(world: World) -> None:
    job = await ingest(
        world,
        *lines(
            {"id": "a", "text": "alpha"}, "{", {"id": "b", "text": ""}, {"id": "c", "text": "x"}
        ),
    )
    assert job.state == SUCCEEDED
    assert (job.documents_total, job.documents_graph_ready, job.documents_failed) == (4, 2, 2)
    assert reasons(job) == {"line 2": "is not valid JSON", "b": "line 3: text is empty"}
    assert {key for _, key in world.vector.documents} == {"a", "c"}


async def test_a_job_without_one_good_document_has_failed(world: World) -> None:
    job = await ingest(world, *lines("{", "["))
    assert job.state == FAILED
    assert job.documents_failed == 2


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"", "is empty"),
        (b"  \n", "is empty"),
        (b"a\x00b", "the document holds a NUL character"),
        (b"x" * 65_537, "must be at most 65536 bytes in all"),
    ],
)
async def test_a_document_that_is_no_text_is_a_field_error(
    world: World, content: bytes, description: str
) -> None:
    error = await refused(world, document(), data(content))
    assert error.fields == (FieldError("data", description),)


async def test_json_lines_without_a_line_are_a_field_error(world: World) -> None:
    error = await refused(world, *lines("", " "))
    assert error.fields == (FieldError("data", "holds no document"),)


async def test_a_document_that_cannot_be_read_as_what_it_is_fails_with_its_reason(
    world: World,
) -> None:
    job = await ingest(world, document("application/pdf", source="a.pdf"), data("no such file"))
    assert job.state == FAILED
    assert reasons(job) == {"a.pdf": "is not a readable PDF file"}
    job = await ingest(world, document(source="a.txt"), data(b"caf\xe9"))
    assert reasons(job) == {"a.txt": "is not UTF-8 text (byte 3)"}


async def test_the_page_of_a_chunk_is_stored(world: World) -> None:
    paged = pdf([[], ["On the second page."]])
    await ingest(world, document("application/pdf", source="a.pdf"), data(paged))
    [stored] = world.vector.documents.values()
    assert [(chunk.content, chunk.page) for chunk in stored.chunks] == [("On the second page.", 2)]


async def test_what_a_message_says_was_true_when_it_was_written(world: World) -> None:
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


async def test_the_same_upload_again_writes_nothing(world: World) -> None:
    upload = lines({"id": "a", "text": "alpha"}, {"id": "b", "text": "beta"})
    await ingest(world, *upload)
    embedded, upserts = len(world.embedder.texts), world.vector.script.count("BatchUpsertDocuments")
    job = await ingest(world, *upload)
    assert job.state == SUCCEEDED
    assert (job.documents_unchanged, job.chunks_written) == (2, 0)
    assert (job.documents_searchable, job.documents_graph_ready) == (2, 2)
    assert len(world.embedder.texts) == embedded
    assert world.vector.script.count("BatchUpsertDocuments") == upserts
    assert world.graph.writes["episodes"] == 2


async def test_what_a_crash_left_out_of_the_graph_is_there_after_the_same_upload_again(
    world: World,
) -> None:
    upload = lines({"id": "a", "text": "alpha"}, {"id": "b", "text": "beta"})
    await ingest(world, *upload)
    complete = dict(world.graph.episodes)
    world.graph.episodes.clear()
    await ingest(world, *upload)
    assert world.graph.episodes.keys() == complete.keys()


async def test_a_changed_paragraph_costs_one_embedding(world: World) -> None:
    paragraphs = [f"Paragraph {n}. " + "word " * 120 for n in range(4)]
    await ingest(world, document(document_id="d"), data("\n\n".join(paragraphs)))
    before = set(world.graph.episodes)
    world.embedder.texts.clear()
    paragraphs[3] = paragraphs[3].replace("Paragraph", "Passage")
    job = await ingest(world, document(document_id="d"), data("\n\n".join(paragraphs)))
    assert job.chunks_written == 1
    assert len(world.embedder.texts) == 1
    assert len(set(world.graph.episodes) - before) == 1


async def test_a_new_title_renews_every_vector(world: World) -> None:
    await ingest(world, document(document_id="d", title="old"), data("text"))
    await ingest(world, document(document_id="d", title="new"), data("text"))
    assert world.embedder.texts == ["old\ntext", "new\ntext"]


async def test_of_a_document_that_comes_twice_the_later_one_stays(world: World) -> None:
    await ingest(world, *lines({"id": "a", "text": "second"}))
    job = await ingest(world, *lines({"id": "a", "text": "first"}, {"id": "a", "text": "second"}))
    assert job.state == SUCCEEDED
    [stored] = world.vector.documents.values()
    assert stored.chunks[0].content == "second"


async def test_a_document_that_is_edited_under_its_former_date_holds_from_now_on(
    world: World,
) -> None:
    async def refuse_the_former_date(request: documents_pb2.BatchUpsertDocumentsRequest) -> None:
        for place, one in enumerate(request.documents):
            if one.document_id == "b" and one.HasField("valid_time"):
                field = f"documents[{place}].valid_time"
                raise InvalidFieldError(FieldError(field, "another version of the document has it"))

    world.vector.script.acts["BatchUpsertDocuments"] = refuse_the_former_date
    written = ({"id": i, "text": i, "valid_at": "2024-01-05"} for i in "abc")
    job = await ingest(world, *lines(*written))
    assert (job.state, reasons(job)) == (SUCCEEDED, {})
    dated = {d.document_id: d.HasField("valid_time") for d in world.vector.documents.values()}
    assert dated == {"a": True, "b": False, "c": True}


async def test_a_document_that_a_tier_refuses_does_not_fail_its_batch_mates(world: World) -> None:
    async def refuse_b(request: object) -> None:
        if any(d.document_id == "b" for d in getattr(request, "documents")):  # noqa: B009
            raise InvalidFieldError(FieldError("documents[1].valid_time", "is another version's"))

    world.vector.script.acts["BatchUpsertDocuments"] = refuse_b
    job = await ingest(world, *lines(*({"id": i, "text": i} for i in "abc")))
    assert job.state == SUCCEEDED
    assert reasons(job) == {"b": "is another version's"}
    assert {key for _, key in world.vector.documents} == {"a", "c"}
    assert (job.documents_searchable, job.documents_graph_ready) == (2, 2)


async def test_a_document_that_breaks_the_graph_tier_does_not_fail_its_batch_mates(
    world: World,
) -> None:
    async def break_on_b(request: object) -> None:
        if any(e.document_id == "b" for e in getattr(request, "episodes")):  # noqa: B009
            raise ValueError

    world.graph.script.acts["BatchAddEpisodes"] = break_on_b
    job = await ingest(world, *lines(*({"id": i, "text": i} for i in "abc")))
    assert set(reasons(job)) == {"b"}
    assert (job.documents_searchable, job.documents_graph_ready) == (3, 2)


@pytest.mark.parametrize(
    ("tier", "method"),
    [
        ("vector", "CheckDocuments"),
        ("vector", "GetChunks"),
        ("vector", "BatchUpsertDocuments"),
        ("graph", "BatchAddEpisodes"),
    ],
)
async def test_a_tier_that_is_away_for_a_moment_is_waited_for(
    world: World, tier: str, method: str
) -> None:
    stub = world.vector if tier == "vector" else world.graph
    stub.script.fail_times(method, 2, OverloadedError(0.01))
    job = await ingest(world, document(), data("text"))
    assert job.state == SUCCEEDED
    assert stub.script.count(method) == 3


async def test_an_embedder_that_is_away_for_a_moment_is_waited_for(world: World) -> None:
    world.embedder.failures = 2
    assert (await ingest(world, document(), data("text"))).state == SUCCEEDED


async def test_a_document_whose_text_the_embedder_refuses_is_listed_and_the_others_pass(
    world: World,
) -> None:
    world.embedder.refused = "unheard"
    good = [{"id": f"good {n}", "text": f"text {n}"} for n in range(9)]
    job = await ingest(world, *lines(*good, {"id": "bad", "text": "an unheard word"}))
    assert (job.state, job.documents_searchable) == (SUCCEEDED, len(good))
    assert reasons(job) == {"bad": "The embedding model refuses the text."}
    assert all(chunk.embedding for one in world.vector.documents.values() for chunk in one.chunks)


async def test_an_embedder_that_refuses_every_text_is_waited_for(world: World) -> None:
    world.embedder.refused = ""
    told = []
    async for job in watch(world, await submit(world, document(), data("text"))):
        told.append(job)
        if job.waiting_for:
            world.embedder.refused = None
    assert any(job.waiting_for for job in told)
    assert (told[-1].state, told[-1].documents_failed) == (SUCCEEDED, 0)


async def test_a_tier_that_stays_away_is_waited_for_and_the_job_says_so(world: World) -> None:
    world.graph.script.acts["BatchAddEpisodes"] = fail(StoreUnavailableError("neo4j", 0.01))
    told = []
    async for job in watch(world, await submit(world, document(), data("text"))):
        told.append(job)
        if job.waiting_for:
            world.graph.script.acts.clear()
    waiting = [job for job in told if job.waiting_for]
    assert {job.waiting_for for job in waiting} == {"neo4j cannot be reached now."}
    assert {(j.documents_searchable, j.documents_graph_ready) for j in waiting} == {(1, 0)}
    assert (told[-1].state, told[-1].waiting_for) == (SUCCEEDED, "")
    assert told[-1].documents_failed == 0


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (WrongStateError("Another model."), "Another model."),
        (
            InvalidFieldError(FieldError("embedding_model", "is not the space's")),
            "embedding_model: is not the space's",
        ),
    ],
)
async def test_a_space_with_another_model_fails_the_job_at_once(
    world: World, error: BraidError, reason: str
) -> None:
    world.vector.script.acts["BatchUpsertDocuments"] = fail(error)
    job = await ingest(world, *lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"}))
    assert job.state == FAILED
    assert reasons(job) == {"": reason}
    assert world.vector.script.count("BatchUpsertDocuments") == 1


async def test_a_watcher_is_told_at_once_and_to_the_end(world: World) -> None:
    states = await watched(world, await submit(world, document(), data("text")))
    assert states[-1].state == SUCCEEDED
    assert [s.documents_graph_ready for s in states] == sorted(
        s.documents_graph_ready for s in states
    )
    assert len(await watched(world, states[-1])) == 1


async def test_a_watcher_is_told_a_few_times_a_second_at_most(world: World) -> None:
    started = asyncio.get_running_loop().time()
    values = ({"id": str(n), "text": "x"} for n in range(100))
    states = await watched(world, await submit(world, *lines(*values)))
    took = asyncio.get_running_loop().time() - started
    assert len(states) <= 3 + took / 0.2


async def told_not_found(world: World, job_id: str, caller: Metadata) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as got:
        await world.ingest.GetIngestJob(
            ingest_pb2.GetIngestJobRequest(job_id=job_id), metadata=caller
        )
    with pytest.raises(grpc.aio.AioRpcError) as watching:
        request = ingest_pb2.WatchIngestJobRequest(job_id=job_id)
        _ = [one async for one in world.ingest.WatchIngestJob(request, metadata=caller)]
    assert {got.value.code(), watching.value.code()} == {grpc.StatusCode.NOT_FOUND}


async def test_a_job_is_shown_to_its_own_space_alone(world: World) -> None:
    job = await ingest(world, document(), data("text"))
    answer = await world.ingest.GetIngestJob(
        ingest_pb2.GetIngestJobRequest(job_id=job.id), metadata=ALICE
    )
    assert answer.job == job
    await told_not_found(world, job.id, BOB)
    await told_not_found(world, "00000000-0000-4000-8000-000000000000", ALICE)


async def test_the_same_document_in_two_spaces_is_two_documents(world: World) -> None:
    for caller in (ALICE, BOB):
        await ingest(world, document(document_id="d"), data("text"), caller=caller)
    assert {space for space, _ in world.vector.documents} == {"alice", "bob"}
    assert len({uuid for _, uuid in world.graph.episodes}) == 2


async def test_a_full_backlog_refuses_with_a_delay_and_keeps_what_it_has(world: World) -> None:
    released = asyncio.Event()

    async def wait(_request: object) -> None:
        await released.wait()

    world.vector.script.acts["CheckDocuments"] = wait
    jobs = [await submit(world, document(document_id=str(n)), data("text")) for n in range(3)]
    error = await refused(world, document(), data("text"))
    assert error.reason == errors_pb2.ERROR_REASON_OVERLOADED
    assert error.retry_after == 1.0
    released.set()
    for job in jobs:
        assert (await watched(world, job))[-1].state == SUCCEEDED
    assert (await ingest(world, document(), data("text"))).state == SUCCEEDED


async def test_a_space_whose_job_is_stuck_does_not_hold_up_another_one(world: World) -> None:
    async def stick_alice(request: object) -> None:
        if any(d.document_id == "stuck" for d in getattr(request, "documents")):  # noqa: B009
            await asyncio.Event().wait()

    world.vector.script.acts["CheckDocuments"] = stick_alice
    await submit(world, document(document_id="stuck"), data("text"))
    waiting = await submit(world, document(document_id="next"), data("text"))
    job = await ingest(world, document(document_id="d"), data("text"), caller=BOB)
    assert job.state == SUCCEEDED
    answer = await world.ingest.GetIngestJob(
        ingest_pb2.GetIngestJobRequest(job_id=waiting.id), metadata=ALICE
    )
    assert answer.job.documents_searchable == 0


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
    assert job.documents_graph_ready == 201
