"""Turns in real PostgreSQL: one worker has one at a time, a dead one's goes to others, a lost one notes nothing."""

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
from tests.integration.agent_orchestrator.desk import LEASE, ONE, OTHER, Desk, searchable


async def test_a_space_has_one_turn_however_many_uploads_it_has(desk: Desk) -> None:
    for _ in range(3):
        await desk.upload()
    assert len(await desk.turns.claim(ONE, SEARCH, 9)) == 1
    assert await desk.turns.claim(OTHER, SEARCH, 9) == []


async def test_turns_are_taken_in_the_order_they_were_asked_for_and_go_behind_the_others(
    desk: Desk,
) -> None:
    for space in ("a", "b"):
        await desk.upload(space)
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    assert turn.key == "a"
    await desk.work.end_turn(turn)
    assert [t.key for t in await desk.turns.claim(ONE, SEARCH, 9)] == ["b", "a"]


async def test_a_turn_that_is_not_beaten_for_goes_to_another_worker(desk: Desk) -> None:
    job_id = await desk.upload()
    [dead] = await desk.turns.claim(ONE, SEARCH, 1)
    async with asyncio.timeout(5):
        while not (taken := await desk.turns.claim(OTHER, SEARCH, 1)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert taken[0].id == dead.id
    assert await desk.turns.renew(ONE, [dead]) == set()
    with pytest.raises(TurnLostError):
        await desk.work.record_read(dead, [searchable(job_id)])
    with pytest.raises(TurnLostError):
        await desk.work.end_turn(dead)
    job = await desk.jobs.get("s", job_id)
    assert job.documents_searchable == 0


async def test_a_turn_that_is_beaten_for_stays(desk: Desk) -> None:
    await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    for _ in range(6):
        await asyncio.sleep(LEASE / 4)
        assert await desk.turns.renew(ONE, [turn]) == {turn.id}
        assert await desk.turns.claim(OTHER, SEARCH, 1) == []


async def test_what_is_accepted_while_a_turn_ends_has_a_turn(desk: Desk) -> None:
    """Uploads race with the end of the turn that would have read them: none is left without one."""
    for _ in range(20):
        job_id = await desk.upload()
        [turn] = await desk.turns.claim(ONE, SEARCH, 1)
        await desk.work.claim_uploads(turn, (), count=9, size=9)
        await desk.work.record_read(turn, [searchable(job_id)])
        late, _ = await asyncio.gather(desk.upload(), desk.work.end_turn(turn))
        await desk.read(late)
        assert await desk.turns.claim(ONE, SEARCH, 1) == []


async def test_a_job_ends_when_its_documents_are_in_the_graph_and_its_bytes_are_gone_then(
    desk: Desk,
) -> None:
    job_id = await desk.upload()
    await desk.read(job_id)
    [turn] = await desk.turns.claim(ONE, GRAPH, 1)
    documents = await desk.work.next_documents(turn, count=9, chunks=9)
    assert [document.document_id for document in documents] == ["d"]
    assert await desk.jobs.backlog() == {"s": (1, 0)}

    await desk.work.note_graph(turn, GraphOutcome(documents))
    await desk.work.end_turn(turn)
    job = await desk.jobs.get("s", job_id)
    assert (job.state, job.documents_graph_ready) == ("succeeded", 1)
    assert await desk.jobs.backlog() == {}
    async with desk.database.pool.session() as session:
        assert await session.value("select count(*) from job_input") == 0
        assert await session.value("select count(*) from document") == 0


async def test_an_upload_comes_without_the_bytes_that_were_read_until_it_is_tried_again(
    desk: Desk,
) -> None:
    job_id = await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    [first] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    read = ReadJob(job_id, 1, read=False, searchable=[], failures=[], offset=3, line=1)
    await desk.work.record_read(turn, [read])
    [rest] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert (first.data, first.offset, first.line) == (b"text", 0, 0)
    assert (rest.data, rest.position, rest.offset, rest.line) == (b"t", 1, 3, 1)
    await desk.jobs.cancel("s", job_id)
    await desk.jobs.retry("s", job_id)
    [again] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert (again.data, again.position, again.reached, again.offset) == (b"text", 0, 1, 0)


async def changed_by_a_former_program(desk: Desk, change: str) -> tuple[Turn, ReadJob]:
    """An upload read as far as its second byte, whose job a program that knows no offsets has then changed."""
    job_id = await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    read = ReadJob(job_id, 1, read=False, searchable=[], failures=[], offset=2, line=1)
    await desk.work.record_read(turn, [read])
    async with desk.database.pool.session() as session:
        await session.execute(change)
    return turn, read


async def test_an_upload_that_a_former_program_read_on_comes_from_its_beginning(desk: Desk) -> None:
    turn, read = await changed_by_a_former_program(desk, "update job set position = 2")
    [taken] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"text", 2, 0, 0)
    await desk.work.record_read(turn, [replace(read, position=3, offset=3, line=2)])
    [taken] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"t", 3, 3, 2)


async def test_an_upload_that_a_former_program_tries_again_comes_from_its_beginning(
    desk: Desk,
) -> None:
    turn, _ = await changed_by_a_former_program(
        desk, "update job set reached = position, position = 0"
    )
    [taken] = await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert (taken.data, taken.position, taken.offset, taken.line) == (b"text", 0, 0, 0)


