"""The gazetteers of the spaces that were written to lately, each with the revision it stands for."""

from __future__ import annotations

from collections import OrderedDict

from services.graph_query.extraction.gazetteer import Gazetteer

_SPACES = 32


class GazetteerCache:
    """Gazetteers by space; one of another revision is never given out."""

    def __init__(self, spaces: int = _SPACES) -> None:
        self._spaces = spaces
        self._held: OrderedDict[str, tuple[int, Gazetteer]] = OrderedDict()

    def get(self, space: str, revision: int) -> Gazetteer | None:
        """The space's gazetteer as of exactly this revision of its names."""
        held = self._held.get(space)
        if held is None or held[0] != revision:
            return None
        self._held.move_to_end(space)
        return held[1]

    def put(self, space: str, revision: int, gazetteer: Gazetteer) -> None:
        """Keeps a gazetteer; call it once the write that made it is committed."""
        self._held[space] = (revision, gazetteer)
        self._held.move_to_end(space)
        while len(self._held) > self._spaces:
            self._held.popitem(last=False)
