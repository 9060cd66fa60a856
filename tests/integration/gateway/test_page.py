"""The explorer page as the gateway serves it, and passages by id."""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import pytest

from braid.vector.v1 import chunks_pb2, search_pb2
from gateway.web.routes import load_assets
from tests.integration.gateway.conftest import Served

CHUNK = "0d1f5c1e-6d0c-5a52-9f43-0b4d2ad5a3a1"


async def test_the_page_runs_only_its_own_scripts(served: Served) -> None:
    answer = await served.http.get("/")
    assert answer.status_code == 200
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "<script>" not in answer.text
    assert not re.search(r"\son\w+=", answer.text)


async def test_files_that_the_page_references_are_served_and_others_are_not(served: Served) -> None:
    page = (await served.http.get("/")).text
    for path in re.findall(r"/assets/[^\"']+", page):
        assert (await served.http.get(path)).status_code == 200, path
    assert (await served.http.get("/assets/js/other.js")).status_code == 404
    assert (await served.http.get("/assets/../routes.py")).status_code == 404


async def test_an_unchanged_file_is_not_sent_again(served: Served) -> None:
    first = await served.http.get("/assets/page.css")
    again = await served.http.get(
        "/assets/page.css", headers={"if-none-match": first.headers["etag"]}
    )
    assert again.status_code == 304
    assert again.content == b""


def test_vendored_libraries_match_their_checksums() -> None:
    folder = files("gateway.web") / "static" / "vendor"
    listed = (folder / "SHA256SUMS").read_text().split("\n")
    pairs = [line.split() for line in listed if line]
    assert len(pairs) == 2
    for digest, name in pairs:
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_the_page_is_smaller_than_600_kib() -> None:
    assert sum(len(asset.content) for asset in load_assets().values()) < 600 * 1024


async def test_passages_are_read_by_id(served: Served) -> None:
    chunk = chunks_pb2.Chunk(
        id=CHUNK, document_id="a.md", content="A kiln.", start_char=5, end_char=12
    )
    served.script.answer("GetChunks", search_pb2.GetChunksResponse(chunks=[chunk]))
    answer = await served.http.get("/api/chunks", params={"id": CHUNK})
    assert answer.status_code == 200
    (found,) = answer.json()["chunks"]
    assert (found["id"], found["content"], found["start_char"]) == (CHUNK, "A kiln.", 5)


@pytest.mark.parametrize("query", ["", "?id=not-a-uuid"])
async def test_passages_need_ids(served: Served, query: str) -> None:
    answer = await served.http.get(f"/api/chunks{query}")
    assert answer.status_code == 422
    assert answer.json()["fields"][0]["field"].startswith("id")
