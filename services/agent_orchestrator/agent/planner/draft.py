"""An answer under construction: its paragraphs, its numbered sources, and the lines that quote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from services.agent_orchestrator.agent.planner.date_format import day, holding
from services.agent_orchestrator.agent.planner.question import Question
from services.agent_orchestrator.agent.planner.statements import Statement
from services.agent_orchestrator.agent.planner.time_preference import given_date
from services.agent_orchestrator.agent.results import Citation, ResultItem


@dataclass(slots=True)
class Draft:
    """An answer under construction. `cited` are the items behind the numbers [1], [2], … in order."""

    paragraphs: list[str] = field(default_factory=list)
    cited: list[ResultItem] = field(default_factory=list)
    has_answer: bool = False

    @property
    def text(self) -> str:
        """The answer's text."""
        return "\n\n".join(self.paragraphs)

    def mark(self, citation: Citation | None, item: ResultItem) -> str:
        """Returns the number of a source as a mark to append to the statement that it supports."""
        if citation is None:
            return ""
        source = ResultItem(
            kind=item.kind, text=citation.quote, score=item.score, citations=(citation,)
        )
        for number, known in enumerate(self.cited, start=1):
            if known.citations == source.citations:
                return f" [{number}]"
        self.cited.append(source)
        return f" [{len(self.cited)}]"

    def add_lines(self, heading: str, lines: Sequence[str]) -> bool:
        """Adds lines as a paragraph; returns whether there were any."""
        if not lines:
            return False
        bullets = [f"- {line}" for line in lines] if len(lines) > 1 else list(lines)
        self.paragraphs.append("\n".join([heading, *bullets] if heading else bullets))
        self.has_answer = True
        return True


def fact_line(draft: Draft, one: Statement, question: Question) -> str:
    """Returns a fact with its dates, unless its own words give them, and its source."""
    clock = question.clock
    text = one.text.rstrip()
    if not _has_dates(text, one.item, question):
        dates = holding(one.item, clock.now, clock.zone)
        text = f"{text.removesuffix('.')}{dates}." if dates else text
    return f"{text}{draft.mark(one.citation, one.item)}{_source(one.citation)}"


def quotation(draft: Draft, one: Statement, question: Question) -> str:
    """Returns a sentence in quotation marks with its author, its source, and the date that somebody gave it."""
    since = given_date(one.item)
    dated = f", {day(since, question.clock.zone)}" if since is not None else ""
    text = " ".join(one.text.split())
    author = f"{one.message.author}: " if one.message is not None and one.message.author else ""
    return f"{author}“{text}”{draft.mark(one.citation, one.item)}{_source(one.citation, one.section)}{dated}"


def _has_dates(text: str, item: ResultItem, question: Question) -> bool:
    """Whether a fact's own words already give its dates."""
    ends = [end for end in (item.valid_from, item.valid_until) if end is not None]
    return bool(ends) and all(
        f"{end.astimezone(question.clock.zone):%B %Y}" in text or end.date().isoformat() in text
        for end in ends
    )


def _source(citation: Citation | None, section: str = "") -> str:
    """Returns the document of a statement, and its section, in a form that a reader can look up."""
    if citation is None or not citation.title:
        return ""
    place = f"{citation.title}, {section}" if section else citation.title
    return f" ({place}{f' · {citation.source}' if citation.source else ''})"
