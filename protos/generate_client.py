"""Generates `protos/gen/braid_calls`: the methods of the Python client, from those of the public contracts.

Run by `protos/generate.py`, with the generated messages on the path.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor

from braid.agent.v1 import (
    agent_pb2,
    consistency_pb2,
    entity_memory_pb2,
    ingest_pb2,
    jobs_pb2,
    memories_pb2,
    models_pb2,
    profile_pb2,
    search_pb2,
    sources_pb2,
    spaces_pb2,
    transfer_pb2,
)
from braid.common.v1 import json_pb2
from braid.graph.v1 import ingest_pb2 as graph_ingest_pb2
from braid.graph.v1 import query_pb2
from braid.vector.v1 import documents_pb2
from braid.vector.v1 import search_pb2 as chunk_search_pb2
from braid_protocol.contract_rules import is_required

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor, MethodDescriptor

# The files of the contracts, with the tier that serves them.
FILES = (
    (search_pb2, "agent"),
    (agent_pb2, "agent"),
    (ingest_pb2, "agent"),
    (jobs_pb2, "agent"),
    (consistency_pb2, "agent"),
    (models_pb2, "agent"),
    (sources_pb2, "agent"),
    (spaces_pb2, "agent"),
    (transfer_pb2, "agent"),
    (entity_memory_pb2, "agent"),
    (memories_pb2, "agent"),
    (profile_pb2, "agent"),
    (query_pb2, "graph"),
    (graph_ingest_pb2, "graph"),
    (chunk_search_pb2, "vector"),
    (documents_pb2, "vector"),
)
# Methods that the client has in a form of its own, and methods that the services call among themselves.
LEFT_OUT = frozenset(
    {
        *("Ask", "StreamRunEvents", "WatchJob"),
        *("CheckIngestCapacity", "AddEpisode", "BatchAddEpisodes", "SettleFactSource"),
        *("GetMentionSubgraph", "LinkEntities", "ScoreChunks", "CheckDocuments"),
    }
)
_KEY = "idempotency_key"
_PAGE = "page_token"
_NEXT = "next_page_token"
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_WIDTH = 100
_SCALARS = {
    FieldDescriptor.CPPTYPE_STRING: ("str", '""'),
    FieldDescriptor.CPPTYPE_BOOL: ("bool", "False"),
    FieldDescriptor.CPPTYPE_DOUBLE: ("float", "0.0"),
    FieldDescriptor.CPPTYPE_FLOAT: ("float", "0.0"),
}
_NUMBER = ("int", "0")
# Messages that an argument gives in another form, and the function of `braid_client.requests` that converts it.
_FORMS = {
    "google.protobuf.Timestamp": ("datetime", "timestamp"),
    "google.protobuf.Struct": ("Mapping[str, Any]", "struct"),
    "google.protobuf.FieldMask": ("FieldMask", ""),
    "braid.common.v1.TimeSelector": ("TimeLike", "time_selector"),
    "braid.graph.v1.EntitySelector": ("EntityLike", "entity_selector"),
    "braid.common.v1.ExpansionOptions": ("ExpansionLike", "expansion_options"),
}
_ABOUT = """\"\"\"{}. Generated from the contracts by `make generate`: do not edit.\"\"\"

from __future__ import annotations

"""
_IMPORTS = """from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any

from google.protobuf.field_mask_pb2 import FieldMask

{modules}
from braid_client.connection import Connection
from braid_client.requests import (
    EntityLike,
    ExpansionLike,
    TimeLike,
    entity_selector,
    enum_value,
    expansion_options,
    struct,
    time_selector,
    timestamp,
)


class Calls(Connection):
    \"\"\"A method for each method of the contracts that answers once; lists are read page by page.\"\"\"
"""
_BLOCKING = """from braid_calls.asynchronous import Calls
from braid_client.blocking import Blocking, call, stream


class BlockingCalls(Blocking):
    \"\"\"The same methods without `await`.\"\"\"

"""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a method, and the value of the request's field."""

    name: str
    declared: str
    value: str
    required: bool
    comment: str


