"""Any order of ingestion yields the same graph: Neo4j, step by step, against one computation from scratch."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deploy.local.stores import LocalStores
from services.graph_query.domain import GivenFact, Passage
from tests.store_suite.graph.builders import expected, fact, new_space, passage
from tests.store_suite.graph.neo4j_graph import dump, opened

NAMES = [
    "Mercury",
    "Mercury Records",
    "Mercury Records Group",
    "Anna Bell",
    "Bell",
    "Théodred II (Bishop of Elmham)",
    "Theodred II",
    "C++ Primer",
    "payments-db",
    "Straße Nord",
    "the old harbour of York",
]
WORDS = ["He met", "and then", ". Later", "in May", "was at", "; the", ", born to", "! Why"]
text = st.lists(st.sampled_from(NAMES + WORDS), min_size=1, max_size=12).map(" ".join)
document = st.tuples(st.sampled_from([*NAMES, ""]), st.lists(text, min_size=1, max_size=2))
documents = st.lists(document, min_size=1, max_size=6)
given_fact = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 6))


def passages_of(space: str, told: list[tuple[str, list[str]]]) -> list[Passage]:
    return [
        passage(space, f"d{number}", title, content, part)
        for number, (title, parts) in enumerate(told)
        for part, content in enumerate(parts)
    ]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(told=documents, gone=documents, facts=st.lists(given_fact, max_size=3), data=st.data())
async def test_order_batches_and_deletions_leave_no_trace(
    graph_stores: LocalStores,
    told: list[tuple[str, list[str]]],
    gone: list[tuple[str, list[str]]],
    facts: list[tuple[str, str, int]],
    data: st.DataObject,
) -> None:
    space = new_space()
    kept = passages_of(space, told)
    passing = passages_of(f"{space}-gone", [(title, parts) for title, parts in gone])
    passing = [
        Passage(p.uuid, f"gone-{p.document_id}", p.title, p.source, p.content) for p in passing
    ]
    given_facts = [fact(a, "KNOWS", b, document_id=f"d{n}") for a, b, n in facts if n < len(told)]
    order = data.draw(st.permutations([*kept, *passing, *given_facts]))
    async with opened(graph_stores) as store:
        for batch in _batches(order):
            episodes = [one for one in batch if isinstance(one, Passage)]
            stated = [one for one in batch if isinstance(one, GivenFact)]
            if stated:
                await store.add_facts(space, stated, "")
            if episodes:
                await store.add_episodes(space, episodes)
        for one in data.draw(st.permutations(passing)):
            await store.delete_episodes(space, [one.uuid])
    assert await dump(graph_stores, space) == await expected(space, kept, given_facts)


def _batches(order: list[object]) -> list[list[object]]:
    return [order[start : start + 3] for start in range(0, len(order), 3)]
