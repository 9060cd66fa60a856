"""Given facts, prepared for their write: ends, claims, uuids and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

from services.graph_query.core.domain import EntityName, GivenFact
from services.graph_query.core.entity_resolution import NameKeys, Resolution
from services.graph_query.core.identity import fact_uuid
from services.graph_query.core.intervals import end_of, seconds_and_nanoseconds, start_of
from services.graph_query.core.names import (
    RESERVED_OF_FACTS,
    clean_name,
    relation_key,
    relation_term,
)

# White space is collapsed in names, and types contain none.
_BETWEEN = "\t"


# No document id contains it.
_EPISODE_MARK = "\0"


def episode_claimant(episode: str) -> str:
    """Returns the claimant key of an episode, for fields that otherwise store documents' claims."""
    return f"{_EPISODE_MARK}{episode}"


def claimed_episode(claimant: str) -> str | None:
    """Returns the episode of a claimant key; None if the key is a document's."""
    return claimant.removeprefix(_EPISODE_MARK) if claimant.startswith(_EPISODE_MARK) else None


def claimant_of(fact: GivenFact) -> str:
    """Returns the claimant key of a given fact: its episode or its document, "" without either."""
    return episode_claimant(fact.episode_id) if fact.episode_id else fact.document_id


def statement_of(fact: GivenFact) -> str:
    """Returns the part of the wording that identifies a fact: a text may state several facts of one relation."""
    return fact.fact if fact.episode_id else ""


class GivenEnds(NamedTuple):
    """The two ends of a fact as a document states them."""

    subject: EntityName
    object: EntityName

    @classmethod
    def of(cls, fact: GivenFact) -> Self:
        """Returns the ends of a given fact."""
        return cls(normalized_entity_name(fact.subject), normalized_entity_name(fact.object))

    @classmethod
    def decode(cls, text: str) -> Self:
        """Decodes ends from their stored text."""
        parts = text.split(_BETWEEN)
        return cls(EntityName(parts[1], parts[0]), EntityName(parts[3], parts[2]))

    def encode(self) -> str:
        """Encodes subject type, subject name, object type, object name. Queries depend on these positions."""
        return _BETWEEN.join(
            (self.subject.type, self.subject.name, self.object.type, self.object.name)
        )


def normalized_entity_name(end: EntityName) -> EntityName:
    """Returns the name in its stored form, with its type."""
    return EntityName(clean_name(end.name), end.type)


class PreparedFact(NamedTuple):
    """A fact with its stored ends, its claimant, and the uuid that it has while no name has several types.

    `columns` are the columns that follow the ends in the query that creates the fact, as a list because keys cost the
    driver time.
    """

    fact: GivenFact
    ends: GivenEnds
    claimant: str
    encoded_ends: str
    plain_ends: tuple[str, str]
    plain_uuid: str
    columns: tuple[Any, ...]

    def ends_under(self, found: Resolution) -> tuple[str, str]:
        """Returns the entities that the fact joins."""
        return found.uuid(self.ends.subject), found.uuid(self.ends.object)

    def uuid_under(self, found: Resolution) -> str:
        """Returns the fact's uuid under a resolution of names."""
        if self.fact.uuid:
            return self.fact.uuid
        ends = self.ends_under(found)
        return self.plain_uuid if ends == self.plain_ends else _uuid(found.space, ends, self.fact)


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts of one write to a space, in the order given.

    `source` is what states them, "" without a name; None if no caller states them now, as in an extraction.
    """

    names: NameKeys
    facts: list[PreparedFact] = field(default_factory=list)
    source: str | None = ""

    @classmethod
    def of(cls, space: str, facts: Sequence[GivenFact], source: str | None = "") -> Self:
        """Prepares facts for a space."""
        batch = cls(NameKeys(space), source=source)
        for fact in facts:
            batch.add(fact)
        return batch

    def add(self, fact: GivenFact) -> None:
        """Prepares another fact; takes about 50 µs."""
        self.facts.append(_prepared(self.names, fact))

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[PreparedFact]:
        return iter(self.facts)

    def given(self) -> list[GivenFact]:
        """Returns the facts as they were given."""
        return [one.fact for one in self.facts]

    def vector_length(self) -> int:
        """Returns the length of the first given vector, 0 without vectors."""
        return next((len(one.fact.embedding) for one in self.facts if one.fact.embedding), 0)

    def ends(self) -> list[EntityName]:
        """Returns both ends of each fact."""
        return [end for one in self.facts for end in one.ends]

    def by_uuid(self, found: Resolution) -> list[tuple[str, PreparedFact]]:
        """Returns the facts by their uuids under a resolution of names."""
        return [(one.uuid_under(found), one) for one in self.facts]


def claims_of(
    facts: Sequence[tuple[str, PreparedFact]], known: Mapping[str, Mapping[str, set[str]]]
) -> dict[tuple[str, str], set[str]]:
    """Returns the encoded ends by claimant and fact that are not in `known`, keyed by fact and claimant."""
    given: dict[tuple[str, str], set[str]] = {}
    for uuid, one in facts:
        if one.encoded_ends not in known.get(uuid, {}).get(one.claimant, ()):
            given.setdefault((one.claimant, uuid), set()).add(one.encoded_ends)
    return given


def _prepared(names: NameKeys, fact: GivenFact) -> PreparedFact:
    ends = GivenEnds.of(fact)
    plain = (names.uuid(names.key(ends.subject.name)), names.uuid(names.key(ends.object.name)))
    uuid = _uuid(names.space, plain, fact)
    columns = _columns(fact)
    return PreparedFact(fact, ends, claimant_of(fact), ends.encode(), plain, uuid, columns)


def _columns(fact: GivenFact) -> tuple[Any, ...]:
    return (
        fact.relation,
        relation_key(fact.relation),
        relation_term(fact.relation),
        fact.fact,
        fact.origin.value,
        seconds_and_nanoseconds(fact.valid_at),
        seconds_and_nanoseconds(fact.invalid_at),
        start_of(fact.valid_at),
        end_of(fact.invalid_at),
        {key: value for key, value in fact.attributes.items() if key not in RESERVED_OF_FACTS},
    )


def _uuid(space: str, ends: tuple[str, str], fact: GivenFact) -> str:
    interval = (start_of(fact.valid_at), end_of(fact.invalid_at))
    return fact_uuid(space, ends, fact.relation, interval, statement_of(fact))
