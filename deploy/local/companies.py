"""The sample's company under as many other names as are asked for: texts and facts that Neo4j has not met."""

import json
import re
import string
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2

_SAMPLE = Path(__file__).with_name("sample")
_NAME = re.compile(r"[A-Z][\w-]+(?: [A-Z]\w+)+")  # people, teams and services
_TITLE = re.compile(r'^title: "(.+)"$', re.MULTILINE)


@dataclass(frozen=True)
class Companies:
    """Companies, counted from 0, that differ from the sample's in their names alone.

    Attributes:
        notes: title and paragraphs of each of the sample's notes.
        stated: the sample's facts, as its file has them.
        asked: the sample's questions.
    """

    notes: tuple[tuple[str, list[str]], ...]
    stated: tuple[dict[str, Any], ...]
    asked: tuple[str, ...]

    @classmethod
    def load(cls, folder: Path = _SAMPLE) -> "Companies":
        """Read the sample."""
        return cls(
            tuple(_note(path.read_text()) for path in sorted(folder.glob("*.md"))),
            tuple(_lines(folder / "facts.jsonl")),
            tuple(line["question"] for line in _lines(folder / "questions.jsonl")),
        )

    def episodes(self, company: int) -> Iterator[ingest_pb2.EpisodeInput]:
        """A company's notes, a paragraph each."""
        for place, (title, paragraphs) in enumerate(self.notes):
            document = f"{company}-{place}"
            for part, text in enumerate(paragraphs):
                yield ingest_pb2.EpisodeInput(
                    uuid=str(uuid.uuid5(uuid.NAMESPACE_OID, f"{document}-{part}")),
                    document_id=document,
                    document_title=f"{_word(company)} {title}",
                    content=renamed(text, company),
                )

    def facts(self, company: int) -> Iterator[ingest_pb2.FactInput]:
        """What is stated of a company, without vectors."""
        for line in self.stated:
            yield ingest_pb2.FactInput(
                subject=_entity(line["subject"], line["subject_type"], company),
                relation=line["relation"],
                object=_entity(line["object"], line["object_type"], company),
                fact=renamed(line["fact"], company),
                valid_time=_day(line["valid_at"]),
                invalid_time=_day(line["invalid_at"]),
            )

    def questions(self, company: int) -> Iterator[str]:
        """What may be asked about a company."""
        return (renamed(question, company) for question in self.asked)


def renamed(text: str, company: int) -> str:
    """The text with the company's word before each name of several words."""
    return _NAME.sub(rf"{_word(company)} \g<0>", text)


def _word(company: int) -> str:
    first, last = divmod(company, len(string.ascii_lowercase))
    return f"{string.ascii_uppercase[first]}{string.ascii_lowercase[last]}on"


def _note(text: str) -> tuple[str, list[str]]:
    head, _, body = text.partition("\n---\n")
    title = _TITLE.search(head)
    return title[1] if title else "", body.strip().split("\n\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text().splitlines())


def _entity(name: str, kind: str, company: int) -> ingest_pb2.EntityInput:
    return ingest_pb2.EntityInput(name=renamed(name, company), type=kind)


def _day(text: str | None) -> Timestamp | None:
    if text is None:
        return None
    instant = Timestamp()
    instant.FromJsonString(f"{text}T00:00:00Z")
    return instant
