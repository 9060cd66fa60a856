"""Sentences without the marks of Markdown before them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.agent.planner.language import sentences
from services.graph_query.core.tokens import split_sentences
from services.runtime.markup import is_heading, text_within_markup


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("# Outage of the shop", "Outage of the shop"),
        ("- It was down.", "It was down."),
        ("* [ ] Call Ana.", "Call Ana."),
        ("> > Quoted.", "Quoted."),
        ("| a | b", "a | b"),
        ("**Outage**", "Outage"),
        ("**Outage** of the shop", "Outage** of the shop"),
        ("- *It* was down.", "It* was down."),
        ("`braid up` starts.", "braid up` starts."),
        ("12. Oktober war es.", "12. Oktober war es."),
        ("#5 was closed.", "#5 was closed."),
        ("-5 degrees.", "-5 degrees."),
        ("_private is a name.", "_private is a name."),
        ("Plain text.", "Plain text."),
        ("", ""),
    ],
)
def test_marks_before_a_sentence_do_not_belong_to_it(sentence: str, text: str) -> None:
    start, end = text_within_markup(sentence)
    assert sentence[start:end] == text


def test_a_heading_is_a_sentence_of_its_own() -> None:
    text = (
        "# Outage of the ticket shop\nOn 12 October the shop was down.\n- **Cause**: a certificate."
    )
    expected = ["Outage of the ticket shop", "On 12 October the shop was down."]
    assert split_sentences(text)[:2] == expected
    found = sentences(text)
    assert [one.text for one in found][:2] == expected
    assert all(text[one.start : one.end] == one.text for one in found)
    assert [is_heading(line) for line in text.split("\n")] == [True, False, False]


@given(st.text(alphabet="#*-_>|`[] xa\n", max_size=30))
def test_the_text_is_a_part_of_the_sentence(sentence: str) -> None:
    start, end = text_within_markup(sentence)
    assert 0 <= start <= end <= len(sentence)
