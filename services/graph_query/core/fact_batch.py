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

# White space is collapsed in names and there is none in types.
_BETWEEN = "\t"


# No document's id has it.
_EPISODE_MARK = "\0"


def episode_claimant(episode: str) -> str:
    """What stands for an episode where documents' claims are kept."""
    return f"{_EPISODE_MARK}{episode}"


def claimed_episode(claimant: str) -> str | None:
    """The episode that a claimant stands for, None when it is a document."""
    return claimant.removeprefix(_EPISODE_MARK) if claimant.startswith(_EPISODE_MARK) else None


def claimant_of(fact: GivenFact) -> str:
    """Who claims a given fact: its episode or its document, "" for neither."""
    return episode_claimant(fact.episode_id) if fact.episode_id else fact.document_id


def statement_of(fact: GivenFact) -> str:
    """What of its wording makes a fact's identity: a text may state several of one relation at once."""
    return fact.fact if fact.episode_id else ""


class GivenEnds(NamedTuple):
    """The two ends of a fact as a document has them."""

    subject: EntityName
    object: EntityName

    @classmethod
    def of(cls, fact: GivenFact) -> Self:
        """The ends of a given fact."""
        return cls(normalized_entity_name(fact.subject), normalized_entity_name(fact.object))

    @classmethod
    def decode(cls, text: str) -> Self:
        """The ends that a stored text stands for."""
        parts = text.split(_BETWEEN)
        return cls(EntityName(parts[1], parts[0]), EntityName(parts[3], parts[2]))

    def encode(self) -> str:
        """Subject's type and name, object's type and name: queries rely on these places."""
        return _BETWEEN.join(
            (self.subject.type, self.subject.name, self.object.type, self.object.name)
        )


def normalized_entity_name(end: EntityName) -> EntityName:
    """A name as it is kept, with its type."""
    return EntityName(clean_name(end.name), end.type)


class PreparedFact(NamedTuple):
    """A fact with its ends as they are kept, who claims it and how, and its uuid while no name has several types.

    `columns` are what the query that creates it has after its ends: names would take the driver time.
    """

    fact: GivenFact
    ends: GivenEnds
    claimant: str
    encoded_ends: str
    plain_ends: tuple[str, str]
    plain_uuid: str
    columns: tuple[Any, ...]

    def ends_under(self, found: Resolution) -> tuple[str, str]:
        """The entities that it joins."""
        return found.uuid(self.ends.subject), found.uuid(self.ends.object)

    def uuid_under(self, found: Resolution) -> str:
        """Its uuid as names are understood."""
        ends = self.ends_under(found)
        return self.plain_uuid if ends == self.plain_ends else _uuid(found.space, ends, self.fact)


@dataclass(frozen=True, slots=True)
class FactBatch:
    """Facts of one write to a space, in the order given."""

    names: NameKeys
    facts: list[PreparedFact] = field(default_factory=list)

    @classmethod
    def of(cls, space: str, facts: Sequence[GivenFact]) -> Self:
        """Prepares facts for a space."""
        batch = cls(NameKeys(space))
        for fact in facts:
            batch.add(fact)
        return batch

    def add(self, fact: GivenFact) -> None:
        """Prepares another fact: some 50 µs of work."""
        self.facts.append(_prepared(self.names, fact))

    def __len__(self) -> int:
        return len(self.facts)

    def __iter__(self) -> Iterator[PreparedFact]:
        return iter(self.facts)

    def given(self) -> list[GivenFact]:
        """The facts as they were given."""
        return [one.fact for one in self.facts]

    def vector_length(self) -> int:
        """Values in the first given vector, 0 when there is none."""
        return next((len(one.fact.embedding) for one in self.facts if one.fact.embedding), 0)

    def ends(self) -> list[EntityName]:
        """Both ends of each."""
        return [end for one in self.facts for end in one.ends]

    def by_uuid(self, found: Resolution) -> list[tuple[str, PreparedFact]]:
        """The facts with their uuids as names are understood."""
        return [(one.uuid_under(found), one) for one in self.facts]


def claims_of(
    facts: Sequence[tuple[str, PreparedFact]], known: Mapping[str, Mapping[str, set[str]]]
) -> dict[tuple[str, str], set[str]]:
    """How facts were given, by claimant and fact, where that is news: `known` is by fact and claimant."""
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
