"""Adding findings, and removing those of deleted episodes, within one write to a space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from services.graph_query.findings.domain import FindingFields, GivenFinding
from services.graph_query.findings.planning import (
    Held,
    Plan,
    Planner,
    Put,
    References,
    references_of,
)
from services.graph_query.names import clean_name, name_key
from services.graph_query.neo4j_writer import SpaceWriter
from services.graph_query.plain_words import added_words

UNKNOWN_CONFIDENCE = -1.0
# Before every key in the index, so that a range can mean any key whatever characters it begins with.
KEY_MARK = "="
_SEPARATOR = "\n"


async def add_findings(writer: SpaceWriter, findings: Sequence[GivenFinding], model: str) -> Plan:
    """Adds the findings that are not there yet and changes those that say something else now."""
    known = (await _held(writer, references_of(writer.space, findings))).keys()
    references = References.of(writer.space, known, findings)
    held = await _held(writer, {references.uuid(finding) for finding in findings})
    episodes = {uuid for finding in findings for uuid in finding.episodes}
    own = await writer.ask("own_episodes", uuids=sorted(episodes)) if episodes else []
    planner = Planner(writer.space, known | held.keys(), held, {row["uuid"] for row in own})
    plan = planner.plan(findings)
    if changed := plan.changed():
        await _write(writer, changed, model)
    return plan


async def forget_episodes(writer: SpaceWriter, episodes: Sequence[str]) -> int:
    """Removes findings that come from these episodes alone; how many there were."""
    linked = await writer.ask("findings_linked", uuids=[], episodes=list(episodes))
    if not linked:
        return 0
    row = (await writer.run("delete_findings", uuids=list(episodes)))[0]
    if row["embedded"]:
        await writer.run("change_finding_vectors", change=-row["embedded"], model=None)
    await _delete_idle(writer, linked)
    return int(row["deleted"])


async def forget_extracted(writer: SpaceWriter, episodes: Sequence[str]) -> None:
    """Takes back the findings that were read in these episodes; those that callers gave stay."""
    linked = await writer.ask("findings_linked", uuids=[], episodes=list(episodes))
    if not linked:
        return
    embedded = (await writer.run("forget_extracted", uuids=list(episodes)))[0]["embedded"]
    if embedded:
        await writer.run("change_finding_vectors", change=-embedded, model=None)
    await _delete_idle(writer, linked)


async def _held(writer: SpaceWriter, uuids: Iterable[str]) -> dict[str, Held]:
    wanted = sorted(uuids)
    rows = await writer.ask("findings_held", uuids=wanted) if wanted else []
    return {
        row["uuid"]: Held(
            row["digest"], row["statement"], frozenset(row["episodes"]), row["embedded"]
        )
        for row in rows
    }


async def _write(writer: SpaceWriter, puts: Sequence[Put], model: str) -> None:
    rows = [_row(put) for put in puts]
    there = [put.uuid for put in puts if put.held is not None]
    linked = await writer.ask("findings_linked", uuids=there, episodes=[]) if there else []
    await writer.run("put_findings", rows=rows, now=writer.now.timestamp())
    if there:
        await writer.run("cut_finding_links", uuids=there)
    await writer.run("link_findings", rows=[_links(put) for put in puts])
    if linked:
        await _delete_idle(writer, linked)
    await _set_vectors(writer, puts, model)


async def _set_vectors(writer: SpaceWriter, puts: Sequence[Put], model: str) -> None:
    moved = [put for put in puts if put.vector is not None and (put.vector or put.held)]
    if not moved:
        return
    rows = [{"uuid": put.uuid, "vector": list(put.vector or ())} for put in moved]
    await writer.run("set_finding_vectors", rows=rows)
    before = sum(put.held is not None and put.held.embedded for put in moved)
    change = sum(put.embedded for put in moved) - before
    length = next((len(put.vector) for put in moved if put.vector), None)
    told = {"model": model if length else None, "dimension": length}
    await writer.run("change_finding_vectors", change=change, **told)


async def _delete_idle(writer: SpaceWriter, linked: Sequence[dict[str, Any]]) -> None:
    subjects = sorted({tuple(subject) for row in linked for subject in row["subjects"]})
    episodes = sorted({uuid for row in linked for uuid in row["episodes"]})
    told = [list(subject) for subject in subjects]
    await writer.run("delete_idle_subjects", subjects=told, episodes=episodes)


def _row(put: Put) -> dict[str, Any]:
    finding = put.finding
    fields = {"id": finding.id, "digest": put.digest, **_fields(finding.fields)}
    return {"uuid": put.uuid, "origin": finding.origin.value, "fields": fields}


def _fields(told: FindingFields) -> dict[str, Any]:
    return {
        "kind": told.kind.value,
        "statement": told.statement,
        "details": _details(told),
        "braid_words": added_words(f"{told.statement} {_details(told)}"),
        "type": told.type,
        "type_key": key(told.type),
        "confidence": told.confidence,
        "confidence_key": UNKNOWN_CONFIDENCE if told.confidence is None else told.confidence,
        "methodology": told.methodology,
        "methodology_key": name_key(told.methodology),
        "status": told.status,
        "status_key": key(told.status),
        "priority": told.priority,
        "owner": told.owner,
        "owner_key": key(told.owner),
        "metric_names": [metric.name for metric in told.metrics],
        "metric_keys": [name_key(metric.name) for metric in told.metrics],
        "metric_values": [metric.value for metric in told.metrics],
        "metric_units": [metric.unit for metric in told.metrics],
        "blockers": list(told.blockers),
        "blocker_keys": [name_key(blocker) for blocker in told.blockers],
    }


def key(text: str) -> str:
    """A text as filters compare it."""
    return KEY_MARK + name_key(text)


def _details(told: FindingFields) -> str:
    """All other words that a finding is found by."""
    named = (told.type, told.methodology, told.status, told.owner)
    words = [*named, *(metric.name for metric in told.metrics), *told.blockers]
    return _SEPARATOR.join(word for word in words if word)


def _links(put: Put) -> dict[str, Any]:
    subjects = {(name_key(end.name), end.type): clean_name(end.name) for end in put.finding.about}
    return {
        "uuid": put.uuid,
        "subjects": [[*subject, name] for subject, name in sorted(subjects.items())],
        "findings": sorted(put.about_findings),
        "episodes": sorted(put.episodes),
    }
