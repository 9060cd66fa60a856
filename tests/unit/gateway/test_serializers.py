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

import gateway.mcp
import gateway.rest
from gateway.rest.search import responses as search
from tests.messages import full_message

_MESSAGE = re.compile(r"(\w+)\.(\w+)")
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


def test_the_serializers_are_found() -> None:
    assert search.comprehensive in {function for function, _ in FOUND}
