"""Decides which hits of a fused search are relevant: by their scores, and in doubt by reading the first of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.models.embedding.relevance import Relevance
from services.models.reranking.reading import Reader, probability
from services.vector_search.domain import Hit, SearchResult

MAX_NEAREST = 3


@dataclass(frozen=True, slots=True)
class Judgment:
    """The relevant hits, or without any the `nearest` ones.

    `floor` is the score from which the best hit is a match by itself, `list_floor` the minimum score of the others.
    `complete` is false if doubtful hits could not be read, so that only their scores decided.
    """

    hits: list[Hit]
    floor: float
    list_floor: float
    nearest: Sequence[Hit] = ()
    complete: bool = True


class RelevanceJudge:
    """Judges lists of hits that are sorted by score."""

    def __init__(self, reader: Reader | None) -> None:
        self._reader = reader

    async def judge(
        self, query: str, result: SearchResult, scale: Relevance, text_weight: float
    ) -> Judgment:
        """Returns the relevant hits in their order.

        If the best hit is clear by its score, hits above the list floor are relevant; otherwise those that are accepted
        after reading, and then also those above the list floor.
        """
        list_floor = scale.list_floor(text_weight)
        bar = scale.match_floor(result.chunk_count, text_weight)
        if self._reader is None:
            return _by_scores(result.hits, bar, list_floor)
        clear = scale.clear_floor(result.chunk_count, text_weight)
        if not result.hits or result.hits[0].score >= clear:
            return _by_scores(result.hits, clear, list_floor)
        logits = await self._reader.read(query, [_passage(hit) for hit in result.hits])
        if logits is None:
            return replace(_by_scores(result.hits, bar, list_floor), complete=False)
        read = [
            replace(hit, scores=replace(hit.scores, reading=probability(logit)))
            for hit, logit in zip(result.hits, logits, strict=False)
        ]
        accepted = {
            hit.chunk.id
            for hit, logit in zip(read, logits, strict=True)
            if scale.accepts(hit.score, logit, result.chunk_count, text_weight)
        }
        hits = [*read, *result.hits[len(read) :]]
        if not accepted:
            return Judgment([], clear, list_floor, nearest=hits[:MAX_NEAREST])
        listed = [hit for hit in hits if hit.chunk.id in accepted or hit.score >= list_floor]
        return Judgment(listed, clear, list_floor)


def _by_scores(hits: Sequence[Hit], floor: float, list_floor: float) -> Judgment:
    if hits and hits[0].score < floor:
        return Judgment([], floor, list_floor, nearest=hits[:MAX_NEAREST])
    return Judgment([hit for hit in hits if hit.score >= list_floor], floor, list_floor)


def _passage(hit: Hit) -> str:
    chunk = hit.chunk
    return f"{chunk.title}\n{chunk.content}" if chunk.title else chunk.content
