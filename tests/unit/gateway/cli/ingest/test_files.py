"""Finding sources under paths: files with their ids, and a reason for everything that cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.cli.ingest.files import File, Problem, Skipped, find


def find_ids_and_problems(*paths: Path) -> tuple[list[str], list[Problem]]:
    """Returns the ids of the files, and the problems."""
    items = list(find(paths))
    ids = [item.id for item in items if isinstance(item, File)]
    return ids, [item for item in items if isinstance(item, Problem)]


def test_a_folder_is_searched_recursively_in_order_of_name(tmp_path: Path) -> None:
    for name in ("b.md", "a/z.txt", "a/c.markdown", "d.jsonl", "a/E.MD", "x.png", ".git/y.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    assert find_ids_and_problems(tmp_path) == (
        ["a/E.MD", "a/c.markdown", "a/z.txt", "b.md", "d.jsonl"],
        [],
    )


def test_the_content_type_follows_from_the_file_extension(tmp_path: Path) -> None:
    names = ["a.HTM", "b.pdf", "c.docx", "d.eml", "e.mbox", "f.messages.jsonl", "g.ndjson"]
    for name in names:
        (tmp_path / name).write_text("text")
    kinds = [item.kind for item in find([tmp_path]) if isinstance(item, File)]
    assert kinds == [
        "text/html",
        "application/pdf",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "message/rfc822",
        "application/mbox",
        "application/vnd.braid.messages+jsonl",
        "application/jsonl",
    ]


def test_a_file_given_as_a_path_has_its_name_as_id(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("text")
    assert find_ids_and_problems(tmp_path / "a.md") == (["a.md"], [])


@pytest.mark.parametrize(
    ("name", "reason"), [("none.md", "no such file or directory"), ("a\x00b", "embedded null byte")]
)
def test_a_missing_file_is_reported(tmp_path: Path, name: str, reason: str) -> None:
    ids, (problem,) = find_ids_and_problems(tmp_path / name)
    assert ids == []
    assert problem.reason == reason


def test_an_unsupported_file_given_as_a_path_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("text")
    _, (problem,) = find_ids_and_problems(tmp_path / "a.png")
    assert problem.reason.startswith("is none of .messages.jsonl .txt .md")


def test_a_pipe_is_reported_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "z.md").write_text("text")
    ids, problems = find_ids_and_problems(tmp_path)
    assert ids == ["z.md"]
    assert problems == [Problem(str(tmp_path / "pipe.md"), "is not a file")]


def test_cyclic_and_dangling_links_are_reported(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "b.md").symlink_to(tmp_path / "gone.md")
    (tmp_path / "c.md").symlink_to(tmp_path / "c.md")
    (tmp_path / "d.md").write_text("text")
    ids, problems = find_ids_and_problems(tmp_path)
    assert ids == ["d.md"]
    assert [problem.reason for problem in problems] == [
        "links back to a folder that holds it",
        "no such file or directory",
        "too many levels of symbolic links",
    ]


def test_a_link_to_a_sibling_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "n.md").write_text("text")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert find_ids_and_problems(tmp_path) == (["a/n.md", "b/n.md"], [])


def test_two_files_with_the_same_document_id_are_reported(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "n.md").write_text("text")
    ids, (problem,) = find_ids_and_problems(tmp_path / "a", tmp_path / "b")
    assert ids == ["n.md"]
    assert problem.path == str(tmp_path / "b" / "n.md")


def test_a_path_given_twice_is_not_a_problem(tmp_path: Path) -> None:
    (tmp_path / "n.md").write_text("text")
    assert find_ids_and_problems(tmp_path, tmp_path)[1] == []


def test_a_file_name_that_is_not_utf8_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff.txt")).write_text("text")
    (tmp_path / "good.txt").write_text("text")
    ids, [problem] = find_ids_and_problems(tmp_path)
    assert ids == ["good.txt"]
    assert problem == Problem(f"{tmp_path}/odd-\ufffd.txt", "its name is not UTF-8")


def test_files_of_unsupported_types_in_a_folder_are_skipped_by_type(tmp_path: Path) -> None:
    for name in ("a.zip", "b.ZIP", "c.key", "LICENSE", "d.md"):
        (tmp_path / name).write_text("text")
    (tmp_path / "gone.png").symlink_to(tmp_path / "nowhere")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    found = list(find([tmp_path]))
    assert sorted(one.type for one in found if isinstance(one, Skipped)) == [
        ".key",
        ".png",
        ".zip",
        ".zip",
        "without extension",
    ]
    assert [one.path for one in found if isinstance(one, Problem)] == [str(tmp_path / "gone.md")]
