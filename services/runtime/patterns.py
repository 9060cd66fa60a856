"""Regular expressions that run in time linear in the text, whatever the text: RE2 with Python's Unicode classes.

The standard library's engine backtracks. A pattern with unbounded repetitions, such as `\\S+@\\S+`, can take time that
is quadratic or worse in the length of a text, and holds the interpreter lock meanwhile. `compile_linear` compiles such
patterns. Patterns that need lookaround are written for the standard library with bounded repetitions (`{0,40}`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import re2

# RE2's own \w, \d and \s are ASCII only.
_WORD = r"\pL\pN_"
_DIGIT = r"\p{Nd}"
_SPACE = (
    r"\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
WORD_START = r"(?:^|\W)"
WORD_END = r"(?:\W|$)"
"""Where a word starts or ends, with the character next to it: unlike `\\b`, for the words of every script."""
_CLASSES = {"w": _WORD, "d": _DIGIT, "s": _SPACE}


class UnsupportedPatternError(ValueError):
    """A pattern cannot be compiled to run in linear time."""


class Match(Protocol):
    """A match, as the standard library's `re.Match`."""

    def __getitem__(self, group: int | str, /) -> Any: ...
    def group(self, *groups: int | str) -> Any: ...
    def groups(self) -> tuple[Any, ...]: ...
    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...
    def span(self, group: int = 0) -> tuple[int, int]: ...


class Pattern:
    """A compiled pattern with the methods of the standard library's `re.Pattern`."""

    __slots__ = ("_regex", "pattern")

    def __init__(self, pattern: str, flags: str = "") -> None:
        self.pattern = pattern
        prefix = f"(?{flags})" if flags else ""
        options = re2.Options()
        options.log_errors = False
        try:
            self._regex: Any = re2.compile(  # type: ignore[no-untyped-call]  # the library has no types
                prefix + _with_unicode_classes(pattern), options
            )
        except re2.error as error:
            reason = error.args[0] if error.args else ""
            raise UnsupportedPatternError(
                f"{pattern!r} does not run in linear time (backreferences and lookaround do not): "
                f"{reason.decode() if isinstance(reason, bytes) else reason}"
            ) from None

    def search(self, text: str) -> Match | None:
        """Returns the first match."""
        return next(self.finditer(text), None)

    def match(self, text: str) -> Match | None:
        """Returns the match at the start of the text."""
        found: Match | None = self._regex.match(_encodable(text))
        return found

    def fullmatch(self, text: str) -> Match | None:
        """Returns the match of the whole text."""
        found: Match | None = self._regex.fullmatch(_encodable(text))
        return found

    def finditer(self, text: str) -> Iterator[Match]:
        """Yields the matches from left to right."""
        found: Iterator[Match] = self._regex.finditer(_encodable(text))
        return found

    def sub(self, replacement: str | Callable[[Match], str], text: str) -> str:
        """Replaces all matches. A replacement that is text stands for itself: it has no references to groups."""
        replace = replacement if callable(replacement) else lambda _match: replacement
        replaced: str = self._regex.sub(replace, _encodable(text))
        return replaced

    def split(self, text: str) -> list[str]:
        """Splits the text at the matches."""
        parts: list[str] = self._regex.split(_encodable(text))
        return parts


def compile_linear(
    pattern: str, *, ignore_case: bool = False, multiline: bool = False, dot_all: bool = False
) -> Pattern:
    r"""Compiles a pattern. Raises UnsupportedPatternError for lookaround and backreferences.

    `\w`, `\d` and `\s` stand for Unicode characters as in the standard library; their negations cannot stand in a
    character class. `\b` knows ASCII words only. `$` matches only at the end (of a line with `multiline`).
    """
    flags = ("i" if ignore_case else "") + ("m" if multiline else "") + ("s" if dot_all else "")
    return Pattern(pattern, flags)


def escape(text: str) -> str:
    """Returns a pattern that matches only this text."""
    escaped: str = re2.escape(_encodable(text))  # type: ignore[no-untyped-call]  # the library has no types
    return escaped


def _with_unicode_classes(pattern: str) -> str:
    """Replaces \\w, \\d, \\s and their negations by Unicode classes, and the standard library's \\Z by \\z."""
    parts: list[str] = []
    in_class = False
    place = 0
    while place < len(pattern):
        character = pattern[place]
        if character == "\\":
            parts.append(_escape(pattern, pattern[place + 1 : place + 2], in_class=in_class))
            place += 2
            continue
        if in_class:
            in_class = character != "]"
        elif character == "[":
            in_class = True
        parts.append(character)
        place += 1
    return "".join(parts)


def _escape(pattern: str, letter: str, *, in_class: bool) -> str:
    lower = letter.lower()
    if letter == "Z":
        return r"\z"
    if lower not in _CLASSES:
        return "\\" + letter
    if in_class and letter != lower:
        raise UnsupportedPatternError(f"{pattern!r}: \\{letter} in a character class")
    if in_class:
        return _CLASSES[lower]
    return f"[{'' if letter == lower else '^'}{_CLASSES[lower]}]"


def _encodable(text: str) -> str:
    """Returns the text with lone surrogates, which UTF-8 does not have, replaced by question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
