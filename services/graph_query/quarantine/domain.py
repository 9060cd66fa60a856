"""Quarantines, their items, and their store interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import Any, Protocol

from services.runtime.ids import derived_uuid

TEXT_LENGTH = 200


class ItemKind(IntEnum):
    """Kinds of quarantined data, in the order in which they are restored: later ones refer to earlier ones."""

    FACT = 1
    FINDING = 2
    DOCUMENT = 3
    EPISODE = 4


@dataclass(frozen=True, slots=True)
class NewItem:
    """Data to quarantine. `part` tells several items of one subject apart."""

    kind: ItemKind
    subject: str
    document_id: str
    text: str
    content: Mapping[str, Any]
    part: str = ""

    def id_within(self, space: str, quarantine_id: str) -> str:
        """Returns the item's uuid, which begins with its kind: items are listed and restored in the order of ids."""
        uuid = derived_uuid("quarantined", space, quarantine_id, self.subject, self.part)
        return f"{self.kind.value}{uuid[1:]}"


@dataclass(frozen=True, slots=True)
class Item:
    """Quarantined data, without its content."""

    id: str
    kind: ItemKind
    subject: str
    document_id: str
    text: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Quarantine:
    """The receipt of quarantined data: what was quarantined, and how many items are left."""

    id: str
    created_at: datetime
    counts: Mapping[ItemKind, int]
    items: int


Counts = Counter[ItemKind]


class QuarantineStore(Protocol):
    """Quarantines data of every space. Raises what `GraphStore` raises."""

    async def quarantine(
        self, space: str, quarantine_id: str, kind: ItemKind, ids: Sequence[str]
    ) -> Counts:
        """Moves data of one kind to a quarantine; returns how many items that added."""

    async def quarantines(self, space: str, after: str, limit: int) -> list[Quarantine]:
        """Lists quarantines by id, after an id."""

    async def items(self, space: str, quarantine_id: str, after: str, limit: int) -> list[Item]:
        """Lists the items of a quarantine in the order of their restoration, after an id."""

    async def restore(self, space: str, quarantine_id: str, ids: Sequence[str]) -> Counts:
        """Restores items, in the order of their ids; returns how many were restored completely."""

    async def purge(self, space: str, quarantine_id: str) -> Counts:
        """Deletes a quarantine with its items for good; returns how many items it had."""
