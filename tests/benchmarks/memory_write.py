"""Measures what saving to memory adds to a chat turn, and what is lost when the process is killed after an answer."""

from __future__ import annotations

import asyncio
import time

from braid.agent.v1 import agent_pb2, agent_pb2_grpc, entity_memory_pb2_grpc
from braid.agent.v1 import entity_memory_pb2 as pb
from deploy.local.stack import LocalStack
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures
from tests.benchmarks.harness import bar, channel_to, running_stack
from tests.evals.metrics import percentile

PAIRS, KILLS = 60, 10
_PAUSE_SECONDS = 0.2
_WARM_UP = 5
_SECONDS = 60.0
_CATCH_UP_SECONDS = 120.0
_NAMES = (
    "Zenkor",
    "Quvex",
    "Talmir",
    "Dorvan",
    "Miskel",
    "Pralto",
    "Venqua",
    "Holzet",
    "Sulkar",
    "Tenrol",
)


async def run(options: Options) -> None:
    """Asks in pairs with and without saving, then kills the orchestrator after each of several answers."""
    figures = Figures(options.name)
    environment = {"BRAID_GRAPH_ENTITY_MAX_ENTITIES_PER_DAY": "100000"}
    async with running_stack(environment=environment) as stack:
        async with channel_to(stack, "agent_orchestrator") as channel:
            await _pairs(
                agent_pb2_grpc.AgentServiceStub(channel), options.queries or PAIRS, figures
            )
        await _kills(stack, figures)


async def _pairs(stub: agent_pb2_grpc.AgentServiceStub, count: int, figures: Figures) -> None:
    times: dict[bool, list[float]] = {True: [], False: []}
    with bar("pairs of turns", count) as show:
        for number in range(count + _WARM_UP):
            # Each variant goes first in half of the pairs.
            for skip in (False, True) if number % 2 else (True, False):
                conversation = await _conversation(stub)
                await asyncio.sleep(_PAUSE_SECONDS)
                began = time.perf_counter()
                await _ask(stub, f"I use Toolkit{number} for my reports.", conversation, skip=skip)
                if number >= _WARM_UP:
                    times[skip].append((time.perf_counter() - began) * 1000)
            show(max(0, number + 1 - _WARM_UP))
    differences = [saved - other for saved, other in zip(times[False], times[True], strict=True)]
    figures.put("p50_difference_ms", percentile(differences, 50), "ms")
    figures.put("p50_ms.saving", percentile(times[False], 50), "ms")
    figures.put("p50_ms.not_saving", percentile(times[True], 50), "ms")


async def _kills(stack: LocalStack, figures: Figures) -> None:
    lost = 0
    with bar("kills", KILLS) as show:
        for number, name in enumerate(_NAMES[:KILLS]):
            async with channel_to(stack, "agent_orchestrator") as channel:
                stub = agent_pb2_grpc.AgentServiceStub(channel)
                await _ask(stub, f"I use {name} for billing.", await _conversation(stub))
            await stack.kill("agent_orchestrator")
            await stack.start_process("agent_orchestrator")
            lost += not await _is_saved(stack, name)
            show(number + 1)
    figures.put("lost", lost, f"of {KILLS}")


async def _is_saved(stack: LocalStack, name: str) -> bool:
    until = time.monotonic() + _CATCH_UP_SECONDS
    async with channel_to(stack, "agent_orchestrator") as channel:
        stub = entity_memory_pb2_grpc.EntityMemoryServiceStub(channel)
        while time.monotonic() < until:
            answer = await stub.QueryEntities(pb.QueryEntitiesRequest(query=name), timeout=_SECONDS)
            if any(hit.entity.name == name for hit in answer.hits):
                return True
            await asyncio.sleep(0.25)
    return False


async def _conversation(stub: agent_pb2_grpc.AgentServiceStub) -> str:
    made = await stub.CreateConversation(agent_pb2.CreateConversationRequest(), timeout=_SECONDS)
    return made.conversation.id


async def _ask(
    stub: agent_pb2_grpc.AgentServiceStub, text: str, conversation: str, *, skip: bool = False
) -> None:
    request = agent_pb2.AskRequest(question=text, conversation_id=conversation, skip_memory=skip)
    async for _ in stub.Ask(request, timeout=_SECONDS):
        pass
