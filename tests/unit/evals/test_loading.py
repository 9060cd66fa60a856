"""What could not be loaded is counted where it is a fact, and ends the measuring where it is a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.ingest.files import Problem, Source
from gateway.cli.ingest.ingestion import Report
from gateway.content_types import CONTENT_TYPES
from tests.benchmarks.command import MeasureError
from tests.evals.loading import refused_facts

_SOURCES = [
    Source(Path("/set/docs/note.md"), "note.md", CONTENT_TYPES[".md"]),
    Source(Path("/set/facts.jsonl"), "facts.jsonl", CONTENT_TYPES[".jsonl"]),
]


def test_refused_facts_are_counted() -> None:
    refused = [Problem("/set/facts.jsonl", f"line {line}: relation: no") for line in range(1, 6)]
    assert refused_facts(Report(failures=refused), _SOURCES, "facts.jsonl") == 5


def test_nothing_refused_is_none() -> None:
    assert refused_facts(Report(), _SOURCES, "facts.jsonl") == 0


def test_a_document_that_was_not_taken_ends_the_measuring() -> None:
    failures = [Problem("/set/facts.jsonl", "no"), Problem("/set/docs/note.md", "is empty")]
    with pytest.raises(MeasureError, match=r"note\.md: is empty"):
        refused_facts(Report(failures=failures), _SOURCES, "facts.jsonl")
