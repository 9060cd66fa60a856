"""The contract of graph stores for the inventory of ids and for deletions of whole documents."""

from __future__ import annotations

import uuid
from typing import Protocol

from services.graph_query.core.domain import FIRST, DeletionCounts
from services.graph_query.core.identity import document_uuid
from services.graph_query.core.store import GraphStore
from services.graph_query.episodes.extraction_result import (
    Contradicted,
    ExtractionResult,
    ExtractionStore,
)
from services.graph_query.history.domain import HistoryStore, Scope
from services.graph_query.inventory.domain import EPISODES_AT_ONCE, InventoryStore
from tests.store_suite.graph.builders import ALWAYS, day, fact, listed, new_space, passage


class Store(GraphStore, Protocol):
    """A graph store with inventory, histories and extractions."""

    @property
    def inventory(self) -> InventoryStore: ...

    @property
    def history(self) -> HistoryStore: ...

    @property
    def extractions(self) -> ExtractionStore: ...


def deletion() -> str:
    """Returns the id of a deletion that no other test uses."""
    return str(uuid.uuid4())


class InventorySuite:
    """Listings of ids, and deletions of documents."""

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

    async def test_scanning_connected_entities_finds_no_unconnected_ones(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Ada", "KNOWS", "Bob"), fact("Ada", "KNOWS", "Eve")], "")
        page = await store.inventory.unjoined_entities(space, FIRST, 2)
        assert (page.unjoined, page.looked_through, page.last[0]) == ([], 2, "Bob")
        rest = await store.inventory.unjoined_entities(space, page.last, 2)
        assert (rest.unjoined, rest.looked_through, rest.last[0]) == ([], 1, "Eve")
        joined = [entity.uuid for entity in await listed(store, space)]
        assert await store.inventory.delete_unjoined(space, joined) == 0
        assert (await store.stats(space)).entities == 3

    async def test_deleting_a_document_removes_its_episodes_and_what_only_it_states(
        self, store: Store
    ) -> None:
        space = new_space()
        both = [
            passage(space, "mine", "Ada", "Ada met Bob. Carl was away.", 0),
            passage(space, "mine", "Ada", "Later Ada met Carl.", 1),
            passage(space, "other", "Bob", "Bob met Ada.", 2),
        ]
        await store.add_episodes(space, both)
        rows = [
            fact("Ada", "KNOWS", "Bob", document_id="mine"),
            fact("Ada", "KNOWS", "Dora", document_id="mine"),
            fact("Ada", "KNOWS", "Bob", document_id="other"),
        ]
        await store.add_facts(space, rows, "")
        counts, ended = await store.inventory.delete_document(space, "mine", deletion())
        assert ended
        assert (counts.episodes, counts.facts) == (2, 1)
        assert counts.entities >= 1
        assert await store.inventory.list_documents(space, "", 9) == ["other"]
        stats = await store.stats(space)
        assert (stats.episodes, stats.facts) == (1, 1)

    async def test_deleting_a_document_without_episodes_removes_its_facts(
        self, store: Store
    ) -> None:
        space = new_space()
        rows = [
            fact("Ada", "KNOWS", "Bob", document_id="mine"),
            fact("Ada", "KNOWS", "Eve", document_id="other"),
        ]
        await store.add_facts(space, rows, "")
        counts, ended = await store.inventory.delete_document(space, "mine", deletion())
        assert ended
        assert counts == DeletionCounts(facts=1, entities=1)
        assert (await store.stats(space)).facts == 1

    async def test_a_repeated_deletion_returns_the_same_counts_and_keeps_later_writes(
        self, store: Store
    ) -> None:
        space, name = new_space(), deletion()
        given = [passage(space, "d", "Ada", "Ada met Bob.")]
        await store.add_episodes(space, given)
        first = await store.inventory.delete_document(space, "d", name)
        await store.add_episodes(space, given)
        assert await store.inventory.delete_document(space, "d", name) == first
        assert (await store.stats(space)).episodes == 1

    async def test_a_large_document_is_deleted_in_parts_with_cumulative_counts(
        self, store: Store
    ) -> None:
        space, name = new_space(), deletion()
        number = EPISODES_AT_ONCE + 20
        given = [passage(space, "d", "", "Nothing of note here.", n) for n in range(number)]
        await store.add_episodes(space, given)
        counts, ended = await store.inventory.delete_document(space, "d", name)
        assert (counts.episodes, ended) == (EPISODES_AT_ONCE, False)
        counts, ended = await store.inventory.delete_document(space, "d", name)
        assert (counts.episodes, ended) == (number, True)
        assert (await store.stats(space)).episodes == 0

    async def test_deleting_an_unknown_document_succeeds_and_removes_nothing(
        self, store: Store
    ) -> None:
        space, other = new_space(), new_space()
        await store.add_episodes(space, [passage(space, "d", "Ada", "Ada met Bob.")])
        removed = await store.inventory.delete_document(other, "d", deletion())
        assert removed == (DeletionCounts(), True)
        assert (await store.stats(space)).episodes == 1

    async def test_erasing_a_document_erases_the_past_versions_of_its_facts(
        self, store: Store
    ) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Nothing of interest.")
        await store.add_episodes(space, [note])
        result = fact("Anna Bell", "OWNS", "Payments", document_id="d1")
        await store.add_facts(space, [result], "")
        known = await last_write_time(store, space)
        (owns,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
        await store.end_fact(space, owns.uuid, day("2020-01-01"))
        counts, _ = await store.inventory.delete_document(space, "d1", deletion())
        assert (counts.facts, counts.versions) == (1, 1)
        assert await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 10) == []
        assert await store.history.versions(space, owns.uuid, 10) == []

    async def test_facts_removed_earlier_with_their_chunks_are_erased_with_the_document(
        self, store: Store
    ) -> None:
        space = new_space()
        note = passage(space, "d1", "Note", "Nothing of interest.")
        await store.add_episodes(space, [note])
        result = fact("Anna Bell", "OWNS", "Payments", document_id="d1")
        await store.add_facts(space, [result], "")
        known = await last_write_time(store, space)
        await store.delete_episodes(space, [note.uuid])
        past = Scope(known=known)
        assert len(await store.history.list_facts(space, past, ALWAYS, None, 10)) == 1
        counts, _ = await store.inventory.delete_document(space, "d1", deletion())
        assert (counts.facts, counts.versions) == (0, 1)
        assert await store.history.list_facts(space, past, ALWAYS, None, 10) == []

    async def test_facts_that_another_document_states_or_stated_stay_known(
        self, store: Store
    ) -> None:
        space = new_space()
        notes = [passage(space, one, "Note", f"Nothing of {one}.") for one in ("d1", "d2")]
        await store.add_episodes(space, notes)
        for note in notes:
            result = fact("Anna Bell", "OWNS", "Payments", document_id=note.document_id)
            await store.add_facts(space, [result], "")
        past = Scope(known=await last_write_time(store, space))
        counts, _ = await store.inventory.delete_document(space, "d1", deletion())
        assert (counts.facts, counts.versions) == (0, 0)
        assert len(await store.history.list_facts(space, Scope(), ALWAYS, None, 10)) == 1
        await store.delete_episodes(space, [notes[1].uuid])
        assert len(await store.history.list_facts(space, past, ALWAYS, None, 10)) == 1
        counts, _ = await store.inventory.delete_document(space, "d2", deletion())
        assert counts.versions == 1
        assert await store.history.list_facts(space, past, ALWAYS, None, 10) == []

    async def test_an_end_stated_by_an_erased_document_was_never_known(self, store: Store) -> None:
        space = new_space()
        note, later = (passage(space, one, "Note", f"Nothing of {one}.") for one in ("d1", "d2"))
        await store.add_episodes(space, [note])
        await store.add_facts(space, [fact("Anna Bell", "OWNS", "Payments", document_id="d1")], "")
        (owns,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
        over = Contradicted(owns.uuid, day("2020-01-01"))
        await store.extractions.add_extraction(
            space, later, ExtractionResult(contradicted=(over,)), ""
        )
        known = await last_write_time(store, space)
        counts, _ = await store.inventory.delete_document(space, "d2", deletion())
        assert (counts.facts, counts.revived, counts.versions) == (0, 1, 0)
        (then,) = await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 10)
        assert then.invalid_at is None
        versions = await store.history.versions(space, owns.uuid, 10)
        assert [one.fact.invalid_at for one in versions] == [None, None]


async def last_write_time(store: Store, space: str) -> float:
    """Returns the time of the last write to the space."""
    written = (await store.stats(space)).last_write
    assert written is not None
    return written.timestamp()
