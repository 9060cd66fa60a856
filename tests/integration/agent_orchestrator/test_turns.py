"""Turns in real PostgreSQL: one worker has one at a time, a dead one's goes to others, a lost one notes nothing."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from pgqueuer.queries import Queries
from pydantic import SecretStr

from services.agent_orchestrator.database import Database, open_database
from services.agent_orchestrator.jobs.queue import (
    GRAPH,
    SEARCH,
    SessionDriver,
    TurnLostError,
    TurnQueue,
)
from services.agent_orchestrator.jobs.records import NewJob
from services.agent_orchestrator.jobs.store import JobStore
from services.agent_orchestrator.jobs.work import GraphOutcome, ReadJob, Searchable, WorkStore
from services.agent_orchestrator.settings import AgentSettings
from tests.stores import TestDatabase

LEASE = 0.3
ONE, OTHER = uuid.uuid4(), uuid.uuid4()


@dataclass
class Desk:
    """What a test of one database works with."""

    database: Database
    turns: TurnQueue
    jobs: JobStore
    work: WorkStore

    async def upload(self, space: str = "s") -> str:
        """Accepts an upload of one document; its job's id."""
        new = NewJob(space, "", "", "upload", {}, documents_total=1, data=b"text")
        return (await self.jobs.enqueue(new)).id

    async def read(self, job_id: str) -> None:
        """Takes the search turn, notes the upload's document as searchable, and gives the turn back."""
        [turn] = await self.turns.take(ONE, SEARCH, 1)
        await self.work.take_uploads(turn, (), count=9, size=9)
        await self.work.note_read(turn, [searchable(job_id)])
        await self.work.end_turn(turn)


def searchable(job_id: str) -> ReadJob:
    document = Searchable(0, "d", 1, b"", unchanged=False, chunks_added=1)
    return ReadJob(job_id, 1, read=True, searchable=[document], failures=[])


@pytest.fixture
async def desk(agent_database: TestDatabase) -> AsyncIterator[Desk]:
    settings = AgentSettings(database_url=SecretStr(agent_database.dsn("braid_agent")))
    async with open_database(settings, "test") as database:
        turns = TurnQueue(database, lease_seconds=LEASE)
        yield Desk(database, turns, JobStore(database, turns), WorkStore(database, turns))


async def test_a_space_has_one_turn_however_many_uploads_it_has(desk: Desk) -> None:
    for _ in range(3):
        await desk.upload()
    assert len(await desk.turns.take(ONE, SEARCH, 9)) == 1
    assert await desk.turns.take(OTHER, SEARCH, 9) == []


async def test_turns_are_taken_in_the_order_they_were_asked_for_and_go_behind_the_others(
    desk: Desk,
) -> None:
    for space in ("a", "b"):
        await desk.upload(space)
    [turn] = await desk.turns.take(ONE, SEARCH, 1)
    assert turn.key == "a"
    await desk.work.end_turn(turn)
    assert [t.key for t in await desk.turns.take(ONE, SEARCH, 9)] == ["b", "a"]


async def test_a_turn_that_is_not_beaten_for_goes_to_another_worker(desk: Desk) -> None:
    job_id = await desk.upload()
    [dead] = await desk.turns.take(ONE, SEARCH, 1)
    async with asyncio.timeout(5):
        while not (taken := await desk.turns.take(OTHER, SEARCH, 1)):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    assert taken[0].id == dead.id
    assert await desk.turns.renew(ONE, [dead]) == set()
    with pytest.raises(TurnLostError):
        await desk.work.note_read(dead, [searchable(job_id)])
    with pytest.raises(TurnLostError):
        await desk.work.end_turn(dead)
    job = await desk.jobs.get("s", job_id)
    assert job.documents_searchable == 0


async def test_a_turn_that_is_beaten_for_stays(desk: Desk) -> None:
    await desk.upload()
    [turn] = await desk.turns.take(ONE, SEARCH, 1)
    for _ in range(6):
        await asyncio.sleep(LEASE / 4)
        assert await desk.turns.renew(ONE, [turn]) == {turn.id}
        assert await desk.turns.take(OTHER, SEARCH, 1) == []


async def test_what_is_accepted_while_a_turn_ends_has_a_turn(desk: Desk) -> None:
    """Uploads race with the end of the turn that would have read them: none is left without one."""
    for _ in range(20):
        job_id = await desk.upload()
        [turn] = await desk.turns.take(ONE, SEARCH, 1)
        await desk.work.take_uploads(turn, (), count=9, size=9)
        await desk.work.note_read(turn, [searchable(job_id)])
        late, _ = await asyncio.gather(desk.upload(), desk.work.end_turn(turn))
        await desk.read(late)
        assert await desk.turns.take(ONE, SEARCH, 1) == []


async def test_a_job_ends_when_its_documents_are_in_the_graph_and_its_bytes_are_gone_then(
    desk: Desk,
) -> None:
    job_id = await desk.upload()
    await desk.read(job_id)
    [turn] = await desk.turns.take(ONE, GRAPH, 1)
    documents = await desk.work.next_documents(turn, count=9, chunks=9)
    assert [document.document_id for document in documents] == ["d"]
    assert (await desk.jobs.backlog()).jobs == 1

    await desk.work.note_graph(turn, GraphOutcome(documents))
    await desk.work.end_turn(turn)
    job = await desk.jobs.get("s", job_id)
    assert (job.state, job.documents_graph_ready) == ("succeeded", 1)
    assert await desk.jobs.backlog() == (0, 0)
    async with desk.database.pool.session() as session:
        assert await session.value("select count(*) from job_input") == 0
        assert await session.value("select count(*) from document") == 0


async def test_work_whose_turn_was_removed_from_the_queue_is_found(desk: Desk) -> None:
    await desk.upload()
    async with desk.database.pool.session() as session:
        await session.execute("delete from pgqueuer")
    assert await desk.turns.take(ONE, SEARCH, 1) == []
    await desk.work.ask_for_stranded()
    assert [turn.key for turn in await desk.turns.take(ONE, SEARCH, 1)] == ["s"]


async def test_an_upload_that_ended_its_worker_before_is_taken_up_alone(desk: Desk) -> None:
    for _ in range(3):
        await desk.upload()
    [turn] = await desk.turns.take(ONE, SEARCH, 1)
    taken = [await desk.work.take_uploads(turn, (), count=9, size=99) for _ in range(4)]
    assert [len(uploads) for uploads in taken] == [3, 3, 1, 1]


async def test_the_queues_tables_are_what_the_library_declares(desk: Desk) -> None:

    async with desk.database.pool.session() as session:
        plan = await Queries(SessionDriver(session)).plan_upgrade()
    assert list(plan.statements) == []
