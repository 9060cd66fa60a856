"""`braid` has one grammar: `braid VERB …` for common commands, `braid NOUN VERB …` for the others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from gateway.cli import exit_codes
from gateway.cli.app import app
from gateway.cli.exit_codes import MEANINGS, ExitCode

REFERENCE = (Path(__file__).parents[4] / "docs" / "command-line.md").read_text()
TOP = {
    *("eval", "up", "status", "ingest", "sync", "search", "ask", "chat", "mcp"),
    *("backup", "restore"),
}
VERBS = {
    *("list", "get", "add", "put", "update", "delete", "search", "rename"),
    *("create", "revoke", "rotate"),  # keys
    *("cancel", "retry"),  # jobs
    *("relate", "unrelate", "close", "infer"),  # memories
    *("check", "export", "import", "reembed", "reextract", "verify"),  # the space
    *("show", "restore", "purge"),  # quarantines
    *("pause", "resume"),  # sources
    "end",  # facts
    "withdraw",
    "correct",
}
# Nouns of two words.
NOUNS = {"space quarantine"}
# Commands whose second word names what they show.
VIEWS = {
    *("graph entities", "graph neighborhood", "graph history"),
    *("graph snapshot", "graph diff", "graph paths"),
    "space settings",
    "space usage",
    "memory profile",
    *("documents versions", "jobs dead", "memory dead", "memories stats", "memories types"),
}
# `braid mcp` speaks MCP on its standard output.
WITHOUT_JSON = {"mcp"}


def commands() -> Iterator[tuple[str, Any]]:
    """Yields every command by its words."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        for name, child in getattr(command, "commands", {}).items():
            yield from walk(f"{words} {name}".strip(), child)
        if not hasattr(command, "commands"):
            yield words, command

    return walk("", typer.main.get_command(app))


ALL = {words: command for words, command in commands() if not command.hidden}
OTHER_NAMES = {words: command for words, command in commands() if command.hidden}


def options(command: Any) -> dict[str, Any]:
    return {name: parameter for parameter in command.params for name in parameter.opts}


def test_commands_are_verbs_or_nouns_with_verbs() -> None:
    single = {words for words in ALL if " " not in words}
    assert single == TOP
    others = {words for words in ALL if words not in single | VIEWS}
    assert {words.split()[-1] for words in others} <= VERBS
    nouns = {words.rpartition(" ")[0] for words in others | VIEWS}
    assert {noun for noun in nouns if " " in noun} == NOUNS
    assert set(ALL) >= VIEWS


@pytest.mark.parametrize("words", OTHER_NAMES)
def test_a_hidden_command_is_an_alias_of_a_visible_one(words: str) -> None:
    group = words.split(maxsplit=1)[0]
    shown = [command.help for name, command in ALL.items() if name.startswith(f"{group} ")]
    assert OTHER_NAMES[words].help in shown


@pytest.mark.parametrize("words", ALL)
def test_a_command_and_each_of_its_options_has_a_help_text(words: str) -> None:
    command = ALL[words]
    assert re.fullmatch(r"[A-Z].*\.", command.help.split("\n")[0]), words
    unexplained = [one.name for one in command.params if not getattr(one, "help", None)]
    assert unexplained == []


@pytest.mark.parametrize("words", ALL)
def test_every_command_but_mcp_has_a_json_option(words: str) -> None:
    assert ("--json" in options(ALL[words])) == (words not in WITHOUT_JSON)


# These have no pages: a key file is short, and a space has few sources.
UNPAGED = {"keys list", "sources list"}


@pytest.mark.parametrize("words", [w for w in ALL if w.endswith(" list") and w not in UNPAGED])
def test_list_commands_are_paged(words: str) -> None:
    assert {"--limit", "--cursor"} <= set(options(ALL[words]))


@pytest.mark.parametrize("words", ALL)
def test_the_reference_documents_every_command(words: str) -> None:
    assert f"`braid {words}" in REFERENCE


def test_the_reference_documents_no_unknown_command() -> None:
    examples = re.findall(r"`braid ([^`]*)`", REFERENCE)
    named = [re.match(r"[a-z]+( [a-z]+){0,2}", example) for example in examples]
    words = {_command_of(found[0]) for found in named if found}
    assert {one for one in words if one not in ALL and one.split()[0] not in TOP} == set()


def _command_of(example: str) -> str:
    """The words of an example that name its command."""
    words = example.split()
    return " ".join(words[: 3 if " ".join(words[:2]) in NOUNS else 2])


def test_exit_codes_are_the_same_in_code_help_and_reference() -> None:
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", REFERENCE, re.MULTILINE)
    assert {int(code): meaning for code, meaning in rows} == {
        code.value: meaning for code, meaning in MEANINGS.items()
    }
    assert exit_codes.table() in str(typer.main.get_command(app).epilog)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("INVALID_FIELD", 2),
        ("NOT_FOUND", 3),
        ("STORE_UNAVAILABLE", 5),
        ("OVERLOADED", 5),
        ("UNREACHABLE", 5),
        ("INVALID_CREDENTIAL", 6),
        ("MISSING_SCOPE", 6),
        ("WRONG_STATE", 1),
        ("INTERNAL", 1),
    ],
)
def test_each_error_reason_maps_to_an_exit_code(reason: str, code: int) -> None:
    assert exit_codes.of_reason(reason) == code


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (["OK", "NO_MATCH"], ExitCode.OK),
        (["NO_MATCH"], ExitCode.OK),
        (["OK", "DISABLED"], ExitCode.OK),
        (["OK", "UNAVAILABLE"], ExitCode.PARTIAL),
        (["DEGRADED"], ExitCode.PARTIAL),
        (["TIMED_OUT", "UNAVAILABLE"], ExitCode.UNAVAILABLE),
        ([], ExitCode.OK),
    ],
)
def test_an_incomplete_search_has_a_different_exit_code_than_an_empty_one(
    statuses: list[str], code: ExitCode
) -> None:
    assert exit_codes.of_legs([{"status": status} for status in statuses]) == code
