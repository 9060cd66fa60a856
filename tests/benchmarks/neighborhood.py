"""Measures the latency of the neighborhood of an entity with thousands of facts, over gRPC."""

from __future__ import annotations

from collections.abc import AsyncIterator

from braid.graph.v1 import ingest_pb2, ingest_pb2_grpc, query_pb2, query_pb2_grpc
from tests.benchmarks.callers import Sample, timed
from tests.benchmarks.command import MeasureError, Options
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar, channel_to, running_stack

_FACTS = 5_000
_PART = 1_000
_HUBS = 4
_RELATIONS = ("OWNS", "USES", "KNOWS", "LEADS", "JOINED")
_QUERIES = 200
_WARM_UP = 100
_LIMIT = 20
_LOADING = 600.0
_ASKING = 30.0


async def run(options: Options) -> None:
    """Adds 5,000 facts to each of a few entities, then requests their neighborhoods repeatedly."""
    figures = Figures(options.name)
    async with (
        running_stack(only=["graph_query"]) as stack,
        channel_to(stack, "graph_query") as channel,
    ):
        ingest = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        answer = await ingest.AddFacts(_parts(), timeout=_LOADING)
        if answer.added_count != _HUBS * _FACTS:
            raise MeasureError(f"{answer.added_count} facts were added instead of {_HUBS * _FACTS}")
        stub = query_pb2_grpc.GraphQueryServiceStub(channel)
        sample = await _ask(stub, options.queries or _QUERIES)
    figures.put("hub_p50_ms", sample.percentile(50), "ms")
    figures.put("hub_p95_ms", sample.percentile(95), "ms")


async def _ask(stub: query_pb2_grpc.GraphQueryServiceStub, queries: int) -> Sample:
    sample = Sample()
    with bar("asking for neighbors", queries) as show:
        for number in range(_WARM_UP + queries):
            request = query_pb2.GetNeighborhoodRequest(entity_name=_hub(number), limit=_LIMIT)
            answer, took = await timed(stub.GetNeighborhood(request, timeout=_ASKING))
            _check(answer)
            if number >= _WARM_UP:
                sample.times_ms.append(took)
                show(number + 1 - _WARM_UP)
    return sample


def _check(answer: query_pb2.GetNeighborhoodResponse) -> None:
    """Raises MeasureError if the response is wrong, because its speed would not count."""
    if len(answer.nodes) != _LIMIT or answer.neighbor_count != _neighbors():
        raise MeasureError(
            f"the hub has {answer.neighbor_count} neighbors instead of {_neighbors()}"
        )


def _neighbors() -> int:
    return _FACTS - _FACTS // len(_RELATIONS)


async def _parts() -> AsyncIterator[ingest_pb2.AddFactsRequest]:
    facts = [_fact(hub, number) for hub in range(_HUBS) for number in range(_FACTS)]
    with bar("adding facts", len(facts)) as show:
        for start in range(0, len(facts), _PART):
            yield ingest_pb2.AddFactsRequest(facts=facts[start : start + _PART])
            show(start + _PART)


def _fact(hub: int, number: int) -> ingest_pb2.FactInput:
    """Builds a fact; the hub is alternately subject and object, and one neighbor in four has several facts with it."""
    share = len(_RELATIONS)
    neighbor = number if number % share else number - 1 if number else share - 1
    ends = [_name(_hub(hub)), _name(f"Neighbor {hub} {neighbor}")]
    subject, target = ends if number % 2 else reversed(ends)
    return ingest_pb2.FactInput(
        subject=subject, relation_type=_RELATIONS[number % share], object=target
    )


def _hub(number: int) -> str:
    return f"Hub {number % _HUBS}"


def _name(name: str) -> ingest_pb2.EntityInput:
    return ingest_pb2.EntityInput(name=name)
