"""In-memory findings, with the semantics of the real store in plain loops."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from services.graph_query.core.domain import Citation, EntityName, EntityRef
from services.graph_query.core.full_text import all_words
from services.graph_query.core.names import clean_name, name_key
from services.graph_query.core.store import Hit, SpaceState
from services.graph_query.findings.domain import (
    Finding,
    FindingCounts,
    FindingFields,
    FindingFilter,
    FindingOrigin,
    GivenFinding,
    Position,
    Subject,
)
from services.graph_query.findings.planning import (
    FindingChange,
    Planner,
    References,
    StoredFinding,
    references_of,
)
from services.runtime.times import utc_now
from tests.oracles.graph.reads import FakeReads
from tests.oracles.graph.space import FakeSpace


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored finding."""

    uuid: str
    put: FindingChange
    origin: FindingOrigin
    created: float
    updated: float
    episodes: frozenset[str]
    about_findings: frozenset[str]
    embedding: tuple[float, ...]

    @property
    def stored(self) -> StoredFinding:
        """Returns the fields that planning needs."""
        value = self.put.finding.fields.statement
        return StoredFinding(self.put.digest, value, self.episodes, bool(self.embedding))


@dataclass(slots=True)
class FakeFindings:
    """Implements `FindingStore` over the spaces of a fake graph."""

    graph: FakeReads
    spaces: dict[str, dict[str, Stored]] = field(default_factory=dict)

    async def add_findings(
        self, space: str, findings: Sequence[GivenFinding], model: str
    ) -> FindingCounts:
        """Adds new findings and updates changed ones."""
        existing = self._writable(space)
        length = next((len(one.embedding) for one in findings if one.embedding), 0)
        existing.check_vectors(model, length)
        stored = self.spaces.setdefault(space, {})
        known = references_of(space, findings) & stored.keys()
        uuids = {References.of(space, known, findings).uuid(one) for one in findings}
        existing_findings = {uuid: stored[uuid].stored for uuid in uuids & stored.keys()}
        plan = Planner(
            space, known | existing_findings.keys(), existing_findings, existing.passages
        ).plan(findings)
        now = utc_now().timestamp()
        for put in plan.changed():
            stored[put.uuid] = _stored(stored.get(put.uuid), put, now)
        if plan.changed():
            existing.revision += 1
        if any(put.vector for put in plan.puts):
            existing.note_vectors(model, length)
        return plan.counts(existing.revision)

    def forget_extracted(self, space: str, episodes: Collection[str]) -> None:
        """Removes findings that were extracted only from these episodes."""
        self._forget(space, episodes, (FindingOrigin.EXTRACTED,))

    def forget_episodes(self, space: str, episodes: Collection[str]) -> int:
        """Removes findings that come only from these episodes; returns how many."""
        return self._forget(space, episodes, tuple(FindingOrigin))

    def _forget(
        self, space: str, episodes: Collection[str], origins: Collection[FindingOrigin]
    ) -> int:
        stored = self.spaces.get(space, {})
        gone = set()
        for uuid, one in list(stored.items()):
            if one.origin not in origins:
                continue
            left = one.episodes - set(episodes)
            stored[uuid] = replace(one, episodes=left)
            if one.episodes and not left:
                gone.add(uuid)
        kept = {uuid: one for uuid, one in stored.items() if uuid not in gone}
        self.spaces[space] = {
            uuid: replace(one, about_findings=one.about_findings - gone)
            for uuid, one in kept.items()
        }
        return len(gone)

    async def finding_state(self, space: str) -> SpaceState:
        """Returns the space's revision, its number of findings with vectors, and the model of its vectors."""
        stored = self.graph.readable(space)
        vectors = sum(bool(one.embedding) for one in self.spaces.get(space, {}).values())
        return SpaceState(stored.revision, vectors, stored.model, stored.dimension)

    async def findings_by_text(
        self, space: str, terms: Sequence[str], only: FindingFilter, limit: int
    ) -> list[Hit]:
        """Finds findings by the number of terms that they contain."""
        scored = [Hit(one.uuid, _overlap(terms, one)) for one in self._matching(space, only)]
        return _best([hit for hit in scored if hit.score > 0], limit)

    async def findings_by_vector(
        self,
        space: str,
        vector: Sequence[float],
        only: FindingFilter,
        limit: int,
        *,
        exact: bool,
    ) -> list[Hit]:
        """Finds findings by cosine."""
        near = [
            Hit(one.uuid, sum(a * b for a, b in zip(one.embedding, vector, strict=True)))
            for one in self._matching(space, only)
            if len(one.embedding) == len(vector)
        ]
        return _best(near, limit)

    async def list_findings(
        self, space: str, only: FindingFilter, after: Position | None, limit: int
    ) -> list[Position]:
        """Lists findings after a position, newest first."""
        found = sorted((-one.created, one.uuid) for one in self._matching(space, only))
        if after is not None:
            found = [place for place in found if place > (-after.created, after.uuid)]
        return [Position(-created, uuid) for created, uuid in found[:limit]]

    async def findings(self, space: str, uuids: Sequence[str]) -> dict[str, Finding]:
        """Returns the findings that exist, in full."""
        existing = self.graph.readable(space)
        stored = self.spaces.get(space, {})
        return {uuid: _in_full(existing, stored[uuid]) for uuid in uuids if uuid in stored}

    def _writable(self, space: str) -> FakeSpace:
        self.graph.readable(space)
        return self.graph.spaces.setdefault(space, FakeSpace(space))

    def _matching(self, space: str, only: FindingFilter) -> Iterator[Stored]:
        stored = self.graph.readable(space)
        for one in self.spaces.get(space, {}).values():
            matches = _matches_fields(one.put.finding.fields, only) and _matches_values(
                one.put.finding.fields, only
            )
            if matches and _matches_record(one, only) and _is_about(stored, one, only.about):
                yield one


