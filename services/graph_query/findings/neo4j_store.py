"""The findings of every space in Neo4j."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from services.graph_query.domain import EntityRef
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
    Subject,
)
from services.graph_query.findings.neo4j_writes import (
    KEY_MARK,
    UNKNOWN_CONFIDENCE,
    add_findings,
    key,
)
from services.graph_query.findings.store import Position
from services.graph_query.lucene import words_query
from services.graph_query.neo4j_database import Database
from services.graph_query.neo4j_records import citations
from services.graph_query.neo4j_search import packed
from services.graph_query.neo4j_writer import SpaceWriter
from services.graph_query.store import Hit, SpaceState

T = TypeVar("T")
_FIELDS = ("statement", "details", "braid_words")
_FETCH = 50_000
# Of 40 that the index takes for nearest, the first 20 are so with a recall of .994; of 20, with .986.
_FETCH_VECTORS = 40
_CITATIONS = 5
_KEY_END = chr(ord(KEY_MARK) + 1)
_PRIORITIES = 5
_LARGEST = sys.float_info.max
_BEGINNING = Position(_LARGEST, "")


class Write(Protocol):
    """A transaction in a space under its lock; answers with the revision after it.

    `model` and `length` are of the vectors that it brings.
    """

    def __call__(
        self,
        space: str,
        work: Callable[[SpaceWriter], Awaitable[T]],
        model: str = "",
        length: int = 0,
    ) -> Awaitable[tuple[T, int]]: ...


class Neo4jFindings:
    """`FindingStore` on Neo4j."""

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
        """The space's revision, its findings with vectors, and the model of its vectors."""
        row = (await self._database.read("finding_state", space=space))[0]
        return SpaceState(row["revision"], row["vectors"], row["model"], row["dimension"])

    async def findings_by_words(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Findings by their words, best first."""
        lucene = words_query(space, _FIELDS, terms)
        if not lucene:
            return []
        told = await self._parameters(space, only)
        told |= {"source": "words", "lucene": lucene, "limit": limit}
        return [Hit(uuid, score) for uuid, score, _ in await self._where(told)]

    async def findings_near(
        self, space: str, vector: Sequence[float], only: FindingFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Findings by cosine similarity; what the index cannot filter is compared exactly."""
        told = await self._parameters(space, only)
        told |= {"vector": packed(vector), "limit": limit, "fetch": max(limit, _FETCH_VECTORS)}
        if exact or not only.is_indexable:
            return [Hit(uuid, score) for uuid, score, _ in await self._where(told)]
        rows = await self._database.read("findings_nearest", **told)
        return [Hit(*hit) for hit in rows[0]["hits"]]

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Findings newest first, after a position."""
        told = await self._parameters(space, only, after or _BEGINNING)
        told["limit"] = limit
        return [Position(created, uuid) for uuid, _, created in await self._where(told)]

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Those of the findings that are there, in full."""
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
    """What every query that filters findings is given; each bound is there, so that one plan serves all."""
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
    """Where to begin: with what is likely to be the fewest."""
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
