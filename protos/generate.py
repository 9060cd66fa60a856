"""Generates `protos/gen` from the contracts: messages, gRPC stubs and their types. Run by `make generate`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from grpc_tools import protoc

ROOT = Path(__file__).parent
OUTPUT = ROOT / "gen"
PACKAGES = ("braid", "buf")


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
        *sources(),
    ]


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


def main() -> int:
    """Replaces `protos/gen`, which stays as it is when a contract does not compile; returns the exit code."""
    with tempfile.TemporaryDirectory(dir=ROOT, prefix=".gen-") as name:
        made = Path(name) / OUTPUT.name
        made.mkdir()
        code: int = protoc.main(arguments(made))
        if code == 0:
            drop_empty_stubs(made)
            mark_as_typed(made)
            shutil.rmtree(OUTPUT, ignore_errors=True)
            made.rename(OUTPUT)
    return code


if __name__ == "__main__":
    sys.exit(main())
