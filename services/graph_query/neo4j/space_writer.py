"""One write to a space: keeps the local graph equal to the result of extraction, inside one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeVar

from services.graph_query.core.domain import Passage
from services.graph_query.core.full_text import added_words, phrase_queries
from services.graph_query.core.identity import document_uuid
from services.graph_query.core.intervals import OPEN
from services.graph_query.core.names import Source, Spelling, best, is_linkable, link_key
from services.graph_query.core.version_validity import ALWAYS, Period
from services.graph_query.local_extraction.cooccurrence import (
    Changes,
    TokenizedPassage,
    difference,
    merged,
    passage_rows,
)
from services.graph_query.local_extraction.extract import MentionKind
from services.graph_query.local_extraction.gazetteer import Gazetteer, Uuids
from services.graph_query.neo4j.database import Rows, Transaction


class Write(Protocol):
    """Runs work in a transaction in a space under its lock; returns its result and the revision after it.

    `model` and `length` are those of the vectors to be written.
    """

    def __call__(
        self,
        space: str,
        work: Callable[[SpaceWriter], Awaitable[T]],
        model: str = "",
        length: int = 0,
    ) -> Awaitable[tuple[T, int]]: ...


T = TypeVar("T")


class SpaceContents(NamedTuple):
    """What a space has any of: without passages, for example, none are searched."""

    texts: bool = True
    aliases: bool = True
    sources: bool = True


class SpaceWriter:
    """Writes to one space under its lock. `gazetteer` has the space's names as of this transaction."""

    def __init__(
        self,
        transaction: Transaction,
        space: str,
        gazetteer: Gazetteer,
        now: datetime,
        *,
        source_revision: int = 0,
        has: SpaceContents | None = None,
    ) -> None:
        """`source_revision` is that of the space's sources of facts, if this write records what one states."""
        has = has or SpaceContents()
        self.source_revision = source_revision
        # Without corrected facts no fact has another uuid than the computed one, and without sources none is recorded.
        self.has_aliases = has.aliases
        self.has_sources = has.sources
        self.space = space
        self.gazetteer = gazetteer
        self.now = now
        self._texts = has.texts
        self.changed = False
        self.names_changed = False
        self.entities_created = 0
        # Entities whose mentions change; they are counted once, at the end of the write.
        self._mentioned: set[str] = set()
        # Episodes that this write removes, and their documents.
        self.taken: dict[str, str] = {}
        self._transaction = transaction

    async def read(self, name: str, **parameters: Any) -> Rows:
        """Runs a read-only named query, with the space among its parameters."""
        return await self._transaction.run(name, space=self.space, **parameters)

    async def write(self, name: str, **parameters: Any) -> Rows:
        """Runs a named query that changes the space; the space's revision will be raised."""
        self.changed = True
        return await self._transaction.run(name, space=self.space, **parameters)

    async def note(self, name: str, **parameters: Any) -> Rows:
        """Runs a named query that stores something without changing what the space answers."""
        return await self._transaction.run(name, space=self.space, **parameters)

    async def relink(
        self,
        put: Mapping[str, Uuids],
        removed: Collection[str] = (),
    ) -> Changes:
        """Adds and removes names in the gazetteer; returns the resulting changes in older passages."""
        old, new = self.gazetteer, self.gazetteer.changed(put, removed)
        if not put and not removed:
            return Changes()
        self.gazetteer, self.names_changed = new, True
        if not self._texts:
            return Changes()
        keys = {link_key(name) for name in (*put, *removed)}
        about = await self._passages_about([old.uuids(name) for name in put])
        older = await self._passages_with(keys)
        probe = Gazetteer.of(dict.fromkeys((*put, *removed), ("",)))
        return await asyncio.to_thread(_differences, self.space, (about, older), probe, old, new)

    async def apply(self, changes: Changes) -> None:
        """Writes and removes rows; missing entities are created first."""
        self._mentioned |= changes.cut_entities() | {row.entity for row in changes.mentions_put}
        await self.spell(changes.spelt(), changes.names)
        if changes.sentences_cut:
            cut = [[row.uuid, row.subject, row.targets] for row in changes.sentences_cut]
            await self.write("delete_sentences", rows=cut)
        if changes.mentions_cut:
            rows = [[row.episode, row.entity] for row in changes.mentions_cut]
            await self.write("delete_mentions", rows=rows)
        if changes.mentions_put:
            await self.write("create_mentions", rows=_by_episode(changes))
        if changes.sentences_put:
            put = [
                [*row, *_period_row(changes.periods[row.episode]), added_words(row.text)]
                for row in changes.sentences_put
            ]
            await self.write("create_sentences", rows=put)

    async def spell(self, spelt: Mapping[str, Spelling], keys: Mapping[str, str]) -> None:
        """Uses these spellings if they are better than the stored ones; missing entities are created by key."""
        if not spelt:
            return
        rows = [[uuid, *spelling] for uuid, spelling in sorted(spelt.items())]
        missing, shown = [], {}
        # One row for all, as rows cost the driver time.
        for uuid, name, source in (await self.read("known_entities", rows=rows))[0]["entities"]:
            if name is None:
                missing.append((uuid, keys[uuid], "", spelt[uuid]))
            else:
                shown[uuid] = Spelling(source, name)
        await self.create_entities(missing)
        await self.respell(spelt, shown)

    async def respell(self, spelt: Mapping[str, Spelling], shown: Mapping[str, Spelling]) -> None:
        """Uses these spellings if they are better than those in `shown`."""
        renamed = [
            [uuid, *spelt[uuid]]
            for uuid, stored in sorted(shown.items())
            if uuid in spelt and best((spelt[uuid], stored)) != stored
        ]
        if renamed:
            await self.write("rename_entities", rows=renamed)

    async def refresh_names(self, entities: Collection[str], *, always: bool = False) -> None:
        """Shows entities by their best remaining spelling: those whose own has no source or, with `always`, all."""
        if not entities:
            return
        renamed = []
        parameters = {"uuids": sorted(entities), "all": always, "about": int(MentionKind.ABOUT)}
        for row in await self.read("spellings", **parameters):
            spellings = [Spelling(*written) for written in row["written"]]
            spellings += [Spelling(Source.STATED, name) for name in row["stated"]]
            if spellings:
                renamed.append([row["uuid"], *best(spellings)])
        if renamed:
            await self.write("rename_entities", rows=renamed)

    async def create_entities(self, rows: Iterable[tuple[str, str, str, Spelling]]) -> None:
        """Creates entities from (uuid, name key, type, spelling). Text is linked to names of stated entities."""
        entries = [
            [
                uuid,
                key,
                spelling.text,
                link_key(key) if linked or stated else None,
                entity_type,
                linked,
                int(spelling.source),
            ]
            for uuid, key, entity_type, spelling in sorted(rows)
            for stated in [spelling.source == Source.STATED]
            for linked in [(stated or key in self.gazetteer) and is_linkable(key)]
        ]
        if entries:
            await self.write("create_entities", rows=entries, now=self.now)
        self.entities_created += len(entries)

    async def count_mentions(self) -> None:
        """Counts the mentions of all entities whose mentions this write added or removed."""
        if self._mentioned:
            parameters = {"uuids": sorted(self._mentioned), "about": int(MentionKind.ABOUT)}
            await self.write("count_mentions", **parameters)

    async def link(self, put: Mapping[str, Uuids]) -> None:
        """Marks names that text is linked to."""
        if put:
            await self.write("link_names", rows=[[key, link_key(key), True] for key in sorted(put)])

    async def unlink(self, entities: Collection[str]) -> list[str]:
        """Unmarks and returns names of these entities that no source states any more.

        If several entities share a name, facts state each of them; an entity without facts is its name's only one.
        """
        rows = await self.write(
            "unlink_names", uuids=sorted(entities), about=int(MentionKind.ABOUT)
        )
        return sorted({row["key"] for row in rows})

    async def delete_orphans(self, entities: Collection[str]) -> int:
        """Deletes the entities that nothing refers to any more; returns how many."""
        if not entities:
            return 0
        rows = await self.write("delete_orphans", uuids=sorted(entities))
        return int(rows[0]["deleted"])

    async def cite(self, documents: Collection[str], facts: Collection[str] = ()) -> None:
        """Updates the citations of these facts and of those that these documents claim."""
        rows = sorted(set(documents) - {""})
        if rows or facts:
            await self.write("cite_facts", documents=rows, facts=sorted(facts))

    async def documents_of(
        self, episodes: Collection[str], documents: Collection[str] = ()
    ) -> set[str]:
        """Returns the documents that claim facts, among these and those of these episodes."""
        if not episodes and not documents:
            return set()
        parameters = {"uuids": sorted(episodes), "documents": sorted(documents)}
        rows = await self.read("documents_of_episodes", **parameters)
        return {row["document_id"] for row in rows}

    async def passages(self, uuids: Sequence[str]) -> Rows:
        """Returns the rows of the episodes that exist."""
        return await self.read("passages_by_uuid", uuids=list(uuids))

    async def create_passages(self, reads: Sequence[TokenizedPassage]) -> None:
        """Creates episodes of existing documents."""
        self._texts = True
        rows = [_passage_row(self.space, read) for read in reads]
        await self.write("create_passages", rows=rows, now=self.now)

    async def _passages_about(self, named: Iterable[Uuids]) -> dict[str, Passage]:
        """Returns passages with these names as titles, by uuid; their text need not contain the names."""
        uuids = [uuid for uuids in named for uuid in uuids]
        if not uuids:
            return {}
        rows = await self.read("passages_about", uuids=uuids, about=int(MentionKind.ABOUT))
        return {row["uuid"]: as_passage(row) for row in rows}

    async def _passages_with(self, keys: Collection[str]) -> dict[str, Passage]:
        found: dict[str, Passage] = {}
        for query in phrase_queries(self.space, keys):
            for row in await self.read("passages_with_words", lucene=query):
                found[row["uuid"]] = as_passage(row)
        return found


