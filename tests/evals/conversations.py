"""Measures how well long conversations are recalled: turns as messages of a thread, and as memories.

Each conversation has a space of its own. Turns are five minutes apart from the start of their session or day, so that
each message is found by itself.
"""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from deploy.local.stack import LocalStack
from gateway.cli.api import Api
from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.ingest.ingestion import Ingest
from gateway.cli.progress import IngestProgress
from gateway.content_types import CONTENT_TYPES
from services.runtime.security.key_file import KeyEditor
from tests.benchmarks.command import MeasureError, Options, UsageError
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import bar, running_stack
from tests.evals.datasets import read_rows
from tests.evals.metrics import mean, recall_at

SHARED = "locomo"
MODES = ("search", "memories")
DEPTHS = (5, 10)
_SUFFIX = ".messages.jsonl"
_SCOPES = ("read", "write")
_BETWEEN = timedelta(minutes=5)
# The beginning of a passage that identifies the turn which it continues.
_BEGINNING = 60
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said; `time` is None before the first date."""

    id: str
    speaker: str
    text: str
    time: datetime | None

    @property
    def stamp(self) -> str:
        """Returns the author and time as a thread's text has them."""
        return f"{self.speaker} ({self.time:%Y-%m-%d %H:%M})" if self.time else self.speaker


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its category, and the turns that answer it."""

    text: str
    category: str
    gold: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation and questions about it."""

    id: str
    turns: list[Turn]
    questions: list[Asked]

    def turns_in(self, passage: str) -> list[str]:
        """Returns ids of the turns that a passage contains, in order."""
        found = [one.id for one in self.turns if one.time and f"{one.stamp}:" in passage]
        begin = _plain(passage[:_BEGINNING])
        first = next((one.id for one in self.turns if begin and begin in _plain(one.text)), None)
        return found if first is None or first in found else [first, *found]


def read_conversations(folder: Path, most: int | None = None) -> list[Conversation]:
    """Reads `turns.jsonl.gz` and `queries.jsonl.gz`; questions without an answering turn are left out."""
    turns: dict[str, list[Turn]] = defaultdict(list)
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for row in read_rows(folder, "turns.jsonl.gz"):
        given = str(row.get("session_time") or row.get("time") or "")
        place = counts[row["conv"], given]
        counts[row["conv"], given] += 1
        begin = _instant(given)
        time = begin + place * _BETWEEN if begin else None
        turns[row["conv"]].append(Turn(row["id"], row["speaker"], row["text"], time))
    asked: dict[str, list[Asked]] = defaultdict(list)
    for row in read_rows(folder, "queries.jsonl.gz"):
        if row["gold"]:
            one = Asked(row["question"], str(row["category"]), tuple(row["gold"]))
            asked[row["conv"]].append(one)
    if not turns or not asked:
        raise UsageError(f"{folder} has no turns or no questions that they answer")
    return [Conversation(name, said, asked[name][:most]) for name, said in turns.items()]


async def run(options: Options) -> None:
    """Loads every conversation as a thread and as memories, then asks every question of both."""
    modes = MODES if options.mode == "all" else (options.mode,)
    if not set(modes) <= set(MODES):
        raise UsageError(f"no mode is called {options.mode!r}; there are: all, {', '.join(MODES)}")
    conversations = read_conversations(options.folder(), options.queries)
    figures = Figures("conversations")
    with tempfile.TemporaryDirectory(prefix="braid-conversations-") as place:
        data = Path(place) / "data"
        keys = _issue_keys(data, conversations)
        async with running_stack(data) as stack:
            for mode in modes:
                measure = _search_threads if mode == "search" else _search_memories
                recalls = [
                    recall
                    for one in conversations
                    for recall in await asyncio.to_thread(measure, stack, keys[one.id], one, place)
                ]
                _put(figures, mode, recalls)


# Characters of one memory: a longer turn is several.
_MAX_MEMORY = 32_768

