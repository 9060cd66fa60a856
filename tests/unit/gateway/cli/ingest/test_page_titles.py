"""A site name that repeats in the titles of pages is removed; the title of a single page is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.ingest.files import File, find, without_site_names


def titles(paths: list[Path]) -> dict[str, str]:
    """Returns the new titles of pages by id; "" if a page keeps its own."""
    return {one.id: one.title for one in without_site_names(find(paths)) if isinstance(one, File)}


def page(folder: Path, name: str, title: str) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(
        f"<!doctype html><html><head><TITLE>{title}</TITLE></head><body>x</body></html>"
    )
    return path


@pytest.mark.parametrize(
    "separator", [" — ", " | ", " - ", " \u00b7 ", "|\n  ", " &mdash; ", " :: "]
)
def test_a_repeated_title_suffix_is_removed(tmp_path: Path, separator: str) -> None:
    for name in ("Install", "Upgrade", "Well-known issues"):
        page(tmp_path, f"{name}/index.html", f"{name}{separator}The Acme Site")
    page(tmp_path, "index.html", "The Acme Site")
    assert titles([tmp_path]) == {
        "Install/index.html": "Install",
        "Upgrade/index.html": "Upgrade",
        "Well-known issues/index.html": "Well-known issues",
        "index.html": "",
    }


def test_only_the_last_part_of_a_title_is_removed(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        page(tmp_path, f"{name}.html", f"{name} - Guide - Acme")
    assert titles([tmp_path]) == {f"{name}.html": f"{name} - Guide" for name in ("a", "b", "c")}


def test_a_page_named_by_itself_gets_the_same_title_as_within_its_folder(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        page(tmp_path, f"{name}.html", f"{name} - Acme")
    assert titles([tmp_path / "a.html"]) == {"a.html": "a"}


@pytest.mark.parametrize(
    "given",
    [
        ["INC-104 - Postmortem"],
        ["INC-104 - Postmortem", "INC-111 - Postmortem"],
        ["INC-104 - Postmortem"] * 5,
        ["a - Acme", "b - Acme", "c - Acme", "d", "e", "f", "g"],
        ["Jan-Minutes", "Feb-Minutes", "Mar-Minutes"],
        ["- Acme", " - Acme", "| Acme"],
    ],
)
def test_other_titles_are_kept(tmp_path: Path, given: list[str]) -> None:
    for number, title in enumerate(given):
        page(tmp_path, f"{number}.html", title)
    (tmp_path / "bad.html").write_bytes(b"<title>\xff - Acme</title>")
    (tmp_path / "none.html").write_text("<body><svg><title>x - Acme</title></svg></body>")
    assert set(titles([tmp_path]).values()) == {""}
