"""Maps histories between messages and the domain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import entities_pb2, facts_pb2, history_pb2, structure_pb2
from services.graph_query.core.domain import Entity, Fact
from services.graph_query.core.fact_changes import ChangeKind, FactChange
from services.graph_query.core.names import name_key
from services.graph_query.history.domain import Selector, Version
from services.graph_query.history.summary import Changed, Diff, Period, Summary, period_bounds
from services.graph_query.servicers import fact_mapping as mapping
from services.runtime.times import to_datetime, to_timestamp

_KINDS = {
    ChangeKind.WITHDRAWN: facts_pb2.FACT_CHANGE_KIND_WITHDRAWN,
    ChangeKind.CORRECTED: facts_pb2.FACT_CHANGE_KIND_CORRECTED,
}


def selector(message: entities_pb2.EntitySelector) -> Selector:
    """Maps the selected entity."""
    if message.WhichOneof("by") == "id":
        return Selector(uuid=message.id.lower())
    return Selector(name_key=name_key(message.name), type=message.type)


def seconds(stamp: Timestamp) -> float:
    """Maps an instant in epoch seconds."""
    return to_datetime(stamp).timestamp()


def entity(one: Entity | None) -> facts_pb2.Entity | None:
    """Maps an entity, if there is one."""
    return None if one is None else mapping.entity(one)


def summary(value: Summary, facts: Mapping[str, Fact]) -> history_pb2.HistorySummary:
    """Maps a summary of a history."""
    return history_pb2.HistorySummary(
        fact_count=value.total,
        current_fact_count=value.current_total,
        current=_facts(value.current, facts),
        first_seen_time=_stamp(value.first_seen),
        earliest_valid_time=_stamp(value.earliest),
        never_changed=value.never_changed,
        unchanged_since_time=_stamp(value.unchanged_since),
        periods=[_period(one) for one in value.periods],
        periods_truncated=value.truncated,
    )


def diff(value: Diff, facts: Mapping[str, Fact], *, incomplete: bool) -> history_pb2.GraphDiff:
    """Maps the differences between two times."""
    return history_pb2.GraphDiff(
        added=_facts(value.added, facts),
        ended=_facts(value.ended, facts),
        changed=[_changed(one, facts) for one in value.changed],
        added_count=value.added_total,
        ended_count=value.ended_total,
        changed_count=value.changed_total,
        incomplete=incomplete,
    )


def version(one: Version) -> structure_pb2.FactVersion:
    """Maps a fact as known over a span of time."""
    return structure_pb2.FactVersion(
        fact=mapping.fact(one.fact),
        known_time=to_timestamp(one.known_from),
        superseded_time=None if one.known_until is None else to_timestamp(one.known_until),
        chunk_id=one.episode,
        change=None if one.change is None else change(one.change),
        corrected_fact_id=one.corrects,
    )


def withdrawn(one: Version) -> facts_pb2.WithdrawnFact:
    """Maps the last state of a withdrawn fact."""
    return facts_pb2.WithdrawnFact(
        fact=mapping.fact(one.fact),
        known_time=to_timestamp(one.known_from),
        withdrawn_time=None if one.known_until is None else to_timestamp(one.known_until),
        change=None if one.change is None else change(one.change),
    )


def change(one: FactChange) -> facts_pb2.FactChange:
    """Maps who withdrew or corrected a fact, and why."""
    return facts_pb2.FactChange(
        kind=_KINDS[one.kind],
        user_id=one.by.user,
        reason=one.by.reason,
        chunk_id=one.by.episode,
        replacement_fact_id=one.replacement,
    )


def _changed(one: Changed, facts: Mapping[str, Fact]) -> history_pb2.ChangedFacts:
    return history_pb2.ChangedFacts(
        before=_facts(one.before, facts), after=_facts(one.after, facts)
    )


def _facts(uuids: tuple[str, ...], facts: Mapping[str, Fact]) -> list[facts_pb2.Fact]:
    """Maps the facts that still exist: one may be deleted between two reads."""
    return [mapping.fact(facts[uuid]) for uuid in uuids if uuid in facts]


def _period(one: Period) -> history_pb2.HistoryPeriod:
    bounds = period_bounds(one)
    return history_pb2.HistoryPeriod(
        relation_type=one.relation,
        start_time=to_timestamp(bounds[0]) if bounds else None,
        end_time=to_timestamp(bounds[1]) if bounds else None,
        began_count=one.began,
        ended_count=one.ended,
    )


def _stamp(value: float | None) -> Timestamp | None:
    return None if value is None else to_timestamp(datetime.fromtimestamp(value, UTC))
