"""Conversion of facts, as one JSON object or one fact per line, to a stream of messages."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from google.protobuf.message import Message
from pydantic import AliasChoices, Field, ValidationError
from pydantic_core import from_json

from braid.agent.v1.ingest_pb2 import IngestFactsRequest
from braid.graph.v1.ingest_pb2 import EntityInput, FactInput
from gateway.rest.mapping.contract_rules import ContractModel
from gateway.rest.mapping.field_names import rest_name
from gateway.rest.mapping.field_types import Body, Instant, JsonObject, Text, stamp, to_struct
from gateway.rest.mapping.validation_errors import MAX_PROBLEMS, invalid
from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence


FACTS_PER_MESSAGE = 1000
# More facts would block other requests for too long.
_AT_ONCE = 50
_END = re.compile(r"\b(subject|object)\.(name|type)\b")
_ENDS = {"name": "", "type": "_type"}
_NAMES = {"relation_type": "relation", "statement": "fact"}
# The contract's rule for `FactInput.relation_type`, in ECMAScript syntax.
_MARKS_OF_NAMES = r"_.,()'\u2019\u2010\u2011\u2013"
_RELATION_PATTERN = (
    rf"^([\p{{Nd}}{_MARKS_OF_NAMES}-][\p{{Nd}}{_MARKS_OF_NAMES} -]*)?\p{{L}}"
    rf"[\p{{L}}\p{{M}}\p{{Nd}}\u200C\u200D{_MARKS_OF_NAMES} -]*$"
)
_INDEX = re.compile(r"^facts\[\d+\]")


class FactBody(ContractModel):
    """A dated fact: subject, relation, object."""

    contract: ClassVar[type[Message]] = FactInput
    names: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "subject": "subject.name",
            "subject_type": "subject.type",
            "object": "object.name",
            "object_type": "object.type",
            "relation": "relation_type",
            "fact": "statement",
        }
    )

    subject: Text = Field(description="Who or what it is said of.")
    subject_type: Text = Field(default="", description="Its type, such as Person; may be unknown.")
    relation: Text = Field(
        description="The relation's name, such as OWNS or `editor-in-chief is`: letters of any script, digits, spaces "
        "and _ - ' . , ( ), with a letter among them. Letter case and accents make no other relation.",
        json_schema_extra={"maxLength": 200, "pattern": _RELATION_PATTERN},
    )
    object: Text = Field(description="The other end.")
    object_type: Text = ""
    fact: Text = Field(
        default="", description="The statement as a sentence. Default: made of the three."
    )
    valid_at: Instant | None = Field(default=None, description="Since when it holds; null is open.")
    invalid_at: Instant | None = Field(
        default=None, description="First instant at which it no longer holds; null is open."
    )
    document_id: Text = Field(
        default="",
        validation_alias=AliasChoices("document_id", "document"),
        description="The document that says it; `document` is the same.",
    )
    attributes: JsonObject | None = Field(default=None, description="Further flat values.")

    def message(self) -> FactInput:
        """Converts the fact to the contract's message."""
        return FactInput(
            subject=EntityInput(name=self.subject, type=self.subject_type),
            relation_type=self.relation,
            object=EntityInput(name=self.object, type=self.object_type),
            statement=self.fact,
            valid_time=stamp(self.valid_at),
            invalid_time=stamp(self.invalid_at),
            document_id=self.document_id,
            attributes=to_struct(self.attributes),
        )


class FactsBody(Body):
    """Facts in one JSON object; each is looked at by itself."""

    facts: list[Any]


