"""A job as a row of the job list."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.cli.jobs import job_row

NOW = datetime(2024, 4, 18, 12, tzinfo=UTC)


def job(**values: Any) -> dict[str, Any]:
    """Returns a completed job of one document, changed by these values."""
    done = {
        "id": "j",
        "kind": "upload",
        "state": "SUCCEEDED",
        "documents_total": 1,
        "documents_searchable": 1,
        "documents_graph_ready": 1,
        "documents_failed": 0,
        "failures": [],
        "warnings": [],
        "warnings_total": 0,
        "waiting_for": None,
        "document_id": None,
        "title": None,
        "source": None,
        "created_at": "2024-04-18T11:58:00Z",
        "started_at": "2024-04-18T11:58:01Z",
        "ended_at": "2024-04-18T11:58:05Z",
    }
    return done | values


def test_a_row_shows_the_document_the_times_and_the_duration() -> None:
    assert job_row(job(source="notes.md"), NOW) == {
        "id": "j",
        "kind": "upload",
        "state": "SUCCEEDED",
        "document": "notes.md",
        "documents": "1",
        "accepted": "2024-04-18 11:58:00Z (2 min ago)",
        "started": "2024-04-18 11:58:01Z",
        "ended": "2024-04-18 11:58:05Z (took 4 s)",
        "reason": "",
    }


@pytest.mark.parametrize(
    ("named", "shown"),
    [
        ({"title": "T", "source": "s.md", "document_id": "d"}, "T"),
        ({"source": "s.md", "document_id": "d"}, "s.md"),
        ({"document_id": "d"}, "d"),
        ({}, ""),
    ],
)
def test_a_job_is_labeled_by_its_title_source_or_document_id(
    named: dict[str, str], shown: str
) -> None:
    assert job_row(job(**named), NOW)["document"] == shown


def test_incomplete_documents_are_counted_by_stage() -> None:
    running = job(documents_total=40, documents_searchable=38, documents_graph_ready=30)
    assert job_row(running, NOW)["documents"] == "40: 38 searchable, 30 graph-ready"
    failed = job(documents_total=2, documents_searchable=2, documents_failed=2)
    assert job_row(failed, NOW)["documents"] == "2: 1 graph-ready, 2 failed"


def test_a_job_without_documents_shows_no_counts() -> None:
    deletion = job(kind="delete", documents_total=0, started_at=None, ended_at=None)
    row = job_row(deletion, NOW)
    assert (row["documents"], row["started"], row["ended"]) == ("", "", "")


def test_the_reason_is_the_wait_or_the_first_failure() -> None:
    waits = job(waiting_for="neo4j cannot be reached now.")
    assert job_row(waits, NOW)["reason"] == "waits: neo4j cannot be reached now."
    failures = [{"id": "a.md", "reason": "is empty", "stage": "search"}]
    one = job(documents_failed=1, failures=failures)
    assert job_row(one, NOW)["reason"] == "a.md: is empty"
    assert job_row(job(documents_failed=12, failures=failures), NOW)["reason"] == (
        "a.md: is empty (and 11 more)"
    )
    whole = [{"id": "", "reason": "the file is no PDF", "stage": "search"}]
    assert job_row(job(failures=whole), NOW)["reason"] == "the file is no PDF"


def test_the_first_warning_is_shown_if_nothing_else_is() -> None:
    warnings = [{"id": "a.pdf", "reason": "pages_without_text", "text": "No text.", "where": None}]
    one = job(warnings=warnings, warnings_total=1)
    assert job_row(one, NOW)["reason"] == "warning: No text."
    assert job_row(one | {"warnings_total": 3}, NOW)["reason"] == "warning: No text. (and 2 more)"
