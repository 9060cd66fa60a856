"""The page that walks requests through the code names only what exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture.md"
PLACES = sorted(
    {
        (path, name)
        for path, name in re.findall(
            r"`((?:services|gateway)/[\w/.]+)(?:::([\w.]+))?`", PAGE.read_text(encoding="utf-8")
        )
    }
)


def names_in(body: list[ast.stmt], before: str = "") -> set[str]:
    """Names of the classes and functions, methods as `Class.method`."""
    names: set[str] = set()
    for one in body:
        if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(before + one.name)
        if isinstance(one, ast.ClassDef):
            names |= names_in(one.body, f"{one.name}.")
    return names


def test_the_page_names_places_in_the_code() -> None:
    assert len([name for _, name in PLACES if name]) > 30


@pytest.mark.parametrize(("path", "name"), PLACES)
def test_a_named_place_exists(path: str, name: str) -> None:
    assert (ROOT / path).exists()
    if name:
        assert name in names_in(ast.parse((ROOT / path).read_text(encoding="utf-8")).body)
