"""Collects the product's modules, their patterns, and their functions that read one text."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import braid_client
import deploy
import gateway
import services
from services.runtime.patterns import Pattern

_ROOTS = (services, gateway, deploy, braid_client)
# Containers within which patterns are collected.
_MAX_DEPTH = 4
# Modules whose functions compile patterns, at import or for RE2.
_COMPILERS = (
    "services.runtime.patterns",
    "services.agent_orchestrator.agent.planner.wordlists",
    "services.agent_orchestrator.entity_memory.questions",
)
# Functions that open, start or configure something, not tokenizers.
_NO_READERS = (
    "services.postgres",
    "services.runtime.channels",
    "services.runtime.metrics_export",
    "services.runtime.telemetry",
    "services.runtime.tracing",
    "services.runtime.patterns",
    "services.runtime.queries",
    "services.runtime.rpc_queues",
    "services.graph_query.neo4j.database",
    "gateway.http_server",
    "gateway.cli",
    "deploy",
)


class Named(NamedTuple):
    """A pattern or a function with the place where it is defined."""

    name: str
    value: Any


@cache
def modules() -> tuple[ModuleType, ...]:
    """Returns all modules of the product."""
    found = (
        info.name
        for root in _ROOTS
        for info in pkgutil.walk_packages(root.__path__, f"{root.__name__}.")
        if not info.name.endswith("__main__")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are imported for the first time
        return tuple(importlib.import_module(name) for name in sorted(found))


def patterns() -> list[Named]:
    """Returns the compiled patterns of all modules, of the standard library and of RE2."""
    found: dict[int, Named] = {}
    for module in modules():
        for name, value in vars(module).items():
            for place, pattern in _patterns_in(value, f"{module.__name__}.{name}", 0):
                found.setdefault(id(pattern), Named(place, pattern))
    return list(found.values())


def _patterns_in(value: Any, place: str, depth: int) -> Iterator[Named]:
    if isinstance(value, re.Pattern | Pattern):
        yield Named(place, value)
    elif depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
        for number, inner in enumerate(value):
            yield from _patterns_in(inner, f"{place}[{number}]", depth + 1)
    elif depth < _MAX_DEPTH and isinstance(value, dict):
        for key, inner in value.items():
            yield from _patterns_in(inner, f"{place}[{key!r}]", depth + 1)


def matched_whole() -> set[int]:
    """Returns the ids of the patterns with which somewhere a whole text is matched."""
    found: set[int] = set()
    for module in modules():
        for call in _calls(module):
            if isinstance(call.func, ast.Attribute) and call.func.attr == "fullmatch":
                name = ast.unparse(call.func.value)
                found.add(id(getattr(module, name, None)))
    return found


def text_readers() -> list[Named]:
    """Returns the functions that take one text."""
    return [
        Named(f"{module.__name__}.{name}", function)
        for module in modules()
        if not module.__name__.startswith(_NO_READERS)
        for name, function in vars(module).items()
        if getattr(function, "__module__", None) == module.__name__ and _reads_text(function)
    ]


def _reads_text(function: Callable[..., Any]) -> bool:
    if not inspect.isfunction(inspect.unwrap(function)) or inspect.iscoroutinefunction(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    required = [
        one for one in parameters if one.default is one.empty and one.kind < one.VAR_KEYWORD
    ]
    required = [one for one in required if one.kind is not one.VAR_POSITIONAL]
    return len(required) == 1 and required[0].annotation in (str, "str")


def inline_patterns() -> list[str]:
    """Returns the calls of `re` other than compiling at import and escaping: such patterns cannot be collected."""
    return [
        f"{module.__name__}:{call.lineno}"
        for module in modules()
        if module.__name__ not in _COMPILERS
        for call in _calls(module)
        if _is_call_of_re(call)
        and not (call.func.attr == "compile" and call not in _calls_in_functions(module))  # type: ignore[attr-defined]  # checked above
    ]


def _is_call_of_re(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id in ("re", "re2", "regex")
    )


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))


def _calls(module: ModuleType) -> list[ast.Call]:
    return [node for node in ast.walk(_tree(module)) if isinstance(node, ast.Call)]


@cache
def _calls_in_functions(module: ModuleType) -> set[ast.Call]:
    functions = (
        node
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    )
    return {
        node for function in functions for node in ast.walk(function) if isinstance(node, ast.Call)
    }
