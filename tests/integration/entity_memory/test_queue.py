"""Writes are queued durably: none is lost or saved twice, and later ones wait for earlier ones."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence

import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.queue import (
    MAX_ATTEMPTS,
    MAX_ATTEMPTS_UNAVAILABLE,
    TOO_SLOW,
    UNAVAILABLE,
    UNENDED,
    MemoryWrites,
)
from services.agent_orchestrator.entity_memory.records import (
    NamedEnd,
    NewEntity,
    NewRelationship,
    Owner,
    Provenance,
)
from services.agent_orchestrator.entity_memory.turns import TurnNews
from services.runtime.errors import StoreUnavailableError
from tests.integration.entity_memory.conftest import ALICE, World

OWNER = Owner("acme", "alice")


class ScriptedExtractor:
    """An extractor that relates the user by USES to each capitalized word of a turn."""

    def __init__(self) -> None:
        self.failures = 0
        self.turns: list[Sequence[str]] = []
        self.reading = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """See `Extractor`."""
        self.turns.append(turns)
        if self.failures:
            self.failures -= 1
            raise StoreUnavailableError("the model")
        self.reading.set()
        await self.may_go_on.wait()
        return TurnNews(
            tuple(
                NewRelationship(
                    NamedEnd(),
                    RelationshipType.USES,
                    NamedEnd(name=word, type=EntityType.TOOL),
                )
                for word in turns[-1].split()
                if word[0].isupper()
            ),
            (),
        )


@pytest.fixture
def extractor() -> ScriptedExtractor:
    """The extractor that reads the turns."""
    return ScriptedExtractor()


@pytest.fixture
async def writes(world: World, extractor: ScriptedExtractor) -> AsyncIterator[MemoryWrites]:
    """The queue of another process, which processes writes only when a test calls `work_off`."""
    queue = MemoryWrites(world.pool, world.parts.memory, extractor)
    yield queue
    await queue.close()


async def queue_turn(world: World, writes: MemoryWrites, text: str, message: str) -> None:
    """Queues a turn that only `work_off` processes: for the service's own worker it is not due."""
    async with world.pool.transaction() as session:
        await writes.queue_turn(session, OWNER, Provenance("c1", message), text)
        await session.execute("update memory_write set due_time = now() + interval '1 hour'")


async def test_a_turn_that_is_delivered_twice_is_saved_once(world: World) -> None:
    seen = pb.MemoryProvenance(conversation_id="c1", message_id="m1")
    request = pb.SaveTurnRequest(turns=["I use Vim."], provenance=seen)
    first, second = [await world.stub.SaveTurn(request, metadata=ALICE) for _ in range(2)]
    assert (first.already_saved, second.already_saved) == (False, True)
    assert [one.target.name for one in first.relationships] == ["Vim"]
    found = await world.stub.QueryRelationships(pb.QueryRelationshipsRequest(), metadata=ALICE)
    assert [(one.target.name, one.mention_count) for one in found.relationships] == [("Vim", 1)]


async def test_a_turn_of_100_kb_is_saved_within_the_deadline(world: World) -> None:
    text = "I use Vim. " + "The quick brown fox jumps over the lazy dog. " * 2_300
    answer = await world.stub.SaveTurn(pb.SaveTurnRequest(turns=[text]), metadata=ALICE, timeout=30)
    assert [one.target.name for one in answer.relationships] == ["Vim"]


async def test_concurrent_workers_process_each_queued_write_once(
    world: World, writes: MemoryWrites
) -> None:
    tool = NewEntity("Kafka", EntityType.TOOL)
    for key in ("tool 1 1", "tool 1 1", "tool 1 2"):
        await writes.queue_entity(OWNER, key, Provenance("c1", key), tool)
    done = await asyncio.gather(*(writes.work_off(OWNER, 20) for _ in range(3)))
    assert done == [True, True, True]
    found = await world.stub.QueryEntities(pb.QueryEntitiesRequest(), metadata=ALICE)
    assert [(hit.entity.name, hit.entity.mention_count) for hit in found.hits] == [("Kafka", 2)]


