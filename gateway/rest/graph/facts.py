"""Facts, histories, differences and paths as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.rest import views
from gateway.rest.views import Json, struct, time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from braid.graph.v1 import facts_pb2, history_pb2, structure_pb2


def stated_fact(message: facts_pb2.Fact) -> Json:
    """A dated fact with its attributes and when it became known."""
    return views.fact(message) | {
        "attributes": struct(message.attributes),
        "created_at": time(message, "create_time"),
    }


def page(answer: Any) -> Json:
    """A page of facts."""
    return {"facts": _facts(answer.facts), "next_cursor": answer.next_page_token or None}


def history(answer: history_pb2.GetEntityHistoryResponse) -> Json:
    """An entity's facts; `entity` is null while several share the name."""
    return {
        "entity": views.entity(answer.entity) if answer.HasField("entity") else None,
        "homonyms": [views.entity_ref(one) for one in answer.homonyms],
        **page(answer),
        "summary": _summary(answer.summary) if answer.HasField("summary") else None,
    }


def snapshot(answer: history_pb2.GetSnapshotResponse) -> Json:
    """What held, and what is different now."""
    changes = diff(answer.changes) if answer.HasField("changes") else None
    return page(answer) | {"changes": changes}


def diff(message: history_pb2.GraphDiff) -> Json:
    """What is different between two times."""
    return {
        "added": _facts(message.added),
        "ended": _facts(message.ended),
        "changed": [
            {"before": _facts(one.before), "after": _facts(one.after)} for one in message.changed
        ],
        "added_total": message.added_total,
        "ended_total": message.ended_total,
        "changed_total": message.changed_total,
        "incomplete": message.incomplete,
    }


def fact_and_versions(answer: structure_pb2.GetFactResponse) -> Json:
    """A fact, null when it was taken back, and all that was known of it."""
    return {
        "fact": stated_fact(answer.fact) if answer.HasField("fact") else None,
        "versions": [_version(one) for one in answer.versions],
    }


def paths(answer: structure_pb2.FindPathsResponse) -> Json:
    """The shortest ways between two entities."""
    return {
        "paths": [
            {
                "nodes": [views.entity_ref(node) for node in one.nodes],
                "facts": _facts(one.facts),
            }
            for one in answer.paths
        ],
        "truncated": answer.truncated,
        "incomplete": answer.incomplete,
        "source_homonyms": [views.entity_ref(one) for one in answer.source_homonyms],
        "target_homonyms": [views.entity_ref(one) for one in answer.target_homonyms],
    }


def _facts(messages: Iterable[facts_pb2.Fact]) -> list[Json]:
    return [stated_fact(one) for one in messages]


def _summary(message: history_pb2.HistorySummary) -> Json:
    return {
        "total": message.total,
        "current_total": message.current_total,
        "current": _facts(message.current),
        "first_seen_at": time(message, "first_seen_time"),
        "earliest_valid_at": time(message, "earliest_valid_time"),
        "never_changed": message.never_changed,
        "unchanged_since": time(message, "unchanged_since_time"),
        "periods": [_period(one) for one in message.periods],
        "periods_truncated": message.periods_truncated,
    }


def _period(message: history_pb2.HistoryPeriod) -> Json:
    return {
        "relation": message.relation,
        "start": time(message, "start_time"),
        "end": time(message, "end_time"),
        "began": message.began,
        "ended": message.ended,
    }


def _version(message: structure_pb2.FactVersion) -> Json:
    return {
        "fact": stated_fact(message.fact),
        "known_at": time(message, "known_time"),
        "superseded_at": time(message, "superseded_time"),
        "chunk_id": message.chunk_id or None,
    }
