"""Reads statements next to the question with a cross-encoder, which scores how well each one answers.

Of many statements the ones that share rare words with the question are read, those of the best passages first:
measured on single-hop questions over 1,890 passages, this finds the answer as often as comparing vectors, without
embedding each sentence.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Final

from services.agent_orchestrator.agent.planner.entity_recognition import capitalised_names
from services.agent_orchestrator.agent.planner.language import content_stems
from services.agent_orchestrator.agent.planner.statements import Statement
from services.runtime.patterns import compile_linear

# The least logit of a statement that answers: below it 9 of 10 questions about something else lie, and 6 % of others.
BAR: Final = -2.0
# Statements that are read for one part of a question; each costs a few milliseconds.
MAX_READ: Final = 10
# A statement of a later passage needs this much more in common with the question.
_RANK_COST: Final = 0.7
# What a statement without a number loses where the question asks for one: a cross-encoder does not see it.
_LACKS_NUMBER: Final = 4.0
# What a statement loses about something else than what the question names: the cause of INC-123 for that of INC-111.
_LACKS_NAME: Final = 5.0
# A heading that alone answers within this many logits of its sentence has raised a sentence that adds nothing.
_ADDS: Final = 1.0
_ASKS_PERSON: Final = compile_linear(r"\b(?:who|whose|whom)\b", ignore_case=True)
_ASKS_NUMBER: Final = compile_linear(
    r"\bhow (?:many|much|old|long|often|far|tall|large|big|high)\b", ignore_case=True
)
_ASKS_DATE: Final = compile_linear(
    r"\b(?:when|(?:what|which) (?:year|date|day|time))\b", ignore_case=True
)
_NUMBER: Final = compile_linear(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy"
    r"|eighty|ninety|hundred|thousand|million|billion|once|twice|half|dozen|daily|weekly|monthly|yearly|never|always"
    r"|every|each|century|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|before|after|during|when|until|while)\b",
    ignore_case=True,
)
# Logits of a statement without a model: the share of the question's words that it has, 0.62 being the bar.
_LEAST_SHARE: Final = 0.62
_SHARE_SLOPE: Final = 10.0

# Scores of texts for a question, in order; None if no model can read them now.
ReadTexts = Callable[[str, Sequence[str]], Awaitable[list[float] | None]]


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads the statements of one run; a text is read once for each question."""

    read_texts: ReadTexts
    known: MutableMapping[tuple[str, str], float] = field(default_factory=dict)

    async def read(
        self, question: str, statements: Sequence[Statement], *, limit: int = MAX_READ
    ) -> list[Statement]:
        """Returns the most promising statements with their scores, best first."""
        chosen = _promising(question, statements, limit)
        await self._read(question, [one.read_as for one in chosen])
        scored = [
            replace(one, score=self.known[question, one.read_as] - _lacking(one, question))
            for one in chosen
        ]
        if _asks_detail(question):
            scored = await self._without_headings(question, scored)
        return sorted(scored, key=lambda one: -one.score)

    async def _without_headings(
        self, question: str, scored: Sequence[Statement]
    ) -> list[Statement]:
        """Returns statements with the scores of their bare texts where the headings alone answer as well.

        "Runbook: Backups are taken each night" seems to say who wrote the runbook, because its heading does.
        """
        doubtful = [one for one in scored if one.heading and one.score >= BAR]
        await self._read(question, [one.heading for one in doubtful])
        adding_nothing = {
            one.read_as
            for one in doubtful
            if self.known[question, one.heading] + _ADDS > self.known[question, one.read_as]
        }
        bare = [one for one in doubtful if one.read_as in adding_nothing]
        await self._read(question, [one.text for one in bare])
        return [
            replace(one, score=min(one.score, self.known[question, one.text]))
            if one.read_as in adding_nothing
            else one
            for one in scored
        ]

    async def _read(self, question: str, texts: Sequence[str]) -> None:
        """Scores the texts that were not read for this question before."""
        missing = [one for one in dict.fromkeys(texts) if (question, one) not in self.known]
        if not missing:
            return
        scores = await self.read_texts(question, missing)
        if scores is None:
            scores = shared_words(question, missing)
        self.known.update(
            ((question, text), score) for text, score in zip(missing, scores, strict=True)
        )


def _asks_detail(question: str) -> bool:
    """Whether a question asks for a person, a number or a date."""
    return any(one.search(question) for one in (_ASKS_PERSON, _ASKS_NUMBER, _ASKS_DATE))


def _lacking(one: Statement, question: str) -> float:
    """Returns what a statement loses that lacks what the question names, or the kind of thing that it asks for."""
    return _missing_number(one, question) + _missing_name(one, question)


def _missing_name(one: Statement, question: str) -> float:
    """Returns what a sentence loses if a name of the question is neither in it, its heading, nor its neighbors."""
    named = _names_in(question) if one.context else frozenset()
    return _LACKS_NAME if named and not named <= content_stems(one.context) else 0.0


@lru_cache(maxsize=100)
def _names_in(question: str) -> frozenset[str]:
    """Returns the stems of the names in a question; its first word may be capitalized for its place alone."""
    _, _, rest = question.strip().partition(" ")
    return content_stems(" ".join(one.name for one in capitalised_names(rest)))


def _missing_number(one: Statement, question: str) -> float:
    """Returns what a sentence loses that lacks the number or date asked for; a message's own date is one."""
    asks_date = _ASKS_DATE.search(question) is not None
    if not asks_date and not _ASKS_NUMBER.search(question):
        return 0.0
    has_number = one.item.kind != "passage" or _NUMBER.search(one.text) is not None
    return 0.0 if has_number or (asks_date and one.message is not None) else _LACKS_NUMBER


def shared_words(question: str, texts: Sequence[str]) -> list[float]:
    """Returns logits from the weighted share of the question's words in each text, where no model can read."""
    asked = content_stems(question)
    found = [content_stems(text) for text in texts]
    weights = _weights(asked, found)
    total = sum(weights.values()) or 1.0
    shares = [sum(weights[stem] for stem in asked & text) / total for text in found]
    return [BAR + _SHARE_SLOPE * (share - _LEAST_SHARE) for share in shares]


def _promising(question: str, statements: Sequence[Statement], limit: int) -> list[Statement]:
    if len(statements) <= limit:
        return list(statements)
    asked = content_stems(question)
    found = [content_stems(one.read_as) for one in statements]
    weights = _weights(asked, found)
    values = [
        sum(weights[stem] for stem in asked & text) - _RANK_COST * one.rank
        for one, text in zip(statements, found, strict=True)
    ]
    order = sorted(range(len(statements)), key=lambda place: -values[place])
    return [statements[place] for place in order[:limit]]


def _weights(asked: frozenset[str], texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Returns a higher weight for words that fewer texts have."""
    return {
        stem: math.log((len(texts) + 1) / (sum(stem in text for text in texts) + 0.5))
        for stem in asked
    }
