"""Findings in Neo4j: reads, and the steps of a write."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from services.graph_query.core.domain import EntityRef
from services.graph_query.core.full_text import added_words, words_query
from services.graph_query.core.names import clean_name, name_key
from services.graph_query.core.store import Hit, SpaceState
from services.graph_query.findings.domain import (
    Bounds,
    Finding,
    FindingCounts,
    FindingFields,
    FindingFilter,
    FindingKind,
    FindingOrigin,
    GivenFinding,
    Metric,
    Position,
    Subject,
)
from services.graph_query.findings.planning import (
    FindingChange,
    Plan,
    Planner,
    References,
    StoredFinding,
    references_of,
)
from services.graph_query.neo4j.database import Database
from services.graph_query.neo4j.row_mapping import citations, packed
from services.graph_query.neo4j.space_writer import SpaceWriter, Write

UNKNOWN_CONFIDENCE = -1.0


# Precedes every key in the index, so that one range covers all keys, whatever their first character.
KEY_MARK = "="


_SEPARATOR = "\n"


async def add_findings(writer: SpaceWriter, findings: Sequence[GivenFinding], model: str) -> Plan:
    """Adds findings that do not exist yet and updates those that differ."""
    known = (await _stored_findings(writer, references_of(writer.space, findings))).keys()
    references = References.of(writer.space, known, findings)
    stored = await _stored_findings(writer, {references.uuid(finding) for finding in findings})
    episodes = {uuid for finding in findings for uuid in finding.episodes}
    own = await writer.read("episodes_of_space", uuids=sorted(episodes)) if episodes else []
    planner = Planner(writer.space, known | stored.keys(), stored, {row["uuid"] for row in own})
    plan = planner.plan(findings)
    if changed := plan.changed():
        await _write(writer, changed, model)
    return plan


async def forget_episodes(writer: SpaceWriter, episodes: Sequence[str]) -> int:
    """Deletes findings that come from these episodes alone; returns how many."""
    linked = await writer.read("findings_linked", uuids=[], episodes=list(episodes))
    if not linked:
        return 0
    row = (await writer.write("delete_findings", uuids=list(episodes)))[0]
    if row["embedded"]:
        await writer.write("change_finding_vectors", change=-row["embedded"], model=None)
    await delete_unused_links(writer, linked)
    return int(row["deleted"])


async def forget_extracted(writer: SpaceWriter, episodes: Sequence[str]) -> None:
    """Withdraws the findings extracted from these episodes; findings given by callers stay."""
    linked = await writer.read("findings_linked", uuids=[], episodes=list(episodes))
    if not linked:
        return
    embedded = (await writer.write("delete_extracted_findings", uuids=list(episodes)))[0][
        "embedded"
    ]
    if embedded:
        await writer.write("change_finding_vectors", change=-embedded, model=None)
    await delete_unused_links(writer, linked)


async def _stored_findings(writer: SpaceWriter, uuids: Iterable[str]) -> dict[str, StoredFinding]:
    wanted = sorted(uuids)
    rows = await writer.read("stored_findings", uuids=wanted) if wanted else []
    return {
        row["uuid"]: StoredFinding(
            row["digest"], row["statement"], frozenset(row["episodes"]), row["embedded"]
        )
        for row in rows
    }


async def _write(writer: SpaceWriter, puts: Sequence[FindingChange], model: str) -> None:
    rows = [_row(put) for put in puts]
    there = [put.uuid for put in puts if put.stored is not None]
    linked = await writer.read("findings_linked", uuids=there, episodes=[]) if there else []
    await writer.write("put_findings", rows=rows, now=writer.now.timestamp())
    if there:
        await writer.write("delete_finding_links", uuids=there)
    await writer.write("link_findings", rows=[_links(put) for put in puts])
    if linked:
        await delete_unused_links(writer, linked)
    await _set_vectors(writer, puts, model)


async def _set_vectors(writer: SpaceWriter, puts: Sequence[FindingChange], model: str) -> None:
    moved = [put for put in puts if put.vector is not None and (put.vector or put.stored)]
    if not moved:
        return
    rows = [{"uuid": put.uuid, "vector": list(put.vector or ())} for put in moved]
    await writer.write("set_finding_vectors", rows=rows)
    before = sum(put.stored is not None and put.stored.embedded for put in moved)
    change = sum(put.embedded for put in moved) - before
    length = next((len(put.vector) for put in moved if put.vector), None)
    parameters = {"model": model if length else None, "dimension": length}
    await writer.write("change_finding_vectors", change=change, **parameters)


async def delete_unused_links(writer: SpaceWriter, linked: Sequence[dict[str, Any]]) -> None:
    """Deletes those of the given subjects and sources that no finding is linked to any more."""
    subjects = sorted({tuple(subject) for row in linked for subject in row["subjects"]})
    episodes = sorted({uuid for row in linked for uuid in row["episodes"]})
    rows = [list(subject) for subject in subjects]
    await writer.write("delete_unused_subjects", subjects=rows, episodes=episodes)


def _row(put: FindingChange) -> dict[str, Any]:
    finding = put.finding
    fields = {"id": finding.id, "digest": put.digest, **_stored_fields(finding.fields)}
    return {"uuid": put.uuid, "origin": finding.origin.value, "fields": fields}


def _stored_fields(value: FindingFields) -> dict[str, Any]:
    return {
        "kind": value.kind.value,
        "statement": value.statement,
        "details": _details(value),
        "braid_words": added_words(f"{value.statement} {_details(value)}"),
        "type": value.type,
        "type_key": key(value.type),
        "confidence": value.confidence,
        "confidence_key": UNKNOWN_CONFIDENCE if value.confidence is None else value.confidence,
        "methodology": value.methodology,
        "methodology_key": name_key(value.methodology),
        "status": value.status,
        "status_key": key(value.status),
        "priority": value.priority,
        "owner": value.owner,
        "owner_key": key(value.owner),
        "metric_names": [metric.name for metric in value.metrics],
        "metric_keys": [name_key(metric.name) for metric in value.metrics],
        "metric_values": [metric.value for metric in value.metrics],
        "metric_units": [metric.unit for metric in value.metrics],
        "blockers": list(value.blockers),
        "blocker_keys": [name_key(blocker) for blocker in value.blockers],
    }


def key(text: str) -> str:
    """Returns a text in the form that filters compare."""
    return KEY_MARK + name_key(text)


def _details(value: FindingFields) -> str:
    """Returns all further words that a finding is found by."""
    named = (value.type, value.methodology, value.status, value.owner)
    words = [*named, *(metric.name for metric in value.metrics), *value.blockers]
    return _SEPARATOR.join(word for word in words if word)


def _links(put: FindingChange) -> dict[str, Any]:
    subjects = {(name_key(end.name), end.type): clean_name(end.name) for end in put.finding.about}
    return {
        "uuid": put.uuid,
        "subjects": [[*subject, name] for subject, name in sorted(subjects.items())],
        "findings": sorted(put.about_findings),
        "episodes": sorted(put.episodes),
    }


_FIELDS = ("statement", "details", "braid_words")


_FETCH = 50_000


# Of the 40 nearest by the index, the first 20 have a recall of .994; of only 20, .986.
_FETCH_VECTORS = 40


_CITATIONS = 5


_KEY_END = chr(ord(KEY_MARK) + 1)


_PRIORITIES = 5


_LARGEST = sys.float_info.max


_BEGINNING = Position(_LARGEST, "")


class Neo4jFindings:
    """Implements `FindingStore` on Neo4j."""

    def __init__(self, database: Database, write: Write) -> None:
        self._database = database
        self._write = write

    async def add_findings(
        self, space: str, findings: Sequence[GivenFinding], model: str
    ) -> FindingCounts:
        """Adds findings in one transaction."""
        length = next((len(one.embedding) for one in findings if one.embedding), 0)
        plan, revision = await self._write(
            space, lambda writer: add_findings(writer, findings, model), model, length
        )
        return plan.counts(revision)

    async def finding_state(self, space: str) -> SpaceState:
        """Returns the space's revision, the number of its findings with vectors, and their model."""
        row = (await self._database.read("finding_state", space=space))[0]
        return SpaceState(row["revision"], row["vectors"], row["model"], row["dimension"])

    async def findings_by_text(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Returns findings by their words, best first."""
        lucene = words_query(space, _FIELDS, terms)
        if not lucene:
            return []
        result = await self._parameters(space, only)
        result |= {"source": "words", "lucene": lucene, "limit": limit}
        return [Hit(uuid, score) for uuid, score, _ in await self._where(result)]

    async def findings_by_vector(
        self, space: str, vector: Sequence[float], only: FindingFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Returns findings by cosine similarity, compared exactly where the index does not support the filter."""
        result = await self._parameters(space, only)
        result |= {"vector": packed(vector), "limit": limit, "fetch": max(limit, _FETCH_VECTORS)}
        if exact or not only.is_indexable:
            return [Hit(uuid, score) for uuid, score, _ in await self._where(result)]
        rows = await self._database.read("findings_nearest", **result)
        return [Hit(*hit) for hit in rows[0]["hits"]]

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Lists findings, newest first, after a position."""
        result = await self._parameters(space, only, after or _BEGINNING)
        result["limit"] = limit
        return [Position(created, uuid) for uuid, _, created in await self._where(result)]

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Returns the findings that exist, in full."""
        if not uuids:
            return {}
        rows = await self._database.read(
            "findings_in_full", space=space, uuids=list(uuids), citations=_CITATIONS
        )
        return {found.uuid: found for found in (_finding(*row) for row in rows[0]["findings"])}

    async def _where(self, parameters: dict[str, Any]) -> list[Any]:
        hits: list[Any] = (await self._database.read("findings_where", **parameters))[0]["hits"]
        return hits

    async def _parameters(
        self, space: str, only: FindingFilter, after: Position = _BEGINNING
    ) -> dict[str, Any]:
        about = only.about or Subject("")
        types = []
        if about.type:
            rows = await self._database.read("finding_subject_types", space=space, key=about.key)
            types = [row["type"] for row in rows]
        return {
            **filter_parameters(space, only),
            "about_known": types,
            "after_created": after.created,
            "after_uuid": after.uuid,
            "source": _source(only),
            "lucene": "",
            "fetch": _FETCH,
            "vector": None,
        }


def filter_parameters(space: str, only: FindingFilter) -> dict[str, Any]:
    """Returns the parameters of every query that filters findings.

    All bounds are always set, so that one plan serves all.
    """
    confidence = only.confidence or Bounds(UNKNOWN_CONFIDENCE, 1.0)
    metric = only.metric
    value = metric.value if metric else Bounds(-_LARGEST, _LARGEST)
    about = only.about or Subject("")
    return {
        "space": space,
        "kinds": [kind.value for kind in only.kinds or FindingKind],
        **_key_range("type", only.type),
        **_key_range("status", only.status),
        **_key_range("owner", only.owner),
        "confidence_from": max(confidence.low, 0.0) if only.confidence else confidence.low,
        "confidence_until": confidence.high,
        "priorities": sorted(only.priorities) or list(range(_PRIORITIES)),
        "origins": [only.origin.value] if only.origin else [one.value for one in FindingOrigin],
        "created_from": -_LARGEST if only.created_from is None else only.created_from,
        "created_until": _LARGEST if only.created_until is None else only.created_until,
        "methodology": only.methodology,
        "blocker": only.blocker,
        "has_blockers": only.has_blockers,
        "metric": metric.key if metric else "",
        "metric_from": value.low,
        "metric_until": value.high,
        "uuids": None if only.uuids is None else list(only.uuids),
        "episode": only.episode,
        "about_findings": list(only.about_findings),
        "about_key": about.key,
        "about_type": about.type,
    }


def _key_range(name: str, wanted: str) -> dict[str, str]:
    low, high = (key(wanted), key(wanted)) if wanted else (KEY_MARK, _KEY_END)
    return {f"{name}_from": low, f"{name}_until": high}


def _source(only: FindingFilter) -> str:
    """Returns where the query starts: at the source that is likely to have the fewest findings."""
    if only.uuids is not None:
        return "uuids"
    if only.episode:
        return "episode"
    return "about" if only.about else "space"


def _finding(
    row: dict[str, Any], subjects: Sequence[Any], about: Sequence[str], cited: Sequence[Any]
) -> Finding:
    return Finding(
        uuid=row["uuid"],
        id=row["id"],
        fields=_fields(row),
        origin=FindingOrigin(row["origin"]),
        created_at=datetime.fromtimestamp(row["created"], UTC),
        updated_at=datetime.fromtimestamp(row["updated"], UTC),
        about=tuple(EntityRef(*subject) for subject in subjects),
        about_findings=tuple(about),
        citations=citations(cited),
    )


def _fields(row: dict[str, Any]) -> FindingFields:
    measured = (row["metric_names"], row["metric_values"], row["metric_units"])
    return FindingFields(
        kind=FindingKind(row["kind"]),
        statement=row["statement"],
        type=row["type"],
        confidence=row["confidence"],
        methodology=row["methodology"],
        status=row["status"],
        priority=row["priority"],
        owner=row["owner"],
        metrics=tuple(Metric(*parts) for parts in zip(*measured, strict=True)),
        blockers=tuple(row["blockers"]),
    )
