"""`braid ingest` waits until its uploads are searchable, and while the gateway accepts no more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest

from gateway.cli.api import PATIENCE_SECONDS, Api
from gateway.cli.errors import CliError
from gateway.cli.ingest import ingestion
from gateway.cli.ingest.files import File, Skipped
from gateway.cli.ingest.ingestion import FACTS_PER_REQUEST, MAX_PENDING_UPLOADS, PAGE, Ingest
from gateway.cli.ingest.jsonl_split import FACT_BYTES
from gateway.cli.job_status import POLL_SECONDS

JOB: dict[str, Any] = {
    "documents_total": 1,
    "documents_searchable": 0,
    "documents_graph_ready": 0,
    "documents_failed": 0,
    "documents_unchanged": 0,
    "chunks_written": 0,
    "failures": [],
    "warnings": [],
    "warnings_total": 0,
    "state": "RUNNING",
}


class FakeProgress:
    """A progress display without output; `waits` records the reported waits."""

    def __init__(self) -> None:
        self.waits: list[bool] = []

    def documents(self, total: int, searchable: int, graph_ready: int) -> None:
        """Does nothing."""

    def facts(self, total: int, done: int) -> None:
        """Does nothing."""

    def full(self, waits: bool) -> None:
        """Records it."""
        self.waits.append(waits)


class SlowGraph:
    """A gateway whose documents are searchable at the first poll, and in the graph once all were uploaded."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.jobs: dict[str, dict[str, Any]] = {}
        self.max_unsearchable = 0
        self.max_polled = 0

    def upload(
        self, name: str, data: bytes, kind: str, full: object, **fields: str
    ) -> dict[str, Any]:
        """Accepts the document."""
        self.fields = fields
        self.jobs[name] = {**JOB, "id": name}
        unsearchable = sum(not job["documents_searchable"] for job in self.jobs.values())
        self.max_unsearchable = max(self.max_unsearchable, unsearchable)
        return {"job": dict(self.jobs[name])}

    def latest_jobs(self, count: int) -> list[dict[str, Any]]:
        """Returns the last jobs."""
        self.asked = 0
        return [self.job(name) for name in list(self.jobs)[-count:]]

    def job(self, name: str) -> dict[str, Any]:
        """Returns a job as searchable, and as in the graph once all documents were uploaded."""
        self.asked += 1
        self.max_polled = max(self.max_polled, self.asked)
        job = self.jobs[name]
        job["documents_searchable"] = 1
        if len(self.jobs) == self.expected:
            job |= {"documents_graph_ready": 1, "state": "SUCCEEDED"}
        return dict(job)


