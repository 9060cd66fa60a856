"""Graphiti's searches during extraction are answered by the tier's searches within one space."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from services.graph_query.llm_extraction.episode_extractor import load_session
from services.graph_query.llm_extraction.graph_reader import KnownEntity, KnownEpisode, KnownFact
from services.graph_query.llm_extraction.graphiti_failures import Failures, RefusedError
from services.runtime.errors import StoreUnavailableError

if TYPE_CHECKING:
    from services.graph_query.llm_extraction.graphiti_driver import ReadingDriver
    from services.graph_query.llm_extraction.graphiti_search import BraidSearch

THEN = datetime(2024, 1, 1, tzinfo=UTC)
SPACE = "ours"
EPISODE = KnownEpisode("e", "note", "Ada knows Bob.", "note.md", THEN, THEN)


def entity(name: str, kind: str = "") -> KnownEntity:
    return KnownEntity(f"uuid of {name}", name, kind, "", THEN, {})


def known_fact(source: str, target: str, **more: Any) -> KnownFact:
    value: dict[str, Any] = {
        "uuid": f"{source}-{target}",
        "source": source,
        "target": target,
        "relation": "KNOWS",
        "fact": f"{source} knows {target}",
        "episodes": ("e",),
        "created_at": THEN,
        "valid_at": None,
        "invalid_at": None,
        "expired_at": None,
        "attributes": {},
        "source_name": (source, "Person"),
        "target_name": (target, "Person"),
    }
    return KnownFact(**value | more)


@dataclass
class FakeKnownGraph:
    """A graph that answers every search with the same results, and records the searches."""

    facts: list[KnownFact] = field(default_factory=list)
    entities_known: list[KnownEntity] = field(default_factory=list)
    searches: list[tuple[Any, ...]] = field(default_factory=list)
    unavailable: bool = False

    def _record(self, *search: Any) -> None:
        self.searches.append(search)
        if self.unavailable:
            raise StoreUnavailableError("neo4j")

    async def named(self, names: Sequence[str]) -> list[KnownEntity]:
        self._record("named", list(names))
        return self.entities_known

    async def entities(self, uuids: Sequence[str]) -> list[KnownEntity]:
        self._record("entities", list(uuids))
        return self.entities_known

    async def entities_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownEntity]:
        self._record("entities_like", list(vector), limit, least)
        return self.entities_known

    async def entities_in(self, query: str, limit: int) -> list[KnownEntity]:
        self._record("entities_in", query, limit)
        return self.entities_known

    async def facts_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownFact]:
        self._record("facts_like", list(vector), limit, least)
        return self.facts

    async def facts_with(self, query: str, limit: int) -> list[KnownFact]:
        self._record("facts_with", query, limit)
        return self.facts

    async def facts_between(
        self, sources: Sequence[str], targets: Sequence[str], vector: Sequence[float], limit: int
    ) -> list[KnownFact]:
        self._record("facts_between", list(sources), list(targets), list(vector), limit)
        return self.facts

    async def episodes_with(self, query: str, limit: int) -> list[KnownEpisode]:
        self._record("episodes_with", query, limit)
        return [EPISODE]

    async def episodes_before(self, document_id: str, limit: int) -> list[KnownEpisode]:
        self._record("episodes_before", document_id, limit)
        return []


@dataclass
class GraphitiSearches:
    """Graphiti's searches, the driver that they use, and the graph behind it."""

    known: FakeKnownGraph
    failures: Failures
    search: BraidSearch
    driver: ReadingDriver
    utils: Any
    filters: Any


@pytest.fixture
def searches() -> GraphitiSearches:
    load_session()
    from graphiti_core.search import search_filters, search_utils  # noqa: PLC0415 - after load_session()

    from services.graph_query.llm_extraction.graphiti_driver import BraidOperations, ReadingDriver  # noqa: PLC0415
    from services.graph_query.llm_extraction.graphiti_search import BraidSearch  # noqa: PLC0415

    known, failures = FakeKnownGraph(), Failures()
    search = BraidSearch(SPACE, known, failures)
    episode = search.episode(EPISODE)
    operations = BraidOperations(known, search, failures, episode, "note")
    driver = ReadingDriver(search, operations)
    return GraphitiSearches(
        known, failures, search, driver, search_utils, search_filters.SearchFilters
    )


async def test_facts_between_two_entities_are_searched_by_their_ends(
    searches: GraphitiSearches,
) -> None:
    searches.known.facts = [known_fact("a", "b")]
    found = await searches.utils.edge_similarity_search(
        searches.driver, [1.0, 0.0], "a", "b", searches.filters(), [SPACE], 5, 0.6
    )
    assert searches.known.searches == [("facts_between", ["a"], ["b"], [1.0, 0.0], 5)]
    assert [(one.uuid, one.group_id, one.fact) for one in found] == [("a-b", SPACE, "a knows b")]


