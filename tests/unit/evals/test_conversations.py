"""Conversations become messages a few minutes apart, and passages are mapped back to the turns that they contain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.command import UsageError
from tests.evals.conversations import read_conversations

STORY = "A long story about a lighthouse keeper and his dog."
TURNS: list[dict[str, Any]] = [
    {
        "id": "c/1",
        "conv": "c",
        "session_time": "1:56 pm on 8 May, 2023",
        "speaker": "Ann",
        "text": "Hello.",
    },
    {
        "id": "c/2",
        "conv": "c",
        "session_time": "1:56 pm on 8 May, 2023",
        "speaker": "Ben",
        "text": "A long story about a lighthouse keeper and his dog.",
    },
    {"id": "d/1", "conv": "d", "time": None, "speaker": "user", "text": "Before any date."},
    {"id": "d/2", "conv": "d", "time": "2024-03-15", "speaker": "user", "text": "With a day."},
]
QUERIES: list[dict[str, Any]] = [
    {"conv": "c", "question": "Who?", "category": 2, "gold": ["c/2"]},
    {"conv": "d", "question": "What?", "category": "abstention", "gold": []},
]


def folder(place: Path, queries: list[dict[str, Any]]) -> Path:
    for name, rows in (("turns.jsonl", TURNS), ("queries.jsonl", queries)):
        (place / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place


def test_turns_are_five_minutes_apart_and_questions_without_gold_are_left_out(
    tmp_path: Path,
) -> None:
    one, other = read_conversations(folder(tmp_path, QUERIES))
    assert [turn.stamp for turn in one.turns] == [
        "Ann (2023-05-08 13:56)",
        "Ben (2023-05-08 14:01)",
    ]
    assert [turn.stamp for turn in other.turns] == ["user", "user (2024-03-15 00:00)"]
    assert (len(one.questions), other.questions) == (1, [])


def test_a_passage_is_mapped_to_the_turns_that_it_begins_with_and_contains(tmp_path: Path) -> None:
    one, other = read_conversations(folder(tmp_path, QUERIES))
    whole = "Ann (2023-05-08 13:56): Hello.\n\nBen (2023-05-08 14:01): A long story"
    assert one.turns_in(whole) == ["c/1", "c/2"]
    assert one.turns_in("about a lighthouse keeper and his dog.") == ["c/2"]
    assert other.turns_in("something else") == []


def test_a_folder_without_answerable_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_conversations(folder(tmp_path, QUERIES[1:]))
