"""Chooses the tool for a question: a logistic regression over its vector and a few yes/no features.

The weights are in `tool_choice.json`; `python -m tests.evals.routing.train` makes them from labelled questions. On
questions that were written after the training it is right more often than patterns are.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from services.agent_orchestrator.agent.planner.language import content_words
from services.agent_orchestrator.agent.planner.question import Question
from services.runtime.patterns import Pattern, compile_linear

WEIGHTS: Final = Path(__file__).with_suffix(".json")
DOCUMENTS: Final = "documents"
"""What documents say, with whichever search fits the question."""
RELATIONS: Final = "search_knowledge_graph"
FORGET: Final = "forget"
MEMORY: Final = "query_graph"
"""What users have said about themselves, and in their conversations."""
NOTHING: Final = "none"
"""Small talk, which needs no tool."""

Floats = NDArray[np.float32]
ChooseTool = Callable[[Question], Awaitable[str]]
# The vector of a text as a query; None if it cannot be had now.
VectorOf = Callable[[str], Awaitable[Sequence[float] | None]]

# How much a feature counts next to a vector of length 1, and the constant that every question has.
_FEATURE: Final = 0.35
_CONSTANT: Final = 0.5


def _pattern(text: str) -> Pattern:
    return compile_linear(text, ignore_case=True)


_PATTERNS: Final = (
    _pattern(r"\b(?:i|me|my|mine|i'm)\b"),
    _pattern(r"\b(?:we|our|us)\b"),
    _pattern(r"\b(?:who|whom|whose|who's)\b"),
    _pattern(r"^(?:what|which)\b"),
    _pattern(r"^(?:when|since when)\b"),
    _pattern(r"^(?:how|why)\b"),
    _pattern(r"\bhow (?:long|did|has|have)\b"),
    _pattern(r"\b(?:was|were|did|had|led|owned|ran)\b"),
    _pattern(r"\b(?:is|are|does|do|has|have)\b"),
    _pattern(r"\b(?:chang|differ|compar|added|removed|ended|gain|lost|lose|left|joined|new)"),
    _pattern(
        r"\b(?:history|timeline|over time|evol|previous|former|before|after|first|ever|so far)\b"
    ),
    _pattern(
        r"\b(?:document|guide|policy|report|notes?|says?|manual|procedure|steps|meeting|contract|checklist)\b"
    ),
    _pattern(r"\b(?:finding|insight|intent|outcome|blocker|confidence|goal)"),
    _pattern(
        r"\b(?:thanks?|hello|hi|bye|ok|okay|cool|great|sorry|nice|good (?:morning|evening))\b"
    ),
    _pattern(r"\?\s*$"),
    _pattern(r"\b(?:use|depend|own|lead|work|report|member|team|belong|supply|manage)\w*\b"),
)
_TO_ASSISTANT: Final = _pattern(r"\b(?:you|your|yours)\b")
_FEW_WORDS: Final = 3
# No more of a question is embedded.
_MAX_CHARACTERS: Final = 2_000


def features(question: Question) -> list[bool]:
    """Returns the yes/no features of a question: its words of asking, person and change, its times and names."""
    text, times = question.text, question.times
    return [
        *(pattern.search(text) is not None for pattern in _PATTERNS),
        bool(times),
        len(times) > 1,
        bool(question.entities),
        len(text.split()) <= _FEW_WORDS,
        any(time.kind == "as_of" for time in times),
        any(time.kind == "since" for time in times),
    ]


def inputs(vector: Floats, question: Question) -> Floats:
    """Returns what the regression reads: the vector of length 1, the features, and a constant."""
    own = np.array([*features(question)], np.float32) * _FEATURE
    return np.concatenate([vector, own, np.array([_CONSTANT], np.float32)]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The trained regression. `model` names the embedder of the vectors; `weights` has a column for each tool."""

    model: str
    tools: tuple[str, ...]
    weights: Floats

    @classmethod
    def load(cls, path: Path = WEIGHTS) -> Self:
        """Reads the weights that belong to the product, 7 KiB."""
        stored = json.loads(path.read_text(encoding="ascii"))
        values = np.frombuffer(base64.b64decode(stored["weights"]), "<f2").astype(np.float32)
        tools = tuple(stored["tools"])
        return cls(stored["model"], tools, values.reshape(-1, len(tools)))

    def save(self, path: Path = WEIGHTS) -> None:
        """Writes the weights."""
        weights = base64.b64encode(self.weights.astype("<f2").tobytes()).decode()
        stored = {"model": self.model, "tools": self.tools, "weights": weights}
        path.write_text(json.dumps(stored) + "\n", encoding="ascii")

    def choose(self, vector: Floats, question: Question) -> str:
        """Returns the tool for a question with its vector as a query; "none" for small talk.

        A short question is easily taken for small talk. One about something other than the assistant is looked up.
        """
        scores = inputs(vector, question) @ self.weights
        if NOTHING in self.tools and _asks_about_something(question.text):
            scores[self.tools.index(NOTHING)] = -np.inf
        return self.tools[int(scores.argmax())]


def _asks_about_something(text: str) -> bool:
    is_question = text.rstrip().endswith("?") and not _TO_ASSISTANT.search(text)
    return is_question and bool(content_words(text))


async def no_vector(_text: str) -> None:
    """Returns no vector, for a question whose tool is not chosen by it."""


@dataclass(frozen=True, slots=True)
class ToolChooser:
    """Chooses the tool for a question by its vector, of the model that the weights were trained with."""

    choice: ToolChoice
    vector_of: VectorOf

    async def choose(self, question: Question) -> str:
        """Returns the tool; empty if the question has no vector now."""
        vector = await self.vector_of(question.text[:_MAX_CHARACTERS])
        return "" if vector is None else self.choice.choose(np.array(vector, np.float32), question)
