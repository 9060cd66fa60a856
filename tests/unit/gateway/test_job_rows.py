"""A job as a row of the list."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.cli.jobs import job_row

NOW = datetime(2024, 4, 18, 12, tzinfo=UTC)


def job(**values: Any) -> dict[str, Any]:
    """A job of one document that is through, but for these values."""
    done = {
        "id": "j",
        "kind": "upload",
        "state": "SUCCEEDED",
        "documents_total": 1,
        "documents_searchable": 1,
        "documents_graph_ready": 1,
        "documents_failed": 0,
        "failures": [],
        "waiting_for": None,
        "document_id": None,
        "title": None,
        "source": None,
        "created_at": "2024-04-18T11:58:00Z",
        "started_at": "2024-04-18T11:58:01Z",
        "ended_at": "2024-04-18T11:58:05Z",
    }
    return done | values


def test_a_job_tells_what_when_and_how_long() -> None:
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
def test_a_job_is_named_by_its_title_file_or_document(named: dict[str, str], shown: str) -> None:
    assert job_row(job(**named), NOW)["document"] == shown


def test_what_is_not_through_is_counted() -> None:
    running = job(documents_total=40, documents_searchable=38, documents_graph_ready=30)
    assert job_row(running, NOW)["documents"] == "40: 38 searchable, 30 graph-ready"
    failed = job(documents_total=2, documents_searchable=2, documents_failed=2)
    assert job_row(failed, NOW)["documents"] == "2: 1 graph-ready, 2 failed"


def test_work_on_no_documents_counts_none() -> None:
    told = job(kind="delete", documents_total=0, started_at=None, ended_at=None)
    row = job_row(told, NOW)
    assert (row["documents"], row["started"], row["ended"]) == ("", "", "")


def test_a_reason_is_what_is_waited_for_or_what_failed_first() -> None:
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
