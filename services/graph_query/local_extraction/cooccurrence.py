"""The local graph of a space as rows, and its changes when names are added or removed.

The graph always equals the result of `extract` for each passage with all of the space's names. These functions update
it incrementally, by comparing rows under the old names with rows under the new ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from services.graph_query.core.domain import Passage
from services.graph_query.core.identity import entity_uuid, sentence_uuid
from services.graph_query.core.names import Source, Spelling, best
from services.graph_query.core.tokens import TokenText, searchable_words, tokenize
from services.graph_query.core.version_validity import ALWAYS, Period
from services.graph_query.local_extraction.extract import Extraction, MentionKind, extract
from services.graph_query.local_extraction.gazetteer import Gazetteer


class MentionRow(NamedTuple):
    """An episode's mention of an entity: its kind, the sentences (from 0), and the first spelling."""

    episode: str
    entity: str
    kind: int
    sentences: tuple[int, ...]
    name: str

    @property
    def spelling(self) -> Spelling:
        """Returns the name as the episode spells it."""
        return Spelling(Source.TITLE if self.kind == MentionKind.ABOUT else Source.TEXT, self.name)


class SentenceRow(NamedTuple):
    """A sentence that connects other entities with its subject."""

    uuid: str
    episode: str
    ordinal: int
    text: str
    subject: str
    targets: tuple[str, ...]


@dataclass(slots=True)
class PassageRows:
    """All rows of one passage, and the name keys of its entities by uuid."""

    mentions: dict[str, MentionRow]
    sentences: dict[str, SentenceRow]
    names: dict[str, str]
    period: Period = ALWAYS


@dataclass(slots=True)
class Changes:
    """Rows to write and rows to remove; a changed row is in both."""

    mentions_put: list[MentionRow] = field(default_factory=list)
    mentions_cut: list[MentionRow] = field(default_factory=list)
    sentences_put: list[SentenceRow] = field(default_factory=list)
    sentences_cut: list[SentenceRow] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    # The validity of the sentences to write, by episode.
    periods: dict[str, Period] = field(default_factory=dict)

    def touched_episodes(self) -> set[str]:
        """Returns the episodes whose mentions change."""
        return {row.episode for row in (*self.mentions_put, *self.mentions_cut)}

    def spelt(self) -> dict[str, Spelling]:
        """Returns the best spelling of each entity among the mentions to write."""
        spelt: dict[str, Spelling] = {}
        for row in self.mentions_put:
            stored = spelt.get(row.entity)
            if stored is None or stored != row.spelling:
                spelt[row.entity] = best((row.spelling, stored or row.spelling))
        return spelt

    def cut_entities(self) -> set[str]:
        """Returns the entities that lose a mention and may have none left."""
        return {row.entity for row in self.mentions_cut}


@dataclass(frozen=True, slots=True)
class TokenizedPassage:
    """A passage split into words once, for any number of extractions."""

    passage: Passage
    sentences: list[TokenText]

    @classmethod
    def of(cls, passage: Passage) -> TokenizedPassage:
        """Splits the passage into sentences and words."""
        return cls(passage, tokenize(passage.content))

    @property
    def words(self) -> str:
        """Returns the text by which the passage is found when a name becomes known."""
        return searchable_words(self.sentences)


def passage_rows(space: str, read: TokenizedPassage, gazetteer: Gazetteer) -> PassageRows:
    """Returns the passage's part of the graph under these names."""
    found = extract(read.passage.title, read.sentences, gazetteer)
    resolved = {key: gazetteer.uuids(key) or (entity_uuid(space, key),) for key in found.mentions}
    rows = PassageRows({}, {}, {}, read.passage.period)
    for key, mention in found.mentions.items():
        for uuid in resolved[key]:
            rows.names[uuid] = key
            rows.mentions[uuid] = MentionRow(
                read.passage.uuid, uuid, int(mention.kind), tuple(mention.sentences), mention.name
            )
    for row in _sentence_rows(space, read, found, resolved):
        rows.sentences[row.uuid] = row
    return rows


def added(rows: PassageRows) -> Changes:
    """Returns the changes that add a new passage."""
    return Changes(
        mentions_put=list(rows.mentions.values()),
        sentences_put=list(rows.sentences.values()),
        names=rows.names,
        periods=_periods(rows.sentences.values(), rows.period),
    )


def removed(rows: PassageRows) -> Changes:
    """Returns the changes that remove a passage."""
    return Changes(
        mentions_cut=list(rows.mentions.values()), sentences_cut=list(rows.sentences.values())
    )


def difference(old: PassageRows, new: PassageRows) -> Changes:
    """Returns the changes from a passage's old rows to its new ones."""
    put = [row for key, row in new.sentences.items() if old.sentences.get(key) != row]
    return Changes(
        mentions_put=[row for key, row in new.mentions.items() if old.mentions.get(key) != row],
        mentions_cut=[row for key, row in old.mentions.items() if new.mentions.get(key) != row],
        sentences_put=put,
        sentences_cut=[row for key, row in old.sentences.items() if new.sentences.get(key) != row],
        names=new.names,
        periods=_periods(put, new.period),
    )


def merged(changes: Iterable[Changes]) -> Changes:
    """Merges several changes into one."""
    total = Changes()
    for one in changes:
        total.mentions_put += one.mentions_put
        total.mentions_cut += one.mentions_cut
        total.sentences_put += one.sentences_put
        total.sentences_cut += one.sentences_cut
        total.names.update(one.names)
        total.periods.update(one.periods)
    return total


def _periods(sentences: Iterable[SentenceRow], period: Period) -> dict[str, Period]:
    return {row.episode: period for row in sentences}


def _sentence_rows(
    space: str,
    read: TokenizedPassage,
    found: Extraction,
    resolved: dict[str, tuple[str, ...]],
) -> list[SentenceRow]:
    rows = []
    for number, keys in sorted(_keys_by_sentence(found).items()):
        subject = found.subjects[0] if found.subjects else keys[0]
        passed_over = {subject, *found.subjects}
        targets = [uuid for key in keys if key not in passed_over for uuid in resolved[key]]
        if targets:
            uuid = sentence_uuid(space, read.passage.uuid, number)
            text = read.sentences[number].text
            rows.append(
                SentenceRow(
                    uuid,
                    read.passage.uuid,
                    number,
                    text,
                    resolved[subject][0],
                    tuple(sorted(targets)),
                )
            )
    return rows


def _keys_by_sentence(found: Extraction) -> dict[int, list[str]]:
    """Returns the names of each sentence, sorted by key so that the order of discovery does not matter."""
    by_sentence: dict[int, list[str]] = {}
    for key in sorted(found.mentions):
        for number in found.mentions[key].sentences:
            by_sentence.setdefault(number, []).append(key)
    return by_sentence
