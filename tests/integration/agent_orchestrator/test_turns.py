"""Turns in real PostgreSQL: one worker holds a space's turn, an expired one moves on, a lost one records nothing."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import replace

import pytest

from services.agent_orchestrator.ingest.content_types import JSON_LINES, MESSAGES, PLAIN
from services.agent_orchestrator.jobs.queue import (
    GRAPH,
    SEARCH,
    Turn,
    TurnLostError,
)
from services.agent_orchestrator.jobs.records import STATES, Failure, NewJob
from services.agent_orchestrator.jobs.store import LAST_NUMBER, LISTED_FAILURES, MAX_AT_ONCE
from services.agent_orchestrator.jobs.work_store import GraphOutcome, ReadJob
from services.runtime.errors import NotFoundError
from tests.integration.agent_orchestrator.job_stores import LEASE, ONE, OTHER, JobStores, searchable


async def test_a_space_has_one_turn_however_many_uploads_it_has(job_stores: JobStores) -> None:
    for _ in range(3):
        await job_stores.upload()
    assert len(await job_stores.turns.claim(ONE, SEARCH, 9)) == 1
    assert await job_stores.turns.claim(OTHER, SEARCH, 9) == []


async def test_turns_are_claimed_in_order_and_requeued_behind_the_others(
    job_stores: JobStores,
) -> None:
    for space in ("a", "b"):
        await job_stores.upload(space)
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    assert turn.key == "a"
    await job_stores.work.end_turn(turn)
    assert [t.key for t in await job_stores.turns.claim(ONE, SEARCH, 9)] == ["b", "a"]


async def test_a_turn_whose_lease_expires_moves_to_another_worker(job_stores: JobStores) -> None:
    job_id = await job_stores.upload()
    [dead] = await job_stores.turns.claim(ONE, SEARCH, 1)
    async with asyncio.timeout(5):
        while not (taken := await job_stores.turns.claim(OTHER, SEARCH, 1)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert taken[0].id == dead.id
    assert await job_stores.turns.renew(ONE, [dead]) == set()
    with pytest.raises(TurnLostError):
        await job_stores.work.record_read(dead, [searchable(job_id)])
    with pytest.raises(TurnLostError):
        await job_stores.work.end_turn(dead)
    job = await job_stores.jobs.get("s", job_id)
    assert job.documents_searchable == 0


async def test_a_renewed_turn_stays_with_its_worker(job_stores: JobStores) -> None:
    await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    for _ in range(6):
        await asyncio.sleep(LEASE / 4)
        assert await job_stores.turns.renew(ONE, [turn]) == {turn.id}
        assert await job_stores.turns.claim(OTHER, SEARCH, 1) == []


async def test_an_upload_accepted_while_a_turn_ends_gets_a_turn(job_stores: JobStores) -> None:
    """Uploads race with the end of the turn that would have read them; none may be left without a turn."""
    for _ in range(20):
        job_id = await job_stores.upload()
        [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
        await job_stores.work.claim_uploads(turn, (), count=9, size=9)
        await job_stores.work.record_read(turn, [searchable(job_id)])
        late, _ = await asyncio.gather(job_stores.upload(), job_stores.work.end_turn(turn))
        await job_stores.read(late)
        assert await job_stores.turns.claim(ONE, SEARCH, 1) == []


async def test_a_job_ends_and_its_data_is_deleted_once_its_documents_are_in_the_graph(
    job_stores: JobStores,
) -> None:
    job_id = await job_stores.upload()
    await job_stores.read(job_id)
    [turn] = await job_stores.turns.claim(ONE, GRAPH, 1)
    documents = await job_stores.work.next_documents(turn, count=9, chunks=9)
    assert [document.document_id for document in documents] == ["d"]
    assert await job_stores.jobs.backlog() == {"s": (1, 0)}

    await job_stores.work.note_graph(turn, GraphOutcome(documents))
    await job_stores.work.end_turn(turn)
    job = await job_stores.jobs.get("s", job_id)
    assert (job.state, job.documents_graph_ready) == ("succeeded", 1)
    assert await job_stores.jobs.backlog() == {}
    async with job_stores.database.pool.session() as session:
        assert await session.value("select count(*) from job_input") == 0
        assert await session.value("select count(*) from document") == 0


async def test_an_upload_is_claimed_from_its_offset_and_after_a_retry_from_the_beginning(
    job_stores: JobStores,
) -> None:
    job_id = await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    [first] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    read = ReadJob(job_id, 1, read=False, searchable=[], failures=[], offset=3, line=1)
    await job_stores.work.record_read(turn, [read])
    [rest] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert (first.data, first.offset, first.line) == (b"text", 0, 0)
    assert (rest.data, rest.position, rest.offset, rest.line) == (b"t", 1, 3, 1)
    await job_stores.jobs.cancel("s", job_id)
    await job_stores.jobs.retry("s", job_id)
    [again] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert (again.data, again.position, again.reached, again.offset) == (b"text", 0, 1, 0)


async def changed_by_an_older_release(job_stores: JobStores, change: str) -> tuple[Turn, ReadJob]:
    """An upload read up to its second byte, whose job an older release without offsets then changed."""
    job_id = await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    read = ReadJob(job_id, 1, read=False, searchable=[], failures=[], offset=2, line=1)
    await job_stores.work.record_read(turn, [read])
    async with job_stores.database.pool.session() as session:
        await session.execute(change)
    return turn, read


async def test_an_upload_that_an_older_release_advanced_is_claimed_from_the_beginning(
    job_stores: JobStores,
) -> None:
    turn, read = await changed_by_an_older_release(job_stores, "update job set position = 2")
    [taken] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"text", 2, 0, 0)
    await job_stores.work.record_read(turn, [replace(read, position=3, offset=3, line=2)])
    [taken] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"t", 3, 3, 2)


async def test_an_upload_that_an_older_release_retried_is_claimed_from_the_beginning(
    job_stores: JobStores,
) -> None:
    turn, _ = await changed_by_an_older_release(
        job_stores, "update job set reached = position, position = 0"
    )
    [taken] = await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"text", 0, 0, 0)


async def test_a_job_canceled_and_retried_while_it_is_read_is_read_again(
    job_stores: JobStores,
) -> None:
    job_id = await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    assert await job_stores.work.unchanged({job_id: 0}) == {job_id}
    await job_stores.jobs.cancel("s", job_id)
    assert await job_stores.work.unchanged({job_id: 0}) == set()
    await job_stores.jobs.retry("s", job_id)
    assert await job_stores.work.unchanged({job_id: 0}) == set()

    await job_stores.work.record_read(turn, [searchable(job_id)])
    await job_stores.work.end_turn(turn)
    job = await job_stores.jobs.get("s", job_id)
    assert (job.state, job.documents_searchable) == ("queued", 0)

    await job_stores.read(job_id)
    [turn] = await job_stores.turns.claim(ONE, GRAPH, 1)
    documents = await job_stores.work.next_documents(turn, count=9, chunks=9)
    await job_stores.work.note_graph(turn, GraphOutcome(documents))
    job = await job_stores.jobs.get("s", job_id)
    assert (job.state, job.documents_searchable, job.documents_graph_ready) == ("succeeded", 1, 1)


async def test_a_canceled_job_is_kept_until_its_searchable_documents_are_in_the_graph(
    job_stores: JobStores,
) -> None:
    job_id = await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    await job_stores.work.claim_uploads(turn, (), count=9, size=9)
    await job_stores.jobs.cancel("s", job_id)
    await job_stores.work.record_read(turn, [searchable(job_id)])
    async with job_stores.database.pool.session() as session:
        await session.execute("update job set end_time = now() - interval '9 days'")
    await job_stores.work.purge(1)
    assert (await job_stores.jobs.get("s", job_id)).state == "cancelled"

    [turn] = await job_stores.turns.claim(ONE, GRAPH, 1)
    documents = await job_stores.work.next_documents(turn, count=9, chunks=9)
    await job_stores.work.note_graph(turn, GraphOutcome(documents))
    await job_stores.work.purge(1)
    with pytest.raises(NotFoundError):
        await job_stores.jobs.get("s", job_id)


async def test_work_whose_turn_is_missing_from_the_queue_is_requeued(job_stores: JobStores) -> None:
    await job_stores.upload()
    async with job_stores.database.pool.session() as session:
        await session.execute("delete from turn")
    assert await job_stores.turns.claim(ONE, SEARCH, 1) == []
    await job_stores.work.request_unqueued_turns()
    assert [turn.key for turn in await job_stores.turns.claim(ONE, SEARCH, 1)] == ["s"]


async def test_an_upload_claimed_repeatedly_without_progress_is_claimed_alone(
    job_stores: JobStores,
) -> None:
    for _ in range(3):
        await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    taken = [await job_stores.work.claim_uploads(turn, (), count=9, size=99) for _ in range(4)]
    assert [len(uploads) for uploads in taken] == [3, 3, 1, 1]


async def test_a_listed_job_has_its_first_failures_and_a_fetched_job_has_all(
    job_stores: JobStores,
) -> None:
    job_id = await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    failures = [Failure(n, f"line {n}", SEARCH, "is odd") for n in range(2 * LISTED_FAILURES)]
    await job_stores.work.record_read(turn, [replace(searchable(job_id), failures=failures)])
    [listed] = await job_stores.jobs.page("s", before=LAST_NUMBER, states=STATES, size=9)
    assert list(listed.failures) == failures[:LISTED_FAILURES]
    assert listed.documents_failed == len(failures)
    assert list((await job_stores.jobs.get("s", job_id)).failures) == failures


@pytest.mark.parametrize(
    ("upload", "brings_d"),
    [
        ({"content_type": MESSAGES, "document_id": "x"}, True),
        ({"content_type": JSON_LINES, "document_id": "x"}, True),
        ({"content_type": PLAIN, "document_id": "x", "source": "d"}, False),
        ({"content_type": PLAIN, "document_id": "", "source": "d"}, True),
        ({"content_type": PLAIN, "document_id": "", "source": ""}, True),
    ],
)
async def test_may_bring_matches_uploads_that_can_contain_the_document(
    job_stores: JobStores, upload: dict[str, str], *, brings_d: bool
) -> None:
    async with job_stores.database.pool.session() as session:
        found = await session.value("select may_bring($1::jsonb, 'd')", json.dumps(upload))
    assert found == brings_d


@pytest.mark.parametrize(
    ("kind", "arguments", "superseded"),
    [
        ("upload", {"content_type": PLAIN, "document_id": "d"}, True),
        ("upload", {"content_type": PLAIN, "document_id": "other"}, False),
        ("upload", {"content_type": JSON_LINES, "document_id": ""}, True),
        ("delete", {"document_id": "d"}, True),
        ("delete", {"document_id": "other"}, False),
    ],
)
@pytest.mark.parametrize("old", ["upload", "delete"])
async def test_a_job_is_superseded_by_a_later_upload_or_deletion_of_its_document(
    job_stores: JobStores, old: str, kind: str, arguments: dict[str, str], *, superseded: bool
) -> None:
    named = {"content_type": PLAIN, "document_id": "d"}
    failed = await job_stores.jobs.enqueue(
        NewJob("s", "", "", old, named, documents_total=1, data=b"x")
    )
    async with job_stores.database.pool.session() as session:
        await session.execute(
            "insert into job_failure (job_id, position, space, document_id, stage, reason) "
            "values ($1, -1, 's', '', 'search', 'failed')",
            uuid.UUID(failed.id),
        )
    assert not await job_stores.jobs.superseded("s", failed.id)
    await job_stores.jobs.enqueue(NewJob("elsewhere", "", "", kind, arguments))
    assert not await job_stores.jobs.superseded("s", failed.id)
    await job_stores.jobs.enqueue(NewJob("s", "", "", kind, arguments))
    assert await job_stores.jobs.superseded("s", failed.id) == superseded


@pytest.mark.parametrize("more", [0, 1, 700_000])
async def test_an_upload_of_any_length_is_stored_unchanged(
    job_stores: JobStores, more: int
) -> None:
    data = bytes(range(256)) * (MAX_AT_ONCE // 256) + b"x" * more
    await job_stores.jobs.enqueue(NewJob("s", "", "", "upload", {}, documents_total=1, data=data))
    await job_stores.upload()
    [turn] = await job_stores.turns.claim(ONE, SEARCH, 1)
    first, second = await job_stores.work.claim_uploads(turn, (), count=9, size=2 * len(data))
    assert first.data == data
    assert second.data == b"text"
