"""Chooses tools for the local planner's questions with vectors of the local embedder."""

from __future__ import annotations

import asyncio
from functools import cached_property
from typing import Final

from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.tool_choice import ToolChoice
from services.models.embedding.embedder import Embedder
from services.runtime.context import remaining
from services.runtime.errors import BraidError
from services.runtime.telemetry import get_logger

# A question takes some 5 ms on an idle core.
_SECONDS: Final = 3.0
_MAX_CHARACTERS: Final = 2_000


class ToolChooser:
    """Embeds a question and chooses its tool. `embedder` has the model that the weights were trained with."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @cached_property
    def _choice(self) -> ToolChoice:
        choice = ToolChoice.load()
        if choice.model != self._embedder.model:
            raise ValueError(f"the choice of tools was trained with vectors of {choice.model}")
        return choice

    async def choose(self, question: Question) -> str:
        """Returns the tool; empty if the question cannot be embedded now."""
        try:
            async with asyncio.timeout(remaining(_SECONDS)):
                text = question.text[:_MAX_CHARACTERS]
                [vector] = await self._embedder.embed_queries([text])
        except (BraidError, TimeoutError) as error:
            get_logger("agent").warning(
                "documents are searched, as no tool can be chosen", cause=type(error).__name__
            )
            return ""
        return self._choice.choose(vector, question)
