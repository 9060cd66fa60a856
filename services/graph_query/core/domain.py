"""Domain types: passages, entities, facts, and results of writes and searches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from services.graph_query.core.intervals import OPEN, is_within_a_day
from services.graph_query.core.version_validity import ALWAYS, Period


@dataclass(frozen=True, slots=True)
class DescribedEntity:
    """An entity as described by a text; `embedding` is that of its name, L2-normalized or empty."""

    name: EntityName
    summary: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    embedding: Sequence[float] = ()


Scalar = str | int | float | bool


class Origin(Enum):
    """The source of a fact."""

    GIVEN = "given"
    EXTRACTED = "extracted"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk's text as an episode of the graph; without `reference_time` the time of the write is used.

    `version_time` is the start of the document version that the passage is given for, None without versions.
    `valid_time` is the start of the chunk's own validity, None if it is valid as long as its versions.
    """

    uuid: str
    document_id: str
    title: str
    source: str
    content: str
    reference_time: datetime | None = None
    version_time: datetime | None = None
    valid_time: datetime | None = None
    # As stored: the starts of the versions that contain the passage, its own start, and its validity in the document.
    starts: tuple[float, ...] = ()
    own_start: float = -OPEN
    period: Period = ALWAYS

    @property
    def given_starts(self) -> tuple[float, ...]:
        """Returns the start of the version that the passage is given for; empty without a version."""
        return () if self.version_time is None else (self.version_time.timestamp(),)

    @property
    def given_own_start(self) -> float:
        """Returns the start of the passage's own validity; unbounded if none is given."""
        return -OPEN if self.valid_time is None else self.valid_time.timestamp()

    def untimed(self) -> Passage:
        """Returns the passage without times, for comparison: its text and its document."""
        return replace(self, reference_time=None, version_time=None, valid_time=None)


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """Counts of what adding passages wrote, and the space's revision afterwards."""

    episodes: int = 0
    entities: int = 0
    mentions: int = 0
    local_facts: int = 0
    facts: int = 0
    ended: int = 0
    revision: int = 0

    def plus(self, later: EpisodeCounts) -> EpisodeCounts:
        """Returns the sum of both, with the later revision."""
        pairs = zip(astuple(self), astuple(later), strict=True)
        sums = EpisodeCounts(*(one + other for one, other in pairs))
        return replace(sums, revision=later.revision or self.revision)


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """Counts of what deleting episodes removed."""

    episodes: int = 0
    facts: int = 0
    local_facts: int = 0
    mentions: int = 0
    entities: int = 0
    revived: int = 0
    findings: int = 0
    versions: int = 0

    def plus(self, other: DeletionCounts) -> DeletionCounts:
        """Returns the sum of both."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return DeletionCounts(*(one + another for one, another in pairs))


class EntityName(NamedTuple):
    """One end of a given fact: a name and its type, "" if unknown."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact stated by a caller or a text; `embedding` is L2-normalized or empty.

    A fact extracted from a text names its episode instead of a document. `ended_by` lists the episodes that contradict
    the fact, with the time at which it ends as long as one of them exists. A restored fact has the `uuid` that it had;
    that of every other fact is derived from its content.
    """

    subject: EntityName
    relation: str
    object: EntityName
    fact: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    document_id: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    embedding: Sequence[float] = ()
    episode_id: str = ""
    ended_by: tuple[tuple[str, datetime], ...] = ()
    uuid: str = ""

    @property
    def origin(self) -> Origin:
        """Returns the source of the fact."""
        return Origin.EXTRACTED if self.episode_id else Origin.GIVEN


@dataclass(frozen=True, slots=True)
class FactCounts:
    """The result of adding facts, the space's revision afterwards, and the facts' uuids in the order given.

    `source_revision` orders what the sources of facts state; 0 for facts without a source.
    """

    added: int = 0
    unchanged: int = 0
    revision: int = 0
    source_revision: int = field(default=0, compare=False)
    uuids: tuple[str, ...] = field(default=(), compare=False, repr=False)


class EntityRef(NamedTuple):
    """An entity as a fact's endpoint."""

    uuid: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the graph; `mentions` is the number of chunks that name it.

    `key` is the sort key of listings, "" elsewhere; it does not depend on the spelling of the name.
    """

    uuid: str
    name: str
    type: str = ""
    summary: str = ""
    mentions: int = 0
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    key: str = field(default="", compare=False)
    # Known only as the title of a document; listings set it.
    document_title: bool | None = field(default=None, compare=False)


class EntityOrder(Enum):
    """The order of a listing of entities."""

    NAME = "name"
    MENTIONS = "mentions"


@dataclass(frozen=True, slots=True)
class EntityListing:
    """Which entities are listed, and in which order.

    `type` "" matches any type. With `document_titles` True only entities known solely as a document's title are listed;
    with False they are excluded; with None it plays no part.
    """

    type: str = ""
    order: EntityOrder = EntityOrder.NAME
    document_titles: bool | None = None


class EntityPosition(NamedTuple):
    """A position in a listing of entities; a listing by name ignores `mentions`."""

    mentions: int
    key: str
    uuid: str


# Precedes every item of a listing by two texts.
FIRST = ("", "")
# Sorts before every entity, as no entity has as many mentions.
FIRST_ENTITY = EntityPosition(2**53, "", "")


@dataclass(frozen=True, slots=True)
class EntityPage:
    """A page of entities and the position to continue from, None at the end. A page before the last may be short."""

    entities: Sequence[Entity]
    next: EntityPosition | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """The source of a statement; `quote` is the sentence that states it, "" when unknown."""

    chunk_id: str
    document_id: str
    title: str
    source: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A dated edge; open ends are None. A co-occurrence is valid while a version of its document contains it.

    `event` is True if the space's ontology declares the relation as an event.
    """

    uuid: str
    fact: str
    relation: str
    source: EntityRef
    target: EntityRef
    origin: Origin
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    citations: tuple[Citation, ...] = ()
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    event: bool = False

    @property
    def happened(self) -> bool:
        """Returns whether the fact happened on one day instead of lasting: an event without an end, or with one on the
        same day.
        """
        endless_event = self.event and self.invalid_at is None
        return endless_event or is_within_a_day(self.valid_at, self.invalid_at)


@dataclass(frozen=True, slots=True)
class EndedFact:
    """A fact after its end was set, whether that changed it, and the space's revision."""

    fact: Fact
    changed: bool
    revision: int


@dataclass(frozen=True, slots=True)
class FactFilter:
    """What facts must satisfy before they are ranked; times in epoch seconds, both ends inclusive.

    A fact passes when its interval begins at `until` or before and ends after `since`.
    Relations are compared by their keys.
    """

    since: float
    until: float
    entity_key: str = ""
    relation: str = ""


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """An entity, its nearest neighbors, and up to three facts with each."""

    center: Entity
    nodes: tuple[Entity, ...]
    edges: tuple[Fact, ...]
    total: int
    homonyms: tuple[EntityRef, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Counts of the space's graph."""

    entities: int
    facts: int
    local_facts: int
    episodes: int
    entities_by_type: Mapping[str, int]
    last_write: datetime | None
    indexes: Mapping[str, str]
    revision: int
