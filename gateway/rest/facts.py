"""Given facts: one JSON object, or one fact a line, as a stream of messages."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

from pydantic import Field, ValidationError

from braid.agent.v1.ingest_pb2 import IngestFactsRequest
from braid.graph.v1.ingest_pb2 import EntityInput, FactInput
from gateway.rest.fields import rest_name
from gateway.rest.invalid import MOST_PROBLEMS, invalid
from gateway.rest.json_list import read_value, take_list
from gateway.rest.values import Body, Instant, JsonObject, Text, stamp, to_struct
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

FACTS_A_MESSAGE = 1000
# More take longer than others should wait for.
_AT_ONCE = 50
_END = re.compile(r"\b(subject|object)\.(name|type)\b")
_ENDS = {"name": "", "type": "_type"}
_INDEX = re.compile(r"^facts\[\d+\]")


class FactBody(Body):
    """A dated fact: subject, relation, object."""

    subject: Text = Field(description="Who or what it is said of.")
    subject_type: Text = Field(default="", description="Its type, such as Person; may be unknown.")
    relation: Text = Field(description="The relation's name, such as OWNS.")
    object: Text = Field(description="The other end.")
    object_type: Text = ""
    fact: Text = Field(
        default="", description="The statement as a sentence. Default: made of the three."
    )
    valid_at: Instant | None = Field(default=None, description="Since when it holds; null is open.")
    invalid_at: Instant | None = Field(
        default=None, description="First instant at which it no longer holds; null is open."
    )
    document_id: Text = Field(default="", description="The document that says it.")
    attributes: JsonObject | None = Field(default=None, description="Further flat values.")

    def message(self) -> FactInput:
        """The fact as the contract has it."""
        return FactInput(
            subject=EntityInput(name=self.subject, type=self.subject_type),
            relation=self.relation,
            object=EntityInput(name=self.object, type=self.object_type),
            fact=self.fact,
            valid_time=stamp(self.valid_at),
            invalid_time=stamp(self.invalid_at),
            document_id=self.document_id,
            attributes=to_struct(self.attributes),
        )


class FactsBody(Body):
    """Facts in one JSON object; each is looked at by itself."""

    facts: list[Any]


class _Found:
    """Facts as they are read, and what is wrong with them: of each at most `told` problems.

    InvalidFieldError as soon as there are as many problems as are told at all: what follows is not looked at.
    """

    def __init__(self, told: int = MOST_PROBLEMS) -> None:
        self.facts: list[FactBody] = []
        self._told = told
        self._count = 0
        self._wrong: list[FieldError] = []

    @property
    def place(self) -> str:
        """Where the next fact stands."""
        return f"facts[{self._count}]"

    def take(self, value: Any) -> None:
        """Looks at one more."""
        try:
            self.facts.append(FactBody.model_validate(value))
        except ValidationError as error:
            self.refuse(error, self.place)
        self._count += 1

    def take_line(self, line: bytes) -> None:
        """The same for one that is still to be read."""
        try:
            value = read_value(line, self.place)
        except InvalidFieldError as error:
            self._add(error)
            self._count += 1
        else:
            self.take(value)

    def refuse(self, error: ValidationError, place: str = "") -> None:
        """Notes what is wrong."""
        self._add(invalid(error.errors(include_input=False, include_url=False), place))

    def all(self) -> list[FactBody]:
        """The facts. InvalidFieldError names every wrong field."""
        if self._wrong:
            raise InvalidFieldError(*self._wrong[:MOST_PROBLEMS])
        return self.facts

    def _add(self, error: InvalidFieldError) -> None:
        self._wrong += error.fields[: self._told]
        if len(self._wrong) >= MOST_PROBLEMS:
            self.all()


def read_json(body: bytes) -> list[FactBody]:
    """The facts of `{"facts": […]}`. InvalidFieldError names every wrong field."""
    found = _Found()
    rest = take_list(body, "facts", found.take)
    try:
        FactsBody.model_validate(rest)
    except ValidationError as error:
        found.refuse(error)
    return found.all()


def read_lines(body: bytes) -> list[FactBody]:
    """The facts of JSON lines, blank ones passed over. InvalidFieldError names every wrong field, `facts[0]` first."""
    found = _Found(told=1)
    for line in filter(None, map(bytes.strip, body.split(b"\n"))):
        found.take_line(line)
    return found.all()


async def messages(facts: Sequence[FactBody]) -> AsyncIterator[IngestFactsRequest]:
    """Facts as the contract's stream."""
    for start in range(0, len(facts), FACTS_A_MESSAGE):
        some = facts[start : start + FACTS_A_MESSAGE]
        yield await asyncio.to_thread(_message, some) if len(some) > _AT_ONCE else _message(some)


def _message(facts: Sequence[FactBody]) -> IngestFactsRequest:
    return IngestFactsRequest(facts=[fact.message() for fact in facts])


def rest_name_of(facts: Sequence[FactBody]) -> Callable[[str], str]:
    """How a field of the contract is called in what was sent: `facts[3].subject.type` is `facts[3].subject_type`.

    In a stream of several messages an index counts within one of them, which an error does not name: it is left out.
    """
    several = len(facts) > FACTS_A_MESSAGE

    def named(path: str) -> str:
        name = rest_name(_END.sub(lambda end: end[1] + _ENDS[end[2]], path))
        return _INDEX.sub("facts[]", name) if several else name

    return named
