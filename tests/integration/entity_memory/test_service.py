"""Users find their entities by name, spelling and meaning, and rename, merge, restore and erase them."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import grpc
import pytest

from braid.agent.v1 import entity_memory_pb2 as pb
from tests.integration.entity_memory.conftest import ALICE, ANNA, BOB, World

CREATED = pb.MEMORY_SAVE_OUTCOME_CREATED
REINFORCED = pb.MEMORY_SAVE_OUTCOME_REINFORCED


async def test_saving_the_same_name_and_type_again_reinforces_one_entity(world: World) -> None:
    first = await world.save_entity("PostgreSQL", confidence=0.8, aliases=["Postgres"])
    again = await world.save_entity("  postgresql ", confidence=0.8)
    by_alias = await world.save_entity("POSTGRES", confidence=0.8)
    other_type = await world.save_entity("PostgreSQL", "PROJECT")
    assert [first.outcome, again.outcome, by_alias.outcome] == [CREATED, REINFORCED, REINFORCED]
    assert by_alias.entity.id == first.entity.id
    assert by_alias.entity.mention_count == 3
    assert first.entity.confidence < again.entity.confidence < by_alias.entity.confidence <= 1
    assert other_type.entity.id != first.entity.id


async def test_names_are_found_and_the_kind_of_match_is_reported(world: World) -> None:
    await world.save_entity("PostgreSQL", aliases=["Postgres"])
    await world.save_entity("Zoë Müller", "PERSON")
    await world.save_entity("Grafana", description="dashboards and monitoring")

    async def first(query: str) -> tuple[str, str]:
        answer = await world.stub.QueryEntities(
            pb.QueryEntitiesRequest(query=query), metadata=ALICE
        )
        hit = answer.hits[0]
        return hit.entity.name, pb.MemoryMatch.Name(hit.match).removeprefix("MEMORY_MATCH_")

    assert await first("postgresql") == ("PostgreSQL", "EXACT")
    assert await first("POSTGRES") == ("PostgreSQL", "ALIAS")
    assert await first("Postgresqll") == ("PostgreSQL", "FUZZY")
    assert await first("zoe muller") == ("Zoë Müller", "FUZZY")
    assert await first("monitoring dashboards") == ("Grafana", "EMBEDDING")


async def test_names_are_found_without_the_embedder_which_is_reported(world: World) -> None:
    world.embedder.is_away = True
    saved = await world.save_entity("Kafka")
    answer = await world.stub.QueryEntities(pb.QueryEntitiesRequest(query="kafka"), metadata=ALICE)
    assert saved.outcome == CREATED
    assert [hit.entity.name for hit in answer.hits] == ["Kafka"]
    assert answer.without_embedding


async def test_a_relationship_creates_its_entities_and_keeps_its_direction(world: World) -> None:
    saved = await world.relate("DEPENDS_ON", "Redis", "Checkout", context="Checkout needs Redis")
    back = await world.relate("DEPENDS_ON", "Checkout", "Redis")
    again = await world.relate("DEPENDS_ON", "redis", "checkout")
    assert saved.outcome == CREATED
    assert (saved.relationship.source.name, saved.relationship.target.name) == ("Checkout", "Redis")
    assert back.relationship.id != saved.relationship.id
    assert again.relationship.id == saved.relationship.id
    assert again.relationship.confidence > saved.relationship.confidence
    assert again.relationship.context == "Checkout needs Redis"
    assert sorted(await world.names()) == ["Checkout", "Redis"]


async def test_the_entity_of_the_user_is_neither_listed_nor_counted(world: World) -> None:
    await world.relate("USES", "Vim")
    quota = await world.stub.GetMemoryQuota(pb.GetMemoryQuotaRequest(), metadata=ALICE)
    export = await world.stub.ExportUserMemory(pb.ExportUserMemoryRequest(), metadata=ALICE)
    assert await world.names() == ["Vim"]
    assert await world.names("user") == []
    assert quota.quota.day_entity_count == quota.limits.day_entity_count - 1
    assert [one.name for one in export.entities] == ["Vim"]


async def test_natural_language_questions_are_answered(world: World) -> None:
    await world.relate("USES", "Grafana", context="I use Grafana for monitoring")
    await world.relate("USES", "Terraform", context="I use Terraform for infrastructure")
    await world.relate("WORKS_WITH", "Sarah", context="I work with Sarah")
    await world.relate("USES", "Kafka", "Atlas", context="Atlas uses Kafka")
    assert (await world.answers("What do I use for monitoring?"))[0] == "Grafana"
    assert await world.answers("Who do I work with?") == ["Sarah"]
    assert await world.answers("What does Atlas use?") == ["Kafka"]
    assert await world.answers("Who uses Kafka?") == ["Atlas"]


async def test_related_entities_are_found_within_one_or_two_hops(world: World) -> None:
    await world.relate("WORKS_ON", "Atlas")
    await world.relate("USES", "Kafka", "Atlas")
    await world.relate("DEPENDS_ON", "ZooKeeper", "Kafka")

    async def around(hops: int) -> list[tuple[str, int]]:
        request = pb.GetRelatedEntitiesRequest(max_hops=hops)
        answer = await world.stub.GetRelatedEntities(request, metadata=ALICE)
        return [(one.entity.name, one.hops) for one in answer.related]

    assert await around(1) == [("Atlas", 1)]
    assert await around(2) == [("Atlas", 1), ("Kafka", 2)]


async def test_merging_moves_names_and_relationships(world: World) -> None:
    kept = (await world.relate("USES", "Kubernetes")).relationship.target.id
    other = (await world.relate("USES", "k8s", context="we run k8s")).relationship.target.id
    await world.relate("DEPENDS_ON", "k8s", "Checkout")
    merged = await world.stub.MergeEntities(
        pb.MergeEntitiesRequest(entity_id=kept, other_entity_id=other), metadata=ALICE
    )
    found = await world.stub.QueryRelationships(
        pb.QueryRelationshipsRequest(entity_id=kept), metadata=ALICE
    )
    assert list(merged.entity.aliases) == ["k8s"]
    assert merged.entity.mention_count == 3
    assert len(found.relationships) == 2
    assert await world.names("K8S") == ["Kubernetes"]
    await expect(
        grpc.StatusCode.FAILED_PRECONDITION,
        world.stub.RestoreEntity(pb.RestoreEntityRequest(entity_id=other), metadata=ALICE),
    )


async def test_a_renamed_entity_is_found_by_its_former_name(world: World) -> None:
    saved = await world.save_entity("Twitter")
    await world.save_entity("Mastodon")
    renamed = await world.stub.RenameEntity(
        pb.RenameEntityRequest(entity_id=saved.entity.id, name="X"), metadata=ALICE
    )
    assert (renamed.entity.name, list(renamed.entity.aliases)) == ("X", ["Twitter"])
    assert (await world.names("twitter"))[0] == "X"
    await expect(
        grpc.StatusCode.FAILED_PRECONDITION,
        world.stub.RenameEntity(
            pb.RenameEntityRequest(entity_id=saved.entity.id, name="mastodon"), metadata=ALICE
        ),
    )


async def test_a_deleted_entity_is_restored_with_its_relationships(world: World) -> None:
    saved = await world.relate("USES", "Jenkins")
    id_ = saved.relationship.target.id
    gone = await world.stub.DeleteEntity(pb.DeleteEntityRequest(entity_id=id_), metadata=ALICE)
    assert gone.relationship_count == 1
    assert await world.names() == []
    assert await world.answers("What do I use?") == []
    back = await world.stub.RestoreEntity(pb.RestoreEntityRequest(entity_id=id_), metadata=ALICE)
    assert back.relationship_count == 1
    assert await world.answers("What do I use?") == ["Jenkins"]


async def test_a_deleted_entity_cannot_be_restored_once_its_name_is_taken(world: World) -> None:
    id_ = (await world.save_entity("Jenkins")).entity.id
    await world.stub.DeleteEntity(pb.DeleteEntityRequest(entity_id=id_), metadata=ALICE)
    again = await world.save_entity("jenkins")
    assert again.outcome == CREATED
    await expect(
        grpc.StatusCode.FAILED_PRECONDITION,
        world.stub.RestoreEntity(pb.RestoreEntityRequest(entity_id=id_), metadata=ALICE),
    )


async def test_erasing_removes_everything_of_the_user_and_nothing_of_others(world: World) -> None:
    await world.relate("USES", "Vim")
    await world.relate("USES", "Emacs", who=ANNA)
    receipt = await world.stub.EraseUserMemory(pb.EraseUserMemoryRequest(), metadata=ALICE)
    assert (receipt.entity_count, receipt.relationship_count) == (1, 1)
    assert await world.names() == []
    assert await world.names(who=ANNA) == ["Emacs"]
    for table in ("memory_entity", "memory_relationship", "memory_entity_vector", "memory_write"):
        async with world.pool.transaction() as session:
            await session.execute(
                "select set_config('braid.space', 'acme', true), set_config('braid.user', 'alice', true)"
            )
            assert await session.value(f"select count(*) from {table}") == 0  # noqa: S608


async def test_the_export_contains_everything_in_pages(world: World) -> None:
    for number in range(5):
        await world.relate("USES", f"Tool {number}")
    entities, relationships, token, pages = [], [], "", 0
    while pages == 0 or token:
        answer = await world.stub.ExportUserMemory(
            pb.ExportUserMemoryRequest(page_size=2, page_token=token), metadata=ALICE
        )
        entities += [one.name for one in answer.entities]
        relationships += [one.target.name for one in answer.relationships]
        token, pages = answer.next_page_token, pages + 1
    assert sorted(entities) == sorted(relationships) == [f"Tool {n}" for n in range(5)]


async def test_every_query_is_paged(world: World) -> None:
    for number in range(5):
        await world.relate("USES", f"Tool {number}", context=f"I use tool {number} for reports")
    stub = world.stub
    every = {f"Tool {number}" for number in range(5)}
    queries: list[tuple[Any, Any, Any]] = [
        (stub.QueryEntities, pb.QueryEntitiesRequest(page_size=2), names_of_hits),
        (stub.QueryEntities, pb.QueryEntitiesRequest(query="tool", page_size=2), names_of_hits),
        (stub.GetRelatedEntities, pb.GetRelatedEntitiesRequest(page_size=2), names_of_related),
        (
            stub.AnswerRelationshipQuery,
            pb.AnswerRelationshipQueryRequest(query="What do I use?", page_size=2),
            names_of_answers,
        ),
    ]
    for call, request, names_of in queries:
        pages: list[list[str]] = []
        while not pages or request.page_token:
            answer = await call(request, metadata=ALICE)
            pages.append(names_of(answer))
            request.page_token = answer.next_page_token
        assert [len(page) for page in pages] == [2, 2, 1]
        assert {name for page in pages for name in page} == every


async def test_type_filters_exclude_other_types(world: World) -> None:
    await world.relate("USES", "Vim")
    await world.relate("PREFERS", "Emacs")
    await world.save_entity("Atlas", "PROJECT")
    stub = world.stub
    tools = pb.QueryEntitiesRequest(types=[pb.MEMORY_ENTITY_TYPE_TOOL])
    assert set(names_of_hits(await stub.QueryEntities(tools, metadata=ALICE))) == {"Vim", "Emacs"}
    prefers = pb.MEMORY_RELATIONSHIP_TYPE_PREFERS
    listed = await stub.QueryRelationships(
        pb.QueryRelationshipsRequest(types=[prefers]), metadata=ALICE
    )
    assert [one.target.name for one in listed.relationships] == ["Emacs"]
    related = await stub.GetRelatedEntities(
        pb.GetRelatedEntitiesRequest(types=[prefers]), metadata=ALICE
    )
    assert names_of_related(related) == ["Emacs"]
    for given, names in (
        ({"relationship_type": prefers}, ["Emacs"]),
        ({"entity_type": pb.MEMORY_ENTITY_TYPE_PROJECT}, []),
        ({"entity_type": pb.MEMORY_ENTITY_TYPE_TOOL, "relationship_type": prefers}, ["Emacs"]),
    ):
        request = pb.AnswerRelationshipQueryRequest(query="What about me?", **given)
        answer = await stub.AnswerRelationshipQuery(request, metadata=ALICE)
        assert names_of_answers(answer) == names


async def test_the_first_and_the_last_provenance_are_stored(world: World) -> None:
    first = pb.MemoryProvenance(conversation_id="c1", message_id="m1")
    last = pb.MemoryProvenance(conversation_id="c2", message_id="m2")
    await world.relate("USES", "Vim", provenance=first)
    again = (await world.relate("USES", "Vim", provenance=last)).relationship
    hits = (await world.stub.QueryEntities(pb.QueryEntitiesRequest(), metadata=ALICE)).hits
    for one in (again, hits[0].entity):
        assert (one.first_seen, one.last_seen, one.mention_count) == (first, last, 2)


async def test_relationships_are_paged_newest_first(world: World) -> None:
    for number in range(5):
        await world.relate("USES", f"Tool {number}")
    seen: list[str] = []
    token = ""
    while len(seen) < 5:
        answer = await world.stub.QueryRelationships(
            pb.QueryRelationshipsRequest(page_size=2, page_token=token), metadata=ALICE
        )
        seen += [one.target.name for one in answer.relationships]
        token = answer.next_page_token
    assert seen == [f"Tool {n}" for n in (4, 3, 2, 1, 0)]
    assert token == ""
    await expect(
        grpc.StatusCode.INVALID_ARGUMENT,
        world.stub.QueryEntities(pb.QueryEntitiesRequest(page_token="x"), metadata=ALICE),
    )


async def test_an_entity_without_a_valid_type_is_rejected(world: World) -> None:
    for request in (
        pb.SaveEntityRequest(name="Vim"),
        pb.SaveEntityRequest(name="Vim", type=99),  # type: ignore[arg-type]
    ):
        await expect(
            grpc.StatusCode.INVALID_ARGUMENT, world.stub.SaveEntity(request, metadata=ALICE)
        )
    assert await world.names() == []


async def test_an_entity_below_the_confidence_threshold_is_not_saved(world: World) -> None:
    below = await world.save_entity("Vim", confidence=0.69)
    at = await world.save_entity("Emacs", confidence=0.7)
    assert below.outcome == pb.MEMORY_SAVE_OUTCOME_BELOW_THRESHOLD
    assert at.outcome == CREATED
    assert await world.names() == ["Emacs"]


async def test_concurrent_saves_create_one_entity(world: World) -> None:
    saved = await asyncio.gather(*(world.save_entity("Kafka") for _ in range(12)))
    outcomes = [one.outcome for one in saved]
    assert outcomes.count(CREATED) == 1
    assert len({one.entity.id for one in saved}) == 1
    found = await world.stub.QueryEntities(pb.QueryEntitiesRequest(), metadata=ALICE)
    assert [hit.entity.mention_count for hit in found.hits] == [12]


async def test_ids_of_another_user_are_not_found(world: World) -> None:
    saved = await world.relate("USES", "Vim")
    entity, relationship = saved.relationship.target.id, saved.relationship.id
    for who in (ANNA, BOB):
        missing = grpc.StatusCode.NOT_FOUND
        stub = world.stub
        own = (await world.save_entity("Own", who=who)).entity.id
        calls = [
            stub.RenameEntity(pb.RenameEntityRequest(entity_id=entity, name="X"), metadata=who),
            stub.DeleteEntity(pb.DeleteEntityRequest(entity_id=entity), metadata=who),
            stub.RestoreEntity(pb.RestoreEntityRequest(entity_id=entity), metadata=who),
            stub.GetRelatedEntities(pb.GetRelatedEntitiesRequest(entity_id=entity), metadata=who),
            stub.QueryRelationships(pb.QueryRelationshipsRequest(entity_id=entity), metadata=who),
            stub.DeleteRelationship(
                pb.DeleteRelationshipRequest(relationship_id=relationship), metadata=who
            ),
            stub.MergeEntities(
                pb.MergeEntitiesRequest(entity_id=own, other_entity_id=entity), metadata=who
            ),
            stub.SaveRelationship(
                pb.SaveRelationshipRequest(
                    type=pb.MEMORY_RELATIONSHIP_TYPE_USES, target=pb.MemoryEndInput(id=entity)
                ),
                metadata=who,
            ),
        ]
        for call in calls:
            await expect(missing, call)
    assert await world.names() == ["Vim"]
    await expect(
        grpc.StatusCode.NOT_FOUND,
        world.stub.DeleteEntity(
            pb.DeleteEntityRequest(entity_id=str(uuid.uuid4())), metadata=ALICE
        ),
    )


def names_of_hits(answer: pb.QueryEntitiesResponse) -> list[str]:
    return [one.entity.name for one in answer.hits]


def names_of_related(answer: pb.GetRelatedEntitiesResponse) -> list[str]:
    return [one.entity.name for one in answer.related]


def names_of_answers(answer: pb.AnswerRelationshipQueryResponse) -> list[str]:
    return [one.answer for one in answer.answers]


async def expect(code: grpc.StatusCode, call: object) -> None:
    """Checks that a call fails with a status code."""
    with pytest.raises(grpc.aio.AioRpcError) as failure:
        await call  # type: ignore[misc]
    assert failure.value.code() == code
