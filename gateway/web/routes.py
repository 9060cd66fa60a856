"""Serves the explorer page at `/` and its parts below `/assets`, with a strict Content-Security-Policy.

The page needs no credential, because it contains no data. It calls `/api` with the key that its user enters.
"""

from __future__ import annotations

import mimetypes
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    # The browser revalidates each file, so that a new version takes effect immediately.
    "cache-control": "no-cache",
}


class Asset:
    """A file of the page, read once."""

    def __init__(self, file: Traversable) -> None:
        self.content = file.read_bytes()
        self.etag = f'"{sha256(self.content).hexdigest()[:32]}"'
        kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
        self.media_type = "text/javascript" if file.name.endswith(".js") else kind


def load_assets() -> dict[str, Asset]:
    """Returns every file of the page by its path below `static`."""
    return dict(_walk(files("gateway.web") / "static", ""))


def _walk(folder: Traversable, prefix: str) -> list[tuple[str, Asset]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir():
            found += _walk(entry, f"{prefix}{entry.name}/")
        else:
            found.append((prefix + entry.name, Asset(entry)))
    return found


def page_router(assets: dict[str, Asset]) -> APIRouter:
    """Returns the routes of the page over loaded `assets`."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def page(request: Request) -> Response:
        return _answer(request, assets["index.html"])

    @router.get("/assets/{path:path}")
    async def asset(path: str, request: Request) -> Response:
        if path not in assets:
            raise HTTPException(404, "The page has no such file.")
        return _answer(request, assets[path])

    return router


def _answer(request: Request, asset: Asset) -> Response:
    headers = {**_HEADERS, "etag": asset.etag}
    if asset.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
