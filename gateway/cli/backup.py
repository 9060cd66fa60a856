"""`braid backup` and `braid restore`: the data folder of a stopped installation as one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli.errors import CliError
from gateway.cli.options import AsJson
from gateway.cli.output import show_pairs

if TYPE_CHECKING:
    from deploy.local.backup import Manifest
    from gateway.cli.session import Session

DataFolder = Annotated[
    Path | None, typer.Option("--data", help="Data folder. Default: BRAID_DATA or .braid.")
]


def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The file to write, such as braid.tar.gz.")],
    *,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Write everything in the data folder to one file; `braid up` must not be running."""
    from deploy.local.backup import back_up  # noqa: PLC0415 - only these commands need it
    from deploy.local.errors import LocalStackError  # noqa: PLC0415

    session: Session = context.obj
    try:
        manifest = back_up(data or session.data, file)
    except LocalStackError as error:
        raise CliError(str(error)) from None
    _show(session, manifest, as_json=as_json)


def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A file that `braid backup` has written.")],
    *,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Restore a backup as a new data folder, for `braid up`; every file is checked first."""
    from deploy.local.backup import restore as restore_folder  # noqa: PLC0415
    from deploy.local.errors import LocalStackError  # noqa: PLC0415

    session: Session = context.obj
    try:
        manifest = restore_folder(file, data or session.data)
    except LocalStackError as error:
        raise CliError(str(error)) from None
    _show(session, manifest, as_json=as_json)


def _show(session: Session, manifest: Manifest, *, as_json: bool) -> None:
    shown = {
        "created": manifest.created,
        "files": len(manifest.files),
        "bytes": manifest.bytes,
        "braid": manifest.braid,
        "postgresql": manifest.postgresql,
        "neo4j": manifest.neo4j,
    }
    if as_json:
        session.show_json(shown)
    else:
        show_pairs(session.out, shown)
