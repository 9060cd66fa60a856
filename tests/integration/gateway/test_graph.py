"""`GET /api/graph/…`: any name is accepted as data, and pages continue by an opaque cursor."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from braid.graph.v1 import facts_pb2, query_pb2
from services.runtime import errors
from services.runtime.times import to_timestamp
from tests.integration.gateway.conftest import Served
from tests.integration.gateway.samples import DAY, ENTITY, ENTITY_JSON, FACT, FACT_JSON

NEIGHBORHOOD = "/api/graph/neighborhood/"
NAMES = [
    "Ledger Service",
    ".*",
    "') MATCH (n) DETACH DELETE n //",
    "a/b/c",
    "C#",
    "50% é",
    "x?y=z",
    "a\nb",
    "a\n",
]


@pytest.mark.parametrize("name", NAMES)
async def test_an_entity_is_looked_up_by_exactly_the_requested_name(
    served: Served, name: str
) -> None:
    served.script.answer("GetNeighborhood", query_pb2.GetNeighborhoodResponse(center=ENTITY))
    response = await served.http.get(NEIGHBORHOOD + quote(name, safe=""))
    assert response.status_code == 200
    assert served.script.seen[0].message.entity_name == name


async def test_a_neighborhood_has_a_center_nodes_edges_and_a_truncation_flag(
    served: Served,
) -> None:
    answer = query_pb2.GetNeighborhoodResponse(
        center=ENTITY, nodes=[ENTITY], edges=[FACT], neighbor_count=7, truncated=True
    )
    served.script.answer("GetNeighborhood", answer)
    parameters = {"type": "Person", "limit": "1", "as_of": "2024-04-18"}
    response = await served.http.get(NEIGHBORHOOD + "Jonas Weber", params=parameters)
    assert response.json() == {
        "center": ENTITY_JSON,
        "nodes": [ENTITY_JSON],
        "edges": [FACT_JSON],
        "total": 7,
        "truncated": True,
        "homonyms": [],
    }
    request = served.script.seen[0].message
    assert (request.entity_type, request.limit) == ("Person", 1)
    assert request.as_of.instant == to_timestamp(DAY)


async def test_events_and_mentions_are_distinguished_from_facts_that_last(served: Served) -> None:
    event = facts_pb2.Fact(valid_time=to_timestamp(DAY), event=True)
    mention = facts_pb2.Fact(
        origin=facts_pb2.FACT_ORIGIN_LOCAL,
        mention_time=to_timestamp(DAY),
        relation_type="CO_OCCURS",
    )
    answer = query_pb2.GetNeighborhoodResponse(center=ENTITY, edges=[FACT, event, mention])
    served.script.answer("GetNeighborhood", answer)
    edges = (await served.http.get(NEIGHBORHOOD + "Jonas Weber")).json()["edges"]
    day = "2024-04-18T00:00:00Z"
    times = [(one["valid_at"], one["event"], one["mentioned_at"]) for one in edges]
    assert times == [(day, False, None), (day, True, None), (None, False, day)]


async def test_an_unknown_entity_is_404(served: Served) -> None:
    served.script.fail("GetNeighborhood", errors.NotFoundError("entity"))
    response = await served.http.get(NEIGHBORHOOD + "nobody")
    assert response.status_code == 404
    assert response.json()["detail"] == "There is no such entity in this space."


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (NEIGHBORHOOD, "entity"),
        (NEIGHBORHOOD + "%20", "entity"),
        (NEIGHBORHOOD + "a%00b", "entity"),
        (NEIGHBORHOOD + "x" * 1001, "entity"),
        (NEIGHBORHOOD + "x?type=" + "x" * 201, "type"),
        (NEIGHBORHOOD + "x?limit=0", "limit"),
        (NEIGHBORHOOD + "x?limit=101", "limit"),
        (NEIGHBORHOOD + "x?as_of=then", "as_of"),
        ("/api/graph/entities?limit=-1", "limit"),
        ("/api/graph/entities?type=%00", "type"),
        ("/api/graph/entities?order=size", "order"),
        ("/api/graph/entities?titles=none", "titles"),
        ("/api/graph/entities?cursor=" + "x" * 16385, "cursor"),
    ],
)
async def test_an_invalid_parameter_is_refused_by_its_rest_name(
    served: Served, path: str, field: str
) -> None:
    response = await served.http.get(path)
    assert response.status_code == 422
    assert [problem["field"] for problem in response.json()["fields"]] == [field]


@pytest.mark.parametrize(("limit", "asked"), [("0", 0), ("201", 201), (str(2**40), 2**31 - 1)])
async def test_any_page_size_is_forwarded(served: Served, limit: str, asked: int) -> None:
    """The tier replaces 0 by its default and limits a size that is too large."""
    served.script.answer("ListEntities", query_pb2.ListEntitiesResponse())
    response = await served.http.get("/api/graph/entities", params={"limit": limit})
    assert response.status_code == 200
    assert served.script.seen[0].message.page_size == asked


async def test_entities_are_listed_in_pages(served: Served) -> None:
    served.script.answer(
        "ListEntities", query_pb2.ListEntitiesResponse(entities=[ENTITY], next_page_token="t2")
    )
    parameters = {"type": "Person", "limit": "1", "cursor": "t1"}
    response = await served.http.get("/api/graph/entities", params=parameters)
    assert response.json() == {
        "entities": [ENTITY_JSON | {"document_title": False}],
        "next_cursor": "t2",
        "total_hint": None,
    }
    expected = query_pb2.ListEntitiesRequest(type="Person", page_size=1, page_token="t1")
    assert served.script.seen[0].message == expected


async def test_entities_can_be_ordered_by_mentions_and_filtered_by_title(served: Served) -> None:
    title = facts_pb2.Entity(id="e-2", name="Harbour Note", mention_count=9, document_title=True)
    served.script.answer("ListEntities", query_pb2.ListEntitiesResponse(entities=[title]))
    only = await served.http.get("/api/graph/entities?order=mentions&titles=only")
    await served.http.get("/api/graph/entities?order=mentions&titles=exclude")
    (shown,) = only.json()["entities"]
    assert (shown["name"], shown["document_title"]) == ("Harbour Note", True)
    asked = [seen.message for seen in served.script.seen]
    assert [one.order_by for one in asked] == [query_pb2.ENTITY_ORDER_MENTIONS] * 2
    assert [one.document_titles for one in asked] == [
        query_pb2.DOCUMENT_TITLES_ONLY,
        query_pb2.DOCUMENT_TITLES_EXCLUDE,
    ]


async def test_the_last_page_has_no_cursor(served: Served) -> None:
    served.script.answer("ListEntities", query_pb2.ListEntitiesResponse())
    response = await served.http.get("/api/graph/entities")
    assert response.json()["next_cursor"] is None


async def test_a_cursor_that_the_service_refuses_is_reported_by_its_rest_name(
    served: Served,
) -> None:
    refusal = errors.InvalidFieldError(errors.FieldError("page_token", "belongs to another query"))
    served.script.fail("ListEntities", refusal)
    response = await served.http.get("/api/graph/entities?cursor=abc")
    assert response.json()["fields"] == [
        {"field": "cursor", "description": "belongs to another query"}
    ]
    assert response.json()["detail"] == "cursor: belongs to another query"


async def test_the_status_returns_the_counts_of_the_graph(served: Served) -> None:
    answer = query_pb2.GetGraphStatsResponse(
        entity_count=2,
        fact_count=1,
        local_fact_count=4,
        episode_count=3,
        entity_counts_by_type={"Person": 2},
        index_states={"facts": query_pb2.INDEX_STATE_ONLINE},
        space_revision=9,
    )
    served.script.answer("GetGraphStats", answer)
    response = await served.http.get("/api/graph/status")
    assert response.json() == {
        "entities": 2,
        "facts": 1,
        "local_facts": 4,
        "episodes": 3,
        "entities_by_type": {"Person": 2},
        "last_ingest_at": None,
        "indexes": {"facts": "ONLINE"},
        "revision": 9,
    }