def test_a_slow_graph_does_not_delay_uploads(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A")
    count = 3 * PAGE
    gateway = SlowGraph(count)
    sources = [File(file, f"{number}.md", "text/markdown") for number in range(count)]
    run = Ingest(gateway, FakeProgress(), sleep=lambda _seconds: None)  # type: ignore[arg-type] # a part of the API
    report = run.run(sources)
    assert (report.documents, report.graph_ready, report.failures) == (count, count, [])
    assert gateway.max_unsearchable == MAX_PENDING_UPLOADS
    assert gateway.max_polled < 2 * PAGE


def test_documents_are_uploaded_with_the_time_of_their_end(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("# A")
    gateway = SlowGraph(1)
    end = "2030-01-01T00:00:00+00:00"
    run = Ingest(gateway, FakeProgress(), expires_at=end)  # type: ignore[arg-type] # as above
    run.run([File(file, "a.md", "text/markdown")])
    assert gateway.fields == {"expires_at": end}


@contextmanager
def full_gateway(refusals: int) -> Iterator[str]:
    """Yields the address of a gateway that rejects this many requests with a wait of 2 s, then accepts them."""
    left = refusals

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            nonlocal left
            left -= 1
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(429 if left >= 0 else 202)
            self.send_header("retry-after", "2")
            body = b'{"job": {"id": "j"}}'
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Does not log."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_job_is_polled_until_it_ends() -> None:
    slept: list[float] = []

    class Gateway(Api):
        states = iter(["QUEUED", "RUNNING", "CANCELLED"])

        def job(self, job_id: str) -> dict[str, str]:
            return {"id": job_id, "state": next(self.states)}

    with Gateway("http://127.0.0.1:1", sleep=slept.append) as api:
        seen = list(api.followed({"id": "j", "state": "QUEUED"}))
    assert [job["state"] for job in seen] == ["QUEUED", "QUEUED", "RUNNING", "CANCELLED"]
    assert slept == [POLL_SECONDS] * 3


def test_an_upload_waits_without_limit_while_the_gateway_is_full_and_reports_it() -> None:
    slept: list[float] = []
    bars = FakeProgress()
    with full_gateway(60) as url, Api(url, sleep=slept.append) as api:
        assert api.upload("a.md", b"# A", "text/markdown", bars.full) == {"job": {"id": "j"}}
    assert set(slept) == {2.0}
    assert sum(slept) > PATIENCE_SECONDS
    assert bars.waits == [True, False]


class FactsGateway:
    """A gateway that accepts facts; `requests` holds the facts of each request, `stated` what it says of their source.

    The last request of each source answers that one fact is `missing`.
    """

    def __init__(self, refused: list[dict[str, Any]] | None = None) -> None:
        self.requests: list[list[dict[str, Any]]] = []
        self.stated: list[dict[str, Any]] = []
        self._refused = refused or []

    def facts(self, facts: list[dict[str, Any]], _full: object, **stated: Any) -> dict[str, Any]:
        """Accepts all facts but the refused ones."""
        self.requests.append(facts)
        self.stated.append(stated)
        missing = 0 if "more_follows" in stated else 1
        return {
            "added": len(facts),
            "unchanged": 0,
            "refused": self._refused,
            "missing": [{"fact": "Wanda heads Logistics."}] * missing,
            "missing_total": missing,
            "withdrawn": missing if "replace" in stated else 0,
            "first_revision": 7,
        }


@pytest.mark.parametrize(
    ("facts", "most_bytes", "counts"),
    [
        (FACTS_PER_REQUEST + 1, FACT_BYTES, [FACTS_PER_REQUEST, 1]),
        (5, 250, [2, 2, 1]),
        (2, 1, [1, 1]),
    ],
)
def test_facts_are_sent_in_requests_of_bounded_count_and_size(
    tmp_path: Path,
    facts: int,
    most_bytes: int,
    counts: list[int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ingestion, "FACT_BYTES", most_bytes)
    line = '{"subject": "a", "relation": "R", "object": "b"}'.ljust(99) + "\n"
    file = tmp_path / "facts.jsonl"
    file.write_text(line * facts)
    gateway = FactsGateway()
    run = Ingest(gateway, FakeProgress())  # type: ignore[arg-type] # a part of the API
    report = run.run([File(file, file.name, "application/jsonl")])
    assert [len(given) for given in gateway.requests] == counts
    assert report.facts_added == facts


def _fact_file(folder: Path, name: str, count: int) -> File:
    file = folder / name
    file.write_text('{"subject": "a", "relation": "R", "object": "b"}\n' * count)
    return File(file, name, "application/jsonl")


def test_each_file_of_facts_is_a_source_of_its_own(tmp_path: Path) -> None:
    gateway = FactsGateway()
    run = Ingest(gateway, FakeProgress())  # type: ignore[arg-type] # a part of the API
    files = [_fact_file(tmp_path, name, count) for name, count in (("a.jsonl", 2), ("b.jsonl", 1))]
    report = run.run(files)
    assert gateway.stated == [
        {"source": "a.jsonl", "first_revision": 0},
        {"source": "b.jsonl", "first_revision": 0},
    ]
    assert [len(given) for given in gateway.requests] == [2, 1]
    assert (report.facts_missing, report.facts_withdrawn) == (2, 0)
    assert [(one.path, one.facts) for one in report.missing] == [
        (str(tmp_path / name), ["Wanda heads Logistics."]) for name in ("a.jsonl", "b.jsonl")
    ]


def test_only_the_last_request_of_a_file_compares_and_replaces(tmp_path: Path) -> None:
    gateway = FactsGateway()
    run = Ingest(gateway, FakeProgress(), replace=True)  # type: ignore[arg-type] # as above
    report = run.run([_fact_file(tmp_path, "a.jsonl", 2 * FACTS_PER_REQUEST + 1)])
    assert gateway.stated == [
        {"source": "a.jsonl", "first_revision": 0, "more_follows": "true"},
        {"source": "a.jsonl", "first_revision": 7, "more_follows": "true"},
        {"source": "a.jsonl", "first_revision": 7, "replace": "true"},
    ]
    assert (report.facts_missing, report.facts_withdrawn) == (1, 1)


def test_an_empty_file_replaces_all_that_it_had_stated(tmp_path: Path) -> None:
    gateway = FactsGateway()
    run = Ingest(gateway, FakeProgress(), replace=True)  # type: ignore[arg-type] # as above
    report = run.run([_fact_file(tmp_path, "a.jsonl", 0)])
    assert gateway.stated == [{"source": "a.jsonl", "first_revision": 0, "replace": "true"}]
    assert not report.failures


def test_a_file_with_a_refused_fact_replaces_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "FACTS_PER_REQUEST", 1)
    gateway = FactsGateway([{"index": 0, "reason": "must end after it begins"}])
    run = Ingest(gateway, FakeProgress(), replace=True)  # type: ignore[arg-type] # as above
    report = run.run([_fact_file(tmp_path, "a.jsonl", 2)])
    assert all("replace" not in stated for stated in gateway.stated)
    assert len(report.failures) == 2


@pytest.mark.parametrize(
    ("fact", "tries"),
    [({"subject": "a"}, 2), ({"subject": "\ud800"}, 0)],
)
def test_only_a_request_to_an_unavailable_gateway_is_retried(
    fact: dict[str, str], tries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def fail_once(_transport: object, request: httpx2.Request) -> httpx2.Response:
        nonlocal asked
        asked += 1
        if asked == 1:
            raise httpx2.ConnectError("refused")
        return httpx2.Response(200, json={})

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", fail_once)
    slept: list[float] = []
    with Api("http://127.0.0.1:1", sleep=slept.append) as api:
        if tries:
            assert api.facts([fact]) == {}
        else:
            with pytest.raises(CliError, match="not all text"):
                api.facts([fact])
    assert (asked, len(slept)) == (tries, max(0, tries - 1))


def test_only_unsupported_files_are_an_empty_ingestion() -> None:
    gateway = SlowGraph(0)
    run = Ingest(gateway, FakeProgress())  # type: ignore[arg-type] # a part of the API
    report = run.run([Skipped(Path("a.csv")), Skipped(Path("b.csv"))])
    assert (report.skipped, report.is_empty) == ({".csv": 2}, True)
