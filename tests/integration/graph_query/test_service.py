"""The graph tier's gRPC services: stored facts and entities are found by words and by time, with their sources."""

from __future__ import annotations

import uuid
from typing import Any

import grpc
import pytest

from braid.common.v1 import errors_pb2, legs_pb2, retrieval_pb2
from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import facts_pb2, ingest_pb2, query_pb2
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream
from tests.store_suite.graph.builders import unit

NOTE = "Mira Okafor owns the Payments Service. She met Karl Otto in Vienna Hall."


async def add_note_and_owners(tier: Tier) -> None:
    """Adds one note, and the successive owners of a service."""
    await tier.ingest.AddEpisode(
        ingest_pb2.AddEpisodeRequest(episode=episode("note", "Mira Okafor", NOTE)),
        metadata=tier.ours,
    )
    await tier.ingest.AddFacts(
        stream(
            fact(
                "Anna Bell",
                "OWNS",
                "Payments Service",
                valid_time=stamp("2020-01-01"),
                invalid_time=stamp("2022-01-01"),
                object_type="Service",
            ),
            fact(
                "Mira Okafor",
                "OWNS",
                "Payments Service",
                valid_time=stamp("2022-01-01"),
                document_id="note",
                subject_type="Person",
            ),
        ),
        metadata=tier.ours,
    )


async def test_a_question_finds_the_currently_valid_fact_with_its_source(tier: Tier) -> None:
    await add_note_and_owners(tier)
    answer = await tier.query.SearchFacts(
        query_pb2.SearchFactsRequest(query="Who owns the Payments Service?"), metadata=tier.ours
    )
    best = answer.hits[0].fact
    assert (best.subject.name, best.subject.type) == ("Mira Okafor", "Person")
    assert best.origin == facts_pb2.FACT_ORIGIN_GIVEN
    assert [cited.document_id for cited in best.sources] == ["note"]
    assert answer.leg.status == legs_pb2.LEG_STATUS_OK
    assert answer.space_revision == 3
    assert not [hit for hit in answer.hits if hit.fact.subject.name == "Anna Bell"]


async def test_a_search_as_of_a_past_time_finds_the_facts_valid_then(tier: Tier) -> None:
    await add_note_and_owners(tier)
    then = retrieval_pb2.TimeSelector(instant=stamp("2021-01-01"))
    answer = await tier.query.SearchFacts(
        query_pb2.SearchFactsRequest(query="owns Payments", as_of=then, relation_type="owns"),
        metadata=tier.ours,
    )
    assert [hit.fact.subject.name for hit in answer.hits] == ["Anna Bell"]


async def test_a_search_of_a_time_range_finds_facts_valid_at_any_time_within_it(tier: Tier) -> None:
    await add_note_and_owners(tier)
    years = retrieval_pb2.TimeRange(start_time=stamp("2021-06-01"), end_time=stamp("2022-01-02"))
    answer = await tier.query.SearchFacts(
        query_pb2.SearchFactsRequest(
            query="owns Payments",
            as_of=retrieval_pb2.TimeSelector(range=years),
            relation_type="OWNS",
        ),
        metadata=tier.ours,
    )
    found = {hit.fact.subject.name for hit in answer.hits}
    assert found == {"Anna Bell", "Mira Okafor"}


async def test_a_neighborhood_ignores_case_and_marks_local_facts(tier: Tier) -> None:
    await add_note_and_owners(tier)
    found = await tier.query.GetNeighborhood(
        query_pb2.GetNeighborhoodRequest(entity_name="mira   OKAFOR"), metadata=tier.ours
    )
    names = [node.name for node in found.nodes]
    assert names == ["Payments Service", "Karl Otto", "Vienna Hall"]
    assert (found.neighbor_count, found.truncated) == (3, False)
    local = [edge for edge in found.edges if edge.origin == facts_pb2.FACT_ORIGIN_LOCAL]
    assert {edge.sources[0].quote for edge in local} == {
        "Mira Okafor owns the Payments Service.",
        "She met Karl Otto in Vienna Hall.",
    }


