"""Which models spaces are embedded with: a query's vector of another one would be made for nothing."""

from __future__ import annotations

from collections import OrderedDict

MAX_SPACES = 10_000


class SpaceModels:
    """What the vector tier's last answer for a space said."""

    def __init__(self) -> None:
        self._models: OrderedDict[str, str] = OrderedDict()

    def of(self, space: str) -> str | None:
        """The space's model; None while that is not known, or where there is nothing."""
        return self._models.get(space)

    def note(self, space: str, model: str) -> None:
        """Learns from an answer; "" is of a space that holds nothing."""
        self._models.pop(space, None)
        if not model:
            return
        self._models[space] = model
        if len(self._models) > MAX_SPACES:
            self._models.popitem(last=False)
