"""Invalid, hostile and foreign input to reads of facts, histories and paths is refused by field or answered safely."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import errors_pb2, retrieval_pb2
from braid.graph.v1 import entities_pb2, history_pb2, ingest_pb2, structure_pb2
from services.runtime.errors import BraidError
from services.runtime.status import error_from_rpc
from tests.integration.graph_query.conftest import Credential, Tier
from tests.integration.graph_query.messages import episode, fact, stamp, stream
from tests.integration.graph_query.test_bad_input import HOSTILE

Call = Callable[[Tier, Credential], Awaitable[object]]
NEVER = Timestamp(seconds=10**15)
BROKEN = Timestamp(nanos=-1)
REVERSED = retrieval_pb2.TimeRange(start_time=stamp("2020-01-01"), end_time=stamp("2019-01-01"))
Selector = entities_pb2.EntitySelector


def anna(**more: str) -> Selector:
    return Selector(**({"name": "Anna Bell"} | more))


def facts(**fields: object) -> Call:
    request = structure_pb2.ListFactsRequest(**fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.ListFacts(request, metadata=key)


def one_fact(identity: str) -> Call:
    request = structure_pb2.GetFactRequest(fact_id=identity)
    return lambda tier, key: tier.query.GetFact(request, metadata=key)


def entity(selector: Selector) -> Call:
    request = entities_pb2.GetEntityRequest(entity=selector)
    return lambda tier, key: tier.query.GetEntity(request, metadata=key)


def link(text: str, **fields: object) -> Call:
    request = entities_pb2.LinkEntitiesRequest(text=text, **fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.LinkEntities(request, metadata=key)


def history(**fields: object) -> Call:
    request = history_pb2.GetEntityHistoryRequest(**fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.GetEntityHistory(request, metadata=key)


def snapshot(**fields: object) -> Call:
    request = history_pb2.GetSnapshotRequest(**fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.GetSnapshot(request, metadata=key)


def diff(**fields: object) -> Call:
    request = history_pb2.DiffGraphRequest(**fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.DiffGraph(request, metadata=key)


def paths(source: Selector, target: Selector, **fields: object) -> Call:
    request = structure_pb2.FindPathsRequest(source=source, target=target, **fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.FindPaths(request, metadata=key)


def subgraph(**fields: object) -> Call:
    request = structure_pb2.GetMentionSubgraphRequest(**fields)  # type: ignore[arg-type]
    return lambda tier, key: tier.query.GetMentionSubgraph(request, metadata=key)


def at(moment: Timestamp) -> retrieval_pb2.TimeSelector:
    return retrieval_pb2.TimeSelector(instant=moment)


async def refused(tier: Tier, call: Call) -> BraidError:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call(tier, tier.ours)
    return error_from_rpc(failed.value)


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (facts(page_size=-1), "page_size"),
        (facts(page_token="nonsense"), "page_token"),
        (facts(page_token="x" * 4_097), "page_token"),
        (facts(subject=Selector()), "subject.by"),
        (facts(subject=Selector(name=" \t")), "subject.name"),
        (facts(object=Selector(name="x" * 10_000)), "object.name"),
        (facts(relation_type="x" * 10_000), "relation_type"),
        (facts(relation_type="a\x00b"), "relation_type"),
        (facts(as_of=at(NEVER)), "as_of.instant"),
        (facts(as_of=retrieval_pb2.TimeSelector()), "as_of.at"),
        (facts(as_of=retrieval_pb2.TimeSelector(range=REVERSED)), "as_of.range"),
        (facts(known_time=BROKEN), "known_time"),
        (one_fact(""), "fact_id"),
        (one_fact("' OR 1=1"), "fact_id"),
        (entity(Selector(id="nonsense")), "entity.id"),
        (entity(Selector(name="a\x00b")), "entity.name"),
        (entity(anna(type="x" * 201)), "entity.type"),
        (link(""), "text"),
        (link("x" * 32_769), "text"),
        (link("x", limit=0), "limit"),
        (history(), "entity"),
        (history(entity=anna(), since_time=NEVER), "since_time"),
        (history(entity=anna(), as_of=BROKEN), "as_of"),
        (history(entity=anna(), page_size=-1), "page_size"),
        (snapshot(), "as_of"),
        (snapshot(as_of=at(NEVER)), "as_of.instant"),
        (diff(), "before"),
        (diff(before=at(stamp("2020-01-01")), after=at(NEVER)), "after.instant"),
        (diff(before=at(stamp("2020-01-01")), limit=201), "limit"),
        (paths(anna(), anna(), max_hops=7), "max_hops"),
        (paths(anna(), Selector()), "target.by"),
        (subgraph(chunk_ids=["nonsense"]), "chunk_ids[0]"),
        (subgraph(max_episodes=0), "max_episodes"),
        (subgraph(chunk_ids=[str(uuid.uuid4())] * 201), "chunk_ids"),
    ],
)
async def test_an_invalid_request_is_refused_naming_the_field(
    tier: Tier, call: Call, field: str
) -> None:
    error = await refused(tier, call)
    assert error.reason == errors_pb2.ERROR_REASON_INVALID_FIELD
    assert [wrong.field for wrong in error.fields] == [field]


@pytest.mark.parametrize("text", HOSTILE)
async def test_text_that_looks_like_a_query_is_treated_as_a_name(tier: Tier, text: str) -> None:
    await tier.ingest.AddFacts(stream(fact(text, "KNOWS", "Plain Name")), metadata=tier.ours)
    selector = Selector(name=text)
    found = await tier.query.GetEntity(
        entities_pb2.GetEntityRequest(entity=selector), metadata=tier.ours
    )
    assert [one.entity.name for one in found.entities] == [text]
    listed = await tier.query.ListFacts(
        structure_pb2.ListFactsRequest(subject=selector), metadata=tier.ours
    )
    assert [one.subject.name for one in listed.facts] == [text]
    result = await tier.query.GetEntityHistory(
        history_pb2.GetEntityHistoryRequest(entity=selector), metadata=tier.ours
    )
    assert result.entity.name == text
    await link(text)(tier, tier.ours)
    await facts(relation_type=text[:200])(tier, tier.ours)
    await history(entity=selector, relation_type=text[:200])(tier, tier.ours)
    connection = await tier.query.FindPaths(
        structure_pb2.FindPathsRequest(source=selector, target=Selector(name="plain name")),
        metadata=tier.ours,
    )
    assert [len(path.facts) for path in connection.paths] == [1]


UNKNOWN = Selector(id=str(uuid.uuid4()))


@pytest.mark.parametrize(
    "call",
    [
        entity(anna()),
        entity(UNKNOWN),
        one_fact(str(uuid.uuid4())),
        history(entity=anna()),
        history(entity=anna(), known_time=stamp("2020-01-01")),
        paths(anna(), UNKNOWN),
    ],
)
async def test_unknown_entities_and_facts_are_not_found_in_an_empty_graph(
    tier: Tier, call: Call
) -> None:
    assert (await refused(tier, call)).reason == errors_pb2.ERROR_REASON_NOT_FOUND


@pytest.mark.parametrize("known", [None, stamp("2020-01-01")])
async def test_reads_of_an_empty_graph_return_empty_results(
    tier: Tier, known: Timestamp | None
) -> None:
    for selector in (None, anna(), UNKNOWN):
        listed = await tier.query.ListFacts(
            structure_pb2.ListFactsRequest(subject=selector, known_time=known), metadata=tier.ours
        )
        assert (list(listed.facts), listed.next_page_token) == ([], "")
        state = await tier.query.GetSnapshot(
            history_pb2.GetSnapshotRequest(
                as_of=at(stamp("2020-01-01")), entity=selector, known_time=known
            ),
            metadata=tier.ours,
        )
        assert list(state.facts) == []
        assert state.changes == history_pb2.GraphDiff()
    linked = await tier.query.LinkEntities(
        entities_pb2.LinkEntitiesRequest(text="Anna Bell is here."), metadata=tier.ours
    )
    assert list(linked.entities) == []
    around = structure_pb2.GetMentionSubgraphRequest(
        chunk_ids=[str(uuid.uuid4())], entity_ids=[UNKNOWN.id]
    )
    found = await tier.query.GetMentionSubgraph(around, metadata=tier.ours)
    assert found == structure_pb2.GetMentionSubgraphResponse()


async def test_a_uuid_of_another_space_is_unknown(tier: Tier) -> None:
    chunk = episode("d1", "Anna Bell", "She met Karl Otto.")
    await tier.ingest.AddEpisode(ingest_pb2.AddEpisodeRequest(episode=chunk), metadata=tier.ours)
    await tier.ingest.AddFacts(stream(fact("Anna Bell", "KNOWS", "Karl Otto")), metadata=tier.ours)
    listed = await tier.query.ListFacts(structure_pb2.ListFactsRequest(), metadata=tier.ours)
    known = listed.facts[0]
    selector = Selector(id=known.subject.id)
    other = Selector(id=known.object.id)
    for call in (
        one_fact(known.id),
        entity(selector),
        history(entity=selector),
        history(entity=selector, known_time=known.create_time),
        paths(selector, other),
    ):
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await call(tier, tier.theirs)
        assert error_from_rpc(failed.value).reason == errors_pb2.ERROR_REASON_NOT_FOUND
    for when in (None, known.create_time):
        theirs = await tier.query.ListFacts(
            structure_pb2.ListFactsRequest(subject=selector, known_time=when), metadata=tier.theirs
        )
        assert list(theirs.facts) == []
        compared = history_pb2.DiffGraphRequest(
            before=at(stamp("2000-01-01")), entity=selector, known_time=when
        )
        assert (
            await tier.query.DiffGraph(compared, metadata=tier.theirs)
        ).diff == history_pb2.GraphDiff()
    around = structure_pb2.GetMentionSubgraphRequest(
        chunk_ids=[chunk.chunk_id], entity_ids=[selector.id]
    )
    found = await tier.query.GetMentionSubgraph(around, metadata=tier.theirs)
    assert found == structure_pb2.GetMentionSubgraphResponse()
