"""Ids of what the graph holds, and deletions of whole documents: what both stores promise."""

from __future__ import annotations

import uuid
from typing import Protocol

from services.graph_query.domain import DeletionCounts
from services.graph_query.identity import document_uuid
from services.graph_query.inventory.store import EPISODES_AT_ONCE, FIRST, InventoryStore
from services.graph_query.store import GraphStore
from tests.store_suite.graph.builders import fact, new_space, passage


class Store(GraphStore, Protocol):
    """The graph with its inventory."""

    @property
    def inventory(self) -> InventoryStore: ...


def deletion() -> str:
    """The id of a deletion that no other test has."""
    return str(uuid.uuid4())


class InventorySuite:
    """What every store's inventory promises."""

    async def test_episodes_are_listed_by_uuid_in_pages_within_a_space(self, store: Store) -> None:
        space, other = new_space(), new_space()
        given = [passage(space, f"d{n % 2}", "Notes", f"Text {n}.", n) for n in range(5)]
        await store.add_episodes(space, given)
        await store.add_episodes(other, [passage(other, "d", "Notes", "Theirs.")])
        expected = sorted((one.uuid, one.document_id) for one in given)
        page = await store.inventory.list_episodes(space, "", 3)
        rest = await store.inventory.list_episodes(space, page[-1].uuid, 3)
        assert [*page, *rest] == expected
        assert await store.inventory.list_episodes(space, rest[-1].uuid, 3) == []

    async def test_episodes_are_found_by_uuid_within_a_space(self, store: Store) -> None:
        space = new_space()
        ours = passage(space, "d", "Notes", "Ours.")
        await store.add_episodes(space, [ours])
        asked = [str(uuid.uuid4()), ours.uuid]
        assert await store.inventory.find_episodes(space, asked) == [ours.uuid]
        assert await store.inventory.find_episodes(new_space(), asked) == []

    async def test_documents_are_listed_once_each_in_pages(self, store: Store) -> None:
        space = new_space()
        given = [passage(space, f"d{n % 3}", "Notes", f"Text {n}.", n) for n in range(6)]
        await store.add_episodes(space, given)
        page = await store.inventory.list_documents(space, "", 2)
        rest = await store.inventory.list_documents(space, page[-1], 2)
        ordered = sorted(("d0", "d1", "d2"), key=lambda one: document_uuid(space, one))
        assert [*page, *rest] == ordered
        assert await store.inventory.list_documents(new_space(), "", 2) == []

    async def test_entities_that_something_joins_are_looked_through_and_none_is_told(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Ada", "KNOWS", "Bob"), fact("Ada", "KNOWS", "Eve")], "")
        page = await store.inventory.unjoined_entities(space, FIRST, 2)
        assert (page.unjoined, page.looked_through, page.last[0]) == ([], 2, "Bob")
        rest = await store.inventory.unjoined_entities(space, page.last, 2)
        assert (rest.unjoined, rest.looked_through, rest.last[0]) == ([], 1, "Eve")
        joined = [entity.uuid for entity in await store.list_entities(space, "", ("", ""), 10)]
        assert await store.inventory.delete_unjoined(space, joined) == 0
        assert (await store.stats(space)).entities == 3

    async def test_deleting_a_document_removes_its_episodes_and_what_only_they_say(
        self, store: Store
    ) -> None:
        space = new_space()
        both = [
            passage(space, "mine", "Ada", "Ada met Bob. Carl was away.", 0),
            passage(space, "mine", "Ada", "Later Ada met Carl.", 1),
            passage(space, "other", "Bob", "Bob met Ada.", 2),
        ]
        await store.add_episodes(space, both)
        told = [
            fact("Ada", "KNOWS", "Bob", document_id="mine"),
            fact("Ada", "KNOWS", "Dora", document_id="mine"),
            fact("Ada", "KNOWS", "Bob", document_id="other"),
        ]
        await store.add_facts(space, told, "")
        counts, ended = await store.inventory.delete_document(space, "mine", deletion())
        assert ended
        assert (counts.episodes, counts.facts) == (2, 1)
        assert counts.entities >= 1
        assert await store.inventory.list_documents(space, "", 9) == ["other"]
        stats = await store.stats(space)
        assert (stats.episodes, stats.facts) == (1, 1)

    async def test_what_a_document_claims_goes_with_it_where_it_has_no_episode(
        self, store: Store
    ) -> None:
        space = new_space()
        told = [
            fact("Ada", "KNOWS", "Bob", document_id="mine"),
            fact("Ada", "KNOWS", "Eve", document_id="other"),
        ]
        await store.add_facts(space, told, "")
        counts, ended = await store.inventory.delete_document(space, "mine", deletion())
        assert ended
        assert counts == DeletionCounts(facts=1, entities=1)
        assert (await store.stats(space)).facts == 1

    async def test_a_deletion_sent_again_tells_the_same_and_spares_what_was_written_since(
        self, store: Store
    ) -> None:
        space, name = new_space(), deletion()
        given = [passage(space, "d", "Ada", "Ada met Bob.")]
        await store.add_episodes(space, given)
        first = await store.inventory.delete_document(space, "d", name)
        await store.add_episodes(space, given)
        assert await store.inventory.delete_document(space, "d", name) == first
        assert (await store.stats(space)).episodes == 1

    async def test_a_large_document_goes_in_parts_whose_counts_add_up(self, store: Store) -> None:
        space, name = new_space(), deletion()
        number = EPISODES_AT_ONCE + 20
        given = [passage(space, "d", "", "Nothing of note here.", n) for n in range(number)]
        await store.add_episodes(space, given)
        counts, ended = await store.inventory.delete_document(space, "d", name)
        assert (counts.episodes, ended) == (EPISODES_AT_ONCE, False)
        counts, ended = await store.inventory.delete_document(space, "d", name)
        assert (counts.episodes, ended) == (number, True)
        assert (await store.stats(space)).episodes == 0

    async def test_a_document_that_is_not_there_is_removed_already(self, store: Store) -> None:
        space, other = new_space(), new_space()
        await store.add_episodes(space, [passage(space, "d", "Ada", "Ada met Bob.")])
        removed = await store.inventory.delete_document(other, "d", deletion())
        assert removed == (DeletionCounts(), True)
        assert (await store.stats(space)).episodes == 1
