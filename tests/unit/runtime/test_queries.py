"""Named queries stand in files of many; what several of them share is written once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from services.agent_orchestrator.database import load_queries as orchestrator_queries
from services.graph_query.neo4j.queries import load_queries as graph_queries
from services.runtime.queries import Queries
from services.vector_search.database import load_queries as vector_queries
from tests.queries import main

Load = Callable[..., Queries]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads the given files, each as the folder `sql` of a package of its own."""
    monkeypatch.syspath_prepend(tmp_path)

    def loaded(*texts: str) -> Queries:
        names = [f"queries_{tmp_path.name}_{number}" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            folder = tmp_path / name / "sql"
            folder.mkdir(parents=True)
            (folder.parent / "__init__.py").touch()
            (folder / "all.sql").write_text(text)
        return Queries.load("sql", *names)

    return loaded


ONE = "-- name: one\n-- What is one.\nselect 1\n"
POSITIVE = "-- fragment: is_positive value\n-- Whether it is more than nothing.\n{{value}} > 0\n"


def test_each_query_of_a_file_has_a_name_and_a_description(load: Load) -> None:
    queries = load(f"{ONE}\n-- name: two\n-- What is two.\nselect 2\n")
    assert queries.names() == ["one", "two"]
    assert queries["one"] == "-- What is one.\nselect 1"
    assert queries["two"].name == "two"


def test_a_fragment_of_any_file_is_inserted_with_its_arguments(load: Load) -> None:
    queries = load(POSITIVE, "-- name: some\n-- Some.\nselect a where {{is_positive a.x}}")
    assert queries["some"].endswith("select a where a.x > 0")


def test_a_fragment_contains_others(load: Load) -> None:
    nested = "-- fragment: both a b\n-- Both.\n{{is_positive a}} and {{is_positive b}}\n"
    queries = load(POSITIVE + nested + "-- name: some\n-- Some.\nselect {{both x y}}")
    assert queries["some"].endswith("select x > 0 and y > 0")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("select 1", "does not begin with the name"),
        ("-- name: one\nselect 1", "what it is"),
        ("-- fragment: one\n1", "what it is"),
        (ONE + ONE, "one stands twice"),
        (ONE + "-- fragment: one\n-- One.\n1", "one stands twice"),
        (ONE + "and {{is_positive x}}", r"no fragment is written as \{\{is_positive x\}\}"),
        (ONE + "and {{is_positive}}\n" + POSITIVE, "no fragment is written as"),
        (
            ONE + "{{a}}\n-- fragment: a\n-- A.\n{{b}}\n-- fragment: b\n-- B.\n{{a}}",
            "contain each other",
        ),
        (ONE + "and {{is_positive", "is not closed"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(load: Load, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(text)


@pytest.mark.parametrize("load_all", [orchestrator_queries, graph_queries, vector_queries])
def test_each_service_loads_its_queries_whole(load_all: Callable[[], Queries]) -> None:
    queries = load_all()
    assert queries.names()
    assert not [name for name in queries.names() if "{{" in queries[name]]


def test_a_query_is_printed_whole(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["facts_of_space"]) == 0
    printed = capsys.readouterr().out
    assert "86400" in printed
    assert "{{" not in printed
    assert main(["no_such_query"]) == 2
