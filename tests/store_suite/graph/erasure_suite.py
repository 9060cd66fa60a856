"""The contract of graph stores for erased documents: an end that only they stated was never known."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Protocol

from services.graph_query.core.domain import EntityName, Passage
from services.graph_query.core.full_text import query_terms
from services.graph_query.episodes.extraction_result import (
    Contradicted,
    ExtractionResult,
    Supported,
)
from services.graph_query.history.domain import Scope
from services.graph_query.search.as_known import AsKnownStore, Known
from tests.store_suite.graph.builders import ALWAYS, day, fact, new_space, passage
from tests.store_suite.graph.inventory_suite import Store as Inventory
from tests.store_suite.graph.inventory_suite import deletion, last_write_time

OWNS = fact("Anna Bell", "OWNS", "Payments")
ORBITS = fact(EntityName("Mercury", "Planet"), "ORBITS", "Sun Star")
OVER, SOONER = day("2020-01-01"), day("2015-01-01")


class Store(Inventory, Protocol):
    """A graph store with inventory and searches as known at a time."""

    @property
    def as_known(self) -> AsKnownStore: ...


def note(space: str, document: str) -> Passage:
    return passage(space, document, "Note", f"Nothing of {document}.")


async def only_fact(store: Store, space: str) -> str:
    (found,) = await store.history.list_facts(space, Scope(), ALWAYS, None, 10)
    return found.uuid


async def ends_known(store: Store, space: str, known: float) -> list[datetime | None]:
    """Returns the ends of the facts as known at an instant."""
    facts = await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 10)
    return [one.invalid_at for one in facts]


async def end(store: Store, space: str, document: str, at: datetime = OVER) -> float:
    """Ends the only fact by an episode of a document; returns the time of the write."""
    over = Contradicted(await only_fact(store, space), at)
    reading = ExtractionResult(contradicted=(over,))
    await store.extractions.add_extraction(space, note(space, document), reading, "")
    return await last_write_time(store, space)


async def erase(store: Store, space: str, document: str) -> int:
    """Erases a document; returns how many past versions were deleted."""
    counts, _ = await store.inventory.delete_document(space, document, deletion())
    return counts.versions


class ErasureSuite:
    """Ends of facts that erased documents had stated."""

    async def test_an_end_from_a_previously_deleted_chunk_is_erased_with_the_document(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [OWNS], "")
        known = await end(store, space, "d2")
        await store.delete_episodes(space, [note(space, "d2").uuid])
        assert await ends_known(store, space, known) == [OVER]
        assert await erase(store, space, "d2") == 1
        assert await ends_known(store, space, known) == [None]
        assert await ends_known(store, space, await last_write_time(store, space)) == [None]

    async def test_an_end_from_a_chunks_earlier_text_is_erased_with_the_document(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [OWNS], "")
        known = await end(store, space, "d2")
        changed = replace(note(space, "d2"), content="Something else.")
        await store.extractions.add_extraction(space, changed, ExtractionResult(), "")
        assert await erase(store, space, "d2") == 1
        assert await ends_known(store, space, known) == [None]

    async def test_the_end_of_a_fact_that_moved_since_is_erased_with_the_document(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [ORBITS], "")
        before = await only_fact(store, space)
        known = await end(store, space, "d2")
        element = fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometer")
        await store.add_facts(space, [element], "")
        moved = await last_write_time(store, space)
        await erase(store, space, "d2")
        assert await ends_known(store, space, known) == [None]
        assert await ends_known(store, space, moved) == [None, None]
        versions = await store.history.versions(space, before, 10)
        assert [one.fact.invalid_at for one in versions] == [None]

    async def test_a_fact_that_moves_while_its_end_is_erased_is_valid_again(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [ORBITS], "")
        one = note(space, "d2")
        element = fact(EntityName("Mercury", "Element"), "IS_IN", "Old Thermometer")
        reading = ExtractionResult(
            facts=(replace(element, episode_id=one.uuid),),
            contradicted=(Contradicted(await only_fact(store, space), OVER),),
        )
        await store.extractions.add_extraction(space, one, reading, "")
        known = await last_write_time(store, space)
        assert OVER in await ends_known(store, space, known)
        await erase(store, space, "d2")
        assert await ends_known(store, space, await last_write_time(store, space)) == [None]
        assert OVER not in await ends_known(store, space, known)

    async def test_ends_set_by_a_caller_stay_known_when_a_document_is_erased(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [OWNS], "")
        owns, one = await only_fact(store, space), note(space, "d2")
        reading = ExtractionResult(
            supported=(Supported(owns, replace(OWNS, episode_id=one.uuid)),),
            contradicted=(Contradicted(owns, OVER),),
        )
        await store.extractions.add_extraction(space, one, reading, "")
        known = []
        for at in (day("2016-01-01"), day("2017-01-01")):
            await store.end_fact(space, owns, at)
            known.append(await last_write_time(store, space))
        await erase(store, space, "d2")
        assert await ends_known(store, space, known[0]) == [day("2016-01-01")]
        assert await ends_known(store, space, known[1]) == [day("2017-01-01")]

    async def test_an_end_stated_by_two_documents_is_known_until_both_are_erased(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [OWNS], "")
        known = [await end(store, space, document) for document in ("d2", "d3")]
        await erase(store, space, "d2")
        known.append(await last_write_time(store, space))
        assert await ends_known(store, space, known[-1]) == [OVER]
        await erase(store, space, "d3")
        assert [await ends_known(store, space, one) for one in known] == [[None]] * 3

    async def test_erasing_an_earlier_end_restores_the_end_that_was_known_before(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_facts(space, [OWNS], "")
        first = await end(store, space, "d2")
        second = await end(store, space, "d3", SOONER)
        assert await ends_known(store, space, second) == [SOONER]
        await erase(store, space, "d3")
        assert await ends_known(store, space, first) == [OVER]
        assert await ends_known(store, space, second) == [OVER]

    async def test_a_fact_added_as_ended_by_an_erased_document_was_known_without_an_end(
        self, store: Store
    ) -> None:
        space = new_space()
        one = note(space, "d1")
        reading = ExtractionResult(facts=(replace(OWNS, episode_id=one.uuid),))
        await store.extractions.add_extraction(space, one, reading, "")
        await end(store, space, "d2")
        await store.delete_episodes(space, [one.uuid])
        await store.extractions.add_extraction(space, one, reading, "")
        known = await last_write_time(store, space)
        assert await ends_known(store, space, known) == [OVER]
        await erase(store, space, "d2")
        assert await ends_known(store, space, known) == [None]

    async def test_a_removed_fact_is_found_as_known_before_after_its_end_is_erased(
        self, store: Store
    ) -> None:
        space = new_space()
        await store.add_episodes(space, [note(space, "d2")])
        await store.add_facts(space, [replace(OWNS, document_id="d2")], "")
        stated, owns = await last_write_time(store, space), await only_fact(store, space)
        ended = await end(store, space, "d1")
        await store.delete_episodes(space, [note(space, "d2").uuid])
        assert await erase(store, space, "d1") == 1
        for known in (stated, ended):
            then = Known(ALWAYS, known, 10)
            found = await store.as_known.search_words_known(space, query_terms("owns"), [], then)
            assert [hit.uuid for hit in found.text] == [owns]
            assert await ends_known(store, space, known) == [None]
