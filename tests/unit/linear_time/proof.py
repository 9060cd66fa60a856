"""Proves that patterns of the standard library's `re` run in time linear in the text, from their syntax.

A backtracking search is superlinear when an attempt can read far and then fail: the next attempt reads the same again.
A pattern is accepted if no attempt can: nothing that may fail follows an unbounded repetition. That repetition, too,
must read each character once: its content is a single character, or is itself accepted.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

# The standard library's parser of patterns is not documented; each version has it.
codes: Any = importlib.import_module("re._constants")
_parser: Any = importlib.import_module("re._parser")
# The most characters that a bounded attempt may read.
MAX_ATTEMPT = 4_000
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)

Item = tuple[Any, Any]
_BEGINNINGS = ([(codes.AT, codes.AT_BEGINNING)], [(codes.AT, codes.AT_BEGINNING_STRING)])


def fault_of(pattern: re.Pattern[Any], *, whole: bool = False) -> str:
    """Returns why a pattern is not proved to be linear; "" if it is. `whole`: it is used to match whole texts."""
    items = list(_parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG))
    if whole:
        items = [*items, (codes.AT, codes.AT_END_STRING)]
    anchored = items[:1] in _BEGINNINGS and not pattern.flags & re.MULTILINE
    return _fault_of_anchored(items) if whole or anchored else _fault_of_sequence(items)


def _fault_of_anchored(items: list[Item]) -> str:
    """A single attempt may go back over one run of characters, each time by a bounded rest."""
    first = next((place for place, item in enumerate(items) if _is_unbounded(item)), None)
    if first is None or items[first][0] not in _REPEATS or len(items[first][1][2]) > 1:
        return _fault_of_sequence(items)
    return _fault_of_sequence(items[first + 1 :])


def _fault_of_sequence(items: Sequence[Item]) -> str:
    for first, second in pairwise(_with_lengths(items)):
        (_, unbounded), (item, _) = first, second
        if unbounded and not _cannot_fail(item):
            return f"{_name(item)} may fail after an unbounded repetition"
    return next((fault for item in items if (fault := _fault_of_item(item))), "")


def _with_lengths(items: Sequence[Item]) -> Iterable[tuple[Item, bool]]:
    """Yields each item with whether it or one before it is unbounded."""
    unbounded = False
    for item in items:
        unbounded = unbounded or _is_unbounded(item)
        yield item, unbounded


def _fault_of_item(item: Item) -> str:
    code, value = item
    if code in _REPEATS:
        low, high, inner = value
        body = list(inner)
        if high is not codes.MAXREPEAT and high != codes.MAXREPEAT:
            repeated = any(_is_unbounded(one) for one in body) and high > 1
            return "an unbounded repetition is repeated" if repeated else _fault_of_sequence(body)
        if code is codes.MIN_REPEAT:
            return "an unbounded lazy repetition"
        if low > 1 and len(body) > 1:
            return "an unbounded repetition has a minimum"
        return _fault_of_sequence(body)
    return next(
        (fault for body in _bodies(item) if (fault := _fault_of_sequence(body))), _reference(item)
    )


def _bodies(item: Item) -> list[list[Item]]:
    code, value = item
    if code is codes.BRANCH:
        return [list(one) for one in value[1]]
    if code is codes.SUBPATTERN:
        return [list(value[3])]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [list(value[1])]
    if code is codes.ATOMIC_GROUP:
        return [list(value)]
    if code in _REPEATS:
        return [list(value[2])]
    return []


def _reference(item: Item) -> str:
    code, value = item
    if code in (codes.ASSERT, codes.ASSERT_NOT) and any(map(_is_unbounded, list(value[1]))):
        return "an unbounded lookaround"
    return ""


def _is_unbounded(item: Item) -> bool:
    code, value = item
    if code in _REPEATS and value[1] == codes.MAXREPEAT:
        return True
    if code in _REPEATS and _longest(item) > MAX_ATTEMPT:
        return True
    return any(_is_unbounded(one) for body in _bodies(item) for one in body)


def _longest(item: Item) -> int:
    longest: int = _parser.SubPattern(_parser.State(), [item]).getwidth()[1]
    return longest


def _cannot_fail(item: Item) -> bool:
    """Whether an item matches at every place, if need be the empty text."""
    code, value = item
    if code in _REPEATS:
        return bool(value[0] == 0)
    if code is codes.SUBPATTERN:
        return all(map(_cannot_fail, list(value[3])))
    return False


def _name(item: Item) -> str:
    return str(item[0]).lower()
