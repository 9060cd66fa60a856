"""Measures facts over time: loads dated facts, then asks for facts as of a year and for histories, over gRPC."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from braid.common.v1 import retrieval_pb2
from braid.graph.v1 import (
    entities_pb2,
    facts_pb2,
    history_pb2,
    ingest_pb2,
    ingest_pb2_grpc,
    query_pb2_grpc,
    structure_pb2,
)
from services.runtime.times import to_datetime, to_timestamp
from tests.benchmarks.callers import timed
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.evals.datasets import read_rows
from tests.evals.metrics import percentile
from tests.evals.partial_dates import interval

SHARED = "temporal"
_PART = 1_000
_PAGE = 200
_LOADING = 1_800.0
_ASKING = 30.0
_WARM_UP = 20

Stub = query_pb2_grpc.GraphQueryServiceStub
# The object, first year and last year of a fact; None is open.
DatedObject = tuple[str, int | None, int | None]


@dataclass(slots=True)
class _Asked:
    """The number of questions answered exactly, and the time of each call."""

    exact: int = 0
    times_ms: list[float] = field(default_factory=list)


async def run(options: Options) -> None:
    """Loads all facts through AddFacts, then asks all questions one after another."""
    folder = options.folder()
    facts = [_fact(row) for row in read_rows(folder, "facts.jsonl.gz")]
    figures = Figures(options.name)
    async with (
        running_stack(only=["graph_query"]) as stack,
        channel_to(stack, "graph_query") as channel,
    ):
        await _load(ingest_pb2_grpc.GraphIngestServiceStub(channel), facts, figures)
        stub = Stub(channel)
        as_of = await _ask_as_of(
            stub, _questions(folder, "asof_queries.jsonl.gz", options), figures
        )
        history = await _ask_history(
            stub, _questions(folder, "history_queries.jsonl.gz", options), figures
        )
    took = as_of.times_ms + history.times_ms
    figures.put("p50_ms", percentile(took, 50), "ms")
    figures.put("p95_ms", percentile(took, 95), "ms")


def _questions(folder: Path, name: str, options: Options) -> list[dict[str, Any]]:
    return list(islice(read_rows(folder, name), options.queries))


def _fact(row: Mapping[str, Any]) -> ingest_pb2.FactInput:
    """Builds a fact with its dates as instants, and their text as attributes."""
    try:
        dates = interval(row["start"], row["end"])
    except ValueError as error:
        raise UsageError(f"fact {row['id']}: {error}") from None
    fact = ingest_pb2.FactInput(
        subject=ingest_pb2.EntityInput(name=row["s"]),
        relation_type=_relation(row["p"]),
        object=ingest_pb2.EntityInput(name=row["o"]),
        valid_time=_stamp(dates.start),
        invalid_time=_stamp(dates.end),
    )
    fact.attributes.update({name: row[name] for name in ("start", "end") if row[name]})
    return fact


def _stamp(instant: datetime | None) -> Timestamp | None:
    return None if instant is None else to_timestamp(instant)


def _relation(name: str) -> str:
    """Returns a relation's name with only letters, digits and underscores."""
    return " ".join("".join(one if one.isalnum() or one == "_" else " " for one in name).split())


async def _load(
    stub: ingest_pb2_grpc.GraphIngestServiceStub,
    facts: Sequence[ingest_pb2.FactInput],
    figures: Figures,
) -> None:
    began = time.perf_counter()
    try:
        answer = await stub.AddFacts(_parts(facts), timeout=_LOADING)
    except grpc.aio.AioRpcError as error:
        raise MeasureError(f"AddFacts: {error.code().name} {error.details()}") from error
    figures.put("load_facts_per_s", len(facts) / (time.perf_counter() - began), "facts/s")
    figures.put("refused", answer.refused_count, "facts")
    note(f"{answer.added_count} facts were added, {answer.unchanged_count} were there already")
    _check_refusals(facts, answer)


async def _parts(
    facts: Sequence[ingest_pb2.FactInput],
) -> AsyncIterator[ingest_pb2.AddFactsRequest]:
    with bar("adding facts", len(facts)) as show:
        for start in range(0, len(facts), _PART):
            yield ingest_pb2.AddFactsRequest(facts=facts[start : start + _PART])
            show(start + _PART)


def _check_refusals(
    facts: Sequence[ingest_pb2.FactInput], answer: ingest_pb2.AddFactsResponse
) -> None:
    """Raises MeasureError unless exactly the facts that do not end after their start were refused."""
    wrong = {place for place, fact in enumerate(facts) if _is_reversed(fact)}
    refused = {one.index for one in answer.refused}
    if refused ^ set(islice(sorted(wrong), len(refused))) or answer.refused_count != len(wrong):
        raise MeasureError(f"{len(refused ^ wrong)} facts were refused or taken wrongly")


