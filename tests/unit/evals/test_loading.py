"""A fact that could not be loaded is counted; a document that could not be loaded ends the measurement."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.ingest.files import File, Problem
from gateway.cli.ingest.ingestion import Report
from gateway.content_types import CONTENT_TYPES
from tests.benchmarks.command import MeasureError
from tests.evals.loading import refused_facts

_SOURCES = [
    File(Path("/set/docs/note.md"), "note.md", CONTENT_TYPES[".md"]),
    File(Path("/set/facts.jsonl"), "facts.jsonl", CONTENT_TYPES[".jsonl"]),
]


def test_rejected_facts_are_counted() -> None:
    refused = [Problem("/set/facts.jsonl", f"line {line}: relation: no") for line in range(1, 6)]
    assert refused_facts(Report(failures=refused), _SOURCES, "facts.jsonl") == 5


def test_a_report_without_failures_has_no_rejected_facts() -> None:
    assert refused_facts(Report(), _SOURCES, "facts.jsonl") == 0


def test_a_rejected_document_ends_the_measurement() -> None:
    failures = [Problem("/set/facts.jsonl", "no"), Problem("/set/docs/note.md", "is empty")]
    with pytest.raises(MeasureError, match=r"note\.md: is empty"):
        refused_facts(Report(failures=failures), _SOURCES, "facts.jsonl")
