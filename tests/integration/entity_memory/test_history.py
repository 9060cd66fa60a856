"""What a later statement ends is history: it is answered as the past, held as of its time, and can be forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from braid.agent.v1 import entity_memory_pb2 as pb
from services.runtime.times import to_timestamp
from tests.integration.entity_memory.conftest import ALICE, World


async def said(
    world: World, message: str, text: str, conversation: str = "c1"
) -> pb.SaveTurnResponse:
    """Saves a turn of Alice's."""
    seen = pb.MemoryProvenance(conversation_id=conversation, message_id=message)
    return await world.stub.SaveTurn(
        pb.SaveTurnRequest(turns=[text], provenance=seen), metadata=ALICE
    )


async def known(world: World, as_of: datetime | None = None) -> list[tuple[str, str, bool]]:
    """Returns the role, the target and whether it has ended, of what is known of Alice at a time."""
    request = pb.QueryRelationshipsRequest(as_of=to_timestamp(as_of) if as_of else None)
    answer = await world.stub.QueryRelationships(request, metadata=ALICE)
    return sorted((one.role, one.target.name, one.ended) for one in answer.relationships)


async def answers(world: World, question: str) -> list[str]:
    request = pb.AnswerRelationshipQueryRequest(query=question)
    answer = await world.stub.AnswerRelationshipQuery(request, metadata=ALICE)
    return [one.answer for one in answer.answers]


async def test_a_new_boss_takes_the_place_of_the_old_one_who_is_history(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    before = datetime.now(UTC)
    changed = await said(world, "2", "My manager is Bob.", conversation="c2")
    assert changed.retracted_count == 1
    assert await known(world) == [("manager", "Bob", False)]
    assert await known(world, before) == [("boss", "Ana", True)]
    assert await known(world, before - timedelta(days=1)) == []
    assert await answers(world, "Who is my boss?") == ["Bob"]
    assert await answers(world, "Who was my boss before?") == ["Ana"]


async def test_where_the_user_lived_and_what_they_used_before_is_answered(world: World) -> None:
    await said(world, "1", "I live in Graz.")
    await said(world, "2", "My editor is Vim and I use Docker.")
    await said(world, "3", "I moved to Vienna.", conversation="c2")
    await said(world, "4", "My editor is Helix now.", conversation="c2")
    assert await answers(world, "Where do I live?") == ["Vienna"]
    assert await answers(world, "Where did I live before?") == ["Graz"]
    assert await answers(world, "What is my editor?") == ["Helix"]
    assert await answers(world, "What was my previous editor?") == ["Vim"]


async def test_what_ended_is_forgotten_when_the_user_says_so(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    before = datetime.now(UTC)
    await said(world, "2", "My boss is Bob.", conversation="c2")
    ana = (
        await world.stub.QueryEntities(pb.QueryEntitiesRequest(query="Ana"), metadata=ALICE)
    ).hits
    await world.stub.DeleteEntity(
        pb.DeleteEntityRequest(entity_id=ana[0].entity.id), metadata=ALICE
    )
    assert await known(world, before) == []
    assert await answers(world, "Who was my boss before?") != ["Ana"]


async def test_what_one_message_says_twice_ends_nothing(world: World) -> None:
    both = await said(world, "1", "My mentor is Ana. My mentor is Bob.")
    assert both.retracted_count == 0
    assert await known(world) == [("mentor", "Ana", False), ("mentor", "Bob", False)]


async def test_a_backend_says_what_takes_the_place_of_what(world: World) -> None:
    async def save(name: str, *, exclusive: bool) -> None:
        target = pb.MemoryEndInput(name=name, type=pb.MEMORY_ENTITY_TYPE_PLACE)
        request = pb.SaveRelationshipRequest(
            type=pb.MEMORY_RELATIONSHIP_TYPE_LIVES_IN, target=target, exclusive=exclusive
        )
        await world.stub.SaveRelationship(request, metadata=ALICE)

    await save("Graz", exclusive=False)
    await save("Linz", exclusive=False)
    assert await known(world) == [("", "Graz", False), ("", "Linz", False)]
    await save("Wien", exclusive=True)
    assert await known(world) == [("", "Wien", False)]


async def test_what_a_question_calls_my_is_who_or_what_that_is(world: World) -> None:
    await said(world, "1", "I work on Sturmvogel.")
    await said(world, "2", "Sturmvogel needs PostgreSQL and Redis. Albatros needs Kafka.")
    await said(world, "3", "My sister is Mara. Mara lives in Linz.")
    assert set(await answers(world, "What does my project need?")) == {"PostgreSQL", "Redis"}
    assert await answers(world, "Where does my sister live?") == ["Linz"]
    assert await answers(world, "Who is my sister?") == ["Mara"]


async def test_a_favorite_is_told_from_what_is_in_use(world: World) -> None:
    await said(world, "1", "My editor is Vim.")
    await said(world, "2", "My favourite editor is Zed.")
    assert await answers(world, "What is my favorite editor?") == ["Zed"]
    assert set(await answers(world, "What is my editor?")) == {"Vim", "Zed"}


async def identify(world: World, name: str) -> str:
    """Returns the id of the relationship with somebody."""
    answer = await world.stub.QueryRelationships(pb.QueryRelationshipsRequest(), metadata=ALICE)
    return next(one.id for one in answer.relationships if one.target.name == name)


async def take_back(world: World, id_: str) -> None:
    request = pb.DeleteRelationshipRequest(relationship_id=id_)
    await world.stub.DeleteRelationship(request, metadata=ALICE)


async def test_what_a_deleted_statement_had_replaced_holds_again(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    before = datetime.now(UTC)
    await said(world, "2", "My manager is Bob.", conversation="c2")
    await take_back(world, await identify(world, "Bob"))
    assert await known(world) == await known(world, before) == [("boss", "Ana", False)]
    assert await answers(world, "Who is my boss?") == ["Ana"]


async def test_what_was_replaced_twice_holds_again_only_without_both(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    await said(world, "2", "My boss is Bob.", conversation="c2")
    bob = await identify(world, "Bob")
    await said(world, "3", "My boss is Carl.", conversation="c3")
    await take_back(world, bob)
    assert await known(world) == [("boss", "Carl", False)]
    assert await answers(world, "Who was my boss before?") == ["Ana"]
    await take_back(world, await identify(world, "Carl"))
    assert await known(world) == [("boss", "Ana", False)]


async def test_what_ended_before_it_is_deleted_brings_nothing_back(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    await said(world, "2", "My boss is Bob.", conversation="c2")
    bob = await identify(world, "Bob")
    await said(
        world, "3", "I no longer work with Bob. Bob is not my boss any more.", conversation="c3"
    )
    assert await known(world) == []
    await take_back(world, bob)
    assert await known(world) == []
    assert await answers(world, "Who was my boss before?") == ["Ana"]


async def test_who_was_deleted_themselves_does_not_come_back(world: World) -> None:
    await said(world, "1", "My boss is Ana.")
    await said(world, "2", "My boss is Bob.", conversation="c2")
    ana = pb.QueryEntitiesRequest(query="Ana")
    hits = (await world.stub.QueryEntities(ana, metadata=ALICE)).hits
    await world.stub.DeleteEntity(
        pb.DeleteEntityRequest(entity_id=hits[0].entity.id), metadata=ALICE
    )
    await take_back(world, await identify(world, "Bob"))
    assert await known(world) == []
