"""The events of a question over gRPC, from the first to the last."""

from __future__ import annotations

from braid.agent.v1 import agent_pb2, agent_pb2_grpc
from tests.integration.agent_orchestrator.conftest import ALICE, World


async def ask(world: World, question: str) -> list[agent_pb2.RunEvent]:
    stub = agent_pb2_grpc.AgentServiceStub(world.channel)
    call = stub.Ask(agent_pb2.AskRequest(question=question), metadata=ALICE)
    return [answer.event async for answer in call]


async def test_a_question_is_answered_from_tool_results(answers: World) -> None:
    events = await ask(answers, "What is c1?")
    kinds = [event.WhichOneof("event") for event in events]
    assert kinds[0] == "started"
    assert kinds[-1] == "done"
    assert "tool_call" in kinds
    assert kinds.count("leg_status") == 2
    assert [event.id for event in events] == list(range(1, len(events) + 1))
    assert events[-1].done.answer
