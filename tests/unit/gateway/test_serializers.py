"""Every serializer of the gateway reads only fields that its message has: each accepts a full message."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

import gateway.mcp
import gateway.rest
from braid.graph.v1 import facts_pb2, findings_pb2
from braid.vector.v1 import chunks_pb2
from gateway.rest.findings import responses as findings
from gateway.rest.search import responses as search

_MESSAGE = re.compile(r"(\w+)\.(\w+)")
_DEPTH = 4
_REAL = (FieldDescriptor.TYPE_DOUBLE, FieldDescriptor.TYPE_FLOAT)
# Values of the serializers' other parameters, by type.
_OTHERS: dict[str, Any] = {"float": 1.0, "int": 1, "bool": True, "str": "text"}


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        yield importlib.import_module(found.name)


def contracts_of(module: ModuleType) -> dict[str, ModuleType]:
    """Returns the contract modules that a module imports (also those for type checking only), by their local names."""
    return {
        alias.asname or alias.name: importlib.import_module(f"{node.module}.{alias.name}")
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("braid.")
        for alias in node.names
        if alias.name.endswith("_pb2")
    }


def serializers() -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    """Yields functions that turn messages and plain values into JSON, with the arguments for each.

    A message is represented by its class.
    """
    for package in (gateway.rest, gateway.mcp):
        for module in modules(package):
            contracts = contracts_of(module)
            for _, function in inspect.getmembers(module, inspect.isfunction):
                if function.__module__ != module.__name__:
                    continue
                if function.__annotations__.get("return") not in {"Json", "dict[str, Any]"}:
                    continue
                arguments = arguments_of(function, contracts)
                if arguments is not None:
                    yield function, arguments


def arguments_of(
    function: Callable[..., Any], contracts: Mapping[str, ModuleType]
) -> dict[str, Any] | None:
    arguments: dict[str, Any] = {}
    messages = 0
    for name, parameter in inspect.signature(function).parameters.items():
        named = _MESSAGE.fullmatch(str(parameter.annotation))
        if named and named[1] in contracts:
            messages += 1
            arguments[name] = getattr(contracts[named[1]], named[2])
        elif parameter.annotation in _OTHERS:
            arguments[name] = _OTHERS[parameter.annotation]
        elif parameter.default is inspect.Parameter.empty:
            return None
    return arguments if messages else None


def full_message(kind: type[Message], depth: int = _DEPTH) -> Any:
    """Returns a message with every field set."""
    message = kind()
    for field in kind.DESCRIPTOR.fields:
        inner: Any = field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            continue
        if inner is not None and depth == 0:
            continue
        value = scalar(field) if inner is None else full_message(GetMessageClass(inner), depth - 1)
        if field.is_repeated:
            getattr(message, field.name).extend([value])
        elif inner is not None:
            getattr(message, field.name).CopyFrom(value)
        else:
            setattr(message, field.name, value)
    return message


def scalar(field: Any) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[-1].number
    if field.type == FieldDescriptor.TYPE_STRING:
        return "3b0d4d0e-1111-4000-8000-000000000002"
    if field.type == FieldDescriptor.TYPE_BYTES:
        return b"x"
    return 0.5 if field.type in _REAL else 1


FOUND = list(serializers())


@pytest.mark.parametrize(
    ("serializer", "arguments"),
    FOUND,
    ids=[f"{function.__module__}.{function.__name__}" for function, _ in FOUND],
)
def test_a_serializer_accepts_a_full_message(
    serializer: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    values = {
        name: full_message(value) if isinstance(value, type) else value
        for name, value in arguments.items()
    }
    assert json.dumps(serializer(**values))


def test_the_serializers_of_all_searches_are_covered() -> None:
    names = {function for function, _ in FOUND}
    assert names >= {findings.found, search.chunk_hit, search.fact_hit, search.leg}
    assert len(FOUND) > 50


def test_absent_parts_of_a_score_are_null() -> None:
    for hit, shown in (
        (
            search.chunk_hit(full_message(chunks_pb2.ChunkHit)),
            search.chunk_hit(chunks_pb2.ChunkHit()),
        ),
        (search.fact_hit(full_message(facts_pb2.FactHit)), search.fact_hit(facts_pb2.FactHit())),
    ):
        assert None not in hit["scores"].values()
        assert set(shown["scores"].values()) == {None}
    answer = findings_pb2.SearchFindingsResponse(hits=[full_message(findings_pb2.FindingHit)])
    page = findings.FindingPage.model_validate(findings.found(answer, 1.0, searched=True))
    assert None not in page.findings[0].scores.model_dump().values()  # type: ignore[union-attr]