async def test_a_page_token_of_entities_is_valid_only_for_its_query(tier: Tier) -> None:
    await add_note_and_owners(tier)
    first = await tier.query.ListEntities(
        query_pb2.ListEntitiesRequest(page_size=2), metadata=tier.ours
    )
    assert [one.name for one in first.entities] == ["Anna Bell", "Karl Otto"]
    second = await tier.query.ListEntities(
        query_pb2.ListEntitiesRequest(page_size=9, page_token=first.next_page_token),
        metadata=tier.ours,
    )
    rest = [one.name for one in second.entities]
    assert rest == ["Mira Okafor", "Payments Service", "Vienna Hall"]
    assert second.next_page_token == ""
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.query.ListEntities(
            query_pb2.ListEntitiesRequest(type="Person", page_token=first.next_page_token),
            metadata=tier.ours,
        )
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_page_token_by_mentions_is_valid_only_for_its_order_and_filters(tier: Tier) -> None:
    await add_note_and_owners(tier)
    first = query_pb2.ListEntitiesRequest(page_size=2, order_by=query_pb2.ENTITY_ORDER_MENTIONS)
    page = await tier.query.ListEntities(first, metadata=tier.ours)
    mentions = [one.mention_count for one in page.entities]
    assert mentions == sorted(mentions, reverse=True)
    assert all(one.HasField("document_title") for one in page.entities)
    later: dict[str, Any] = {"page_token": page.next_page_token, "order_by": first.order_by}
    await tier.query.ListEntities(query_pb2.ListEntitiesRequest(**later), metadata=tier.ours)
    for other in (
        {"order_by": query_pb2.ENTITY_ORDER_NAME},
        {"document_titles": query_pb2.DOCUMENT_TITLES_EXCLUDE},
        {"type": "Person"},
    ):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            request = query_pb2.ListEntitiesRequest(**{**later, **other})
            await tier.query.ListEntities(request, metadata=tier.ours)
        assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_entities_are_filtered_by_type_and_the_base_label_is_not_a_type(tier: Tier) -> None:
    await add_note_and_owners(tier)
    for kind, names in {"Person": ["Mira Okafor"], "Entity": [], "Nothing": []}.items():
        page = await tier.query.ListEntities(
            query_pb2.ListEntitiesRequest(type=kind), metadata=tier.ours
        )
        assert [one.name for one in page.entities] == names
    stats = await tier.query.GetGraphStats(query_pb2.GetGraphStatsRequest(), metadata=tier.ours)
    assert dict(stats.entity_counts_by_type) == {"": 3, "Person": 1, "Service": 1}
    assert (stats.fact_count, stats.episode_count) == (2, 1)
    assert set(stats.index_states.values()) == {query_pb2.INDEX_STATE_ONLINE}


async def test_facts_and_entities_are_not_visible_in_another_space(tier: Tier) -> None:
    await add_note_and_owners(tier)
    answer = await tier.query.SearchFacts(
        query_pb2.SearchFactsRequest(query="Who owns the Payments Service?"), metadata=tier.theirs
    )
    assert (list(answer.hits), answer.leg.status) == ([], legs_pb2.LEG_STATUS_NO_MATCH)
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.query.GetNeighborhood(
            query_pb2.GetNeighborhoodRequest(entity_name="Mira Okafor"), metadata=tier.theirs
        )
    assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND
    page = await tier.query.ListEntities(query_pb2.ListEntitiesRequest(), metadata=tier.theirs)
    assert list(page.entities) == []


async def test_invalid_facts_are_refused_by_index_and_the_others_are_added(
    tier: Tier,
) -> None:
    day = stamp("2020-01-01")
    nested = fact("Aaa Bbb", "IS", "Nested")
    nested.attributes.update({"deep": {"er": 1}})
    answer = await tier.ingest.AddFacts(
        stream(
            fact("Aaa Bbb", "IS", "Reversed", valid_time=day, invalid_time=stamp("2019-01-01")),
            fact("Aaa Bbb", "IS", "Empty", valid_time=day, invalid_time=day),
            nested,
            fact("Aaa Bbb", "IS", "Short", embedding=[1.0]),
            fact("Aaa Bbb", "IS", "Taken", embedding=unit(1)),
            model="model",
        ),
        metadata=tier.ours,
    )
    assert (answer.added_count, answer.refused_count) == (1, 4)
    assert [refused.index for refused in answer.refused] == [0, 1, 2, 3]
    assert answer.refused[0].reason == "must end after the time since when it holds"


async def test_vectors_are_searched_if_the_space_has_any(tier: Tier) -> None:
    await tier.ingest.AddFacts(
        stream(fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1)), model="model"),
        metadata=tier.ours,
    )
    answer = await tier.query.SearchFacts(
        query_pb2.SearchFactsRequest(query="nothing alike"), metadata=tier.ours
    )
    assert answer.vector_path == retrieval_pb2.VECTOR_PATH_EXACT
    assert answer.hits[0].scores.vector == pytest.approx(1, abs=0.01)
    assert "embedding" not in str(answer)


async def test_deleting_an_episode_deletes_its_entities_mentions_and_local_facts(
    tier: Tier,
) -> None:
    await add_note_and_owners(tier)
    gone = episode("other", "Zoe Zimmer", "She met Karl Otto.")
    batch = ingest_pb2.BatchAddEpisodesRequest(episodes=[gone])
    added = await tier.ingest.BatchAddEpisodes(batch, metadata=tier.ours)
    assert (added.counts.added_episode_count, added.counts.added_entity_count) == (1, 1)
    deleted = await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[gone.chunk_id, str(uuid.uuid4())]),
        metadata=tier.ours,
    )
    assert (deleted.deleted_episode_count, deleted.deleted_entity_count) == (1, 1)
    assert (deleted.deleted_mention_count, deleted.deleted_local_fact_count) == (2, 1)
