"""`braid sync` needs a folder and a name for its documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.gateway.cli.test_every_command import braid


@pytest.mark.parametrize("name", ["", " ", "a/b", "/", "a\n", "\udcff"])
def test_a_name_that_cannot_begin_an_id_of_one_folder_alone_is_refused(
    tmp_path: Path, name: str
) -> None:
    code, out, error = braid("sync", str(tmp_path), "--name", name)
    assert (code, out) == (2, "")
    assert "the source needs a --name of printable characters without `/`" in error


def test_the_root_has_no_name_of_its_own() -> None:
    code, _, error = braid("sync", "/")
    assert code == 2
    assert "the source needs a --name" in error


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "a.md"
    file.write_text("text")
    code, _, error = braid("sync", str(file))
    assert code == 1
    assert f"{file} is neither a folder nor" in error


def test_an_address_with_a_password_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    code, _, error = braid("sync", "https://ann:secret@example.org/team/handbook.git")
    assert code == 2
    assert "a source keeps no password" in error
    assert "secret" not in error
