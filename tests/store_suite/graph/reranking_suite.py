"""The contract of graph stores for reranking data and for searches as known at a time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from services.graph_query.core.domain import EntityName, FactFilter
from services.graph_query.core.identity import entity_uuid
from services.graph_query.core.store import Hit
from services.graph_query.search.as_known import Known
from services.graph_query.search.fact_search import SearchStores
from services.runtime.times import utc_now
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, passage, unit


def ids(space: str, *names: str) -> list[str]:
    """Returns the uuids of entities by name."""
    return [entity_uuid(space, name) for name in names]


async def names_of(store: SearchStores, space: str, hits: list[Hit], known: float) -> set[str]:
    """Returns the objects of the found facts, as known at a time."""
    found = await store.history.facts_known(space, [hit.uuid for hit in hits], known)
    return {one.target.name for one in found.values()}


class OrderingSuite:
    """Distances between entities, and vectors of facts."""

    async def test_distance_is_the_number_of_facts_between_two_entities(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        names = ["Aaa", "Bbb", "Ccc", "Ddd", "Eee", "Fff"]
        chain = [fact(a, "KNOWS", b) for a, b in pairwise(names)]
        await store.add_facts(space, [*chain, fact("Ggg", "KNOWS", "Hhh")], "")
        centers = ids(space, "aaa")
        asked = ids(space, "bbb", "ccc", "eee", "fff", "hhh")
        far = await store.reranking.distances(space, centers, asked, ALWAYS)
        assert far == dict(zip(asked[:3], (1, 2, 4), strict=True))

    async def test_distance_counts_facts_valid_at_the_time_and_co_occurrences(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        old = fact("Aaa", "KNOWS", "Bbb", invalid_at=day("2020-01-01"))
        await store.add_facts(space, [old], "")
        note = passage(space, "d1", "Anna Bell", "She met Karl Otto.")
        await store.add_episodes(space, [note])
        asked = ids(space, "bbb", "karl otto")
        centers = ids(space, "aaa", "anna bell")
        before = await store.reranking.distances(space, centers, asked, at("2019-01-01"))
        after = await store.reranking.distances(space, centers, asked, at("2021-01-01"))
        assert before == dict.fromkeys(asked, 1)
        assert after == {asked[1]: 1}

    async def test_distance_counts_co_occurrences_only_while_they_are_valid(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        text = "She met Karl Otto."
        for year, said in ((2020, text), (2021, "Nobody came."), (2022, text)):
            chunk = passage(space, "d1", "Anna Bell", said, len(said))
            await store.add_episodes(space, [replace(chunk, version_time=day(f"{year}-01-01"))])
        (karl,), centers = ids(space, "karl otto"), ids(space, "anna bell")
        for year, far in ((2019, {}), (2020, {karl: 1}), (2021, {}), (2022, {karl: 1})):
            then = at(f"{year}-06-01")
            assert await store.reranking.distances(space, centers, [karl], then) == far

    async def test_entities_and_vectors_of_another_space_are_not_returned(
        self, store: SearchStores
    ) -> None:
        space, other = new_space(), new_space()
        await store.add_facts(space, [fact("Aaa", "KNOWS", "Bbb", embedding=unit(1))], "m")
        assert await store.reranking.entities_named(other, "aaa", "") == []
        ours = ids(space, "aaa", "bbb")
        assert await store.reranking.distances(other, ours[:1], ours[1:], ALWAYS) == {}
        (hit,) = await store.search_vector(space, unit(1), ALWAYS, 5, exact=True)
        assert list(await store.reranking.fact_vectors(space, [hit.uuid])) == [hit.uuid]
        assert await store.reranking.fact_vectors(other, [hit.uuid]) == {}

    async def test_entities_with_the_same_name_are_distinguished_by_type(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        facts = [fact(EntityName("Mercury", kind), "IS", f"A {kind}") for kind in ("Band", "God")]
        await store.add_facts(space, facts, "")
        both = await store.reranking.entities_named(space, "mercury", "")
        god = await store.reranking.entities_named(space, "mercury", "God")
        assert (len(both), len(god)) == (2, 1)
        assert god[0] in both


class PastSuite:
    """Searches as known at a time."""

    async def test_a_fact_is_not_found_as_known_before_it_was_added(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        for name in ("Early", "Late"):
            one = fact("Payments", "RUNS_ON", name, embedding=unit(1))
            await store.add_facts(space, [one], "model")
            if name == "Early":
                between = utc_now().timestamp()
        state = (await store.search_words(space, ["payments"], [], ALWAYS, 5)).state
        for moment, names in ((between, {"Early"}), (utc_now().timestamp(), {"Early", "Late"})):
            at_then = Known(ALWAYS, moment, 5)
            words = await store.as_known.search_words_known(
                space, ["payments"], ["payments"], at_then
            )
            near, compared = await store.as_known.search_vector_known(
                space, unit(1), at_then, state
            )
            assert compared
            for hits in (words.text, words.entity, near):
                assert await names_of(store, space, hits, moment) == names

    async def test_a_withdrawn_fact_is_found_as_known_before_its_withdrawal(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Nothing else.")
        await store.add_episodes(space, [note])
        gone = fact("Karl Otto", "OWNED", "Harbour", document_id="d1")
        await store.add_facts(space, [gone], "")
        before = utc_now().timestamp()
        await store.delete_episodes(space, [note.uuid])
        for moment, names in ((before, {"Harbour"}), (utc_now().timestamp(), set())):
            then = Known(ALWAYS, moment, 5)
            words = await store.as_known.search_words_known(space, ["harbour"], [], then)
            assert await names_of(store, space, words.text, moment) == names
            named = FactFilter(ALWAYS.since, ALWAYS.until, "karl otto")
            words = await store.as_known.search_words_known(
                space, ["harbour"], [], Known(named, moment, 5)
            )
            assert await names_of(store, space, words.text, moment) == names

    async def test_valid_time_and_filters_apply_to_searches_as_known(
        self, store: SearchStores
    ) -> None:
        space = new_space()
        stored = fact("Anna", "LEADS", "Guild", invalid_at=day("2020-01-01"), embedding=unit(1))
        await store.add_facts(space, [stored, fact("Karl", "JOINS", "Guild")], "model")
        now = utc_now().timestamp()
        state = (await store.search_words(space, ["guild"], [], ALWAYS, 5)).state
        expected = {"2019-01-01": 1, "2021-01-01": 0}
        for moment, number in expected.items():
            only = FactFilter(at(moment).since, at(moment).until, relation="leads")
            then = Known(only, now, 5)
            words = await store.as_known.search_words_known(space, ["guild"], [], then)
            near, _ = await store.as_known.search_vector_known(space, unit(1), then, state)
            assert (len(words.text), len(near)) == (number, number)

    async def test_facts_of_another_space_are_never_found(self, store: SearchStores) -> None:
        space, other = new_space(), new_space()
        await store.add_facts(space, [fact("Anna", "LEADS", "Guild", embedding=unit(1))], "model")
        state = (await store.search_words(space, ["guild"], [], ALWAYS, 5)).state
        then = Known(ALWAYS, utc_now().timestamp(), 5)
        words = await store.as_known.search_words_known(other, ["guild"], ["anna"], then)
        near, _ = await store.as_known.search_vector_known(other, unit(1), then, state)
        assert (words.text, words.entity, near) == ([], [], [])


class RareSuite:
    """Filters that match few of many facts."""

    @pytest.mark.parametrize("relation", ["WAS_ONCE", "IS", "Of The"])
    async def test_a_rare_relation_is_found_among_many_with_the_same_words(
        self, store: SearchStores, relation: str
    ) -> None:
        space = new_space()
        many = [fact("Anna Bell", "LIKES", f"Song {n}", fact="Anna sings") for n in range(100)]
        rare = fact("Anna Bell", relation, "Singer", fact="Anna sings once in a longer sentence")
        await store.add_facts(space, [*many, rare], "")
        only = FactFilter(ALWAYS.since, ALWAYS.until, relation=relation)
        found = await store.search_words(space, ["anna", "sings"], [], only, 5)
        (best,) = (await store.facts(space, [hit.uuid for hit in found.text])).values()
        assert best.target.name == "Singer"
