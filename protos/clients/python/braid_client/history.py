"""Facts over time, for the asyncio client: histories, snapshots, differences, versions, ends and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.field_mask_pb2 import FieldMask

from braid.graph.v1 import (
    corrections_pb2,
    facts_pb2,
    history_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    query_pb2_grpc,
    structure_pb2,
)
from braid_client.connection import Connection
from braid_client.requests import entity_selector, time_selector, timestamp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from datetime import datetime

    from braid_client.requests import EntityLike, TimeLike


class History(Connection):
    """Part of `AsyncBraid`. An entity is given by its name, letter case ignored, or by an `EntitySelector` (by id, or
    by name and type); a time is an aware datetime, or also a `TimeRange` if the parameter is a `TimeLike`.
    """

    async def entity_history(
        self,
        entity: EntityLike,
        *,
        relation_type: str = "",
        since: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_withdrawn: bool = False,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> history_pb2.GetEntityHistoryResponse:
        """Returns a page of an entity's facts, current and past, in time order; the first page has a summary.

        `relation_type` is an exact name, letter case ignored; `since` leaves out facts that had ended by then; `as_of`
        is the time that counts as now; `known_at` selects the facts as known then; with `include_withdrawn` the first
        page also lists the facts that were withdrawn or replaced. `page_size` is up to 200 facts (0:
        50). `page_token` is the `next_page_token` of the previous page. If several entities share the name, `homonyms`
        lists them and nothing else is set.
        """
        request = history_pb2.GetEntityHistoryRequest(
            entity=entity_selector(entity),
            relation_type=relation_type,
            since_time=timestamp(since),
            reference_time=timestamp(as_of),
            known_time=timestamp(known_at),
            include_withdrawn=include_withdrawn,
            page_size=page_size,
            page_token=page_token,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.GetEntityHistory(request, **self._options(timeout))

    async def snapshot(
        self,
        as_of: TimeLike,
        *,
        entity: EntityLike | None = None,
        relation_type: str = "",
        known_at: datetime | None = None,
        page_size: int = 0,
        page_token: str = "",
        timeout: float | None = None,
    ) -> history_pb2.GetSnapshotResponse:
        """Returns a page of the facts that held at a time; the first page also has the changes since.

        `entity` is at either end of the facts; the other arguments are those of `entity_history`.
        """
        request = history_pb2.GetSnapshotRequest(
            time=time_selector(as_of),
            entity=None if entity is None else entity_selector(entity),
            relation_type=relation_type,
            known_time=timestamp(known_at),
            page_size=page_size,
            page_token=page_token,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.GetSnapshot(request, **self._options(timeout))

    async def diff(
        self,
        before: TimeLike,
        after: TimeLike | None = None,
        *,
        entity: EntityLike | None = None,
        relation_type: str = "",
        known_at: datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> history_pb2.GraphDiff:
        """Returns changes between two times: facts added, ended, and replaced by others with their subject and
        relation.

        `after` is now when None; `limit` is 1–200 of each kind; the other arguments are those of `snapshot`.
        """
        request = history_pb2.DiffGraphRequest(
            before=time_selector(before),
            after=time_selector(after),
            entity=None if entity is None else entity_selector(entity),
            relation_type=relation_type,
            known_time=timestamp(known_at),
            limit=limit,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            answer = await stub.DiffGraph(request, **self._options(timeout))
        return answer.diff

    async def find_paths(
        self,
        source: EntityLike,
        target: EntityLike,
        *,
        max_hops: int | None = None,
        limit: int | None = None,
        as_of: TimeLike | None = None,
        include_local: bool = False,
        timeout: float | None = None,
    ) -> structure_pb2.FindPathsResponse:
        """Finds the shortest paths between two entities.

        `max_hops` is 1–6 facts and `limit` 1–20 paths; all facts of a path hold at `as_of` (now when None);
        `include_local` also follows co-occurrences of names in one sentence.
        """
        request = structure_pb2.FindPathsRequest(
            source=entity_selector(source),
            target=entity_selector(target),
            max_hops=max_hops,
            limit=limit,
            time=time_selector(as_of),
            include_local=include_local,
        )
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.FindPaths(request, **self._options(timeout))

    async def list_facts(
        self,
        *,
        subject: EntityLike | None = None,
        relation_type: str = "",
        object: EntityLike | None = None,  # noqa: A002 - the contract's own word
        as_of: TimeLike | None = None,
        known_at: datetime | None = None,
        page_size: int = 200,
        timeout: float | None = None,
    ) -> AsyncIterator[facts_pb2.Fact]:
        """Lists all stated facts that match; `timeout` applies to each page.

        If `as_of` is None, lists the facts that hold now; an empty `TimeRange()` means all time.
        """
        token = ""
        while True:
            request = structure_pb2.ListFactsRequest(
                subject=None if subject is None else entity_selector(subject),
                relation_type=relation_type,
                object=None if object is None else entity_selector(object),
                time=time_selector(as_of),
                known_time=timestamp(known_at),
                page_size=page_size,
                page_token=token,
            )
            stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
            with self._typed_errors(timeout):
                page = await stub.ListFacts(request, **self._options(timeout))
            for fact in page.facts:
                yield fact
            token = page.next_page_token
            if not token:
                return

    async def get_fact(
        self, fact_id: str, *, timeout: float | None = None
    ) -> structure_pb2.GetFactResponse:
        """Returns a fact (unset if it was withdrawn) and all its versions."""
        request = structure_pb2.GetFactRequest(fact_id=fact_id)
        stub = query_pb2_grpc.GraphQueryServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.GetFact(request, **self._options(timeout))

    async def end_fact(
        self, fact_id: str, invalid_time: datetime, *, timeout: float | None = None
    ) -> ingest_pb2.EndFactResponse:
        """Ends a fact: `invalid_time` is the first instant at which it no longer holds. Another time corrects it."""
        request = ingest_pb2.EndFactRequest(fact_id=fact_id, invalid_time=timestamp(invalid_time))
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.EndFact(request, **self._options(timeout))

    async def withdraw_facts(
        self, fact_ids: Iterable[str], *, reason: str = "", timeout: float | None = None
    ) -> corrections_pb2.WithdrawFactsResponse:
        """Withdraws up to 1,000 facts: they are known no longer until they are stated again; the past stays as it was.

        Returns what became of each; unknown ones do not affect the others.
        """
        request = corrections_pb2.WithdrawFactsRequest(fact_ids=fact_ids, reason=reason)
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.WithdrawFacts(request, **self._options(timeout))

    async def correct_fact(
        self,
        fact_id: str,
        correction: corrections_pb2.FactCorrection,
        fields: Iterable[str],
        *,
        reason: str = "",
        timeout: float | None = None,
    ) -> corrections_pb2.CorrectFactResponse:
        """Corrects a fact: `fields` names those fields of the correction that count, such as `["valid_time"]`.

        A field that is named and not set is emptied: an open start or end. The past stays as it was known.
        """
        request = corrections_pb2.CorrectFactRequest(
            fact_id=fact_id,
            correction=correction,
            update_mask=FieldMask(paths=fields),
            reason=reason,
        )
        stub = ingest_pb2_grpc.GraphIngestServiceStub(self._channel("graph"))
        with self._typed_errors(timeout):
            return await stub.CorrectFact(request, **self._options(timeout))
