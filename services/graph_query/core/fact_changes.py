"""What callers do to stated facts: withdrawals, corrections, and who made them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from services.graph_query.core.domain import EntityName, Fact, Scalar
from services.graph_query.core.intervals import is_reversed
from services.graph_query.core.names import clean_name, name_key, relation_key
from services.runtime.errors import FieldError, InvalidFieldError


class ChangeKind(Enum):
    """What a caller did to a fact."""

    WITHDRAWN = "withdrawn"
    CORRECTED = "corrected"


class Provenance(NamedTuple):
    """Who changed a fact, why, and the chunk that gave cause to it; each may be empty."""

    user: str = ""
    reason: str = ""
    episode: str = ""


class FactChange(NamedTuple):
    """Why a state of a fact is no longer known; `replacement` is the fact that holds the corrected statement."""

    kind: ChangeKind
    by: Provenance
    replacement: str = ""


class Outcome(Enum):
    """What a withdrawal did to a fact."""

    WITHDRAWN = "withdrawn"
    ALREADY_WITHDRAWN = "already withdrawn"
    NOT_FOUND = "not found"


class CorrectedField(Enum):
    """A value of a fact that can be corrected, by its name in the contract."""

    SUBJECT = "subject"
    RELATION = "relation_type"
    OBJECT = "object"
    STATEMENT = "statement"
    START = "valid_time"
    END = "invalid_time"
    ATTRIBUTES = "attributes"


# What makes another fact of a fact: with another one of these it has another id.
IDENTIFYING = frozenset({CorrectedField.SUBJECT, CorrectedField.RELATION, CorrectedField.OBJECT})


@dataclass(frozen=True, slots=True)
class FactState:
    """The values of a stated fact; `invalid_at` is its end, whoever set it."""

    subject: EntityName
    relation: str
    object: EntityName
    statement: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    attributes: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Returns what identifies the fact apart from its times."""
        ends = ((name_key(end.name), end.type) for end in (self.subject, self.object))
        return (*ends, relation_key(self.relation))

    def equals(self, other: FactState) -> bool:
        """Returns whether both state the same, whatever the spelling of the names."""
        return (self.identity, *self._values()) == (other.identity, *other._values())

    def _values(self) -> tuple[Any, ...]:
        return self.statement, self.valid_at, self.invalid_at, dict(self.attributes)


@dataclass(frozen=True, slots=True)
class FactCorrection:
    """Corrected values of a fact: those of `fields` count."""

    fields: Collection[CorrectedField]
    values: FactState

    def applied(self, state: FactState) -> FactState:
        """Returns the fact as corrected. Raises InvalidFieldError if it would end at or before its start."""
        values, fields = self.values, self.fields
        corrected = FactState(
            _end(values.subject, state.subject)
            if CorrectedField.SUBJECT in fields
            else state.subject,
            values.relation if CorrectedField.RELATION in fields else state.relation,
            _end(values.object, state.object) if CorrectedField.OBJECT in fields else state.object,
            values.statement if CorrectedField.STATEMENT in fields else state.statement,
            values.valid_at if CorrectedField.START in fields else state.valid_at,
            values.invalid_at if CorrectedField.END in fields else state.invalid_at,
            values.attributes if CorrectedField.ATTRIBUTES in fields else state.attributes,
        )
        if is_reversed(corrected.valid_at, corrected.invalid_at):
            raise InvalidFieldError(self._reversed())
        moved = corrected.identity != state.identity
        if not corrected.statement or (moved and CorrectedField.STATEMENT not in fields):
            return replace(corrected, statement=statement_of(corrected))
        return corrected

    def _reversed(self) -> FieldError:
        if CorrectedField.END in self.fields:
            return FieldError("correction.invalid_time", "must be after the start of the fact")
        return FieldError("correction.valid_time", "must be before the end of the fact")


def statement_of(state: FactState) -> str:
    """Returns subject, relation and object in words."""
    relation = state.relation.replace("_", " ").lower()
    return clean_name(f"{state.subject.name} {relation} {state.object.name}")


@dataclass(frozen=True, slots=True)
class Vector:
    """The vector of a statement, and the model that made it."""

    statement: str
    values: tuple[float, ...]
    model: str


@dataclass(frozen=True, slots=True)
class CorrectedFact:
    """A fact after its correction; `replaced` is its former id if it has another one now."""

    fact: Fact
    changed: bool
    replaced: str
    revision: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a source no longer states: some of the facts, their number, how many were withdrawn, and the revision."""

    missing: tuple[Fact, ...]
    total: int
    withdrawn: int
    revision: int


def _end(corrected: EntityName, stated: EntityName) -> EntityName:
    """Returns an end as corrected; the same name without a type keeps the type."""
    same = name_key(corrected.name) == name_key(stated.name)
    return stated if same and corrected.type in ("", stated.type) else corrected
