"""What Graphiti searches while it reads an episode: each of its own searches asks the tier's, of one space alone."""

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
class Known:
    """A graph that answers every question with the same, and notes each."""

    facts: list[KnownFact] = field(default_factory=list)
    entities_known: list[KnownEntity] = field(default_factory=list)
    asked: list[tuple[Any, ...]] = field(default_factory=list)
    away: bool = False

    def _note(self, *question: Any) -> None:
        self.asked.append(question)
        if self.away:
            raise StoreUnavailableError("neo4j")

    async def named(self, names: Sequence[str]) -> list[KnownEntity]:
        self._note("named", list(names))
        return self.entities_known

    async def entities(self, uuids: Sequence[str]) -> list[KnownEntity]:
        self._note("entities", list(uuids))
        return self.entities_known

    async def entities_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownEntity]:
        self._note("entities_like", list(vector), limit, least)
        return self.entities_known

    async def entities_in(self, query: str, limit: int) -> list[KnownEntity]:
        self._note("entities_in", query, limit)
        return self.entities_known

    async def facts_like(
        self, vector: Sequence[float], limit: int, least: float
    ) -> list[KnownFact]:
        self._note("facts_like", list(vector), limit, least)
        return self.facts

    async def facts_with(self, query: str, limit: int) -> list[KnownFact]:
        self._note("facts_with", query, limit)
        return self.facts

    async def facts_between(
        self, sources: Sequence[str], targets: Sequence[str], vector: Sequence[float], limit: int
    ) -> list[KnownFact]:
        self._note("facts_between", list(sources), list(targets), list(vector), limit)
        return self.facts

    async def episodes_with(self, query: str, limit: int) -> list[KnownEpisode]:
        self._note("episodes_with", query, limit)
        return [EPISODE]

    async def episodes_before(self, document_id: str, limit: int) -> list[KnownEpisode]:
        self._note("episodes_before", document_id, limit)
        return []


@dataclass
class Asked:
    """Graphiti's searches, the driver that they are given, and the graph behind it."""

    known: Known
    failures: Failures
    search: BraidSearch
    driver: ReadingDriver
    utils: Any
    filters: Any


@pytest.fixture
def asked() -> Asked:
    load_session()
    from graphiti_core.search import search_filters, search_utils  # noqa: PLC0415 - loaded quietly

    from services.graph_query.llm_extraction.graphiti_driver import BraidOperations, ReadingDriver  # noqa: PLC0415
    from services.graph_query.llm_extraction.graphiti_search import BraidSearch  # noqa: PLC0415

    known, failures = Known(), Failures()
    search = BraidSearch(SPACE, known, failures)
    episode = search.episode(EPISODE)
    operations = BraidOperations(known, search, failures, episode, "note")
    driver = ReadingDriver(search, operations)
    return Asked(known, failures, search, driver, search_utils, search_filters.SearchFilters)


async def test_facts_between_two_entities_are_all_compared(asked: Asked) -> None:
    asked.known.facts = [known_fact("a", "b")]
    found = await asked.utils.edge_similarity_search(
        asked.driver, [1.0, 0.0], "a", "b", asked.filters(), [SPACE], 5, 0.6
    )
    assert asked.known.asked == [("facts_between", ["a"], ["b"], [1.0, 0.0], 5)]
    assert [(one.uuid, one.group_id, one.fact) for one in found] == [("a-b", SPACE, "a knows b")]


async def test_facts_are_found_by_words_and_by_similarity(asked: Asked) -> None:
    asked.known.facts = [known_fact("a", "b")]
    await asked.utils.edge_fulltext_search(asked.driver, "who knows", asked.filters(), [SPACE], 5)
    await asked.utils.edge_similarity_search(
        asked.driver, [1.0, 0.0], None, None, asked.filters(), [SPACE], 5, 0.6
    )
    assert asked.known.asked == [
        ("facts_with", "who knows", 5),
        ("facts_like", [1.0, 0.0], 5, 0.6),
    ]


async def test_entities_are_found_by_what_names_them_and_by_similarity(asked: Asked) -> None:
    asked.known.entities_known = [entity("Ada", "Person"), entity("Guild")]
    by_words = await asked.utils.node_fulltext_search(
        asked.driver, "Ada and the Guild", asked.filters(), [SPACE], 5
    )
    await asked.utils.node_similarity_search(
        asked.driver, [1.0, 0.0], asked.filters(), [SPACE], 5, 0.6
    )
    assert asked.known.asked == [
        ("entities_in", "Ada and the Guild", 5),
        ("entities_like", [1.0, 0.0], 5, 0.6),
    ]
    assert [(one.name, one.labels) for one in by_words] == [
        ("Ada", ["Entity", "Person"]),
        ("Guild", ["Entity"]),
    ]


async def test_episodes_are_found_by_words(asked: Asked) -> None:
    [found] = await asked.utils.episode_fulltext_search(
        asked.driver, "Ada", asked.filters(), [SPACE], 3
    )
    assert asked.known.asked == [("episodes_with", "Ada", 3)]
    assert (found.uuid, found.content, found.group_id) == ("e", "Ada knows Bob.", SPACE)


@pytest.mark.parametrize("groups", [None, [], ["theirs"]])
async def test_no_search_is_asked_of_another_space_or_of_all(
    asked: Asked, groups: list[str] | None
) -> None:
    none = asked.filters()
    utils, driver = asked.utils, asked.driver
    asked.known.facts, asked.known.entities_known = [known_fact("a", "b")], [entity("Ada")]
    for found in (
        await utils.edge_fulltext_search(driver, "a", none, groups, 5),
        await utils.edge_similarity_search(driver, [1.0], None, None, none, groups, 5, 0.6),
        await utils.node_fulltext_search(driver, "a", none, groups, 5),
        await utils.node_similarity_search(driver, [1.0], none, groups, 5, 0.6),
        await utils.episode_fulltext_search(driver, "a", none, groups, 5),
    ):
        assert found == []
    assert asked.known.asked == []


async def test_a_filter_acts_on_what_a_deeper_search_finds(asked: Asked) -> None:
    asked.known.facts = [known_fact("a", other) for other in "bcd"]
    only = asked.filters(edge_uuids=["a-d"])
    found = await asked.utils.edge_fulltext_search(asked.driver, "who", only, [SPACE], 1)
    assert [one.uuid for one in found] == ["a-d"]
    [(_, _, depth)] = asked.known.asked
    assert depth > len(asked.known.facts)


async def test_facts_that_were_found_are_kept_as_they_were_then(asked: Asked) -> None:
    first = known_fact("a", "b")
    asked.known.facts = [first]
    await asked.utils.edge_fulltext_search(asked.driver, "a", asked.filters(), [SPACE], 5)
    asked.known.facts = [known_fact("a", "b", fact="changed since")]
    await asked.utils.edge_fulltext_search(asked.driver, "a", asked.filters(), [SPACE], 5)
    assert asked.search.facts == {"a-b": first}


async def test_after_a_failure_nothing_more_is_asked(asked: Asked) -> None:
    asked.known.away = True
    for _ in range(2):
        with pytest.raises(StoreUnavailableError):
            await asked.utils.node_fulltext_search(asked.driver, "a", asked.filters(), [SPACE], 5)
    assert len(asked.known.asked) == 1
    assert isinstance(asked.failures.first, StoreUnavailableError)


async def test_graphiti_runs_no_query_of_its_own(asked: Asked) -> None:
    with pytest.raises(RefusedError):
        asked.driver.execute_query("match (n) return n")
    with pytest.raises(RefusedError):
        await asked.driver.session().run("match (n) return n")
