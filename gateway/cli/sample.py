"""The sample corpus of the local stack: notes and facts of an invented company, and questions about them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf import json_format

from braid.graph.v1 import ontology_pb2
from gateway.cli.sources import Source
from gateway.kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the day that it is about; None for today."""

    text: str
    as_of: str | None


class Sample:
    """The sample in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of_the_stack(cls) -> Sample:
        """The one that comes with the local stack."""
        import deploy.local  # noqa: PLC0415 - an image of the gateway does not carry it

        return cls(Path(deploy.local.__file__).parent / "sample")

    def sources(self) -> Iterator[Source]:
        """Its notes, each under its file's name, which its facts cite, and its facts."""
        for path in sorted(self._folder.glob("*.md")):
            yield Source(path, path.name, KINDS[".md"])
        yield Source(self._folder / "facts.jsonl", "facts.jsonl", KINDS[".jsonl"])

    def ontology(self) -> ontology_pb2.Ontology:
        """Which of its relations are events."""
        text = (self._folder / "ontology.json").read_text(encoding="utf-8")
        return json_format.Parse(text, ontology_pb2.Ontology())

    def question(self) -> Question:
        """The first of its questions."""
        with (self._folder / "questions.jsonl").open(encoding="utf-8") as lines:
            told = json.loads(next(lines))
        return Question(told["question"], told["as_of"])
