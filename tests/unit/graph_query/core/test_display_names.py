"""The displayed spelling of a name depends on the known spellings and not on their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.domain import EntityName
from services.graph_query.core.entity_resolution import Resolution, homonyms
from services.graph_query.core.fact_batch import GivenEnds
from services.graph_query.core.names import Source, Spelling, best
from tests.store_suite.graph.builders import fact

TYPES = st.frozensets(st.sampled_from(["Band", "Element", "Planet"]))


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (Spelling(Source.TITLE, "NATS"), Spelling(Source.STATED, "Nats")),
        (Spelling(Source.STATED, "nats"), Spelling(Source.TEXT, "Nats")),
        (Spelling(Source.TEXT, "Anna Bell"), Spelling(Source.TEXT, "ANNA BELL")),
        (Spelling(Source.TEXT, "Anna Bell"), Spelling(Source.TEXT, "anna bell")),
        (Spelling(Source.TEXT, "Lothair II"), Spelling(Source.TEXT, "Lothair Ii")),
    ],
)
def test_titles_take_precedence_over_facts_and_mixed_case_over_plain(
    better: Spelling, worse: Spelling
) -> None:
    assert best([worse, better]) == best([better, worse]) == better


@given(st.text(min_size=1), st.text(min_size=1), st.sampled_from(["", "Band"]))
def test_given_ends_round_trip_through_their_stored_form(
    subject: str, target: str, kind: str
) -> None:
    ends = GivenEnds.of(fact(EntityName(subject, kind), "IS", target))
    assert GivenEnds.decode(ends.encode()) == ends


@given(TYPES)
def test_one_entity_of_a_name_always_has_the_untyped_uuid(types: frozenset[str]) -> None:
    found = homonyms("s", "mercury", types)
    assert list(found) == (sorted(types) or [""])
    assert next(iter(found.values())) == homonyms("s", "mercury", ())[""]


@given(TYPES, TYPES)
def test_adding_and_removing_types_restores_the_original_entities(
    stored: frozenset[str], more: frozenset[str]
) -> None:
    ends = [EntityName("Mercury", kind) for kind in sorted(more)]
    added = Resolution.adding("s", {"mercury": stored}, [EntityName("Mercury"), *ends])
    removed = Resolution.removing(
        "s", added.types, [("mercury", kind) for kind in sorted(more - stored)]
    )
    assert removed.types == {"mercury": stored}
    assert removed.vanished() == [row.uuid for row in added.created()]
    assert {(row.old, row.new) for row in removed.retyped()} == {
        (row.new, row.old) for row in added.retyped()
    }
