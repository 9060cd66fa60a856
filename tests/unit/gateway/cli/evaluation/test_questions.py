"""Files of questions: what is read, and what is refused with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.errors import CliError
from gateway.cli.evaluation.questions import EvalQuestion, read_questions
from gateway.cli.evaluation.settings import read_goal, read_setting


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_label_may_be_one_text_or_a_list(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        {"question": "Who?", "expected": "Ada", "documents": ["a.md", "b.md"]},
        {"question": "What?", "none": True, "as_of": "2024-03-01"},
    )
    assert read_questions(path) == [
        EvalQuestion("Who?", ("Ada",), ("a.md", "b.md")),
        EvalQuestion("What?", as_of="2024-03-01", none=True),
    ]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ([], "must be a JSON object"),
        ({"question": "Who?"}, "needs expected, documents or none"),
        ({"question": " ", "none": True}, "1 to 8,192 characters"),
        ({"question": "x" * 8_193, "none": True}, "1 to 8,192 characters"),
        ({"question": 1, "none": True}, "1 to 8,192 characters"),
        ({"question": "Who?", "none": "yes"}, "none must be true or false"),
        ({"question": "Who?", "none": True, "expected": "Ada"}, "although none is true"),
        ({"question": "Who?", "expected": [1]}, "expected must be a text or a list"),
        ({"question": "Who?", "documents": {"id": 1}}, "documents must be a text or a list"),
        ({"question": "Who?", "expect": "Ada"}, "unknown fields: expect; known: as_of, documents"),
        ({"question": "Who?", "none": True, "as_of": "May"}, "as_of must be a day or an instant"),
    ],
)
def test_an_invalid_row_is_refused_with_its_line(tmp_path: Path, row: Any, reason: str) -> None:
    path = written(tmp_path, {"question": "Who?", "none": True}, row)
    with pytest.raises(CliError, match="line 2") as failure:
        read_questions(path)
    assert reason in failure.value.detail


def test_a_file_without_questions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text("\n")
    with pytest.raises(CliError, match="holds no questions"):
        read_questions(path)


@pytest.mark.parametrize("pattern", ["notes/a.md", "NOTES/A.MD", "notes/*", "The note"])
def test_a_document_is_named_by_id_title_or_pattern(pattern: str) -> None:
    question = EvalQuestion("Who?", documents=(pattern,))
    assert question.names("notes/a.md", "The note")
    assert not question.names("other/a.md", "Another")


def test_a_setting_names_only_what_differs_from_the_defaults() -> None:
    setting = read_setting("limit=3,rerank=local,url=http://127.0.0.1:9")
    assert setting.url == "http://127.0.0.1:9"
    hybrid = setting.body("hybrid", "Who?", None, 10)
    assert hybrid == {"query": "Who?", "as_of": None, "limit": 3, "rerank": "local"}
    assert "rerank" not in setting.body("text", "Who?", None, 10)


@pytest.mark.parametrize(
    "text",
    ["", "limit", "limit=0", "limit=51", "limit=x", "rerank=best", "speed=1", "limit=1,limit=2"],
)
def test_an_invalid_setting_is_refused(text: str) -> None:
    with pytest.raises(CliError, match="--against"):
        read_setting(text)


def test_a_goal_is_a_figure_and_a_number() -> None:
    assert read_goal("hybrid.recall@5=90") == ("hybrid.recall@5", 90.0)
    with pytest.raises(CliError, match="FIGURE=NUMBER"):
        read_goal("hybrid.recall@5")
