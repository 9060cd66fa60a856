"""Retrieved text cannot control a terminal."""

from __future__ import annotations

import io
import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gateway.cli.session import Session
from gateway.cli.terminal_escape import line, styled


@given(st.text())
def test_a_line_contains_no_control_or_direction_characters(text: str) -> None:
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Zl", "Zp"} for c in line(text))


@given(st.text(), st.integers(1, 20))
def test_a_line_is_cut_to_its_maximum_length(text: str, most: int) -> None:
    assert len(line(text, most)) <= most


def test_control_characters_are_replaced_by_visible_ones() -> None:
    assert line("a\x1b[2Jb\u202ec\nd") == "a\ufffd[2Jb\ufffdc d"


def test_markup_is_printed_literally() -> None:
    out = Console(file=io.StringIO(), width=80)
    out.print(styled("[red]not red[/red]"))
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == "[red]not red[/red]\n"


@given(st.dictionaries(st.text(), st.text()))
def test_printed_json_is_equivalent_and_contains_only_printable_characters(
    value: dict[str, str],
) -> None:
    out = Console(file=io.StringIO())
    Session({}, out, out).show_json(value)
    assert isinstance(out.file, io.StringIO)
    shown = out.file.getvalue()
    assert json.loads(shown) == value
    assert all(c == "\n" or c.isprintable() for c in shown)
