"""A text for a prompt has one numbered line for each item, in their order, and never more than its tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from braid.agent.v1 import profile_pb2
from services.agent_orchestrator.profile.context import HEADING, Candidate, compose, tokens


def candidate(line: str, *, id_: str = "", score: float = 0.5) -> Candidate:
    item = profile_pb2.ProfileItem(
        id=id_ or line, source=profile_pb2.PROFILE_SOURCE_MEMORY, text=line
    )
    return Candidate(item, line, score)


def test_each_item_is_a_numbered_line_in_order() -> None:
    found = compose([candidate("First."), candidate("Second.")], 1_000)
    assert found.text == f"{HEADING}\n[1] First.\n[2] Second."
    assert [(one.number, one.item.text) for one in found.items] == [(1, "First."), (2, "Second.")]
    assert found.left_out == 0


def test_an_item_that_does_not_fit_is_left_out_and_a_shorter_one_follows() -> None:
    most = tokens(HEADING) + 10
    found = compose([candidate("x" * 500), candidate("Short.")], most)
    assert [one.item.text for one in found.items] == ["Short."]
    assert found.left_out == 1


def test_the_same_item_stands_once_with_its_first_score() -> None:
    found = compose([candidate("A", id_="1"), candidate("A", id_="1", score=0.0)], 1_000)
    assert [one.score for one in found.items] == [0.5]


def test_nothing_known_is_an_empty_text() -> None:
    assert compose([], 1_000) == ("", [], 0)


@given(st.lists(st.text(max_size=200)), st.integers(min_value=20, max_value=300))
def test_a_text_is_never_longer_than_its_tokens_and_no_item_makes_a_line_of_its_own(
    lines: list[str], most: int
) -> None:
    found = compose([candidate(line, id_=str(n)) for n, line in enumerate(lines)], most)
    assert tokens(found.text) <= most
    assert found.text.count("\n") == len(found.items)
    assert len(found.items) + found.left_out == len(lines)
