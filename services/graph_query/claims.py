"""How facts were given: ends with the types and spellings of each document, from which all else follows."""

from __future__ import annotations

from typing import NamedTuple, Self

from services.graph_query.domain import EntityName, GivenFact
from services.graph_query.names import clean_name

# White space is collapsed in names and there is none in types.
_BETWEEN = "\t"


class GivenEnds(NamedTuple):
    """The two ends of a fact as a document has them."""

    subject: EntityName
    object: EntityName

    @classmethod
    def of(cls, fact: GivenFact) -> Self:
        """The ends of a given fact."""
        return cls(_clean(fact.subject), _clean(fact.object))

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


def _clean(end: EntityName) -> EntityName:
    return EntityName(clean_name(end.name), end.type)
