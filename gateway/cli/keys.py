"""`braid keys`: create, list, rotate and revoke the API keys of a key file. No gateway is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gateway.cli.errors import CliError
from gateway.cli.options import AsJson, end_of, span_of
from gateway.cli.output import show_pairs, show_table

if TYPE_CHECKING:
    from gateway.cli.session import Session
    from services.runtime.security.api_keys import KeyRecord
    from services.runtime.security.key_file import KeyEditor

keys = typer.Typer(help="Create, list, rotate and revoke API keys.", no_args_is_help=True)

_FILE_SETTING = "BRAID_API_KEYS_FILE"
_LOCAL_FILE = "api_keys.json"
_COLUMNS = {name: name for name in ("id", "state", "space", "user", "scopes", "expires", "created")}


class Scope(StrEnum):
    """What a key may do."""

    read = "read"
    write = "write"
    admin = "admin"
    delegate = "delegate"
    operator = "operator"


KeyId = Annotated[str, typer.Argument(metavar="ID", help="The key's id.")]
KeyFileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        help=f"The key file. Default: {_FILE_SETTING}, else that of this folder's local stack.",
    ),
]


@keys.command()
def create(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    key_id: KeyId,
    space: Annotated[str | None, typer.Option(help="The space that the key works in.")] = None,
    user: Annotated[str | None, typer.Option(help="The user that the key acts for.")] = None,
    scope: Annotated[
        list[Scope] | None, typer.Option(help="May be given again. Default: read.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it ends: a span such as 90d, or a day. Default: never.")
    ] = None,
    file: KeyFileOption = None,
    as_json: AsJson = False,
) -> None:
    """Create a key and print it, once. Services accept it within a second."""
    session: Session = context.obj
    with _Editing(session, file) as editor:
        record, secret = editor.create(
            key_id=key_id,
            space=space,
            user=user,
            scopes=[one.value for one in scope or [Scope.read]],
            expires_at=end_of(expires, "expires"),
        )
    _show_secret(session, record, secret, as_json)


@keys.command("list")
def list_keys(context: typer.Context, file: KeyFileOption = None, as_json: AsJson = False) -> None:
    """List keys with their spaces, users, scopes and states; never the keys themselves."""
    session: Session = context.obj
    with _Editing(session, file) as editor:
        rows = [_row(record) for record in editor.records()]
    if as_json:
        session.show_json({"keys": rows})
    elif rows:
        for row in rows:
            row["scopes"] = " ".join(row["scopes"])
        show_table(session.out, _COLUMNS, rows)
    else:
        session.out.print("There are no keys.")


@keys.command()
def rotate(
    context: typer.Context,
    key_id: KeyId,
    grace: Annotated[
        str, typer.Option(help="How long the old key stays valid: a span such as 1h or 7d.")
    ] = "0s",
    file: KeyFileOption = None,
    as_json: AsJson = False,
) -> None:
    """Replace a key by a new one with the same rights and print it, once."""
    session: Session = context.obj
    with _Editing(session, file) as editor:
        record, secret = editor.rotate(key_id, grace=span_of(grace, "grace"))
    _show_secret(session, record, secret, as_json)


@keys.command()
def revoke(
    context: typer.Context, key_id: KeyId, file: KeyFileOption = None, as_json: AsJson = False
) -> None:
    """End a key for good. Services refuse it within a second."""
    session: Session = context.obj
    with _Editing(session, file) as editor:
        row = _row(editor.revoke(key_id))
    if as_json:
        session.show_json(row)
    else:
        session.out.print(f"{row['id']} is revoked.", markup=False)


class _Editing:
    """Edits the key file within a block; converts errors of the file to the command's error."""

    def __init__(self, session: Session, file: Path | None) -> None:
        self._path = file or _default_file(session)

    def __enter__(self) -> KeyEditor:
        # Imported here, because only these commands need it and `--help` must be fast.
        from services.runtime.security.key_file import KeyEditor  # noqa: PLC0415

        return KeyEditor(self._path)

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        from services.runtime.security.api_keys import KeyFileError  # noqa: PLC0415
        from services.runtime.security.key_file import (  # noqa: PLC0415
            KeyChangeError,
            UnknownKeyError,
        )

        if isinstance(error, KeyFileError):
            raise CliError(f"{self._path}: {error}", reason="INVALID_FIELD") from None
        if isinstance(error, UnknownKeyError):
            raise CliError(f"{error} in {self._path}", reason="NOT_FOUND") from None
        if isinstance(error, KeyChangeError):
            fields = ((error.field, str(error)),) if error.field else ()
            detail = f"{error.field}: {error}" if error.field else str(error)
            raise CliError(detail, reason="INVALID_FIELD", fields=fields) from None


def _default_file(session: Session) -> Path:
    named = session.environment.get(_FILE_SETTING)
    if named:
        return Path(named)
    local = session.data / _LOCAL_FILE
    if local.exists():
        return local
    raise CliError(f"name the key file: --file, or {_FILE_SETTING}", reason="USAGE")


def _show_secret(session: Session, record: KeyRecord, secret: str, as_json: bool) -> None:
    row = _row(record)
    if as_json:
        session.show_json(row | {"key": secret})
        return
    shown = {name: value for name, value in row.items() if value not in (None, "")}
    show_pairs(session.out, shown | {"scopes": " ".join(row["scopes"])})
    session.out.print(f"key: {secret}", markup=False, soft_wrap=True)
    session.err.print("The key is shown this once: only its hash is stored.")


def _row(record: KeyRecord) -> dict[str, Any]:
    return {
        "id": record.id,
        "state": record.state(datetime.now(UTC)),
        "space": record.space,
        "user": record.user,
        "scopes": sorted(record.scopes),
        "expires": _text(record.expires_at),
        "created": _text(record.created_at),
    }


def _text(instant: datetime | None) -> str | None:
    return instant.astimezone(UTC).isoformat(timespec="seconds") if instant else None
