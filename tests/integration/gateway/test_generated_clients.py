"""Clients that public generators make from the OpenAPI document: no operation is left out of them, and a call works."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from braid.vector.v1 import search_pb2
from gateway.rest.app import create_app
from gateway.settings import GatewaySettings
from services.runtime.identity import Authenticator
from tests.integration.clients.conftest import Ended, install, prepare, run
from tests.integration.gateway.conftest import Served
from tests.stubs.vector_tier import chunk_hit

SOURCES = Path(__file__).parent / "generated_clients"
PACKAGE = "braid_rest"
# What pip says where no registry is reachable.
_UNREACHABLE = re.compile(r"No matching distribution|Temporary failure|[Cc]onnection")
FOUND = search_pb2.TextSearchResponse(hits=[chunk_hit("bell", content="The bell was recast.")])
PROGRAM = """
import os, sys
from braid_rest import Client
from braid_rest.api.search import search_text
from braid_rest.models import TextResults, TextSearchRequest

client = Client(base_url=os.environ["BRAID_URL"])
answer = search_text.sync(client=client, body=TextSearchRequest(query=sys.argv[1], limit=3))
assert isinstance(answer, TextResults), answer
for hit in answer.results:
    print(f"{hit.document_id}: {hit.content}")
"""
QUERY = "Was the bell recast?"
PRINTED = "doc-bell: The bell was recast.\n"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document; no tier has to run for it."""
    settings = GatewaySettings(_env_file=None)
    app = create_app(cast("Any", None), settings, Authenticator(None, allow_local=True))
    return app.openapi()


def copied(folder: Path, document: dict[str, Any]) -> Path:
    """A copy of the sources with the document."""
    place = folder / "client"
    shutil.copytree(SOURCES, place)
    (place / "openapi.json").write_text(json.dumps(document))
    return place


@pytest.fixture(scope="module")
def python_client(
    document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Ended]:
    """The folder with the client of openapi-python-client, and what the generator said."""
    place = copied(tmp_path_factory.mktemp("python"), document)
    made = prepare(place, sys.executable, "-m", "venv", "venv")
    assert made.code == 0, made.err
    pip = ("venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    installed = prepare(place, *pip, "--require-hashes", "-r", "requirements.txt")
    if installed.code and _UNREACHABLE.search(installed.err):
        pytest.skip("pip cannot install openapi-python-client here")
    assert installed.code == 0, installed.err
    generate = ("venv/bin/openapi-python-client", "generate", "--path", "openapi.json")
    said = prepare(
        place,
        *generate,
        "--meta",
        "none",
        "--output-path",
        PACKAGE,
        PATH=f"{place}/venv/bin:{os.environ['PATH']}",
    )
    return place, said


@pytest.fixture(scope="module")
def typescript_client(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a program that was compiled with the types of openapi-typescript."""
    if shutil.which("npm") is None:
        pytest.skip("openapi-typescript needs npm, which is not installed")
    place = copied(tmp_path_factory.mktemp("typescript"), document)
    install(place)
    built = prepare(place, "npm", "run", "build")
    assert built.code == 0, f"{built.out}\n{built.err}"
    return place


def test_openapi_python_client_generates_every_operation(
    python_client: tuple[Path, Ended], document: dict[str, Any]
) -> None:
    place, said = python_client
    assert said.code == 0, said.out + said.err
    warnings = re.findall(r"^WARNING (.*)\n\n?(.*)$", said.out + said.err, re.MULTILINE)
    # The other body of this operation, a list of facts as JSON, is generated.
    assert warnings == [
        ("parsing POST /api/facts within facts.", "Unsupported content type application/jsonl")
    ]
    operations = sum(len(methods) for methods in document["paths"].values())
    modules = [file for file in (place / PACKAGE / "api").glob("*/*.py") if file.stem != "__init__"]
    assert len(modules) == operations


async def test_the_python_client_makes_a_call(
    python_client: tuple[Path, Ended], served: Served
) -> None:
    served.script.answer("TextSearch", FOUND)
    place, _ = python_client
    command = ("venv/bin/python", "-c", PROGRAM, QUERY)
    asked = await asyncio.to_thread(run, place, *command, BRAID_URL=served.url)
    assert (asked.code, asked.out, asked.err) == (0, PRINTED, "")
    assert served.script.of("TextSearch")[0].message.query == QUERY


async def test_the_typescript_client_makes_a_call(typescript_client: Path, served: Served) -> None:
    served.script.answer("TextSearch", FOUND)
    command = ("npm", "--silent", "start", "--", QUERY)
    asked = await asyncio.to_thread(run, typescript_client, *command, BRAID_URL=served.url)
    assert (asked.code, asked.out, asked.err) == (0, PRINTED, "")
    assert served.script.of("TextSearch")[0].message.query == QUERY
