"""Full-text queries contain only quoted words, whatever the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.full_text import (
    name_candidates,
    phrase_queries,
    query_terms,
    words_query,
)


@given(st.text(max_size=200))
def test_no_text_escapes_its_quotes(text: str) -> None:
    query = words_query("space", ("fact",), query_terms(text))
    assert query == "" or re.fullmatch(r'\+group_id:"space"\^0 \+\((fact:"\w+" ?)+\)', query)


def test_a_text_of_stop_words_gives_an_empty_query() -> None:
    assert words_query("space", ("fact",), query_terms("who is the")) == ""


@pytest.mark.parametrize("space", ["the", "a", "no-of", "_-_"])
def test_a_space_that_the_analyzer_would_drop_is_left_out_of_the_query(space: str) -> None:
    assert words_query(space, ("fact",), ["term"]) == '+(fact:"term")'


def test_phrases_are_split_into_queries_of_bounded_size() -> None:
    queries = list(phrase_queries("s", [f"name {number}" for number in range(1_100)]))
    assert len(queries) == 3
    assert max(query.count("words:") for query in queries) == 500


def test_name_candidates_are_word_sequences_without_single_stop_words() -> None:
    keys = name_candidates("Who is Anna Bell?")
    assert keys[0] == "who is anna bell"
    assert {"anna bell", "anna", "bell"} <= set(keys)
    assert not {"who", "is"} & set(keys)
