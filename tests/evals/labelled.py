"""Labeled sets for `eval relevance`: documents, facts, and questions with the document or fact that answers each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.cli.ingest.files import File, Problem, find
from gateway.cli.sample import Sample
from gateway.content_types import CONTENT_TYPES
from tests.benchmarks.command import UsageError
from tests.evals.datasets import read_json, read_rows

DOCS = "docs"
FACTS = "facts.jsonl"
QUESTIONS = "questions.jsonl"
CORPUS = "corpus.json"
_NEAR_MISS = re.compile(r"near[\s_-]?miss(es)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LabelledQuestion:
    """A question with its labels.

    Attributes:
        text: the question.
        as_of: the day or instant of the question; None is now.
        doc: matches the id or the title of the answering document; None if there is none.
        fact: matches the statement of the answering fact; None if there is none.
        category: the kind of question.
    """

    text: str
    as_of: str | None
    doc: re.Pattern[str] | None
    fact: re.Pattern[str] | None
    category: str

    @property
    def is_answerable(self) -> bool:
        """Returns whether a document or a fact answers it."""
        return self.doc is not None or self.fact is not None

    @property
    def is_near_miss(self) -> bool:
        """Returns whether its category says that the space knows its subject but nothing answers it."""
        return not self.is_answerable and _NEAR_MISS.fullmatch(self.category) is not None

    @property
    def is_unknown(self) -> bool:
        """Returns whether the space does not know its subject."""
        return not self.is_answerable and not self.is_near_miss


@dataclass(frozen=True, slots=True)
class LabelledSet:
    """The content to load and the questions to ask."""

    sources: list[File]
    questions: list[LabelledQuestion]


def is_labelled_set(folder: Path) -> bool:
    """Returns whether the folder contains labeled questions."""
    return (folder / QUESTIONS).is_file()


def read_labelled_set(folder: Path) -> LabelledSet:
    """Reads a folder of `docs/`, `questions.jsonl`, and optionally `facts.jsonl` and `corpus.json`.

    A document's id is its path within `docs/`, as with `braid ingest`. With `{"sample": true}` in `corpus.json`, the
    sample corpus is loaded too. Raises UsageError if something is missing or invalid.
    """
    sources = [*_documents(folder / DOCS), *_facts(folder / FACTS), *_sample(folder / CORPUS)]
    rows = enumerate(read_rows(folder, QUESTIONS), start=1)
    questions = [_question(f"{folder / QUESTIONS}: line {number}", row) for number, row in rows]
    if not questions:
        raise UsageError(f"{folder / QUESTIONS} holds no questions")
    return LabelledSet(sources, questions)


def _documents(folder: Path) -> list[File]:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    sources: list[File] = []
    for found in find([folder]):
        if isinstance(found, Problem):
            raise UsageError(f"{found.path}: {found.reason}")
        if isinstance(found, File):
            sources.append(found)
    if not sources:
        raise UsageError(f"{folder} holds no documents")
    return sources


def _facts(path: Path) -> list[File]:
    return [File(path, path.name, CONTENT_TYPES[".jsonl"])] if path.is_file() else []


def _sample(path: Path) -> list[File]:
    if not path.is_file():
        return []
    found = read_json(path)
    if not isinstance(found, dict) or not isinstance(found.get("sample", False), bool):
        raise UsageError(f'{path} must be an object such as {{"sample": true}}')
    return list(Sample.of_the_stack().sources()) if found.get("sample") else []


def _question(place: str, row: Mapping[str, Any]) -> LabelledQuestion:
    text = _string(place, row, "question")
    if not text:
        raise UsageError(f"{place}: question is missing")
    return LabelledQuestion(
        text=text,
        as_of=_string(place, row, "as_of"),
        doc=_pattern(place, row, "doc"),
        fact=_pattern(place, row, "fact"),
        category=_string(place, row, "category") or "other",
    )


def _pattern(place: str, row: Mapping[str, Any], name: str) -> re.Pattern[str] | None:
    value = _string(place, row, name)
    try:
        return re.compile(value, re.IGNORECASE) if value else None
    except re.error as error:
        raise UsageError(f"{place}: {name} is not a regular expression: {error}") from None


def _string(place: str, row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{place}: {name} must be a string or null")
    return value
