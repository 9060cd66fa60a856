"""Compares what users' turns save to entity memory with what a careful reader would, and measures queries about it.

The format is `{"id","turns","entities","relationships","queries"}` per line. Each line is a separate user; each turn
is saved together with the previous turns, as in a conversation. A query may grade its answers: `"grades": {name: 0-3}`;
without grades every relevant name counts the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from braid.agent.v1 import entity_memory_pb2 as pb
from braid.agent.v1 import entity_memory_pb2_grpc
from tests.benchmarks.command import Options
from tests.benchmarks.credentials import Metadata, credential
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.evals.metrics import mean, ndcg_at
from tests.evals.question_files import question_rows

OWN: Final = Path(__file__).parent / "golden.jsonl"
_SPACE = "golden"
_PAGE = 200
_SECONDS = 60.0
_RECALL_AT = 5
# A line is one conversation, and may contain more than the default limits allow.
_SETTINGS = {
    "BRAID_GRAPH_ENTITY_MAX_ENTITIES_PER_CONVERSATION": "10000",
    "BRAID_GRAPH_ENTITY_MAX_RELATIONSHIPS_PER_CONVERSATION": "10000",
    "BRAID_GRAPH_ENTITY_MAX_ENTITIES_PER_DAY": "10000",
}

Stub = entity_memory_pb2_grpc.EntityMemoryServiceStub
Entity = tuple[str, str]
Relationship = tuple[str, str, str]


@dataclass(slots=True)
class MatchCounts:
    """Counts of correct, wrong and missing items by type."""

    right: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)

    def add(
        self,
        found: Iterable[tuple[str, ...]],
        expected: Iterable[tuple[str, ...]],
    ) -> None:
        """Counts the items of one line. The second element of each tuple is its type."""
        got, want = set(found), set(expected)
        self.right.update(one[1] for one in got & want)
        self.wrong.update(one[1] for one in got - want)
        self.missing.update(one[1] for one in want - got)

    def scores(self, types: Iterable[str] | None = None) -> tuple[float, float, float]:
        """Returns precision, recall and F1 of some types, or of all."""
        chosen = set(types or {*self.right, *self.wrong, *self.missing})
        right, wrong, missing = (
            sum(counter[one] for one in chosen)
            for counter in (self.right, self.wrong, self.missing)
        )
        precision = right / (right + wrong) if right + wrong else 1.0
        recall = right / (right + missing) if right + missing else 1.0
        total = precision + recall
        return precision, recall, 2 * precision * recall / total if total else 0.0


@dataclass(slots=True)
class Results:
    """The results of all lines."""

    entities: MatchCounts = field(default_factory=MatchCounts)
    relationships: MatchCounts = field(default_factory=MatchCounts)
    reciprocal_ranks: list[float] = field(default_factory=list)
    recalls: list[float] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)


async def run(options: Options) -> None:
    """Saves the turns of every line for a separate user, then compares and queries."""
    rows = question_rows(options.data, OWN)[: options.queries]
    results = Results()
    async with (
        running_stack(only=["agent_orchestrator", "vector_search"], environment=_SETTINGS) as stack,
        channel_to(stack, "agent_orchestrator") as channel,
    ):
        stub, called = Stub(channel), credential(stack.data, _SPACE)
        with bar("turns", len(rows)) as show:
            for number, row in enumerate(rows):
                await _line(stub, (*called, ("braid-user", f"user-{number}")), row, results)
                show(number + 1)
    report(results, Figures(options.name))


async def _line(stub: Stub, who: Metadata, row: Mapping[str, Any], results: Results) -> None:
    turns: Sequence[str] = row["turns"]
    for last in range(1, len(turns) + 1):
        seen = pb.MemoryProvenance(conversation_id="golden", message_id=f"turn-{last}")
        request = pb.SaveTurnRequest(turns=turns[:last], provenance=seen)
        await stub.SaveTurn(request, metadata=who, timeout=_SECONDS)
    listed = await stub.QueryRelationships(
        pb.QueryRelationshipsRequest(page_size=_PAGE), metadata=who, timeout=_SECONDS
    )
    found = [_relationship(one) for one in listed.relationships]
    kept = {end for one in listed.relationships for end in (one.source.id, one.target.id)}
    entities = await stub.QueryEntities(
        pb.QueryEntitiesRequest(page_size=_PAGE), metadata=who, timeout=_SECONDS
    )
    named = [_entity(hit.entity) for hit in entities.hits if hit.entity.id in kept]
    wanted = [(e["name"].casefold(), e["type"]) for e in row["entities"]]
    expected = [
        (r["source"].casefold(), r["type"], r["target"].casefold()) for r in row["relationships"]
    ]
    results.entities.add(named, wanted)
    results.relationships.add(found, expected)
    if set(found) != set(expected):
        note(f"{row.get('id', '')}: {turns} gave {found}, expected {expected}")
    for query in row.get("queries", ()):
        await _query(stub, who, query, results)


async def _query(stub: Stub, who: Metadata, query: Mapping[str, Any], results: Results) -> None:
    entity, relationship = query.get("entity_type"), query.get("relationship_type")
    request = pb.AnswerRelationshipQueryRequest(
        query=query["query"],
        entity_type=pb.MemoryEntityType.Value(
            f"MEMORY_ENTITY_TYPE_{(entity or 'unspecified').upper()}"
        ),
        relationship_type=pb.MemoryRelationshipType.Value(
            f"MEMORY_RELATIONSHIP_TYPE_{relationship or 'UNSPECIFIED'}"
        ),
    )
    answer = await stub.AnswerRelationshipQuery(request, metadata=who, timeout=_SECONDS)
    names = list(dict.fromkeys(one.answer.casefold() for one in answer.answers))
    relevant = {name.casefold() for name in query["relevant"]}
    ranks = [place for place, name in enumerate(names, start=1) if name in relevant]
    results.reciprocal_ranks.append(1 / ranks[0] if ranks else float(not relevant and not names))
    first = set(names[:_RECALL_AT])
    share = len(relevant & first) / len(relevant) if relevant else float(not names)
    results.recalls.append(share)
    grades = {name.casefold(): float(grade) for name, grade in query.get("grades", {}).items()}
    graded = grades or dict.fromkeys(relevant, 1.0)
    gain = ndcg_at(names, graded, _RECALL_AT) if any(graded.values()) else float(not names)
    results.gains.append(gain)
    if not ranks or ranks[0] > 1:
        note(f"{query['query']!r} gave {names}, expected {query['relevant']}")


def report(results: Results, figures: Figures) -> None:
    """Prints precision, recall and F1, in total and of each type, and the quality of queries."""
    for name, tally in (("entity", results.entities), ("relationship", results.relationships)):
        precision, recall, f1 = tally.scores()
        figures.put(f"{name}_precision", precision, "ratio")
        figures.put(f"{name}_recall", recall, "ratio")
        figures.put(f"{name}_f1", f1, "ratio")
        for one in sorted({*tally.right, *tally.wrong, *tally.missing}):
            for measure, value in zip(
                ("precision", "recall", "f1"), tally.scores([one]), strict=True
            ):
                figures.put(f"{name}_{measure}.{one}", value, "ratio")
    if results.recalls:
        figures.put("query_mrr", mean(results.reciprocal_ranks), "ratio")
        figures.put(f"query_recall@{_RECALL_AT}", mean(results.recalls), "ratio")
        figures.put(f"query_ndcg@{_RECALL_AT}", mean(results.gains), "ratio")


def _entity(one: pb.MemoryEntity) -> Entity:
    type_ = pb.MemoryEntityType.Name(one.type).removeprefix("MEMORY_ENTITY_TYPE_").lower()
    return one.name.casefold(), type_


def _relationship(one: pb.MemoryRelationship) -> Relationship:
    type_ = pb.MemoryRelationshipType.Name(one.type).removeprefix("MEMORY_RELATIONSHIP_TYPE_")
    return one.source.name.casefold(), type_, one.target.name.casefold()
