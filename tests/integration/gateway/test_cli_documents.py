"""The `braid` command adds documents and facts from files and folders, and lists, ends and deletes documents."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from braid.agent.v1 import ingest_pb2, jobs_pb2, sources_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest
from braid.vector.v1 import documents_pb2
from services.runtime import errors
from services.runtime.times import to_timestamp
from tests.integration.gateway.command import DONE, RUNNING, braid
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    DOCUMENT,
    JOB_ID,
)


async def test_documents_are_listed_shown_and_deleted(served: Served) -> None:
    served.script.answer(
        "ListDocuments",
        documents_pb2.ListDocumentsResponse(documents=[DOCUMENT], next_page_token="n"),
    )
    served.script.answer("GetDocument", documents_pb2.GetDocumentResponse(document=DOCUMENT))
    removed = [
        jobs_pb2.RemovedRows(store=jobs_pb2.STORE_NEO4J, kind=jobs_pb2.ROW_KIND_FACTS, count=2)
    ]
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(removed=removed))
    listed = await braid(served, "documents", "list")
    shown = await braid(served, "documents", "get", "notes/a.md", "--json")
    deleted = await braid(served, "documents", "delete", "notes/a.md")
    assert "notes/a.md" in listed.out
    assert "--cursor n" in listed.out
    assert shown.json()["title"] == "A"
    assert "neo4j" in deleted.out


async def test_a_folder_in_step_compares_only_documents_of_its_own_files(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "box").mkdir()
    (tmp_path / "box" / "new.md").write_text("# New")
    stored = [
        documents_pb2.Document(document_id=name, source=source)
        for name, source in (
            ("box/a.md", "box/a.md"),
            ("box/7", "lines.jsonl"),
        )
    ]
    served.script.answer("ListDocuments", documents_pb2.ListDocumentsResponse(documents=stored))
    served.script.answer("ListSources", sources_pb2.ListSourcesResponse())
    ended = await braid(served, "sync", tmp_path / "box", "--dry-run", "--json")
    assert ended.json() == {
        "source": "box",
        "prefix": "box/",
        "new": ["box/new.md"],
        "changed": [],
        "unchanged": 0,
        "vanished": ["box/a.md"],
    }
    assert served.script.seen[-1].message.prefix == "box/"
    assert [seen.method for seen in served.script.seen if "Ingest" in seen.method] == []
    shown = await braid(served, "sync", tmp_path / "box", "--dry-run")
    assert (
        "1 document whose file is gone: would end (--erase: be deleted)\n    box/a.md\n"
        in shown.out
    )


async def test_a_folder_is_ingested_and_unreadable_files_are_reported(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("# A")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "b.txt").write_bytes(b"\xff\xfe")
    (tmp_path / "c.md").symlink_to(tmp_path / "gone")
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=DONE))
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[DONE]))
    ended = await braid(served, "ingest", tmp_path, "--json")
    uploads = [seen for seen in served.script.seen if seen.method.endswith("IngestDocument")]
    report = ended.json()
    assert ended.code == 4
    assert [seen.messages[0].metadata.source for seen in uploads] == [
        f"{tmp_path.name}/a.md",
        f"{tmp_path.name}/notes/b.txt",
    ]
    assert (report["documents"], report["searchable"], report["graph_ready"]) == (2, 2, 2)
    assert report["failures"] == [
        {"path": str(tmp_path / "c.md"), "reason": "no such file or directory"}
    ]


async def test_a_file_keeps_its_name_whatever_characters_it_contains(
    served: Served, tmp_path: Path
) -> None:
    name = ' a "b" 100%22 \\ c\nd.md'
    (tmp_path / name).write_text("# A")
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=DONE))
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[DONE]))
    served.script.answer("GetDocument", documents_pb2.GetDocumentResponse(document=DOCUMENT))
    await braid(served, "ingest", tmp_path / name, "--json")
    await braid(served, "documents", "get", name)
    described = served.script.seen[0].messages[0].metadata
    assert (described.source, described.content_type) == (name, "text/markdown")
    assert served.script.seen[-1].message.document_id == name


async def test_a_refused_file_is_reported_with_its_reason(served: Served, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(" ")
    refusal = errors.InvalidFieldError(errors.FieldError("data", "is empty"))
    served.script.fail("IngestDocument", refusal)
    ended = await braid(served, "ingest", tmp_path)
    assert ended.code == 4
    assert ended.err.splitlines()[-1] == f"braid: {tmp_path / 'a.md'}: is empty"


async def test_facts_follow_the_documents_and_refused_facts_are_reported_by_line(
    served: Served, tmp_path: Path
) -> None:
    fact = {"subject": "a", "relation": "OWNS", "object": "b", "document": "a.md"}
    lines: list[dict[str, Any]] = [{"id": "x", "text": "y"}, fact, fact | {"relation": "1"}, fact]
    (tmp_path / "all.jsonl").write_text("\n".join(map(json.dumps, lines)))
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=DONE))
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[DONE]))
    taken = ingest_pb2.IngestFactsResponse(
        added_count=1, refused=[graph_ingest.RefusedFact(index=1, reason="is odd")]
    )
    served.script.answer("IngestFacts", taken)
    ended = await braid(served, "ingest", tmp_path / "all.jsonl", "--json")
    report = ended.json()
    given = served.script.seen[-1].message
    assert given.source == "all.jsonl"
    assert [item.document_id for item in given.facts] == ["a.md", "a.md"]
    assert report["facts_added"] == 1
    assert [problem["reason"].partition(":")[0] for problem in report["failures"]] == [
        "line 3",
        "line 4",
    ]


async def test_facts_of_a_folder_cite_its_files_by_their_path_within_it(
    served: Served, tmp_path: Path
) -> None:
    folder = tmp_path / "box"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "a.md").write_text("# A")
    cited = ["sub/a.md", "elsewhere.md", "../box/sub/a.md", "a\x00"]
    facts = [
        {"subject": "a", "relation": "OWNS", "object": f"b{n}", "document_id": one}
        for n, one in enumerate(cited)
    ]
    (folder / "facts.jsonl").write_text("\n".join(map(json.dumps, facts)))
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=DONE))
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[DONE]))
    served.script.answer("IngestFacts", ingest_pb2.IngestFactsResponse(added_count=4))
    await braid(served, "ingest", folder, "--name", "crate", "--json")
    given = served.script.seen[-1].message
    assert given.source == "crate/facts.jsonl"
    assert [item.document_id for item in given.facts[:3]] == ["crate/sub/a.md", *cited[1:3]]


async def test_facts_that_cannot_be_encoded_are_reported_by_line_and_the_others_are_sent(
    served: Served, tmp_path: Path
) -> None:
    start = '{"subject": "a", "relation": "OWNS", "object": "b"'
    wrong = ['"attributes": {"x": NaN}', '"attributes": {"x": 1e999}', '"fact": "\\ud800"']
    lines = [start + "}", *(f"{start}, {more}}}" for more in wrong), start + "}"]
    (tmp_path / "facts.jsonl").write_text("\n".join(lines))
    served.script.answer("IngestFacts", ingest_pb2.IngestFactsResponse(added_count=2))
    ended = await braid(served, "ingest", tmp_path, "--json")
    report = ended.json()
    assert len(served.script.seen[-1].message.facts) == 2
    assert (ended.code, report["facts_added"]) == (4, 2)
    assert [
        (problem["path"], problem["reason"].partition(":")[0]) for problem in report["failures"]
    ] == [(str(tmp_path / "facts.jsonl"), f"line {number}") for number in (2, 3, 4)]


async def test_a_failed_line_is_reported_by_its_number_in_the_file(
    served: Served, tmp_path: Path
) -> None:
    (tmp_path / "all.jsonl").write_text('\n\n{"id": "x"}\n')
    failed = jobs_pb2.Job(
        id=JOB_ID,
        state=jobs_pb2.JOB_STATE_SUCCEEDED,
        unit_count=1,
        failed_count=1,
        failures=[jobs_pb2.JobFailure(document_id="x", reason="line 1: has no text")],
    )
    served.script.answer("IngestDocument", ingest_pb2.IngestDocumentResponse(job=failed))
    served.script.answer("ListJobs", jobs_pb2.ListJobsResponse(jobs=[failed]))
    ended = await braid(served, "ingest", tmp_path, "--json")
    (problem,) = ended.json()["failures"]
    assert problem["reason"] == "x: line 3: has no text"


async def test_a_document_is_ended_on_request(served: Served) -> None:
    ended = ingest_pb2.DeleteDocumentResponse(
        document_id="a.md", job=DONE, end_time=to_timestamp(datetime(2024, 5, 1, tzinfo=UTC))
    )
    served.script.answer("DeleteDocument", ended)
    shown = await braid(served, "documents", "delete", "a.md", "--keep-versions")
    assert shown.out == "valid until: 2024-05-01 00:00:00Z\n"
    assert served.script.seen[-1].message.keep_versions


async def test_documents_are_listed_by_a_prefix_of_their_ids(served: Served) -> None:
    served.script.answer("ListDocuments", documents_pb2.ListDocumentsResponse())
    await braid(served, "documents", "list", "--prefix", "notes/")
    assert served.script.seen[-1].message.prefix == "notes/"


async def test_the_end_of_a_document_is_shown_after_waiting_for_the_job(served: Served) -> None:
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=RUNNING))
    served.script.answer("GetJob", jobs_pb2.GetJobResponse(job=DONE))
    ended = to_timestamp(datetime(2024, 5, 1, tzinfo=UTC))
    version = documents_pb2.DocumentVersion(version=1, valid_time=ended, end_time=ended)
    versions = documents_pb2.ListDocumentVersionsResponse(versions=[version])
    served.script.answer("ListDocumentVersions", versions)
    shown = await braid(served, "documents", "delete", "a.md", "--keep-versions")
    assert shown.out == "valid until: 2024-05-01 00:00:00Z\n"
