"""Trains the choice of tools: `python -m tests.evals.routing.train` writes the planner's `tool_choice.json`.

It reads the labelled questions of this folder. A question with several acceptable tools counts for each of them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np

from services.agent_orchestrator.agent.planner.entity_recognition import capitalised_names
from services.agent_orchestrator.agent.planner.question import (
    Clock,
    Question,
    read_question,
    without_politeness,
)
from services.agent_orchestrator.agent.planner.tool_choice import (
    DOCUMENTS,
    Floats,
    ToolChoice,
    inputs,
)
from services.models.embedding.local import LocalEmbedder
from services.models.embedding.local_models import LOCAL_MODELS
from services.models.embedding.settings import EmbeddingSettings

FILES: Final = ("questions.jsonl", "training.jsonl")
MODEL: Final = "bge-small-en-v1.5"
TOOLS: Final = (
    DOCUMENTS, "search_knowledge_graph", "search_findings", "get_entity_history", "get_snapshot", "diff_graph",
    "query_graph", "none",
)  # fmt: skip
_SAME: Final = {
    "vector_search": DOCUMENTS,
    "hybrid_search": DOCUMENTS,
    "comprehensive_search": DOCUMENTS,
    "graph_search": "search_knowledge_graph",
}
# Times in questions count as given or not, so any day will do.
_CLOCK: Final = Clock(datetime(2026, 11, 26, tzinfo=UTC), ZoneInfo("UTC"))
_DECAY: Final = 0.0003
_STEPS: Final = 1_000
_RATE: Final = 2.0
_MOMENTUM: Final = 0.9


def labelled_rows() -> list[Mapping[str, Any]]:
    """Returns the labelled questions of this folder."""
    folder = Path(__file__).parent
    lines = [line for name in FILES for line in (folder / name).read_text().splitlines()]
    return [json.loads(line) for line in lines if line.strip()]


def as_question(text: str) -> Question:
    """Returns a question as the planner reads it in a space without entities."""
    plain = without_politeness(text) or text
    return read_question(plain, capitalised_names(plain), _CLOCK)


async def train(rows: Sequence[Mapping[str, Any]]) -> ToolChoice:
    """Returns the regression for these questions; the same rows give the same weights."""
    questions = [as_question(row["question"]) for row in rows]
    embedder = LocalEmbedder(LOCAL_MODELS[MODEL], EmbeddingSettings().models_folder, workers=2)
    try:
        vectors = await embedder.embed_queries([question.text for question in questions])
    finally:
        await embedder.close()
    read = np.stack([inputs(*pair) for pair in zip(vectors, questions, strict=True)])
    wanted = np.stack([_shares(row["tools"]) for row in rows])
    return ToolChoice(MODEL, TOOLS, _fitted(read, wanted))


def _shares(tools: Sequence[str]) -> Floats:
    names = [_SAME.get(name, name) for name in tools]
    return np.array([names.count(tool) / len(names) for tool in TOOLS], np.float32)


def _fitted(read: Floats, wanted: Floats) -> Floats:
    weights = np.zeros((read.shape[1], wanted.shape[1]), np.float32)
    change = np.zeros_like(weights)
    for _ in range(_STEPS):
        scores = read @ weights
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        slope = read.T @ (shares - wanted) / len(read) + _DECAY * weights
        change = _MOMENTUM * change - _RATE * slope
        weights = weights + change
    return weights


def main() -> None:
    """Trains and writes the weights."""
    choice = asyncio.run(train(labelled_rows()))
    choice.save()
    sys.stderr.write(f"{choice.weights.size} weights for {len(choice.tools)} tools\n")


if __name__ == "__main__":
    main()
