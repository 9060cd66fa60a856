"""Statements in the passive: "Beacon is written in Elixir", "Redis is used by Beacon"."""

from collections.abc import Iterator

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.assertion_check import (
    Judgement,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.domain import VerbGroup
from services.agent_orchestrator.entity_memory.extraction.clauses.domain import Clause
from services.agent_orchestrator.entity_memory.extraction.entity_types import (
    USER,
    EntityTypes,
    Referent,
)
from services.agent_orchestrator.entity_memory.extraction.references import document
from services.agent_orchestrator.entity_memory.extraction.statements.domain import Statement
from services.agent_orchestrator.entity_memory.extraction.statements.participants import (
    Participants,
)
from services.agent_orchestrator.entity_memory.extraction.statements.verb_frames import (
    VerbFrames,
    fills,
)
from services.agent_orchestrator.entity_memory.extraction.verb_frame_table import (
    FRAMES,
    PASSIVES,
)

_R = RelationshipType

_PERSONAL = frozenset({_R.WORKS_WITH, _R.KNOWS})


class Passives:
    """Reads clauses in the passive."""

    def __init__(self, participants: Participants, frames: VerbFrames, types: EntityTypes) -> None:
        self._participants = participants
        self._frames = frames
        self._types = types

    def read(
        self, clause: Clause, subjects: list[Referent], main: VerbGroup, judgement: Judgement
    ) -> Iterator[Statement]:
        agents = [
            r
            for phrase in clause.phrases
            if phrase.preposition == "by"
            for r in self._participants.referents(phrase.nouns, clause)
        ]
        if main.lemma == "use":
            users = agents or [
                referent
                for phrase in clause.phrases
                if phrase.preposition in {"by", "in", "for", "at", "across", "within"}
                for referent in self._participants.referents(phrase.nouns, clause)
                if referent.is_self or not self._types.is_tool(referent)
            ]
            for subject in subjects:
                if not main.past and not subject.is_self and self._types.accepts("thing", subject):
                    for user in users:
                        yield Statement(user, _R.USES, subject, 0.9)
            return
        for frame in PASSIVES.get(main.lemma, ()):
            for phrase in clause.phrases:
                if phrase.preposition != frame.marker:
                    continue
                targets = self._participants.referents(phrase.nouns, clause)
                if frame.type is _R.MENTIONED_IN:
                    titles = [document(noun) for noun in phrase.nouns if not noun.names]
                    targets.extend(title for title in titles if title is not None)
                for target in targets:
                    if target.is_self or not fills(frame, target, self._types):
                        continue
                    for subject in subjects:
                        if (
                            frame.type is _R.USES
                            and not subject.is_self
                            and self._types.is_person(subject)
                        ):
                            continue
                        yield Statement(
                            subject, frame.type, target, frame.confidence * judgement.factor
                        )
        for agent in agents:
            for frame in FRAMES.get(main.lemma, ()):
                if frame.marker or frame.type is _R.USES or (not frame.event and main.past):
                    continue
                for subject in subjects:
                    if (subject.is_self and frame.type not in _PERSONAL) or not self._types.accepts(
                        frame.target, subject
                    ):
                        continue
                    if subject.is_self:
                        yield Statement(USER, frame.type, agent, 0.9)
                    elif self._frames.fits_source(frame, agent, clause):
                        yield Statement(agent, frame.type, subject, 0.9 * judgement.factor)
