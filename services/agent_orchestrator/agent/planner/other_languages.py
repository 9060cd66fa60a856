"""Questions in other languages than English: the search decides which passage answers, not the English model.

The cross-encoder has read English. It still recognizes shared words and names of other languages, so it may choose
between the sentences of a passage, but its logits do not say whether a sentence answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.agent_orchestrator.agent.planner.language import fold
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.planner.statements import Statement, passage_statements
from services.agent_orchestrator.agent.results import ResultItem

# Characters of the pieces that are compared: words of most scripts share them across their inflected forms. Scripts
# without spaces write a word in one or two.
_PIECE: Final = 3
_SHORT_PIECE: Final = 2
_IDEOGRAPHS_FROM: Final = "\u2e80"
# A second sentence is quoted if it has at least this share of what the first one lacks of the question.
_LEAST_SHARE: Final = 0.08


async def sentences(
    reading: Reading, question: Question, items: Sequence[ResultItem]
) -> list[Statement]:
    """Returns the sentence of the first passage that is nearest to the question, and one with the rest of its words."""
    stated = [one for one in passage_statements(items) if one.rank == 0]
    read = await reading.read(question.text, stated)
    if not read:
        return []
    asked = pieces(question.text)
    first = read[0]
    missing = asked - pieces(first.text)
    shares = [len(missing & pieces(one.text)) / max(len(asked), 1) for one in read[1:]]
    best = max(range(len(shares)), key=lambda place: shares[place], default=None)
    if best is None or shares[best] < _LEAST_SHARE:
        return [first]
    return [first, read[1 + best]]


def pieces(text: str) -> frozenset[str]:
    """Returns the overlapping runs of characters in the words of a text."""
    found: set[str] = set()
    for word in "".join(char if char.isalnum() else " " for char in fold(text)).split():
        size = _SHORT_PIECE if max(word) >= _IDEOGRAPHS_FROM else _PIECE
        found.update(word[at : at + size] for at in range(len(word) - size + 1))
    return frozenset(found)