async def test_a_queued_relationship_is_found_once_it_is_processed(
    world: World, writes: MemoryWrites
) -> None:
    new = NewRelationship(
        NamedEnd(), RelationshipType.USES, NamedEnd(name="Grafana", type=EntityType.TOOL)
    )
    await writes.queue_relationship(OWNER, "tool 1 1", Provenance("c1", "m1"), new)
    assert await writes.work_off(OWNER, 20)
    assert await world.answers("What do I use?") == ["Grafana"]


async def test_a_write_is_not_queued_if_its_transaction_is_rolled_back(
    world: World, writes: MemoryWrites
) -> None:
    with pytest.raises(RuntimeError):
        async with world.pool.transaction() as session:
            await writes.queue_turn(session, OWNER, Provenance("c1", "m1"), "We use Vim")
            raise RuntimeError
    assert await writes.work_off(OWNER, 20)
    assert await world.names() == []


async def test_a_write_to_an_unknown_id_is_dropped_and_blocks_no_other_write(
    world: World, writes: MemoryWrites
) -> None:
    unknown = NewRelationship(NamedEnd(), RelationshipType.USES, NamedEnd(id=str(uuid.uuid4())))
    await writes.queue_relationship(OWNER, "a", Provenance(), unknown)
    await writes.queue_entity(OWNER, "b", Provenance(), NewEntity("Vim", EntityType.TOOL))
    assert await writes.work_off(OWNER, 20)
    assert await world.names() == ["Vim"]


async def test_the_text_of_a_write_is_deleted_once_it_is_saved(
    world: World, writes: MemoryWrites
) -> None:
    await queue_turn(world, writes, "we use Vim", "m1")
    assert await writes.work_off(OWNER, 20)
    async with world.parts.memory.store.reading(OWNER) as rows:
        left = await rows.session.value(
            "select count(*) from memory_write where payload is not null"
        )
        kept = await rows.session.value("select count(*) from memory_write")
    assert (left, kept) == (0, 1)


async def test_a_turn_that_takes_longer_than_a_lease_is_read_once(
    world: World, extractor: ScriptedExtractor
) -> None:
    queues = [
        MemoryWrites(world.pool, world.parts.memory, extractor, lease_seconds=0.3) for _ in range(2)
    ]
    extractor.may_go_on.clear()
    await queue_turn(world, queues[0], "we use Vim", "m1")
    working = [asyncio.create_task(queue.work_off(OWNER, 20)) for queue in queues]
    leases: set[object] = set()
    while len(leases) < 5:
        leases.add(await lease_of(world))
        await asyncio.sleep(0.02)
    extractor.may_go_on.set()
    assert await asyncio.gather(*working) == [True, True]
    assert len(extractor.turns) == 1
    assert await world.names() == ["Vim"]


async def test_a_later_write_waits_while_an_earlier_one_is_processed(
    world: World, writes: MemoryWrites, extractor: ScriptedExtractor
) -> None:
    """Otherwise a withdrawal could run before the withdrawn statement is saved, and the statement would stay."""
    other = MemoryWrites(world.pool, world.parts.memory, extractor)
    extractor.may_go_on.clear()
    await queue_turn(world, writes, "we use Vim", "m1")
    first = asyncio.create_task(writes.work_off(OWNER, 20))
    await asyncio.wait_for(extractor.reading.wait(), 20)
    await queue_turn(world, other, "we use Emacs", "m2")
    assert not await other.work_off(OWNER, 0.3)
    assert [turns[-1] for turns in extractor.turns] == ["we use Vim"]
    extractor.may_go_on.set()
    assert await first
    assert await other.work_off(OWNER, 20)
    assert [turns[-1] for turns in extractor.turns] == ["we use Vim", "we use Emacs"]
    await other.close()


async def test_a_failed_write_is_retried_only_when_it_is_due(
    world: World, writes: MemoryWrites, extractor: ScriptedExtractor
) -> None:
    await queue_turn(world, writes, "we use Vim", "m1")
    extractor.failures = 1
    assert not await writes.work_off(OWNER, 20)
    assert len(extractor.turns) == 1
    assert await writes.work_off(OWNER, 20)
    assert await world.names() == ["Vim"]


