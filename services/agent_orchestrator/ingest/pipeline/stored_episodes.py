"""Episodes as the database stores them until they are in the graph: JSON with its own versioned format.

Rows outlive releases, so their format does not follow the contract between the services.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from google.protobuf.timestamp_pb2 import Timestamp

from braid.graph.v1 import ingest_pb2

VERSION = 1
# Names in the stored format, and the contract's fields.
_TEXTS = {
    "uuid": "chunk_id",
    "document_id": "document_id",
    "document_title": "document_title",
    "source": "source",
    "content": "content",
}
_Time = Literal["reference_time", "version_time", "valid_time"]
_TIMES: tuple[_Time, ...] = (
    "reference_time",
    "version_time",
    "valid_time",
)


def encode_episodes(episodes: Sequence[ingest_pb2.EpisodeInput]) -> bytes:
    """Encodes episodes in the stored format."""
    values = {"version": VERSION, "episodes": [_values(episode) for episode in episodes]}
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()


def decode_episodes(stored: bytes) -> list[ingest_pb2.EpisodeInput]:
    """Decodes episodes from the stored format. Raises ValueError for a format of a later release."""
    values = json.loads(stored)
    if values["version"] != VERSION:
        raise ValueError(f"stored episodes have the unknown version {values['version']}")
    return [_episode(one) for one in values["episodes"]]


def _values(episode: ingest_pb2.EpisodeInput) -> dict[str, str]:
    values: dict[str, str] = {name: getattr(episode, field) for name, field in _TEXTS.items()}
    for name in _TIMES:
        if episode.HasField(name):
            values[name] = getattr(episode, name).ToJsonString()
    return values


def _episode(values: dict[str, Any]) -> ingest_pb2.EpisodeInput:
    episode = ingest_pb2.EpisodeInput(**{field: values[name] for name, field in _TEXTS.items()})
    for name in _TIMES:
        if name in values:
            time = Timestamp()
            time.FromJsonString(values[name])
            getattr(episode, name).CopyFrom(time)
    return episode
