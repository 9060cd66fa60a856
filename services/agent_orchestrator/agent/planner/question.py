"""A question as the router reads it: its parts without politeness, its words, tense, times and entities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Final

from services.agent_orchestrator.agent.planner.dates.expressions import TimeExpression, find_times
from services.agent_orchestrator.agent.planner.entity_recognition import KnownEntity
from services.agent_orchestrator.agent.planner.language import stem, word_list
from services.agent_orchestrator.agent.planner.small_talk import is_small_talk

_ASKING: Final = (
    "who|whom|whose|what|which|when|where|why|how|is|are|was|were|does|did|do|has|have|had|"
    "can|could|should|list|show"
)
_WH: Final = "who|what|which|when|where|why|how|if|whether"
# Boundaries where another question starts, in a text with single spaces. A comma alone may open a relative clause.
_PART_END: Final = re.compile(
    r"(?<=[?!;]) |(?<=[a-z0-9)]\.) (?=[A-Z])"
    rf"|,? (?:and|but|plus|then) (?:then |also )?(?=(?:{_ASKING})\b)",
    re.IGNORECASE,
)
# Polite phrases before a question.
_COURTESIES: Final = (
    (
        r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day))\b[\s,!.]{0,9}(?:(?:there|all|"
        r"team|braid|assistant|bot)\b[\s,!.]{0,9})?"
    ),
    (
        r"(?:ok|okay|so|well|now|right|great|thanks|thank you|cheers|sorry|excuse me|"
        r"quick question|one more(?: thing| question)?)\b[\s,:!.–—-]{1,9}"
    ),
    r"(?:actually|by the way|btw|please|pls|kindly|oh|ah|hmm|um|also|next)\b[\s,:!.–—-]{1,9}",
    (
        r"(?:can|could|would|will) you (?:please |kindly |quickly |maybe |just ){0,5}"
        r"(?=(?:tell|show|give|list|find|look|explain|remind|help|summari[sz]e|describe|check|compare|let)\b)"
    ),
    (
        r"(?:please |just |kindly ){0,5}(?:tell|show|give) (?:me|us)(?: again| quickly| please)?"
        rf"(?: about(?= (?:{_WH})))?\b[\s,:]{{1,9}}(?!about\b)"
    ),
    r"(?:please )?let (?:me|us) know\b[\s,:]{1,9}",
    (
        r"(?:i|we)(?:'d| would)? (?:want|like|love|need|wish)(?: to)? (?:know|see|learn|"
        r"find out|understand|hear)\b[\s,:]{1,9}(?!about\b)"
    ),
    r"(?:i|we)(?: am|'m| was| were|'re| are)? (?:just )?(?:wondering|curious|interested in)(?: to know)?\b[\s,:]{1,9}",
    (
        r"(?:do|does|would|did) (?:you|anyone|anybody|somebody|someone) (?:happen to )?know(?: if| whether)?\b"
        rf"[\s,:]{{1,9}}(?=(?:{_WH}|is|the)\b)"
    ),
    (
        r"(?:any|have you any|do you have any) idea\b[\s,:]{1,9}|(?:can|could) (?:i|we) (?:ask|know|"
        r"see|get)(?: you)?\b[\s,:]{1,9}"
    ),
    rf"(?:check|find out|look up|figure out)\b[\s,:]{{1,9}}(?=(?:{_WH})\b)",
)
_POLITE: Final = re.compile(rf"^\W*(?:{'|'.join(_COURTESIES)})", re.IGNORECASE)
_MAX_COURTESIES: Final = 12
# A clause that says when, not what.
_TIME_CLAUSE: Final = re.compile(
    r"\b(?:replaced|succeeded|took over from|came after|followed) [^,;?]{0,200}?(?= as\b)"
    r"|(?:\bat the time of|\bduring|\bwhile|\bbefore|\bafter|\buntil|\bprior to|(?<=\w )when)\b[^,;?]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Clock:
    """The caller's clock and zone."""

    now: datetime
    zone: tzinfo


@dataclass(frozen=True, slots=True)
class Question:
    """One part of a question, without politeness. `times` excludes dates that name a document.

    `page` is the number of pages of a long answer that were shown before this one. `tool` is the chosen tool, empty
    before it was chosen. An alternative is the text as given; the question before it is what it was completed to.
    """

    text: str
    words: tuple[str, ...]
    times: tuple[TimeExpression, ...]
    entities: tuple[KnownEntity, ...]
    clock: Clock
    page: int = 0
    tool: str = ""
    is_alternative: bool = False

    @property
    def plain(self) -> str:
        """The text in lower case, without times and final punctuation."""
        return without_times(self.text, self.times).casefold().replace("’", "'").strip(" ?.!,")

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the words."""
        return frozenset(stem(word) for word in self.words)

    def only_marks_a_time(self, entity: KnownEntity) -> bool:
        """Whether an entity occurs in a clause that says when: "before Ada"."""
        name = entity.name.casefold()
        return any(name in found[0].casefold() for found in _TIME_CLAUSE.finditer(self.text))

    @property
    def entity(self) -> str:
        """The first entity of the question, or an empty string."""
        return self.entities[0].name if self.entities else ""


def read_question(text: str, entities: Sequence[KnownEntity], clock: Clock) -> Question:
    """Parses one part of a question; of the entities, it keeps those that its text names."""
    times = tuple(
        time for time in find_times(text, clock.now, clock.zone) if not time.names_document
    )
    return Question(text, tuple(word_list(text)), times, _topic_first(text, entities), clock)


def _topic_first(text: str, entities: Sequence[KnownEntity]) -> tuple[KnownEntity, ...]:
    """Moves entities that only mark a time ("when INC-1 began", "before Ada") to the end."""
    marked = [found[0].casefold() for found in _TIME_CLAUSE.finditer(text)]
    in_clause = [any(one.name.casefold() in clause for clause in marked) for one in entities]
    order = sorted(range(len(entities)), key=lambda place: in_clause[place])
    return tuple(entities[place] for place in order)


def question_parts(text: str) -> list[str]:
    """Returns the parts of a question that ask for something of their own, without politeness."""
    parts = [
        part if is_small_talk(part) else without_politeness(part)
        for part in _PART_END.split(" ".join(text.split()))
    ]
    return [part for part in parts if part.strip(" ?!.,;")] or [text.strip()]


def without_politeness(text: str) -> str:
    """Removes greetings, "could you tell me" and similar phrases from the start of a question."""
    for _ in range(_MAX_COURTESIES):
        found = _POLITE.match(text)
        if found is None:
            break
        text = text[found.end() :].lstrip(" ,:")
    return text


def without_times(text: str, times: Sequence[TimeExpression]) -> str:
    """Removes time expressions from a text."""
    for time in reversed(times):
        text = f"{text[: time.start].rstrip()} {text[time.end :].lstrip()}"
    return text.strip()
