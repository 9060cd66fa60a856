"""The contract of graph stores for given facts."""

from __future__ import annotations

import pytest

from services.graph_query.core.domain import EntityName
from services.graph_query.core.store import GraphStore
from services.runtime.errors import WrongStateError
from tests.store_suite.graph.builders import ALWAYS, day, fact, listed, new_space, passage, unit

PERSON = "Person"


class FactsSuite:
    """Adding facts."""

    async def test_adding_the_same_facts_again_changes_nothing(self, store: GraphStore) -> None:
        space = new_space()
        facts = [fact("Anna Bell", "OWNS", "Payments"), fact("Karl Otto", "OWNS", "Ledger")]
        first = await store.add_facts(space, facts, "")
        again = await store.add_facts(space, facts, "")
        assert (first.added, first.unchanged) == (2, 0)
        assert (again.added, again.unchanged) == (0, 2)
        assert again.revision == first.revision

    async def test_the_same_statement_for_a_second_period_is_a_second_fact(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        first = fact(
            "Anna Bell", "LEADS", "Guild", valid_at=day("2020-01-01"), invalid_at=day("2021-01-01")
        )
        second = fact("Anna Bell", "LEADS", "Guild", valid_at=day("2023-01-01"))
        assert (await store.add_facts(space, [first, second], "")).added == 2

    async def test_an_untyped_entity_adopts_the_type_that_a_fact_states(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        await store.add_episodes(space, [passage(space, "d1", "Anna Bell", "She owns it.")])
        typed = fact(EntityName("anna  BELL", PERSON), "OWNS", "Payments")
        await store.add_facts(space, [typed], "")
        people = await listed(store, space, PERSON)
        assert [(one.name, one.type, one.mentions) for one in people] == [("Anna Bell", PERSON, 1)]
        assert (await store.stats(space)).entities_by_type == {"": 1, PERSON: 1}

    async def test_one_name_with_two_types_is_two_entities(self, store: GraphStore) -> None:
        space = new_space()
        facts = [
            fact(EntityName("Mercury", "Planet"), "ORBITS", "Sun Star"),
            fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometers"),
        ]
        await store.add_facts(space, facts, "")
        found = await store.neighborhood(space, "mercury", "Element", 10, ALWAYS)
        assert [node.name for node in found.nodes] == ["Old Thermometers"]
        assert [other.type for other in found.homonyms] == ["Planet"]

    @pytest.mark.parametrize("kinds", [("Element", "Planet", ""), ("", "Planet", "Element")])
    async def test_an_untyped_name_means_the_alphabetically_first_type_in_any_order_of_writes(
        self, store: GraphStore, kinds: tuple[str, ...]
    ) -> None:
        space = new_space()
        for kind in kinds:
            result = fact(EntityName("Mercury", kind), "IS_KIND", f"Kind {kind or 'Unknown'}")
            await store.add_facts(space, [result], "")
        found = await store.neighborhood(space, "mercury", "Element", 10, ALWAYS)
        assert {node.name for node in found.nodes} == {"Kind Element", "Kind Unknown"}
        assert (await store.stats(space)).facts == 3

    async def test_a_type_is_removed_with_the_last_document_that_states_it(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Mercury Star is here.")
        await store.add_episodes(space, [note])
        typed = fact(EntityName("Mercury Star", "Planet"), "IS", "Bright Thing", document_id="d1")
        plain = fact("Mercury Star", "IS", "Old Thing")
        await store.add_facts(space, [typed, plain], "")
        await store.delete_episodes(space, [note.uuid])
        assert (await store.stats(space)).entities_by_type == {"": 2}

    async def test_a_fact_also_stated_without_a_document_outlives_its_document(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Anna Bell owns the Payments Service.")
        await store.add_episodes(space, [note])
        for document in ("d1", ""):
            result = fact("Anna Bell", "OWNS", "Payments Service", document_id=document)
            await store.add_facts(space, [result], "")
        assert (await store.delete_episodes(space, [note.uuid])).facts == 0
        found = await store.neighborhood(space, "anna bell", "", 10, ALWAYS)
        assert [edge.citations for edge in found.edges] == [()]

    @pytest.mark.parametrize("documents_first", [True, False])
    async def test_a_fact_cites_the_chunk_that_names_both_entities_in_any_order_of_writes(
        self, store: GraphStore, documents_first: bool
    ) -> None:
        space = new_space()
        chunks = [
            passage(space, "d1", "Note", "Nothing of interest here.", 0),
            passage(space, "d1", "Note", "Anna Bell owns the Payments Service.", 1),
        ]
        given = [fact("Anna Bell", "OWNS", "Payments Service", document_id="d1")]
        if documents_first:
            await store.add_episodes(space, chunks)
        await store.add_facts(space, given, "")
        if not documents_first:
            await store.add_episodes(space, chunks)
        found = await store.neighborhood(space, "anna bell", "", 10, ALWAYS)
        assert [cited.chunk_id for cited in found.edges[0].citations] == [chunks[1].uuid]

    async def test_vectors_of_another_model_are_refused(self, store: GraphStore) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Aaa Bbb", "IS", "Ccc Ddd", embedding=unit(1))], "one")
        with pytest.raises(WrongStateError):
            await store.add_facts(
                space, [fact("Eee Fff", "IS", "Ggg Hhh", embedding=unit(1))], "two"
            )

    async def test_names_that_look_like_queries_are_treated_as_names(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        names = [".*", "') MATCH (n) DETACH DELETE n //", "`x`", 'a"b\\', "C++", "line\nbreak"]
        facts = [fact(EntityName(name), "LIKES", "Plain Name") for name in names]
        assert (await store.add_facts(space, facts, "")).added == len(names)
        found = await store.neighborhood(space, "plain name", "", 10, ALWAYS)
        assert found.total == len(names)
