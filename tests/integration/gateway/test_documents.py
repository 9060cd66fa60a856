"""`/api/documents`: uploads reach the service as they were sent."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from braid.agent.v1 import ingest_pb2, jobs_pb2
from braid.vector.v1 import documents_pb2
from services.runtime import errors
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    CHUNK_ID,
    DAY,
    DOCUMENT,
    DOCUMENT_JSON,
    JOB,
    JOB_ID,
    JOB_JSON,
)
from tests.integration.gateway.uploads import ACCEPTED, DOCUMENTS, uploaded

FILE = {"file": ("a.md", b"a")}


async def test_a_document_as_json_is_accepted_with_its_job(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    body = {
        "id": "a",
        "title": "A",
        "text": "Über alles.",
        "source": "wiki/a",
        "metadata": {"n": 1},
        "valid_at": "2024-04-18",
        "expires_at": "2024-04-18",
    }
    response = await served.http.post(DOCUMENTS, json=body)
    assert response.status_code == 202
    assert response.json() == {"job": JOB_JSON, "jobs": [JOB_JSON]}
    assert response.headers["location"] == f"/api/jobs/{JOB_ID}"
    metadata, data = uploaded(served)
    assert data.decode() == "Über alles."
    assert (metadata.document_id, metadata.title, metadata.source) == ("a", "A", "wiki/a")
    assert (metadata.content_type, metadata.valid_time) == ("text/plain", to_timestamp(DAY))
    assert metadata.expire_time == to_timestamp(DAY)
    assert dict(metadata.metadata) == {"n": 1}


@pytest.mark.parametrize(
    ("name", "content_type", "kind"),
    [
        ("a.md", "application/octet-stream", "text/markdown"),
        ("a.txt", "application/octet-stream", "text/plain"),
        ("a.jsonl", "application/octet-stream", "application/jsonl"),
        ("a.HTM", "application/octet-stream", "text/html"),
        ("a.pdf", "application/octet-stream", "application/pdf"),
        ("a.messages.jsonl", "application/jsonl", "application/vnd.braid.messages+jsonl"),
        ("a.eml", "application/octet-stream", "message/rfc822"),
        ("a", "application/xhtml+xml", "text/html"),
        ("a", "application/x-ndjson", "application/jsonl"),
        ("a", "text/markdown; charset=utf-8", "text/markdown"),
    ],
)
async def test_a_files_content_type_follows_from_its_name_or_its_given_type(
    served: Served, name: str, content_type: str, kind: str
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    response = await served.http.post(DOCUMENTS, files={"file": (name, b"text", content_type)})
    metadata, data = uploaded(served)
    assert response.status_code == 202
    assert (metadata.content_type, metadata.source, data) == (kind, name, b"text")


async def test_each_of_several_files_becomes_a_job(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    files = [("files", (name, name.encode())) for name in ("a.md", "b.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    assert len(response.json()["jobs"]) == 2
    assert [uploaded(served, call)[1] for call in (0, 1)] == [b"a.md", b"b.md"]


async def test_the_valid_ones_of_several_files_are_accepted(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    files = [("files", (name, b"text", "image/png")) for name in ("a.md", "b.png", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    answer = response.json()
    assert (response.status_code, len(answer["jobs"])) == (207, 2)
    assert [problem["field"] for problem in answer["refused"]] == ["files[1].content_type"]
    assert [uploaded(served, call)[0].source for call in (0, 2)] == ["a.md", "c.md"]


async def test_an_upload_of_only_invalid_files_is_refused_naming_each(served: Served) -> None:
    files = [("files", (name, b"text", "image/png")) for name in ("a.png", "b.png")]
    response = await served.http.post(DOCUMENTS, files=files)
    wrong = [problem["field"] for problem in response.json()["fields"]]
    assert (response.status_code, wrong) == (422, [f"files[{n}].content_type" for n in (0, 1)])


async def test_the_files_of_an_upload_share_its_deadline(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED, after=0.2)
    files = [("files", (name, name.encode())) for name in ("a.md", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files, headers={"x-timeout-ms": "5000"})
    assert response.status_code == 202
    assert len(served.script.of("IngestDocument")) == len(files)
    assert all(
        call.time_left <= 5.1 - 0.2 * place
        for place, call in enumerate(served.script.of("IngestDocument"))
    )


async def test_an_upload_ends_at_its_deadline_however_many_files_it_has(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED, after=0.1)
    files = [("files", (f"{number}.md", b"text")) for number in range(100)]
    response = await served.http.post(DOCUMENTS, files=files, headers={"x-timeout-ms": "400"})
    answer = response.json()
    assert response.status_code == 207
    assert len(answer["jobs"]) + len(answer["refused"]) == len(files)
    assert {problem["description"] for problem in answer["refused"]} == {
        errors.DeadlineError().message
    }
    assert 1 < len(served.script.of("IngestDocument")) <= 4


@pytest.mark.parametrize(
    ("error", "wait"), [(errors.OverloadedError(3), "3"), (errors.DeadlineError(), None)]
)
async def test_accepted_files_keep_their_jobs_when_the_others_fail(
    served: Served, error: errors.BraidError, wait: str | None
) -> None:
    served.script.answer_once("IngestDocument", ACCEPTED, error)
    files = [("files", (name, b"text")) for name in ("a.md", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    answer = response.json()
    assert (response.status_code, answer["jobs"]) == (207, [JOB_JSON])
    assert response.headers.get("retry-after") == wait
    assert answer["refused"] == [
        {"field": f"files[{place}]", "description": error.message} for place in (1, 2)
    ]
    assert len(served.script.of("IngestDocument")) == 2


async def test_an_upload_without_an_accepted_file_fails_with_the_services_error(
    served: Served,
) -> None:
    served.script.fail("IngestDocument", errors.OverloadedError(3))
    files = [("files", (name, b"text", "image/png")) for name in ("a.png", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    assert (response.status_code, response.json()["reason"]) == (429, "OVERLOADED")
    assert len(served.script.of("IngestDocument")) == 2


async def test_form_fields_describe_the_uploaded_file(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    fields = {"id": "x", "title": "X", "metadata": '{"k": [1]}', "valid_at": "2024-04-18"}
    fields["expires_at"] = "2024-04-18"
    await served.http.post(DOCUMENTS, data=fields, files={"file": ("a.md", b"text")})
    metadata, _ = uploaded(served)
    assert (metadata.document_id, metadata.title) == ("x", "X")
    assert metadata.valid_time == metadata.expire_time == to_timestamp(DAY)
    assert list(metadata.metadata["k"]) == [1]


async def test_a_large_file_arrives_complete_in_several_messages(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    content = bytes(range(256)) * 12_000
    response = await served.http.post(DOCUMENTS, files={"file": ("a.txt", content)})
    assert response.status_code == 202
    assert uploaded(served)[1] == content
    assert len(served.script.of("IngestDocument")[0].messages) > 10


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"json": {"title": "A"}}, "text"),
        ({"json": {"text": "a", "valid_at": "soon"}}, "valid_at"),
        ({"json": {"text": "a", "valid_at": "2019"}}, "valid_at"),
        ({"json": {"text": "a", "expires_at": "soon"}}, "expires_at"),
        ({"json": {"text": "a", "valid_at": 1555545600}}, "valid_at"),
        ({"data": {"valid_at": "20240101"}, "files": {"file": ("a.md", b"a")}}, "valid_at"),
        ({"json": {"text": "a", "space": "other"}}, "space"),
        ({"json": {"text": "a", "metadata": {"n": 2**53 + 1}}}, "metadata.n"),
        ({"data": {"metadata": '{"n": [9007199254740993]}'}, "files": FILE}, "metadata.n[0]"),
        ({"json": {"text": "a", "id": "x" * 513}}, "id"),
        ({"json": {"text": "a", "id": "a\x00"}}, "id"),
        ({"json": {"text": "a", "content_type": "image/png"}}, "content_type"),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, "body"),
        ({"content": b'{"text": "\xff"}', "headers": {"content-type": "application/json"}}, "body"),
        ({"content": b"text", "headers": {"content-type": "text/plain"}}, "Content-Type"),
        ({"content": b"x", "headers": {"content-type": "multipart/form-data"}}, "body"),
        ({"files": {"id": (None, b"a")}}, "files"),
        ({"data": {"nonsense": "a"}, "files": {"file": ("a.md", b"a")}}, "nonsense"),
        ({"data": {"metadata": "{"}, "files": {"file": ("a.md", b"a")}}, "metadata"),
        ({"data": {"metadata": "[]"}, "files": {"file": ("a.md", b"a")}}, "metadata"),
        ({"data": {"id": "a"}, "files": [("f", ("a.md", b"a")), ("f", ("b.md", b"b"))]}, "files"),
        ({"files": {"file": ("a.png", b"a", "image/png")}}, "files[0].content_type"),
    ],
)
async def test_an_invalid_upload_is_refused_naming_the_field(
    served: Served, request_: dict[str, Any], field: str
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    response = await served.http.post(DOCUMENTS, **request_)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == [field]


async def test_a_file_that_the_service_cannot_read_is_named(served: Served) -> None:
    refusal = errors.InvalidFieldError(errors.FieldError("data", "is empty"))
    served.script.fail("IngestDocument", refusal)
    response = await served.http.post(DOCUMENTS, files={"file": ("a.md", b" ")})
    assert response.json()["fields"] == [{"field": "files[0]", "description": "is empty"}]
    response = await served.http.post(DOCUMENTS, json={"text": " "})
    assert response.json()["fields"] == [{"field": "text", "description": "is empty"}]


async def test_documents_are_listed_in_pages(served: Served) -> None:
    answer = documents_pb2.ListDocumentsResponse(documents=[DOCUMENT], next_page_token="n")
    served.script.answer("ListDocuments", answer)
    response = await served.http.get(DOCUMENTS, params={"limit": "1", "cursor": "c"})
    assert response.json() == {"documents": [DOCUMENT_JSON], "next_cursor": "n"}
    expected = documents_pb2.ListDocumentsRequest(page_size=1, page_token="c")
    assert served.script.seen[0].message == expected


async def test_versions_of_a_document_are_listed_in_pages(served: Served) -> None:
    version = documents_pb2.DocumentVersion(
        version=1,
        title="A",
        source="s",
        valid_time=to_timestamp(DAY),
        end_time=to_timestamp(DAY + timedelta(days=1)),
        chunk_count=2,
    )
    answer = documents_pb2.ListDocumentVersionsResponse(versions=[version], next_page_token="n")
    served.script.answer("ListDocumentVersions", answer)
    asked = {"document_id": "a/versions", "limit": "1", "cursor": "c"}
    response = await served.http.get("/api/document-versions", params=asked)
    assert response.json() == {
        "versions": [
            {
                "version": 1,
                "title": "A",
                "source": "s",
                "valid_at": "2024-04-18T00:00:00Z",
                "invalid_at": "2024-04-19T00:00:00Z",
                "created_at": None,
                "chunk_count": 2,
            }
        ],
        "next_cursor": "n",
    }
    expected = documents_pb2.ListDocumentVersionsRequest(
        document_id="a/versions", page_size=1, page_token="c"
    )
    assert served.script.seen[0].message == expected


async def test_too_large_a_page_size_of_versions_is_forwarded_as_the_largest_integer(
    served: Served,
) -> None:
    served.script.answer("ListDocumentVersions", documents_pb2.ListDocumentVersionsResponse())
    asked = {"document_id": "a", "limit": str(2**40)}
    response = await served.http.get("/api/document-versions", params=asked)
    assert response.status_code == 200
    assert served.script.seen[0].message.page_size == 2**31 - 1


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, "document_id"),
        ({"document_id": ""}, "document_id"),
        ({"document_id": "a", "limit": "-1"}, "limit"),
        ({"document_id": "a", "limit": "many"}, "limit"),
    ],
)
async def test_invalid_parameters_of_versions_are_named(
    served: Served, asked: dict[str, str], field: str
) -> None:
    response = await served.http.get("/api/document-versions", params=asked)
    assert response.status_code == 422
    assert [one["field"] for one in response.json()["fields"]] == [field]
    assert served.script.seen == []


async def test_a_document_is_read_by_an_id_with_slashes(served: Served) -> None:
    answer = documents_pb2.GetDocumentResponse(document=DOCUMENT, chunk_ids=[CHUNK_ID])
    served.script.answer("GetDocument", answer)
    response = await served.http.get(f"{DOCUMENTS}/notes/a.md")
    assert response.json() == DOCUMENT_JSON | {"chunk_ids": [CHUNK_ID]}
    assert served.script.seen[0].message.document_id == "notes/a.md"


@pytest.mark.parametrize("name", ["new\nline", "last\n", "\n", "a/\r\n/b", "\u2028"])
async def test_a_document_is_read_and_deleted_by_an_id_with_line_breaks(
    served: Served, name: str
) -> None:
    served.script.answer("GetDocument", documents_pb2.GetDocumentResponse(document=DOCUMENT))
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=JOB))
    path = f"{DOCUMENTS}/{quote(name, safe='')}"
    read, deleted = await served.http.get(path), await served.http.delete(path)
    assert (read.status_code, deleted.status_code) == (200, 202)
    assert [seen.message.document_id for seen in served.script.seen] == [name, name]


async def test_a_deletion_returns_the_removed_rows_and_its_job(served: Served) -> None:
    removed = [
        jobs_pb2.RemovedRows(store=jobs_pb2.STORE_NEO4J, kind=jobs_pb2.ROW_KIND_FACTS, count=2)
    ]
    deleted = ingest_pb2.DeleteDocumentResponse(document_id="notes/a.md", job=JOB, removed=removed)
    deleted.job.state = jobs_pb2.JOB_STATE_SUCCEEDED
    served.script.answer("DeleteDocument", deleted)
    response = await served.http.delete(f"{DOCUMENTS}/notes/a.md")
    assert response.status_code == 200
    assert response.json() == {
        "id": "notes/a.md",
        "removed": [{"store": "neo4j", "kind": "facts", "count": 2}],
        "job": JOB_JSON | {"state": "SUCCEEDED"},
        "invalid_at": None,
    }
    assert not served.script.seen[-1].message.keep_versions


async def test_a_document_whose_versions_are_kept_is_answered_with_its_end(served: Served) -> None:
    ended = ingest_pb2.DeleteDocumentResponse(
        document_id="d", job=JOB, end_time=to_timestamp(datetime(2024, 5, 1, tzinfo=UTC))
    )
    ended.job.state = jobs_pb2.JOB_STATE_SUCCEEDED
    served.script.answer("DeleteDocument", ended)
    response = await served.http.delete(f"{DOCUMENTS}/d", params={"keep_versions": "true"})
    assert (response.json()["removed"], response.json()["invalid_at"]) == (
        [],
        "2024-05-01T00:00:00Z",
    )
    assert served.script.seen[-1].message.keep_versions


async def test_a_deletion_without_an_id_is_refused_naming_the_field(served: Served) -> None:
    response = await served.http.delete(f"{DOCUMENTS}/")
    assert [problem["field"] for problem in response.json()["fields"]] == ["id"]


async def test_a_full_backlog_is_reported_before_the_body_is_read(served: Served) -> None:
    served.script.fail("CheckIngestCapacity", errors.OverloadedError(3))
    kind = {"content-type": "application/jsonl"}
    response = await served.http.post(DOCUMENTS, content=b"x" * 5_000_000, headers=kind)
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")
    assert response.json()["reason"] == "OVERLOADED"
    assert served.script.seen == []
