"""Relations between chunks, and Expand along them, over gRPC on a real Neo4j."""

from __future__ import annotations

import uuid
from typing import Any

import grpc
import pytest

from braid.common.v1 import retrieval_pb2
from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import expansion_pb2, ingest_pb2, query_pb2, relations_pb2
from braid.graph.v1.relations_pb2 import ChunkRelationType
from services.graph_query.expansion import neo4j_store
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Credential, Tier
from tests.integration.graph_query.messages import episode, stamp

HUB = 10_000


async def chunks(tier: Tier, number: int, caller: Credential | None = None) -> list[str]:
    inputs = [episode(f"d{place}", f"Note {place}", "Some text.") for place in range(number)]
    for begin in range(0, number, 500):
        request = ingest_pb2.BatchAddEpisodesRequest(episodes=inputs[begin : begin + 500])
        await tier.ingest.BatchAddEpisodes(request, metadata=caller or tier.ours)
    return [one.chunk_id for one in inputs]


def relation(source: str, kind: str, target: str, **more: Any) -> relations_pb2.ChunkRelationInput:
    return relations_pb2.ChunkRelationInput(
        source_id=source,
        target_id=target,
        relation_type=ChunkRelationType.Value(f"CHUNK_RELATION_TYPE_{kind}"),
        **more,
    )


async def put(
    tier: Tier, *given: relations_pb2.ChunkRelationInput
) -> relations_pb2.PutRelationsResponse:
    request = relations_pb2.PutRelationsRequest(relations=given)
    return await tier.ingest.PutRelations(request, metadata=tier.ours)


async def expand(tier: Tier, seeds: dict[str, float], **more: Any) -> expansion_pb2.ExpandResponse:
    inputs = [
        expansion_pb2.ExpansionSeed(chunk_id=one, score=score) for one, score in seeds.items()
    ]
    request = expansion_pb2.ExpandRequest(seeds=inputs, **more)
    return await tier.query.Expand(request, metadata=tier.ours, timeout=10)


def scores(found: expansion_pb2.ExpandResponse) -> dict[str, Any]:
    return {item.chunk_id: pytest.approx(item.score) for item in found.items}


async def listed(tier: Tier, **more: Any) -> list[relations_pb2.ChunkRelation]:
    request = relations_pb2.ListRelationsRequest(**more)
    return list((await tier.query.ListRelations(request, metadata=tier.ours)).relations)


async def refused(call: Any) -> list[str]:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call
    assert failed.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    return [field.field for field in error_from_rpc(failed.value).fields]


async def test_a_chunk_that_fixes_a_seed_is_found_with_its_path(tier: Tier) -> None:
    error, fix = await chunks(tier, 2)
    await put(tier, relation(fix, "FIXES", error))
    found = await expand(tier, {error: 0.95})
    assert scores(found) == {error: 0.95, fix: 0.456}
    expanded = found.items[1]
    assert not expanded.HasField("initial_score")
    assert expanded.depth == 1
    step = expanded.path[0]
    assert (step.from_id, step.to_id, step.weight, step.strength) == (error, fix, 1.0, 1.0)
    assert step.against_direction
    stats = found.stats
    assert (stats.initial_count, stats.expanded_count, stats.new_count) == (1, 2, 1)
    assert (stats.kept_count, stats.dropped_count, stats.expansion_rate) == (1, 0, 1.0)
    assert stats.utilisation == 1.0


async def test_hops_types_strength_direction_and_time_limit_an_expansion(tier: Tier) -> None:
    a, b, c, d = await chunks(tier, 4)
    await put(
        tier,
        relation(a, "FOLLOWS", b),
        relation(b, "RELATED", c, strength=0.5),
        relation(c, "FIXES", d, valid_time=stamp("2024-01-01"), invalid_time=stamp("2025-01-01")),
    )
    assert scores(await expand(tier, {a: 1.0})) == {a: 1.0, b: 0.384}
    two = {a: 1.0, b: 0.384, c: 0.8 * 0.35 * 0.6 * 0.64}
    assert scores(await expand(tier, {a: 1.0}, max_hops=2)) == two
    assert scores(await expand(tier, {a: 1.0}, max_hops=3)) == two
    then = await expand(tier, {a: 1.0}, max_hops=3, as_of=stamp("2024-06-01"))
    assert scores(then)[d] == 0.8 * 0.35 * 0.6 * 0.512
    assert set(scores(await expand(tier, {b: 1.0}, min_strength=0.6))) == {a, b}
    incoming = relations_pb2.RELATION_DIRECTION_INCOMING
    assert set(scores(await expand(tier, {b: 1.0}, direction=incoming))) == {a, b}
    only = await expand(tier, {b: 1.0}, relation_types=[relations_pb2.CHUNK_RELATION_TYPE_RELATED])
    assert set(scores(only)) == {b, c}
    assert only.stats.utilisation == 0.5


