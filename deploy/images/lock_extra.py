"""Prints the part of requirements.lock that one extra needs: `python deploy/images/lock_extra.py vector`.

uv resolves the packages, constrained to the locked versions; versions and hashes come from the lock.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_NAME = re.compile(r"^([A-Za-z0-9._-]{1,200})(?:\[[^\]]{0,500}\])?==")


def locked_blocks(lock: str) -> dict[str, list[str]]:
    """Returns the lines of each package by name (several entries for several versions of Python)."""
    blocks: dict[str, list[str]] = {}
    name = ""
    for line in lock.splitlines():
        if found := _NAME.match(line):
            name = found[1].lower()
        if name and line.strip():
            blocks.setdefault(name, []).append(line)
    return blocks


def needed_names(extra: str) -> list[str]:
    """Returns the packages of an extra and its dependencies, as uv resolves them within the lock."""
    command = [
        *("uv", "pip", "compile", "--quiet", "pyproject.toml", "--extra", extra, "--universal"),
        *("--constraint", "requirements.lock", "--no-annotate", "--no-header"),
    ]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S603 - our own words
    names = (_NAME.match(line) for line in answer.stdout.splitlines())
    return list(dict.fromkeys(found[1].lower() for found in names if found))


def main(extra: str) -> None:
    """Prints the extra's lock. Raises KeyError for a package that is not locked."""
    blocks = locked_blocks((ROOT / "requirements.lock").read_text())
    for name in needed_names(extra):
        sys.stdout.write("\n".join(blocks[name]) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
