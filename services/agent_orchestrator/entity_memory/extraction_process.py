"""The process in which the local extractor reads turns: `{"turns": […]}` is answered with what can be saved."""

from __future__ import annotations

from typing import Any

from services.agent_orchestrator.entity_memory.extraction import Conversation, KnownNames
from services.agent_orchestrator.entity_memory.payloads import relationship_payload
from services.agent_orchestrator.entity_memory.turns import news_of
from services.runtime.text_worker import answer_requests


def main() -> None:
    """Answers requests until there are no more."""
    known = KnownNames.load()

    def read(request: Any) -> Any:
        conversation = Conversation(known)
        for turn in request["turns"][:-1]:
            conversation.read(turn)
        news = news_of(conversation.read(request["turns"][-1]))
        return [[relationship_payload(one) for one in part] for part in news]

    answer_requests(read)


if __name__ == "__main__":
    main()