async def test_an_expansion_ends_despite_cycles_and_contradictions(tier: Tier) -> None:
    a, b, c = await chunks(tier, 3)
    await put(
        tier,
        relation(a, "FOLLOWS", b),
        relation(b, "FOLLOWS", c),
        relation(c, "FOLLOWS", a),
        relation(c, "CONTRADICTS", b),
    )
    found = await expand(tier, {a: 1.0, c: 0.5}, max_hops=3)
    assert sorted(scores(found)) == sorted([a, b, c])
    # c contradicts with the score that a passes on to it, which counts more than its own score.
    assert scores(found)[b] == 0.384 - 0.8 * 0.5 * 0.6 * 0.64


async def test_an_expansion_from_a_hub_follows_at_most_max_degree_relations(tier: Tier) -> None:
    hub, *spokes = await chunks(tier, HUB + 1)
    inputs = [relation(spoke, "RELATED", hub) for spoke in spokes]
    for begin in range(0, HUB, 1000):
        await put(tier, *inputs[begin : begin + 1000])
    found = await expand(tier, {hub: 1.0}, max_hops=3, limit=1000, max_degree=200)
    assert found.truncated
    assert len(found.items) == 201
    assert (found.stats.followed_relation_count, found.stats.incident_relation_count) == (200, HUB)
    assert len(await listed(tier, chunk_id=hub, page_size=5000)) == 1000


async def test_a_level_follows_a_limited_number_of_relations_and_reports_truncation(
    tier: Tier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_store, "_EDGES", 3)
    first, second, *others = await chunks(tier, 6)
    await put(
        tier,
        *(relation(seed, "RELATED", other) for seed in (first, second) for other in others[:2]),
    )
    found = await expand(tier, {first: 1.0, second: 0.9})
    assert found.truncated
    assert found.stats.followed_relation_count == 3
    assert found.stats.incident_relation_count == 4
    assert not (await expand(tier, {first: 1.0})).truncated


async def test_an_expansion_is_cached_until_a_relation_is_added(tier: Tier) -> None:
    a, b, c = await chunks(tier, 3)
    await put(tier, relation(a, "FIXES", b))
    assert not (await expand(tier, {a: 1.0})).cached
    again = await expand(tier, {a: 1.0})
    assert again.cached
    assert set(scores(again)) == {a, b}
    assert not (await expand(tier, {a: 1.0}, cache=retrieval_pb2.CACHE_MODE_BYPASS)).cached
    await put(tier, relation(a, "FIXES", c))
    renewed = await expand(tier, {a: 1.0})
    assert not renewed.cached
    assert set(scores(renewed)) == {a, b, c}


async def test_the_ranking_can_be_kept_and_new_chunks_returned_as_context(tier: Tier) -> None:
    a, b, c = await chunks(tier, 3)
    await put(tier, relation(a, "FIXES", c), relation(a, "CONTRADICTS", b))
    found = await expand(tier, {b: 0.4, a: 0.9}, keep_ranking=True)
    assert [(item.chunk_id, item.score) for item in found.items] == [(b, 0.4), (a, 0.9)]
    assert [item.chunk_id for item in found.context] == [c]


