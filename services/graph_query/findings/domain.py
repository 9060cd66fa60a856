"""The findings layer's own words: what a finding says, what it is about, and what a search may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from services.graph_query.domain import Citation, EntityName, EntityRef


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
