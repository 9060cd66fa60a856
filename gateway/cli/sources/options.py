"""The options that say what a source is."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.sources.spec import KINDS

Name = Annotated[
    str | None,
    typer.Option(
        help="Its name, with which its documents' ids begin. Default: the folder's, the repository's or the site's."
    ),
]


def _known_kind(value: str | None) -> str | None:
    if value is not None and value not in KINDS:
        raise typer.BadParameter(f"is none of {', '.join(KINDS)}")
    return value


Kind = Annotated[
    str | None,
    typer.Option(
        callback=_known_kind, help=f"{', '.join(KINDS)}. Default: by what is at the place."
    ),
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        help='Read only files that match this line of a .gitignore. Repeatable; it is kept, and "" removes it.'
    ),
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(
        help="Leave out files that match this line of a .gitignore; such files in a folder count too. Like --include."
    ),
]
EveryMinutes = Annotated[
    int | None,
    typer.Option(min=0, help="Let `braid sync --watch` run it so often. 0: only when asked to."),
]
CredentialVariable = Annotated[
    str | None,
    typer.Option(
        help="Environment variable with the value of the header Authorization for a site or feed."
    ),
]
History = Annotated[
    bool | None,
    typer.Option(
        "--history/--no-history",
        help="Read all earlier versions of a repository's files too, each valid since its commit.",
        show_default=False,
    ),
]