async def test_the_retry_delay_of_a_write_is_capped(
    world: World, writes: MemoryWrites, extractor: ScriptedExtractor
) -> None:
    await queue_turn(world, writes, "we use Vim", "m1")
    async with world.pool.transaction() as session:
        await session.execute(writes._queries["set_owner"], *OWNER, "")
        await session.execute(
            "update memory_write set attempt_count = $1, failure = $2",
            MAX_ATTEMPTS_UNAVAILABLE - 2,
            UNAVAILABLE,
        )
    extractor.failures = 1
    assert not await writes.work_off(OWNER, 20)
    async with world.parts.memory.store.reading(OWNER) as rows:
        wait = await rows.session.value(
            "select extract(epoch from due_time - now())::float from memory_write"
        )
    assert 0 < wait <= 300


async def test_the_writes_of_a_dead_process_are_processed_by_another(
    world: World, extractor: ScriptedExtractor
) -> None:
    dying, other = (
        MemoryWrites(world.pool, world.parts.memory, extractor, lease_seconds=0.2) for _ in range(2)
    )
    extractor.may_go_on.clear()
    await queue_turn(world, dying, "we use Vim", "m1")
    assert not await dying.work_off(OWNER, 0.1)
    await dying.close()
    extractor.may_go_on.set()
    assert await other.work_off(OWNER, 20)
    assert await world.names() == ["Vim"]


async def lease_of(world: World) -> object:
    """The time at which the lease of the only write ends."""
    async with world.parts.memory.store.reading(OWNER) as rows:
        return await rows.session.value("select lease_time from memory_write")


class HangingExtractor(ScriptedExtractor):
    """An extractor for which the first turns take too long."""

    async def read(self, turns: Sequence[str]) -> TurnNews:
        """See `Extractor`."""
        if self.failures:
            self.turns.append(turns)
            self.failures -= 1
            raise TimeoutError
        return await super().read(turns)


async def test_a_turn_that_takes_too_long_ends_as_dead_and_is_retried_on_request(
    world: World,
) -> None:
    extractor = HangingExtractor()
    extractor.failures = MAX_ATTEMPTS
    writes = MemoryWrites(world.pool, world.parts.memory, extractor)
    await queue_turn(world, writes, "we use Vim", "m1")
    for _ in range(MAX_ATTEMPTS - 1):
        assert not await writes.work_off(OWNER, 20)
    assert await writes.work_off(OWNER, 20)

    assert len(extractor.turns) == MAX_ATTEMPTS
    [dead] = await writes.dead(OWNER, None, 10)
    assert (dead.kind, dead.reason, dead.attempts) == ("turn", TOO_SLOW, MAX_ATTEMPTS)
    assert dead.seen.message_id == "m1"
    assert await writes.dead(Owner("acme", "bob"), None, 10) == []
    assert await writes.dead(OWNER, dead.number, 10) == []

    assert await writes.retry_dead(OWNER) == 1
    assert await writes.work_off(OWNER, 20)
    assert await world.names() == ["Vim"]
    assert await writes.dead(OWNER, None, 10) == []
    assert await writes.retry_dead(OWNER) == 0


@pytest.mark.parametrize(
    ("failure", "attempts", "reason"),
    [("", MAX_ATTEMPTS, UNENDED), (UNAVAILABLE, MAX_ATTEMPTS_UNAVAILABLE, UNAVAILABLE)],
)
async def test_no_cause_is_retried_without_limit(
    world: World, extractor: ScriptedExtractor, failure: str, attempts: int, reason: str
) -> None:
    writes = MemoryWrites(world.pool, world.parts.memory, extractor)
    await queue_turn(world, writes, "we use Vim", "m1")
    async with world.pool.transaction() as session:
        await session.execute(writes._queries["set_owner"], *OWNER, "")
        await session.execute(
            "update memory_write set attempt_count = $1, failure = $2", attempts, failure
        )

    assert await writes.work_off(OWNER, 20)
    assert extractor.turns == []
    assert [one.reason for one in await writes.dead(OWNER, None, 10)] == [reason]


async def test_dead_writes_are_listed_and_retried_through_the_service(world: World) -> None:
    listed = await world.stub.ListDeadMemoryWrites(pb.ListDeadMemoryWritesRequest(), metadata=ALICE)
    assert not listed.writes
    retried = await world.stub.RetryDeadMemoryWrites(
        pb.RetryDeadMemoryWritesRequest(), metadata=ALICE
    )
    assert retried.write_count == 0
