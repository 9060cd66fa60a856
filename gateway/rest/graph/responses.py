"""Response schemas of entities, histories, differences and paths, and the serialization of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from braid.graph.v1 import facts_pb2, query_pb2
from gateway.rest.graph.fact_responses import (
    EntityEnd,
    Fact,
    Facts,
    StatedFact,
    entity_ref,
    fact,
    fact_list,
    page,
    stated_fact,
)
from gateway.rest.mapping.json_encoding import Json, time
from gateway.rest.mapping.openapi import ResponseSchema

if TYPE_CHECKING:
    from braid.graph.v1 import facts_pb2, history_pb2, structure_pb2


class Entity(ResponseSchema):
    """A node of the graph."""

    uuid: str
    name: str
    type: str
    summary: str
    mentions: int


class Neighborhood(ResponseSchema):
    """An entity, its neighbors and what joins them."""

    center: Entity
    nodes: list[Entity]
    edges: list[Fact]
    total: int
    truncated: bool
    homonyms: list[EntityEnd]


class ListedEntity(Entity):
    """A node of the graph; `document_title` marks what is known only as the title of a document."""

    document_title: bool


class Entities(ResponseSchema):
    """A page of entities; `next_cursor` is null at the end."""

    entities: list[ListedEntity]
    next_cursor: str | None
    total_hint: int | None


class GraphStatus(ResponseSchema):
    """The graph in numbers."""

    entities: int
    facts: int
    local_facts: int
    episodes: int
    entities_by_type: dict[str, int]
    last_ingest_at: str | None
    indexes: dict[str, str]
    revision: int


class HistoryPeriod(ResponseSchema):
    """How many facts of a relation began and ended in a year, decade or century; without dates in the row of nulls."""

    relation: str
    start: str | None
    end: str | None
    began: int
    ended: int


class HistorySummary(ResponseSchema):
    """A whole history in numbers, whatever the page."""

    total: int = Field(description="Facts in the history.")
    current_total: int = Field(description="Of these, how many hold at `as_of`.")
    current: list[StatedFact] = Field(description="The latest of those that hold, at most 20.")
    first_seen_at: str | None = Field(
        description="The first time that anything says about the entity."
    )
    earliest_valid_at: str | None
    never_changed: bool = Field(
        description="Nothing was ever ended or replaced: every fact that began still holds."
    )
    unchanged_since: str | None = Field(
        description="The last start or end of a fact up to `as_of`; null when no date is known."
    )
    periods: list[HistoryPeriod]
    periods_truncated: bool


class FactChange(ResponseSchema):
    """Who withdrew or corrected a fact, and why; null if not given. `replacement_uuid` is the corrected fact."""

    kind: Literal["withdrawn", "corrected"]
    user: str | None
    reason: str | None
    chunk_id: str | None
    replacement_uuid: str | None


class WithdrawnFact(ResponseSchema):
    """A fact that was withdrawn, or that a correction replaced by another one: as it was known from `known_at` until
    `withdrawn_at`.
    """

    fact: StatedFact
    known_at: str | None
    withdrawn_at: str | None
    change: FactChange | None


class History(Facts):
    """An entity's facts, current and past, in time order. Where several entities share the name, `entity` is null and
    `homonyms` lists them all: choose by type or uuid. `summary` is on the first page only. `withdrawn` lists the latest
    withdrawn facts if they were asked for, on the first page.
    """

    entity: Entity | None
    homonyms: list[EntityEnd]
    summary: HistorySummary | None
    withdrawn: list[WithdrawnFact]
    withdrawn_truncated: bool


class ChangedFacts(ResponseSchema):
    """One subject and relation whose objects or attributes are others: at most 20 facts each."""

    before: list[StatedFact]
    after: list[StatedFact]


class Diff(ResponseSchema):
    """What is different at the second time. `incomplete`: more than 20,000 facts differ, and these are the first."""

    added: list[StatedFact]
    ended: list[StatedFact]
    changed: list[ChangedFacts]
    added_total: int
    ended_total: int
    changed_total: int
    incomplete: bool


class Snapshot(Facts):
    """The facts that held, and what has changed since; `changes` is on the first page only."""

    changes: Diff | None


class FactVersion(ResponseSchema):
    """What was known of a fact from `known_at` until `superseded_at` (null: the latest); `chunk_id` is the chunk that
    caused it. `change` is who then withdrew or corrected it, if somebody did; `corrected_uuid` is the fact that it
    replaced by a correction.
    """

    fact: StatedFact
    known_at: str | None
    superseded_at: str | None
    chunk_id: str | None
    change: FactChange | None
    corrected_uuid: str | None


class FactAndVersions(ResponseSchema):
    """A fact and its versions, in the order in which they became known. It is null if it was withdrawn, or replaced by
    a correction: the last version's `change` says which, and names the fact that replaced it.
    """

    fact: StatedFact | None
    versions: list[FactVersion]


class Path(ResponseSchema):
    """A way from one entity to another: each fact joins a node to the next and may point either way."""

    nodes: list[EntityEnd]
    facts: list[StatedFact]


class Paths(ResponseSchema):
    """The shortest ways, all of one length. None while an end is ambiguous: its homonyms are listed. `incomplete`: the
    search was given up at its limits.
    """

    paths: list[Path]
    truncated: bool
    incomplete: bool
    source_homonyms: list[EntityEnd]
    target_homonyms: list[EntityEnd]


_KINDS = {
    value: name.removeprefix("FACT_CHANGE_KIND_").lower()
    for name, value in facts_pb2.FactChangeKind.items()
}
_INDEX_STATE = {v: k.removeprefix("INDEX_STATE_") for k, v in query_pb2.IndexState.items()}


def history(answer: history_pb2.GetEntityHistoryResponse) -> Json:
    """Returns an entity's facts; `entity` is null if several share the name."""
    return {
        "entity": entity(answer.entity) if answer.HasField("entity") else None,
        "homonyms": [entity_ref(one) for one in answer.homonyms],
        **page(answer),
        "summary": _summary(answer.summary) if answer.HasField("summary") else None,
        "withdrawn": [_withdrawn(one) for one in answer.withdrawn],
        "withdrawn_truncated": answer.withdrawn_truncated,
    }


