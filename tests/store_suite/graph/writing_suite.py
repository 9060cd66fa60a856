"""The contract of graph stores for adding and deleting episodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.graph_query.core.domain import DeletionCounts, FactFilter
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.store import GraphStore
from tests.store_suite.graph.builders import fact, listed, new_space, passage

ALWAYS = FactFilter(-OPEN, OPEN)


class WritingSuite:
    """Adding and deleting episodes."""

    async def test_a_passage_creates_entities_for_its_title_and_the_names_in_its_sentences(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        text = "Lothair II was a son of Ermengarde of Tours. He was married to Teutberga."
        counts = await store.add_episodes(space, [passage(space, "d1", "Lothair II", text)])
        assert (counts.episodes, counts.entities, counts.mentions) == (1, 3, 3)
        assert counts.local_facts == 2
        names = [one.name for one in await listed(store, space)]
        assert names == ["Ermengarde of Tours", "Lothair II", "Teutberga"]

    async def test_adding_the_same_passage_again_changes_nothing(self, store: GraphStore) -> None:
        space = new_space()
        one = passage(space, "d1", "Lothair II", "He was married to Teutberga.")
        first = await store.add_episodes(space, [one])
        counts = await store.add_episodes(space, [one])
        assert counts == type(counts)(revision=first.revision)
        assert (await store.stats(space)).episodes == 1

    async def test_a_title_added_later_is_found_in_older_passages(self, store: GraphStore) -> None:
        space = new_space()
        text = "Later the team moved to nats streaming core, which Karl Otto knows."
        await store.add_episodes(space, [passage(space, "d1", "Queue", text)])
        before = await store.neighborhood(space, "queue", "", 10, ALWAYS)
        assert [node.name for node in before.nodes] == ["Karl Otto"]
        title = passage(space, "d2", "Nats Streaming Core", "A decision.")
        assert (await store.add_episodes(space, [title])).mentions == 2
        after = await store.neighborhood(space, "queue", "", 10, ALWAYS)
        assert [node.name for node in after.nodes] == ["Karl Otto", "Nats Streaming Core"]
        await store.delete_episodes(space, [title.uuid])
        undone = await store.neighborhood(space, "queue", "", 10, ALWAYS)
        assert undone == before

    async def test_a_passage_with_another_title_replaces_the_previous_one(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Old Name", "It knows Teutberga.")
        await store.add_episodes(space, [one])
        counts = await store.add_episodes(space, [replace(one, title="New Name")])
        assert counts.episodes == 0
        names = [found.name for found in await listed(store, space)]
        assert names == ["New Name", "Teutberga"]

    async def test_deleting_all_episodes_leaves_an_empty_graph(self, store: GraphStore) -> None:
        space = new_space()
        passages = [
            passage(space, "d1", "Lothair II", "He was married to Teutberga."),
            passage(space, "d2", "Teutberga", "She was married to Lothair II."),
        ]
        await store.add_episodes(space, passages)
        counts = await store.delete_episodes(space, [one.uuid for one in passages])
        assert counts == DeletionCounts(episodes=2, facts=0, local_facts=2, mentions=4, entities=2)
        stats = await store.stats(space)
        assert (stats.entities, stats.episodes, stats.local_facts) == (0, 0, 0)

    @pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
    async def test_a_name_is_spelled_as_in_its_title_else_as_in_facts_else_as_in_texts(
        self, store: GraphStore, order: tuple[int, ...]
    ) -> None:
        space = new_space()
        text = passage(space, "d1", "Note", "Later NATS STREAM came.")
        titled = passage(space, "d2", "Nats Stream", "A decision.")
        stated = fact("nats STREAM", "IS", "Chosen Queue")
        for place in order:
            if place == 1:
                await store.add_facts(space, [stated], "")
            else:
                await store.add_episodes(space, [titled if place else text])
        for expected, gone in (("Nats Stream", titled), ("nats STREAM", text)):
            found = await store.neighborhood(space, "nats stream", "", 10, ALWAYS)
            assert found.center.name == expected
            await store.delete_episodes(space, [gone.uuid])

    async def test_deleting_an_unknown_episode_deletes_nothing(self, store: GraphStore) -> None:
        space = new_space()
        unknown = passage(space, "d1", "Nobody", "Nothing.").uuid
        assert await store.delete_episodes(space, [unknown]) == DeletionCounts()

    async def test_facts_are_deleted_with_the_last_document_that_states_them(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        one = passage(space, "d1", "Note", "Anna Bell owns the Payments Service.")
        await store.add_episodes(space, [one])
        claimed = fact("Anna Bell", "OWNS", "Payments Service", document_id="d1")
        free = fact("Anna Bell", "KNOWS", "Karl Otto")
        await store.add_facts(space, [claimed, free], "")
        counts = await store.delete_episodes(space, [one.uuid])
        assert counts.facts == 1
        stats = await store.stats(space)
        assert (stats.facts, stats.entities) == (1, 2)
