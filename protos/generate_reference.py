"""Generates `docs/reference`: a page for each public service with its methods, routes, scopes and fields.

Run by `protos/generate.py`, with the generated messages on the path.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from generate_client import FILES
from google.protobuf.descriptor import FieldDescriptor

from braid.common.v1 import json_pb2, options_pb2
from braid_protocol.contract_rules import is_required

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor

_TIERS = {
    "agent": "the orchestrator (`agent_orchestrator`, port 50050)",
    "graph": "the graph tier (`graph_query`, port 50052)",
    "vector": "the vector tier (`vector_search`, port 50051)",
}
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_NAMES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_")
}
_ABOUT = "<!-- Generated from the contracts by `make generate`: do not edit. -->\n"


class Pages:
    """Writes the pages with the comments of the contracts."""

    def __init__(self, comments: dict[str, str]) -> None:
        self._comments = comments

    def service(self, service: ServiceDescriptor, tier: str) -> str:
        """Returns the page of a service."""
        parts = [
            _ABOUT,
            f"# {service.name}\n",
            f"{self.comment(service.full_name)}\n",
            f"gRPC: `{service.full_name}` at {_TIERS[tier]}; contract: `protos/{service.file.name}`.\n",
        ]
        used: dict[str, Descriptor] = {}
        for method in service.methods:
            parts += self._method(method, used)
        parts += self._messages(used)
        return "\n".join(parts)

    def _method(self, method: MethodDescriptor, used: dict[str, Descriptor]) -> Iterator[str]:
        options = method.GetOptions()
        scope = options_pb2.Scope.Name(options.Extensions[options_pb2.required_scope])
        rest = options.Extensions[json_pb2.rest]
        verb = rest.WhichOneof("route")
        yield f"## {method.name}\n"
        yield f"{self.comment(method.full_name)}\n"
        if verb:
            yield f"- REST: `{verb.upper()} {getattr(rest, verb)}`"
        yield f"- Scope: `{scope.removeprefix('SCOPE_').lower()}`"
        kinds = {
            (True, False): "a stream of requests",
            (False, True): "a stream of responses",
            (True, True): "streams both ways",
        }
        if streams := kinds.get((method.client_streaming, method.server_streaming)):
            yield f"- Streams: {streams}"
        yield ""
        for title, shape in (("Request", method.input_type), ("Response", method.output_type)):
            if shape.fields:
                yield f"{title} `{shape.name}`:\n"
                yield from self._fields(shape, used)

    def _messages(self, used: dict[str, Descriptor]) -> Iterator[str]:
        """Yields the messages that fields hold, and those within these."""
        written: set[str] = set()
        heading = ["## Messages\n"]
        while left := [name for name in sorted(used) if name not in written]:
            for name in left:
                written.add(name)
                shape = used[name]
                yield from heading
                heading = []
                yield f"### {shape.name}\n"
                yield f"{self.comment(name)}\n"
                yield from self._fields(shape, used)

    def _fields(self, shape: Descriptor, used: dict[str, Descriptor]) -> Iterator[str]:
        yield "| Field | Type | |"
        yield "|---|---|---|"
        for field in shape.fields:
            inner = field.message_type
            if inner is not None and inner.full_name.startswith("braid."):
                used.setdefault(inner.full_name, inner)
            needed = "Required. " if is_required(field) else ""
            comment = self._comments.get(f"{shape.full_name}.{field.name}", "")
            yield f"| `{field.name}` | {_type(field)} | {needed}{_cell(comment)} |"
        yield ""

    def comment(self, name: str) -> str:
        """Returns the comment on a service, method or message."""
        return self._comments.get(name, "")


def _type(field: FieldDescriptor) -> str:
    shape, values = field.message_type, field.enum_type
    if shape is not None and shape.GetOptions().map_entry:
        return f"map of {_type(shape.fields_by_name['value'])}"
    if values is not None:
        prefix = f"{_CAPITAL.sub('_', values.name).upper()}_"
        names = ", ".join(f"`{one.name.removeprefix(prefix)}`" for one in values.values[1:])
        kind = f"one of {names}"
    else:
        kind = f"`{shape.name}`" if shape is not None else _NAMES[field.type]
    return f"list of {kind}" if field.is_repeated else kind


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(comments: Path, output: Path) -> None:
    """Writes the pages into `output`."""
    pages = Pages(json.loads(comments.read_text(encoding="utf-8")))
    output.mkdir(parents=True, exist_ok=True)
    for old in output.glob("*.md"):
        old.unlink()
    listed: list[str] = []
    for file, tier in FILES:
        for service in file.DESCRIPTOR.services_by_name.values():
            name = f"{_CAPITAL.sub('-', service.name).lower()}.md"
            (output / name).write_text(pages.service(service, tier), encoding="utf-8")
            about = pages.comment(service.full_name).partition(". ")[0].rstrip(".")
            listed.append(f"- [{service.name}]({name}): {about}.")
    index = "\n".join([_ABOUT, "# Reference of the contracts\n", *sorted(listed), ""])
    (output / "README.md").write_text(index, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