def module_of(file_name: str) -> str:
    """Returns the local name of a contract's module, such as `agent_jobs_pb2`."""
    _, tier, _, name = file_name.removesuffix(".proto").split("/")
    return f"{tier}_{name}_pb2"


def import_of(file_name: str, suffix: str = "_pb2") -> str:
    """Returns the import of a contract's module."""
    package, _, name = file_name.removesuffix(".proto").replace("/", ".").rpartition(".")
    end = suffix.removeprefix("_pb2")
    return f"from {package} import {name}{suffix} as {module_of(file_name)}{end}"


class Writer:
    """Writes the methods of services, and notes which contracts they name."""

    def __init__(self, comments: dict[str, str]) -> None:
        self._comments = comments
        self.imports: set[str] = set()
        self.lists: list[str] = []
        self.calls: list[str] = []

    def method(self, method: MethodDescriptor, tier: str) -> str:
        """Returns the text of a method."""
        answer, unwrapped = self._answer(method)
        item = self._item(method)
        left_out = {_KEY, _PAGE} if item else {_KEY}
        request, arguments = self._request(method.input_type, left_out)
        leads = arguments[:1] if arguments and ": str = " in arguments[0].declared else []
        arguments.sort(key=lambda one: not one.required)
        name = name_of(method)
        streams = item is not None or method.server_streaming
        (self.lists if streams else self.calls).append(name)
        self.imports.add(import_of(method.containing_service.file.name, "_pb2_grpc"))
        stub = f"{module_of(method.containing_service.file.name)}_grpc.{method.containing_service.name}Stub"
        lines = [
            f"async def {name}({', '.join(signature(arguments, leads))}) -> {self._returned(item, answer, streams)}:",
            *self._docstring(method, arguments),
            f"    request = {request}",
        ]
        call = f'"{tier}", {stub}, "{method.name}", request, timeout'
        if item:
            lines += [
                f"    async for page in self._pages({call}):",
                f"        for one in page.{item.name}:",
                "            yield one",
            ]
        elif method.server_streaming:
            lines += [f"    async for one in self._stream({call}):", "        yield one"]
        elif answer == "None":
            lines.append(f"    await self._call({call})")
        else:
            lines += [f"    answer: {self._named(method.output_type)} = await self._call({call})"]
            lines.append(f"    return answer{unwrapped}")
        return textwrap.indent("\n".join(lines), "    ")

    def _request(self, shape: Descriptor, left_out: set[str]) -> tuple[str, list[Argument]]:
        """Returns the expression of a message, and its arguments; a flattened field has those of its message."""
        arguments: list[Argument] = []
        values: list[str] = []
        for field in shape.fields:
            if field.name in left_out:
                continue
            if field.GetOptions().Extensions[json_pb2.json].flatten and field.message_type:
                value, inner = self._request(field.message_type, left_out)
                arguments += inner
                values.append(f"{field.name}={value}")
            else:
                one = self._argument(field)
                arguments.append(one)
                values.append(f"{field.name}={one.value}")
        return f"{self._named(shape)}({', '.join(values)})", arguments

    def _argument(self, field: FieldDescriptor) -> Argument:
        name = argument_name(field)
        kind, convert, default = self._type(field)
        required = is_required(field)
        comment = self._comments.get(field.full_name, "")
        if field.is_repeated:
            declared = f"{name}: Iterable[{kind}]" + ("" if required else " = ()")
            value = f"[{convert}(one) for one in {name}]" if convert else f"list({name})"
            return Argument(name, declared, value, required, comment)
        value = f"{convert}({name})" if convert else name
        if required:
            return Argument(name, f"{name}: {kind}", value, required, comment)
        if field.has_presence or field.enum_type is not None:
            return Argument(name, f"{name}: {kind} | None = None", value, required, comment)
        return Argument(name, f"{name}: {kind} = {default}", value, required, comment)

    def _type(self, field: FieldDescriptor) -> tuple[str, str, str]:
        """Returns the type of a value, the function that converts it, and the default of a plain value."""
        if field.enum_type is not None:
            enum = self._named(field.enum_type)
            return f"{enum}.ValueType | str", f"enum_value({enum})", ""
        if field.message_type is None:
            kind, default = _SCALARS.get(field.cpp_type, _NUMBER)
            return kind, "", default
        kind, convert = _FORMS.get(field.message_type.full_name, ("", ""))
        return kind or self._named(field.message_type), convert, ""

    def _named(self, one: Any) -> str:
        self.imports.add(import_of(one.file.name))
        return f"{module_of(one.file.name)}.{one.name}"

    def _answer(self, method: MethodDescriptor) -> tuple[str, str]:
        wanted = method.GetOptions().Extensions[json_pb2.rest].response_field
        if wanted:
            message: Any = method.output_type.fields_by_name[wanted].message_type
            return self._named(message), f".{wanted}"
        return (self._named(method.output_type) if method.output_type.fields else "None"), ""

    def _item(self, method: MethodDescriptor) -> FieldDescriptor | None:
        """Returns the field with the entries of a page, if the answer is nothing but a page."""
        fields = method.output_type.fields
        others = [one for one in fields if one.name != _NEXT]
        is_page = len(others) < len(fields) and [one.is_repeated for one in others] == [True]
        return others[0] if is_page else None

    def _returned(self, item: FieldDescriptor | None, answer: str, streams: bool) -> str:
        answer = self._named(item.message_type) if item else answer
        return f"AsyncIterator[{answer}]" if streams else answer

    def _docstring(self, method: MethodDescriptor, arguments: list[Argument]) -> Iterator[str]:
        about = textwrap.wrap(self._comments.get(method.full_name, ""), _WIDTH)
        text = '    """' + "\n    ".join(about)
        if arguments:
            text += "\n\n    Args:\n"
            for one in arguments:
                text += textwrap.fill(
                    f"{one.name}: {one.comment}",
                    _WIDTH,
                    initial_indent=" " * 8,
                    subsequent_indent=" " * 12,
                )
                text += "\n"
            text += "    "
        yield text.replace("\\", "\\\\") + '"""'


