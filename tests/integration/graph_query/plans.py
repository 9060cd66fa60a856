"""Neo4j's plans for the named queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from neo4j import AsyncDriver

from services.graph_query.neo4j.queries import load_queries

QUERIES = load_queries()
NOT_PLANNED = {"index_states"}  # SHOW has no plan
PLANNED = sorted(set(QUERIES.names()) - NOT_PLANNED)
# Pages of spaces of any size.
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
# Pages of entities: a page is read in the order of an index, and only that page is sorted.
LISTINGS = ("list_entities", "list_entities_by_mentions")
# Operators that read everything in a space to sort it: `Top`, `PartialTop` and `Sort`.
ORDERING = ("Top", "Sort")


async def plan_of(driver: AsyncDriver, name: str) -> dict[str, Any]:
    """Returns the plan of a named query by the current statistics."""
    async with driver.session() as session:
        result = await session.run(f"EXPLAIN {QUERIES[name]}", {"p": {}})
        plan: Any = (await result.consume()).plan
    return dict(plan)


def operators(plan: dict[str, Any]) -> Iterator[str]:
    """Yields a plan's operators, from the result to the leaves."""
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def reading_paths(plan: dict[str, Any]) -> Iterator[list[str]]:
    """Yields, for each index that a plan reads, the operators from there to the result."""
    name = plan["operatorType"].partition("@")[0]
    if "IndexSeek" in name:
        yield [name]
    for child in plan.get("children", ()):
        yield from ([*path, name] for path in reading_paths(child))


def details(plan: dict[str, Any]) -> Iterator[str]:
    """Yields the details of each operator, in the same order."""
    yield str(plan["args"].get("Details", ""))
    for child in plan.get("children", ()):
        yield from details(child)
