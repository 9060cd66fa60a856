"""Given facts: one JSON object, or one fact a line, as a stream of messages."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from pydantic import Field, ValidationError

from braid.agent.v1.ingest_pb2 import IngestFactsRequest
from braid.graph.v1.ingest_pb2 import EntityInput, FactInput
from gateway.rest.fields import rest_name
from gateway.rest.invalid import MOST_PROBLEMS, invalid
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
    """Facts in one JSON object."""

    facts: list[FactBody]


def read_json(body: bytes) -> list[FactBody]:
    """The facts of `{"facts": […]}`. InvalidFieldError names every wrong field."""
    try:
        return FactsBody.model_validate_json(body).facts
    except ValidationError as error:
        raise invalid(error.errors(include_input=False, include_url=False)) from None


def read_lines(body: bytes) -> list[FactBody]:
    """The facts of JSON lines, blank ones passed over. InvalidFieldError names every wrong field, `facts[0]` first."""
    facts: list[FactBody] = []
    wrong: list[FieldError] = []
    for line in filter(None, map(bytes.strip, body.split(b"\n"))):
        try:
            facts.append(FactBody.model_validate_json(line))
        except ValidationError as error:
            place = f"facts[{len(facts) + len(wrong)}]"
            wrong.extend(invalid(error.errors(include_input=False), place).fields[:1])
        if len(wrong) >= MOST_PROBLEMS:
            break
    if wrong:
        raise InvalidFieldError(*wrong)
    return facts


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
