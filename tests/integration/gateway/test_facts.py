"""`/api/facts`: facts reach the service as they were sent, and each invalid fact is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import facts_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    DAY,
)
from tests.integration.gateway.uploads import ACCEPTED, DOCUMENTS

TAKEN = ingest_pb2.IngestFactsResponse(
    added_count=1,
    unchanged_count=2,
    refused=[graph_ingest.RefusedFact(index=3, reason="is odd")],
    refused_count=1,
)
FACT = {
    "subject": "Jonas Weber",
    "subject_type": "Person",
    "relation": "OWNS",
    "object": "Ledger Service",
    "valid_at": "2024-04-18",
    "document_id": "a.md",
    "attributes": {"share": 0.5},
}
SAMPLE = Path("deploy/local/sample/facts.jsonl").read_bytes()
LINES = {"content-type": "application/jsonl"}


@pytest.mark.parametrize(
    "request_",
    [
        {"json": {"facts": [FACT]}},
        {"content": f"\n{json.dumps(FACT)}\n\n".encode(), "headers": LINES},
    ],
)
async def test_facts_are_accepted_as_json_or_as_lines(
    served: Served, request_: dict[str, Any]
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", **request_)
    assert response.json() == {
        "added": 1,
        "unchanged": 2,
        "refused": [{"index": 3, "reason": "is odd"}],
        "refused_total": 1,
        "missing": [],
        "missing_total": 0,
        "withdrawn": 0,
        "first_revision": 0,
    }
    (fact,) = served.script.seen[0].message.facts
    assert (fact.subject.name, fact.subject.type, fact.relation_type) == (
        "Jonas Weber",
        "Person",
        "OWNS",
    )
    assert (fact.object.name, fact.document_id) == ("Ledger Service", "a.md")
    assert fact.valid_time == to_timestamp(DAY)
    assert not fact.HasField("invalid_time")
    assert dict(fact.attributes) == {"share": 0.5}


async def test_the_source_of_facts_is_forwarded_and_what_it_no_longer_states_returned(
    served: Served,
) -> None:
    answer = ingest_pb2.IngestFactsResponse(
        missing=[facts_pb2.Fact(statement="Wanda heads Logistics.")],
        missing_count=1,
        withdrawn_count=1,
        first_revision=9,
    )
    served.script.answer("IngestFacts", answer)
    asked: dict[str, str | int] = {
        "source": "roles.jsonl",
        "replace": "true",
        "more_follows": "1",
        "first_revision": 7,
    }
    response = await served.http.post("/api/facts", json={"facts": [FACT]}, params=asked)
    shown = response.json()
    assert [one["fact"] for one in shown["missing"]] == ["Wanda heads Logistics."]
    assert (shown["missing_total"], shown["withdrawn"], shown["first_revision"]) == (1, 1, 9)
    first = served.script.seen[0].message
    assert (first.source, first.replace, first.more_follows) == ("roles.jsonl", True, True)
    assert (first.first_revision, len(first.facts)) == (7, 1)


async def test_an_uploaded_file_of_facts_is_their_source(served: Served) -> None:
    answer = ingest_pb2.IngestFactsResponse(
        missing=[facts_pb2.Fact(statement="Wanda heads Logistics.")], missing_count=1
    )
    served.script.answer("IngestFacts", answer)
    file = ("files", ("roles.jsonl", json.dumps(FACT).encode(), "application/jsonl"))
    response = await served.http.post(DOCUMENTS, files=[file], params={"replace": "true"})
    shown = response.json()["facts"]
    assert [(one["file"], one["fact"]["fact"]) for one in shown["missing"]] == [
        (0, "Wanda heads Logistics.")
    ]
    first = served.script.seen[-1].message
    assert (first.source, first.replace) == ("roles.jsonl", True)


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/x.y+json"])
async def test_any_json_content_type_is_accepted_for_documents_and_facts(
    served: Served, kind: str
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    served.script.answer("IngestFacts", TAKEN)
    headers = {"content-type": kind}
    document = await served.http.post(DOCUMENTS, content=b'{"text": "a"}', headers=headers)
    facts = await served.http.post("/api/facts", content=b'{"facts": []}', headers=headers)
    assert (document.status_code, facts.status_code) == (202, 200)


async def test_many_facts_are_sent_in_several_messages(served: Served) -> None:
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
async def test_an_invalid_fact_is_named_by_index_and_field(
    served: Served, facts: list[Any], fields: list[str]
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", json={"facts": facts})
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == fields


async def test_all_invalid_lines_are_named_and_nothing_is_sent(served: Served) -> None:
    year = json.dumps(FACT | {"valid_at": "2019"})
    lines = [json.dumps(FACT), "{", json.dumps(FACT), '{"subject": 5}', "\udcff", year]
    content = "\n".join(lines).encode("utf-8", "surrogateescape")
    response = await served.http.post("/api/facts", content=content, headers=LINES)
    names = [problem["field"] for problem in response.json()["fields"]]
    assert names == ["facts[1]", "facts[3].subject", "facts[4]", "facts[5].valid_at"]
    assert served.script.seen == []


WITH_DOCUMENT_ALIAS = {"subject": "A", "relation": "R", "object": "B", "document": "a.md"}


@pytest.mark.parametrize(
    "request_",
    [
        {"json": {"facts": [WITH_DOCUMENT_ALIAS]}},
        {"content": json.dumps(WITH_DOCUMENT_ALIAS).encode(), "headers": LINES},
    ],
)
async def test_a_facts_document_id_may_be_given_as_document(
    served: Served, request_: dict[str, Any]
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", **request_)
    assert response.status_code == 200
    assert served.script.seen[0].message.facts[0].document_id == "a.md"


async def test_a_fact_with_both_document_and_document_id_is_refused(served: Served) -> None:
    both = WITH_DOCUMENT_ALIAS | {"document_id": "b.md"}
    response = await served.http.post("/api/facts", json={"facts": [both]})
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == ["facts[0].document"]
    assert served.script.seen == []


async def test_the_samples_facts_are_accepted_in_every_form(served: Served) -> None:
    served.script.answer("IngestFacts", TAKEN)
    as_lines = await served.http.post("/api/facts", content=SAMPLE, headers=LINES)
    as_json = await served.http.post(
        "/api/facts", json={"facts": [json.loads(line) for line in SAMPLE.splitlines()]}
    )
    as_file = await served.http.post(DOCUMENTS, files={"files": ("facts.jsonl", SAMPLE)})
    assert [one.status_code for one in (as_lines, as_json, as_file)] == [200, 200, 200]
    first, *others = (call.message.facts for call in served.script.seen if call.message.facts)
    assert len(first) == len(SAMPLE.splitlines())
    assert all(list(other) == list(first) for other in others)


async def test_a_file_of_facts_is_ingested_as_facts(served: Served) -> None:
    served.script.answer("IngestFacts", TAKEN)
    data = b"\xef\xbb\xbf" + b"\n\n".join(json.dumps(FACT).encode() for _ in range(4))
    response = await served.http.post(DOCUMENTS, files={"files": ("facts.jsonl", data)})
    assert (response.status_code, "location" in response.headers) == (200, False)
    assert response.json() == {
        "facts": {
            "added": 1,
            "unchanged": 2,
            "refused": [{"file": 0, "line": 7, "reason": "is odd"}],
            "refused_total": 1,
            "missing": [],
            "missing_total": 0,
            "withdrawn": 0,
        }
    }
    assert len(served.script.seen[-1].message.facts) == 4


async def test_facts_among_documents_are_ingested_and_other_lines_keep_their_numbers(
    served: Served,
) -> None:
    served.script.answer("IngestFacts", ingest_pb2.IngestFactsResponse(added_count=2))
    served.script.answer("IngestDocument", ACCEPTED)
    note = b'{"id": "x", "text": ""subject" "relation" "object""}'
    lines = [json.dumps(FACT).encode(), note, json.dumps(FACT).encode(), b'{"text": ' + b"x" * 99]
    response = await served.http.post(DOCUMENTS, files={"f": ("a.jsonl", b"\n".join(lines))})
    assert response.status_code == 202
    assert response.json()["facts"]["added"] == 2
    given, upload = served.script.seen[-2:]
    assert len(given.message.facts) == 2
    sent = b"".join(part.data for part in upload.messages[1:])
    assert sent.split(b"\n") == [b"", note, b"", lines[3]]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"relation": "1"}, "files[0].lines[3].relation"),
        ({"valid_at": "soon"}, "files[0].lines[3].valid_at"),
        ({"space": "other"}, "files[0].lines[3].space"),
        ({"subject_type": "a b"}, "files[0].lines[3].subject_type"),
    ],
)
async def test_a_file_with_an_invalid_fact_is_refused_naming_its_line(
    served: Served, wrong: dict[str, Any], field: str
) -> None:
    served.script.answer("IngestFacts", TAKEN)
    served.script.answer("IngestDocument", ACCEPTED)
    lines = [{"text": "a"}, FACT, FACT | wrong]
    data = "\n".join(map(json.dumps, lines)).encode()
    response = await served.http.post(DOCUMENTS, files={"files": ("a.jsonl", data)})
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == [field]
    assert not any("IngestDocument" in call.method for call in served.script.seen)


@pytest.mark.parametrize(
    "relation", ["editor-in-chief is", "владеет", "ranked No. 1 in", "मालिक है"]
)
async def test_relation_names_in_any_script_are_accepted(served: Served, relation: str) -> None:
    served.script.answer("IngestFacts", TAKEN)
    response = await served.http.post("/api/facts", json={"facts": [FACT | {"relation": relation}]})
    assert response.status_code == 200
    assert served.script.seen[0].message.facts[0].relation_type == relation


async def test_openapi_has_the_contracts_rule_for_relations(served: Served) -> None:
    api = (await served.http.get("/openapi.json")).json()
    body = api["paths"]["/api/facts"]["post"]["requestBody"]["content"]["application/json"]
    fact = body["schema"]["properties"]["facts"]["items"]["properties"]
    assert fact["relation"]["maxLength"] == 200
    assert "\\p{L}" in fact["relation"]["pattern"]
    assert "document_id" in fact
    assert "document" not in fact
