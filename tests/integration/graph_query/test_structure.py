"""The graph's structure over gRPC: entities by name, names in text, paths, subgraphs."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from braid.common.v1 import errors_pb2
from braid.graph.v1 import entities_pb2, facts_pb2, ingest_pb2, structure_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream


def entity(name: str, kind: str = "") -> entities_pb2.EntitySelector:
    return entities_pb2.EntitySelector(name=name, type=kind)


async def details(tier: Tier, **selector: str) -> list[entities_pb2.EntityDetails]:
    request = entities_pb2.GetEntityRequest(entity=entities_pb2.EntitySelector(**selector))
    return list((await tier.query.GetEntity(request, metadata=tier.ours)).entities)


async def paths(tier: Tier, source: str, target: str, **more: Any) -> list[list[str]]:
    request = structure_pb2.FindPathsRequest(source=entity(source), target=entity(target), **more)
    found = await tier.query.FindPaths(request, metadata=tier.ours)
    for path in found.paths:
        for place, one in enumerate(path.facts):
            ends = {one.subject.id, one.object.id}
            assert ends == {node.id for node in path.nodes[place : place + 2]}
    return [[node.name for node in path.nodes] for path in found.paths]


async def test_an_entity_is_found_by_exact_name_whatever_its_case(tier: Tier) -> None:
    result = fact("Anna  Bell", "OWNS", "Payments", subject_type="Person")
    await tier.ingest.AddFacts(stream(result), metadata=tier.ours)
    found = await details(tier, name="anna BELL")
    assert [(one.entity.name, one.entity.type, one.fact_count) for one in found] == [
        ("Anna Bell", "Person", 1)
    ]
    assert found[0].HasField("first_seen_time")
    assert [one.entity for one in await details(tier, id=found[0].entity.id)] == [found[0].entity]
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await details(tier, name="Anna")
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND


async def test_homonyms_are_listed_and_no_path_is_guessed(tier: Tier) -> None:
    await tier.ingest.AddFacts(
        stream(
            fact("Mercury", "ORBITS", "Sun", subject_type="Planet"),
            fact("Mercury", "IS_IN", "Thermometer", subject_type="Element"),
        ),
        metadata=tier.ours,
    )
    assert {one.entity.type for one in await details(tier, name="mercury")} == {
        "Element",
        "Planet",
    }
    request = structure_pb2.FindPathsRequest(source=entity("Mercury"), target=entity("Sun"))
    found = await tier.query.FindPaths(request, metadata=tier.ours)
    assert {one.type for one in found.source_homonyms} == {"Element", "Planet"}
    assert list(found.paths) == []
    request.source.type = "Planet"
    found = await tier.query.FindPaths(request, metadata=tier.ours)
    assert [len(path.facts) for path in found.paths] == [1]
    assert list(found.source_homonyms) == []


async def test_entities_in_a_text_are_linked_in_order_of_position(tier: Tier) -> None:
    await tier.ingest.AddFacts(
        stream(
            fact("José Núñez", "OWNS", "Payments Service"),
            fact("C++", "IS", "Language"),
            fact("C#", "IS", "Language"),
        ),
        metadata=tier.ours,
    )
    text = "Does the payments SERVICE of Jose Nunez use C++? José Núñez says so."
    found = await tier.query.LinkEntities(
        entities_pb2.LinkEntitiesRequest(text=text), metadata=tier.ours
    )
    rows = [(one.entity.name, text[one.start : one.end]) for one in found.entities]
    assert rows == [
        ("Payments Service", "payments SERVICE"),
        ("José Núñez", "Jose Nunez"),
        ("C++", "C"),
    ]
    limited = await tier.query.LinkEntities(
        entities_pb2.LinkEntitiesRequest(text=text, limit=1), metadata=tier.ours
    )
    assert (len(limited.entities), limited.truncated) == (1, True)


async def test_paths_follow_facts_in_either_direction_and_local_facts_on_request(
    tier: Tier,
) -> None:
    await tier.ingest.AddEpisode(
        ingest_pb2.AddEpisodeRequest(
            episode=episode("d1", "Anna Bell", "She met Zoe Zimmer in Vienna Hall.")
        ),
        metadata=tier.ours,
    )
    await tier.ingest.AddFacts(
        stream(
            fact("Anna Bell", "OWNS", "Payments"),
            fact("Karl Otto", "USES", "Payments"),
            fact("Karl Otto", "KNOWS", "Lena Roth"),
        ),
        metadata=tier.ours,
    )
    assert await paths(tier, "anna bell", "Lena Roth") == [
        ["Anna Bell", "Payments", "Karl Otto", "Lena Roth"]
    ]
    assert await paths(tier, "anna bell", "Lena Roth", max_hops=2) == []
    assert await paths(tier, "Zoe Zimmer", "Payments") == []
    assert await paths(tier, "Zoe Zimmer", "Payments", include_local=True) == [
        ["Zoe Zimmer", "Anna Bell", "Payments"]
    ]


async def test_a_path_avoids_a_local_fact_that_a_stated_fact_contradicts(tier: Tier) -> None:
    text = "She told Karl Otto that Lena Roth would leave."
    await tier.ingest.AddEpisode(
        ingest_pb2.AddEpisodeRequest(episode=episode("d1", "Anna Bell", text)), metadata=tier.ours
    )
    parameters = {"valid_time": stamp("2020-01-01"), "invalid_time": stamp("2021-01-01")}
    await tier.ingest.AddFacts(
        stream(
            fact("Karl Otto", "LEADS", "Lena Roth", **parameters),
            fact("Anna Bell", "OWNS", "Payments"),
            fact("Karl Otto", "USES", "Payments"),
        ),
        metadata=tier.ours,
    )
    assert await paths(tier, "Anna Bell", "Karl Otto", include_local=True) == [
        ["Anna Bell", "Payments", "Karl Otto"]
    ]


async def test_a_subgraph_refers_to_its_episodes_and_entities_by_index(tier: Tier) -> None:
    chunks = [
        episode("d1", "Anna Bell", "She met Karl Otto."),
        episode("d2", "Karl Otto", "He knows Lena Roth."),
    ]
    await tier.ingest.BatchAddEpisodes(
        ingest_pb2.BatchAddEpisodesRequest(episodes=chunks), metadata=tier.ours
    )
    found = await tier.query.GetMentionSubgraph(
        structure_pb2.GetMentionSubgraphRequest(chunk_ids=[chunks[0].chunk_id.upper()]),
        metadata=tier.ours,
    )
    rows = {
        (found.episodes[one.episode].document_id, found.entities[one.entity].name, one.kind)
        for one in found.mentions
    }
    assert rows == {
        ("d1", "Anna Bell", structure_pb2.MENTION_KIND_ABOUT),
        ("d1", "Karl Otto", structure_pb2.MENTION_KIND_NAME),
        ("d2", "Karl Otto", structure_pb2.MENTION_KIND_ABOUT),
    }
    assert [one.seed for one in found.episodes] == [True, False]


async def test_a_fact_cites_its_sources_and_exposes_neither_base_label_nor_vector(
    tier: Tier,
) -> None:
    await tier.ingest.AddEpisode(
        ingest_pb2.AddEpisodeRequest(episode=episode("d1", "Note", "Anna Bell owns Payments.")),
        metadata=tier.ours,
    )
    result = fact("Anna Bell", "OWNS", "Payments", document_id="d1", subject_type="Person")
    result.attributes.update({"since": "long ago"})
    await tier.ingest.AddFacts(stream(result), metadata=tier.ours)
    page = await tier.query.ListFacts(structure_pb2.ListFactsRequest(), metadata=tier.ours)
    one = page.facts[0]
    assert [cited.document_id for cited in one.sources] == ["d1"]
    assert dict(one.attributes) == {"since": "long ago"}
    assert one.origin == facts_pb2.FACT_ORIGIN_GIVEN
    assert (one.subject.type, one.object.type) == ("Person", "")
    assert "embedding" not in str(page)
