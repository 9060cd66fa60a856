"""How facts were given: ends with the types and spellings of each document, from which all else follows."""

from __future__ import annotations

from typing import NamedTuple, Self

from services.graph_query.domain import EntityName, GivenFact
from services.graph_query.names import clean_name

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
    """Who claims a given fact: its episode or its document, "" when nobody is named."""
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
        return cls(clean_end(fact.subject), clean_end(fact.object))

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


def clean_end(end: EntityName) -> EntityName:
    """A name as it is kept, with its type."""
    return EntityName(clean_name(end.name), end.type)
