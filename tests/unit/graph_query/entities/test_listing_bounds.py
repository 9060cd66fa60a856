"""How much is looked at for a page of entities, however few of them fit."""

from __future__ import annotations

from typing import Any, cast

import pytest

from services.graph_query.core.domain import FIRST_ENTITY, EntityListing, EntityPosition
from services.graph_query.entities.neo4j_store import Neo4jEntities
from services.graph_query.neo4j.database import Database

TYPED = EntityListing(type="Person")


class Endless:
    """A space of very many entities, of which those at every `step`th place fit."""

    def __init__(self, step: int) -> None:
        self._step = step
        self.scans: list[int] = []

    async def read(self, _name: str, **value: Any) -> list[dict[str, Any]]:
        start = int(value["after_key"] or 0)
        end = start + value["scan"]
        self.scans.append(value["scan"])
        fit = [n for n in range(start + 1, end + 1) if n % self._step == 0][: value["limit"]]
        shown = {"name": "", "labels": [], "summary": "", "mentions": 1}
        entities = [{**shown, "uuid": str(n), "key": str(n)} for n in fit]
        return [{"seen": value["scan"], "last": [-1, str(end), str(end)], "entities": entities}]


def reads(space: Endless) -> Neo4jEntities:
    return Neo4jEntities(cast("Database", space))


async def test_without_a_filter_a_page_looks_at_itself_and_one_more() -> None:
    space = Endless(1)
    page = await reads(space).list_entities("s", EntityListing(), FIRST_ENTITY, 50)
    assert (space.scans, len(page.entities)) == ([51], 50)
    assert page.next == EntityPosition(1, "50", "50")


@pytest.mark.parametrize("step", [2, 100])
async def test_a_filtered_page_looks_on_until_it_is_full(step: int) -> None:
    space = Endless(step)
    page = await reads(space).list_entities("s", TYPED, FIRST_ENTITY, 50)
    assert [one.key for one in page.entities] == [str(n * step) for n in range(1, 51)]
    assert page.next == EntityPosition(1, str(50 * step), str(50 * step))


async def test_a_page_of_what_is_rare_is_short_and_goes_on_where_it_stopped() -> None:
    space = Endless(7_000)
    page = await reads(space).list_entities("s", TYPED, FIRST_ENTITY, 50)
    assert [one.key for one in page.entities] == ["7000"]
    assert sum(space.scans) == 10_000
    assert page.next == EntityPosition(1, "10000", "10000")
