"""Where the text of a completion ends: at a stop sequence, or after a number of tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence

_CHARACTERS_PER_TOKEN = 4


def tokens_of(text: str) -> int:
    """Estimates the tokens of a text, if no provider counts them."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


class TextLimit:
    """Limits a text that arrives in pieces."""

    def __init__(self, max_tokens: int | None = None, stops: Sequence[str] = ()) -> None:
        """Tokens are estimated as `tokens_of` does."""
        self._left = None if max_tokens is None else max_tokens * _CHARACTERS_PER_TOKEN
        self._stops = stops
        self._held = ""
        self.finish_reason = ""
        """`stop` or `length` once the text has ended before its last piece; empty otherwise."""

    def take(self, piece: str) -> str:
        """Returns what may be sent now: nothing after the end, and no possible beginning of a stop sequence."""
        if self.finish_reason:
            return ""
        self._held += piece
        ends = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if ends:
            text, self._held = self._held[: min(ends)], ""
            return self._limited(text, "stop")
        kept = max((_overlap(self._held, stop) for stop in self._stops), default=0)
        text = self._held[: len(self._held) - kept]
        self._held = self._held[len(text) :]
        return self._limited(text)

    def rest(self) -> str:
        """Returns what was held back, after the last piece."""
        text, self._held = self._held, ""
        return "" if self.finish_reason else self._limited(text)

    def _limited(self, text: str, finish_reason: str = "") -> str:
        self.finish_reason = finish_reason
        if self._left is None:
            return text
        if len(text) > self._left:
            text, self.finish_reason = text[: self._left], "length"
        self._left -= len(text)
        return text


def _overlap(text: str, stop: str) -> int:
    """Returns how many characters at the end of the text begin the stop sequence."""
    most = min(len(text), len(stop) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
