"""The contract of graph stores for withdrawn and corrected facts, and for sources of facts."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from services.graph_query.app import Stores
from services.graph_query.core.domain import EntityName, Fact, FactFilter, GivenFact
from services.graph_query.core.fact_batch import FactBatch
from services.graph_query.core.fact_changes import (
    ChangeKind,
    CorrectedFact,
    CorrectedField,
    FactChange,
    FactCorrection,
    FactState,
    Outcome,
    Provenance,
    Settlement,
    Vector,
)
from services.graph_query.core.full_text import query_terms
from services.graph_query.history.domain import Page, Scope, Selector, Times, Version
from services.graph_query.search.as_known import Known
from services.runtime.errors import InvalidFieldError, NotFoundError
from tests.store_suite.graph.builders import ALWAYS, at, day, fact, new_space, passage, unit

HEADS = fact("Wanda", "HEADS", "Logistics", valid_at=day("2024-05-09"))
BEFORE = fact(
    "Viktor", "HEADS", "Logistics", valid_at=day("2020-01-01"), invalid_at=day("2024-05-09")
)
RIGHT = fact("Wanda", "HEADS", "Logistics", valid_at=day("2024-05-02"))
BY = Provenance("ana", "the board said so", "")
FOREVER = Page(limit=50, reference=day("2024-06-01").timestamp())


async def added(store: Stores, space: str, *facts: GivenFact, source: str = "") -> list[str]:
    """Adds facts; returns the uuids of all standing facts, by start."""
    await store.add_facts(space, FactBatch.of(space, facts, source), "")
    return [one.uuid for one in await standing(store, space)]


async def standing(store: Stores, space: str, known: float | None = None) -> list[Fact]:
    """Returns the facts of all times as known at an instant."""
    return await store.history.list_facts(space, Scope(known=known), ALWAYS, None, 50)


async def now(store: Stores, space: str) -> float:
    """Returns the instant of the last write."""
    last = (await store.stats(space)).last_write
    assert last is not None
    return last.timestamp()


async def ended_with(store: Stores, space: str, uuid: str) -> Version:
    """Returns the last version of a fact."""
    return (await store.history.versions(space, uuid, 10))[-1]


async def found_by_words(
    store: Stores, space: str, text: str, known: float | None = None, only: FactFilter = ALWAYS
) -> list[str]:
    """Returns the statements of the facts that a search by words finds."""
    if known is None:
        hits = (await store.search_words(space, query_terms(text), [], only, 10)).text
    else:
        asked = Known(only, known, 10)
        hits = (await store.as_known.search_words_known(space, query_terms(text), [], asked)).text
    facts = await store.history.facts_known(space, [hit.uuid for hit in hits], known)
    return sorted(one.fact for one in facts.values())


def corrected(
    *,
    subject: str | EntityName = "",
    relation: str = "",
    object: str = "",  # noqa: A002 - the field's name
    **values: object,
) -> FactCorrection:
    """Builds a correction of the given values."""
    fields: set[CorrectedField] = set()
    for name, field in (
        ("statement", CorrectedField.STATEMENT),
        ("valid_at", CorrectedField.START),
        ("invalid_at", CorrectedField.END),
        ("attributes", CorrectedField.ATTRIBUTES),
    ):
        if name in values:
            fields.add(field)
    if subject:
        fields.add(CorrectedField.SUBJECT)
    if object:
        fields.add(CorrectedField.OBJECT)
    if relation:
        fields.add(CorrectedField.RELATION)
    ends = [EntityName(end) if isinstance(end, str) else end for end in (subject, object)]
    filled = {"statement": "", "attributes": {}} | values
    return FactCorrection(
        frozenset(fields),
        FactState(ends[0], relation, ends[1], **filled),  # type: ignore[arg-type] # by name
    )


async def correct(
    store: Stores, space: str, uuid: str, correction: FactCorrection
) -> CorrectedFact:
    """Corrects a fact."""
    return await store.corrections.correct_fact(space, uuid, correction, BY)


async def settled(
    store: Stores, space: str, *facts: GivenFact, source: str = "f", withdraw: bool = True
) -> Settlement:
    """Adds all that a source states now and settles it."""
    revision = 0
    if facts:
        batch = FactBatch.of(space, facts, source)
        revision = (await store.add_facts(space, batch, "")).source_revision
    by = BY if withdraw else None
    return await store.corrections.settle_source(space, source, revision, by)


def statements(facts: Iterable[Fact]) -> set[str]:
    """Returns what facts state."""
    return {one.fact for one in facts}


class WithdrawalSuite:
    """Withdrawn facts."""

    async def test_a_withdrawn_fact_is_gone_now_and_stands_as_known_before(
        self, store: Stores
    ) -> None:
        space = new_space()
        [before, uuid] = await added(store, space, BEFORE, HEADS)
        then = await now(store, space)
        outcomes, revision = await store.corrections.withdraw_facts(space, [uuid], BY)
        assert outcomes == {uuid: Outcome.WITHDRAWN}
        assert revision == (await store.stats(space)).revision
        assert [one.uuid for one in await standing(store, space)] == [before]
        assert [one.uuid for one in await standing(store, space, then)] == [before, uuid]
        assert await store.facts(space, [uuid]) == {}
        assert (await store.stats(space)).facts == 1

    async def test_no_read_of_now_shows_a_withdrawn_fact(self, store: Stores) -> None:
        space = new_space()
        other = fact("Wanda", "KNOWS", "Xenia", valid_at=day("2021-01-01"))
        kept, uuid = await added(store, space, other, HEADS)
        then, logistics = await now(store, space), Selector(name_key="logistics")
        await store.corrections.withdraw_facts(space, [uuid], BY)
        near = await store.neighborhood(space, "wanda", "", 10, ALWAYS)
        assert [one.uuid for one in near.edges] == [kept]
        life = await store.history.life(space, Selector(name_key="wanda"), "", None, FOREVER)
        assert [one.uuid for one in life.moments] == [kept]
        times = Times(at("2020-01-01"), at("2024-06-01"))
        changes = await store.history.differences(space, Scope(), times, 10)
        assert [one.uuid for one in changes] == [kept]
        with pytest.raises(NotFoundError):
            await store.history.life(space, logistics, "", None, FOREVER)
        former = await store.history.life(space, logistics, "", then, FOREVER)
        assert [one.uuid for one in former.page] == [uuid]

    async def test_no_search_of_now_finds_a_withdrawn_fact(self, store: Stores) -> None:
        space = new_space()
        near = fact("Wanda", "HEADS", "Logistics", embedding=unit(1))
        await store.add_facts(space, [near], "m")
        [one] = await standing(store, space)
        then = await now(store, space)
        await store.corrections.withdraw_facts(space, [one.uuid], BY)
        assert await found_by_words(store, space, "heads logistics") == []
        assert await store.search_vector(space, unit(1), ALWAYS, 5, exact=True) == []
        assert (await store.embeddings.vectors(space)).total == 0
        assert await found_by_words(store, space, "heads logistics", then) == [near.fact]

    async def test_a_withdrawal_records_who_made_it_and_why(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        by = Provenance("ana", "she never did", passage(space, "d", "t", "x").uuid)
        await store.corrections.withdraw_facts(space, [uuid], by)
        version = await ended_with(store, space, uuid)
        assert version.change == FactChange(ChangeKind.WITHDRAWN, by)
        assert version.known_until is not None

    async def test_withdrawing_again_changes_nothing(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        _, revision = await store.corrections.withdraw_facts(space, [uuid], BY)
        again = await store.corrections.withdraw_facts(space, [uuid], Provenance("bo", "me too"))
        assert again == ({uuid: Outcome.ALREADY_WITHDRAWN}, revision)
        version = await ended_with(store, space, uuid)
        assert version.change == FactChange(ChangeKind.WITHDRAWN, BY)

    async def test_each_fact_has_its_outcome_and_unknown_ones_do_not_hinder_others(
        self, store: Stores
    ) -> None:
        space, other = new_space(), new_space()
        [uuid] = await added(store, space, HEADS)
        [foreign] = await added(store, other, HEADS)
        unknown = passage(space, "d", "t", "x").uuid
        asked = [unknown, uuid, foreign]
        outcomes, _ = await store.corrections.withdraw_facts(space, asked, BY)
        assert list(outcomes.items()) == [
            (unknown, Outcome.NOT_FOUND),
            (uuid, Outcome.WITHDRAWN),
            (foreign, Outcome.NOT_FOUND),
        ]
        assert len(await standing(store, other)) == 1

    async def test_a_fact_stated_again_stands_again_from_then_on(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        first = await now(store, space)
        await store.corrections.withdraw_facts(space, [uuid], BY)
        between = await now(store, space)
        assert (await store.add_facts(space, [HEADS], "")).added == 1
        assert [one.uuid for one in await standing(store, space)] == [uuid]
        assert [one.uuid for one in await standing(store, space, first)] == [uuid]
        assert await standing(store, space, between) == []
        changes = [one.change for one in await store.history.versions(space, uuid, 10)]
        assert changes == [FactChange(ChangeKind.WITHDRAWN, BY), None]

    async def test_a_withdrawal_wins_over_every_document_and_text(self, store: Stores) -> None:
        space = new_space()
        stated = [
            fact("Wanda", "HEADS", "Logistics", document_id=document) for document in ("a", "b", "")
        ]
        texts = [passage(space, document, "News", "Wanda heads it.") for document in ("a", "b")]
        await store.add_episodes(space, texts)
        [uuid] = await added(store, space, *stated)
        await store.corrections.withdraw_facts(space, [uuid], BY)
        assert await standing(store, space) == []
        await store.add_episodes(space, texts)
        assert await standing(store, space) == []
        assert (await store.add_facts(space, stated[:1], "")).added == 1

    async def test_an_entity_named_in_texts_outlives_its_facts(self, store: Stores) -> None:
        space = new_space()
        await store.add_episodes(space, [passage(space, "d", "News", "Wanda Wei met Logistics.")])
        [uuid] = await added(store, space, fact("Wanda Wei", "HEADS", "Logistics"))
        await store.corrections.withdraw_facts(space, [uuid], BY)
        near = await store.neighborhood(space, "wanda wei", "", 10, ALWAYS)
        assert uuid not in [one.uuid for one in near.edges]
        assert (await store.stats(space)).entities > 0

    async def test_an_end_goes_with_the_fact(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await store.end_fact(space, uuid, day("2024-08-01"))
        await store.corrections.withdraw_facts(space, [uuid], BY)
        await store.add_facts(space, [HEADS], "")
        [one] = await standing(store, space)
        assert one.invalid_at is None

    async def test_a_history_lists_withdrawn_facts_when_asked(self, store: Stores) -> None:
        space = new_space()
        before, uuid = await added(store, space, BEFORE, HEADS)
        entity = Selector(name_key="logistics")
        then = await now(store, space)
        assert await store.history.withdrawn(space, entity, "", None, 10) == []
        await store.corrections.withdraw_facts(space, [uuid], BY)
        await store.corrections.withdraw_facts(space, [before], BY)
        found = await store.history.withdrawn(space, entity, "", None, 10)
        assert [one.fact.uuid for one in found] == [before, uuid]
        assert found[1].fact.valid_at == HEADS.valid_at
        assert [one.change for one in found] == [FactChange(ChangeKind.WITHDRAWN, BY)] * 2
        assert await store.history.withdrawn(space, entity, "", then, 10) == []
        assert await store.history.withdrawn(space, entity, "KNOWS", None, 10) == []
        await store.add_facts(space, [HEADS], "")
        left = await store.history.withdrawn(space, entity, "heads", None, 10)
        assert [one.fact.uuid for one in left] == [before]


class CorrectionSuite:
    """Corrected facts."""

    async def test_a_corrected_time_counts_now_and_the_former_as_known_before(
        self, store: Stores
    ) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        then = await now(store, space)
        result = await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        assert (result.changed, result.replaced, result.fact.uuid) == (True, "", uuid)
        assert result.fact.valid_at == day("2024-05-02")
        [one] = await standing(store, space)
        assert one.valid_at == day("2024-05-02")
        [former] = await standing(store, space, then)
        assert former.valid_at == day("2024-05-09")
        on_fifth = await store.history.list_facts(space, Scope(), at("2024-05-05"), None, 5)
        assert [one.uuid for one in on_fifth] == [uuid]

    async def test_a_correction_records_who_made_it_and_why(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        former, latest = await store.history.versions(space, uuid, 10)
        assert former.change == FactChange(ChangeKind.CORRECTED, BY, uuid)
        assert former.known_until == latest.known_from
        assert latest.change is None

    async def test_a_corrected_text_is_found_now_and_the_former_one_as_known_before(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Wanda", "HEADS", "Logistics", embedding=unit(1))], "m")
        [one] = await standing(store, space)
        then = await now(store, space)
        vector = Vector("Wanda directs freight.", unit(0, 1), "m")
        correction = corrected(statement="Wanda directs freight.")
        await store.corrections.correct_fact(space, one.uuid, correction, BY, vector)
        assert await found_by_words(store, space, "freight") == ["Wanda directs freight."]
        assert await found_by_words(store, space, "logistics") == []
        former = await found_by_words(store, space, "logistics", then)
        assert former == ["Wanda heads Logistics"]
        [hit, *_] = await store.search_vector(space, unit(0, 1), ALWAYS, 5, exact=True)
        assert (hit.uuid, round(hit.score, 3)) == (one.uuid, 1.0)
        assert (await store.embeddings.vectors(space)).total == 1

    async def test_a_corrected_text_without_a_vector_is_found_by_words_alone(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_facts(space, [fact("Wanda", "HEADS", "Logistics", embedding=unit(1))], "m")
        [one] = await standing(store, space)
        await correct(store, space, one.uuid, corrected(statement="Wanda directs freight."))
        assert await store.search_vector(space, unit(1), ALWAYS, 5, exact=True) == []
        assert (await store.embeddings.vectors(space)).total == 0
        assert await found_by_words(store, space, "freight") == ["Wanda directs freight."]

    async def test_corrected_attributes_replace_all_former_ones(self, store: Stores) -> None:
        space = new_space()
        given = fact("Wanda", "HEADS", "Logistics", attributes={"interim": True, "rank": 2})
        [uuid] = await added(store, space, given)
        result = await correct(store, space, uuid, corrected(attributes={"rank": 3}))
        assert result.fact.attributes == {"rank": 3}
        former, _ = await store.history.versions(space, uuid, 10)
        assert former.fact.attributes == {"interim": True, "rank": 2}

    async def test_a_correction_to_what_the_fact_is_changes_nothing(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        revision = (await store.stats(space)).revision
        same = corrected(subject="WANDA", valid_at=HEADS.valid_at, statement=HEADS.fact)
        result = await correct(store, space, uuid, same)
        assert (result.changed, result.revision) == (False, revision)
        assert len(await store.history.versions(space, uuid, 10)) == 1

    @pytest.mark.parametrize(
        ("correction", "field"),
        [
            (corrected(invalid_at=day("2024-05-09")), "correction.invalid_time"),
            (corrected(invalid_at=day("2020-01-01")), "correction.invalid_time"),
            (corrected(valid_at=day("2024-08-01")), "correction.valid_time"),
        ],
    )
    async def test_a_fact_that_would_not_end_after_its_start_is_not_corrected(
        self, store: Stores, correction: FactCorrection, field: str
    ) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await store.end_fact(space, uuid, day("2024-08-01"))
        revision = (await store.stats(space)).revision
        with pytest.raises(InvalidFieldError) as refused:
            await correct(store, space, uuid, correction)
        assert [one.field for one in refused.value.fields] == [field]
        assert (await store.stats(space)).revision == revision

    async def test_a_corrected_end_overrides_one_that_was_set(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await store.end_fact(space, uuid, day("2024-08-01"))
        ended = await now(store, space)
        result = await correct(store, space, uuid, corrected(invalid_at=None))
        assert result.fact.invalid_at is None
        [former] = await standing(store, space, ended)
        assert former.invalid_at == day("2024-08-01")
        ended_again = await store.end_fact(space, uuid, day("2024-09-01"))
        assert ended_again.fact.invalid_at == day("2024-09-01")

    async def test_a_corrected_start_leaves_the_end(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await store.end_fact(space, uuid, day("2024-08-01"))
        result = await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        assert result.fact.invalid_at == day("2024-08-01")

    async def test_a_corrected_fact_remains_so_when_it_is_stated_again(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        for stated in (HEADS, RIGHT):
            assert (await store.add_facts(space, [stated], "")).added == 0
        [one] = await standing(store, space)
        assert (one.uuid, one.valid_at) == (uuid, day("2024-05-02"))

    async def test_a_fact_can_be_corrected_back(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        for start in ("2024-05-02", "2024-05-09", "2024-05-02"):
            result = await correct(store, space, uuid, corrected(valid_at=day(start)))
            assert (result.fact.uuid, result.fact.valid_at) == (uuid, day(start))
        assert len(await store.history.versions(space, uuid, 10)) == 4

    async def test_a_withdrawn_correction_leaves_nothing_of_the_fact(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        await store.corrections.withdraw_facts(space, [uuid], BY)
        assert (await store.add_facts(space, [RIGHT], "")).added == 1
        [one] = await standing(store, space)
        assert one.uuid != uuid
        assert one.valid_at == day("2024-05-02")

    async def test_a_corrected_subject_makes_another_fact_that_names_the_former(
        self, store: Stores
    ) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        then = await now(store, space)
        result = await correct(store, space, uuid, corrected(subject="Wilma"))
        assert (result.changed, result.replaced) == (True, uuid)
        assert result.fact.uuid != uuid
        assert (result.fact.source.name, result.fact.fact) == ("Wilma", "Wilma heads Logistics")
        assert [one.uuid for one in await standing(store, space)] == [result.fact.uuid]
        assert [one.uuid for one in await standing(store, space, then)] == [uuid]
        former = await ended_with(store, space, uuid)
        assert former.change == FactChange(ChangeKind.CORRECTED, BY, result.fact.uuid)
        assert (await ended_with(store, space, result.fact.uuid)).corrects == uuid
        withdrawn = await store.history.withdrawn(space, Selector(name_key="wanda"), "", None, 10)
        assert [one.fact.uuid for one in withdrawn] == [uuid]
        outcomes, _ = await store.corrections.withdraw_facts(space, [uuid], BY)
        assert outcomes == {uuid: Outcome.ALREADY_WITHDRAWN}

    async def test_a_correction_of_a_replaced_fact_is_one_of_the_fact_that_replaced_it(
        self, store: Stores
    ) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        result = await correct(store, space, uuid, corrected(subject="Wilma"))
        again = await correct(store, space, uuid, corrected(subject="Wilma"))
        assert (again.changed, again.replaced) == (False, uuid)
        assert again.fact == result.fact
        later = await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        assert (later.changed, later.fact.uuid) == (True, result.fact.uuid)

    async def test_a_corrected_object_and_relation_keep_sources_times_and_ends(
        self, store: Stores
    ) -> None:
        space = new_space()
        await store.add_episodes(space, [passage(space, "d", "News", "Wanda heads Logistics.")])
        given = fact("Wanda", "HEADS", "Logistics", valid_at=day("2024-05-09"), document_id="d")
        [uuid] = await added(store, space, given)
        await store.end_fact(space, uuid, day("2024-08-01"))
        correction = corrected(object="Transport", relation="LEADS", statement="Wanda led it.")
        result = await correct(store, space, uuid, correction)
        one = result.fact
        assert (one.target.name, one.relation, one.fact) == ("Transport", "LEADS", "Wanda led it.")
        assert (one.valid_at, one.invalid_at) == (day("2024-05-09"), day("2024-08-01"))
        assert [cited.document_id for cited in one.citations] == ["d"]
        await store.delete_episodes(space, [passage(space, "d", "News", "").uuid])
        assert await standing(store, space) == []

    async def test_a_corrected_type_makes_the_entity_of_that_type(self, store: Stores) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        typed = corrected(subject=EntityName("Wanda", "Person"))
        result = await correct(store, space, uuid, typed)
        assert result.changed
        assert result.fact.source.type == "Person"
        assert len(await standing(store, space)) == 1

    async def test_a_fact_corrected_to_an_existing_one_becomes_that_one(
        self, store: Stores
    ) -> None:
        space = new_space()
        right, uuid = await added(store, space, RIGHT, HEADS)
        then = await now(store, space)
        correction = corrected(valid_at=day("2024-05-02"), attributes={"sure": True})
        result = await correct(store, space, uuid, correction)
        assert (result.fact.uuid, result.replaced) == (right, uuid)
        assert [one.uuid for one in await standing(store, space)] == [right]
        [kept] = (await store.history.facts_known(space, [right], None)).values()
        assert kept.attributes == {"sure": True}
        assert len(await standing(store, space, then)) == 2
        assert (await store.add_facts(space, [HEADS], "")).added == 0
        assert len(await standing(store, space)) == 1

    async def test_withdrawn_and_unknown_facts_are_not_corrected(self, store: Stores) -> None:
        space, other = new_space(), new_space()
        [uuid] = await added(store, space, HEADS)
        correction = corrected(statement="x")
        with pytest.raises(NotFoundError):
            await correct(store, other, uuid, correction)
        await store.corrections.withdraw_facts(space, [uuid], BY)
        with pytest.raises(NotFoundError):
            await correct(store, space, uuid, correction)

    async def test_a_corrected_fact_keeps_its_identity_when_its_entities_gain_types(
        self, store: Stores
    ) -> None:
        space = new_space()
        [uuid] = await added(store, space, HEADS)
        await correct(store, space, uuid, corrected(valid_at=day("2024-05-02")))
        person = fact(EntityName("Wanda", "Person"), "KNOWS", "Viktor")
        ship = fact(EntityName("Wanda", "Ship"), "CARRIES", "Freight")
        await store.add_facts(space, [person, ship], "")
        for stated in (HEADS, RIGHT):
            assert (await store.add_facts(space, [stated], "")).added == 0
        heads = [one for one in await standing(store, space) if one.relation == "HEADS"]
        assert [one.valid_at for one in heads] == [day("2024-05-02")]


class SourceSuite:
    """What a source states, compared with what it stated before."""

    async def test_a_source_that_states_a_fact_no_longer_withdraws_it_if_asked(
        self, store: Stores
    ) -> None:
        space = new_space()
        first = await settled(store, space, BEFORE, HEADS)
        assert (first.missing, first.total, first.withdrawn) == ((), 0, 0)
        then = await now(store, space)
        kept = await settled(store, space, BEFORE, RIGHT, withdraw=False)
        assert (statements(kept.missing), kept.total, kept.withdrawn) == ({HEADS.fact}, 1, 0)
        assert len(await standing(store, space)) == 3
        gone = await settled(store, space, BEFORE, RIGHT)
        assert ([one.valid_at for one in gone.missing], gone.total) == ([HEADS.valid_at], 1)
        assert gone.withdrawn == 1
        left = await standing(store, space)
        assert [one.valid_at for one in left] == [BEFORE.valid_at, RIGHT.valid_at]
        [former] = await store.history.list_facts(
            space, Scope(known=then), at("2024-05-05"), None, 5
        )
        assert former.source.name == "Viktor"
        again = await settled(store, space, BEFORE, RIGHT)
        assert (again.total, again.withdrawn) == (0, 0)

    async def test_a_source_that_states_nothing_any_more_withdraws_all(self, store: Stores) -> None:
        space = new_space()
        await settled(store, space, BEFORE, HEADS)
        gone = await settled(store, space)
        assert (gone.total, gone.withdrawn) == (2, 2)
        assert gone.revision == (await store.stats(space)).revision
        assert await standing(store, space) == []

    async def test_sources_are_compared_each_by_itself_and_in_its_space(
        self, store: Stores
    ) -> None:
        space, other = new_space(), new_space()
        await settled(store, space, HEADS, source="a")
        await settled(store, other, HEADS, source="a")
        gone = await settled(store, space, BEFORE, source="b")
        assert (gone.total, gone.withdrawn) == (0, 0)
        await settled(store, space, source="a")
        assert len(await standing(store, other)) == 1
        assert statements(await standing(store, space)) == {BEFORE.fact}

    async def test_a_fact_of_two_sources_stands_until_neither_states_it(
        self, store: Stores
    ) -> None:
        space = new_space()
        await settled(store, space, HEADS, source="a")
        await settled(store, space, HEADS, source="b")
        gone = await settled(store, space, BEFORE, source="a")
        assert (gone.total, gone.withdrawn) == (1, 0)
        assert len(await standing(store, space)) == 2
        last = await settled(store, space, BEFORE, source="b")
        assert (last.total, last.withdrawn) == (1, 1)
        assert statements(await standing(store, space)) == {BEFORE.fact}

    async def test_a_fact_also_stated_without_a_source_is_not_withdrawn(
        self, store: Stores
    ) -> None:
        for sourced_first in (True, False):
            space = new_space()
            if sourced_first:
                await settled(store, space, HEADS)
            await store.add_facts(space, [HEADS], "")
            if not sourced_first:
                await settled(store, space, HEADS)
            gone = await settled(store, space, BEFORE)
            assert (gone.total, gone.withdrawn) == (1, 0)
            assert len(await standing(store, space)) == 2

    async def test_a_fact_withdrawn_by_a_user_is_no_longer_missing_in_its_source(
        self, store: Stores
    ) -> None:
        space = new_space()
        await settled(store, space, BEFORE, HEADS)
        uuid = (await standing(store, space))[1].uuid
        await store.corrections.withdraw_facts(space, [uuid], BY)
        gone = await settled(store, space, BEFORE)
        assert (gone.total, gone.withdrawn) == (0, 0)
        await settled(store, space, BEFORE, HEADS)
        gone = await settled(store, space, BEFORE)
        assert (gone.total, gone.withdrawn) == (1, 1)

    async def test_a_corrected_fact_belongs_to_the_source_of_the_former(
        self, store: Stores
    ) -> None:
        space = new_space()
        await settled(store, space, HEADS)
        [one] = await standing(store, space)
        result = await correct(store, space, one.uuid, corrected(subject="Wilma"))
        gone = await settled(store, space, BEFORE)
        assert [fact.uuid for fact in gone.missing] == [result.fact.uuid]
        assert gone.withdrawn == 1

    async def test_a_fact_that_a_correction_merges_remains_the_sources_own(
        self, store: Stores
    ) -> None:
        space = new_space()
        await settled(store, space, RIGHT, HEADS)
        uuid = (await standing(store, space))[1].uuid
        await correct(store, space, uuid, corrected(valid_at=RIGHT.valid_at))
        gone = await settled(store, space, BEFORE)
        assert (gone.total, gone.withdrawn) == (1, 1)

    async def test_a_settlement_names_the_first_hundred_and_counts_all(self, store: Stores) -> None:
        space = new_space()
        many = [fact(f"Person {number}", "KNOWS", "Ana") for number in range(120)]
        await settled(store, space, *many)
        gone = await settled(store, space, withdraw=False)
        assert (len(gone.missing), gone.total, gone.withdrawn) == (100, 120, 0)
        assert [one.uuid for one in gone.missing] == sorted(one.uuid for one in gone.missing)
