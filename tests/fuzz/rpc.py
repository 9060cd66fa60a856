"""Fuzzes every RPC over gRPC with valid, hostile, malformed and random messages, and judges the outcomes."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

import grpc
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from braid_protocol.channel import methods
from braid_protocol.errors import failure_of
from braid_protocol.idempotency import is_read
from tests.fuzz.documented import Documented
from tests.fuzz.findings import Findings
from tests.fuzz.messages import Messages, broken, made_up
from tests.fuzz.vocabulary import Vocabulary

_DEADLINE = 3.0
_AT_ONCE = 6
_READ = 20
_WARM_UP = 6
_LONGEST_STREAM = 3
_DEFECTS = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS})
# Braid sets a reason with these codes; without one the error comes from a library instead of a check.
_REASONED = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
    }
)


class RpcFuzzer:
    """Sends cases over channels by package (`vector` for `braid.vector.v1`). A seed and a number identify a case."""

    def __init__(
        self,
        channels: Mapping[str, grpc.aio.Channel],
        metadata: Sequence[tuple[str, str]],
        documented: Documented,
        *,
        seed: int,
        dimension: int,
    ) -> None:
        self._channels = channels
        self._metadata = tuple(metadata)
        self._documented = documented
        self._seed = seed
        self._vocabulary = Vocabulary()
        self._messages = Messages(self._vocabulary, dimension)
        self.findings = Findings()
        # How many times each RPC returned a non-empty list.
        self.hits: Counter[str] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)

    async def warm_up(self) -> None:
        """Calls each RPC several times with valid messages, so that later cases can name existing things."""
        for method in _writes_first():
            for number in range(_WARM_UP):
                chance = self._chance(method, f"warm-up {number}")
                count = _LONGEST_STREAM if method.client_streaming else 1
                requests = [
                    self._messages.likely(method.input_type, chance, place)
                    for place in range(count)
                ]
                answers = await self._judged(method, [one.SerializeToString() for one in requests])
                for message in [*requests, *answers] if answers else ():
                    self._vocabulary.learn(message)

    async def run(self, cases: int, *, seconds_each: float, shown: Callable[[int], None]) -> None:
        """Sends at least `cases` cases, distributed over the RPCs; a slow RPC stops after `seconds_each`."""
        left = _writes_first()
        share = -(-cases // len(left))
        numbers = dict.fromkeys((method.full_name for method in left), 0)
        while self.findings.cases < cases and left:
            share = max(1, -(-(cases - self.findings.cases) // len(left)))
            for method in list(left):
                first = numbers[method.full_name]
                until = time.monotonic() + seconds_each - self.seconds[method.full_name]
                sent = await self._cases(method, range(first, first + share), until)
                numbers[method.full_name] += sent
                if sent < share:
                    left.remove(method)
                shown(self.findings.cases)

    async def _cases(self, method: MethodDescriptor, numbers: range, until: float) -> int:
        """Sends cases concurrently until a time; returns how many."""
        began = time.monotonic()
        waiting = iter(numbers)
        sent = 0

        async def caller() -> None:
            nonlocal sent
            for number in waiting:
                if time.monotonic() >= until:
                    return
                sent += 1
                await self._judged(method, self.case(method, number))

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(caller())
        self.seconds[method.full_name] += time.monotonic() - began
        return sent

    def case(self, method: MethodDescriptor, number: int) -> list[bytes]:
        """Returns the messages of a case: one, or up to three for a client stream."""
        chance = self._chance(method, str(number))
        count = chance.randint(0, _LONGEST_STREAM) if method.client_streaming else 1
        return [self._message(method, chance, place) for place in range(count)]

    def _message(self, method: MethodDescriptor, chance: random.Random, place: int) -> bytes:
        kind = chance.random()
        if kind < 0.35:
            return self._messages.likely(method.input_type, chance, place).SerializeToString()
        if kind < 0.7:
            return self._messages.hostile(method.input_type, chance, place).SerializeToString()
        if kind < 0.93:
            data = self._messages.likely(method.input_type, chance, place).SerializeToString()
            return broken(data, chance)
        return made_up(chance)

    def _chance(self, method: MethodDescriptor, case: str) -> random.Random:
        return random.Random(f"{self._seed} {method.full_name} {case}")  # noqa: S311

    async def _judged(self, method: MethodDescriptor, messages: Sequence[bytes]) -> list[Message]:
        """Makes a call and records its outcome; returns its responses, none if it failed."""
        found = self.findings
        found.cases += 1
        code, reason, answers = await self._call(method, messages)
        found.statuses[code.name] += 1
        what = f"{method.full_name} {code.name}"
        found.endings[what] += 1
        sample = " ".join(message[:400].hex() or "-" for message in messages)
        if code in _DEFECTS:
            found.note(found.server_errors, what, sample)
        elif code not in self._documented.statuses(method):
            found.note(found.undocumented, what, sample)
        elif code in _REASONED and not reason:
            found.note(found.undocumented, f"{what} without a reason", sample)
        try:
            read = [GetMessageClass(method.output_type).FromString(one) for one in answers]
        except DecodeError:
            found.note(found.server_errors, f"{what} with an unreadable answer", sample)
            return []
        self.hits[method.full_name] += any(map(_has_items, read))
        return read

    def silent_searches(self) -> list[str]:
        """Returns the searches that never found anything, so that their responses with hits were not tested."""
        names = [method.full_name for method in methods() if "Search" in method.name]
        return [name for name in names if not self.hits[name]]

    async def _call(
        self, method: MethodDescriptor, messages: Sequence[bytes]
    ) -> tuple[grpc.StatusCode, str, list[bytes]]:
        call = self._start(method, messages)
        try:
            if method.server_streaming:
                answers = await _first(call)
            else:
                answers = [await call]
        except grpc.aio.AioRpcError as error:
            failure = failure_of(error)
            return failure.code, failure.reason, []
        return grpc.StatusCode.OK, "", answers

    def _start(self, method: MethodDescriptor, messages: Sequence[bytes]) -> Any:
        channel = self._channels[method.full_name.split(".")[1]]
        path = f"/{method.containing_service.full_name}/{method.name}"
        shape: Any = {
            (False, False): channel.unary_unary,
            (False, True): channel.unary_stream,
            (True, False): channel.stream_unary,
            (True, True): channel.stream_stream,
        }[method.client_streaming, method.server_streaming]
        sent: Any = _each(messages) if method.client_streaming else messages[0]
        return shape(path)(sent, metadata=self._metadata, timeout=_DEADLINE)


def _writes_first() -> list[MethodDescriptor]:
    """Returns the RPCs that add, then those that read, then those that delete, so that reads find something."""

    def rank(method: MethodDescriptor) -> int:
        if is_read(method):
            return 1
        removes = (
            "Delete",
            "Erase",
            "Remove",
            "Merge",
            "Activate",
            "Hold",
            "Start",
            "End",
            "Repair",
        )
        return 2 if method.name.startswith(removes) else 0

    return sorted(methods(), key=lambda method: (rank(method), method.full_name))


def _has_items(message: Message) -> bool:
    """Returns whether a list in the message is not empty, except the reports of legs, which always exist."""
    for field, value in message.ListFields():
        if field.message_type is None or field.name == "legs":
            continue
        if field.is_repeated or _has_items(value):
            return True
    return False


async def _each(messages: Sequence[bytes]) -> AsyncIterator[bytes]:
    for message in messages:
        yield message


async def _first(call: Any) -> list[bytes]:
    """Returns the first responses of a stream, then cancels it."""
    answers: list[bytes] = []
    async for answer in call:
        answers.append(answer)
        if len(answers) >= _READ:
            call.cancel()
            break
    return answers
