"""The contract of graph stores for spaces that use the same ids: they are independent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.graph_query.core.domain import DeletionCounts
from services.graph_query.core.store import GraphStore
from services.runtime.errors import NotFoundError
from tests.store_suite.graph.builders import ALWAYS, fact, listed, new_space, passage


async def names(store: GraphStore, space: str) -> list[str]:
    """Returns the names of the space's entities."""
    return [one.name for one in await listed(store, space)]


class SpacesSuite:
    """Two spaces that use the same ids."""

    async def test_an_episode_id_can_be_used_by_two_spaces_for_different_texts(
        self, store: GraphStore
    ) -> None:
        ours, theirs = new_space(), new_space()
        one = passage(ours, "d1", "Lothair II", "He was married to Teutberga.")
        other = replace(one, title="Karl Otto", content="He met Anna Bell.")
        first = await store.add_episodes(ours, [one])
        assert await store.add_episodes(theirs, [other]) == first
        assert await names(store, ours) == ["Lothair II", "Teutberga"]
        assert await names(store, theirs) == ["Anna Bell", "Karl Otto"]

    async def test_the_same_passage_is_stored_separately_in_each_space(
        self, store: GraphStore
    ) -> None:
        ours, theirs = new_space(), new_space()
        one = passage(ours, "d1", "Lothair II", "He was married to Teutberga.")
        for space in (ours, theirs):
            assert (await store.add_episodes(space, [one])).episodes == 1
            assert (await store.add_episodes(space, [one])).episodes == 0
        near = [
            await store.neighborhood(space, "teutberga", "", 9, ALWAYS) for space in (ours, theirs)
        ]
        assert len({found.center.uuid for found in near}) == 2
        assert len({edge.uuid for found in near for edge in found.edges}) == 2
        cited = [found.edges[0].citations[0].chunk_id for found in near]
        assert cited == [one.uuid, one.uuid]

    async def test_replacing_or_deleting_an_episode_leaves_the_other_space_unchanged(
        self, store: GraphStore
    ) -> None:
        ours, theirs = new_space(), new_space()
        one = passage(ours, "d1", "Lothair II", "He was married to Teutberga.")
        stated = fact("Lothair II", "MARRIED", "Teutberga", document_id="d1")
        for space in (ours, theirs):
            await store.add_episodes(space, [one])
            await store.add_facts(space, [stated], "")
        before = await store.stats(ours), await store.neighborhood(ours, "teutberga", "", 9, ALWAYS)
        await store.add_episodes(theirs, [replace(one, title="Karl Otto", content="He is late.")])
        assert (
            await store.stats(ours),
            await store.neighborhood(ours, "teutberga", "", 9, ALWAYS),
        ) == before
        assert (await store.delete_episodes(theirs, [one.uuid])).episodes == 1
        assert (
            await store.stats(ours),
            await store.neighborhood(ours, "teutberga", "", 9, ALWAYS),
        ) == before
        assert (await store.stats(theirs)).episodes == 0

    async def test_episodes_and_entities_of_another_space_are_neither_deleted_nor_found(
        self, store: GraphStore
    ) -> None:
        ours, theirs = new_space(), new_space()
        one = passage(ours, "d1", "Lothair II", "He was married to Teutberga.")
        await store.add_episodes(ours, [one])
        assert await store.delete_episodes(theirs, [one.uuid]) == DeletionCounts()
        with pytest.raises(NotFoundError):
            await store.neighborhood(theirs, "teutberga", "", 9, ALWAYS)
        assert (await store.stats(ours)).episodes == 1