def snapshot(answer: history_pb2.GetSnapshotResponse) -> Json:
    """Returns the facts that held, and the changes since."""
    changes = diff(answer.changes) if answer.HasField("changes") else None
    return page(answer) | {"changes": changes}


def diff(message: history_pb2.GraphDiff) -> Json:
    """Returns the difference between two times."""
    return {
        "added": fact_list(message.added),
        "ended": fact_list(message.ended),
        "changed": [
            {"before": fact_list(one.before), "after": fact_list(one.after)}
            for one in message.changed
        ],
        "added_total": message.added_count,
        "ended_total": message.ended_count,
        "changed_total": message.changed_count,
        "incomplete": message.incomplete,
    }


def fact_and_versions(answer: structure_pb2.GetFactResponse) -> Json:
    """Returns a fact, null if it was withdrawn, and its versions."""
    return {
        "fact": stated_fact(answer.fact) if answer.HasField("fact") else None,
        "versions": [_version(one) for one in answer.versions],
    }


def paths(answer: structure_pb2.FindPathsResponse) -> Json:
    """Returns the shortest paths between two entities."""
    return {
        "paths": [
            {
                "nodes": [entity_ref(node) for node in one.nodes],
                "facts": fact_list(one.facts),
            }
            for one in answer.paths
        ],
        "truncated": answer.truncated,
        "incomplete": answer.incomplete,
        "source_homonyms": [entity_ref(one) for one in answer.source_homonyms],
        "target_homonyms": [entity_ref(one) for one in answer.target_homonyms],
    }


def _summary(message: history_pb2.HistorySummary) -> Json:
    return {
        "total": message.fact_count,
        "current_total": message.current_fact_count,
        "current": fact_list(message.current),
        "first_seen_at": time(message, "first_seen_time"),
        "earliest_valid_at": time(message, "earliest_valid_time"),
        "never_changed": message.never_changed,
        "unchanged_since": time(message, "unchanged_since_time"),
        "periods": [_period(one) for one in message.periods],
        "periods_truncated": message.periods_truncated,
    }


def _period(message: history_pb2.HistoryPeriod) -> Json:
    return {
        "relation": message.relation_type,
        "start": time(message, "start_time"),
        "end": time(message, "end_time"),
        "began": message.began_count,
        "ended": message.ended_count,
    }


def _version(message: structure_pb2.FactVersion) -> Json:
    return {
        "fact": stated_fact(message.fact),
        "known_at": time(message, "known_time"),
        "superseded_at": time(message, "superseded_time"),
        "chunk_id": message.chunk_id or None,
        "change": _change(message.change) if message.HasField("change") else None,
        "corrected_uuid": message.corrected_fact_id or None,
    }


def _withdrawn(message: facts_pb2.WithdrawnFact) -> Json:
    return {
        "fact": stated_fact(message.fact),
        "known_at": time(message, "known_time"),
        "withdrawn_at": time(message, "withdrawn_time"),
        "change": _change(message.change) if message.HasField("change") else None,
    }


def _change(message: facts_pb2.FactChange) -> Json:
    return {
        "kind": _KINDS[message.kind],
        "user": message.user_id or None,
        "reason": message.reason or None,
        "chunk_id": message.chunk_id or None,
        "replacement_uuid": message.replacement_fact_id or None,
    }


def entity(message: facts_pb2.Entity) -> Json:
    """A node of the graph."""
    return {
        "uuid": message.id,
        "name": message.name,
        "type": message.type,
        "summary": message.summary,
        "mentions": message.mention_count,
    }


def listed_entity(message: facts_pb2.Entity) -> Json:
    """Returns an entity in a list, which marks entities that are only the title of a document."""
    return entity(message) | {"document_title": message.document_title}


def neighborhood(answer: query_pb2.GetNeighborhoodResponse) -> Json:
    """Returns an entity, its neighbors and the facts that connect them."""
    return {
        "center": entity(answer.center),
        "nodes": [entity(node) for node in answer.nodes],
        "edges": [fact(edge) for edge in answer.edges],
        "total": answer.neighbor_count,
        "truncated": answer.truncated,
        "homonyms": [entity_ref(other) for other in answer.homonyms],
    }


def graph_stats(answer: query_pb2.GetGraphStatsResponse) -> Json:
    """The graph in numbers."""
    return {
        "entities": answer.entity_count,
        "facts": answer.fact_count,
        "local_facts": answer.local_fact_count,
        "episodes": answer.episode_count,
        "entities_by_type": dict(answer.entity_counts_by_type),
        "last_ingest_at": time(answer, "last_ingest_time"),
        "indexes": {name: _INDEX_STATE[state] for name, state in answer.index_states.items()},
        "revision": answer.space_revision,
    }
