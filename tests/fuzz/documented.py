"""The status codes that the contract documents for each RPC: those of every call, and those in its comments."""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from grpc_tools import protoc  # type: ignore[import-untyped]

from braid.common.v1 import errors_pb2
from services.runtime.status import CODES

PROTOS = Path(__file__).parents[2] / "protos"
# The codes that `braid.common.v1.ErrorReason` allows for every call; except INTERNAL, which is always a defect.
OF_EVERY_CALL = frozenset(
    {
        grpc.StatusCode.OK,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
    }
)
_NAMES = {code.name: code for code in grpc.StatusCode} | {
    errors_pb2.ErrorReason.Name(reason).removeprefix("ERROR_REASON_"): code
    for reason, code in CODES.items()
}
_WORD = re.compile(r"\b[A-Z]{2,}(?:_[A-Z]+)*\b")
# Field numbers of FileDescriptorProto, which are the paths of comments.
_SERVICE, _METHOD, _MESSAGE, _ENUM = 6, 2, 4, 5


class Documented:
    """Reads the contracts' comments on an RPC, its service, its request and its response."""

    def __init__(self, protos: Path = PROTOS) -> None:
        self._comments: dict[str, str] = {}
        for file in _compiled(protos).file:
            self._comments.update(_comments(file))

    def statuses(self, method: MethodDescriptor) -> frozenset[grpc.StatusCode]:
        """Returns the documented codes of the RPC."""
        named = {_NAMES[word] for word in self._comment_words(method) if word in _NAMES}
        if "idempotency_key" in method.input_type.fields_by_name:
            # Of every call with a key: an earlier one with the same key is still running.
            named.add(CODES[errors_pb2.ERROR_REASON_CALL_IN_PROGRESS])
        return OF_EVERY_CALL | (named - {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN})

    def _comment_words(self, method: MethodDescriptor) -> Iterator[str]:
        service = method.containing_service
        names = {service.full_name, f"{service.full_name}.{method.name}"}
        _gather(method.input_type, names)
        names.add(method.output_type.full_name)
        for name in names:
            yield from _WORD.findall(self._comments.get(name, ""))


@functools.cache
def documented() -> Documented:
    """Returns the repository's contracts, compiled once."""
    return Documented()


def _compiled(protos: Path) -> descriptor_pb2.FileDescriptorSet:
    well_known = str(files("grpc_tools") / "_proto")
    sources = [path.relative_to(protos).as_posix() for path in (protos / "braid").rglob("*.proto")]
    with tempfile.NamedTemporaryFile(suffix=".binpb") as out:
        code = protoc.main(
            [
                "protoc",
                f"--proto_path={protos}",
                f"--proto_path={well_known}",
                "--include_source_info",
                f"--descriptor_set_out={out.name}",
                *sorted(sources),
            ]
        )
        assert code == 0, "the contracts do not compile"
        return descriptor_pb2.FileDescriptorSet.FromString(Path(out.name).read_bytes())


def _comments(file: descriptor_pb2.FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Yields full names of services, methods, messages and enums with their comments, including those of fields."""
    texts = {tuple(one.path): one.leading_comments for one in file.source_code_info.location}
    for place, service in enumerate(file.service):
        name = f"{file.package}.{service.name}"
        yield name, texts.get((_SERVICE, place), "")
        for index, method in enumerate(service.method):
            yield f"{name}.{method.name}", texts.get((_SERVICE, place, _METHOD, index), "")
    for place, message in enumerate(file.message_type):
        own = [text for path, text in texts.items() if path[:2] == (_MESSAGE, place)]
        yield f"{file.package}.{message.name}", "\n".join(own)
    for place, enum in enumerate(file.enum_type):
        own = [text for path, text in texts.items() if path[:2] == (_ENUM, place)]
        yield f"{file.package}.{enum.name}", "\n".join(own)


def _gather(message: Descriptor, into: set[str]) -> None:
    if message.full_name in into:
        return
    into.add(message.full_name)
    for field in message.fields:
        if field.message_type is not None:
            _gather(field.message_type, into)
        if field.enum_type is not None:
            into.add(field.enum_type.full_name)
