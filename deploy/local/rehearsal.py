"""What Neo4j does while its archive is recorded: the graph tier's own work, for some companies.

Beside classes, an archive keeps which methods ran often, and how: in every later start the compiler
takes these up early, so they have to be those that the tier's own queries run.
"""

import random
from collections.abc import Iterator
from itertools import chain, islice

import grpc.aio

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import (
    entities_pb2,
    findings_pb2,
    history_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    query_pb2,
    query_pb2_grpc,
)
from deploy.local.companies import Companies
from deploy.local.errors import LocalStackError
from deploy.local.stores import all_or_first_error

_READS = 20  # of each kind; the first ones take longest, as Neo4j plans them
_MODEL = "rehearsed"
_DIMENSION = 384


async def rehearse(address: str, companies: int) -> None:
    """Have the graph tier at an address take in companies, answer about them, and delete one.

    Raises:
        LocalStackError: the tier could not be reached, or refused something.
    """
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            await _Rehearsal(channel, Companies.load(), companies).run()
    except grpc.aio.AioRpcError as error:
        raise LocalStackError(f"the graph tier did not rehearse: {error.details()}") from error


class _Rehearsal:
    def __init__(self, channel: grpc.aio.Channel, sample: Companies, companies: int) -> None:
        self._ingest = ingest_pb2_grpc.GraphIngestServiceStub(channel)
        self._query = query_pb2_grpc.GraphQueryServiceStub(channel)
        self._sample = sample
        self._companies = range(companies)
        self._vectors = _vectors()

    async def run(self) -> None:
        """Reads go on beside writes, as they do with users, and use the other core."""
        await self._take_in(0)
        await all_or_first_error(self._take_in_others(), self._state_and_ask(), self._browse())
        gone = [episode.uuid for episode in self._sample.episodes(self._companies[-1])]
        await self._ingest.DeleteEpisodes(ingest_pb2.DeleteEpisodesRequest(uuids=gone))

    async def _take_in_others(self) -> None:
        for company in self._companies[1:]:
            await self._take_in(company)

    async def _take_in(self, company: int) -> None:
        episodes = self._sample.episodes(company)
        await self._ingest.BatchAddEpisodes(ingest_pb2.BatchAddEpisodesRequest(episodes=episodes))

    async def _state(self, company: int) -> None:
        facts = list(self._sample.facts(company))
        for fact in facts:
            fact.embedding.extend(next(self._vectors))
        request = ingest_pb2.AddFactsRequest(facts=facts, embedding_model=_MODEL)
        await self._ingest.AddFacts(iter([request]))
        findings = [self._finding(fact) for fact in facts]
        await self._ingest.AddFindings(
            findings_pb2.AddFindingsRequest(findings=findings, embedding_model=_MODEL)
        )

    def _finding(self, fact: ingest_pb2.FactInput) -> findings_pb2.FindingInput:
        subject = findings_pb2.FindingSubject(name=fact.subject.name, type=fact.subject.type)
        return findings_pb2.FindingInput(
            finding=findings_pb2.FindingDetails(key_insight=fact.fact, confidence=0.5),
            about_entities=[subject],
            embedding=next(self._vectors),
        )

    async def _state_and_ask(self) -> None:
        await self._state(0)
        questions = chain.from_iterable(map(self._sample.questions, self._companies))
        for text in islice(questions, _READS):
            vector = retrieval_pb2.QueryEmbedding(model=_MODEL, values=next(self._vectors))
            await self._query.SearchFacts(
                query_pb2.SearchFactsRequest(query=text, query_embedding=vector)
            )
            await self._ingest.SearchFindings(
                findings_pb2.SearchFindingsRequest(query=text, query_embedding=vector)
            )

    async def _browse(self) -> None:
        for name in islice((fact.subject.name for fact in self._sample.facts(0)), _READS):
            await self._query.GetNeighborhood(query_pb2.GetNeighborhoodRequest(entity_name=name))
            entity = entities_pb2.EntitySelector(name=name)
            await self._query.GetEntityHistory(history_pb2.GetEntityHistoryRequest(entity=entity))
            await self._query.ListEntities(query_pb2.ListEntitiesRequest())


def _vectors() -> Iterator[list[float]]:
    chance = random.Random(1)  # noqa: S311 (the same in every recording)
    while True:
        yield [chance.gauss() for _ in range(_DIMENSION)]
