"""What this process knows of the embedding models of spaces: one cache for searches, ingestion and jobs.

Answers of the tiers keep it current. It is a guess that saves work: each tier checks the vectors that it is given.
"""

from __future__ import annotations

from typing import NamedTuple

from cachetools import LRUCache

MAX_SPACES = 10_000


class Recorded(NamedTuple):
    """A space's model and how many values its vectors have; "" and 0 while the space holds nothing.

    A search learns only the model: the dimension is 0 then.
    """

    model: str
    dimension: int


class SpaceModels:
    """The models of the spaces that were used last."""

    def __init__(self) -> None:
        self._recorded: LRUCache[str, Recorded] = LRUCache(MAX_SPACES)
        self._facts_without_vectors: LRUCache[str, None] = LRUCache(MAX_SPACES)
        self._tier_lacks_model: LRUCache[str, None] = LRUCache(MAX_SPACES)

    def recorded(self, space: str) -> Recorded | None:
        """The space's model; None while it is not known, or where there is nothing."""
        return self._recorded.get(space)

    def record(self, space: str, recorded: Recorded) -> None:
        """Sets the space's model; "" is of a space that holds nothing."""
        self._recorded.pop(space, None)
        if recorded.model:
            self._recorded[space] = recorded

    def facts_have_vectors(self, space: str) -> bool:
        """Whether the space's facts are compared with a query's vector; True while that is not known."""
        return space not in self._facts_without_vectors

    def record_facts(self, space: str, *, have_vectors: bool) -> None:
        """Sets whether the space's facts have vectors."""
        self._facts_without_vectors.pop(space, None)
        if not have_vectors:
            self._facts_without_vectors[space] = None

    def tier_embeds(self, space: str) -> bool:
        """Whether the vector tier makes the space's query vectors itself; True while that is not known."""
        return space not in self._tier_lacks_model

    def record_tier_lacks_model(self, space: str) -> None:
        """The vector tier has refused to embed for the space: it is sent the vector from now on."""
        self._tier_lacks_model[space] = None
