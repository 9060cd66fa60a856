"""Entity memory moves to another embedding model together with its space."""

from __future__ import annotations

from braid.agent.v1 import entity_memory_pb2 as pb
from services.agent_orchestrator.entity_memory.records import Owner
from services.agent_orchestrator.entity_memory.reembedding import MemoryReembedding
from services.agent_orchestrator.jobs.embedding_pace import EmbeddingPace
from services.agent_orchestrator.jobs.retries import Retries
from tests.integration.entity_memory.conftest import ALICE, ANNA, BOB, WordVectors, World


async def models_of(world: World, space: str) -> dict[str, int]:
    """The number of vectors of each model in a space."""
    async with world.parts.memory.store.reading(Owner(space, ""), "space") as rows:
        found = await rows.session.fetch(
            "select model, count(*) as count from memory_entity_vector group by model"
        )
    return {row["model"]: row["count"] for row in found}


async def test_all_users_of_the_space_move_and_other_spaces_do_not(world: World) -> None:
    for who, name in ((ALICE, "Vim"), (ANNA, "Emacs"), (BOB, "Nano")):
        await world.save_entity(name, who=who, description="an editor of text")
    moving, other = MemoryReembedding(world.parts.memory.store), WordVectors("other")
    await moving.fill("acme", other, EmbeddingPace(Retries(0)))
    assert await models_of(world, "acme") == {"words": 2, "other": 2}
    await moving.finish("acme", other, EmbeddingPace(Retries(0)))
    assert await models_of(world, "acme") == {"other": 2}
    assert await models_of(world, "globex") == {"words": 1}


async def test_a_vector_search_within_a_user_is_exact(world: World) -> None:
    words = [f"word{number}" for number in range(40)]
    for number in range(40):
        await world.save_entity(
            f"Entity {number:02}", description=" ".join(words[number % 7 : number % 7 + 5])
        )
    query = "word3 word4 word5"
    vector = (await world.embedder.embed([query]))[0]
    owner = Owner("acme", "alice")
    async with world.parts.memory.store.reading(owner) as rows:
        nearest = await rows.nearest("words", vector, (), 10)
        stored = await rows.entities((), None, 100)
    texts = [f"{one.name}: {one.description}" for one in stored]
    exact = sorted((await world.embedder.embed(texts)) @ vector, reverse=True)[:10]
    assert [round(float(value), 2) for value in nearest.values()] == [
        round(float(value), 2) for value in exact
    ]
    answer = await world.stub.QueryEntities(pb.QueryEntitiesRequest(query=query), metadata=ALICE)
    assert not answer.without_embedding
