"""What ingestion could not take of a document, or took in a way that its reader should know."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

MAX_TEXT = 300
MAX_WHERE = 200
# Warnings of one document; the last of more says how many there were.
MAX_WARNINGS = 20


class WarningReason(StrEnum):
    """The kind of a warning; the names are those of the contract's enum `JobWarningReason`."""

    PAGES_WITHOUT_TEXT = "pages_without_text"
    PART_LEFT_OUT = "part_left_out"
    DATE_NOT_UNDERSTOOD = "date_not_understood"
    DATE_AMBIGUOUS = "date_ambiguous"
    VALID_LATER = "valid_later"
    ENCODING_GUESSED = "encoding_guessed"
    CHARACTERS_REPLACED = "characters_replaced"
    METADATA_NOT_UNDERSTOOD = "metadata_not_understood"


class DocumentWarning(NamedTuple):
    """A warning: its reason, a sentence for the user, and the place in the document, such as `pages 2-10`."""

    reason: WarningReason
    text: str
    where: str = ""


def bounded(warnings: list[DocumentWarning]) -> tuple[DocumentWarning, ...]:
    """Returns warnings without repetitions, of limited number and length; what is cut off is counted."""
    distinct = [_shortened(one) for one in dict.fromkeys(warnings)]
    if len(distinct) <= MAX_WARNINGS:
        return tuple(distinct)
    kept, rest = distinct[: MAX_WARNINGS - 1], distinct[MAX_WARNINGS - 1 :]
    more = DocumentWarning(rest[0].reason, f"{len(rest)} further warnings, such as: {rest[0].text}")
    return (*kept, _shortened(more))


def _shortened(warning: DocumentWarning) -> DocumentWarning:
    return DocumentWarning(
        warning.reason, _cut(warning.text, MAX_TEXT), _cut(warning.where, MAX_WHERE)
    )


def _cut(text: str, limit: int) -> str:
    """Returns text on one line, without characters that cannot be stored, of at most `limit` characters."""
    plain = "".join(c if c.isprintable() else " " for c in text[: 2 * limit])
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"