async def test_relations_are_created_updated_listed_and_deleted(tier: Tier) -> None:
    a, b, c = await chunks(tier, 3)
    counts = await put(tier, relation(a, "FIXES", b), relation(a, "RELATED", b))
    assert (counts.created_count, counts.updated_count, counts.unchanged_count) == (2, 0, 0)
    inferred = relations_pb2.RELATION_ORIGIN_INFERRED
    counts = await put(
        tier,
        relation(a, "FIXES", b, strength=0.2, origin=inferred, evidence="similar"),
        relation(a, "RELATED", b, strength=0.5),
        relation(c, "SIMILAR_TO", a, strength=0.9, origin=inferred, evidence="cosine 0.9"),
    )
    assert (counts.created_count, counts.updated_count, counts.unchanged_count) == (1, 1, 1)
    found = {(one.source_id, one.relation_type): one for one in await listed(tier, chunk_id=a)}
    fixes = found[a, relations_pb2.CHUNK_RELATION_TYPE_FIXES]
    assert (fixes.strength, fixes.origin) == (1.0, relations_pb2.RELATION_ORIGIN_GIVEN)
    assert found[a, relations_pb2.CHUNK_RELATION_TYPE_RELATED].strength == 0.5
    similar = found[c, relations_pb2.CHUNK_RELATION_TYPE_SIMILAR_TO]
    assert (similar.origin, similar.evidence) == (inferred, "cosine 0.9")
    assert [one.source_id for one in await listed(tier, origin=inferred)] == [c]
    stats = await tier.query.GetRelationStats(
        relations_pb2.GetRelationStatsRequest(), metadata=tier.ours
    )
    assert (stats.chunk_count, stats.relation_count) == (3, 3)
    gone = relations_pb2.DeleteRelationsRequest(
        relations=[relations_pb2.RelationRef(source_id=a, target_id=b)]
    )
    assert (await tier.ingest.DeleteRelations(gone, metadata=tier.ours)).deleted_count == 2
    assert (await tier.ingest.DeleteRelations(gone, metadata=tier.ours)).deleted_count == 0
    assert [one.source_id for one in await listed(tier)] == [c]


async def test_a_page_of_relations_continues_where_the_previous_page_ended(tier: Tier) -> None:
    hub, *spokes = await chunks(tier, 6)
    await put(tier, *(relation(hub, "RELATED", spoke) for spoke in spokes))
    for chunk in (hub, ""):
        seen: list[str] = []
        token = ""
        while True:
            request = relations_pb2.ListRelationsRequest(
                page_size=2, page_token=token, chunk_id=chunk
            )
            page = await tier.query.ListRelations(request, metadata=tier.ours)
            seen += [one.target_id for one in page.relations]
            token = page.next_page_token
            if not token:
                break
        assert seen == sorted(spokes)


async def test_deleting_a_chunk_deletes_its_relations(tier: Tier) -> None:
    a, b = await chunks(tier, 2)
    await put(tier, relation(a, "FIXES", b))
    await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[b]), metadata=tier.ours
    )
    assert await listed(tier) == []
    assert await refused(put(tier, relation(a, "FIXES", b))) == ["relations[0].target_id"]


async def test_invalid_relations_are_refused_naming_the_field_and_nothing_is_stored(
    tier: Tier,
) -> None:
    a, b = await chunks(tier, 2)
    (foreign,) = await chunks(tier, 1, tier.theirs)
    good = relation(a, "FIXES", b)
    assert await refused(put(tier, good, relation(a, "FIXES", foreign))) == [
        "relations[1].target_id"
    ]
    assert await refused(put(tier, good, relation(str(uuid.uuid4()), "FIXES", b))) == [
        "relations[1].source_id"
    ]
    assert await refused(put(tier, good, relation(a, "FIXES", a.upper()))) == ["relations[1]"]
    assert await refused(put(tier, good, relation(a, "RELATED", b, strength=1.5))) == [
        "relations[1].strength"
    ]
    assert await refused(put(tier, good, good)) == ["relations[1]"]
    unknown = relations_pb2.ChunkRelationInput(source_id=a, target_id=b, relation_type=99)  # type: ignore[arg-type]
    assert await refused(put(tier, good, unknown)) == ["relations[1].relation_type"]
    assert await listed(tier) == []
    assert await refused(expand(tier, {a: 1.0}, max_hops=4)) == ["max_hops"]
    assert await refused(expand(tier, {a: 1.5})) == ["seeds[0].score"]
    assert await refused(expand(tier, {})) == ["seeds"]


async def test_chunks_and_relations_of_another_space_are_not_visible(tier: Tier) -> None:
    a, b = await chunks(tier, 2)
    await put(tier, relation(a, "FIXES", b))
    seed = expansion_pb2.ExpansionSeed(chunk_id=a, score=1.0)
    found = await tier.query.Expand(expansion_pb2.ExpandRequest(seeds=[seed]), metadata=tier.theirs)
    assert [item.chunk_id for item in found.items] == [a]
    assert found.stats.incident_relation_count == 0
    page = await tier.query.ListRelations(
        relations_pb2.ListRelationsRequest(chunk_id=a), metadata=tier.theirs
    )
    assert list(page.relations) == []
    gone = relations_pb2.DeleteRelationsRequest(
        relations=[relations_pb2.RelationRef(source_id=a, target_id=b)]
    )
    assert (await tier.ingest.DeleteRelations(gone, metadata=tier.theirs)).deleted_count == 0
    assert len(await listed(tier)) == 1
    stats = await tier.query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=tier.theirs)
    assert stats.episode_count == 0
