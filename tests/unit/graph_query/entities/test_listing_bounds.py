"""The number of entities that are scanned for one page is bounded, even if few of them match."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.graph_query.core.domain import FIRST_ENTITY, EntityListing, EntityPosition
from services.graph_query.entities.neo4j_store import Neo4jEntities
from services.graph_query.neo4j.database import Database

TYPED = EntityListing(type="Person")


class LargeSpace:
    """A space of very many entities, of which every `step`th matches."""

    def __init__(self, step: int) -> None:
        self._step = step
        self.scans: list[int] = []

    async def read(self, _name: str, **value: Any) -> list[dict[str, Any]]:
        start = int(value["after_key"] or 0)
        end = start + value["scan"]
        self.scans.append(value["scan"])
        matching = [n for n in range(start + 1, end + 1) if n % self._step == 0][: value["limit"]]
        shown = {"name": "", "labels": [], "summary": "", "mentions": 1}
        entities = [{**shown, "uuid": str(n), "key": str(n)} for n in matching]
        return [{"seen": value["scan"], "last": [-1, str(end), str(end)], "entities": entities}]


def entities_of(space: LargeSpace) -> Neo4jEntities:
    return Neo4jEntities(cast("Database", space))


async def test_an_unfiltered_page_scans_one_entity_more_than_it_returns() -> None:
    space = LargeSpace(1)
    page = await entities_of(space).list_entities("s", EntityListing(), FIRST_ENTITY, 50)
    assert (space.scans, len(page.entities)) == ([51], 50)
    assert page.next == EntityPosition(1, "50", "50")


@pytest.mark.parametrize("step", [2, 100])
async def test_a_filtered_page_is_scanned_until_it_is_full(step: int) -> None:
    space = LargeSpace(step)
    page = await entities_of(space).list_entities("s", TYPED, FIRST_ENTITY, 50)
    assert [one.key for one in page.entities] == [str(n * step) for n in range(1, 51)]
    assert page.next == EntityPosition(1, str(50 * step), str(50 * step))


async def test_a_page_with_rare_matches_is_short_and_continues_where_its_scan_stopped() -> None:
    space = LargeSpace(7_000)
    page = await entities_of(space).list_entities("s", TYPED, FIRST_ENTITY, 50)
    assert [one.key for one in page.entities] == ["7000"]
    assert sum(space.scans) == 10_000
    assert page.next == EntityPosition(1, "10000", "10000")
