"""Generates `protos/gen` and `docs/reference` from the contracts. Run by `make generate`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)
from grpc_tools import protoc

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent
OUTPUT = ROOT / "gen"
REFERENCE = ROOT.parent / "docs" / "reference"
PACKAGES = ("braid", "buf")
DESCRIPTORS = "descriptors.binpb"
_FIELDS = (DescriptorProto.FIELD_FIELD_NUMBER, "field")
_METHODS = (ServiceDescriptorProto.METHOD_FIELD_NUMBER, "method")
# What is written about messages and their fields: the OpenAPI document describes its shapes with it.
COMMENTS = Path("braid", "comments.json")


def sources() -> list[str]:
    """Paths of all contracts relative to `protos`, in a fixed order."""
    folders = (ROOT / package for package in PACKAGES)
    return sorted(
        path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*.proto")
    )


def arguments(output: Path) -> list[str]:
    """The compiler's command line for all contracts."""
    well_known = str(files("grpc_tools") / "_proto")
    return [
        "protoc",
        f"--proto_path={ROOT}",
        f"--proto_path={well_known}",
        f"--python_out={output}",
        f"--grpc_python_out={output}",
        f"--mypy_out=quiet:{output}",
        f"--mypy_grpc_out=quiet,only_async:{output}",
        f"--descriptor_set_out={output / DESCRIPTORS}",
        "--include_source_info",
        *sources(),
    ]


def write_comments(descriptors: FileDescriptorSet, output: Path) -> None:
    """Writes the comments on Braid's messages, fields and methods by their full names."""
    found = {
        name: comment
        for file in descriptors.file
        if file.package.startswith("braid.")
        for name, comment in comments_of(file)
    }
    text = json.dumps(found, ensure_ascii=False, indent=0, sort_keys=True)
    (output / COMMENTS).write_text(f"{text}\n", encoding="utf-8")


def comments_of(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Yields the comments on messages, fields and methods, each in one line."""
    written = {
        tuple(one.path): " ".join(one.leading_comments.split())
        for one in file.source_code_info.location
        if one.leading_comments
    }
    for kind, whole, parts in (
        (FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER, file.message_type, _FIELDS),
        (FileDescriptorProto.SERVICE_FIELD_NUMBER, file.service, _METHODS),
    ):
        for index, one in enumerate(whole):
            name = f"{file.package}.{one.name}"
            paths = {name: (kind, index)}
            number, attribute = parts
            for part, inner in enumerate(getattr(one, attribute)):
                paths[f"{name}.{inner.name}"] = (kind, index, number, part)
            yield from ((full, written[path]) for full, path in paths.items() if path in written)


def drop_empty_stubs(output: Path) -> None:
    """Removes gRPC modules of contracts without a service: the compiler writes one for every file."""
    for path in output.rglob("*_pb2_grpc.py"):
        if "add_" not in path.read_text():
            path.unlink()
            path.with_suffix(".pyi").unlink(missing_ok=True)


def mark_as_typed(output: Path) -> None:
    """Puts a `py.typed` in each package: without it a type checker takes every message for Any."""
    for package in PACKAGES:
        (output / package / "py.typed").touch()


def write_client(output: Path) -> None:
    """Writes the methods of the Python client; a process of its own imports the new messages."""
    paths = os.pathsep.join((str(output), str(ROOT / "clients" / "python")))
    command = [sys.executable, str(ROOT / "generate_client.py"), str(output)]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=True)  # noqa: S603 - our own file


def write_reference(output: Path) -> None:
    """Writes `docs/reference`; a process of its own imports the new messages."""
    paths = os.pathsep.join((str(output), str(ROOT / "clients" / "python")))
    command = [
        sys.executable,
        str(ROOT / "generate_reference.py"),
        str(output / COMMENTS),
        str(REFERENCE),
    ]
    subprocess.run(command, env=os.environ | {"PYTHONPATH": paths}, check=True)  # noqa: S603 - our own file


def main() -> int:
    """Replaces `protos/gen`, which stays as it is when a contract does not compile; returns the exit code."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".gen-") as name:
        made = Path(name) / OUTPUT.name
        made.mkdir()
        code: int = protoc.main(arguments(made))
        if code == 0:
            descriptors = made / DESCRIPTORS
            write_comments(FileDescriptorSet.FromString(descriptors.read_bytes()), made)
            descriptors.unlink()
            drop_empty_stubs(made)
            mark_as_typed(made)
            write_client(made)
            write_reference(made)
            shutil.rmtree(OUTPUT, ignore_errors=True)
            made.rename(OUTPUT)
    return code


if __name__ == "__main__":
    sys.exit(main())
