"""Every pattern of the product runs in time linear in the text.

Patterns of the standard library are proved linear from their syntax; RE2's are linear for one match, so all their
matches in adversarial texts are measured.
"""

import re
from collections.abc import Iterator
from functools import partial

import pytest

from services.runtime.patterns import Pattern
from tests.pumps import pumps_of
from tests.unit.linear_time.growth import slow_texts
from tests.unit.linear_time.product import inline_patterns, matched_whole, patterns
from tests.unit.linear_time.proof import fault_of

_SIZE = 8_000


def test_patterns_of_the_standard_library_are_linear_by_their_syntax() -> None:
    whole = matched_whole()
    faults = {
        name: fault
        for name, pattern in patterns()
        if isinstance(pattern, re.Pattern)
        and (fault := fault_of(pattern, whole=id(pattern) in whole))
    }

    assert faults == {}


def test_each_pattern_is_compiled_when_its_module_is_imported() -> None:
    assert inline_patterns() == []


@pytest.mark.parametrize("part", range(4))
def test_all_matches_of_a_pattern_are_found_in_time_that_grows_linearly(part: int) -> None:
    slow: dict[str, list[str]] = {}
    for name, pattern in patterns()[part::4]:
        text_pattern = pattern.pattern
        if isinstance(text_pattern, bytes):
            continue  # proved by its syntax
        texts = partial(_texts, text_pattern)
        if found := slow_texts(partial(_find_all, pattern), texts, _SIZE):
            slow[name] = found

    assert slow == {}


def _texts(pattern: str, size: int) -> Iterator[str]:
    return pumps_of(pattern, size)


def _find_all(pattern: re.Pattern[str] | Pattern, text: str) -> None:
    pattern.match(text)
    pattern.fullmatch(text)
    for _ in pattern.finditer(text):
        pass


@pytest.mark.parametrize(
    "pattern",
    [
        r"\S+@\S+\.\w+",
        r"\s+$",
        r"a*b",
        r"(?:a+b)*",
        r"a.*?b",
        r"(a+)\1",
        r"x(?=a*b)",
        r"(?:a|b+)c",
        r"^\s*\w*x",
    ],
)
def test_a_pattern_that_backtracks_over_a_run_is_not_proved(pattern: str) -> None:
    assert fault_of(re.compile(pattern))


@pytest.mark.parametrize(
    "pattern",
    [r"\bthe (?:owner|lead)\b", r"\w+", r"[.!?]+[\"')]*|\n+", r"(?:a,b)+", r"^\s*x", r"a{0,40}b"],
)
def test_a_pattern_that_reads_each_character_once_is_proved(pattern: str) -> None:
    assert not fault_of(re.compile(pattern))
