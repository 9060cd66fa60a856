"""The Python client of entity memory, with and without `await`, over the real service."""

from __future__ import annotations

import asyncio

import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from braid_client import AsyncBraid, Braid, BraidCallError
from tests.integration.entity_memory.conftest import World

TOOL = pb.MEMORY_ENTITY_TYPE_TOOL
USES = pb.MEMORY_RELATIONSHIP_TYPE_USES


async def test_every_memory_call_works_with_await(world: World) -> None:
    async with AsyncBraid(f"127.0.0.1:{world.port}", api_key="alice-key") as braid:
        await braid.save_memory_turn(["I use Kubernetes for hosting."])
        other = await braid.save_memory_relationship(
            USES, pb.MemoryEndInput(name="k8s", type=TOOL), context="we run k8s"
        )
        found = await braid.query_memory("What do I use for hosting?")
        assert found.answers[0].answer == "Kubernetes"
        [hit] = (await braid.query_memory_entities("kubernetes")).hits[:1]
        merged = await braid.merge_memory_entities(hit.entity.id, other.relationship.target.id)
        assert list(merged.aliases) == ["k8s"]
        renamed = await braid.rename_memory_entity(merged.id, "Kubernetes cluster")
        assert "Kubernetes" in renamed.aliases
        [relationship] = [one async for one in braid.query_memory_relationships(types=[USES])]
        around = [one.entity.id async for one in braid.list_related_entities(max_hops=2)]
        assert around == [merged.id]
        assert (await braid.delete_memory_entity(merged.id)).relationship_count == 1
        assert (await braid.restore_memory_entity(merged.id)).entity.id == merged.id
        await braid.delete_memory_relationship(relationship.id)
        assert not [one async for one in braid.query_memory_relationships()]
        quota = await braid.get_memory_quota(conversation_id="c1")
        assert quota.quota.day_entity_count == quota.limits.day_entity_count - 2
        exported = [one.name async for page in braid.export_whole_memory() for one in page.entities]
        assert "Kubernetes cluster" in exported
        assert (await braid.erase_memory()).entity_count == 2
        with pytest.raises(BraidCallError) as caught:
            await braid.rename_memory_entity(merged.id, "Gone")
        assert caught.value.failure.reason == "NOT_FOUND"


async def test_memory_calls_work_without_await(world: World) -> None:
    def remember() -> list[str]:
        with Braid(f"127.0.0.1:{world.port}", api_key="alice-key") as braid:
            saved = braid.save_memory_entity("Vim", TOOL).entity
            braid.rename_memory_entity(saved.id, "Neovim")
            braid.save_memory_relationship(USES, pb.MemoryEndInput(id=saved.id))
            related = [one.entity.name for one in braid.list_related_entities()]
            [relationship] = braid.query_memory_relationships(entity_id=saved.id)
            braid.delete_memory_relationship(relationship.id)
            assert braid.get_memory_quota().quota.day_entity_count == 99
            return related

    assert await asyncio.to_thread(remember) == ["Neovim"]
