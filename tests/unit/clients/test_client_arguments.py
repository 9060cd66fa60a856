"""The Python client rejects invalid arguments by name before it sends anything."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from braid.graph.v1.ingest_pb2 import FactInput
from braid_client import AsyncBraid, Braid
from services.runtime.server import RunningServer
from tests.unit.clients.conftest import NAIVE, Backend, without_await


def nested(levels: int) -> dict[str, Any]:
    outermost: dict[str, Any] = {}
    inner = outermost
    for _ in range(levels):
        inner["in"] = {}
        inner = inner["in"]
    return outermost


def within_itself() -> dict[str, Any]:
    cycle: dict[str, Any] = {}
    cycle["in"] = cycle
    return cycle


WRONG_DOCUMENTS = [
    pytest.param({"valid_time": NAIVE}, ValueError, "zone", id="naive time"),
    pytest.param({"valid_time": "2024"}, TypeError, "datetime", id="time as text"),
    pytest.param(
        {"valid_time": datetime.max.replace(tzinfo=timezone(timedelta(hours=-5)))},
        ValueError,
        "9999",
        id="time after the last year",
    ),
    pytest.param({"metadata": {"d": NAIVE}}, ValueError, r"metadata\['d'\]", id="time in metadata"),
    pytest.param({"metadata": {"a": object()}}, ValueError, r"metadata\['a'\]", id="object"),
    pytest.param({"metadata": {"a": 10**400}}, ValueError, r"metadata\['a'\]", id="large number"),
    pytest.param({"metadata": {"a": float("nan")}}, ValueError, r"metadata\['a'\]", id="NaN"),
    pytest.param({"metadata": {"a": [math.inf]}}, ValueError, r"metadata\['a'\]", id="infinity"),
    pytest.param({"metadata": {1: "x"}}, TypeError, "names in metadata", id="name"),
    pytest.param({"metadata": {"a": {1: "x"}}}, TypeError, r"metadata\['a'\]", id="inner name"),
    pytest.param({"metadata": nested(300)}, ValueError, "levels", id="many levels"),
    pytest.param({"metadata": within_itself()}, ValueError, "levels", id="within itself"),
    pytest.param({"metadata": 5}, TypeError, None, id="metadata as a number"),
    pytest.param({"title": 5}, TypeError, None, id="title as a number"),
    pytest.param({"title": "\ud800"}, ValueError, "surrogates", id="half a character"),
    pytest.param({"data": None}, TypeError, "data .* NoneType", id="no data"),
    pytest.param({"data": ["a"]}, TypeError, "data .* list", id="list as data"),
    pytest.param({"data": bytearray(b"a")}, TypeError, "data .* bytearray", id="bytearray as data"),
]


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG_DOCUMENTS)
async def test_an_invalid_argument_of_an_upload_is_rejected_before_the_call_starts(
    client: AsyncBraid,
    backend: Backend,
    wrong: dict[str, Any],
    error: type[Exception],
    words: str | None,
) -> None:
    with pytest.raises(error, match=words):
        await client.ingest_document(**{"data": "x", **wrong})
    assert (backend.uploads, backend.requests) == (0, [])


@pytest.mark.parametrize(("wrong", "error", "words"), WRONG_DOCUMENTS)
async def test_the_sync_client_rejects_an_invalid_argument_of_an_upload(
    server: RunningServer,
    backend: Backend,
    wrong: dict[str, Any],
    error: type[Exception],
    words: str | None,
) -> None:
    with pytest.raises(error, match=words):
        await without_await(server, lambda braid: braid.ingest_document(**{"data": "x", **wrong}))
    assert (backend.uploads, backend.requests) == (0, [])


class BrokenMetadata(dict[str, Any]):
    """A caller's mapping that fails during iteration."""

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        yield "first"
        raise LookupError("the caller's own")

    def keys(self) -> Any:
        return iter(self)

    def __getitem__(self, name: str) -> Any:
        return name


async def test_an_error_in_the_callers_mapping_reaches_the_caller_unchanged(
    client: AsyncBraid, backend: Backend
) -> None:
    with pytest.raises(LookupError, match="the caller's own"):
        await client.ingest_document("x", metadata=BrokenMetadata())
    assert backend.uploads == 0


async def test_an_upload_without_metadata_leaves_it_unset(
    client: AsyncBraid, backend: Backend
) -> None:
    await client.ingest_document("x")
    assert not backend.requests[0].metadata.HasField("metadata")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"query": 5}, TypeError),
        ({"as_of": "2024"}, TypeError),
        ({"as_of": NAIVE}, ValueError),
        ({"limit": 2**40}, ValueError),
        ({"chunk_filter": "all"}, TypeError),
        ({"cache": False}, TypeError),
    ],
)
async def test_an_invalid_argument_of_a_search_is_rejected_before_anything_is_sent(
    client: AsyncBraid, backend: Backend, wrong: dict[str, Any], error: type[Exception]
) -> None:
    options = {"query": "who?", **wrong}
    with pytest.raises(error):
        await client.comprehensive_search(**options)
    with pytest.raises(error):
        await anext(client.stream_comprehensive_search(**options))
    with pytest.raises(error):
        await client.hybrid_search(**options)
    with pytest.raises(error):
        await client.vector_search(**options)
    with pytest.raises(error):
        await client.text_search(**options)
    assert backend.requests == []


async def test_a_fact_of_the_wrong_type_is_rejected_before_the_call_starts(
    client: AsyncBraid,
) -> None:
    wrong: Any = [{"subject": "Ann"}]
    with pytest.raises(TypeError, match="FactInput, not dict"):
        await client.ingest_facts(wrong)


async def test_a_fact_larger_than_a_message_is_rejected_before_the_call_starts(
    client: AsyncBraid,
) -> None:
    with pytest.raises(ValueError, match="larger than a message"):
        await client.ingest_facts([FactInput(statement="x" * 2**24)])


@pytest.mark.parametrize("argument", ["api_key", "space", "user"])
@pytest.mark.parametrize(
    ("text", "error"), [("a\nb", ValueError), ("Zoë", ValueError), (5, TypeError)]
)
def test_an_argument_that_no_header_can_carry_is_rejected_and_leaves_no_thread(
    argument: str, text: Any, error: type[Exception]
) -> None:
    for client in (AsyncBraid, Braid):
        with pytest.raises(error, match=argument) as refused:
            client(**{argument: text})
        assert str(text) not in str(refused.value)
    assert "braid-client" not in [thread.name for thread in threading.enumerate()]
