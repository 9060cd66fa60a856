"""Prompts that chat front ends send for themselves: a title, tags or follow-ups for a conversation that they quote.

They are recognized by their form: an instruction, and the quoted conversation after it. They ask nothing of the
documents, and what they quote was saved when the user said it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final, Literal

from services.runtime.patterns import compile_linear

TaskKind = Literal["title", "tags", "follow_ups", "queries"]
# No more of a prompt is read.
_MAX_PROMPT: Final = 100_000
# The instruction comes before the conversation and is short; a question about titles has no conversation after it.
_ROLE: Final = compile_linear(
    r"(?:^|\n)[ \t>|*#-]*(?:user|human)[*]*[ \t]*:[ \t]*\n?", ignore_case=True
)
_NEXT_ROLE: Final = compile_linear(
    r"\n[ \t>|*#-]*(?:user|human|assistant|ai|bot|model|system|response|title)[*]*[ \t]*:|</\w+>",
    ignore_case=True,
)
_BLOCK: Final = compile_linear(
    r"<(?:chat_?history|conversation|messages|chat)>|(?:^|\n)[ \t#*>|]*(?:chat[ _]history|conversation|chat|messages)"
    r"[ \t*]*:[ \t*]*\n|\n[ \t]*\|\|>",
    ignore_case=True,
)
_ASKS: Final = compile_linear(
    r"\b(?:generate|create|provide|suggest|write|give|return|summari[sz]e|analy[sz]e|determine|propose|come up with)\b",
    ignore_case=True,
)
_KINDS: Final[tuple[tuple[TaskKind, re.Pattern[str]], ...]] = (
    ("follow_ups", re.compile(r"follow[ _-]?ups?\b", re.IGNORECASE)),
    ("queries", re.compile(r"\bquer(?:y|ies)\b", re.IGNORECASE)),
    ("tags", re.compile(r"\btags?\b", re.IGNORECASE)),
    ("title", re.compile(r"\btitle\b", re.IGNORECASE)),
)
# The shape that is asked for: { "title": "…" } or { "tags": ["…"] }.
_SHAPE: Final = re.compile(r"\{\s{0,9}\"(\w{1,40})\"\s{0,9}:\s{0,9}([\"\[])")


@dataclass(frozen=True, slots=True)
class ChatTask:
    """A task of a front end. `key` is that of the JSON object that it wants, empty for plain text."""

    kind: TaskKind
    messages: tuple[str, ...]
    key: str = ""
    is_list: bool = False

    def format(self, values: list[str]) -> str:
        """Returns values in the shape that the front end asks for."""
        if not self.key:
            return "\n".join(values) if self.kind == "follow_ups" else ", ".join(values)
        shaped = values if self.is_list else ", ".join(values)
        return json.dumps({self.key: shaped}, ensure_ascii=False)


def read_chat_task(prompt: str) -> ChatTask | None:
    """Returns the task of a prompt; None for what a person asks."""
    text = prompt[:_MAX_PROMPT]
    block = _BLOCK.search(text)
    if block is None:
        return None
    messages = _user_messages(text, block.start())
    instruction = text[: block.start()]
    if not messages or not _ASKS.search(instruction):
        return None
    # What the task is for stands in its first lines; the guidelines after it mention other things.
    first = " ".join(instruction.split("\n\n")[0].splitlines()[:4])
    kind = next((kind for kind, named in _KINDS if named.search(first)), None)
    if kind is None:
        return None
    shape = _SHAPE.search(instruction)
    if shape is None:
        return ChatTask(kind, messages)
    return ChatTask(kind, messages, shape[1], is_list=shape[2] == "[")


def _user_messages(text: str, start: int) -> tuple[str, ...]:
    found: list[str] = []
    for role in _ROLE.finditer(text[start:]):
        begin = start + role.end()
        end = _NEXT_ROLE.search(text[begin:])
        said = text[begin : begin + end.start()] if end is not None else text[begin:]
        if said.strip(' \n\t"'):
            found.append(said.strip(' \n\t"'))
    return tuple(found)
