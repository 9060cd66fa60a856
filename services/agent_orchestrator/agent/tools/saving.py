"""Only what a user's own message says is saved or forgotten in its turn, whichever model asks for it.

Retrieved texts may contain anything, such as a request to save something. So each name and the evidence of a save must
stand in the message. Once a model has read the results of a search, it saves nothing more in that turn: what the
message itself says is extracted from it in any case, after the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

from pydantic_ai import RunContext
from pydantic_ai.messages import ToolReturnPart

from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.entity_memory.user_words import stands_in

Names: TypeAlias = str | tuple[str, ...]
"""A name, or alternatives of which one suffices; none for the user."""

NOT_ALLOWED: Final = "Nothing was changed: the credential of this call may only read."
AFTER_READING: Final = (
    "Nothing was changed: results of a search have been read in this turn. What the user's message says is saved from "
    "the message itself."
)
NOT_SAID: Final = (
    "Nothing was changed: every name, and the context, must be words of the user's own message."
)
# Their results repeat only what the user said.
_MEMORY_TOOLS: Final = frozenset({"save_entity", "save_relationship", "query_graph", "forget"})


def reason_not_to_save(ctx: RunContext[AgentDependencies], words: Sequence[Names]) -> str:
    """Returns why a change with these names and this evidence is refused; empty if it is not."""
    if not ctx.deps.may_save:
        return NOT_ALLOWED
    if _has_read_results(ctx):
        return AFTER_READING
    alternatives = [(one,) if isinstance(one, str) else one for one in words]
    message = ctx.deps.question
    said = all(any(stands_in(message, one) for one in names) for names in alternatives if names)
    return "" if said else NOT_SAID


def _has_read_results(ctx: RunContext[AgentDependencies]) -> bool:
    """Whether the model has read results of a search in this turn; earlier turns are in the history as text only."""
    return any(
        isinstance(part, ToolReturnPart) and part.tool_name not in _MEMORY_TOOLS
        for message in ctx.messages
        for part in message.parts
    )
