"""Findings, their identity, and their store interface."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from services.graph_query.core.domain import Citation, EntityName, EntityRef
from services.graph_query.core.names import name_key
from services.graph_query.core.store import Hit, SpaceState
from services.runtime.ids import content_sha256, derived_uuid


class FindingKind(Enum):
    """The kind of a statement about the text."""

    FINDING = "finding"
    INTENT = "intent"
    OUTCOME = "outcome"


class FindingOrigin(Enum):
    """The source of a finding."""

    GIVEN = "given"
    EXTRACTED = "extracted"


class Metric(NamedTuple):
    """A measured number; `unit` is "" without a unit."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class FindingFields:
    """The content of a finding; fields of other kinds stay empty. `priority` is 0 (unknown) to 4."""

    kind: FindingKind
    statement: str
    type: str = ""
    confidence: float | None = None
    methodology: str = ""
    status: str = ""
    priority: int = 0
    owner: str = ""
    metrics: tuple[Metric, ...] = ()
    blockers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenFinding:
    """A finding to add. `id` is the caller's name for it or ""; `about_findings` are ids or uuids.

    `embedding` is the statement's vector, L2-normalized, or empty.
    """

    fields: FindingFields
    id: str = ""
    about: tuple[EntityName, ...] = ()
    about_findings: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    origin: FindingOrigin = FindingOrigin.GIVEN
    embedding: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding as stored; an entity that does not exist yet has the uuid ""."""

    uuid: str
    id: str
    fields: FindingFields
    origin: FindingOrigin
    created_at: datetime
    updated_at: datetime
    about: tuple[EntityRef, ...] = ()
    about_findings: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingCounts:
    """The result of adding findings.

    Uuids ("" where refused), counts, reasons of refusals by position, and the space's revision afterwards.
    """

    uuids: tuple[str, ...] = ()
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    without_vector: int = 0
    refused: tuple[tuple[int, str], ...] = ()
    revision: int = 0


class Bounds(NamedTuple):
    """A range, both ends inclusive."""

    low: float
    high: float

    def hold(self, number: float) -> bool:
        """Returns whether a number is inside."""
        return self.low <= number <= self.high


class MetricFilter(NamedTuple):
    """Selects a metric by the key of its name, within bounds."""

    key: str
    value: Bounds


class Subject(NamedTuple):
    """An entity by the key of its name; `type` "" matches any."""

    key: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """What findings must satisfy before they are ranked.

    Texts are `name_key`s; an empty or None field does not filter. A finding about any of `about_findings`, which are
    uuids, passes. Creation times are in epoch seconds, the end exclusive.
    """

    kinds: frozenset[FindingKind] = frozenset()
    type: str = ""
    confidence: Bounds | None = None
    methodology: str = ""
    status: str = ""
    priorities: frozenset[int] = frozenset()
    owner: str = ""
    metric: MetricFilter | None = None
    blocker: str = ""
    has_blockers: bool | None = None
    about: Subject | None = None
    about_findings: tuple[str, ...] = ()
    episode: str = ""
    origin: FindingOrigin | None = None
    created_from: float | None = None
    created_until: float | None = None
    uuids: tuple[str, ...] | None = None

    @property
    def is_indexable(self) -> bool:
        """Returns whether only single-valued fields are filtered by, which a vector index can filter by itself."""
        several = (self.methodology, self.metric, self.blocker, self.about, self.about_findings)
        return (
            self.has_blockers is None and self.uuids is None and not any((*several, self.episode))
        )


def named_uuid(space: str, finding_id: str) -> str:
    """Returns the uuid of a finding to which the caller gave an id."""
    return derived_uuid("finding", space, "id", finding_id)


def finding_uuid(space: str, finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Returns the uuid of a given finding; `about_findings` are uuids."""
    if finding.id:
        return named_uuid(space, finding.id)
    return derived_uuid("finding", space, "content", digest(finding, about_findings))


def candidates(space: str, reference: str) -> tuple[str, str]:
    """Returns the uuids that a reference may stand for: as an id first, then as a uuid."""
    return named_uuid(space, reference), reference.lower()


def digest(finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Returns the digest of a finding's content and subjects; its source is not included."""
    rows = [_hashed_fields(finding.fields), _subjects(finding), sorted(set(about_findings))]
    return content_sha256(json.dumps(rows, ensure_ascii=False))


def _hashed_fields(fields: FindingFields) -> list[object]:
    return [
        fields.kind.value,
        fields.statement,
        fields.type,
        fields.confidence,
        fields.methodology,
        fields.status,
        fields.priority,
        fields.owner,
        [list(metric) for metric in fields.metrics],
        list(fields.blockers),
    ]


def _subjects(finding: GivenFinding) -> list[tuple[str, str]]:
    return sorted({(name_key(end.name), end.type) for end in finding.about})


class Position(NamedTuple):
    """A position in a listing: creation in epoch seconds, descending, then uuid."""

    created: float
    uuid: str


class FindingStore(Protocol):
    """Stores the findings of every space. Raises what `GraphStore` raises."""

    async def add_findings(
        self, space: str, findings: Sequence[GivenFinding], model: str
    ) -> FindingCounts:
        """Adds findings in one transaction. Raises WrongStateError if the space has vectors of another model."""

    async def finding_state(self, space: str) -> SpaceState:
        """Returns the space's revision, the number of its findings with vectors, and their model."""

    async def findings_by_text(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Returns findings that pass the filter by their words, best first."""

    async def findings_by_vector(
        self, space: str, vector: Sequence[float], only: FindingFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Returns findings that pass the filter by cosine similarity, best first."""

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Returns positions of findings that pass the filter, newest first, after a position."""

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Returns the findings that exist, in full."""