def name_of(method: MethodDescriptor) -> str:
    """Returns the name of a method of the client: that of its operation in the OpenAPI document."""
    operation = method.GetOptions().Extensions[json_pb2.rest].operation
    return operation or _CAPITAL.sub("_", method.name).lower()


def argument_name(field: FieldDescriptor) -> str:
    """Returns the name of an argument: the field's, but for `time`."""
    return "as_of" if field.name == "time" else field.name


def signature(arguments: list[Argument], leads: list[Argument]) -> Iterator[str]:
    """Yields the declarations of the arguments; those with a default are given by name, but for a leading text."""
    yield "self"
    yield from (one.declared for one in arguments if one.required)
    yield from (one.declared for one in leads)
    yield "*"
    yield from (one.declared for one in arguments if not one.required and one not in leads)
    yield "timeout: float | None = None"


def main(output: Path) -> None:
    """Writes the package into `output`."""
    comments: dict[str, str] = json.loads((output / "braid" / "comments.json").read_text())
    writer = Writer(comments)
    methods = [
        writer.method(method, tier)
        for file, tier in FILES
        for service in file.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if not (method.client_streaming or method.name in LEFT_OUT)
    ]
    package = output / "braid_calls"
    package.mkdir()
    (package / "__init__.py").write_text(
        '"""Methods of the Python client, generated from the contracts."""\n'
    )
    (package / "py.typed").touch()
    text = _ABOUT.format("Methods of the asyncio client") + _IMPORTS.format(
        modules="\n".join(sorted(writer.imports))
    )
    (package / "asynchronous.py").write_text(text + "\n" + "\n\n".join(methods) + "\n")
    lines = [f"    {name} = call(Calls.{name})" for name in writer.calls]
    lines += [f"    {name} = stream(Calls.{name})" for name in writer.lists]
    text = _ABOUT.format("Methods of the client without `await`") + _BLOCKING
    (package / "blocking.py").write_text(text + "\n".join(lines) + "\n")
    command = ["ruff", "format", "--isolated", "--quiet", "--line-length=100", str(package)]
    subprocess.run(command, check=True)  # noqa: S603 - the development environment's own


if __name__ == "__main__":
    main(Path(sys.argv[1]))
