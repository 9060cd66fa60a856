"""What changing models asks of its store."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol


class TextKind(Enum):
    """What a text of the graph is; the value is the name that its queries end with."""

    FACT = "facts"
    FINDING = "findings"
    NAME = "names"


class Vectors(NamedTuple):
    """A space's model ("" for none, and while it changes), the one it changes to, and how many texts have vectors."""

    model: str
    changing_to: str
    total: int


class Text(NamedTuple):
    """A text to embed; `place` is where the listing goes on after it."""

    uuid: str
    text: str
    place: tuple[str, str]


class TextVector(NamedTuple):
    """A vector, and the SHA-256 of the text that it was made of."""

    uuid: str
    text_sha256: str
    values: Sequence[float]


class EmbeddingStore(Protocol):
    """Vectors of every space's graph. Errors as in `GraphStore`."""

    async def vectors(self, space: str) -> Vectors:
        """The space's model."""

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """Texts without a vector of the model, after a place; `positions.FIRST` is the beginning."""

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """Stores vectors of texts that are still the same; how many. OverloadedError while the space changes over."""

    async def activate(self, space: str, model: str) -> None:
        """Puts the model's vectors in the place of those in use; goes on where a former call was ended."""
