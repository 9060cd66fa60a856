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


# When to try again what waits for a space to change over.
RETRY_SECONDS = 1.0


class Vectors(NamedTuple):
    """A space's model ("" for none, and while it changes), the one it changes to, how many texts have vectors, and how
    many values each has (0 when that is not known, and while it changes).
    """

    model: str
    changing_to: str
    total: int
    dimension: int = 0

    def accepts(self, model: str, length: int | None) -> bool:
        """Whether vectors of a model can be among these; `length` None is not known yet."""
        if self.changing_to or self.model not in ("", model):
            return False
        return not self.dimension or length in (None, self.dimension)


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
        """Texts without a vector of the model, after a place; `FIRST` is the beginning."""

    async def put_vectors(
        self, space: str, kind: TextKind, model: str, vectors: Sequence[TextVector]
    ) -> int:
        """Stores vectors of one length, of texts that are still the same; how many.

        OverloadedError while the space changes over, InvalidFieldError when its own are longer or shorter.
        """

    async def activate(self, space: str, model: str) -> None:
        """Puts the model's vectors in the place of those in use; goes on where a former call was ended."""
