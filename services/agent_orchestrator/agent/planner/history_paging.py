"""Paging through a long history: "show more" continues after the previous answer, "older" goes back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from services.runtime.patterns import compile_linear

# Number of facts that an answer lists.
PAGE: Final = 12

_LEAD: Final = (
    r"(?:(?:yes|yeah|ok(?:ay)?|please|pls|and|now|then|so|thanks|thank you|great)\b[\s,.!]*)*"
    r"(?:(?:can|could|would|will) (?:you|i|we) (?:please )?|(?:i|we)(?:'d| would)? (?:want|like) to )?"
    r"(?:(?:show|list|give|tell|display|get|see|load|have|read)(?: me| us)?\s+)?"
)
_THINGS: Final = (
    r"(?:\s+(?:ones?|facts?|pages?|results?|entries|items|changes|lines|of (?:it|its|them|these|those|that|the)|"
    r"history|please|now|\d+|ten|few))*"
)
_FORWARD: Final = (
    r"(?:(?:some |the |any |even )*(?:more|rest|next|later|newer|following|remaining|further|others?)"
    rf"{_THINGS}|continue|go on|keep going|carry on|what else)"
)
_BACK: Final = (
    rf"(?:(?:some |the |any )*(?:older|earlier|previous|preceding){_THINGS}|(?:go )?back{_THINGS})"
)
_END: Final = r"(?:\W+(?:please|pls|thanks|thank you))?\W*"
_ASKS_FORWARD: Final = compile_linear(rf"\W*{_LEAD}{_FORWARD}{_END}", ignore_case=True)
_ASKS_BACK: Final = compile_linear(rf"\W*{_LEAD}{_BACK}{_END}", ignore_case=True)


class PageRequest(NamedTuple):
    """A further page of an earlier answer: the index of its turn, and the page number from 0."""

    turn: int
    page: int


def page_step(text: str) -> int:
    """Returns 1 if a text asks for the next page, -1 for the previous one, otherwise 0."""
    if _ASKS_FORWARD.fullmatch(text):
        return 1
    return -1 if _ASKS_BACK.fullmatch(text) else 0


def requested_page(text: str, questions: Sequence[str]) -> PageRequest | None:
    """Returns the page that a text asks for after these questions; None if it asks for none."""
    steps = [page_step(text)]
    if not steps[0]:
        return None
    for turn in range(len(questions) - 1, -1, -1):
        step = page_step(questions[turn])
        if not step:
            return PageRequest(turn, _page_after(reversed(steps)))
        steps.append(step)
    return None


def _page_after(steps: Iterable[int]) -> int:
    page = 0
    for step in steps:
        page = max(0, page + step)
    return page
