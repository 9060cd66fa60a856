"""`braid space export`, `import` and `verify`."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli import output
from gateway.cli.errors import CliError
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import AsJson
from gateway.cli.space_archive.archive import (
    ArchiveWriter,
    Kind,
    Manifest,
    check_parts,
    lines_of,
    read_manifest,
)
from services.runtime.version import VERSION

if TYPE_CHECKING:
    from gateway.cli.api import Api
    from gateway.cli.session import Session

_WRONG_STATE = "WRONG_STATE"
# How often an export begins again because the space has changed.
_ATTEMPTS = 3
_PAGE_ROWS = 500
_PAGE_BYTES = 1024 * 1024
_NEO4J_SPACE = ("neo4j", "space")

Target = Annotated[Path, typer.Argument(metavar="FOLDER", help="A new or empty folder.")]
Archive = Annotated[Path, typer.Argument(metavar="FOLDER", help="The archive.")]


def export(context: typer.Context, target: Target, *, as_json: AsJson = False) -> None:
    """Write everything that the space contains to a folder; the space stays online.

    An interrupted export goes on when the command is repeated, unless the space has changed: then it begins again.
    """
    session: Session = context.obj
    with session.api() as api, closing(ArchiveWriter.begin(target)) as writer:
        for left in reversed(range(_ATTEMPTS)):
            try:
                _export(api, writer)
                break
            except CliError as error:
                # A space with unfinished jobs is of a wrong state as well; nothing has been written then.
                if error.reason != _WRONG_STATE or not left or not writer.parts:
                    raise
                writer.begin_again()
        manifest = writer.finish(VERSION, datetime.now(UTC).isoformat(timespec="seconds"))
    _show(session, manifest, {}, as_json=as_json)


def import_(context: typer.Context, archive: Archive, *, as_json: AsJson = False) -> None:
    """Import an archive into the empty space of the same id; every file is checked first.

    An interrupted import goes on when the command is repeated. Until it has ended, the space takes no uploads.
    """
    session: Session = context.obj
    manifest = read_manifest(archive)
    check_parts(archive, manifest)
    with session.api(changes=True) as api:
        begun = api.post(
            "/api/space/import",
            {"exported_space": manifest.space, "archive_id": manifest.archive_id},
        )
        for number, (kind, rows) in enumerate(_pages(archive, manifest), 1):
            if number <= begun["stored_page_count"]:
                continue
            body = {
                "import_id": begun["import_id"],
                "number": number,
                "store": kind.store,
                "partition": kind.partition,
                "kind": kind.kind,
                "rows": rows,
            }
            api.post("/api/space/import/pages", body)
        api.post("/api/space/import/finish", {"import_id": begun["import_id"]})
    _show(session, manifest, {}, as_json=as_json)


def verify(
    context: typer.Context,
    archive: Archive,
    *,
    offline: Annotated[
        bool, typer.Option("--offline", help="Check the files only, not what the space contains.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check an archive's files, and compare it with what the space contains now. Exit code 1 for a difference."""
    session: Session = context.obj
    manifest = read_manifest(archive)
    archived = check_parts(archive, manifest)
    different: list[dict[str, Any]] = []
    if not offline:
        with session.api() as api:
            stored = _digests(api, manifest.space)
        different = [
            kind._asdict()
            for kind in sorted(archived.keys() | stored.keys())
            # The revisions of a space never go back.
            if archived.get(kind) != stored.get(kind) and (kind.store, kind.kind) != _NEO4J_SPACE
        ]
    compared = {} if offline else {"identical": not different, "different": different}
    _show(session, manifest, compared, as_json=as_json)
    if different:
        raise typer.Exit(ExitCode.FAILED)


def _export(api: Api, writer: ArchiveWriter) -> None:
    token = writer.token
    while True:
        page = _page(api, token)
        kind = Kind(page["store"], page["partition"], page["kind"])
        following = page["next_cursor"] or ""
        writer.add(page["space"], kind, page["rows"], token, following)
        if not following:
            return
        token = following


def _page(api: Api, token: str) -> Any:
    return api.get("/api/space/export", cursor=token or None)


def _digests(api: Api, space: str) -> dict[Kind, str]:
    """Returns the SHA-256 of the rows of each kind that the space contains."""
    digests: dict[Kind, Any] = {}
    token = ""
    while True:
        page = _page(api, token)
        if page["space"] != space:
            raise CliError(f"the archive is of space {space}, and the key works in {page['space']}")
        kind = Kind(page["store"], page["partition"], page["kind"])
        if page["rows"]:
            digest = digests.setdefault(kind, hashlib.sha256())
            for row in page["rows"]:
                digest.update(row.encode() + b"\n")
        token = page["next_cursor"] or ""
        if not token:
            return {kind: digest.hexdigest() for kind, digest in digests.items()}


def _pages(folder: Path, manifest: Manifest) -> Iterator[tuple[Kind, list[str]]]:
    """Yields the pages of an import: the same ones whenever it is repeated."""
    for part in manifest.parts:
        rows: list[str] = []
        size = 0
        for line in lines_of(folder, part):
            if rows and (len(rows) == _PAGE_ROWS or size + len(line) > _PAGE_BYTES):
                yield part.rows_kind, rows
                rows, size = [], 0
            rows.append(line.decode())
            size += len(line)
        yield part.rows_kind, rows


def _show(session: Session, manifest: Manifest, compared: dict[str, Any], *, as_json: bool) -> None:
    shown = {
        "space": manifest.space,
        "created": manifest.created,
        "braid": manifest.braid,
        "files": len(manifest.parts),
        "rows": manifest.rows,
    }
    if as_json:
        session.show_json(shown | compared)
        return
    if "identical" in compared:
        shown["identical"] = compared["identical"]
    output.show_pairs(session.out, shown)
    if compared.get("different"):
        columns = {"store": "store", "kind": "kind", "partition": "partition"}
        output.show_table(session.out, columns, compared["different"])
