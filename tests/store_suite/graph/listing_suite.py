"""The contract of graph stores for listings of entities."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.graph_query.core.domain import (
    FIRST_ENTITY,
    Entity,
    EntityListing,
    EntityName,
    EntityOrder,
    EntityPage,
    Passage,
)
from services.graph_query.core.store import GraphStore
from tests.store_suite.graph.builders import fact, listed, new_space, passage

BY_MENTIONS = EntityListing(order=EntityOrder.MENTIONS)


async def pages(
    store: GraphStore, space: str, listing: EntityListing, size: int
) -> list[Sequence[Entity]]:
    """Returns all pages of a listing."""
    found = []
    page = EntityPage((), FIRST_ENTITY)
    while page.next is not None:
        page = await store.list_entities(space, listing, page.next, size)
        found.append(page.entities)
    return found


async def everything(
    store: GraphStore, space: str, listing: EntityListing = BY_MENTIONS
) -> list[tuple[str, int]]:
    """Returns the names and mention counts of a whole listing, read in pages."""
    found = await pages(store, space, listing, 2)
    return [(one.name, one.mentions) for page in found for one in page]


def three_notes(space: str) -> list[Passage]:
    """Builds three notes: Karl Otto is named in each, Mira Okafor in two, Zoe Zimmer in one."""
    texts = [
        "We met Karl Otto and Mira Okafor and Zoe Zimmer.",
        "We met Mira Okafor, then Karl Otto.",
        "We met Karl Otto.",
    ]
    return [
        passage(space, f"d{number}", f"Harbour Note {number}", text)
        for number, text in enumerate(texts)
    ]


class ListingSuite:
    """Listings of entities."""

    async def test_pages_contain_every_entity_exactly_once(self, store: GraphStore) -> None:
        space = new_space()
        names = [f"Item {number:02}" for number in range(7)]
        await store.add_facts(space, [fact(name, "IS", "Thing Kind") for name in names], "")
        for order in EntityOrder:
            found = await pages(store, space, EntityListing(order=order), 3)
            assert [one.name for page in found for one in page] == [*names, "Thing Kind"]
            assert [len(page) for page in found] == [3, 3, 2]

    async def test_an_entity_respelled_between_pages_is_neither_skipped_nor_repeated(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        names = ["ITEM ONE", "Item Two", "item six"]
        await store.add_facts(space, [fact(name, "IS", "Thing Kind") for name in names], "")
        first = await store.list_entities(space, EntityListing(), FIRST_ENTITY, 2)
        assert [one.name for one in first.entities] == ["ITEM ONE", "item six"]
        respelled = [
            fact(name, "IS", "Thing Kind", document_id="d") for name in ("Item One", "Item Six")
        ]
        await store.add_facts(space, respelled, "")
        assert first.next is not None
        rest = await store.list_entities(space, EntityListing(), first.next, 9)
        assert [one.name for one in rest.entities] == ["Item Two", "Thing Kind"]
        whole = await listed(store, space)
        assert [one.name for one in whole[:2]] == ["Item One", "Item Six"]

    async def test_entities_are_ordered_by_mentions_then_by_name(self, store: GraphStore) -> None:
        space = new_space()
        await store.add_episodes(space, three_notes(space))
        await store.add_facts(space, [fact("Anna Bell", "KNOWS", "Karl Otto")], "")
        assert await everything(store, space) == [
            ("Karl Otto", 3),
            ("Mira Okafor", 2),
            ("Harbour Note 0", 1),
            ("Harbour Note 1", 1),
            ("Harbour Note 2", 1),
            ("Zoe Zimmer", 1),
            ("Anna Bell", 0),
        ]

    async def test_replaced_and_deleted_mentions_are_not_counted(self, store: GraphStore) -> None:
        space = new_space()
        notes = three_notes(space)
        await store.add_episodes(space, notes)
        await store.delete_episodes(space, [notes[0].uuid])
        changed = passage(space, "d1", "Harbour Note 1", "We met Mira Okafor.")
        await store.add_episodes(space, [changed])
        assert await everything(store, space) == [
            ("Harbour Note 1", 1),
            ("Harbour Note 2", 1),
            ("Karl Otto", 1),
            ("Mira Okafor", 1),
        ]

    async def test_mentions_in_texts_older_than_the_name_are_counted(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        said = passage(space, "d1", "Harbour Note", "we use order streams at night.")
        await store.add_episodes(space, [said])
        await store.add_facts(space, [fact("order streams at night", "IS", "Habit Kind")], "")
        assert ("order streams at night", 1) in await everything(store, space)

    async def test_document_titles_are_marked_and_can_be_excluded_or_listed_alone(
        self, store: GraphStore
    ) -> None:
        space = new_space()
        notes = [
            passage(space, "d1", "Ledger Service", "It was built by Mira Okafor.", 0),
            passage(space, "d1", "Ledger Service", "It is kept by Karl Otto.", 1),
            passage(space, "d2", "Billing Service", "It calls the Ledger Service."),
            passage(space, "d3", "Harbour Note", "We met Karl Otto."),
            passage(space, "d4", "Payments Service", "It was built by Mira Okafor."),
        ]
        await store.add_episodes(space, notes)
        await store.add_facts(space, [fact("Anna Bell", "OWNS", "Payments Service")], "")
        titles, things = (
            ["Billing Service", "Harbour Note"],
            [
                "Ledger Service",
                "Karl Otto",
                "Mira Okafor",
                "Payments Service",
                "Anna Bell",
            ],
        )
        for order in EntityOrder:
            only = EntityListing(order=order, document_titles=True)
            without = EntityListing(order=order, document_titles=False)
            assert [name for name, _ in await everything(store, space, only)] == titles
            found = [name for name, _ in await everything(store, space, without)]
            assert found == (things if order is EntityOrder.MENTIONS else sorted(things))
        marks = {one.name: one.document_title for one in await listed(store, space)}
        assert marks == dict.fromkeys(titles, True) | dict.fromkeys(things, False)

    async def test_a_type_filter_applies_in_every_order(self, store: GraphStore) -> None:
        space = new_space()
        await store.add_episodes(space, three_notes(space))
        people = [EntityName(name, "Person") for name in ("Anna Bell", "Karl Otto", "Mira Okafor")]
        await store.add_facts(space, [fact(one, "WORKS_AT", "Guild Hall") for one in people], "")
        by_mentions = EntityListing("Person", EntityOrder.MENTIONS)
        assert [name for name, _ in await everything(store, space, by_mentions)] == [
            "Karl Otto",
            "Mira Okafor",
            "Anna Bell",
        ]
        by_name = [name for name, _ in await everything(store, space, EntityListing("Person"))]
        assert by_name == ["Anna Bell", "Karl Otto", "Mira Okafor"]

    @pytest.mark.parametrize("order", list(EntityOrder))
    async def test_writes_between_pages_neither_skip_nor_repeat_unaffected_entities(
        self, store: GraphStore, order: EntityOrder
    ) -> None:
        space = new_space()
        await store.add_episodes(space, three_notes(space))
        listing = EntityListing(order=order)
        before = [name for name, _ in await everything(store, space, listing)]
        seen, page, number = [], EntityPage((), FIRST_ENTITY), 0
        while page.next is not None:
            page = await store.list_entities(space, listing, page.next, 1)
            seen += [one.name for one in page.entities]
            number += 1
            texts = [f"We met Aaron Early{number} and Zeno Zuletzt{number}."] * 2
            written = [
                passage(space, f"new{number}", "Harbour Diary", text, part)
                for part, text in enumerate(texts)
            ]
            await store.add_episodes(space, written)
        assert [name for name in seen if name in before] == before
        assert len(seen) == len(set(seen))

    async def test_homonyms_of_several_types_are_listed_separately(self, store: GraphStore) -> None:
        space = new_space()
        kinds = [EntityName("Mercury", kind) for kind in ("Metal", "Planet", "Team")]
        await store.add_facts(space, [fact(one, "IS", "Known Thing") for one in kinds], "")
        for order in EntityOrder:
            found = await pages(store, space, EntityListing(order=order), 1)
            types = [one.type for page in found for one in page if one.name == "Mercury"]
            assert sorted(types) == ["Metal", "Planet", "Team"]
