"""The contract of vector stores for documents that end: their versions remain, and a write continues them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from services.runtime.errors import InvalidFieldError, NotFoundError
from services.runtime.times import utc_now
from services.vector_search.store import VectorStore
from tests.store_suite.vector.builders import (
    MODEL,
    NORTH,
    SPACE,
    contents,
    document,
    meaning,
    words,
    year,
)


class EndingsSuite:
    """Ends of documents. Subclasses define the fixture `store`."""

    async def test_an_ended_document_is_found_only_as_of_earlier_times(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "old news", valid_time=year(2001))])
        await store.upsert(SPACE, MODEL, [document("d", "new news", valid_time=year(2002))])
        await store.upsert(SPACE, MODEL, [document("e", "other news")])
        before = await store.stats(SPACE)
        ended = await store.end_document(SPACE, "d")
        expected = [
            (None, ["other news"]),
            (year(2001), ["old news"]),
            (year(2002), ["new news"]),
            (ended - timedelta(microseconds=1), ["new news", "other news"]),
            (ended + timedelta(days=1), ["other news"]),
        ]
        for as_of, found in expected:
            for search in (words("news", as_of=as_of), meaning(NORTH, as_of=as_of)):
                assert sorted(contents(await store.search(SPACE, search))) == found
        assert (await store.stats(SPACE)).revision == before.revision + 1

    async def test_an_ended_document_is_not_listed_but_its_versions_are(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text"), document("e", "text")])
        ended = await store.end_document(SPACE, "d")
        assert [one.document_id for one in await store.list_documents(SPACE, "", 10)] == ["e"]
        with pytest.raises(NotFoundError):
            await store.get_document(SPACE, "d")
        [version] = await store.list_versions(SPACE, "d", 10, 10)
        assert (version.version, version.end_time) == (1, ended)

    async def test_ending_a_document_again_changes_nothing(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        ended = await store.end_document(SPACE, "d")
        before = await store.stats(SPACE)
        assert await store.end_document(SPACE, "d") == ended
        assert await store.stats(SPACE) == before

    async def test_an_unknown_document_cannot_be_ended(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        for space, unknown in ((SPACE, "e"), ("other", "d")):
            with pytest.raises(NotFoundError):
                await store.end_document(space, unknown)
        await store.upsert(SPACE, MODEL, [document("e", "text")])

    @pytest.mark.parametrize("text", ["text", "another text"])
    async def test_a_write_continues_an_ended_document(self, store: VectorStore, text: str) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text", valid_time=year(2001))])
        ended = await store.end_document(SPACE, "d")
        new = document("d", text)
        (outcome,) = (await store.upsert(SPACE, MODEL, [new])).outcomes
        assert (outcome.unchanged, outcome.version) == (False, 3)
        assert contents(await store.search(SPACE, words("text"))) == [text]
        versions = await store.list_versions(SPACE, "d", 10, 10)
        assert [(one.version, one.end_time) for one in versions] == [(3, None), (1, ended)]
        unchanged = await store.unchanged_documents(SPACE, [("d", new.content_hash)])
        assert list(unchanged) == ["d"]

    async def test_content_from_before_its_end_does_not_continue_a_document(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text", valid_time=year(2001))])
        await store.end_document(SPACE, "d")
        for when in (year(2000), year(2001), year(2002)):
            with pytest.raises(InvalidFieldError):
                await store.upsert(SPACE, MODEL, [document("d", "text", valid_time=when)])

    async def test_a_document_that_is_not_valid_yet_never_becomes_current_once_ended(
        self, store: VectorStore
    ) -> None:
        tomorrow = utc_now() + timedelta(days=1)
        await store.upsert(SPACE, MODEL, [document("d", "then valid", valid_time=tomorrow)])
        ended = await store.end_document(SPACE, "d")
        assert ended > tomorrow
        assert contents(await store.search(SPACE, words("valid", as_of=ended))) == []

    async def test_an_ended_document_can_be_deleted(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        await store.end_document(SPACE, "d")
        gone = await store.delete_document(SPACE, "d")
        assert (gone.versions, gone.chunks) == (1, 1)
        assert await store.list_versions(SPACE, "d", 10, 10) == []
