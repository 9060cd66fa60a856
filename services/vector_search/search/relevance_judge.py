"""Decides which hits of a fused search are relevant: by their scores, and in doubt by reading the first of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from services.models.embedding.relevance import Relevance
from services.models.reranking.reading import MAX_READ, Reader, probability
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

        If the best hit is clear by its score, or accepted after reading, hits above the list floor are relevant;
        otherwise those of the next ones that are accepted after reading, and with them those above the list floor.
        """
        list_floor = scale.list_floor(text_weight)
        bar = scale.match_floor(result.chunk_count, text_weight)
        if self._reader is None:
            return _by_scores(result.hits, bar, list_floor)
        clear = scale.clear_floor(result.chunk_count, text_weight)
        if not result.hits or result.hits[0].score >= clear:
            return _by_scores(result.hits, clear, list_floor)
        accepts = partial(scale.accepts, chunks=result.chunk_count, text_weight=text_weight)
        read = await self._read(query, result.hits, accepts)
        if read is None:
            return replace(_by_scores(result.hits, bar, list_floor), complete=False)
        hits = [*(one.hit for one in read), *result.hits[len(read) :]]
        accepted = {one.hit.chunk.id for one in read if one.accepted}
        if not accepted:
            return Judgment([], clear, list_floor, nearest=hits[:MAX_NEAREST])
        listed = [hit for hit in hits if hit.chunk.id in accepted or hit.score >= list_floor]
        return Judgment(listed, clear, list_floor)

    async def _read(
        self, query: str, hits: Sequence[Hit], accepts: Callable[[float, float], bool]
    ) -> list[_Read] | None:
        """Reads the first hit and, unless it is accepted, the next ones; None if the model does not answer in time.

        Mostly the first one is accepted, and reading takes longer than the search.
        """
        assert self._reader is not None  # noqa: S101 - see `judge`
        read: list[_Read] = []
        for part in (hits[:1], hits[1:MAX_READ]):
            if not part or any(one.accepted for one in read):
                break
            logits = await self._reader.read(query, [_passage(hit) for hit in part])
            if logits is None:
                return None
            read += [
                _Read(
                    replace(hit, scores=replace(hit.scores, reading=probability(logit))),
                    accepts(hit.score, logit),
                )
                for hit, logit in zip(part, logits, strict=True)
            ]
        return read


class _Read(NamedTuple):
    """A hit that was read, with its score in it, and whether it is relevant."""

    hit: Hit
    accepted: bool


def _by_scores(hits: Sequence[Hit], floor: float, list_floor: float) -> Judgment:
    if hits and hits[0].score < floor:
        return Judgment([], floor, list_floor, nearest=hits[:MAX_NEAREST])
    return Judgment([hit for hit in hits if hit.score >= list_floor], floor, list_floor)


def _passage(hit: Hit) -> str:
    chunk = hit.chunk
    return f"{chunk.title}\n{chunk.content}" if chunk.title else chunk.content