def _is_reversed(fact: ingest_pb2.FactInput) -> bool:
    if not fact.HasField("valid_time") or not fact.HasField("invalid_time"):
        return False
    return fact.invalid_time.ToNanoseconds() <= fact.valid_time.ToNanoseconds()


async def _ask_as_of(stub: Stub, questions: Sequence[dict[str, Any]], figures: Figures) -> _Asked:
    asked = _Asked()
    for question in questions[:_WARM_UP]:
        await _objects(stub, question, _Asked())
    with bar("as of a year", len(questions)) as show:
        for number, question in enumerate(questions, start=1):
            found = await _objects(stub, question, asked)
            asked.exact += found == {_clean(name) for name in question["gold"]}
            show(number)
    figures.put("asof_exact", asked.exact, "questions")
    figures.put("asof_total", len(questions), "questions")
    figures.put("asof_p50_ms", percentile(asked.times_ms, 50), "ms")
    return asked


async def _objects(stub: Stub, question: Mapping[str, Any], asked: _Asked) -> set[str]:
    """Returns the objects of all facts whose interval overlaps the question's year."""
    facts = await _listed(stub, question, _years(question["as_of"]), asked)
    return {_clean(fact.object.name) for fact in facts}


async def _listed(
    stub: Stub, question: Mapping[str, Any], span: retrieval_pb2.TimeRange, asked: _Asked
) -> list[facts_pb2.Fact]:
    request = structure_pb2.ListFactsRequest(
        subject=entities_pb2.EntitySelector(name=question["s"]),
        relation_type=_relation(question["p"]),
        as_of=retrieval_pb2.TimeSelector(range=span),
        page_size=_PAGE,
    )
    found: list[facts_pb2.Fact] = []
    while True:
        page, took = await timed(stub.ListFacts(request, timeout=_ASKING))
        asked.times_ms.append(took)
        found.extend(page.facts)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


async def _ask_history(stub: Stub, questions: Sequence[dict[str, Any]], figures: Figures) -> _Asked:
    """Asks every question in two ways: by the list of facts of a subject and relation, and by the subject's history."""
    asked, histories = _Asked(), _Asked()
    for question in questions[:_WARM_UP]:
        await _history(stub, question, _Asked())
    with bar("histories", len(questions)) as show:
        for number, question in enumerate(questions, start=1):
            listed = await _listed(stub, question, retrieval_pb2.TimeRange(), asked)
            history = await _history(stub, question, histories)
            gold = {(_clean(one["o"]), one["start"], one["end"]) for one in question["gold"]}
            asked.exact += _dated_objects(listed) == _dated_objects(history) == gold
            show(number)
    figures.put("history_exact", asked.exact, "questions")
    figures.put("history_total", len(questions), "questions")
    figures.put("history_p50_ms", percentile(histories.times_ms, 50), "ms")
    asked.times_ms += histories.times_ms
    return asked


async def _history(stub: Stub, question: Mapping[str, Any], asked: _Asked) -> list[facts_pb2.Fact]:
    """Returns the subject's history without the facts in which it is the object."""
    subject = _clean(question["s"])
    request = history_pb2.GetEntityHistoryRequest(
        entity=entities_pb2.EntitySelector(name=question["s"]),
        relation_type=_relation(question["p"]),
        page_size=_PAGE,
    )
    found: list[facts_pb2.Fact] = []
    while True:
        page, took = await timed(stub.GetEntityHistory(request, timeout=_ASKING))
        asked.times_ms.append(took)
        found.extend(one for one in page.facts if _clean(one.subject.name) == subject)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def _dated_objects(facts: Sequence[facts_pb2.Fact]) -> set[DatedObject]:
    return {(_clean(fact.object.name), _first_year(fact), _last_year(fact)) for fact in facts}


def _first_year(fact: facts_pb2.Fact) -> int | None:
    return to_datetime(fact.valid_time).year if fact.HasField("valid_time") else None


def _last_year(fact: facts_pb2.Fact) -> int | None:
    """Returns the year of a fact's last instant, which is before its end."""
    if not fact.HasField("invalid_time"):
        return None
    return (to_datetime(fact.invalid_time) - timedelta(microseconds=1)).year


def _years(year: int) -> retrieval_pb2.TimeRange:
    """Returns the range of a whole year."""
    first, after = (to_timestamp(datetime(one, 1, 1, tzinfo=UTC)) for one in (year, year + 1))
    return retrieval_pb2.TimeRange(start_time=first, end_time=after)


def _clean(name: str) -> str:
    """Returns a name as the graph displays it: in NFC, with collapsed white space."""
    return " ".join(unicodedata.normalize("NFC", name).split())