def _stored(old: Stored | None, put: FindingChange, now: float) -> Stored:
    vector = put.vector if put.vector is not None else (old.embedding if old else ())
    return Stored(
        uuid=put.uuid,
        put=put,
        origin=old.origin if old else put.finding.origin,
        created=old.created if old else now,
        updated=now,
        episodes=put.episodes,
        about_findings=put.about_findings,
        embedding=vector,
    )


def _matches_fields(value: FindingFields, only: FindingFilter) -> bool:
    texts = (
        (only.type, value.type),
        (only.methodology, value.methodology),
        (only.status, value.status),
        (only.owner, value.owner),
    )
    if any(wanted and wanted != name_key(text) for wanted, text in texts):
        return False
    if only.kinds and value.kind not in only.kinds:
        return False
    return not only.priorities or value.priority in only.priorities


def _matches_values(value: FindingFields, only: FindingFilter) -> bool:
    if only.confidence and not (
        value.confidence is not None and only.confidence.hold(value.confidence)
    ):
        return False
    if only.blocker and only.blocker not in {name_key(one) for one in value.blockers}:
        return False
    if only.has_blockers is not None and bool(value.blockers) != only.has_blockers:
        return False
    metric = only.metric
    return metric is None or any(
        name_key(one.name) == metric.key and metric.value.hold(one.value) for one in value.metrics
    )


def _matches_record(one: Stored, only: FindingFilter) -> bool:
    if only.uuids is not None and one.uuid not in only.uuids:
        return False
    if only.episode and only.episode not in one.episodes:
        return False
    if only.origin and one.origin is not only.origin:
        return False
    if only.created_from is not None and one.created < only.created_from:
        return False
    if only.created_until is not None and one.created >= only.created_until:
        return False
    return not only.about_findings or bool(one.about_findings & set(only.about_findings))


def _is_about(stored: FakeSpace, one: Stored, wanted: Subject | None) -> bool:
    if wanted is None:
        return True
    return any(
        name_key(end.name) == wanted.key and _means(stored, end, wanted.type)
        for end in one.put.finding.about
    )


def _means(stored: FakeSpace, end: EntityName, wanted: str) -> bool:
    known = stored.types.get(name_key(end.name), {})
    first = next(iter(known), "")
    return wanted in ("", end.type) or (wanted == first and end.type not in known)


def _overlap(terms: Sequence[str], one: Stored) -> float:
    value = one.put.finding.fields
    parts = [value.statement, value.type, value.methodology, value.status, value.owner]
    parts += [metric.name for metric in value.metrics] + list(value.blockers)
    words = all_words(" ".join(parts))
    return float(sum(term in words for term in terms))


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    return sorted(hits, key=lambda hit: (-hit.score, hit.uuid))[:limit]


def _in_full(stored: FakeSpace, one: Stored) -> Finding:
    cited = sorted(one.episodes & stored.passages.keys())[:5]
    return Finding(
        uuid=one.uuid,
        id=one.put.finding.id,
        fields=one.put.finding.fields,
        origin=one.origin,
        created_at=datetime.fromtimestamp(one.created, UTC),
        updated_at=datetime.fromtimestamp(one.updated, UTC),
        about=tuple(_subjects(stored, one.put.finding)),
        about_findings=tuple(sorted(one.about_findings)),
        citations=tuple(_citation(stored, uuid) for uuid in cited),
    )


def _subjects(stored: FakeSpace, finding: GivenFinding) -> Iterator[EntityRef]:
    ends = {(name_key(end.name), end.type): end for end in finding.about}
    for key, end in sorted(ends.items()):
        known = stored.types.get(key[0], {})
        kind = end.type if end.type in known else next(iter(known), "")
        uuid = known.get(kind, "")
        yield EntityRef(
            uuid, stored.names[uuid] if uuid else clean_name(end.name), kind if uuid else end.type
        )


def _citation(stored: FakeSpace, episode: str) -> Citation:
    passage = stored.passages[episode]
    return Citation(episode, passage.document_id, passage.title, passage.source)
