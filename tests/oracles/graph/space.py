"""One space of the in-memory graph: its passages and facts, and the graph that is computed from them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from services.graph_query.core.domain import (
    DescribedEntity,
    EntityName,
    EntityRef,
    GivenFact,
    Passage,
)
from services.graph_query.core.entity_resolution import Resolution, homonyms
from services.graph_query.core.fact_batch import (
    GivenEnds,
    claimant_of,
    claimed_episode,
    normalized_entity_name,
    statement_of,
)
from services.graph_query.core.identity import fact_uuid
from services.graph_query.core.intervals import OPEN, end_of, start_of
from services.graph_query.core.invalidation import Ending, effective_end
from services.graph_query.core.names import (
    Source,
    Spelling,
    best,
    is_linkable,
    name_key,
    relation_key,
    title_names,
)
from services.graph_query.core.version_validity import Period, period_of
from services.graph_query.local_extraction.cooccurrence import (
    PassageRows,
    TokenizedPassage,
    passage_rows,
)
from services.graph_query.local_extraction.gazetteer import Gazetteer
from services.runtime.errors import FieldError, InvalidFieldError, WrongStateError
from services.runtime.times import utc_now
from tests.oracles.graph.versions import FakeVersions

_TICK = timedelta(microseconds=1)


FactKey = tuple[tuple[str, str], str, tuple[str, str], tuple[float, float], str]


@dataclass(slots=True)
class StatedFact:
    """A fact as it was given, with its spellings by the documents that state it; repetitions do not count.

    `corrected` is what a caller made of it, `corrects` the fact that it replaced.
    """

    first: GivenFact
    created_at: datetime
    claims: set[tuple[str, GivenEnds]] = field(default_factory=set)
    embedding: tuple[float, ...] = ()
    endings: dict[str, datetime] = field(default_factory=dict)
    corrected: GivenFact | None = None
    corrects: str = ""

    @property
    def current(self) -> GivenFact:
        """Returns what the fact states now."""
        return self.corrected or self.first


@dataclass(slots=True)
class StoredFact:
    """A fact with its resolved entities and the documents that state it."""

    uuid: str
    source: str
    target: str
    given: GivenFact
    created_at: datetime
    # The end as stated, and the episode that set its end.
    stated_end: datetime | None
    ended_by: str
    documents: set[str] = field(default_factory=set)
    embedding: tuple[float, ...] = ()
    corrects: str = ""


@dataclass(slots=True)
class Sourced:
    """The revision of the sources at which one last stated a fact, and whether that is also stated without a source."""

    revision: int
    shared: bool


class GraphSets(NamedTuple):
    """The content of the graph as sets."""

    episodes: frozenset[str]
    entities: frozenset[str]
    mentions: frozenset[tuple[str, str]]
    local_facts: frozenset[tuple[str, int, str, str]]


@dataclass(slots=True)
class FakeSpace:
    """The content that was added to a space, and the graph that `rebuild` computes from it."""

    space: str
    passages: dict[str, Passage] = field(default_factory=dict)
    stated: dict[FactKey, StatedFact] = field(default_factory=dict)
    descriptions: dict[str, list[DescribedEntity]] = field(default_factory=dict)
    ended: dict[str, dict[str, datetime]] = field(default_factory=dict)
    facts: dict[str, StoredFact] = field(default_factory=dict)
    types: dict[str, dict[str, str]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    rows: dict[str, PassageRows] = field(default_factory=dict)
    model: str = ""
    dimension: int = 0
    revision: int = 0
    source_revision: int = 0
    last_write: datetime | None = None
    versions: FakeVersions = field(default_factory=FakeVersions)
    # The starts of the versions that contain each passage, its own start, and the periods in which it is valid.
    starts: dict[str, set[float]] = field(default_factory=dict)
    own_starts: dict[str, float] = field(default_factory=dict)
    periods: dict[str, Period] = field(default_factory=dict)
    # The document of each episode, also of deleted ones, and the documents that had stated each deleted fact.
    owners: dict[str, str] = field(default_factory=dict)
    past_claims: dict[str, set[str]] = field(default_factory=dict)
    # The corrected facts that other uuids identify, and by source and fact the last statement.
    aliases: dict[str, str] = field(default_factory=dict)
    sources: dict[str, dict[str, Sourced]] = field(default_factory=dict)
    # The keys of relations that are events, as of the last read.
    events: frozenset[str] = frozenset()

    def rebuild(self) -> None:
        """Computes the graph from scratch: scans every passage for all names of the space."""
        self.owners |= {uuid: passage.document_id for uuid, passage in self.passages.items()}
        found = self.state_facts()
        gazetteer = Gazetteer.of(self._linked(found))
        self.rows = {
            uuid: passage_rows(self.space, TokenizedPassage.of(passage), gazetteer)
            for uuid, passage in sorted(self.passages.items())
        }
        self._note_entities(found)
        self._note_periods()
        self.revision += 1
        self.last_write = self._next_moment()
        self._note_versions(self.last_write.timestamp())

    def ref(self, uuid: str) -> EntityRef:
        """Returns a reference to an entity."""
        return EntityRef(uuid, self.names[uuid], self.type_of(uuid))

    def resolution(self) -> Resolution:
        """Resolves the given names with all types that are stated for them."""
        ends = [end for value in self.stated.values() for _, ends in value.claims for end in ends]
        ends += [name for _, name in self.described()]
        return Resolution.adding(self.space, {}, ends)

    def uuid_of(self, fact: GivenFact, found: Resolution) -> str:
        """Returns the uuid of a fact under a resolution."""
        ends = (found.uuid(fact.subject), found.uuid(fact.object))
        interval = (start_of(fact.valid_at), end_of(fact.invalid_at))
        return fact_uuid(self.space, ends, fact.relation, interval, statement_of(fact))

    def described(self) -> list[tuple[DescribedEntity, EntityName]]:
        """Returns the extracted descriptions of entities in order of extraction, each with its normalized name."""
        return [
            (one, normalized_entity_name(one.name))
            for ones in self.descriptions.values()
            for one in ones
        ]

    def add_statement(self, fact: GivenFact) -> None:
        """Records a statement of a fact."""
        result = self._aliased(fact) or self.stated.setdefault(
            fact_key(fact), StatedFact(fact, utc_now())
        )
        result.claims.add((claimant_of(fact), GivenEnds.of(fact)))
        result.embedding = result.embedding or tuple(fact.embedding)
        result.endings.update((cause, at) for cause, at in fact.ended_by if cause in self.passages)

    def _aliased(self, fact: GivenFact) -> StatedFact | None:
        """Returns the corrected fact that a given one identifies, if any."""
        if not self.aliases:
            return None
        ends = [end for value in self.stated.values() for _, ends in value.claims for end in ends]
        found = Resolution.adding(self.space, {}, [*ends, fact.subject, fact.object])
        target = self.aliases.get(self.uuid_of(fact, found), "")
        return next(
            (one for one in self.stated.values() if self.uuid_of(one.first, found) == target), None
        )

    def statements(self, uuid: str) -> list[StatedFact]:
        """Returns the statements of a fact."""
        found = self.resolution()
        return [one for one in self.stated.values() if self.uuid_of(one.first, found) == uuid]

    def take_back(self, uuid: str) -> None:
        """Removes the statements of a fact; the ends that existing episodes set for it are kept."""
        found = self.resolution()
        for key, value in list(self.stated.items()):
            if self.uuid_of(value.first, found) == uuid:
                self._remove(key, value, uuid)

    def _remove(self, key: FactKey, value: StatedFact, uuid: str) -> None:
        kept = {cause: at for cause, at in value.endings.items() if cause in self.passages}
        self.ended.setdefault(uuid, {}).update(kept)
        del self.stated[key]

    def check_vectors(self, model: str, length: int) -> None:
        """Raises if the space does not accept vectors of a model and a length; "" and 0 mean none."""
        if model and self.model not in ("", model):
            raise WrongStateError("The space holds vectors of another model.")
        if length and self.dimension not in (0, length):
            raise InvalidFieldError(FieldError("embedding", f"must have {self.dimension} values"))

    def note_vectors(self, model: str, length: int) -> None:
        """Records the model and the length of the space's vectors."""
        self.model = self.model or model
        self.dimension = self.dimension or length

    def drop_claims(self, documents: Collection[str]) -> None:
        """Removes the claims of documents, and the facts without any other claim.

        The ends that existing episodes set for these facts are kept.
        """
        found = self.resolution()
        for key, value in list(self.stated.items()):
            value.claims = {claim for claim in value.claims if claim[0] not in documents}
            if not value.claims:
                self._remove(key, value, self.uuid_of(value.first, found))

    def graph_sets(self) -> GraphSets:
        """Returns the content of the graph as sets."""
        sentences = [row for rows in self.rows.values() for row in rows.sentences.values()]
        return GraphSets(
            episodes=frozenset(self.passages),
            entities=frozenset(self.entities()),
            mentions=frozenset(
                (row.episode, row.entity)
                for rows in self.rows.values()
                for row in rows.mentions.values()
            ),
            local_facts=frozenset(
                (row.episode, row.ordinal, row.subject, target)
                for row in sentences
                for target in row.targets
            ),
        )

    def entities(self) -> set[str]:
        """Returns the entities that are mentioned, described or part of a fact."""
        named = {uuid for rows in self.rows.values() for uuid in rows.mentions}
        ends = {end for fact in self.facts.values() for end in (fact.source, fact.target)}
        found = self.resolution()
        return named | ends | {found.uuid(name) for _, name in self.described()}

    def type_of(self, uuid: str) -> str:
        """Returns an entity's type, "" if none is known."""
        return next(
            (
                kind
                for types in self.types.values()
                for kind, stored in types.items()
                if stored == uuid
            ),
            "",
        )

    def cited(self, fact: StoredFact) -> list[str]:
        """Returns the episodes of the stating documents that name both entities, else the best one of each document."""
        ends = {fact.source, fact.target}
        cited: set[str] = set()
        for document in fact.documents:
            if episode := claimed_episode(document):
                cited |= {episode} & self.passages.keys()
                continue
            episodes = [p.uuid for p in self.passages.values() if p.document_id == document]
            ranked = sorted(
                (-len(ends & self.rows[uuid].mentions.keys()), uuid) for uuid in episodes
            )
            both = {uuid for named, uuid in ranked if -named == len(ends)}
            cited |= both or {uuid for _, uuid in ranked[:1]}
        return sorted(cited)

    def _next_moment(self) -> datetime:
        """Returns the time of a write, which is always later than that of the previous one."""
        now = utc_now()
        return now if self.last_write is None else max(now, self.last_write + _TICK)

    def note_starts(self, passages: Iterable[Passage]) -> bool:
        """Records the versions of passages and their own valid times; returns whether anything is new."""
        before, own_before = deepcopy(self.starts), dict(self.own_starts)
        for passage in passages:
            uuid = passage.uuid
            self.starts.setdefault(uuid, set()).update(passage.given_starts)
            known = self.own_starts.get(uuid, OPEN)
            self.own_starts[uuid] = min(known, passage.given_own_start)
        new = any(self.starts[uuid] != before.get(uuid, set()) for uuid in self.starts)
        return new or any(self.own_starts[uuid] != start for uuid, start in own_before.items())

    def erase(self, documents: Collection[str], episodes: Collection[str]) -> int:
        """Erases the past versions that only these deleted documents and episodes had stated; returns how many."""
        now = self.last_write.timestamp() if self.last_write else 0.0
        owned = {uuid for uuid, document in self.owners.items() if document in documents}
        merged = self.versions.erase_endings(owned | set(episodes), now)
        return merged + self._erase_facts(documents, now)

    def _erase_facts(self, documents: Collection[str], now: float) -> int:
        for claimed in self.past_claims.values():
            claimed.difference_update(documents)
        doomed = {
            uuid for uuid, left in self.past_claims.items() if not left and uuid not in self.facts
        }
        self.past_claims = {uuid: left for uuid, left in self.past_claims.items() if left}
        return self.versions.erase(doomed, now)

    def _note_past_claims(self, former: Mapping[str, StoredFact]) -> None:
        for uuid in former.keys() - self.facts.keys():
            documents = {
                self.owners.get(claimed_episode(one) or "", one) for one in former[uuid].documents
            }
            if documents := documents - {""}:
                self.past_claims.setdefault(uuid, set()).update(documents)

    def _note_periods(self) -> None:
        self.starts = {one: starts for one, starts in self.starts.items() if one in self.passages}
        self.own_starts = {one: own for one, own in self.own_starts.items() if one in self.passages}
        versions: dict[str, set[float]] = {}
        for uuid, passage in self.passages.items():
            versions.setdefault(passage.document_id, set()).update(self.starts.get(uuid, ()))
        self.periods = {
            uuid: period_of(
                self.starts.get(uuid, ()),
                versions[passage.document_id],
                self.own_starts.get(uuid, -OPEN),
            )
            for uuid, passage in self.passages.items()
        }

    def _note_versions(self, now: float) -> None:
        ends = {end for fact in self.facts.values() for end in (fact.source, fact.target)}
        episodes = {uuid: next(iter(self.cited(fact)), "") for uuid, fact in self.facts.items()}
        self.versions.note(self.facts, {uuid: self.ref(uuid) for uuid in ends}, episodes, now)

    def state_facts(self) -> Resolution:
        """Computes the facts from the statements; returns the resolution of names."""
        found, former = self.resolution(), self.facts
        self.facts = {}
        for value in self.stated.values():
            fact = value.current
            uuid = self.uuid_of(value.first, found)
            ends = (found.uuid(fact.subject), found.uuid(fact.object))
            endings = {**self.ended.get(uuid, {}), **value.endings}
            ended = effective_end(fact.invalid_at, [Ending(*one) for one in endings.items()])
            given = replace(fact, invalid_at=ended.at)
            new_fact = StoredFact(
                uuid, *ends, given, value.created_at, fact.invalid_at, ended.told_by
            )
            stored = self.facts.setdefault(uuid, new_fact)
            stored.documents |= {document for document, _ in value.claims}
            stored.embedding = stored.embedding or value.embedding
            stored.corrects = stored.corrects or value.corrects
        self._forget_identities()
        self._note_past_claims(former)
        return found

    def _forget_identities(self) -> None:
        """Removes what identified, and the sources of, facts that do not stand any more."""
        self.aliases = {one: uuid for one, uuid in self.aliases.items() if uuid in self.facts}
        for stated in self.sources.values():
            for uuid in stated.keys() - self.facts.keys():
                del stated[uuid]

    def _note_entities(self, found: Resolution) -> None:
        spellings_by_uuid: dict[str, list[Spelling]] = {}
        self.types = {}
        for rows in self.rows.values():
            for uuid, key in rows.names.items():
                spellings_by_uuid.setdefault(uuid, []).append(rows.mentions[uuid].spelling)
                types = found.types.get(key, frozenset())
                self.types.setdefault(key, homonyms(self.space, key, types))
        for value in self.stated.values():
            for end in (end for _, ends in value.claims for end in ends):
                spellings_by_uuid.setdefault(found.uuid(end), []).append(
                    Spelling(Source.STATED, end.name)
                )
                key = name_key(end.name)
                self.types[key] = homonyms(self.space, key, found.types[key])
        for _, name in self.described():
            spellings_by_uuid.setdefault(found.uuid(name), []).append(
                Spelling(Source.STATED, name.name)
            )
            key = name_key(name.name)
            self.types[key] = homonyms(self.space, key, found.types[key])
        self.names = {uuid: best(spellings).text for uuid, spellings in spellings_by_uuid.items()}

    def _linked(self, found: Resolution) -> dict[str, tuple[str, ...]]:
        titles = {name_key(name) for p in self.passages.values() for name in title_names(p.title)}
        keys = titles | {key for key in found.types if is_linkable(key)}
        return {
            key: tuple(homonyms(self.space, key, found.types.get(key, frozenset())).values())
            for key in keys
        }


def fact_key(fact: GivenFact) -> FactKey:
    """Returns the identity of a given fact before its names are resolved."""
    return (
        (name_key(fact.subject.name), fact.subject.type),
        relation_key(fact.relation),
        (name_key(fact.object.name), fact.object.type),
        (start_of(fact.valid_at), end_of(fact.invalid_at)),
        statement_of(fact),
    )
