"""A folder of labeled questions is read completely, or rejected with the location of the error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.command import UsageError
from tests.evals.labelled import is_labelled_set, read_labelled_set


def folder(place: Path, *rows: dict[str, Any], corpus: str | None = None) -> Path:
    """Creates a set with one document and the given questions."""
    (place / "docs" / "deep").mkdir(parents=True)
    (place / "docs" / "deep" / "note.md").write_text("# A note\n")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (place / "questions.jsonl").write_text(lines)
    if corpus is not None:
        (place / "corpus.json").write_text(corpus)
    return place


def row(**changes: Any) -> dict[str, Any]:
    return {
        "question": "What?",
        "as_of": None,
        "doc": None,
        "fact": None,
        "category": "other",
    } | changes


def test_documents_have_the_ids_that_ingestion_assigns(tmp_path: Path) -> None:
    found = read_labelled_set(folder(tmp_path, row()))
    assert [source.id for source in found.sources] == ["deep/note.md"]


def test_facts_are_loaded_after_the_documents(tmp_path: Path) -> None:
    (folder(tmp_path, row()) / "facts.jsonl").write_text("{}\n")
    assert [source.id for source in read_labelled_set(tmp_path).sources] == [
        "deep/note.md",
        "facts.jsonl",
    ]


def test_the_sample_is_loaded_if_corpus_json_says_so(tmp_path: Path) -> None:
    found = read_labelled_set(folder(tmp_path, row(), corpus='{"sample": true}'))
    assert "2023-01-16-checkout-service.md" in [source.id for source in found.sources]


@pytest.mark.parametrize(
    ("changes", "answerable", "near_miss", "unknown"),
    [
        ({"doc": "note"}, True, False, False),
        ({"fact": "owns"}, True, False, False),
        ({"doc": "note", "category": "near_miss"}, True, False, False),
        ({"category": "near_miss"}, False, True, False),
        ({"category": "Near misses"}, False, True, False),
        ({"category": "unknown"}, False, False, True),
        ({}, False, False, True),
    ],
)
def test_labels_determine_the_kind_of_a_question(
    tmp_path: Path, changes: dict[str, Any], answerable: bool, near_miss: bool, unknown: bool
) -> None:
    (question,) = read_labelled_set(folder(tmp_path, row(**changes))).questions
    kinds = (question.is_answerable, question.is_near_miss, question.is_unknown)
    assert kinds == (answerable, near_miss, unknown)


def test_only_the_question_is_required(tmp_path: Path) -> None:
    (question,) = read_labelled_set(folder(tmp_path, {"question": "What?"})).questions
    assert question.category == "other"
    assert question.as_of is None


@pytest.mark.parametrize(
    ("wrong", "detail"),
    [
        (row(doc="("), "line 2: doc is not a regular expression"),
        (row(fact="("), "line 2: fact is not a regular expression"),
        (row(doc=["note"]), "line 2: doc must be a string or null"),
        (row(as_of=2024), "line 2: as_of must be a string or null"),
        (row(question=""), "line 2: question is missing"),
    ],
)
def test_an_invalid_question_is_reported_with_its_line(
    tmp_path: Path, wrong: dict[str, Any], detail: str
) -> None:
    with pytest.raises(UsageError) as error:
        read_labelled_set(folder(tmp_path, row(), wrong))
    assert detail in str(error.value)


@pytest.mark.parametrize("corpus", ["[]", "{", '{"sample": "yes"}'])
def test_an_invalid_corpus_json_is_rejected(tmp_path: Path, corpus: str) -> None:
    with pytest.raises(UsageError, match=r"corpus\.json"):
        read_labelled_set(folder(tmp_path, row(), corpus=corpus))


def test_a_folder_without_questions_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no questions"):
        read_labelled_set(folder(tmp_path))


def test_a_folder_without_documents_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "questions.jsonl").write_text(json.dumps(row()) + "\n")
    with pytest.raises(UsageError, match="not a folder"):
        read_labelled_set(tmp_path)
    (tmp_path / "docs").mkdir()
    with pytest.raises(UsageError, match="no documents"):
        read_labelled_set(tmp_path)


def test_a_labeled_set_is_recognized_by_its_questions(tmp_path: Path) -> None:
    assert not is_labelled_set(tmp_path)
    assert is_labelled_set(folder(tmp_path, row()))