async def test_a_job_that_is_cancelled_and_tried_again_while_it_is_read_is_read_anew(
    desk: Desk,
) -> None:
    job_id = await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    await desk.work.claim_uploads(turn, (), count=9, size=9)
    assert await desk.work.unchanged({job_id: 0}) == {job_id}
    await desk.jobs.cancel("s", job_id)
    assert await desk.work.unchanged({job_id: 0}) == set()
    await desk.jobs.retry("s", job_id)
    assert await desk.work.unchanged({job_id: 0}) == set()

    await desk.work.record_read(turn, [searchable(job_id)])
    await desk.work.end_turn(turn)
    job = await desk.jobs.get("s", job_id)
    assert (job.state, job.documents_searchable) == ("queued", 0)

    await desk.read(job_id)
    [turn] = await desk.turns.claim(ONE, GRAPH, 1)
    documents = await desk.work.next_documents(turn, count=9, chunks=9)
    await desk.work.note_graph(turn, GraphOutcome(documents))
    job = await desk.jobs.get("s", job_id)
    assert (job.state, job.documents_searchable, job.documents_graph_ready) == ("succeeded", 1, 1)


async def test_what_a_cancelled_job_made_searchable_goes_on_to_the_graph_and_its_job_is_kept_until_then(
    desk: Desk,
) -> None:
    job_id = await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    await desk.work.claim_uploads(turn, (), count=9, size=9)
    await desk.jobs.cancel("s", job_id)
    await desk.work.record_read(turn, [searchable(job_id)])
    async with desk.database.pool.session() as session:
        await session.execute("update job set end_time = now() - interval '9 days'")
    await desk.work.purge(1)
    assert (await desk.jobs.get("s", job_id)).state == "cancelled"

    [turn] = await desk.turns.claim(ONE, GRAPH, 1)
    documents = await desk.work.next_documents(turn, count=9, chunks=9)
    await desk.work.note_graph(turn, GraphOutcome(documents))
    await desk.work.purge(1)
    with pytest.raises(NotFoundError):
        await desk.jobs.get("s", job_id)


async def test_work_whose_turn_was_removed_from_the_queue_is_found(desk: Desk) -> None:
    await desk.upload()
    async with desk.database.pool.session() as session:
        await session.execute("delete from turn")
    assert await desk.turns.claim(ONE, SEARCH, 1) == []
    await desk.work.request_unqueued_turns()
    assert [turn.key for turn in await desk.turns.claim(ONE, SEARCH, 1)] == ["s"]


async def test_an_upload_that_ended_its_worker_before_is_taken_up_alone(desk: Desk) -> None:
    for _ in range(3):
        await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    taken = [await desk.work.claim_uploads(turn, (), count=9, size=99) for _ in range(4)]
    assert [len(uploads) for uploads in taken] == [3, 3, 1, 1]


async def test_a_listed_job_has_its_first_failures_and_a_single_one_all(desk: Desk) -> None:
    job_id = await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    failures = [Failure(n, f"line {n}", SEARCH, "is odd") for n in range(2 * LISTED_FAILURES)]
    await desk.work.record_read(turn, [replace(searchable(job_id), failures=failures)])
    [listed] = await desk.jobs.page("s", before=LAST_NUMBER, states=STATES, size=9)
    assert list(listed.failures) == failures[:LISTED_FAILURES]
    assert listed.documents_failed == len(failures)
    assert list((await desk.jobs.get("s", job_id)).failures) == failures


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
async def test_an_upload_of_several_documents_may_bring_any_and_one_of_a_named_one_that(
    desk: Desk, upload: dict[str, str], *, brings_d: bool
) -> None:
    async with desk.database.pool.session() as session:
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
async def test_what_a_later_job_may_have_brought_or_deleted_is_not_written_over(
    desk: Desk, old: str, kind: str, arguments: dict[str, str], *, superseded: bool
) -> None:
    named = {"content_type": PLAIN, "document_id": "d"}
    failed = await desk.jobs.enqueue(NewJob("s", "", "", old, named, documents_total=1, data=b"x"))
    async with desk.database.pool.session() as session:
        await session.execute(
            "insert into job_failure (job_id, position, space, document_id, stage, reason) "
            "values ($1, -1, 's', '', 'search', 'told')",
            uuid.UUID(failed.id),
        )
    assert not await desk.jobs.superseded("s", failed.id)
    await desk.jobs.enqueue(NewJob("elsewhere", "", "", kind, arguments))
    assert not await desk.jobs.superseded("s", failed.id)
    await desk.jobs.enqueue(NewJob("s", "", "", kind, arguments))
    assert await desk.jobs.superseded("s", failed.id) == superseded


@pytest.mark.parametrize("more", [0, 1, 700_000])
async def test_an_upload_is_kept_as_it_was_sent_however_long_it_is(desk: Desk, more: int) -> None:
    data = bytes(range(256)) * (MAX_AT_ONCE // 256) + b"x" * more
    await desk.jobs.enqueue(NewJob("s", "", "", "upload", {}, documents_total=1, data=data))
    await desk.upload()
    [turn] = await desk.turns.claim(ONE, SEARCH, 1)
    first, second = await desk.work.claim_uploads(turn, (), count=9, size=2 * len(data))
    assert first.data == data
    assert second.data == b"text"
