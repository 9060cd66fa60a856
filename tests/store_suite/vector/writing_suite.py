"""The contract of vector stores for writes: versions over time, ids, counts, and atomicity."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from services.runtime.errors import InvalidFieldError, NotFoundError, WrongStateError
from services.runtime.times import utc_now
from services.vector_search.domain import Model, NewDocument, SpaceStats
from services.vector_search.store import MissingVectorsError, SpaceModelError, VectorStore
from tests.store_suite.vector.builders import (
    EAST,
    MODEL,
    NORTH,
    SPACE,
    both,
    contents,
    document,
    meaning,
    words,
    year,
)


def thread(*years: int) -> NewDocument:
    """Builds a thread with one message per year."""
    times = [year(number) for number in years]
    return document("t", *(f"said {number}" for number in years), valid_time=times[0], times=times)


class WritingSuite:
    """Writes, versions and deletions. Subclasses define the fixture `store`."""

    async def test_a_new_document_is_version_1_and_all_its_chunks_are_added(
        self, store: VectorStore
    ) -> None:
        new = document("d", "first part", "second part")
        written = await store.upsert(SPACE, MODEL, [new])
        (outcome,) = written.outcomes
        assert (outcome.version, outcome.unchanged, outcome.retired) == (1, False, 0)
        assert outcome.added == tuple(chunk.id for chunk in new.chunks)
        assert written.revision == 1

    async def test_writing_the_same_content_again_changes_nothing(self, store: VectorStore) -> None:
        first = await store.upsert(SPACE, MODEL, [document("d", "text")])
        again = await store.upsert(SPACE, MODEL, [document("d", "text")])
        assert again.outcomes[0].unchanged
        assert again.outcomes[0].version == 1
        assert again.revision == first.revision
        assert await store.stats(SPACE) == SpaceStats(1, 1, MODEL, 1)

    async def test_a_new_version_keeps_unchanged_chunks_and_retires_the_others(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", "dropped")])
        new = document("d", "kept", "added")
        (outcome,) = (await store.upsert(SPACE, MODEL, [new])).outcomes
        assert (outcome.version, outcome.added, outcome.retired) == (2, (new.chunks[1].id,), 1)

    async def test_an_unchanged_chunk_keeps_its_vector(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", at=[EAST])])
        await store.upsert(SPACE, MODEL, [document("d", "kept", "more", at=[NORTH, NORTH])])
        found = await store.search(SPACE, meaning(EAST, limit=1))
        assert contents(found) == ["kept"]
        assert found.hits[0].score == pytest.approx(1)

    async def test_the_current_version_is_found_by_default_and_earlier_ones_as_of_their_time(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "old news", valid_time=year(2001))])
        await store.upsert(SPACE, MODEL, [document("d", "new news", valid_time=year(2002))])
        expected = [
            (None, ["new news"]),
            (year(2001), ["old news"]),
            (year(2002), ["new news"]),
            (year(2000), []),
        ]
        for as_of, found in expected:
            assert contents(await store.search(SPACE, words("news", as_of=as_of))) == found
            assert contents(await store.search(SPACE, meaning(NORTH, as_of=as_of))) == found

    async def test_a_chunk_with_its_own_valid_time_is_found_from_then_on(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [thread(2001, 2003, 2005)])
        for as_of, found in (
            (None, ["said 2001", "said 2003", "said 2005"]),
            (year(2000), []),
            (year(2001), ["said 2001"]),
            (year(2004), ["said 2001", "said 2003"]),
            (year(2005), ["said 2001", "said 2003", "said 2005"]),
        ):
            for search in (words("said"), meaning(NORTH), both("said", NORTH)):
                result = await store.search(SPACE, replace(search, as_of=as_of))
                assert sorted(contents(result)) == found
                assert all(
                    hit.chunk.valid_time == year(int(hit.chunk.content[-4:])) for hit in result.hits
                )
        assert (await store.get_document(SPACE, "t"))[0].valid_time == year(2001)
        chunk = thread(2003).chunks[0].id
        (seen,) = await store.get_chunks(SPACE, [chunk])
        assert seen.valid_time == year(2003)

    async def test_a_longer_upload_of_a_thread_keeps_the_earlier_messages_and_their_times(
        self, store: VectorStore
    ) -> None:
        for years in ((2001, 2003), (2001, 2003, 2005), (2001, 2003, 2005, 2006)):
            await store.upsert(SPACE, MODEL, [thread(*years)])
        for as_of, found in (
            (None, ["said 2001", "said 2003", "said 2005", "said 2006"]),
            (year(2002), ["said 2001"]),
            (year(2005), ["said 2001", "said 2003", "said 2005"]),
        ):
            result = await store.search(SPACE, words("said", as_of=as_of))
            assert sorted(contents(result)) == found
            assert {hit.chunk.valid_time for hit in result.hits} == {
                year(int(text[-4:])) for text in found
            }

    async def test_only_the_messages_of_a_threads_last_upload_are_found(
        self, store: VectorStore
    ) -> None:
        for years in ((2001, 2003), (2001, 2003, 2005), (2001, 2003), (2003,), (2002, 2003)):
            written = await store.upsert(SPACE, MODEL, [thread(*years)])
            assert not written.outcomes[0].unchanged
            found = contents(await store.search(SPACE, words("said")))
            assert sorted(found) == [f"said {number}" for number in years]
        again = await store.upsert(SPACE, MODEL, [thread(2002, 2003)])
        assert again.outcomes[0].unchanged

    async def test_a_chunk_dated_in_the_future_is_found_immediately(
        self, store: VectorStore
    ) -> None:
        tomorrow = utc_now() + timedelta(days=1)
        new = document("t", "zinc", "copper", valid_time=year(2001), times=[year(2001), tomorrow])
        await store.upsert(SPACE, MODEL, [new])
        found = await store.search(SPACE, words("zinc copper"))
        assert sorted(contents(found)) == ["copper", "zinc"]
        assert all(hit.chunk.valid_time <= utc_now() for hit in found.hits)

    async def test_a_version_with_an_earlier_valid_time_does_not_replace_the_current_one(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "today", valid_time=year(2010))])
        (outcome,) = (
            await store.upsert(SPACE, MODEL, [document("d", "yesterday", valid_time=year(2005))])
        ).outcomes
        assert (outcome.version, outcome.retired) == (2, 0)
        assert contents(await store.search(SPACE, words("today yesterday"))) == ["today"]
        past = await store.search(SPACE, words("today yesterday", as_of=year(2007)))
        assert contents(past) == ["yesterday"]

    async def test_a_chunk_that_returns_in_a_later_version_is_found_again(
        self, store: VectorStore
    ) -> None:
        for text, when in (("mercury", 2001), ("venus", 2002), ("mercury", 2003)):
            await store.upsert(SPACE, MODEL, [document("d", text, valid_time=year(when))])
        found = await store.search(SPACE, words("mercury venus"))
        assert contents(found) == ["mercury"]
        assert found.hits[0].chunk.valid_time == year(2003)
        assert (await store.stats(SPACE)).chunks == 2

    async def test_a_version_with_a_future_valid_time_is_not_yet_current(
        self, store: VectorStore
    ) -> None:
        tomorrow = utc_now() + timedelta(days=1)
        await store.upsert(SPACE, MODEL, [document("d", "now valid")])
        await store.upsert(SPACE, MODEL, [document("d", "then valid", valid_time=tomorrow)])
        assert contents(await store.search(SPACE, words("valid"))) == ["now valid"]
        then = await store.search(SPACE, words("valid", as_of=tomorrow))
        assert contents(then) == ["then valid"]
        assert (await store.get_document(SPACE, "d"))[0].version == 1

    async def test_two_versions_with_the_same_valid_time_are_refused_and_nothing_is_written(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "one", valid_time=year(2001))])
        before = await store.stats(SPACE)
        batch = [
            document("fresh", "text", path="documents[0]"),
            document("d", "two", valid_time=year(2001), path="documents[1]"),
        ]
        with pytest.raises(InvalidFieldError) as refused:
            await store.upsert(SPACE, MODEL, batch)
        assert [field for field, _ in refused.value.fields] == ["documents[1].valid_time"]
        assert await store.stats(SPACE) == before

    async def test_a_repeated_write_of_an_earlier_version_changes_nothing(
        self, store: VectorStore
    ) -> None:
        old = document("d", "old", valid_time=year(2001))
        await store.upsert(SPACE, MODEL, [old])
        await store.upsert(SPACE, MODEL, [document("d", "new", valid_time=year(2002))])
        (outcome,) = (await store.upsert(SPACE, MODEL, [old])).outcomes
        assert (outcome.unchanged, outcome.version) == (True, 1)

    async def test_new_chunks_without_vectors_are_named_and_nothing_is_written(
        self, store: VectorStore
    ) -> None:
        new = document("d", "given", "missing", at=[NORTH, None])
        assert await store.missing_vectors(SPACE, [new]) == {new.chunks[1].id}
        with pytest.raises(MissingVectorsError) as missing:
            await store.upsert(SPACE, MODEL, [new])
        assert missing.value.chunk_ids == {new.chunks[1].id}
        assert (await store.stats(SPACE)).documents == 0

    async def test_stored_chunks_need_no_new_vector(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", title="name")])
        update = document("d", "kept", title="name", source="elsewhere", at=[None])
        assert await store.missing_vectors(SPACE, [update]) == frozenset()
        (outcome,) = (await store.upsert(SPACE, MODEL, [update])).outcomes
        assert (outcome.version, outcome.added, outcome.reindexed) == (2, (), ())

    async def test_chunks_of_a_renamed_document_are_searched_with_its_new_title(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", title="Copper", at=[NORTH])])
        new = document("d", "kept", "more", title="Zinc", at=[EAST, EAST])
        (outcome,) = (await store.upsert(SPACE, MODEL, [new])).outcomes
        kept, more = (chunk.id for chunk in new.chunks)
        assert (outcome.reindexed, outcome.added, outcome.retired) == ((kept,), (more,), 0)
        assert contents(await store.search(SPACE, words("copper"))) == []
        assert sorted(contents(await store.search(SPACE, words("zinc")))) == ["kept", "more"]
        found = await store.search(SPACE, meaning(EAST, document_ids=("d",)))
        assert [hit.score for hit in found.hits] == pytest.approx([1, 1], abs=1e-3)
        assert (await store.stats(SPACE)).chunks == 2

    async def test_a_renamed_documents_chunks_need_vectors_of_the_new_title(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", title="Copper")])
        bare = document("d", "kept", title="Zinc", at=[None])
        assert await store.missing_vectors(SPACE, [bare]) == {bare.chunks[0].id}
        with pytest.raises(MissingVectorsError) as missing:
            await store.upsert(SPACE, MODEL, [bare])
        assert missing.value.chunk_ids == {bare.chunks[0].id}
        assert (await store.get_document(SPACE, "d"))[0].title == "Copper"
        assert contents(await store.search(SPACE, words("copper"))) == ["kept"]

    @pytest.mark.parametrize("years", [(2001, 2002), (2002, 2001)])
    async def test_a_chunk_has_the_title_of_its_latest_version_in_any_order_of_writes(
        self, store: VectorStore, years: tuple[int, int]
    ) -> None:
        titles = {2001: "Copper", 2002: "Zinc"}
        for when in years:
            new = document("d", "kept", title=titles[when], valid_time=year(when))
            await store.upsert(SPACE, MODEL, [new])
        assert contents(await store.search(SPACE, words("zinc"))) == ["kept"]
        assert contents(await store.search(SPACE, words("copper"))) == []
        past = await store.search(SPACE, words("zinc", as_of=year(2001)))
        assert [hit.chunk.title for hit in past.hits] == ["Copper"]

    async def test_a_past_version_needs_no_vectors_for_chunks_that_have_a_later_title(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "kept", title="Zinc", valid_time=year(2))])
        past = document("d", "kept", title="Copper", valid_time=year(1), at=[None])
        assert await store.missing_vectors(SPACE, [past]) == frozenset()
        (outcome,) = (await store.upsert(SPACE, MODEL, [past])).outcomes
        assert (outcome.version, outcome.reindexed) == (2, ())

    async def test_renamed_documents_score_like_documents_that_always_had_the_title(
        self, store: VectorStore
    ) -> None:
        for title in ("red red moon", "salt"):
            for key in ("a", "b"):
                await store.upsert(SPACE, MODEL, [document(key, f"lamp {key}", title=title)])
        await store.upsert(SPACE, MODEL, [document("c", "red door")])
        for key in ("a", "b"):
            named = document(key, f"lamp {key}", title="salt", space="other")
            await store.upsert("other", MODEL, [named])
        await store.upsert("other", MODEL, [document("c", "red door", space="other")])
        for query in ("red", "salt lamp", "moon"):
            ours = (await store.search(SPACE, words(query))).hits
            theirs = (await store.search("other", words(query))).hits
            scores = [{hit.chunk.document_id: hit.score for hit in hits} for hits in (ours, theirs)]
            assert scores[0] == pytest.approx(scores[1])

    async def test_vectors_of_another_model_are_refused(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        with pytest.raises(SpaceModelError) as refused:
            await store.upsert(SPACE, Model("other", 3), [document("e", "text")])
        assert [field for field, _ in refused.value.fields] == ["embedding_model"]
        assert (await store.stats(SPACE)).documents == 1

    async def test_an_emptied_space_accepts_another_model(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        await store.delete_document(SPACE, "d")
        assert await store.space_model(SPACE) is None
        await store.upsert(SPACE, Model("other", 3), [document("d", "text")])
        assert await store.space_model(SPACE) == Model("other", 3)

    async def test_a_chunk_id_that_belongs_to_another_text_is_refused(
        self, store: VectorStore
    ) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        thief = document("e", "other text")
        stolen = document("d", "text").chunks[0].id
        object.__setattr__(thief.chunks[0], "id", stolen)
        with pytest.raises(InvalidFieldError) as refused:
            await store.upsert(SPACE, MODEL, [thief])
        assert [field for field, _ in refused.value.fields] == ["document.chunks[0].id"]
        assert (await store.stats(SPACE)).documents == 1

    async def test_the_same_text_twice_in_a_document_is_two_chunks(
        self, store: VectorStore
    ) -> None:
        (outcome,) = (await store.upsert(SPACE, MODEL, [document("d", "echo", "echo")])).outcomes
        assert len(set(outcome.added)) == 2
        assert contents(await store.search(SPACE, words("echo"))) == ["echo", "echo"]

    async def test_deleting_a_document_removes_every_version_and_chunk(
        self, store: VectorStore
    ) -> None:
        first = document("d", "one", valid_time=year(2001))
        second = document("d", "two", valid_time=year(2002))
        for version in (first, second):
            await store.upsert(SPACE, MODEL, [version])
        gone = await store.delete_document(SPACE, "d")
        assert gone.versions == 2
        assert sorted(gone.chunk_ids) == sorted([first.chunks[0].id, second.chunks[0].id])
        assert await store.stats(SPACE) == SpaceStats(0, 0, None, 3)
        for search in (words("one two"), meaning(NORTH), words("one", as_of=year(2001))):
            assert contents(await store.search(SPACE, search)) == []

    async def test_deleting_an_unknown_document_raises_not_found(self, store: VectorStore) -> None:
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        for space in (SPACE, "other"):
            with pytest.raises(NotFoundError):
                await store.delete_document(space, "unknown")
        with pytest.raises(NotFoundError):
            await store.delete_document("other", "d")
        assert (await store.stats(SPACE)).documents == 1

    async def test_a_document_is_read_with_its_chunks_in_order(self, store: VectorStore) -> None:
        new = document("d", "a", "b", "c", title="T", source="S", metadata={"k": [1, {"x": None}]})
        await store.upsert(SPACE, MODEL, [new])
        found, chunk_ids = await store.get_document(SPACE, "d")
        assert (found.title, found.source, found.metadata) == ("T", "S", {"k": [1, {"x": None}]})
        assert (found.version, found.chunk_count) == (1, 3)
        assert chunk_ids == [chunk.id for chunk in new.chunks]
        with pytest.raises(NotFoundError):
            await store.get_document("other", "d")

    async def test_versions_are_listed_latest_first_with_their_periods(
        self, store: VectorStore
    ) -> None:
        for text, since in (("old", 2001), ("new", 2003), ("between", 2002)):
            await store.upsert(SPACE, MODEL, [document("d", text, valid_time=year(since))])
        listed = await store.list_versions(SPACE, "d", 100, 10)
        assert [(one.version, one.valid_time, one.end_time) for one in listed] == [
            (3, year(2002), year(2003)),
            (2, year(2003), None),
            (1, year(2001), year(2002)),
        ]
        assert [one.version for one in await store.list_versions(SPACE, "d", 3, 1)] == [2]
        assert await store.list_versions("other", "d", 100, 10) == []

    async def test_documents_are_listed_by_id_in_pages(self, store: VectorStore) -> None:
        ids = ["B", "a", "b", "é", "ab"]
        await store.upsert(SPACE, MODEL, [document(key, f"text {key}") for key in ids])
        listed = [d.document_id for d in await store.list_documents(SPACE, "", 3)]
        rest = [d.document_id for d in await store.list_documents(SPACE, listed[-1], 10)]
        assert listed + rest == sorted(ids)
        assert await store.list_documents("other", "", 10) == []

    async def test_documents_are_listed_by_the_prefix_of_their_ids(
        self, store: VectorStore
    ) -> None:
        ids = ["a", "a/", "a/1", "a/2", "a/\U0010ffff", "a0", "b"]
        await store.upsert(SPACE, MODEL, [document(one, "text") for one in ids])
        listed = await store.list_documents(SPACE, "", 10, prefix="a/")
        assert [one.document_id for one in listed] == ["a/", "a/1", "a/2", "a/\U0010ffff"]
        rest = await store.list_documents(SPACE, "a/1", 10, prefix="a/")
        assert [one.document_id for one in rest] == ["a/2", "a/\U0010ffff"]

    async def test_a_document_is_unchanged_if_its_current_version_has_the_hash(
        self, store: VectorStore
    ) -> None:
        old = document("d", "old", valid_time=year(2001))
        new = document("d", "new", valid_time=year(2002))
        other = document("e", "text", valid_time=year(1999))
        await store.upsert(SPACE, MODEL, [old])
        await store.upsert(SPACE, MODEL, [new, other])
        asked = [("e", other.content_hash), ("d", old.content_hash)]
        assert await store.unchanged_documents(SPACE, asked) == {"e": year(1999)}
        asked = [("e", other.content_hash), ("d", new.content_hash)]
        found = await store.unchanged_documents(SPACE, asked)
        assert found == {"d": year(2002), "e": year(1999)}
        assert await store.unchanged_documents("other", asked) == {}

    async def test_a_document_without_a_valid_time_is_unchanged_since_it_was_written(
        self, store: VectorStore
    ) -> None:
        new = document("d", "text")
        await store.upsert(SPACE, MODEL, [new])
        found, _ = await store.get_document(SPACE, "d")
        asked = [("d", new.content_hash)]
        assert await store.unchanged_documents(SPACE, asked) == {"d": found.valid_time}

    async def test_a_spaces_language_cannot_change_while_it_has_chunks(
        self, store: VectorStore
    ) -> None:
        assert (await store.text_language(SPACE)).name == "english"
        await store.set_text_language(SPACE, "german")
        await store.upsert(SPACE, MODEL, [document("d", "text")])
        await store.set_text_language(SPACE, "german")
        with pytest.raises(WrongStateError, match="delete its documents first"):
            await store.set_text_language(SPACE, "simple")
        assert (await store.text_language(SPACE)).name == "german"
        assert (await store.text_language("other")).name == "english"
        await store.delete_document(SPACE, "d")
        before = (await store.stats(SPACE)).revision
        await store.set_text_language(SPACE, "simple")
        assert (await store.text_language(SPACE)).name == "simple"
        assert (await store.stats(SPACE)).revision == before + 1
