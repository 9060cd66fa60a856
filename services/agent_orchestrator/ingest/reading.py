"""From a space's uploads to batches: one upload after the other, as long as there are any and the turn may go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from services.agent_orchestrator.ingest.batches import BATCH_DOCUMENTS, Batch, Source
from services.agent_orchestrator.ingest.documents import (
    ParsedDocument,
    Place,
    Rejected,
    UnreadableError,
)
from services.agent_orchestrator.ingest.parsing import Upload
from services.agent_orchestrator.ingest.prepare import Prepared, prepare
from services.agent_orchestrator.ingest.uploads import stored_upload
from services.agent_orchestrator.jobs.work import TakenUpload

UPLOADS_AT_ONCE = 64
MAX_TAKES = 6
ENDED_ITS_WORKER = f"ended the worker {MAX_TAKES} times"

Item = Prepared | Rejected
Parse = Callable[[Upload], AsyncIterator[Sequence[ParsedDocument | Rejected]]]
NextUploads = Callable[[Sequence[str]], Awaitable[Sequence[TakenUpload]]]


class Reader:
    """The batches of one turn: `next_uploads` gives more uploads, without those whose ids it is given.

    `in_hand` holds the jobs that are taken up; the turn takes out those that were noted as read to their end.
    """

    def __init__(
        self,
        next_uploads: NextUploads,
        parse: Parse,
        *,
        space: str,
        dimension: int,
        max_size: int,
        in_hand: set[str],
    ) -> None:
        self._next_uploads = next_uploads
        self._parse = parse
        self._space = space
        self._dimension = dimension
        self._max_size = max_size
        self._batch = Batch()
        self._left = 0
        self.in_hand = in_hand

    async def batches(self) -> AsyncIterator[Batch]:
        """Full batches, and whatever there is once no upload is left. Ends when there is nothing to read."""
        while taken := await self._next_uploads(sorted(self.in_hand)):
            self.in_hand.update(one.job.id for one in taken)
            sources = [_source(one) for one in taken]
            self._left = sum(one.left for one in sources)
            if len(sources) >= UPLOADS_AT_ONCE:  # what is left beyond them is not known
                self._left += BATCH_DOCUMENTS
            for source in sources:
                async for batch in self._of_upload(source):
                    yield batch
        if self._batch.read:
            yield self._closed()

    async def _of_upload(self, source: Source) -> AsyncIterator[Batch]:
        alone = source.taken.takes > MAX_TAKES
        async for part in self._parse(source.upload):
            items = await asyncio.to_thread(self._prepared, source, part)
            for read, item in zip(part, items, strict=True):
                if self._is_full(item):
                    yield self._closed()
                self._add(source, item, read.end, alone=alone)
                if alone and self._batch.entries:
                    yield self._closed()
        self._batch.note(source, ended=True)

    def _prepared(
        self, source: Source, part: Sequence[ParsedDocument | Rejected]
    ) -> list[Item | None]:
        """Each as the tiers take it; None for those that were done before."""
        start = source.position
        return [
            self._prepare(one) if source.counts(start + place) else None
            for place, one in enumerate(part)
        ]

    def _prepare(self, parsed: ParsedDocument | Rejected) -> Item:
        if isinstance(parsed, Rejected):
            return parsed
        try:
            return prepare(parsed, self._space, dimension=self._dimension, max_size=self._max_size)
        except UnreadableError as error:
            return Rejected(parsed.document_id, str(error))

    def _is_full(self, item: Item | None) -> bool:
        return isinstance(item, Prepared) and not self._batch.fits(item, self._max_size, self._left)

    def _add(self, source: Source, item: Item | None, end: Place, *, alone: bool) -> None:
        position = source.position
        source.position, source.place = position + 1, end
        self._left -= 1
        first = alone and position == source.taken.position
        if isinstance(item, Rejected):
            self._batch.refuse(source, position, item.document_id, item.reason)
        elif isinstance(item, Prepared) and first:
            self._batch.refuse(source, position, item.id, ENDED_ITS_WORKER)
        elif isinstance(item, Prepared):
            self._batch.add(source, position, item)
        self._batch.note(source, ended=False)

    def _closed(self) -> Batch:
        batch, self._batch = self._batch, Batch(self._batch.number + 1)
        return batch


def _source(taken: TakenUpload) -> Source:
    """An upload in hand, read as far as what it comes without."""
    upload = stored_upload(taken)
    position = taken.position if upload.begin.offset else 0
    return Source(taken, upload, position, upload.begin)
