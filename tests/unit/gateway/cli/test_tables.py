"""Tables fit the terminal and keep ids whole; colors are used only on terminals."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from gateway.cli.output import show_table
from gateway.cli.session import console

ID = "0d1f5c1e-6d0c-5a52-9f43-0b4d2ad5a3a1"
COLUMNS = {"id": "id", "state": "state", "reason": "reason"}
ROW = {"id": ID, "state": "FAILED", "reason": "the text of the document is empty, " * 6}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(width: int) -> list[str]:
    out = io.StringIO()
    show_table(Console(file=out, width=width), COLUMNS, [ROW, ROW])
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 60, 80, 120, 400])
def test_no_line_is_wider_than_the_terminal_and_ids_are_whole(width: int) -> None:
    lines = shown(width)
    assert all(len(line.rstrip()) <= width for line in lines)
    assert sum(ID in line for line in lines) == 2


def test_rows_are_table_lines_if_the_columns_fit() -> None:
    assert shown(120)[0].split() == ["id", "state", "reason"]


def test_in_a_narrow_terminal_each_field_is_on_its_own_line() -> None:
    assert [line.rstrip() for line in shown(40)[:3]] == [
        "id: " + ID,
        "state: FAILED",
        "reason: the text of the document is",
    ]


def test_in_a_file_rows_are_lines_of_any_length() -> None:
    out = io.StringIO()
    show_table(console(out, {}), COLUMNS, [ROW])
    assert len(out.getvalue().splitlines()) == 2


@pytest.mark.parametrize(
    ("stream", "environment", "coloured"),
    [
        (Terminal(), {"TERM": "xterm-256color"}, True),
        (Terminal(), {"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        (io.StringIO(), {"TERM": "xterm-256color"}, False),
    ],
)
def test_colors_are_used_only_on_terminals_and_without_no_color(
    stream: io.StringIO,
    environment: dict[str, str],
    coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", environment["TERM"])
    console(stream, environment).print("text", style="bold red")
    assert ("\x1b[" in stream.getvalue()) == coloured
