"""The store interface for changing a space's embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol


class TextKind(Enum):
    """A kind of text in the graph; the value is the suffix of its queries' names."""

    FACT = "facts"
    FINDING = "findings"
    NAME = "names"


# The retry delay for calls that wait for a space to change models.
RETRY_SECONDS = 1.0


class Vectors(NamedTuple):
    """The state of a space's vectors.

    The space's model ("" for none, and during a change), the model that it changes to, the number of texts with
    vectors, and the vectors' length (0 when unknown, and during a change).
    """

    model: str
    changing_to: str
    total: int
    dimension: int = 0

    def accepts(self, model: str, length: int | None) -> bool:
        """Returns whether vectors of a model can be stored with these; `length` is None if not known yet."""
        if self.changing_to or self.model not in ("", model):
            return False
        return not self.dimension or length in (None, self.dimension)


class Text(NamedTuple):
    """A text to embed; `place` is the position from which a listing continues after it."""

    uuid: str
    text: str
    place: tuple[str, str]


class TextVector(NamedTuple):
    """A vector, and the SHA-256 of the text that it represents."""

    uuid: str
    text_sha256: str
    values: Sequence[float]


class EmbeddingStore(Protocol):
    """Stores the vectors of every space's graph. Raises what `GraphStore` raises."""

    async def vectors(self, space: str) -> Vectors:
        """Returns the state of the space's vectors."""

    async def unembedded(
        self, space: str, kind: TextKind, model: str, after: tuple[str, str], limit: int
    ) -> list[Text]:
        """Returns texts without a vector of the model, after a position; `FIRST` is the beginning."""

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """Stores vectors of one length for texts that have not changed; returns how many.

        Raises OverloadedError while the space changes models, InvalidFieldError if its vectors have another length.
        """

    async def activate(self, space: str, model: str) -> None:
        """Replaces the active vectors with the model's; resumes where an interrupted call stopped."""
