"""Prompts that a person picks in an assistant: each says which tools to use and how to cite."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    TextContent,
)

_CITE = (
    "Cite each statement by its document's title. Say so when a tool answers `no_match`, and say that you could not "
    "look when it answers `could_not_search` or `incomplete`. State dates as the tools give them."
)


@dataclass(frozen=True, slots=True)
class _Prompt:
    about: str
    arguments: Mapping[str, tuple[str, bool]]
    text: Callable[[Mapping[str, str]], str]


def _answer_with_sources(given: Mapping[str, str]) -> str:
    return (
        f"Answer this question from Braid's documents and facts alone: {given['question']}\n"
        "First use `search`, then `facts` or `entity` for names and dates that matter. " + _CITE
    )


def _what_changed(given: Mapping[str, str]) -> str:
    until = given.get("until") or "now"
    return (
        f"Report what changed about {given['entity']} between {given['since']} and {until}. Use `changes` with "
        f"view diff, then `entity` with view history for what is unclear. Group by relation, oldest first. {_CITE}"
    )


def _brief_on_entity(given: Mapping[str, str]) -> str:
    return (
        f"Write a one-page briefing on {given['entity']}: what it is, what joins it to others (`entity`), how that "
        f"came about (`entity` with view history), and what documents say of it (`search`). {_CITE}"
    )


_PROMPTS: Mapping[str, _Prompt] = {
    "answer_with_sources": _Prompt(
        "Answer a question with citations.",
        {"question": ("The question.", True)},
        _answer_with_sources,
    ),
    "what_changed": _Prompt(
        "Report what changed about an entity between two dates.",
        {
            "entity": ("The entity's name.", True),
            "since": ("The first date, such as 2024-01-01.", True),
            "until": ("The second date. Default: now.", False),
        },
        _what_changed,
    ),
    "brief_on_entity": _Prompt(
        "Brief me on a person, team, system or project.",
        {"entity": ("The entity's name.", True)},
        _brief_on_entity,
    ),
}


def prompts() -> list[Prompt]:
    """Returns all prompts."""
    return [
        Prompt(
            name=name,
            description=one.about,
            arguments=[
                PromptArgument(name=argument, description=about, required=required)
                for argument, (about, required) in one.arguments.items()
            ],
        )
        for name, one in _PROMPTS.items()
    ]


def prompt(name: str, given: Mapping[str, str]) -> GetPromptResult:
    """Returns a prompt with its arguments filled in. Raises MCPError for an unknown prompt or a missing argument."""
    found = _PROMPTS.get(name)
    if found is None:
        raise MCPError(INVALID_PARAMS, f"There is no such prompt; there are: {', '.join(_PROMPTS)}")
    unknown = [argument for argument in given if argument not in found.arguments]
    missing = [
        argument
        for argument, (_, required) in found.arguments.items()
        if required and not given.get(argument, "").strip()
    ]
    problems = [f"{one}: is not an argument of this prompt" for one in unknown]
    problems += [f"{one}: is required" for one in missing]
    if problems:
        raise MCPError(INVALID_PARAMS, "; ".join(problems))
    message = PromptMessage(role="user", content=TextContent(type="text", text=found.text(given)))
    return GetPromptResult(description=found.about, messages=[message])
