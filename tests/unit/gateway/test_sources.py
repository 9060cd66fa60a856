"""What is found under paths: files with their ids, and a reason for everything that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.cli.ingest.files import Problem, Source, find


def found(*paths: Path) -> tuple[list[str], list[Problem]]:
    """Ids of the files, and the problems."""
    items = list(find(paths))
    ids = [item.id for item in items if isinstance(item, Source)]
    return ids, [item for item in items if isinstance(item, Problem)]


def test_a_folder_is_read_recursively_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.txt", "a/c.markdown", "d.jsonl", "a/E.MD", "x.png", ".git/y.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    assert found(tmp_path) == (["a/E.MD", "a/c.markdown", "a/z.txt", "b.md", "d.jsonl"], [])


def test_the_kind_of_a_file_is_told_by_how_its_name_ends(tmp_path: Path) -> None:
    names = ["a.HTM", "b.pdf", "c.docx", "d.eml", "e.mbox", "f.messages.jsonl", "g.ndjson"]
    for name in names:
        (tmp_path / name).write_text("text")
    kinds = [item.kind for item in find([tmp_path]) if isinstance(item, Source)]
    assert kinds == [
        "text/html",
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "message/rfc822",
        "application/mbox",
        "application/vnd.braid.messages+jsonl",
        "application/jsonl",
    ]


def test_a_file_that_is_named_itself_has_its_name_as_id(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    assert found(tmp_path / "a.md") == (["a.md"], [])


@pytest.mark.parametrize(
    ("name", "reason"), [("none.md", "no such file or directory"), ("a\x00b", "embedded null byte")]
)
def test_what_is_not_there_is_told(tmp_path: Path, name: str, reason: str) -> None:
    ids, (problem,) = found(tmp_path / name)
    assert ids == []
    assert problem.reason == reason


def test_a_file_of_another_kind_is_told_when_it_is_named_itself(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("text")
    _, (problem,) = found(tmp_path / "a.png")
    assert problem.reason.startswith("is none of .messages.jsonl, .txt, .md")


def test_a_pipe_is_told_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "z.md").write_text("text")
    ids, problems = found(tmp_path)
    assert ids == ["z.md"]
    assert problems == [Problem(str(tmp_path / "pipe.md"), "is not a file")]


def test_links_in_circles_and_to_nowhere_are_told_and_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b.md").symlink_to(tmp_path / "gone.md")
    (tmp_path / "c.md").symlink_to(tmp_path / "c.md")
    (tmp_path / "d.md").write_text("text")
    ids, problems = found(tmp_path)
    assert ids == ["d.md"]
    assert [problem.reason for problem in problems] == [
        "links back to a folder that holds it",
        "no such file or directory",
        "too many levels of symbolic links",
    ]


def test_a_folder_may_be_linked_to_from_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "n.md").write_text("text")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert found(tmp_path) == (["a/n.md", "b/n.md"], [])


def test_two_files_that_would_be_one_document_are_told(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "n.md").write_text("text")
    ids, (problem,) = found(tmp_path / "a", tmp_path / "b")
    assert ids == ["n.md"]
    assert problem.path == str(tmp_path / "b" / "n.md")


def test_a_file_that_is_named_twice_is_taken_twice_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("text")
    assert found(tmp_path, tmp_path)[1] == []


def test_a_name_that_is_no_text_is_told_and_the_others_are_taken(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff.txt")).write_text("text")
    (tmp_path / "good.txt").write_text("text")
    ids, [problem] = found(tmp_path)
    assert ids == ["good.txt"]
    assert problem == Problem(f"{tmp_path}/odd-\ufffd.txt", "its name is not UTF-8")
