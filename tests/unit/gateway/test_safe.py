"""Retrieved text cannot steer a terminal."""

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
def test_a_line_holds_no_control_and_no_direction_marks(text: str) -> None:
    assert all(unicodedata.category(c) not in {"Cc", "Cf", "Zl", "Zp"} for c in line(text))


@given(st.text(), st.integers(1, 20))
def test_a_cut_line_is_no_longer_than_asked(text: str, most: int) -> None:
    assert len(line(text, most)) <= most


def test_escapes_are_made_visible() -> None:
    assert line("a\x1b[2Jb\u202ec\nd") == "a\ufffd[2Jb\ufffdc d"


def test_markup_is_shown_as_it_is() -> None:
    out = Console(file=io.StringIO(), width=80)
    out.print(styled("[red]not red[/red]"))
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue() == "[red]not red[/red]\n"


@given(st.dictionaries(st.text(), st.text()))
def test_json_stays_the_same_json_without_anything_that_a_terminal_obeys(
    value: dict[str, str],
) -> None:
    out = Console(file=io.StringIO())
    Session({}, out, out).show_json(value)
    assert isinstance(out.file, io.StringIO)
    shown = out.file.getvalue()
    assert json.loads(shown) == value
    assert all(c == "\n" or c.isprintable() for c in shown)
