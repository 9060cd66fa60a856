"""A file that is uploaded under the name of another one takes its place only if the caller says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gateway.cli.api import Api
from tests.e2e.conftest import HOSTILE_KEY, System

Upload = Callable[..., tuple[int, Any]]
FIRST, OTHER = "The kestrel of the tower is old.", "The kestrel of the barn is young."


@pytest.fixture
def upload(system: System) -> Upload:
    """Uploads files by name, and waits for their jobs; returns the status and the answer."""

    def send(*files: tuple[str, str], path: str = "/api/documents", **data: str) -> tuple[int, Any]:
        with system.client(HOSTILE_KEY) as http, Api(system.url, HOSTILE_KEY) as api:
            form = [("files", (name, text.encode(), "text/plain")) for name, text in files]
            answer = http.post(path, files=form, data=data)
            body = answer.json()
            for job in body.get("jobs", ()):
                for _ in api.followed(job):
                    pass
        return answer.status_code, body

    return send


def versions(system: System, document: str) -> int:
    """Returns how many versions a document has."""
    with system.client(HOSTILE_KEY) as http:
        found = http.get("/api/document-versions", params={"document_id": document}).json()
    return len(found["versions"])


def test_another_file_of_the_same_name_is_refused_and_changes_nothing(
    system: System, upload: Upload
) -> None:
    assert upload(("kestrel.txt", FIRST))[0] == 202
    status, body = upload(("kestrel.txt", OTHER))
    assert (status, body["reason"]) == (409, "WRONG_STATE")
    assert "another file was uploaded as kestrel.txt" in body["detail"]
    assert upload(("kestrel.txt", FIRST))[0] == 202
    assert versions(system, "kestrel.txt") == 1
    assert upload(("kestrel.txt", OTHER), path="/api/documents?replace=true")[0] == 202
    assert versions(system, "kestrel.txt") == 2
    assert upload(("other.txt", FIRST), id="kestrel.txt")[0] == 202
    assert versions(system, "kestrel.txt") == 3


def test_of_several_files_the_new_ones_are_taken(system: System, upload: Upload) -> None:
    assert upload(("merlin.txt", FIRST))[0] == 202
    status, body = upload(("merlin.txt", OTHER), ("hobby.txt", OTHER))
    assert (status, len(body["jobs"])) == (207, 1)
    [refused] = body["refused"]
    assert refused["field"] == "files[0]"
    assert "replace=true" in refused["description"]
    assert (versions(system, "merlin.txt"), versions(system, "hobby.txt")) == (1, 1)
