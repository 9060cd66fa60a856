"""The parts of the fuzzers: valid messages, invalid messages, and the detection of wrong responses."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import protovalidate
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from braid_protocol.channel import methods
from tests.fuzz.documented import OF_EVERY_CALL, documented
from tests.fuzz.messages import Messages, broken, made_up
from tests.fuzz.rpc import RpcFuzzer
from tests.fuzz.vocabulary import Vocabulary

DIMENSION = 16
METHODS = sorted(methods(), key=lambda method: method.full_name)


def chance_of(number: int) -> random.Random:
    return random.Random(number)  # noqa: S311


@pytest.fixture
def messages() -> Messages:
    return Messages(Vocabulary(), DIMENSION)


def test_some_likely_messages_are_valid_for_every_rpc(messages: Messages) -> None:
    validator = protovalidate.Validator()
    for method in METHODS:
        made = [messages.likely(method.input_type, chance_of(n)) for n in range(20)]
        valid = [one for one in made if not validator.collect_violations(one)]
        assert valid, method.full_name


def test_the_same_random_seed_generates_the_same_message(messages: Messages) -> None:
    for method in METHODS[:10]:
        one, other = (messages.hostile(method.input_type, chance_of(7)) for _ in range(2))
        assert one.SerializeToString(deterministic=True) == other.SerializeToString(
            deterministic=True
        )


def test_some_hostile_and_broken_messages_are_invalid(messages: Messages) -> None:
    validator = protovalidate.Validator()
    method = next(one for one in METHODS if one.name == "HybridSearch")
    hostile = [messages.hostile(method.input_type, chance_of(n)) for n in range(50)]
    assert any(validator.collect_violations(one) for one in hostile)
    kind = GetMessageClass(method.input_type)
    unreadable = 0
    for number in range(50):
        chance = chance_of(number)
        for data in (broken(hostile[number].SerializeToString(), chance), made_up(chance)):
            try:
                kind.FromString(data)
            except DecodeError:
                unreadable += 1
    assert 0 < unreadable < 100


def test_a_learned_id_is_reused_under_other_names_of_the_same_resource() -> None:
    vocabulary = Vocabulary()
    vocabulary.learn_json({"documents": [{"id": "d1", "title": "A title"}], "job": {"id": "j1"}})
    chance = chance_of(1)
    assert vocabulary.pick("document", chance) == "d1"
    assert vocabulary.pick("ingestjob", chance) == "j1"
    assert vocabulary.pick("nothing", chance) is None


def test_the_documented_statuses_come_from_the_comments_of_the_contracts() -> None:
    by_name = {method.full_name: method for method in METHODS}
    statuses = documented().statuses
    assert grpc.StatusCode.NOT_FOUND in statuses(
        by_name["braid.graph.v1.GraphIngestService.EndFact"]
    )
    for method in METHODS:
        assert statuses(method) >= OF_EVERY_CALL
        assert grpc.StatusCode.INTERNAL not in statuses(method)


Ending = Callable[[grpc.aio.ServicerContext[Any, Any]], Any]


async def bad_server(ending: Ending) -> AsyncIterator[grpc.aio.Channel]:
    """Serves every method with this ending."""

    class Handlers(grpc.GenericRpcHandler):
        def service(self, _details: Any) -> Any:
            async def behave(_requests: Any, context: Any) -> bytes:
                return bytes(await ending(context))

            return grpc.stream_stream_rpc_method_handler(_streamed(behave))

    server = grpc.aio.server()
    server.add_generic_rpc_handlers((Handlers(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(0)


def _streamed(behave: Any) -> Any:
    async def answers(requests: Any, context: Any) -> AsyncIterator[bytes]:
        yield await behave(requests, context)

    return answers


async def fuzz(ending: Ending) -> RpcFuzzer:
    async for channel in bad_server(ending):
        channels = dict.fromkeys(("agent", "graph", "vector"), channel)
        fuzzer = RpcFuzzer(channels, (), documented(), seed=1, dimension=DIMENSION)
        await fuzzer.run(len(METHODS), seconds_each=5, shown=lambda _: None)
        return fuzzer
    raise AssertionError


@pytest.mark.parametrize("code", [grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN])
async def test_internal_and_unknown_errors_are_found(code: grpc.StatusCode) -> None:
    async def ending(context: Any) -> bytes:
        await context.abort(code, "Traceback")
        return b""

    fuzzer = await fuzz(ending)
    assert fuzzer.findings.server_errors.total() == fuzzer.findings.cases >= len(METHODS)


async def test_an_undocumented_status_and_one_without_a_reason_are_found() -> None:
    async def exists(context: Any) -> bytes:
        await context.abort(grpc.StatusCode.ALREADY_EXISTS, "there is one")
        return b""

    async def invalid(context: Any) -> bytes:
        await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")
        return b""

    for ending in (exists, invalid):
        found = (await fuzz(ending)).findings
        assert found.undocumented.total() == found.cases
        assert len(found.report()) == len(METHODS)


async def test_an_unreadable_response_is_found() -> None:
    async def garbage(_context: Any) -> bytes:
        return b"\xff"

    found = (await fuzz(garbage)).findings
    assert found.server_errors.total() == found.cases


async def test_empty_responses_are_accepted() -> None:
    async def empty(_context: Any) -> bytes:
        return b""

    assert (await fuzz(empty)).findings.report() == []


def method_named(name: str) -> MethodDescriptor:
    return next(method for method in METHODS if method.name == name)


async def test_a_case_is_identified_by_seed_and_number() -> None:
    def fuzzer(seed: int) -> RpcFuzzer:
        return RpcFuzzer({}, (), documented(), seed=seed, dimension=DIMENSION)

    method = method_named("HybridSearch")
    assert fuzzer(1).case(method, 5) == fuzzer(1).case(method, 5)
    cases = {tuple(fuzzer(seed).case(method, n)) for seed in (1, 2) for n in range(20)}
    assert len(cases) > 30
