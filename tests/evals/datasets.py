"""Readers of evaluation sets on disk."""

from __future__ import annotations

import csv
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tests.benchmarks.command import UsageError


@dataclass(frozen=True, slots=True)
class Document:
    """A passage to store."""

    id: str
    title: str
    text: str

    @property
    def passage(self) -> str:
        """Returns the embedded text: the title, a line break, the text."""
        return f"{self.title}\n{self.text}"

    def line(self) -> bytes:
        """Returns the document as a line of `application/jsonl`."""
        fields = {"id": self.id, "title": self.title, "text": self.text}
        return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the documents that answer it with their relevance (above 0)."""

    id: str
    text: str
    relevance: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus and its questions."""

    documents: list[Document]
    questions: list[Question]


def read_multihop(folder: Path) -> Dataset:
    """Reads a folder of `corpus.jsonl.gz` (id, title, text) and `queries.jsonl.gz` (id, question, gold)."""
    questions = [
        Question(str(row["id"]), row["question"], {str(gold): 1.0 for gold in row["gold"]})
        for row in read_rows(folder, "queries.jsonl.gz")
    ]
    return _checked(folder, Dataset(_documents(folder, "id"), questions))


def read_scifact(folder: Path) -> Dataset:
    """Reads a BEIR folder: `corpus.jsonl.gz` and `queries.jsonl.gz` (_id, text), `qrels/test.tsv`."""
    judged = _qrels(folder / "qrels" / "test.tsv")
    questions = [
        Question(str(row["_id"]), row["text"], judged[str(row["_id"])])
        for row in read_rows(folder, "queries.jsonl.gz")
        if str(row["_id"]) in judged
    ]
    return _checked(folder, Dataset(_documents(folder, "_id"), questions))


def _documents(folder: Path, key: str) -> list[Document]:
    return [
        Document(str(row[key]), row["title"], row["text"])
        for row in read_rows(folder, "corpus.jsonl.gz")
    ]


def _qrels(path: Path) -> dict[str, dict[str, float]]:
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    with _existing(path).open(newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if float(row["score"]) > 0:
                judged[row["query-id"]][row["corpus-id"]] = float(row["score"])
    return dict(judged)


def read_rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a JSON lines file, compressed or not. Raises UsageError if it is missing or invalid."""
    path = _existing(folder / name, folder / name.removesuffix(".gz"))
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            yield _row(path, number, line)


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def read_json(path: Path) -> Any:
    """Returns the value of a JSON file. Raises UsageError if it is invalid."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise UsageError(f"{path} is not JSON") from None


def _row(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        raise UsageError(f"{path}: line {number} is not JSON") from None
    if not isinstance(row, dict):
        raise UsageError(f"{path}: line {number} is not a JSON object")
    return row


def _existing(*paths: Path) -> Path:
    for path in paths:
        if path.is_file():
            return path
    raise UsageError(f"{paths[0]} is missing")


def _checked(folder: Path, data: Dataset) -> Dataset:
    if not data.documents or not data.questions:
        raise UsageError(f"{folder} holds no documents or no questions")
    return data
