"""Findings, what makes their identity, and their store."""

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
    """What a statement about the text is."""

    FINDING = "finding"
    INTENT = "intent"
    OUTCOME = "outcome"


class FindingOrigin(Enum):
    """Where a finding comes from."""

    GIVEN = "given"
    EXTRACTED = "extracted"


class Metric(NamedTuple):
    """A measured number; `unit` "" when it has none."""

    name: str
    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class FindingFields:
    """What a finding says; fields of other kinds than its own stay empty. `priority` is 0 (unknown) to 4."""

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
    """A finding to add. `id` is the caller's own name for it or ""; `about_findings` are ids or uuids.

    `embedding` is the statement's vector, L2-normalised, or empty.
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
    """A finding as the graph keeps it; of an entity that is not there yet the uuid is ""."""

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
    """What became of given findings: their uuids ("" where refused), reasons by position, and the revision after it."""

    uuids: tuple[str, ...] = ()
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    without_vector: int = 0
    refused: tuple[tuple[int, str], ...] = ()
    revision: int = 0


class Bounds(NamedTuple):
    """Both ends inclusive."""

    low: float
    high: float

    def hold(self, number: float) -> bool:
        """Whether a number is inside."""
        return self.low <= number <= self.high


class MetricFilter(NamedTuple):
    """A metric by the key of its name, within bounds."""

    key: str
    value: Bounds


class Subject(NamedTuple):
    """An entity by the key of its name; `type` "" for whichever bears it."""

    key: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class FindingFilter:
    """What findings must satisfy before they are ranked. Texts are `name_key`s; what is empty or None filters nothing.

    `about_findings` are uuids of which any will do; creation is in epoch seconds, the end exclusive.
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
        """Whether only fields of one value are asked for, which a vector index can filter by itself."""
        several = (self.methodology, self.metric, self.blocker, self.about, self.about_findings)
        return (
            self.has_blockers is None and self.uuids is None and not any((*several, self.episode))
        )


def named_uuid(space: str, finding_id: str) -> str:
    """Uuid of the finding that a caller gave a name."""
    return derived_uuid("finding", space, "id", finding_id)


def finding_uuid(space: str, finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Uuid of a given finding; `about_findings` are uuids."""
    if finding.id:
        return named_uuid(space, finding.id)
    return derived_uuid("finding", space, "content", digest(finding, about_findings))


def candidates(space: str, reference: str) -> tuple[str, str]:
    """The uuids that a reference may mean: as a name first, then as a uuid."""
    return named_uuid(space, reference), reference.lower()


def digest(finding: GivenFinding, about_findings: Iterable[str]) -> str:
    """Digest of all that a finding says and is about; where it comes from is no part of it."""
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
    """Where a listing stands: creation in epoch seconds, descending, then uuid."""

    created: float
    uuid: str


class FindingStore(Protocol):
    """The findings of every space. Raises what `GraphStore` says."""

    async def add_findings(
        self, space: str, findings: Sequence[GivenFinding], model: str
    ) -> FindingCounts:
        """Adds findings in one transaction. WrongStateError when the space has vectors of another model."""

    async def finding_state(self, space: str) -> SpaceState:
        """The space's revision, its findings with vectors, and the model of its vectors."""

    async def findings_by_text(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Findings that pass the filter by their words, best first."""

    async def findings_by_vector(
        self, space: str, vector: Sequence[float], only: FindingFilter, limit: int, *, exact: bool
    ) -> list[Hit]:
        """Findings that pass the filter by cosine similarity, best first."""

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Findings that pass the filter, newest first, after a position."""

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Those of the findings that are there, in full."""