def as_passage(row: Mapping[str, Any]) -> Passage:
    """Maps a row to a passage."""
    return Passage(
        row["uuid"],
        row["document_id"],
        row["title"],
        row["source"],
        row["content"],
        starts=tuple(row["starts"] or ()),
        own_start=-OPEN if row["own_start"] is None else row["own_start"],
        period=stored_period(row["since"], row["until"], row["gaps"]),
    )


def stored_start(own_start: float) -> float | None:
    """Returns a passage's own start as stored: None if unbounded."""
    return None if own_start == -OPEN else own_start


def stored_period(since: float | None, until: float | None, gaps: Sequence[float] | None) -> Period:
    """Returns a stored period: without values it is unbounded."""
    return ALWAYS if since is None or until is None else Period(since, until, tuple(gaps or ()))


def _differences(
    space: str,
    passages: tuple[Mapping[str, Passage], Mapping[str, Passage]],
    probe: Gazetteer,
    old: Gazetteer,
    new: Gazetteer,
) -> Changes:
    """Returns the changes of passages by new names: those titled with them, and those in which the probe finds any."""
    about, older = passages
    reads = [TokenizedPassage.of(passage) for passage in {**older, **about}.values()]
    return merged(
        difference(passage_rows(space, read, old), passage_rows(space, read, new))
        for read in reads
        if read.passage.uuid in about or any(probe.find(read.sentences))
    )


def _by_episode(changes: Changes) -> list[list[Any]]:
    ordered = sorted(changes.mentions_put)
    return [
        [episode, [[row.entity, row.kind, row.sentences, row.name] for row in rows]]
        for episode, rows in groupby(ordered, key=lambda row: row.episode)
    ]


def _passage_row(space: str, read: TokenizedPassage) -> dict[str, Any]:
    passage = read.passage
    return {
        "uuid": passage.uuid,
        "document": document_uuid(space, passage.document_id),
        "document_id": passage.document_id,
        "title": passage.title,
        "source": passage.source,
        "content": passage.content,
        "words": read.words,
        "reference_time": passage.reference_time,
        "starts": list(passage.starts) or None,
        "own_start": stored_start(passage.own_start),
        "period": _period_row(passage.period),
    }


def _period_row(period: Period) -> list[Any]:
    """Returns a period's columns as stored: None if it is unbounded."""
    if period == ALWAYS:
        return [None, None, None]
    return [period.since, period.until, list(period.gaps) or None]
