"""Which files of a folder are left out: by the `.gitignore` files in it, and by patterns of the same syntax."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec

from gateway.cli.errors import CliError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_NAME = ".gitignore"


class IgnoreRules:
    """The rules of one folder; files of folders that are left out are not looked at."""

    def __init__(self, root: Path, patterns: Sequence[str] = ()) -> None:
        """`patterns` are relative to the root, and outweigh the files. Raises CliError for one that is none."""
        self._root = root
        try:
            self._given = GitIgnoreSpec.from_lines(patterns)
        except ValueError as error:
            raise CliError(f"exclude: {error}", reason="INVALID_FIELD") from None
        self._found: dict[Path, GitIgnoreSpec] = {}

    def ignores(self, path: Path, *, is_folder: bool) -> bool:
        """Whether a file or folder below the root is left out: the last rule of the deepest file counts."""
        outcome = False
        for folder, spec in self._specs(path):
            name = path.relative_to(folder).as_posix() + ("/" if is_folder else "")
            found = spec.check_file(name).include
            outcome = outcome if found is None else found
        return outcome

    def _specs(self, path: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
        """Yields the rules for a path: those of the folders above it, the root's first, then the given ones."""
        above = [one for one in path.parents if one == self._root or self._root in one.parents]
        for folder in reversed(above):
            if folder not in self._found:
                self._found[folder] = _read(folder / _NAME)
            yield folder, self._found[folder]
        yield self._root, self._given


def _read(file: Path) -> GitIgnoreSpec:
    """Returns the rules of a file; lines that are no pattern are ignored, as Git does."""
    try:
        lines = file.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