async def test_facts_are_searched_by_words_and_by_similarity(searches: GraphitiSearches) -> None:
    searches.known.facts = [known_fact("a", "b")]
    await searches.utils.edge_fulltext_search(
        searches.driver, "who knows", searches.filters(), [SPACE], 5
    )
    await searches.utils.edge_similarity_search(
        searches.driver, [1.0, 0.0], None, None, searches.filters(), [SPACE], 5, 0.6
    )
    assert searches.known.searches == [
        ("facts_with", "who knows", 5),
        ("facts_like", [1.0, 0.0], 5, 0.6),
    ]


async def test_entities_are_searched_by_name_and_by_similarity(searches: GraphitiSearches) -> None:
    searches.known.entities_known = [entity("Ada", "Person"), entity("Guild")]
    by_words = await searches.utils.node_fulltext_search(
        searches.driver, "Ada and the Guild", searches.filters(), [SPACE], 5
    )
    await searches.utils.node_similarity_search(
        searches.driver, [1.0, 0.0], searches.filters(), [SPACE], 5, 0.6
    )
    assert searches.known.searches == [
        ("entities_in", "Ada and the Guild", 5),
        ("entities_like", [1.0, 0.0], 5, 0.6),
    ]
    assert [(one.name, one.labels) for one in by_words] == [
        ("Ada", ["Entity", "Person"]),
        ("Guild", ["Entity"]),
    ]


async def test_episodes_are_searched_by_words(searches: GraphitiSearches) -> None:
    [found] = await searches.utils.episode_fulltext_search(
        searches.driver, "Ada", searches.filters(), [SPACE], 3
    )
    assert searches.known.searches == [("episodes_with", "Ada", 3)]
    assert (found.uuid, found.content, found.group_id) == ("e", "Ada knows Bob.", SPACE)


@pytest.mark.parametrize("groups", [None, [], ["theirs"]])
async def test_a_search_of_another_space_or_of_all_spaces_finds_nothing(
    searches: GraphitiSearches, groups: list[str] | None
) -> None:
    none = searches.filters()
    utils, driver = searches.utils, searches.driver
    searches.known.facts, searches.known.entities_known = [known_fact("a", "b")], [entity("Ada")]
    for found in (
        await utils.edge_fulltext_search(driver, "a", none, groups, 5),
        await utils.edge_similarity_search(driver, [1.0], None, None, none, groups, 5, 0.6),
        await utils.node_fulltext_search(driver, "a", none, groups, 5),
        await utils.node_similarity_search(driver, [1.0], none, groups, 5, 0.6),
        await utils.episode_fulltext_search(driver, "a", none, groups, 5),
    ):
        assert found == []
    assert searches.known.searches == []


async def test_a_filter_is_applied_to_a_deeper_search(searches: GraphitiSearches) -> None:
    searches.known.facts = [known_fact("a", other) for other in "bcd"]
    only = searches.filters(edge_uuids=["a-d"])
    found = await searches.utils.edge_fulltext_search(searches.driver, "who", only, [SPACE], 1)
    assert [one.uuid for one in found] == ["a-d"]
    [(_, _, depth)] = searches.known.searches
    assert depth > len(searches.known.facts)


async def test_a_found_fact_is_kept_as_first_read(searches: GraphitiSearches) -> None:
    first = known_fact("a", "b")
    searches.known.facts = [first]
    await searches.utils.edge_fulltext_search(searches.driver, "a", searches.filters(), [SPACE], 5)
    searches.known.facts = [known_fact("a", "b", fact="changed since")]
    await searches.utils.edge_fulltext_search(searches.driver, "a", searches.filters(), [SPACE], 5)
    assert searches.search.facts == {"a-b": first}


async def test_after_a_failure_no_further_search_is_sent(searches: GraphitiSearches) -> None:
    searches.known.unavailable = True
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await searches.utils.node_fulltext_search(
                searches.driver, "a", searches.filters(), [SPACE], 5
            )
    assert len(searches.known.searches) == 1
    assert isinstance(searches.failures.first, StoreUnavailableError)


async def test_queries_by_graphiti_are_rejected(searches: GraphitiSearches) -> None:
    with pytest.raises(RefusedError):
        searches.driver.execute_query("match (n) return n")
    with pytest.raises(RefusedError):
        await searches.driver.session().run("match (n) return n")
