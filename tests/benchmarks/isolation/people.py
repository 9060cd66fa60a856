"""Two spaces with two users each, and their data, which is loaded through the gateway."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from services.runtime.security.key_file import KeyEditor
from tests.benchmarks.command import MeasureError

SPACES = ("space-one", "space-two")
USERS = ("ann", "bob")
_SCOPES = ("read", "write", "admin")
_POLLS, _POLL_SECONDS = 600, 0.2
_ENDED = {"succeeded", "failed", "cancelled"}


@dataclass(slots=True)
class Person:
    """A user of a space. `shared` has ids of the space's data, `own` ids of the user's own data, by kind."""

    space: str
    user: str
    key: str
    shared_marker: str = field(default_factory=lambda: f"zq{secrets.token_hex(6)}")
    own_marker: str = field(default_factory=lambda: f"zq{secrets.token_hex(6)}")
    shared: dict[str, str] = field(default_factory=dict)
    own: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Returns space and user."""
        return f"{self.space}/{self.user}"

    @property
    def headers(self) -> dict[str, str]:
        """Returns the credential of an HTTP request."""
        return {"authorization": f"Bearer {self.key}"}

    @property
    def ids(self) -> dict[str, str]:
        """Returns all ids by kind."""
        return {**self.shared, **self.own}

    def secrets_from(self, other: Person) -> set[str]:
        """Returns the other's ids and markers that this person must never see."""
        private = {other.own_marker, *other.own.values()}
        if other.space == self.space:
            return private
        return private | {other.shared_marker, *other.shared.values()}


def issue_keys(data: Path) -> list[Person]:
    """Creates four people, with keys in the key file of a stack that is not started yet."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    editor = KeyEditor(data / "api_keys.json")
    people = []
    for space in SPACES:
        for user in USERS:
            _, key = editor.create(
                key_id=f"{space}-{user}", space=space, user=user, scopes=_SCOPES, expires_at=None
            )
            people.append(Person(space, user, key))
    return people


class Loading:
    """Loads the data of a person."""

    def __init__(self, http: httpx2.AsyncClient, person: Person) -> None:
        self._http = http
        self._person = person

    async def shared(self) -> None:
        """Loads data of the space: a document and its job, a dated fact, and a quarantined one."""
        person, mark = self._person, self._person.shared_marker
        person.shared["document"] = f"doc-{mark}"
        text = f"The {mark} Service is owned by the {mark} Team. Ada Brandt leads the {mark} Team."
        document = {"id": f"doc-{mark}", "title": f"About {mark}", "text": text}
        accepted = await self._post("/api/documents", document)
        person.shared["job"] = _first(accepted, "job_id", "id")
        # Relations join two chunks.
        other = {
            "id": f"notes-{mark}",
            "title": f"Notes on {mark}",
            "text": f"The {mark} Team meets.",
        }
        notes = await self._post("/api/documents", other)
        for job in (person.shared["job"], _first(notes, "job_id", "id")):
            await self._until_ended(job)
        fact = {
            "subject": f"{mark} Service",
            "relation": "OWNED_BY",
            "object": f"{mark} Team",
            "fact": f"The {mark} Service is owned by the {mark} Team.",
            "valid_at": "2024-01-01",
        }
        await self._post("/api/facts", {"facts": [fact]})
        facts = await self._get("/api/facts", subject=f"{mark} Service")
        person.shared["fact"] = _first(facts["facts"][0], "uuid", "id")
        lost = {**fact, "relation": "LOST_BY", "document_id": f"lost-{mark}"}
        await self._post("/api/facts", {"facts": [lost]})
        repaired = await self._post("/api/consistency?apply=true", None)
        person.shared["quarantine"] = _first(repaired, "quarantine_id")
        kept = await self._get(f"/api/quarantines/{person.shared['quarantine']}")
        person.shared["quarantined"] = _first(kept["items"][0], "id")
        entities = await self._get("/api/graph/entities", limit=100)
        named = next(one for one in entities["entities"] if mark in str(one).lower())
        person.shared["entity"] = _first(named, "uuid", "id")
        chunks = (await self._post("/api/search/text", {"query": mark}))["results"]
        person.shared["chunk"], person.shared["other_chunk"] = (
            _first(chunk, "id") for chunk in chunks
        )

    async def own(self) -> None:
        """Loads the user's own data: memories, an entity memory, and a conversation with an answer."""
        person, mark = self._person, self._person.own_marker
        person.own["session"] = f"session-{mark}"
        for number in (1, 2):
            memory = {
                "content": f"{mark} prefers tea, note {number}.",
                "title": f"Note {mark}",
                "session_id": person.own["session"],
            }
            created = await self._post("/api/memories", memory)
            person.own[f"memory_{number}"] = _first(created, "id")
        await self._post(
            f"/api/memories/{person.own['memory_1']}/relations",
            {"target_id": person.own["memory_2"], "relation_type": "RELATED"},
        )
        entity = {"name": f"Project {mark}", "type": "project"}
        person.own["memory_entity"] = _first(await self._post("/api/memory/entities", entity), "id")
        relationship = {"type": "WORKS_ON", "target": {"id": person.own["memory_entity"]}}
        related = await self._post("/api/memory/relationships", relationship)
        person.own["relationship"] = _first(related.get("relationship", related), "id")
        conversation = await self._post("/api/conversations", {"title": f"Talk about {mark}"})
        person.own["conversation"] = _first(conversation, "id", "conversation_id")
        question = {
            "question": f"What do you know of {mark}?",
            "conversation_id": person.own["conversation"],
            "stream": False,
        }
        person.own["run"] = _first(await self._post("/api/chat", question), "run_id")

    async def _until_ended(self, job_id: str) -> None:
        for _ in range(_POLLS):
            if (await self._get(f"/api/jobs/{job_id}"))["state"].lower() in _ENDED:
                return
            await asyncio.sleep(_POLL_SECONDS)
        raise MeasureError("a document was not taken in time")

    async def _post(self, path: str, body: Any) -> Any:
        return self._body(await self._http.post(path, json=body, headers=self._person.headers))

    async def _get(self, path: str, **parameters: Any) -> Any:
        return self._body(
            await self._http.get(path, params=parameters, headers=self._person.headers)
        )

    def _body(self, response: httpx2.Response) -> Any:
        if not response.is_success:
            path = response.request.url.path
            raise MeasureError(f"{path}: {response.status_code} {response.text[:300]}")
        return response.json()


def _first(value: Any, *names: str) -> str:
    """Returns the first nested value with one of these names. Raises MeasureError without one."""
    for name in names:
        for found in _all(value, name):
            return found
    raise MeasureError(f"an answer has none of {', '.join(names)}")


def _all(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(name), str) and value[name]:
            yield value[name]
        for part in value.values():
            yield from _all(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from _all(part, name)
