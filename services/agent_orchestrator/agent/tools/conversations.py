"""The agent's tool for what was said in the user's own conversations that are kept."""

from __future__ import annotations

from typing import Final, Literal

from pydantic_ai import FunctionToolset, RunContext, ToolReturn

from services.agent_orchestrator.agent.conversations.store import ConversationStore, FoundMessage
from services.agent_orchestrator.agent.dependencies import AgentDependencies
from services.agent_orchestrator.agent.planner.date_format import day
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult
from services.agent_orchestrator.agent.runs.event_log import Owner
from services.agent_orchestrator.agent.tools.arguments import Limit, Query
from services.agent_orchestrator.agent.tools.items import MAX_PASSAGE
from services.agent_orchestrator.agent.tools.tool_result import respond
from services.runtime.errors import BraidError

MAX_RETRIES: Final = 2
TOOL_SECONDS: Final = 30.0
NOTHING_SAID: Final = "Nothing about this was said in a conversation that is kept."
NO_CONVERSATIONS: Final = "The conversations cannot be reached now."
GUIDANCE: Final = """\
- "When did I tell you …?", "what did you answer about …?" and the like are about earlier conversations: ask
  search_conversations.
"""
_AUTHORS: Final = {"user": "you wrote", "assistant": "the answer was"}


class ConversationTools:
    """Searches the messages of the calling user."""

    def __init__(self, conversations: ConversationStore) -> None:
        self._conversations = conversations

    def toolset(self) -> FunctionToolset[AgentDependencies]:
        """Returns the toolset."""
        return FunctionToolset(
            [self.search_conversations], max_retries=MAX_RETRIES, timeout=TOOL_SECONDS
        )

    async def search_conversations(
        self,
        ctx: RunContext[AgentDependencies],
        query: Query,
        author: Literal["user", "assistant"] = "user",
        limit: Limit | None = None,
    ) -> ToolReturn[str]:
        """Find what was said in the user's earlier conversations, with its date.

        Args:
            query: The words that it was about.
            author: What the user wrote, or what was answered.
            limit: How many messages at most.
        """
        deps = ctx.deps
        size = deps.search_preferences.default_limit if limit is None else limit
        try:
            found = await self._conversations.search(
                Owner(deps.space, deps.user_id or ""), query, limit=size, role=author
            )
        except BraidError:
            unavailable = ToolResult(
                "search_conversations",
                "unavailable",
                deps.space,
                unavailable=("conversations",),
                message=NO_CONVERSATIONS,
            )
            return respond(deps, unavailable)
        items = tuple(
            _item(one, deps) for one in found if one.message.text.strip() != deps.question.strip()
        )
        result = ToolResult(
            "search_conversations",
            "ok" if items else "no_match",
            deps.space,
            items=items,
            total_count=len(items),
            message="" if items else NOTHING_SAID,
        )
        return respond(deps, result)


def _item(found: FoundMessage, deps: AgentDependencies) -> ResultItem:
    said = found.message
    quote = said.text[:MAX_PASSAGE]
    cited = Citation(
        document_id="",
        title=found.title or "Your conversations",
        source=f"conversation {found.conversation_id}",
        chunk_id="",
        start=0,
        end=len(quote),
        quote=quote,
    )
    when = day(said.create_time, deps.zone)
    return ResultItem(
        kind="memory",
        text=f"On {when} {_AUTHORS[said.role]}: “{quote}”",
        valid_from=said.create_time,
        citations=(cited,),
    )
