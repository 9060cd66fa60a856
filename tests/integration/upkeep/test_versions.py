"""A changed document is a new version that ends the old one; each is found as of its own time, on real stores."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from braid.agent.v1 import ingest_pb2, jobs_pb2
from braid.vector.v1 import search_pb2
from services.graph_query.core.domain import FactFilter
from services.graph_query.core.full_text import query_terms
from services.runtime.times import to_timestamp, utc_now
from tests.integration.upkeep.conftest import OURS, World
from tests.store_suite.vector.builders import year


async def contents(world: World, at: int | None) -> list[str]:
    """The chunks that a text search finds as of a year."""
    request = search_pb2.TextSearchRequest(query="Ada met", limit=10)
    if at is not None:
        request.as_of.CopyFrom(to_timestamp(year(at)))
    answer = await world.chunks.TextSearch(request, metadata=OURS, timeout=10)
    return [hit.chunk.content for hit in answer.hits]


async def put(world: World, text: str, since: int, title: str = "") -> jobs_pb2.Job:
    """Uploads a version that is valid since a year."""
    about = ingest_pb2.DocumentMetadata(
        document_id="d",
        content_type="text/plain",
        title=title,
        valid_time=to_timestamp(year(since)),
    )
    parts = [
        ingest_pb2.IngestDocumentRequest(metadata=about),
        ingest_pb2.IngestDocumentRequest(data=text.encode()),
    ]
    answer = await world.ingest.IngestDocument(iter(parts), metadata=OURS, timeout=20)
    return await world.ended(answer.job.id)


async def test_each_version_is_found_as_of_its_own_time_and_the_graph_keeps_both(
    world: World,
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        first = await put(world, "Ada met Bob.", 2001)
        again = await put(world, "Ada met Bob.", 2001)
        second = await put(world, "Ada met Carl.", 2010)
    assert (first.written_chunk_count, again.unchanged_count, second.written_chunk_count) == (
        1,
        1,
        1,
    )
    assert await contents(world, None) == ["Ada met Carl."]
    assert await contents(world, 2005) == ["Ada met Bob."]
    assert await contents(world, 2000) == []
    episodes = await world.graph.inventory.list_episodes(world.space, "", 10)
    assert [one.document_id for one in episodes] == ["d", "d"]
    document, _ = await world.vector.get_document(world.space, "d")
    assert document.version == 2


async def local_facts(world: World, at: int | None) -> set[str]:
    """The local facts as of a year; word search and neighborhood must agree on them."""
    instant = (utc_now() if at is None else year(at)).timestamp()
    only = FactFilter(instant, instant)
    found = await world.graph.search_words(world.space, query_terms("leads"), [], only, 10)
    said = {fact.fact for facts, _ in found.sentences for fact in facts}
    near = await world.graph.neighborhood(world.space, "orion", "", 10, only)
    assert {fact.fact for fact in near.edges} == said
    return said


ADA, BERTA = "Ada Byron leads Orion.", "Berta Benz leads Orion."
# Long enough for a separate chunk, which both versions share.
SHARED = "Carl Orff leads nobody at Orion. " + "The rest is silence. " * 40


async def test_a_local_fact_is_valid_while_a_version_contains_its_sentence(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, f"{ADA}\n\n{SHARED}", 2001, "Orion")
        second = await put(world, f"{BERTA}\n\n{SHARED}", 2010, "Orion")
        assert second.written_chunk_count == 1
        shared = {"Carl Orff leads nobody at Orion."}
        assert await local_facts(world, None) == {BERTA} | shared
        assert await local_facts(world, 2005) == {ADA} | shared
        assert await local_facts(world, 2000) == set()
        await put(world, f"{ADA}\n\n{SHARED}", 2015, "Orion")
        assert await local_facts(world, None) == {ADA} | shared
        assert await local_facts(world, 2012) == {BERTA} | shared


async def test_an_undated_document_has_the_local_facts_of_its_last_upload(world: World) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await world.put("d", ADA, "Orion")
        assert await local_facts(world, None) == {ADA}
        between = utc_now()
        await world.put("d", BERTA, "Orion")
        assert await local_facts(world, None) == {BERTA}
    only = FactFilter(between.timestamp(), between.timestamp())
    near = await world.graph.neighborhood(world.space, "orion", "", 10, only)
    assert {fact.fact for fact in near.edges} == {ADA}


def line(day: int, text: str) -> dict[str, str]:
    """A message of a day in February 2025."""
    return {"thread": "ops", "author": "Zoe", "time": f"2025-02-{day:02}T09:00:00Z", "text": text}


async def put_thread(world: World, *lines: dict[str, str]) -> jobs_pb2.Job:
    """Uploads a thread as a file of messages."""
    about = ingest_pb2.DocumentMetadata(
        source="ops.messages.jsonl", content_type="application/vnd.braid.messages+jsonl"
    )
    parts = [
        ingest_pb2.IngestDocumentRequest(metadata=about),
        ingest_pb2.IngestDocumentRequest(data="\n".join(map(json.dumps, lines)).encode()),
    ]
    answer = await world.ingest.IngestDocument(iter(parts), metadata=OURS, timeout=20)
    return await world.ended(answer.job.id)


async def written_by(world: World, at: datetime | None) -> tuple[list[datetime], set[str]]:
    """The times of the messages that a search as of a time finds, and the local facts of that time."""
    request = search_pb2.TextSearchRequest(query="leads Orion", limit=10)
    if at is not None:
        request.as_of.CopyFrom(to_timestamp(at))
    answer = await world.chunks.TextSearch(request, metadata=OURS, timeout=10)
    instant = (at or utc_now()).timestamp()
    near = await world.graph.neighborhood(
        world.space, "orion team", "", 10, FactFilter(instant, instant)
    )
    hits = sorted(hit.chunk.valid_time.ToDatetime(UTC) for hit in answer.hits)
    return hits, {edge.fact.partition(": ")[2] for edge in near.edges}


async def test_a_search_as_of_a_time_finds_the_messages_written_by_then(world: World) -> None:
    messages = [
        line(3, "Ada Byron leads Orion Team."),
        line(10, "Berta Benz leads Orion Team."),
        line(17, "Carl Orff leads Orion Team."),
    ]
    third, tenth, last = (datetime(2025, 2, day, 9, tzinfo=UTC) for day in (3, 10, 17))
    said = [one["text"] for one in messages]
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put_thread(world, *messages[:2])
        assert await written_by(world, datetime(2025, 3, 1, tzinfo=UTC)) == (
            [third, tenth],
            set(said[:2]),
        )
        grown = await put_thread(world, *messages)
        again = await put_thread(world, *messages)
    assert (grown.written_chunk_count, again.unchanged_count) == (1, 1)
    assert await written_by(world, None) == ([third, tenth, last], set(said))
    assert await written_by(world, datetime(2025, 3, 1, tzinfo=UTC)) == (
        [third, tenth, last],
        set(said),
    )
    assert await written_by(world, datetime(2025, 2, 12, tzinfo=UTC)) == (
        [third, tenth],
        set(said[:2]),
    )
    assert await written_by(world, third + timedelta(hours=1)) == ([third], set(said[:1]))
    assert await written_by(world, third - timedelta(hours=1)) == ([], set())
    document, _ = await world.vector.get_document(world.space, "ops")
    assert document.valid_time - third < timedelta(seconds=1)


async def test_an_email_is_valid_since_it_was_sent(world: World) -> None:
    mail = (
        b"Message-ID: <m1@example.org>\r\nFrom: Zoe <zoe@example.org>\r\nSubject: Orion\r\n"
        b"Date: Mon, 10 Feb 2025 10:00:00 +0100\r\n\r\nAda Byron leads Orion Team.\r\n"
    )
    about = ingest_pb2.DocumentMetadata(source="a.eml", content_type="message/rfc822")
    parts = [
        ingest_pb2.IngestDocumentRequest(metadata=about),
        ingest_pb2.IngestDocumentRequest(data=mail),
    ]
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        answer = await world.ingest.IngestDocument(iter(parts), metadata=OURS, timeout=20)
        await world.ended(answer.job.id)
    sent = datetime(2025, 2, 10, 9, tzinfo=UTC)
    assert (await written_by(world, sent))[0] == [sent]
    assert await written_by(world, sent - timedelta(minutes=1)) == ([], set())


async def test_an_ended_document_is_found_as_of_earlier_times_and_the_same_file_continues_it(
    world: World,
) -> None:
    async with AsyncExitStack() as stack:
        await world.start_worker(stack)
        await put(world, f"Ada met Bob. {ADA}", 2001, "Orion")
        request = ingest_pb2.DeleteDocumentRequest(document_id="d", keep_versions=True)
        answer = await world.ingest.DeleteDocument(request, metadata=OURS, timeout=20)
        assert answer.job.state == jobs_pb2.JOB_STATE_SUCCEEDED
        assert await contents(world, None) == []
        assert await contents(world, 2005) == [f"Ada met Bob. {ADA}"]
        assert (await local_facts(world, None), await local_facts(world, 2005)) == (set(), {ADA})
        again = await put(world, f"Ada met Bob. {ADA}", 2001, "Orion")
        assert again.unchanged_count == 0
        assert await contents(world, None) == [f"Ada met Bob. {ADA}"]
        assert await local_facts(world, None) == {ADA}
