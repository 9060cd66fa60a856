"""Titles and tags of a quoted conversation from the key words of what the user said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.agent_orchestrator.agent.chat_tasks import ChatTask
from services.agent_orchestrator.agent.planner.language import content_words, sentences

_MAX_TITLE_WORDS: Final = 5
_MAX_TITLE: Final = 60
_MAX_TAGS: Final = 3
_MAX_QUERY: Final = 300
# Characters of the user's message that are read.
_MAX_READ: Final = 1_000
_NO_TITLE: Final = "New chat"


def answer_chat_task(task: ChatTask) -> str:
    """Returns the answer to a front end's task, in the shape that it asks for. Follow-ups are not suggested."""
    if task.kind == "title":
        return task.format([_title(task.messages)])
    if task.kind == "tags":
        return task.format(_tags(task.messages) or ["general"])
    if task.kind == "queries":
        return task.format([task.messages[-1][:_MAX_QUERY]])
    return task.format([]) or "None."


def _title(messages: Sequence[str]) -> str:
    """Returns the key words of the first message that has any, as they are written there."""
    for message in messages:
        said = message[:_MAX_READ]
        key = set(content_words(said))
        written = [word.strip("?!.,;:()[]\"'“”«»¿¡") for word in said.split()]
        words = [
            word for word in written if key & {word.casefold(), word.casefold().removesuffix("'s")}
        ]
        if words:
            title = " ".join(dict.fromkeys(words[:_MAX_TITLE_WORDS]))[:_MAX_TITLE].strip()
            return title[0].upper() + title[1:]
    first = next(iter(sentences(messages[0][:_MAX_READ])), None)
    title = "" if first is None else first.text[:_MAX_TITLE]
    while title and not title[-1].isalnum():
        title = title[:-1]
    return title or _NO_TITLE


def _tags(messages: Sequence[str]) -> list[str]:
    """Returns the key words that the messages repeat most, longer ones first."""
    counts: dict[str, int] = {}
    for message in messages:
        for word in content_words(message[:_MAX_READ]):
            counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], -len(word)))[:_MAX_TAGS]
