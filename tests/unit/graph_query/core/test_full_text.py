"""Full-text queries: whatever the text, only quoted words reach the index."""

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
def test_no_text_breaks_out_of_its_quotes(text: str) -> None:
    query = words_query("space", ("fact",), query_terms(text))
    assert query == "" or re.fullmatch(r'\+group_id:"space"\^0 \+\((fact:"\w+" ?)+\)', query)


def test_stop_words_alone_ask_for_nothing() -> None:
    assert words_query("space", ("fact",), query_terms("who is the")) == ""


@pytest.mark.parametrize("space", ["the", "a", "no-of", "_-_"])
def test_a_space_that_the_analyzer_would_drop_stays_out_of_the_query(space: str) -> None:
    assert words_query(space, ("fact",), ["term"]) == '+(fact:"term")'


def test_phrases_are_split_into_queries_that_the_index_takes() -> None:
    queries = list(phrase_queries("s", [f"name {number}" for number in range(1_100)]))
    assert len(queries) == 3
    assert max(query.count("words:") for query in queries) == 500


def test_a_question_names_runs_of_its_words_but_no_lone_small_word() -> None:
    keys = name_candidates("Who is Anna Bell?")
    assert keys[0] == "who is anna bell"
    assert {"anna bell", "anna", "bell"} <= set(keys)
    assert not {"who", "is"} & set(keys)
