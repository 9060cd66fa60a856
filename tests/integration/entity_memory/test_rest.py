"""Entity memory over REST, through a gateway in front of the real service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

ALICE = {"authorization": "Bearer alice-key"}
ANNA = {"authorization": "Bearer anna-key"}
BOB = {"authorization": "Bearer bob-key"}


async def test_a_saved_relationship_is_queried_exported_and_erased(
    http: httpx2.AsyncClient,
) -> None:
    body = {
        "type": "uses",
        "target": {"name": "Grafana", "type": "tool"},
        "context": "I use Grafana for monitoring",
        "provenance": {"conversation_id": "c1", "message_id": "m1"},
    }
    saved = await call(http, "POST", "/relationships", body)
    assert (saved["outcome"], saved["relationship"]["source"]) == (
        "created",
        {"id": None, "name": "User", "type": None},
    )
    assert saved["quota"] == {
        "conversation_entities": 19,
        "conversation_relationships": 29,
        "day_entities": 99,
    }
    answer = await call(http, "POST", "/query", {"query": "What do I use for monitoring?"})
    assert [one["answer"] for one in answer["answers"]] == ["Grafana"]
    listed = await call(http, "GET", "/entities?query=grafana&type=tool")
    assert [(one["name"], one["match"]) for one in listed["entities"]] == [("Grafana", "exact")]
    assert listed["entities"][0]["first_seen"] == {"conversation_id": "c1", "message_id": "m1"}
    export = await call(http, "GET", "/export")
    assert [one["name"] for one in export["entities"]] == ["Grafana"]
    receipt = await call(http, "DELETE", "")
    assert (receipt["entities"], receipt["relationships"]) == (1, 1)
    assert (await call(http, "GET", "/relationships"))["relationships"] == []


async def test_entities_are_renamed_merged_deleted_and_restored(http: httpx2.AsyncClient) -> None:
    first = (await call(http, "POST", "/entities", {"name": "Kafka", "type": "tool"}))["entity"]
    other = (await call(http, "POST", "/entities", {"name": "kfk", "type": "tool"}))["entity"]
    path = f"/entities/{first['id']}"
    renamed = await call(http, "POST", f"{path}/rename", {"name": "Apache Kafka"})
    assert renamed["aliases"] == ["Kafka"]
    merged = await call(http, "POST", f"{path}/merge", {"other_entity_id": other["id"]})
    assert merged["aliases"] == ["Kafka", "kfk"]
    assert await call(http, "DELETE", path) == {"relationships": 0}
    assert (await call(http, "GET", "/entities"))["entities"] == []
    assert (await call(http, "POST", f"{path}/restore"))["entity"]["name"] == "Apache Kafka"
    assert (await call(http, "GET", f"{path}/related?hops=2"))["related"] == []
    assert (await call(http, "GET", "/quota"))["limits"]["day_entities"] == 100


async def test_invalid_fields_are_reported_by_their_rest_names(http: httpx2.AsyncClient) -> None:
    bad = [
        ("/entities", {"name": " ", "type": "tool"}, "name"),
        ("/entities", {"name": "x" * 10_000, "type": "tool"}, "name"),
        ("/entities", {"name": "Vim", "type": "editor"}, "type"),
        ("/entities", {"name": "Vim", "type": "tool", "confidence": 1.5}, "confidence"),
        ("/relationships", {"type": "USES", "target": {"name": "a\x07"}}, "target.name"),
        ("/turns", {"turns": []}, "turns"),
        ("/query", {"query": ""}, "query"),
    ]
    for path, body, field in bad:
        response = await http.post(f"/api/memory{path}", json=body, headers=ALICE)
        assert response.status_code == 422, path
        assert [one["field"] for one in response.json()["fields"]] == [field]


async def test_another_users_ids_are_not_found(http: httpx2.AsyncClient) -> None:
    saved = await call(http, "POST", "/entities", {"name": "Kafka", "type": "tool"})
    path = f"/api/memory/entities/{saved['entity']['id']}"
    for headers in (ANNA, BOB):
        for method, place in (("DELETE", ""), ("POST", "/restore"), ("GET", "/related")):
            response = await http.request(method, f"{path}{place}", headers=headers)
            assert response.status_code == 404
        assert (await call(http, "GET", "/entities", headers=headers))["entities"] == []
    assert len((await call(http, "GET", "/entities"))["entities"]) == 1


async def call(
    http: httpx2.AsyncClient,
    method: str,
    path: str,
    body: Any = None,
    headers: Mapping[str, str] = ALICE,
) -> dict[str, Any]:
    """The body of a response, which must be a success."""
    response = await http.request(method, f"/api/memory{path}", json=body, headers=headers)
    assert response.is_success, response.text
    answer: dict[str, Any] = response.json()
    return answer
