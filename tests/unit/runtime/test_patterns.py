"""Patterns in linear time: Unicode as in the standard library, and a clear refusal of what cannot be linear."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.runtime.patterns import UnsupportedPatternError, compile_linear


@pytest.mark.parametrize("pattern", [r"\w+", r"\d+", r"\s+", r"\W", r"[\w-]+", r"[\s,]+", r"a|é"])
@given(text=st.text())
def test_classes_match_the_characters_that_the_standard_library_matches(
    pattern: str, text: str
) -> None:
    text = text.encode("utf-8", "replace").decode()

    found = [match.span() for match in compile_linear(pattern).finditer(text)]

    assert found == [match.span() for match in re.finditer(pattern, text)]


@pytest.mark.parametrize("pattern", [r"a(?=b)", r"(?<!a)b", r"(a)\1", r"[^\W_]"])
def test_a_pattern_that_cannot_be_linear_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError, match=re.escape(repr(pattern))):
        compile_linear(pattern)


def test_a_text_with_lone_surrogates_is_searched() -> None:
    match = compile_linear(r"b+").search("é\ud800bb")

    assert match is not None
    assert match.span() == (2, 4)


def test_flags_and_methods_act_as_in_the_standard_library() -> None:
    word = compile_linear(r"(é)|^b", ignore_case=True, multiline=True)

    assert word.sub("é\\1", "aé") == "aé\\1"
    assert word.sub(lambda match: match.group(1) or "-", "aÉ\nB") == "aÉ\n-"
    assert word.split("aÉ\nc") == ["a", "É", "\nc"]
    assert word.fullmatch("É") is not None
    assert word.match("a") is None
    assert compile_linear("a.b", dot_all=True).search("a\nb") is not None
    assert compile_linear(r"a\Z").search("ba") is not None
