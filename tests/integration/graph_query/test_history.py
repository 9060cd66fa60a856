"""Facts in valid time and in knowledge time over gRPC: lists, histories, snapshots, differences."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import retrieval_pb2
from braid.graph.internal.v1 import deletion_pb2
from braid.graph.v1 import entities_pb2, facts_pb2, history_pb2, ingest_pb2, structure_pb2
from tests.integration.graph_query.conftest import Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream


def entity(name: str, kind: str = "") -> entities_pb2.EntitySelector:
    return entities_pb2.EntitySelector(name=name, type=kind)


def instant(text: str) -> retrieval_pb2.TimeSelector:
    return retrieval_pb2.TimeSelector(instant=stamp(text))


def span(since: str = "", until: str = "") -> retrieval_pb2.TimeSelector:
    found = retrieval_pb2.TimeRange(
        start_time=stamp(since) if since else None, end_time=stamp(until) if until else None
    )
    return retrieval_pb2.TimeSelector(range=found)


async def add_owners(tier: Tier) -> None:
    """Adds the successive owners of a service, and the homes of one of them."""
    value: list[tuple[str, str, str, str | None, str | None]] = [
        ("Anna Bell", "OWNS", "Payments", "2018-01-01", "2020-01-01"),
        ("Karl Otto", "OWNS", "Payments", "2020-01-01", "2022-06-01"),
        ("Mira Okafor", "OWNS", "Payments", "2022-06-01", None),
        ("Mira Okafor", "LIVES_IN", "Vienna", None, "2021-01-01"),
        ("Mira Okafor", "LIVES_IN", "Graz", "2021-01-01", None),
    ]
    facts = []
    for subject, relation, target, since, until in value:
        dates: dict[str, Timestamp] = {}
        if since:
            dates["valid_time"] = stamp(since)
        if until:
            dates["invalid_time"] = stamp(until)
        facts.append(fact(subject, relation, target, **dates))
    await tier.ingest.AddFacts(stream(*facts), metadata=tier.ours)


async def history(tier: Tier, name: str, **more: Any) -> history_pb2.GetEntityHistoryResponse:
    request = history_pb2.GetEntityHistoryRequest(entity=entity(name), **more)
    return await tier.query.GetEntityHistory(request, metadata=tier.ours)


async def listed(tier: Tier, **asked: Any) -> list[str]:
    request = structure_pb2.ListFactsRequest(**asked)
    page = await tier.query.ListFacts(request, metadata=tier.ours)
    return [statement(one) for one in page.facts]


def statement(one: facts_pb2.Fact) -> str:
    return f"{one.subject.name} {one.relation_type} {one.object.name}"


async def test_facts_are_listed_as_of_now_an_instant_or_a_range(tier: Tier) -> None:
    await add_owners(tier)
    asked = {"object": entity("payments"), "relation_type": "owns"}
    assert await listed(tier, **asked) == ["Mira Okafor OWNS Payments"]
    then = await listed(tier, **asked, as_of=instant("2020-01-01"))
    assert then == ["Karl Otto OWNS Payments"]
    year = await listed(tier, **asked, as_of=span("2022-01-01", "2023-01-01"))
    assert year == ["Karl Otto OWNS Payments", "Mira Okafor OWNS Payments"]
    assert len(await listed(tier, **asked, as_of=span())) == 3


async def test_pages_of_facts_are_contiguous_and_their_tokens_valid_only_for_their_query(
    tier: Tier,
) -> None:
    await add_owners(tier)
    request = structure_pb2.ListFactsRequest(as_of=span(), page_size=2)
    seen = []
    while True:
        page = await tier.query.ListFacts(request, metadata=tier.ours)
        seen += [statement(one) for one in page.facts]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert len(seen) == len(set(seen)) == 5
    assert seen[0] == "Mira Okafor LIVES_IN Vienna"
    request.relation_type = "OWNS"
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await tier.query.ListFacts(request, metadata=tier.ours)
    assert failed.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_a_history_is_in_order_of_time_and_has_a_summary(tier: Tier) -> None:
    await add_owners(tier)
    found = await history(tier, "payments", relation_type="OWNS")
    assert [one.subject.name for one in found.facts] == [
        "Anna Bell",
        "Karl Otto",
        "Mira Okafor",
    ]
    value = found.summary
    assert (value.fact_count, value.current_fact_count) == (3, 1)
    assert [one.subject.name for one in value.current] == ["Mira Okafor"]
    assert value.unchanged_since_time == stamp("2022-06-01")
    assert value.earliest_valid_time == stamp("2018-01-01")
    assert not value.never_changed
    periods = [
        (one.start_time.ToDatetime().year, one.began_count, one.ended_count)
        for one in value.periods
        if one.HasField("start_time")
    ]
    assert periods == [(2018, 1, 0), (2019, 0, 1), (2020, 1, 0), (2022, 1, 1)]


async def test_a_history_with_a_past_as_of_summarizes_the_facts_valid_then(
    tier: Tier,
) -> None:
    await add_owners(tier)
    found = await history(tier, "payments", as_of=stamp("2019-01-01"))
    assert [one.subject.name for one in found.summary.current] == ["Anna Bell"]
    assert found.summary.never_changed
    assert found.summary.unchanged_since_time == stamp("2018-01-01")
    later = await history(tier, "payments", since_time=stamp("2020-01-01"))
    assert [one.subject.name for one in later.facts] == ["Karl Otto", "Mira Okafor"]


async def test_a_history_reports_that_an_entity_never_changed(tier: Tier) -> None:
    await tier.ingest.AddFacts(stream(fact("Anna Bell", "IS", "Nurse")), metadata=tier.ours)
    found = await history(tier, "Anna Bell")
    assert found.summary.never_changed
    assert not found.summary.HasField("unchanged_since_time")
    assert found.summary.HasField("first_seen_time")
    assert found.summary.current_fact_count == 1


async def test_pages_of_a_history_have_every_fact_once_and_the_summary_on_the_first_page(
    tier: Tier,
) -> None:
    facts = [
        fact("Anna Bell", "SAW", f"Town {number}", valid_time=stamp(f"20{number:02}-01-01"))
        for number in range(9)
    ]
    await tier.ingest.AddFacts(stream(*facts), metadata=tier.ours)
    request = history_pb2.GetEntityHistoryRequest(entity=entity("Anna Bell"), page_size=4)
    names, summaries = [], []
    while True:
        page = await tier.query.GetEntityHistory(request, metadata=tier.ours)
        names += [one.object.name for one in page.facts]
        summaries.append(page.HasField("summary"))
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert names == [f"Town {number}" for number in range(9)]
    assert summaries == [True, False, False]


async def test_a_snapshot_returns_the_state_at_a_time_and_the_changes_since(tier: Tier) -> None:
    await add_owners(tier)
    request = history_pb2.GetSnapshotRequest(as_of=instant("2019-01-01"))
    found = await tier.query.GetSnapshot(request, metadata=tier.ours)
    assert [statement(one) for one in found.facts] == [
        "Mira Okafor LIVES_IN Vienna",
        "Anna Bell OWNS Payments",
    ]
    assert [statement(one) for one in found.changes.ended] == ["Anna Bell OWNS Payments"]
    assert [statement(one) for one in found.changes.added] == ["Mira Okafor OWNS Payments"]
    moved = found.changes.changed
    assert [statement(one) for one in moved[0].before] == ["Mira Okafor LIVES_IN Vienna"]
    assert [statement(one) for one in moved[0].after] == ["Mira Okafor LIVES_IN Graz"]


async def test_a_diff_compares_two_times_in_either_direction(tier: Tier) -> None:
    await add_owners(tier)

    async def diff(since: str, until: str, name: str) -> history_pb2.GraphDiff:
        request = history_pb2.DiffGraphRequest(
            before=instant(since), after=instant(until), entity=entity(name)
        )
        return (await tier.query.DiffGraph(request, metadata=tier.ours)).diff

    forward = await diff("2019-01-01", "2020-06-01", "payments")
    assert [statement(one) for one in forward.added] == ["Karl Otto OWNS Payments"]
    assert [statement(one) for one in forward.ended] == ["Anna Bell OWNS Payments"]
    backward = await diff("2020-06-01", "2019-01-01", "payments")
    assert [one.id for one in backward.added] == [one.id for one in forward.ended]
    assert (forward.added_count, forward.ended_count, forward.changed_count) == (1, 1, 0)
    same = await diff("2018-01-01", "2019-12-31", "payments")
    assert (same.added_count, same.ended_count, same.changed_count) == (0, 0, 0)


async def test_facts_known_before_a_deletion_are_returned_as_of_that_time(tier: Tier) -> None:
    note = episode("note", "Note", "Nothing of interest.")
    await tier.ingest.AddEpisode(ingest_pb2.AddEpisodeRequest(episode=note), metadata=tier.ours)
    await tier.ingest.AddFacts(
        stream(fact("Anna Bell", "OWNS", "Payments", document_id="note")), metadata=tier.ours
    )
    known = await history(tier, "payments")
    then = known.facts[0].create_time
    await tier.deletion.DeleteEpisodes(
        deletion_pb2.DeleteEpisodesRequest(chunk_ids=[note.chunk_id]), metadata=tier.ours
    )
    assert await listed(tier) == []
    assert await listed(tier, known_time=then) == ["Anna Bell OWNS Payments"]
    past = await history(tier, "Payments", known_time=then)
    assert [statement(one) for one in past.facts] == ["Anna Bell OWNS Payments"]
    request = structure_pb2.GetFactRequest(fact_id=known.facts[0].id)
    found = await tier.query.GetFact(request, metadata=tier.ours)
    assert not found.HasField("fact")
    assert [one.HasField("superseded_time") for one in found.versions] == [True]


async def test_an_ended_fact_has_two_versions(tier: Tier) -> None:
    await tier.ingest.AddFacts(stream(fact("Anna Bell", "OWNS", "Payments")), metadata=tier.ours)
    uuid = (await history(tier, "payments")).facts[0].id
    await tier.ingest.EndFact(
        ingest_pb2.EndFactRequest(fact_id=uuid, invalid_time=stamp("2020-01-01")),
        metadata=tier.ours,
    )
    found = await tier.query.GetFact(structure_pb2.GetFactRequest(fact_id=uuid), metadata=tier.ours)
    assert found.fact.invalid_time == stamp("2020-01-01")
    assert [one.fact.HasField("invalid_time") for one in found.versions] == [False, True]
    assert found.versions[0].superseded_time == found.versions[1].known_time
    assert await listed(tier, known_time=found.versions[0].known_time) == [
        "Anna Bell OWNS Payments"
    ]
    assert await listed(tier) == []
