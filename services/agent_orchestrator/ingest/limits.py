"""What reading one upload may take."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of reading one upload; what goes beyond them is refused with its reason."""

    seconds: float = 60.0
    memory_bytes: int = 1024 * MIB
    # Characters of text in one document: about as much as a document of 10,000 chunks has.
    text: int = 16_000_000
    pages: int = 2000
    # What a compressed file may unpack to in all, and how many files it may hold.
    unpacked_bytes: int = 256 * MIB
    members: int = 10_000
