"""The agent over real sockets, with stub provider APIs for its language model and its fallback model."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest
from pydantic import SecretStr

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from services.agent_orchestrator.agent.settings import AgentOptions, AnswerSettings
from services.models.language.settings import FallbackModelSettings, LanguageModelSettings
from tests.integration.agent_orchestrator.conftest import ALICE, Metadata, World
from tests.stubs.chat_models import ChatScript, Turn
from tests.stubs.openai_server import OpenAIStub


@dataclass
class AgentRun:
    """The events of a run, accessible by kind."""

    events: list[agent_pb2.RunEvent] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """The kind of each event, in order."""
        return [event.WhichOneof("event") or "" for event in self.events]

    def of(self, kind: str) -> list[Any]:
        """The payloads of the events of a kind."""
        return [getattr(e, kind) for e in self.events if e.WhichOneof("event") == kind]

    @property
    def done(self) -> agent_pb2.RunDone:
        """The payload of the last event; the run must have ended with an answer."""
        assert self.kinds[-1] == "done", self.events[-1]
        return self.events[-1].done

    @property
    def streamed(self) -> str:
        """The streamed text as a reader sees it at the end."""
        parts: list[str] = []
        for text in self.of("text"):
            parts = [text.text] if text.restart else [*parts, text.text]
        return "".join(parts)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return str(self.events[0].started.run_id)


@dataclass
class Agent:
    """A client of the agent service."""

    stub: agent_pb2_grpc.AgentServiceStub

    async def ask(self, question: str, metadata: Metadata = ALICE, **more: Any) -> AgentRun:
        """Asks a question and reads all events."""
        asked = AgentRun()
        async for answer in self.open(question, metadata, **more):
            asked.events.append(answer.event)
        return asked

    def open(self, question: str, metadata: Metadata = ALICE, **more: Any) -> Any:
        """Opens the call. Entity extraction is off, because it would also call the scripted model."""
        request = agent_pb2.AskRequest(**{"question": question, "skip_memory": True, **more})
        return self.stub.Ask(request, metadata=metadata, timeout=30)


@pytest.fixture
def agent(world: World) -> Agent:
    """The agent of the running orchestrator."""
    return Agent(agent_pb2_grpc.AgentServiceStub(world.channel))


@dataclass
class Model:
    """A scripted language model behind its provider's API."""

    server: OpenAIStub
    script: ChatScript

    def says(self, *turns: Turn) -> None:
        """Scripts the model's replies, one for each request."""
        self.script.turns = turns


async def _scripted() -> AsyncIterator[Model]:
    async with OpenAIStub() as server:
        script = ChatScript([Turn("Nothing.")])
        server.routes |= script.routes()
        yield Model(server, script)


@pytest.fixture
async def model() -> AsyncIterator[Model]:
    """The primary model."""
    async for one in _scripted():
        yield one


@pytest.fixture
async def fallback() -> AsyncIterator[Model]:
    """The fallback model, behind OpenAI's API."""
    async for one in _scripted():
        yield one


@pytest.fixture(params=["openai", "anthropic"])
def provider(request: pytest.FixtureRequest) -> str:
    """The primary model's provider."""
    return str(request.param)


def model_settings(model: Model, provider: str, name: str = "") -> dict[str, Any]:
    """Settings of a scripted model, with short timeouts and retries."""
    url = model.server.base_url
    return {
        "_env_file": None,
        "provider": provider,
        "api_key": SecretStr("sk-secret"),
        "model": name or f"stub-{provider}",
        "base_url": url if provider == "openai" else url.removesuffix("/v1"),
        "questions_retry_seconds": 0.3,
        "attempt_seconds": 2.0,
    }


@pytest.fixture
def with_models(model: Model, fallback: Model, provider: str) -> AgentOptions:
    """Options with the primary and the fallback model."""
    return AgentOptions(
        AnswerSettings.model_construct(),
        (
            LanguageModelSettings(**model_settings(model, provider)),
            FallbackModelSettings(**model_settings(fallback, "openai", "stub-fallback")),
        ),
    )


async def read(call: Any) -> list[Any]:
    """All responses of a streaming call."""
    return [answer async for answer in call]


async def code_of(call: Any) -> grpc.StatusCode:
    """The status code that a call fails with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await (read(call) if hasattr(call, "read") else call)
    return caught.value.code()


async def new_conversation(agent: Agent, title: str = "") -> str:
    """Creates a conversation of Alice; returns its id."""
    made = await agent.stub.CreateConversation(
        agent_pb2.CreateConversationRequest(title=title), metadata=ALICE
    )
    return str(made.conversation.id)
