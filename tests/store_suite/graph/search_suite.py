"""The contract of graph stores for searches, neighborhoods and statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.graph_query.core.domain import EntityName, Fact, Origin, Scalar
from services.graph_query.core.full_text import name_candidates, query_terms
from services.graph_query.core.store import GraphStore, Hit, WordHits
from services.runtime.errors import NotFoundError
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, listed, new_space, passage, unit


async def search(store: GraphStore, space: str, question: str, only=ALWAYS) -> WordHits:  # type: ignore[no-untyped-def]
    return await store.search_words(
        space, query_terms(question), name_candidates(question), only, 10
    )


async def in_full(store: GraphStore, space: str, hits: list[Hit]) -> list[Fact]:
    """Returns the facts of the hits, in the same order."""
    found = await store.facts(space, [hit.uuid for hit in hits])
    return [found[hit.uuid] for hit in hits]


async def owners(store: GraphStore) -> str:
    """Creates a space with three successive owners of a service, and an unrelated fact."""
    space = new_space()
    payments = EntityName("Payments Service", "Service")
    await store.add_facts(
        space,
        [
            fact(
                "Anna Bell",
                "OWNS",
                payments,
                valid_at=day("2020-01-01"),
                invalid_at=day("2021-01-01"),
            ),
            fact(
                "Karl Otto",
                "OWNS",
                payments,
                valid_at=day("2021-01-01"),
                invalid_at=day("2022-01-01"),
            ),
            fact("Mira Okafor", "OWNS", payments, valid_at=day("2022-01-01")),
            fact("Karl Otto", "WROTE", "Ledger Handbook"),
        ],
        "",
    )
    return space


class ReadingSuite:
    """Searches by words and by vector, neighborhoods and statistics."""

    async def test_the_relation_in_a_question_ranks_the_facts_of_a_named_entity(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        newer = [
            fact("Payments", "MEETS", f"Person {n}", valid_at=day("2024-01-01")) for n in range(40)
        ]
        owned = fact("Anna Bell", "OWNS", "Payments", fact="Hers", valid_at=day("2020-01-01"))
        await store.add_facts(space, [*newer, owned], "")
        for asked in ("Who owns Payments?", "Who is the owner of Payments?"):
            value = (query_terms(asked), name_candidates(asked))
            words = await store.search_words(space, *value, ALWAYS, 5)
            assert words.entity[0].relation == "OWNS"

    async def test_hits_by_words_show_which_facts_have_a_vector(self, store: GraphStore) -> None:
        space = new_space()
        rows = [
            fact("Anna Bell", "OWNS", "Payments", embedding=unit(1)),
            fact("Anna Bell", "OWNS", "Ledger"),
        ]
        await store.add_facts(space, rows, "model")
        asked = "who owns what of Anna Bell"
        words = await store.search_words(
            space, query_terms(asked), name_candidates(asked), ALWAYS, 5
        )
        for hits in (words.text, words.entity):
            embedded = {hit.statement: hit.embedded for hit in hits}
            assert embedded == {"Anna Bell owns Payments": True, "Anna Bell owns Ledger": False}

    async def test_a_search_by_words_finds_facts_valid_at_the_time(self, store: GraphStore) -> None:
        space = await owners(store)
        found = await search(store, space, "who owns payments", at("2021-06-01"))
        assert [one.source.name for one in await in_full(store, space, found.text)] == ["Karl Otto"]

    @pytest.mark.parametrize(
        ("question", "sources"),
        [
            ("cafe", ["Anna Bell", "Mira Okafor"]),
            ("caf\u00e9", ["Anna Bell", "Mira Okafor"]),
            ("CAFE\u0301", ["Anna Bell", "Mira Okafor"]),
            ("zurich", ["Anna Bell"]),
            ("orsted", ["Karl Otto"]),
            ("\u65e5\u672c", ["\u6d77\u8fd0"]),
            ("\u8239", ["\u6d77\u8fd0"]),
            ("\u30bf\u30f3\u30ab", ["\u6d77\u8fd0"]),
            ("\uc11c\uc6b8", ["\uae40"]),
            ("\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e", ["\u0e19\u0e34\u0e14"]),
            ("\u4e2d\u56fd", []),
        ],
    )
    async def test_words_are_found_regardless_of_accents_and_in_scripts_without_spaces(
        self, store: GraphStore, question: str, sources: list[str]
    ) -> None:
        space = new_space()
        rows = [
            fact("Anna Bell", "RUNS", "Caf\u00e9 Z\u00fcrich"),
            fact("Mira Okafor", "RUNS", "Cafe Berlin"),
            fact("Karl Otto", "KNOWS", "\u00d8rsted"),
            fact("\u6d77\u8fd0", "OWNS", "\u65e5\u672c\u306e\u8239\u30bf\u30f3\u30ab\u30fc"),
            fact("\uae40", "MET", "\uc11c\uc6b8\uc5d0\uc11c"),
            fact(
                "\u0e19\u0e34\u0e14",
                "LIVES_IN",
                "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e\u0e21\u0e2b\u0e32\u0e19\u0e04\u0e23",
            ),
        ]
        await store.add_facts(space, rows, "")
        found = await store.search_words(space, query_terms(question), [], ALWAYS, 10)
        shown = await in_full(store, space, found.text)
        assert sorted(one.source.name for one in shown) == sources

    async def test_an_entity_is_recognized_in_a_question_without_spaces(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        rows = [
            fact("\u65e5\u672c", "OWNS", "\u8239"),
            fact("\u30c9\u30a4\u30c4", "OWNS", "\u8eca"),
        ]
        await store.add_facts(space, rows, "")
        for question, relation in (
            ("\u65e5\u672c\u306f\u4f55\u3092", 0),
            ("\u30c9\u30a4\u30c4\u306f?", 1),
        ):
            found = await search(store, space, question)
            shown = await in_full(store, space, found.entity)
            assert [one.source.name for one in shown] == [rows[relation].subject.name]

    async def test_sentences_are_found_regardless_of_accents(self, store: GraphStore) -> None:
        space = new_space()
        text = "Anna Bell met Karl Otto in the caf\u00e9 at noon."
        names = [fact("Anna Bell", "KNOWS", "Karl Otto")]
        await store.add_facts(space, names, "")
        await store.add_episodes(space, [passage(space, "a", "", text)])
        for question in ("cafe", "caf\u00e9"):
            found = await store.search_words(space, query_terms(question), [], ALWAYS, 10)
            assert [facts[0].fact for facts, _ in found.sentences] == [text]

    async def test_a_fact_is_not_valid_at_the_instant_of_its_end(self, store: GraphStore) -> None:
        space = await owners(store)
        found = await search(store, space, "who owns payments", at("2022-01-01"))
        assert [one.source.name for one in await in_full(store, space, found.text)] == [
            "Mira Okafor"
        ]

    async def test_all_facts_of_a_named_entity_are_found_regardless_of_other_words(
        self, store: GraphStore
    ) -> None:
        space = await owners(store)
        found = await search(store, space, "What became of Karl Otto?")
        assert {one.relation for one in await in_full(store, space, found.entity)} == {
            "OWNS",
            "WROTE",
        }

    async def test_filters_apply_before_ranking(self, store: GraphStore) -> None:
        space = await owners(store)
        entity = replace(ALWAYS, entity_key="karl otto")
        found = await search(store, space, "payments", entity)
        assert [one.source.name for one in await in_full(store, space, found.text)] == ["Karl Otto"]
        relation = replace(ALWAYS, relation="wrote")
        found = await search(store, space, "ledger payments handbook", relation)
        assert [one.relation for one in await in_full(store, space, found.text)] == ["WROTE"]
        nobody = replace(ALWAYS, entity_key="nobody")
        found = await search(store, space, "payments", nobody)
        assert (found.text, found.entity, found.sentences) == ([], [], [])

    async def test_a_sentence_is_one_hit_with_its_co_occurrences(self, store: GraphStore) -> None:
        space = new_space()
        text = "She met Karl Otto and Mira Okafor at the harbour."
        await store.add_episodes(space, [passage(space, "d1", "Anna Bell", text)])
        found = await search(store, space, "harbour")
        (facts, _score), *rest = found.sentences
        assert rest == []
        assert {one.target.name for one in facts} == {"Karl Otto", "Mira Okafor"}
        assert all(one.origin is Origin.LOCAL and one.fact == text for one in facts)
        assert facts[0].citations[0].quote == text

    @pytest.mark.parametrize("first", ["facts", "sentences"])
    async def test_first_facts_and_sentences_of_a_space_are_found_after_empty_searches(
        self, store: GraphStore, first: str
    ) -> None:
        space = new_space()
        stated = [fact("Anna Bell", "OWNS", "Harbour Ledger", embedding=unit(1))]
        said = [passage(space, "d1", "Anna Bell", "She met Karl Otto at the harbour.")]

        async def add_facts() -> None:
            await store.add_facts(space, stated, "model")

        async def add_sentences() -> None:
            await store.add_episodes(space, said)

        steps = [add_facts, add_sentences]
        for step in steps if first == "facts" else reversed(steps):
            # Twice, because the store remembers from the first search which lists are empty.
            await search(store, space, "harbour")
            await search(store, space, "harbour")
            await step()
        for _ in range(2):
            found = await search(store, space, "harbour")
            assert (len(found.text), len(found.sentences), found.state.vectors) == (1, 1, 1)

    async def test_searches_of_a_space_without_facts_return_its_revision(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        said = passage(space, "d1", "Anna Bell", "She met Karl Otto at the harbour.")
        revision = (await store.add_episodes(space, [said])).revision
        for question in ("harbour", "harbour", "of the", "nothing"):
            state = (await search(store, space, question)).state
            assert (state.revision, state.vectors, state.model) == (revision, 0, "")

    async def test_a_vector_search_finds_the_nearest_facts_valid_at_the_time(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        old = fact("Aaa", "IS", "Bbb", embedding=unit(1, 0.1), invalid_at=day("2020-01-01"))
        near = fact("Aaa", "IS", "Ccc", embedding=unit(1, 0.2))
        far = fact("Aaa", "IS", "Ddd", embedding=unit(0, 1))
        await store.add_facts(space, [old, near, far], "model")
        for exact in (True, False):
            found = await store.search_vector(space, unit(1), at("2021-01-01"), 5, exact=exact)
            assert [one.target.name for one in await in_full(store, space, found)] == ["Ccc", "Ddd"]
            assert found[0].score == pytest.approx(unit(1, 0.2)[0], abs=0.01)

    @pytest.mark.parametrize("exact", [True, False])
    async def test_a_relation_filter_applies_before_vectors_are_ranked(
        self, store: GraphStore, exact: bool
    ) -> None:
        space = new_space()
        near = [
            fact("Aaa", "IS", f"Near {number}", embedding=unit(1, 0.01 * number))
            for number in range(60)
        ]
        far = fact("Aaa", "Was_Once", "Far Away", embedding=unit(0.1, 1))
        await store.add_facts(space, [*near, far], "model")
        only = replace(ALWAYS, relation="was_ONCE")
        found = await store.search_vector(space, unit(1), only, 1, exact=exact)
        assert [one.target.name for one in await in_full(store, space, found)] == ["Far Away"]

    async def test_facts_of_another_space_are_never_found(self, store: GraphStore) -> None:
        await owners(store)
        empty = new_space()
        found = await search(store, empty, "who owns the Payments Service")
        assert (found.text, found.entity, found.sentences, found.state.revision) == ([], [], [], 0)
        assert await listed(store, empty) == []

    async def test_a_neighborhood_lists_stated_facts_first_and_counts_all_neighbors(
        self, store: GraphStore
    ) -> None:
        space = await owners(store)
        text = "He likes Zoe Zimmer. He met Zoe Zimmer. He knows Yan Young."
        await store.add_episodes(space, [passage(space, "d1", "Karl Otto", text)])
        found = await store.neighborhood(space, "karl otto", "", 3, ALWAYS)
        names = [node.name for node in found.nodes]
        assert names == ["Ledger Handbook", "Payments Service", "Zoe Zimmer"]
        assert found.total == 4
        assert [edge.origin for edge in found.edges[-2:]] == [Origin.LOCAL, Origin.LOCAL]

    @pytest.mark.parametrize("gaps", ["none", 3.0, True])
    async def test_facts_may_have_attributes_named_like_properties_of_co_occurrences(
        self, store: GraphStore, gaps: Scalar
    ) -> None:
        space = new_space()
        value: dict[str, Scalar] = {"gaps": gaps, "sentence_uuid": "1", "kind": 7, "local": False}
        stated = fact("Anna Bell", "KNOWS", "Karl Otto", valid_at=day("2020-01-01"))
        await store.add_facts(space, [replace(stated, attributes=value)], "")
        await store.add_episodes(space, [passage(space, "d1", "Anna Bell", "She met Karl Otto.")])
        for only in (ALWAYS, at("2021-01-01")):
            found = await store.neighborhood(space, "anna bell", "", 5, only)
            assert [edge.origin for edge in found.edges] == [Origin.GIVEN, Origin.LOCAL]

    @pytest.mark.parametrize("name", [".*", "') match (n) detach delete n //", "karl", "nobody"])
    async def test_a_neighborhood_requires_the_exact_name(
        self, store: GraphStore, name: str
    ) -> None:
        space = await owners(store)
        with pytest.raises(NotFoundError):
            await store.neighborhood(space, name, "", 10, ALWAYS)

    async def test_stats_count_episodes_facts_and_entities(self, store: GraphStore) -> None:
        space = await owners(store)
        await store.add_episodes(space, [passage(space, "d1", "Karl Otto", "He met Zoe Zimmer.")])
        stats = await store.stats(space)
        assert (stats.episodes, stats.facts, stats.local_facts, stats.entities) == (1, 4, 1, 6)
        assert stats.revision == 2
        assert stats.last_write is not None
