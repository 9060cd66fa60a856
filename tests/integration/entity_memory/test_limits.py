"""Limits are exact under concurrency, and a message explains a reached limit."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from services.agent_orchestrator.entity_memory.settings import EntityMemorySettings
from tests.integration.entity_memory.conftest import ALICE, ANNA, World

CREATED = pb.MEMORY_SAVE_OUTCOME_CREATED
CONVERSATION_LIMIT = pb.MEMORY_SAVE_OUTCOME_CONVERSATION_LIMIT
DAY_LIMIT = pb.MEMORY_SAVE_OUTCOME_DAY_LIMIT


@pytest.fixture
def memory_settings() -> EntityMemorySettings:
    """Small limits."""
    return EntityMemorySettings(
        _env_file=None,
        max_entities_per_conversation=3,
        max_relationships_per_conversation=2,
        max_entities_per_day=5,
    )


def from_conversation(conversation: str) -> pb.MemoryProvenance:
    return pb.MemoryProvenance(conversation_id=conversation)


async def test_a_conversation_creates_entities_exactly_up_to_its_limit(world: World) -> None:
    saved = await asyncio.gather(
        *(world.save_entity(f"Tool {n}", provenance=from_conversation("c1")) for n in range(8))
    )
    outcomes = [one.outcome for one in saved]
    assert (outcomes.count(CREATED), outcomes.count(CONVERSATION_LIMIT)) == (3, 5)
    refused = next(one for one in saved if one.outcome == CONVERSATION_LIMIT)
    assert refused.message.startswith("Nothing was saved: this conversation has reached its limit")
    assert not refused.HasField("entity")
    assert refused.quota.conversation_entity_count == 0
    assert len(await world.names()) == 3
    known = await world.save_entity((await world.names())[0], provenance=from_conversation("c1"))
    assert known.outcome == pb.MEMORY_SAVE_OUTCOME_REINFORCED


async def test_a_user_creates_entities_exactly_up_to_the_daily_limit(world: World) -> None:
    saved = await asyncio.gather(*(world.save_entity(f"Tool {n}") for n in range(9)))
    outcomes = [one.outcome for one in saved]
    assert (outcomes.count(CREATED), outcomes.count(DAY_LIMIT)) == (5, 4)
    assert (await world.save_entity("Another", who=ANNA)).outcome == CREATED


async def test_a_conversation_creates_relationships_exactly_up_to_its_limit(world: World) -> None:
    for name in ("Vim", "Git", "Zsh"):
        await world.save_entity(name)
    saved = [
        await world.relate("USES", name, provenance=from_conversation("c1"))
        for name in ("Vim", "Git", "Zsh")
    ]
    again = await world.relate("USES", "Vim", provenance=from_conversation("c1"))
    other = await world.relate("USES", "Zsh", provenance=from_conversation("c2"))
    assert [one.outcome for one in saved] == [CREATED, CREATED, CONVERSATION_LIMIT]
    assert again.outcome == pb.MEMORY_SAVE_OUTCOME_REINFORCED
    assert other.outcome == CREATED


async def test_a_relationship_over_the_limit_creates_no_entity_either(world: World) -> None:
    for number in range(4):
        await world.save_entity(f"Tool {number}")
    refused = await world.relate("DEPENDS_ON", "Redis", "Checkout")
    assert refused.outcome == DAY_LIMIT
    assert len(await world.names()) == 4
    last = await world.relate("USES", "Redis")
    assert last.outcome == CREATED
    assert last.quota.day_entity_count == 0


async def test_deleting_entities_does_not_free_the_daily_limit(world: World) -> None:
    for number in range(5):
        await world.save_entity(f"Tool {number}")
    found = await world.stub.QueryEntities(pb.QueryEntitiesRequest(), metadata=ALICE)
    for hit in found.hits:
        await world.stub.DeleteEntity(
            pb.DeleteEntityRequest(entity_id=hit.entity.id), metadata=ALICE
        )
    assert (await world.save_entity("Another")).outcome == DAY_LIMIT


class TestTheDefaults:
    """The default limits: 20 entities and 30 relationships for a conversation, 100 entities for a day."""

    @pytest.fixture
    def memory_settings(self) -> EntityMemorySettings:
        return EntityMemorySettings(_env_file=None)

    async def test_the_last_item_within_a_limit_is_saved_and_the_next_is_not(
        self, world: World
    ) -> None:
        for number in range(20):
            saved = await world.save_entity(f"Tool {number}", provenance=from_conversation("c0"))
            assert saved.outcome == CREATED
            assert saved.quota.conversation_entity_count == 19 - number
        refused = await world.save_entity("Tool 20", provenance=from_conversation("c0"))
        assert refused.outcome == CONVERSATION_LIMIT
        for number in range(20, 100):
            saved = await world.save_entity(
                f"Tool {number}", provenance=from_conversation(f"c{1 + (number - 20) // 20}")
            )
            assert saved.outcome == CREATED
        assert saved.quota.day_entity_count == 0
        assert (
            await world.save_entity("Tool 100", provenance=from_conversation("c9"))
        ).outcome == DAY_LIMIT
        for number in range(30):
            related = await world.relate(
                "USES", f"Tool {number}", provenance=from_conversation("c9")
            )
            assert related.outcome == CREATED
        assert related.quota.conversation_relationship_count == 0
        over = await world.relate("USES", "Tool 30", provenance=from_conversation("c9"))
        assert over.outcome == CONVERSATION_LIMIT

    async def test_a_turn_saves_up_to_the_limit_and_counts_the_omitted_items(
        self, world: World
    ) -> None:
        names = ", ".join(f"Tool{number}" for number in range(24))
        answer = await world.stub.SaveTurn(
            pb.SaveTurnRequest(
                turns=[f"I use {names} and Vim."], provenance=from_conversation("c1")
            ),
            metadata=ALICE,
        )
        assert len(answer.relationships) == 20
        assert answer.over_limit_count == 5
        assert answer.quota.conversation_entity_count == 0
