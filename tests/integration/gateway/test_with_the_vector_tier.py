"""The gateway over the real vector tier: invalid input, and separation of spaces, down to PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.settings import GatewaySettings
from services.runtime.context import CallContext, call_scope
from services.runtime.server import start_server
from services.runtime.settings import RuntimeSettings
from services.vector_search.app import build_services
from services.vector_search.documents.writer import DocumentWriter
from services.vector_search.postgres_store import PostgresStore
from services.vector_search.servicers.documents import DocumentServicer
from tests.integration.gateway.conftest import Served, serve_gateway
from tests.integration.gateway.scripted import LOOPBACK, Script
from tests.integration.vector_search.messages import NORTH, document, upsert
from tests.stores import TestDatabase, open_vector_store
from tests.unit.vector_search.embedder import CompassEmbedder

ANN, BOB = {"authorization": "Bearer reader"}, {"authorization": "Bearer writer"}


@pytest.fixture
async def store(vector_database: TestDatabase) -> AsyncIterator[PostgresStore]:
    async with open_vector_store(vector_database) as opened:
        yield opened


@pytest.fixture
async def served(
    store: PostgresStore, settings_of: Any, script: Script, key_file: Path
) -> AsyncIterator[Served]:
    """A gateway with keys of two spaces over the real tier; `team-a` has one document."""
    embedder = CompassEmbedder()
    documents = DocumentServicer(DocumentWriter(store, embedder), store)
    written = document(
        "plan.md", "red north", space="team-a", at=[NORTH], metadata={"kind": "plan"}
    )
    with call_scope(CallContext("r", "m", "team-a", "u", frozenset())):
        await documents.UpsertDocument(upsert(written, "compass"), None)
    server = await start_server(
        settings=RuntimeSettings(api_keys_file=key_file, drain_seconds=0),
        listen=f"{LOOPBACK}:0",
        services=build_services(store, embedder, result_cache_bytes=1_000_000),
        probes={},
    )
    settings: GatewaySettings = await settings_of(keys=key_file, allow_local=False)
    actual = settings.model_copy(update={"vector_target": f"{LOOPBACK}:{server.port}"})
    async with serve_gateway(actual, script) as running:
        yield running
    await server.stop()


@pytest.mark.parametrize(
    ("mode", "more", "field"),
    [
        ("vector", {"query_embedding": {"model": "compass", "values": [1, 0]}}, "query_embedding"),
        ("vector", {"model": "another"}, "model"),
        ("vector", {"min_score": 2}, "min_score"),
        ("hybrid", {"filter": {"colour": "red"}}, "filter.colour"),
        ("hybrid", {"filter": {"document_ids": ["a\x00"]}}, "filter.document_ids[0]"),
        ("hybrid", {"filter": {"document_ids": ["x" * 513]}}, "filter.document_ids[0]"),
        ("hybrid", {"filter": {"metadata": {"kind": "\x00"}}}, "filter.metadata"),
        ("hybrid", {"filter": {"metadata": ["kind"]}}, "filter.metadata"),
        ("hybrid", {"text_weight": -0.1}, "text_weight"),
        ("text", {"match": "regex"}, "match"),
        ("text", {"use_cache": "no"}, "use_cache"),
    ],
)
async def test_an_invalid_search_is_refused_naming_the_field(
    served: Served, mode: str, more: dict[str, Any], field: str
) -> None:
    response = await served.http.post(
        f"/api/search/{mode}", json={"query": "red", **more}, headers=ANN
    )
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == [field]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
async def test_non_finite_numbers_are_refused(served: Served, number: str) -> None:
    body = f'{{"query": "red", "min_score": {number}}}'.encode()
    headers = {**ANN, "content-type": "application/json"}
    response = await served.http.post("/api/search/vector", content=body, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (422, "INVALID_FIELD")


async def test_a_filter_by_metadata_that_no_document_has_reports_no_match(served: Served) -> None:
    body = {"query": "red", "filter": {"metadata": {"colour": "red"}}}
    found = (await served.http.post("/api/search/hybrid", json=body, headers=ANN)).json()
    assert (found["legs"][0]["status"], found["results"]) == ("NO_MATCH", [])


async def test_a_document_of_another_space_is_answered_like_an_unknown_one(
    served: Served,
) -> None:
    own = await served.http.get("/api/documents/plan.md", headers=ANN)
    assert own.json()["id"] == "plan.md"
    answers = []
    for name in ("plan.md", "none.md"):
        headers = {**BOB, "x-request-id": "r"}
        response = await served.http.get(f"/api/documents/{name}", headers=headers)
        answers.append((response.status_code, response.json()))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


async def test_a_filter_by_another_spaces_document_finds_nothing(served: Served) -> None:
    body = {"query": "red", "filter": {"document_ids": ["plan.md"]}}
    for headers, expected in ((ANN, ["plan.md"]), (BOB, [])):
        found = (await served.http.post("/api/search/hybrid", json=body, headers=headers)).json()
        assert [hit["document_id"] for hit in found["results"]] == expected


async def test_a_response_is_cached_unless_the_caller_disables_the_cache(served: Served) -> None:
    actual = []
    for more in ({}, {}, {"use_cache": False}):
        body = {"query": "north", **more}
        found = (await served.http.post("/api/search/hybrid", json=body, headers=ANN)).json()
        actual.append((found["legs"][0]["cached"], found["embedding"], found["vector_path"]))
    assert actual == [
        (False, "computed", "exact"),
        (True, "computed", "exact"),
        (False, "computed", "exact"),
    ]
