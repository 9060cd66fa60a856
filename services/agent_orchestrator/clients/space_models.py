"""This process's cache of the embedding models of spaces, for searches, ingestion and jobs.

The tiers' answers keep it current. An outdated entry only costs time: each tier checks the vectors that it receives.
"""

from __future__ import annotations

from typing import NamedTuple

from cachetools import LRUCache

MAX_SPACES = 10_000


class Recorded(NamedTuple):
    """A space's model and the dimension of its vectors; "" and 0 if the space is empty.

    A search reports only the model: the dimension is 0 in this case.
    """

    model: str
    dimension: int


class SpaceModels:
    """The models of the most recently used spaces."""

    def __init__(self) -> None:
        self._recorded: LRUCache[str, Recorded] = LRUCache(MAX_SPACES)
        self._facts_without_vectors: LRUCache[str, None] = LRUCache(MAX_SPACES)
        self._tier_lacks_model: LRUCache[str, None] = LRUCache(MAX_SPACES)

    def recorded(self, space: str) -> Recorded | None:
        """Returns the space's model; None if it is unknown or the space is empty."""
        return self._recorded.get(space)

    def record(self, space: str, recorded: Recorded) -> None:
        """Sets the space's model; "" means that the space is empty."""
        self._recorded.pop(space, None)
        if recorded.model:
            self._recorded[space] = recorded

    def facts_have_vectors(self, space: str) -> bool:
        """Whether the space's facts are compared with a query's vector; True if that is unknown."""
        return space not in self._facts_without_vectors

    def record_facts(self, space: str, *, have_vectors: bool) -> None:
        """Sets whether the space's facts have vectors."""
        self._facts_without_vectors.pop(space, None)
        if not have_vectors:
            self._facts_without_vectors[space] = None

    def tier_embeds(self, space: str) -> bool:
        """Whether the vector tier embeds the space's queries itself; True if that is unknown."""
        return space not in self._tier_lacks_model

    def record_tier_lacks_model(self, space: str) -> None:
        """Records that the vector tier refused to embed for the space, so that queries are sent with a vector."""
        self._tier_lacks_model[space] = None
