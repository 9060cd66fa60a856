"""The files of the schema run in the order of their numbers."""

from __future__ import annotations

import re

from services.graph_query.neo4j.queries import load_schema
from services.graph_query.neo4j.schema import INDEXED

SCHEMA = load_schema()


def test_no_two_files_have_one_number() -> None:
    numbers = [name.partition("_")[0] for name in SCHEMA.names()]
    assert len(set(numbers)) == len(numbers)
    assert all(re.fullmatch(r"\d\d", number) for number in numbers)


def test_what_an_index_needs_comes_before_the_index() -> None:
    made = re.compile(r"^(?!//).* (\w+) IF NOT EXISTS", re.MULTILINE)
    created = {found[1]: name for name in SCHEMA.names() if (found := made.search(SCHEMA[name]))}
    needed = {
        found[1]: name
        for name in SCHEMA.names()
        if (found := re.match(r"// Before (\w+):", SCHEMA[name]))
    }
    assert needed
    assert [name for index, name in needed.items() if name >= created[index]] == []
    assert INDEXED.keys() <= created.keys()
