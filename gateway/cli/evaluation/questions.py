"""The questions of an evaluation: a file of JSON lines, checked before anything is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Final

from gateway.cli.errors import CliError
from gateway.cli.options import read_items

if TYPE_CHECKING:
    from pathlib import Path

_FIELDS: Final = frozenset({"question", "expected", "documents", "as_of", "none"})
_MAX_QUESTION: Final = 8_192


@dataclass(frozen=True, slots=True)
class EvalQuestion:
    """A question with its labels.

    Attributes:
        text: the question.
        expected: statements of which one must stand in the answer.
        documents: ids or titles of the documents that answer, with `*` for any characters.
        as_of: the day or instant that the question is about; None is now.
        none: whether nothing in the space answers it.
    """

    text: str
    expected: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    as_of: str | None = None
    none: bool = False

    def names(self, document_id: str, title: str) -> bool:
        """Returns whether a document is one of those that answer; case is ignored."""
        return any(self.found(pattern, document_id, title) for pattern in self.documents)

    @staticmethod
    def found(pattern: str, document_id: str, title: str) -> bool:
        """Returns whether a pattern of `documents` names a document."""
        wanted = pattern.casefold()
        return any(
            text.casefold() == wanted or fnmatchcase(text.casefold(), wanted)
            for text in (document_id, title)
        )


def read_questions(path: Path) -> list[EvalQuestion]:
    """Reads the questions of a file. Raises CliError that names the line of the first invalid one."""
    rows = read_items(path, "questions")
    questions = [_question(f"{path}, line {number}", row) for number, row in enumerate(rows, 1)]
    if not questions:
        raise CliError(f"{path} holds no questions", reason="INVALID_FIELD")
    return questions


def _question(place: str, row: Any) -> EvalQuestion:
    if not isinstance(row, dict):
        raise _invalid(place, "must be a JSON object")
    unknown = sorted(row.keys() - _FIELDS)
    if unknown:
        raise _invalid(
            place, f"has unknown fields: {', '.join(unknown)}; known: {', '.join(sorted(_FIELDS))}"
        )
    text = row.get("question")
    if not isinstance(text, str) or not text.strip() or len(text) > _MAX_QUESTION:
        raise _invalid(place, f"question must be a text of 1 to {_MAX_QUESTION:,} characters")
    none = row.get("none", False)
    if not isinstance(none, bool):
        raise _invalid(place, "none must be true or false")
    expected, documents = (_texts(place, row, name) for name in ("expected", "documents"))
    if none and (expected or documents):
        raise _invalid(place, "expects something although none is true")
    if not none and not expected and not documents:
        raise _invalid(place, "needs expected, documents or none")
    return EvalQuestion(text, expected, documents, _time(place, row.get("as_of")), none)


def _texts(place: str, row: dict[str, Any], name: str) -> tuple[str, ...]:
    """Returns a field that holds one text or a list of texts."""
    value = row.get(name)
    texts = [value] if isinstance(value, str) else value or []
    if not isinstance(texts, list) or not all(
        isinstance(one, str) and one.strip() for one in texts
    ):
        raise _invalid(place, f"{name} must be a text or a list of texts")
    return tuple(texts)


def _time(place: str, value: Any) -> str | None:
    if value is None:
        return None
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise _invalid(place, "as_of must be a day or an instant in ISO 8601") from None
    return str(value)


def _invalid(place: str, what: str) -> CliError:
    return CliError(f"{place}: {what}", reason="INVALID_FIELD")
