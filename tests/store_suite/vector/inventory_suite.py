"""The contract of vector stores for the inventory of ids and for repeated deletions."""

from __future__ import annotations

import uuid

import pytest

from services.runtime.errors import NotFoundError
from services.vector_search.domain import ChunkRef, Deletion, Model
from services.vector_search.store import Store
from tests.store_suite.vector.builders import MODEL, SPACE, contents, document, words, year

DELETION = str(uuid.uuid5(uuid.NAMESPACE_URL, "a deletion"))


class InventorySuite:
    """Listings of ids, and repeated deletions. Subclasses define the fixture `store`."""

    async def test_chunks_of_all_versions_are_listed_by_id_in_pages(self, store: Store) -> None:
        first = document("d", "one", "both", valid_time=year(2001))
        second = document("d", "two", "both", valid_time=year(2002))
        other = document("e", "three")
        for version in (first, second, other):
            await store.upsert(SPACE, MODEL, [version])
        expected = sorted(
            {ChunkRef(c.id, d.document_id) for d in (first, second, other) for c in d.chunks},
            key=lambda chunk: chunk.chunk_id,
        )
        page = await store.list_chunk_ids(SPACE, None, 3)
        rest = await store.list_chunk_ids(SPACE, page[-1].chunk_id, 3)
        assert [*page, *rest] == expected
        assert await store.list_chunk_ids(SPACE, rest[-1].chunk_id, 3) == []
        assert await store.list_chunk_ids("other", None, 3) == []

    async def test_chunks_and_documents_are_found_by_id_within_a_space(self, store: Store) -> None:
        new = document("d", "one", "two")
        await store.upsert(SPACE, MODEL, [new])
        ids = [chunk.id for chunk in new.chunks]
        unknown = str(uuid.uuid5(uuid.NAMESPACE_URL, "unknown"))
        assert await store.find_chunks(SPACE, [unknown, *ids]) == sorted(ids)
        assert await store.find_chunks("other", ids) == []
        assert await store.find_documents(SPACE, ["x", "d"]) == ["d"]
        assert await store.find_documents("other", ["d"]) == []

    async def test_a_document_that_is_valid_only_in_the_future_is_found(self, store: Store) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "later", valid_time=year(2999))])
        assert await store.find_documents(SPACE, ["d"]) == ["d"]

    async def test_a_repeated_deletion_returns_the_counts_of_the_first_call(
        self, store: Store
    ) -> None:
        first = document("d", "one", valid_time=year(2001))
        second = document("d", "two", valid_time=year(2002))
        for version in (first, second):
            await store.upsert(SPACE, MODEL, [version])
        gone = await store.delete_document(SPACE, "d", DELETION)
        assert (gone.versions, gone.chunks) == (2, 2)
        assert sorted(gone.chunk_ids) == sorted([first.chunks[0].id, second.chunks[0].id])
        assert await store.delete_document(SPACE, "d", DELETION) == Deletion(2, 2, [])

    async def test_a_repeated_deletion_keeps_what_was_written_since(self, store: Store) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "old")])
        await store.delete_document(SPACE, "d", DELETION)
        await store.upsert(SPACE, MODEL, [document("d", "new")])
        await store.delete_document(SPACE, "d", DELETION)
        assert contents(await store.search(SPACE, words("new"))) == ["new"]

    async def test_a_deletion_is_unknown_in_another_space_and_without_its_id(
        self, store: Store
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        await store.delete_document(SPACE, "d", DELETION)
        with pytest.raises(NotFoundError):
            await store.delete_document("other", "d", DELETION)
        with pytest.raises(NotFoundError):
            await store.delete_document(SPACE, "d")

    async def test_deleting_all_documents_leaves_an_empty_space_and_counts_every_call(
        self, store: Store
    ) -> None:
        await store.set_text_language(SPACE, "german")
        versions = [
            document("a", text, valid_time=year(y)) for y, text in ((2001, "x"), (2002, "y"))
        ]
        for version in (*versions, document("b", "one", "two")):
            written = await store.upsert(SPACE, MODEL, [version])
        await store.upsert("other", MODEL, [document("a", "one")])
        assert await store.delete_documents(SPACE, DELETION) == (Deletion(3, 4, []), True)
        assert await store.delete_documents(SPACE, DELETION) == (Deletion(3, 4, []), True)
        empty = await store.stats(SPACE)
        assert (empty.documents, empty.chunks, empty.model) == (0, 0, None)
        assert empty.revision > written.revision  # so no cached result is returned any more
        assert (await store.text_language(SPACE)).name == "english"
        assert contents(await store.search(SPACE, words("one"))) == []
        assert contents(await store.search("other", words("one"))) == ["one"]
        await store.upsert(SPACE, Model("other", 3), [document("a", "one")])
        assert contents(await store.search(SPACE, words("one"))) == ["one"]
