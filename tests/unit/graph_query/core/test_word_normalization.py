"""Words are normalized to have no accents, and split into pairs of letters in scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.graph_query.core.full_text import (
    added_words,
    all_words,
    parts_of_runs,
    plain_word,
    query_terms,
)
from services.graph_query.core.names import STOP_WORDS


@pytest.mark.parametrize(
    ("word", "plain"),
    [
        ("caf\u00e9", "cafe"),
        ("stra\u00dfe", "strasse"),
        ("\u0142\u00f3d\u017a", "lodz"),
        ("\u00f8rsted", "orsted"),
        ("\u00e6on", "aeon"),
        ("\u0451\u043b\u043a\u0430", "\u0435\u043b\u043a\u0430"),
        ("\u0439\u043e\u0434", "\u0439\u043e\u0434"),
        ("\u30ac\u30b9", "\u30ac\u30b9"),
        ("plain", "plain"),
    ],
)
def test_accents_are_removed_and_other_letters_are_kept(word: str, plain: str) -> None:
    assert plain_word(word) == plain


def test_only_words_that_differ_are_added_to_the_index() -> None:
    assert added_words("Anna runs the cafe.") is None
    assert added_words("Anna runs the Caf\u00e9 \u2014 \u201cso\u201d.") == "cafe"
    assert added_words("\u65e5\u672c\u306e\u8239") is None
    assert added_words("\uc11c\uc6b8\uc5d0") == "\uc11c\uc6b8 \uc6b8\uc5d0 \uc11c \uc6b8 \uc5d0"


def test_parts_of_runs_are_candidates_for_names() -> None:
    assert list(parts_of_runs("ab \u65e5\u672c\u306e", 8)) == [
        "\u65e5\u672c",
        "\u65e5\u672c\u306e",
        "\u672c\u306e",
    ]


@given(st.text(max_size=60))
def test_the_words_of_a_text_include_all_its_query_terms(text: str) -> None:
    terms = set(query_terms(text))
    assert terms <= all_words(text)
    assert not terms & STOP_WORDS
