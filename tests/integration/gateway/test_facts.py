"""`/api/facts`: what is given arrives as it was sent, and each wrong fact is named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from braid.agent.v1 import ingest_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import (
    DAY,
)
from tests.integration.gateway.uploads import ACCEPTED, DOCUMENTS

TAKEN = ingest_pb2.IngestFactsResponse(
    added=1,
    unchanged=2,
    refused=[graph_ingest.RefusedFact(index=3, reason="is odd")],
    refused_total=1,
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
