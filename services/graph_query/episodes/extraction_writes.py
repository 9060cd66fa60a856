"""Writes and withdraws a language model's extraction from an episode, within one write to a space."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from services.graph_query.core.domain import EntityName, EpisodeCounts, GivenFact
from services.graph_query.core.fact_batch import FactBatch, GivenEnds, episode_claimant
from services.graph_query.episodes.extraction_result import ExtractionResult, Supported
from services.graph_query.facts.entity_descriptions import EpisodeDescriptions, remove_descriptions
from services.graph_query.facts.invalidation import (
    FactEnding,
    apply_endings,
    record_endings,
    remove_endings,
)
from services.graph_query.facts.writes import add_facts, claim_facts
from services.graph_query.findings.neo4j_store import add_findings
from services.graph_query.neo4j.space_writer import SpaceWriter


@dataclass(frozen=True, slots=True)
class WithdrawnExtraction:
    """The parts of deleted episodes' extraction still to withdraw: claimants, described entities, endings."""

    claimants: tuple[str, ...] = ()
    named: frozenset[tuple[str, EntityName]] = frozenset()
    endings: Sequence[FactEnding] = ()

    def ended(self) -> set[str]:
        """Returns the facts that they ended."""
        return {one.fact for one in self.endings}


async def write_extraction(
    writer: SpaceWriter, episode: str, reading: ExtractionResult, model: str
) -> EpisodeCounts:
    """Writes the extraction of an existing episode. Returns counts of facts only."""
    endings = await writer.read(
        "endings_of", uuids=sorted({one.fact for one in reading.contradicted})
    )
    since = {row["uuid"]: row["since"] for row in endings}
    gone = await _support(writer, episode, reading.supported)
    ended = [
        (one.fact, one.at)
        for one in reading.contradicted
        if one.fact in since and since[one.fact] < one.at.timestamp()
    ]
    await record_endings(writer, episode, ended)
    changed = await apply_endings(writer, [uuid for uuid, _ in ended], episode)
    described = EpisodeDescriptions(episode, reading.entities)
    batch = FactBatch.of(writer.space, [*reading.facts, *gone], None)
    counts = await add_facts(writer, batch, model, described)
    if reading.findings:
        await add_findings(writer, reading.findings, model)
    await writer.write("mark_extracted", uuids=[episode])
    return EpisodeCounts(facts=counts.added, ended=len(changed))


async def withdraw_extraction(writer: SpaceWriter, episodes: Sequence[str]) -> WithdrawnExtraction:
    """Removes episodes' descriptions and endings; the caller withdraws their claims."""
    return WithdrawnExtraction(
        claimants=tuple(episode_claimant(uuid) for uuid in sorted(episodes)),
        named=frozenset(await remove_descriptions(writer, episodes)),
        endings=await remove_endings(writer, episodes),
    )


async def _support(
    writer: SpaceWriter, episode: str, supported: Sequence[Supported]
) -> list[GivenFact]:
    """Claims existing facts for the episode; returns facts that were deleted concurrently, to be stated again."""
    wanted = sorted({one.fact for one in supported})
    if not wanted:
        return []
    there = {row["uuid"] for row in await writer.read("facts_by_uuid", uuids=wanted)}
    given: dict[str, set[str]] = defaultdict(set)
    for one in supported:
        if one.fact in there:
            given[one.fact].add(GivenEnds.of(one.given).encode())
    if given:
        await claim_facts(writer, episode_claimant(episode), given)
        await writer.cite((), sorted(given))
    return [one.given for one in supported if one.fact not in there]
