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
    """An entity as a text describes it; `embedding` is its name's, L2-normalised or empty."""

    name: EntityName
    summary: str = ""
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    embedding: Sequence[float] = ()


Scalar = str | int | float | bool


class Origin(Enum):
    """Where a fact comes from."""

    GIVEN = "given"
    EXTRACTED = "extracted"
    LOCAL = "local"


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk's text as an episode of the graph; `reference_time` None is the time of the write.

    `version_time` is when the version of the document begins that it is given for, None where versions play no part.
    `valid_time` is since when the chunk itself holds, None for as long as its versions do.
    """

    uuid: str
    document_id: str
    title: str
    source: str
    content: str
    reference_time: datetime | None = None
    version_time: datetime | None = None
    valid_time: datetime | None = None
    # As stored: when the versions begin that it stands in, its own time, and when it stands in its document.
    starts: tuple[float, ...] = ()
    own_start: float = -OPEN
    period: Period = ALWAYS

    @property
    def given_starts(self) -> tuple[float, ...]:
        """When the version begins that it is given for; none where it is given for no version."""
        return () if self.version_time is None else (self.version_time.timestamp(),)

    @property
    def given_own_start(self) -> float:
        """Since when it is given to hold by itself; from ever on where nothing is said."""
        return -OPEN if self.valid_time is None else self.valid_time.timestamp()

    def untimed(self) -> Passage:
        """The passage as it is compared: its text and its document, without times."""
        return replace(self, reference_time=None, version_time=None, valid_time=None)


@dataclass(frozen=True, slots=True)
class EpisodeCounts:
    """What adding passages wrote, and the space's revision after it."""

    episodes: int = 0
    entities: int = 0
    mentions: int = 0
    local_facts: int = 0
    facts: int = 0
    ended: int = 0
    revision: int = 0

    def plus(self, later: EpisodeCounts) -> EpisodeCounts:
        """Both together, with the later revision."""
        pairs = zip(astuple(self), astuple(later), strict=True)
        sums = EpisodeCounts(*(one + other for one, other in pairs))
        return replace(sums, revision=later.revision or self.revision)


@dataclass(frozen=True, slots=True)
class DeletionCounts:
    """What deleting episodes removed."""

    episodes: int = 0
    facts: int = 0
    local_facts: int = 0
    mentions: int = 0
    entities: int = 0
    revived: int = 0
    findings: int = 0
    versions: int = 0

    def plus(self, other: DeletionCounts) -> DeletionCounts:
        """Both together."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return DeletionCounts(*(one + another for one, another in pairs))


class EntityName(NamedTuple):
    """One end of a given fact: a name and its type, "" when unknown."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class GivenFact:
    """A fact that a caller states or a text does; `embedding` is L2-normalised or empty.

    One that was read in a text has that episode instead of a document. `ended_by` are episodes that contradict it,
    and when it ends as long as one of them is there.
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

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return Origin.EXTRACTED if self.episode_id else Origin.GIVEN


@dataclass(frozen=True, slots=True)
class FactCounts:
    """What became of given facts, and the space's revision after it."""

    added: int = 0
    unchanged: int = 0
    revision: int = 0


class EntityRef(NamedTuple):
    """An entity as a fact's endpoint."""

    uuid: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the graph; `mentions` is the number of chunks that name it.

    `key` is what listings are ordered by, "" elsewhere: it does not change with the spelling of the name.
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
    """Which entities are listed, and in which order. `type` "" is any; `document_titles` True lists only those that are
    known only as the title of a document, False leaves them out, None does neither.
    """

    type: str = ""
    order: EntityOrder = EntityOrder.NAME
    document_titles: bool | None = None


class EntityPosition(NamedTuple):
    """A place in a listing of entities; in one by name, `mentions` plays no part."""

    mentions: int
    key: str
    uuid: str


# Before everything that is listed by two texts.
FIRST = ("", "")
# Before every entity: none has as many mentions.
FIRST_ENTITY = EntityPosition(2**53, "", "")


@dataclass(frozen=True, slots=True)
class EntityPage:
    """Entities of a listing, and where to go on: None at the end. A page that is not the last may be short."""

    entities: Sequence[Entity]
    next: EntityPosition | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a statement stands; `quote` is the sentence that says it, "" when unknown."""

    chunk_id: str
    document_id: str
    title: str
    source: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """A dated edge; open ends are None. For a co-occurrence: when a version of its document has it.

    `event` says that the space's ontology has its relation as one of events.
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
        """Whether it happened on a day instead of lasting: an event has no end, or one within its day."""
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
    """An entity, its nearest neighbours, and up to three facts with each."""

    center: Entity
    nodes: tuple[Entity, ...]
    edges: tuple[Fact, ...]
    total: int
    homonyms: tuple[EntityRef, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphStats:
    """The space's graph in numbers."""

    entities: int
    facts: int
    local_facts: int
    episodes: int
    entities_by_type: Mapping[str, int]
    last_write: datetime | None
    indexes: Mapping[str, str]
    revision: int
