"""Any order of ingestion yields the same graph in Neo4j as one computation from scratch."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from deploy.local.stores import LocalStores
from services.graph_query.core.domain import EntityName, GivenFact, Passage
from services.graph_query.core.store import GraphStore
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
TYPES = ["", "", "Planet", "Element", "Band"]
spelled = st.builds(
    lambda name, write: write(name),
    st.sampled_from(NAMES),
    st.sampled_from([str, str, str.upper, str.lower, str.title]),
)
text = st.lists(spelled | st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
document = st.tuples(spelled | st.just(""), st.lists(text, min_size=1, max_size=2))
documents = st.lists(document, min_size=1, max_size=6)
# Facts use few names, so that one name gets several types.
end = st.builds(EntityName, spelled.filter(lambda name: len(name) < 10), st.sampled_from(TYPES))
claimant = st.sampled_from(["", "d0", "d1", "gone-d0", "gone-d1"])
given_fact = st.builds(
    lambda a, b, document: fact(a, "KNOWS", b, document_id=document), end, end, claimant
)


def passages_of(space: str, value: list[tuple[str, list[str]]], prefix: str = "") -> list[Passage]:
    return [
        passage(space, f"{prefix}d{number}", title, content, part)
        for number, (title, parts) in enumerate(value)
        for part, content in enumerate(parts)
    ]


# Examples are not shrunk: each one fills a space, which takes a second.
@settings(
    max_examples=30,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
@given(given=documents, gone=documents, facts=st.lists(given_fact, max_size=5), data=st.data())
async def test_order_and_batches_of_writes_and_deletions_do_not_change_the_graph(
    graph_stores: LocalStores,
    given: list[tuple[str, list[str]]],
    gone: list[tuple[str, list[str]]],
    facts: list[GivenFact],
    data: st.DataObject,
) -> None:
    space = new_space()
    kept, removed = passages_of(space, given), passages_of(space, gone, "gone-")
    documents = {one.document_id for one in (*kept, *removed)}
    facts = [one for one in facts if one.document_id in {"", *documents}]
    order = data.draw(st.permutations([*kept, *removed, *facts]))
    async with opened(graph_stores) as store:
        for batch in _batches(order):
            await _add(store, space, batch)
        for one in data.draw(st.permutations(removed)):
            await store.delete_episodes(space, [one.uuid])
        before = (await store.stats(space)).revision
        await _add(store, space, [one for one in (*kept, *facts) if not _is_removed(one)])
        assert (await store.stats(space)).revision == before
    lasting = [one for one in facts if not _is_removed(one)]
    assert await dump(graph_stores, space) == await expected(space, kept, lasting)


async def _add(store: GraphStore, space: str, batch: Sequence[object]) -> None:
    stated = [one for one in batch if isinstance(one, GivenFact)]
    episodes = [one for one in batch if isinstance(one, Passage)]
    if stated:
        await store.add_facts(space, stated, "")
    if episodes:
        await store.add_episodes(space, episodes)


def _is_removed(one: object) -> bool:
    return isinstance(one, GivenFact) and one.document_id.startswith("gone-")


def _batches(order: list[object]) -> list[list[object]]:
    return [order[start : start + 3] for start in range(0, len(order), 3)]
