"""`POST /api/documents` with a long text in JSON, which is read in pieces beside the loop."""

from __future__ import annotations

import json

import pytest

from gateway.rest.mapping.field_types import MAX_VALUES
from gateway.settings import GatewaySettings
from services.runtime import errors
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.uploads import ACCEPTED, DOCUMENTS, uploaded

AS_JSON = {"content-type": "application/json"}


async def test_a_large_document_as_json_arrives_whole(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    text = "All of it. " * 100_000
    assert (await served.http.post(DOCUMENTS, json={"text": text})).status_code == 202
    assert uploaded(served)[1].decode() == text
    refused = await served.http.post(DOCUMENTS, json={"text": text, "nonsense": 1})
    assert [problem["field"] for problem in refused.json()["fields"]] == ["nonsense"]


async def test_a_large_document_that_the_service_refuses_at_its_start_is_told_why(
    served: Served,
) -> None:
    """Its parts that are on their way then cannot be sent any more, which gRPC tells as a defect of its own."""
    refusal = errors.InvalidFieldError(errors.FieldError("metadata.content_type", "is unknown"))
    served.script.refuse("IngestDocument", refusal)
    for _ in range(20):
        response = await served.http.post(DOCUMENTS, json={"text": "All of it. " * 500_000})
        assert response.status_code == 422
        assert [problem["description"] for problem in response.json()["fields"]] == ["is unknown"]


async def test_much_may_stand_beside_a_large_text_but_not_more_than_in_other_bodies(
    served: Served,
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    most = GatewaySettings.model_fields["max_body_bytes"].default
    body = {"text": "All of it. " * 200_000, "metadata": {"a": "x" * (most - 100)}}
    assert (await served.http.post(DOCUMENTS, json=body)).status_code == 202
    metadata, data = uploaded(served)
    assert (len(metadata.metadata["a"]), len(data)) == (most - 100, len(body["text"]))
    refused = await served.http.post(DOCUMENTS, json=body | {"title": "x" * 100})
    assert refused.status_code == 422
    assert [problem["field"] for problem in refused.json()["fields"]] == ["body"]


async def test_a_large_document_of_escapes_arrives_as_what_they_stand_for(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    text = 'Über "alles" 😀\n\\ ' * 50_000
    body = json.dumps({"text": text, "title": "é"}, ensure_ascii=True)
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    assert response.status_code == 202
    metadata, data = uploaded(served)
    assert (metadata.title, data.decode()) == ("é", text)


@pytest.mark.parametrize("wrong", ["\\ud83d", "\\x", "\n", '"', "\x00"])
async def test_a_large_document_that_is_no_json_is_refused_whole(
    served: Served, wrong: str
) -> None:
    body = '{"text": "' + "All of it. " * 100_000 + wrong + '"}'
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == ["body"]
    assert served.script.seen == []


async def test_a_large_bodys_fault_is_told_without_a_place_in_what_is_left_of_it(
    served: Served,
) -> None:
    body = '{"text": "%s",}' % ("All of it. " * 100_000)
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    fields = response.json()["fields"]
    assert fields == [{"field": "body", "description": "is not valid JSON: trailing comma"}]


@pytest.mark.parametrize("text", ["short", "long " * 50_000])
async def test_metadata_of_too_many_values_is_refused(served: Served, text: str) -> None:
    metadata = {"a": [1] * (MAX_VALUES + 1)}
    as_json = await served.http.post(DOCUMENTS, json={"text": text, "metadata": metadata})
    fields = {"metadata": json.dumps(metadata)}
    as_form = await served.http.post(DOCUMENTS, data=fields, files={"file": ("a.md", text)})
    assert (as_json.status_code, as_form.status_code) == (422, 422)
    assert served.script.seen == []