class _Found:
    """Collects facts and their problems, at most `max_problems` per fact.

    Raises InvalidFieldError once the total reaches `MAX_PROBLEMS`; later facts are not checked.
    """

    def __init__(self, max_problems: int = MAX_PROBLEMS) -> None:
        self.facts: list[FactBody] = []
        self._max_problems = max_problems
        self._wrong: list[FieldError] = []

    def take(self, value: Any, place: str) -> None:
        """Checks a fact at `place`."""
        try:
            self.facts.append(FactBody.model_validate(value))
        except ValidationError as error:
            self.refuse(_problems(error, place))

    def refuse(self, error: InvalidFieldError) -> None:
        """Records what is invalid."""
        self._wrong += error.fields[: self._max_problems]
        if len(self._wrong) >= MAX_PROBLEMS:
            self.all()

    def all(self) -> list[FactBody]:
        """Returns the facts. Raises InvalidFieldError with all invalid fields."""
        if self._wrong:
            raise InvalidFieldError(*self._wrong[:MAX_PROBLEMS])
        return self.facts


def read_json(body: bytes) -> list[FactBody]:
    """Returns the facts of `{"facts": […]}`. Raises InvalidFieldError with all invalid fields."""
    found = _Found()
    value = _json(body, "body")
    facts = value.get("facts") if isinstance(value, dict) else None
    for number, fact in enumerate(facts if isinstance(facts, list) else ()):
        found.take(fact, f"facts[{number}]")
    try:
        FactsBody.model_validate(value)
    except ValidationError as error:
        found.refuse(_problems(error))
    return found.all()


def read_lines(body: bytes) -> list[FactBody]:
    """Returns the facts of JSON lines; skips blank lines. Raises InvalidFieldError with all invalid fields."""
    found = _Found(max_problems=1)
    for number, line in enumerate(filter(None, map(bytes.strip, body.split(b"\n")))):
        place = f"facts[{number}]"
        try:
            value = _json(line, place)
        except InvalidFieldError as error:
            found.refuse(error)
        else:
            found.take(value, place)
    return found.all()


def _json(text: bytes, place: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidFieldError(FieldError(place, f"is not valid JSON: {error}")) from None


def _problems(error: ValidationError, place: str = "") -> InvalidFieldError:
    return invalid(error.errors(include_input=False, include_url=False), place)


@dataclass(frozen=True, slots=True)
class Stated:
    """What states given facts: its name, whether what it no longer states is withdrawn, and whether more requests of it
    follow, of which all but the first need the first one's revision.
    """

    source: str = ""
    replace: bool = False
    more_follows: bool = False
    first_revision: int = 0

    def message(self) -> IngestFactsRequest:
        """Converts it to the first message of the contract's stream."""
        return IngestFactsRequest(
            source=self.source,
            replace=self.replace,
            more_follows=self.more_follows,
            first_revision=self.first_revision,
        )


async def messages(
    facts: Sequence[FactBody], stated: Stated | None = None
) -> AsyncIterator[IngestFactsRequest]:
    """Yields facts as the contract's stream; the first message says what states them, if that is recorded."""
    first = (stated or Stated()).message()
    if not facts and stated is not None:
        yield first
    for start in range(0, len(facts), FACTS_PER_MESSAGE):
        some = facts[start : start + FACTS_PER_MESSAGE]
        message = (
            await asyncio.to_thread(_message, some) if len(some) > _AT_ONCE else _message(some)
        )
        if not start:
            message.MergeFrom(first)
        yield message


def _message(facts: Sequence[FactBody]) -> IngestFactsRequest:
    return IngestFactsRequest(facts=[fact.message() for fact in facts])


def end_name(path: str) -> str:
    """Returns a contract's path with the REST names of a fact's ends: `subject_type` for `subject.type`."""
    return _END.sub(lambda end: end[1] + _ENDS[end[2]], path)


def rest_name_of(facts: Sequence[FactBody]) -> Callable[[str], str]:
    """Returns the REST name of a field of the contract: `facts[3].subject_type` for `facts[3].subject.type`.

    In a stream of several messages an index counts within an unknown message, so the index is left out.
    """
    several = len(facts) > FACTS_PER_MESSAGE

    def named(path: str) -> str:
        name = rest_name(end_name(path), _NAMES)
        return _INDEX.sub("facts[]", name) if several else name

    return named
