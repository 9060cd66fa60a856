"""The long list of a JSON body, taken an item at a time.

A parser keeps the interpreter to itself until it has all of a list, and holds all of it: others would wait for one
body. Between items they go on, and who takes the items ends the reading by raising.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from services.runtime.errors import FieldError, InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class _NoNumberError(ValueError):
    """A word of Python's that JSON does not have."""


def _refuse(word: str) -> None:
    raise _NoNumberError(word)


_DECODER = json.JSONDecoder(parse_constant=_refuse)
_SPACE = re.compile(r"[ \t\n\r]*+")


def take_list(body: bytes, name: str, take: Callable[[Any], None]) -> dict[str, Any]:
    """Gives each item of the list `name` to `take`. The JSON object in `body`, with that list empty.

    InvalidFieldError for what is no JSON object. Where a name is given twice, the items of both are taken.
    """
    reader = _Reader(_text(body, "body"), "body")
    found: dict[str, Any] = {}
    places = count()
    for key in reader.keys():  # noqa: SIM118 - no mapping
        if key == name and reader.mark() == "[":
            for _ in reader.parted("]"):
                take(reader.value(f"{name}[{next(places)}]"))
            found[key] = []
        else:
            found[key] = reader.value("body")
    reader.end()
    return found


def read_value(line: bytes, place: str) -> Any:
    """The JSON in `line`. InvalidFieldError names `place`, when it is none."""
    reader = _Reader(_text(line, place), place)
    value = reader.value(place)
    reader.end()
    return value


def _text(body: bytes, place: str) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise InvalidFieldError(FieldError(place, "Invalid JSON: it is no UTF-8")) from None


@dataclass(slots=True)
class _Reader:
    """A text of JSON, and how far it has been read; what is no JSON is told of `name`."""

    text: str
    name: str
    at: int = 0

    def mark(self) -> str:
        """The next character that is no white space; empty at the end."""
        if space := _SPACE.match(self.text, self.at):
            self.at = space.end()
        return self.text[self.at : self.at + 1]

    def keys(self) -> Iterator[str]:
        """The names in an object, each to be followed by reading its value."""
        if self.mark() != "{":
            raise self._wrong("expected an object")
        for _ in self.parted("}"):
            if self.mark() != '"':
                raise self._wrong("expected a name in quotes")
            name = self.value(self.name)
            self._pass(":")
            yield name

    def parted(self, closing: str) -> Iterator[None]:
        """A step for each of what commas part up to the closing bracket, to be read in it."""
        self.at += 1
        if self.mark() == closing:
            self.at += 1
            return
        while True:
            yield
            mark = self._pass(f",{closing}")
            if mark == closing:
                return

    def value(self, place: str) -> Any:
        """The next value. What Python cannot hold of it is told of `place`."""
        self.mark()
        try:
            value, self.at = _DECODER.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            self.at = error.pos
            raise self._wrong(error.msg) from None
        except _NoNumberError as error:
            raise InvalidFieldError(
                FieldError(place, f"holds {error}, which is no number")
            ) from None
        except ValueError:
            raise InvalidFieldError(FieldError(place, "holds a number that is too long")) from None
        except RecursionError:
            raise InvalidFieldError(FieldError(place, "nests too deep")) from None
        return value

    def end(self) -> None:
        """InvalidFieldError when anything is left."""
        if self.mark():
            raise self._wrong("trailing characters")

    def _pass(self, marks: str) -> str:
        mark = self.mark()
        if not mark or mark not in marks:
            raise self._wrong(f"expected {' or '.join(f'`{one}`' for one in marks)}")
        self.at += 1
        return mark

    def _wrong(self, told: str) -> InvalidFieldError:
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        place = f"at line {line} column {column}"
        return InvalidFieldError(FieldError(self.name, f"Invalid JSON: {told} {place}"))