Recalls = list[tuple[str, Mapping[int, float]]]


def _search_threads(stack: LocalStack, key: str, talk: Conversation, place: str) -> Recalls:
    path = Path(place) / f"{talk.id}{_SUFFIX}"
    path.write_text("".join(_lines(talk)), encoding="utf-8")
    with _api(stack, key) as api:
        with IngestProgress(Console(stderr=True)) as bars:
            report = Ingest(api, bars).run([File(path, path.name, CONTENT_TYPES[_SUFFIX])])
        if report.failures:
            raise MeasureError(f"{talk.id}: {report.failures[0].reason}")

        def ranked(question: str) -> list[str]:
            body = {"query": question, "limit": max(DEPTHS)}
            hits = api.post("/api/search/comprehensive", body)["results"]
            return [turn for hit in hits for turn in talk.turns_in(hit["content"])]

        return _ask(talk, ranked)


def _search_memories(stack: LocalStack, key: str, talk: Conversation, _place: str) -> Recalls:
    turn_of: dict[str, str] = {}
    with _api(stack, key) as api:
        with bar(f"{talk.id}: memories", len(talk.turns)) as show:
            for number, turn in enumerate(talk.turns, 1):
                text = f"{turn.speaker}: {turn.text}"
                for start in range(0, len(text), _MAX_MEMORY):
                    body = {"content": text[start : start + _MAX_MEMORY]}
                    turn_of[api.post("/api/memories", body)["id"]] = turn.id
                show(number)

        def ranked(question: str) -> list[str]:
            body = {"query": question, "limit": max(DEPTHS)}
            hits, _ = api.post_for_list("/api/memories/search", body)
            return [turn_of[hit["memory"]["id"]] for hit in hits]

        return _ask(talk, ranked)


def _ask(talk: Conversation, ranked: Any) -> Recalls:
    recalls: Recalls = []
    with bar(f"{talk.id}: questions", len(talk.questions)) as show:
        for number, one in enumerate(talk.questions, 1):
            found = list(dict.fromkeys(ranked(one.text)))
            recalls.append((one.category, {k: 100 * recall_at(found, one.gold, k) for k in DEPTHS}))
            show(number)
    return recalls


def _put(figures: Figures, mode: str, recalls: Recalls) -> None:
    note(f"{mode}: {len(recalls)} questions")
    for k in DEPTHS:
        figures.put(f"{mode}.recall@{k}", mean([found[k] for _, found in recalls]), "percent")
    for category in sorted({name for name, _ in recalls}):
        some = [found[DEPTHS[0]] for name, found in recalls if name == category]
        figures.put(f"{mode}.{category}.recall@{DEPTHS[0]}", mean(some), "percent")


def _lines(talk: Conversation) -> Iterator[str]:
    for turn in talk.turns:
        fields = {"thread": talk.id, "author": turn.speaker, "id": turn.id, "text": turn.text}
        time = {"time": turn.time.isoformat()} if turn.time else {}
        yield json.dumps(fields | time, ensure_ascii=False) + "\n"


def _issue_keys(data: Path, conversations: Sequence[Conversation]) -> dict[str, str]:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    editor = KeyEditor(data / "api_keys.json")
    return {
        one.id: editor.create(
            key_id=one.id, space=one.id, user="speaker", scopes=_SCOPES, expires_at=None
        )[1]
        for one in conversations
    }


def _api(stack: LocalStack, key: str) -> Api:
    try:
        return Api(f"http://{stack.addresses['gateway']}", key)
    except CliError as error:
        raise MeasureError(str(error)) from error


def _instant(given: str) -> datetime | None:
    if not given:
        return None
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", given):
        return datetime.fromisoformat(given).replace(tzinfo=UTC)
    return datetime.strptime(given, _SESSION_TIME).replace(tzinfo=UTC)


def _plain(text: str) -> str:
    return " ".join(text.split())
