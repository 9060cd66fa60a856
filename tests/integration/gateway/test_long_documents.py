"""`POST /api/documents` with a long text in JSON, which is parsed piece by piece in a thread."""

from __future__ import annotations

import json

import pytest

from gateway.rest.mapping.field_types import MAX_VALUES
from gateway.settings import GatewaySettings
from services.runtime import errors
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.uploads import ACCEPTED, DOCUMENTS, uploaded

AS_JSON = {"content-type": "application/json"}


async def test_a_large_document_as_json_arrives_complete(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    text = "All of it. " * 100_000
    assert (await served.http.post(DOCUMENTS, json={"text": text})).status_code == 202
    assert uploaded(served)[1].decode() == text
    refused = await served.http.post(DOCUMENTS, json={"text": text, "nonsense": 1})
    assert [problem["field"] for problem in refused.json()["fields"]] == ["nonsense"]


async def test_a_large_document_refused_at_its_start_fails_with_the_services_reason(
    served: Served,
) -> None:
    """The remaining parts can no longer be sent then, which gRPC reports as an internal error of its own."""
    refusal = errors.InvalidFieldError(errors.FieldError("metadata.content_type", "is unknown"))
    served.script.refuse("IngestDocument", refusal)
    for _ in range(20):
        response = await served.http.post(DOCUMENTS, json={"text": "All of it. " * 500_000})
        assert response.status_code == 422
        assert [problem["description"] for problem in response.json()["fields"]] == ["is unknown"]


async def test_the_fields_next_to_a_large_text_are_limited_like_any_other_body(
    served: Served,
) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    max_body = GatewaySettings.model_fields["max_body_bytes"].default
    body = {"text": "All of it. " * 200_000, "metadata": {"a": "x" * (max_body - 100)}}
    assert (await served.http.post(DOCUMENTS, json=body)).status_code == 202
    metadata, data = uploaded(served)
    assert (len(metadata.metadata["a"]), len(data)) == (max_body - 100, len(body["text"]))
    refused = await served.http.post(DOCUMENTS, json=body | {"title": "x" * 100})
    assert refused.status_code == 422
    assert [problem["field"] for problem in refused.json()["fields"]] == ["body"]


async def test_escapes_in_a_large_document_are_decoded(served: Served) -> None:
    served.script.answer("IngestDocument", ACCEPTED)
    text = 'Über "alles" 😀\n\\ ' * 50_000
    body = json.dumps({"text": text, "title": "é"}, ensure_ascii=True)
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    assert response.status_code == 202
    metadata, data = uploaded(served)
    assert (metadata.title, data.decode()) == ("é", text)


@pytest.mark.parametrize("wrong", ["\\ud83d", "\\x", "\n", '"', "\x00"])
async def test_a_large_document_with_invalid_json_is_refused_entirely(
    served: Served, wrong: str
) -> None:
    body = '{"text": "' + "All of it. " * 100_000 + wrong + '"}'
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == ["body"]
    assert served.script.seen == []


async def test_a_syntax_error_in_a_large_body_is_reported_without_a_position(
    served: Served,
) -> None:
    body = '{"text": "%s",}' % ("All of it. " * 100_000)
    response = await served.http.post(DOCUMENTS, content=body, headers=AS_JSON)
    fields = response.json()["fields"]
    assert fields == [{"field": "body", "description": "is not valid JSON: trailing comma"}]


@pytest.mark.parametrize("text", ["short", "long " * 50_000])
async def test_metadata_with_too_many_values_is_refused(served: Served, text: str) -> None:
    metadata = {"a": [1] * (MAX_VALUES + 1)}
    as_json = await served.http.post(DOCUMENTS, json={"text": text, "metadata": metadata})
    fields = {"metadata": json.dumps(metadata)}
    as_form = await served.http.post(DOCUMENTS, data=fields, files={"file": ("a.md", text)})
    assert (as_json.status_code, as_form.status_code) == (422, 422)
    assert served.script.seen == []
