"""`/api/documents`, `/api/facts`, `/api/jobs`: what is uploaded arrives as it was sent."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest
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
TAKEN = ingest_pb2.IngestFactsResponse(
    added=1,
    unchanged=2,
    refused=[graph_ingest.RefusedFact(index=3, reason="is odd")],
    refused_total=1,
)


async def test_a_document_as_json_is_accepted_with_its_job(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    body = {
        "id": "a",
        "title": "A",
        "text": "Über alles.",
        "source": "wiki/a",
        "metadata": {"n": 1},
        "valid_at": "2024-04-18",
    }
    response = await served.http.post(DOCUMENTS, json=body)
    assert response.status_code == 202
    assert response.json() == {"job": JOB_JSON, "jobs": [JOB_JSON]}
    assert response.headers["location"] == f"/api/jobs/{JOB_ID}"
    metadata, data = uploaded(served)
    assert data.decode() == "Über alles."
    assert (metadata.document_id, metadata.title, metadata.source) == ("a", "A", "wiki/a")
    assert (metadata.content_type, metadata.valid_time) == ("text/plain", to_timestamp(DAY))
    assert dict(metadata.metadata) == {"n": 1}


@pytest.mark.parametrize(
    ("name", "told", "kind"),
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
async def test_a_files_kind_is_told_by_its_name_or_its_type(
    served: Served, name: str, told: str, kind: str
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    response = await served.http.post(DOCUMENTS, files={"file": (name, b"text", told)})
    metadata, data = uploaded(served)
    assert response.status_code == 202
    assert (metadata.content_type, metadata.source, data) == (kind, name, b"text")


async def test_several_files_become_a_job_each(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    files = [("files", (name, name.encode())) for name in ("a.md", "b.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    assert len(response.json()["jobs"]) == 2
    assert [uploaded(served, call)[1] for call in (0, 1)] == [b"a.md", b"b.md"]


async def test_the_good_ones_of_several_files_are_taken(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    files = [("files", (name, b"text", "image/png")) for name in ("a.md", "b.png", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    answer = response.json()
    assert (response.status_code, len(answer["jobs"])) == (207, 2)
    assert [problem["field"] for problem in answer["refused"]] == ["files[1].content_type"]
    assert [uploaded(served, call)[0].source for call in (0, 2)] == ["a.md", "c.md"]


async def test_an_upload_of_wrong_files_alone_is_refused_by_each(served: Served) -> None:
    files = [("files", (name, b"text", "image/png")) for name in ("a.png", "b.png")]
    response = await served.http.post(DOCUMENTS, files=files)
    wrong = [problem["field"] for problem in response.json()["fields"]]
    assert (response.status_code, wrong) == (422, [f"files[{n}].content_type" for n in (0, 1)])


async def test_the_files_of_an_upload_share_its_time(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED, after=0.2)
    files = [("files", (name, name.encode())) for name in ("a.md", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files, headers={"x-timeout-ms": "5000"})
    assert response.status_code == 202
    assert len(served.script.seen) == len(files)
    assert all(call.time_left <= 5.1 - 0.2 * place for place, call in enumerate(served.script.seen))


async def test_an_upload_ends_with_its_time_however_many_files_it_has(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED, after=0.1)
    files = [("files", (f"{number}.md", b"text")) for number in range(100)]
    response = await served.http.post(DOCUMENTS, files=files, headers={"x-timeout-ms": "400"})
    answer = response.json()
    assert response.status_code == 207
    assert len(answer["jobs"]) + len(answer["refused"]) == len(files)
    assert {problem["description"] for problem in answer["refused"]} == {
        errors.DeadlineError().message
    }
    assert 1 < len(served.script.seen) <= 4


@pytest.mark.parametrize("error", [errors.OverloadedError(3), errors.DeadlineError()])
async def test_files_that_were_taken_keep_their_jobs_when_the_others_cannot_be(
    served: Served, error: errors.BraidError
) -> None:
    served.script.answer_once("IngestDocument", ACCEPTED, error)
    files = [("files", (name, b"text")) for name in ("a.md", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    answer = response.json()
    assert (response.status_code, answer["jobs"]) == (207, [JOB_JSON])
    assert answer["refused"] == [
        {"field": f"files[{place}]", "description": error.message} for place in (1, 2)
    ]
    assert len(served.script.seen) == 2


async def test_an_upload_of_which_nothing_was_taken_fails_as_its_first_file_does(
    served: Served,
) -> None:
    served.script.fail("IngestDocument", errors.OverloadedError(3))
    files = [("files", (name, b"text", "image/png")) for name in ("a.png", "b.md", "c.md")]
    response = await served.http.post(DOCUMENTS, files=files)
    assert (response.status_code, response.json()["reason"]) == (429, "OVERLOADED")
    assert len(served.script.seen) == 2


async def test_fields_of_a_form_say_what_its_file_is(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    fields = {"id": "x", "title": "X", "metadata": '{"k": [1]}', "valid_at": "2024-04-18"}
    await served.http.post(DOCUMENTS, data=fields, files={"file": ("a.md", b"text")})
    metadata, _ = uploaded(served)
    assert (metadata.document_id, metadata.title) == ("x", "X")
    assert metadata.valid_time == to_timestamp(DAY)
    assert list(metadata.metadata["k"]) == [1]


async def test_a_large_file_arrives_whole_in_parts(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    content = bytes(range(256)) * 12_000
    response = await served.http.post(DOCUMENTS, files={"file": ("a.txt", content)})
    assert response.status_code == 202
    assert uploaded(served)[1] == content
    assert len(served.script.seen[0].messages) > 10


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        ({"json": {"title": "A"}}, "text"),
        ({"json": {"text": "a", "valid_at": "soon"}}, "valid_at"),
        ({"json": {"text": "a", "valid_at": "2019"}}, "valid_at"),
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
async def test_a_wrong_upload_is_refused_by_its_field(
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
    told = await served.http.post(DOCUMENTS, json={"text": " "})
    assert told.json()["fields"] == [{"field": "text", "description": "is empty"}]


async def test_documents_come_in_pages(served: Served) -> None:
    answer = documents_pb2.ListDocumentsResponse(documents=[DOCUMENT], next_page_token="n")
    served.script.answer("ListDocuments", answer)
    response = await served.http.get(DOCUMENTS, params={"limit": "1", "cursor": "c"})
    assert response.json() == {"documents": [DOCUMENT_JSON], "next_cursor": "n"}
    expected = documents_pb2.ListDocumentsRequest(page_size=1, page_token="c")
    assert served.script.seen[0].message == expected


async def test_a_document_is_read_by_its_id_slashes_included(served: Served) -> None:
    answer = documents_pb2.GetDocumentResponse(document=DOCUMENT, chunk_ids=[CHUNK_ID])
    served.script.answer("GetDocument", answer)
    response = await served.http.get(f"{DOCUMENTS}/notes/a.md")
    assert response.json() == DOCUMENT_JSON | {"chunk_ids": [CHUNK_ID]}
    assert served.script.seen[0].message.document_id == "notes/a.md"


@pytest.mark.parametrize("name", ["new\nline", "last\n", "\n", "a/\r\n/b", "\u2028"])
async def test_a_document_is_read_and_deleted_by_its_id_whatever_it_holds(
    served: Served, name: str
) -> None:
    served.script.answer("GetDocument", documents_pb2.GetDocumentResponse(document=DOCUMENT))
    served.script.answer("DeleteDocument", ingest_pb2.DeleteDocumentResponse(job=JOB))
    path = f"{DOCUMENTS}/{quote(name, safe='')}"
    read, deleted = await served.http.get(path), await served.http.delete(path)
    assert (read.status_code, deleted.status_code) == (200, 202)
    assert [seen.message.document_id for seen in served.script.seen] == [name, name]


async def test_deleting_answers_with_a_receipt(served: Served) -> None:
    removed = [ingest_pb2.RemovedRows(store="neo4j", kind="facts", count=2)]
    deleted = ingest_pb2.DeleteDocumentResponse(job=JOB, removed=removed)
    deleted.job.state = ingest_pb2.JOB_STATE_SUCCEEDED
    served.script.answer("DeleteDocument", deleted)
    response = await served.http.delete(f"{DOCUMENTS}/notes/a.md")
    assert response.status_code == 200
    assert response.json() == {
        "id": "notes/a.md",
        "removed": [{"store": "neo4j", "kind": "facts", "count": 2}],
        "job": JOB_JSON | {"state": "SUCCEEDED"},
    }


async def test_a_document_without_an_id_is_named(served: Served) -> None:
    response = await served.http.delete(f"{DOCUMENTS}/")
    assert [problem["field"] for problem in response.json()["fields"]] == ["id"]


FACT = {
    "subject": "Jonas Weber",
    "subject_type": "Person",
    "relation": "OWNS",
    "object": "Ledger Service",
    "valid_at": "2024-04-18",
    "document_id": "a.md",
    "attributes": {"share": 0.5},
}
LINES = {"content-type": "application/jsonl"}


@pytest.mark.parametrize(
    "request_",
    [
        {"json": {"facts": [FACT]}},
        {"content": f"\n{json.dumps(FACT)}\n\n".encode(), "headers": LINES},
    ],
)
async def test_facts_are_taken_as_json_or_as_lines(
    served: Served, request_: dict[str, Any]
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", **request_)
    assert response.json() == {
        "added": 1,
        "unchanged": 2,
        "refused": [{"index": 3, "reason": "is odd"}],
        "refused_total": 1,
    }
    (fact,) = served.script.seen[0].message.facts
    assert (fact.subject.name, fact.subject.type, fact.relation) == (
        "Jonas Weber",
        "Person",
        "OWNS",
    )
    assert (fact.object.name, fact.document_id) == ("Ledger Service", "a.md")
    assert fact.valid_time == to_timestamp(DAY)
    assert not fact.HasField("invalid_time")
    assert dict(fact.attributes) == {"share": 0.5}


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/x.y+json"])
async def test_any_type_of_json_is_taken_for_documents_and_facts(served: Served, kind: str) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    served.script.answer("IngestFacts", TAKEN)
    headers = {"content-type": kind}
    document = await served.http.post(DOCUMENTS, content=b'{"text": "a"}', headers=headers)
    facts = await served.http.post("/api/facts", content=b'{"facts": []}', headers=headers)
    assert (document.status_code, facts.status_code) == (202, 200)


async def test_many_facts_travel_in_several_messages(served: Served) -> None:
    served.script.answer("IngestFacts", TAKEN)
    await served.http.post("/api/facts", json={"facts": [FACT] * 2500})
    assert [len(message.facts) for message in served.script.seen[0].messages] == [1000, 1000, 500]


@pytest.mark.parametrize(
    ("facts", "fields"),
    [
        ([FACT, FACT | {"subject": " "}], ["facts[1].subject"]),
        ([FACT | {"subject_type": "a b"}], ["facts[0].subject_type"]),
        ([FACT | {"relation": "1"}], ["facts[0].relation"]),
        ([FACT | {"valid_at": "soon"}], ["facts[0].valid_at"]),
        ([FACT | {"space": "other"}], ["facts[0].space"]),
        ([{}], ["facts[0].subject", "facts[0].relation", "facts[0].object"]),
        ([FACT] * 1500 + [FACT | {"object": ""}], ["facts[].object"]),
        ([1, FACT, FACT | {"object": 1}, []], ["facts[0]", "facts[2].object", "facts[3]"]),
        ([FACT | {"valid_at": "2019"}], ["facts[0].valid_at"]),
        ([FACT | {"invalid_at": 2019}], ["facts[0].invalid_at"]),
        ([FACT | {"attributes": {"n": 2**60}}], ["facts[0].attributes.n"]),
    ],
)
async def test_a_wrong_fact_is_named_by_place_and_field(
    served: Served, facts: list[Any], fields: list[str]
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", json={"facts": facts})
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == fields


async def test_wrong_lines_are_all_named_and_nothing_is_sent(served: Served) -> None:
    year = json.dumps(FACT | {"valid_at": "2019"})
    lines = [json.dumps(FACT), "{", json.dumps(FACT), '{"subject": 5}', "\udcff", year]
    content = "\n".join(lines).encode("utf-8", "surrogateescape")
    response = await served.http.post("/api/facts", content=content, headers=LINES)
    names = [problem["field"] for problem in response.json()["fields"]]
    assert names == ["facts[1]", "facts[3].subject", "facts[4]", "facts[5].valid_at"]
    assert served.script.seen == []


async def test_a_job_is_shown_as_it_stands(served: Served) -> None:
    served.script.answer("GetIngestJob", ingest_pb2.GetIngestJobResponse(job=JOB))
    response = await served.http.get(f"/api/jobs/{JOB_ID}")
    assert response.json() == JOB_JSON


async def test_jobs_are_listed_in_pages_by_state_and_kind(served: Served) -> None:
    page = ingest_pb2.ListIngestJobsResponse(jobs=[JOB], next_page_token="more")
    served.script.answer("ListIngestJobs", page)
    asked = "limit=5&cursor=there&kind=upload&state=FAILED&state=CANCELLED"
    response = await served.http.get(f"/api/jobs?{asked}")
    assert response.json() == {"jobs": [JOB_JSON], "next_cursor": "more"}
    request = served.script.seen[0].message
    assert (request.page_size, request.page_token, request.kind) == (5, "there", "upload")
    assert list(request.states) == [
        ingest_pb2.JOB_STATE_FAILED,
        ingest_pb2.JOB_STATE_CANCELLED,
    ]


async def test_dead_documents_are_listed_with_their_reasons(served: Served) -> None:
    failure = ingest_pb2.IngestFailure(document_id="a", reason="is empty", stage="search")
    dead = ingest_pb2.DeadDocument(job_id=JOB_ID, failure=failure, create_time=to_timestamp(DAY))
    served.script.answer(
        "ListDeadDocuments", ingest_pb2.ListDeadDocumentsResponse(documents=[dead])
    )
    response = await served.http.get("/api/jobs/dead")
    told = {"id": "a", "reason": "is empty", "stage": "search", "job_id": JOB_ID}
    assert response.json() == {
        "documents": [told | {"failed_at": "2024-04-18T00:00:00Z"}],
        "next_cursor": None,
    }


@pytest.mark.parametrize("verb", ["cancel", "retry"])
async def test_a_job_is_cancelled_and_tried_again(served: Served, verb: str) -> None:
    rpc = f"{verb.title()}IngestJob"
    answers = {
        "cancel": ingest_pb2.CancelIngestJobResponse(job=JOB),
        "retry": ingest_pb2.RetryIngestJobResponse(job=JOB),
    }
    served.script.answer(rpc, answers[verb])
    response = await served.http.post(f"/api/jobs/{JOB_ID}/{verb}")
    assert response.json() == JOB_JSON
    assert served.script.seen[0].message.job_id == JOB_ID


async def test_a_full_backlog_answers_before_the_body_is_read(served: Served) -> None:
    served.script.fail("CheckIngestCapacity", errors.OverloadedError(3))
    response = await served.http.post(DOCUMENTS, content=b"x" * 5_000_000, headers=LINES)
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")
    assert response.json()["reason"] == "OVERLOADED"
    assert served.script.seen == []
