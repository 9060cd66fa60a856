"""How Neo4j would run the named queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neo4j import AsyncDriver

from services.graph_query.neo4j.queries import load_queries

QUERIES = load_queries()
NOT_PLANNED = {"index_states"}  # SHOW has no plan to look at
PLANNED = sorted(set(QUERIES.names()) - NOT_PLANNED)
# Pages that may be of any space, however large.
IN_ORDER = (
    "facts_of_space",
    "facts_of_relation",
    "unembedded_facts",
    "unembedded_facts_of_start",
    "page_of_facts",
    "page_of_facts_of_start",
    "page_of_findings",
    "page_of_names",
)
# Pages of entities: of them the page alone is put in order, after it was read in the order of an index.
LISTINGS = ("list_entities", "list_entities_by_mentions")
# Reading all that a space has to put it in order: a `Top`, a `PartialTop` or a `Sort`.
ORDERING = ("Top", "Sort")


async def plan_of(driver: AsyncDriver, name: str) -> dict[str, Any]:
    """The plan of a named query, by the statistics of now."""
    async with driver.session() as session:
        result = await session.run(f"EXPLAIN {QUERIES[name]}", {"p": {}})
        plan: Any = (await result.consume()).plan
    return dict(plan)


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """What a plan consists of, from its end to its beginnings."""
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def reading_paths(plan: dict[str, Any]) -> Iterator[list[str]]:
    """For each index that a plan reads: the operators from there to the plan's end."""
    name = plan["operatorType"].partition("@")[0]
    if "IndexSeek" in name:
        yield [name]
    for child in plan.get("children", ()):
        yield from ([*path, name] for path in reading_paths(child))


def details(plan: dict[str, Any]) -> Iterator[str]:
    """What each operator is told, in the same order."""
    yield str(plan["args"].get("Details", ""))
    for child in plan.get("children", ()):
        yield from details(child)
