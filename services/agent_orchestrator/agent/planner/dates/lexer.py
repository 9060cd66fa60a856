"""Splits a text into the tokens of the date grammar. Text that only looks like a date becomes one opaque token."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from services.agent_orchestrator.agent.planner.dates.words import MONTHS, WEEKDAYS

_MONTH_NAMES: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_MERIDIEM: Final = r"(?:\s?(?:[ap]\.m\.|[ap]m\b))"
# The first alternative that matches wins, so longer forms come first.
_FORMS: Final = (
    ("timestamp", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?Z\b|[+-]\d\d:?\d\d)?"),
    ("week", r"\d{4}-?W\d{1,2}(?![\w-])"),
    ("date", r"\d{4}-\d\d?-\d\d?(?![\w-])|\d{4}/\d\d?/\d\d?(?![\w/])"),
    ("date_named", rf"\d\d?-(?:{_MONTH_NAMES})-\d{{4}}(?![\w-])"),
    ("date_dmy", r"\d\d?\.\d\d?\.\d{4}(?!\w|\.\d)|\d\d?/\d\d?/\d{4}(?![\w/])"),
    (
        "quarter",
        r"\d{4}[-/]?Q[1-4]\b|Q[1-4](?:/|-|\s?['’])(?:\d{4}|\d\d)\b|[1-4]Q\s?(?:\d{4}|\d\d)\b",
    ),
    ("quarter", r"Q[1-4]\b(?![-.]\w)"),
    ("half", r"H[12](?:/|-|\s?['’])(?:\d{4}|\d\d)\b|\d{4}[-/]?H[12]\b|H[12]\b(?![-.]\w)"),
    ("month", r"\d{4}-(?:0[1-9]|1[0-2])(?![\w-])|(?:0[1-9]|1[0-2])/\d{4}(?![\w/])"),
    ("week", r"(?:CW|KW|W)\d{1,2}\b(?![-.]\w)"),
    (
        "clock",
        rf"\d{{1,2}}:\d\d(?::\d\d)?(?:{_MERIDIEM}|\s?Z\b)?(?![\w:])|\d{{1,2}}{_MERIDIEM}|\d\d?Z\b",
    ),
    ("decade", r"\d{3}0s\b|['’]?[2-9]0s\b"),
    ("ordinal", r"\d{1,2}(?:st|nd|rd|th)\b"),
    (
        "opaque",
        rf"(?!(?:{_MONTH_NAMES})[-/.]\d)(?:[^\W\d_]{{1,64}}[-_./#]?\d[\w.:/-]{{0,500}}\w|[^\W\d_]{{1,64}}[-_#]?\d\w*)",
    ),
    (
        "opaque",
        r"[$€£#]\s?\d[\d,.]*|\d[\d,.]{0,40}\s?%|\d{1,3}(?:,\d{3})+|\d{1,40}(?:\.\d+)+[\w.-]*",
    ),
    ("opaque", r"\d{1,40}[^\W\d]\w*|\d{1,40}/\d+(?:/\d+)?"),
    ("short_year", r"['’]\d\d\b(?!s)"),
    ("opaque", r"\d{10,}"),
    ("number", r"\d+"),
    ("possessive", r"['’]s\b|(?<=s)['’](?!\w)"),
    ("word", r"[^\W\d_]+"),
    ("dash", r"[-–—]+"),
    ("space", r"\s+"),
    ("mark", r"."),
)
_PATTERN: Final = re.compile(
    "|".join(f"(?P<k{number}_{kind}>{form})" for number, (kind, form) in enumerate(_FORMS)),
    re.IGNORECASE | re.DOTALL,
)


# Characters after a period in which the next word begins.
_NEXT: Final = 20


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind, its text in lower case, and its position."""

    kind: str
    text: str
    start: int
    end: int
    capitalised: bool = False


def cut(text: str) -> list[Token]:
    """Returns the tokens of a text without whitespace, hyphens inside words, and periods of abbreviations."""
    tokens: list[Token] = []
    for found in _PATTERN.finditer(text):
        kind = (found.lastgroup or "").split("_", 1)[1]
        token = Token(
            kind, found[0].lower().replace("’", "'"), *found.span(), found[0][:1].isupper()
        )
        if kind != "space" and not _is_filler(token, tokens, text):
            tokens.append(token)
    return tokens


def _is_filler(token: Token, before: list[Token], text: str) -> bool:
    """Whether a token is a hyphen that joins two words, or the period of "Sept." or "Mon."."""
    if not before or before[-1].end != token.start:
        return False
    if token.kind == "dash" and len(token.text) == 1:
        spans = before[-1].text in MONTHS or before[-1].text in WEEKDAYS
        joins = before[-1].kind == "word" and text[token.end : token.end + 1].isalpha()
        return joins and token.text == "-" and not spans
    name = before[-1].text
    full = name in {"may", "march", "april", "june", "july"}
    short = name in MONTHS or name in WEEKDAYS
    return (
        token.text == "."
        and short
        and not full
        and _sentence_continues(text[token.end : token.end + _NEXT])
    )


def _sentence_continues(rest: str) -> bool:
    """Whether a sentence continues after a period: a digit or a lower-case letter follows."""
    rest = rest.lstrip(" ,")
    return rest[:1].isdigit() or rest[:1].islower()
