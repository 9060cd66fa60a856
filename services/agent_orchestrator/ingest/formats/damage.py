"""Refuses files that are damaged, encrypted or would unpack to too much, in one way for all formats."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from xml.etree import ElementTree as ET

from services.agent_orchestrator.ingest.documents import MIB, Limits, UnreadableError

# Office files that are encrypted or in the formats from before 2007 are OLE containers.
OLE_MARK = bytes.fromhex("d0cf11e0a1b11ae1")


@contextmanager
def readable(kind: str) -> Iterator[None]:
    """Raises UnreadableError for any error within the block: libraries raise many kinds of errors for damaged files.

    `kind` names the format for the user, such as `DOCX file`.
    """
    try:
        yield
    except (UnreadableError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 all of them are caused by the file
        raise UnreadableError(f"is not a readable {kind}") from None


def check_archive(data: bytes, limits: Limits) -> None:
    """Refuses archives that would unpack to too much data: no member yields more bytes than the archive declares."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = archive.infolist()
        if len(members) > limits.members:
            raise UnreadableError(f"holds over {limits.members} files")
        if sum(member.file_size for member in members) > limits.unpacked_bytes:
            raise UnreadableError(f"unpacks to over {limits.unpacked_bytes // MIB} MiB")
        if any(member.flag_bits & 1 for member in members):
            raise UnreadableError("is encrypted")


def parse_xml(data: bytes) -> ET.Element:
    """Parses XML. Declarations of types are refused: their entities can expand to billions of characters."""
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise ET.ParseError("declares types")
    return ET.fromstring(data)  # noqa: S314 - without declarations of types
