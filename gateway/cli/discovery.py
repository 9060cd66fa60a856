"""Finds the gateway: from BRAID_URL, this folder's stack, the last started stack, or at the default address."""

from __future__ import annotations

import json
import os
import re
import stat
from dataclasses import dataclass
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gateway.cli.errors import CliError
from services.runtime.user_folders import state_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


DEFAULT_DATA = ".braid"
DEFAULT_URL = "http://127.0.0.1:8080"
_REMEMBERED = 10
# Written by the local stack: the key that it issues to this command.
_KEYS = "keys.credentials.json"
_OWN_KEY = "cli"
_ADDRESS = re.compile(r"(?:(?P<v4>[0-9.]{7,15})|\[(?P<v6>[0-9a-f:]{2,39})\]):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Gateway:
    """A gateway's address, and how it was found: `BRAID_URL`, `folder`, `last started` or `default address`."""

    url: str
    found_by: str
    data: Path | None = None

    @property
    def is_named(self) -> bool:
        """Whether the environment or the current folder names the gateway, so that it need not be reported."""
        return self.found_by in {"BRAID_URL", "folder"}

    @property
    def takes_key_of_environment(self) -> bool:
        """Whether BRAID_API_KEY is for it: never for an address that a file names, such as one of a foreign folder."""
        return self.data is None

    def local_key(self) -> str:
        """Returns the key that the local stack issued to this command; empty without one."""
        if self.data is None:
            return ""
        try:
            key = json.loads(_read_own(self.data / _KEYS))[_OWN_KEY]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return key if isinstance(key, str) else ""

    def __str__(self) -> str:
        descriptions = {
            "BRAID_URL": "named by BRAID_URL",
            "folder": f"the stack under {self.data}",
            "last started": f"the last started stack, under {self.data}",
        }
        return f"{self.url} ({descriptions.get(self.found_by, 'the default address')})"


class StartedStacks:
    """The data folders of the stacks that this user started, the latest first, in a file of the user's state folder."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._path = state_folder(environment)

    def paths(self) -> list[Path]:
        """Returns the folders; empty if nothing can be read."""
        try:
            stored: Any = json.loads((self._path / "stacks.json").read_text()) if self._path else []
        except (OSError, ValueError):
            return []
        found = stored if isinstance(stored, list) else []
        return [Path(one) for one in found if isinstance(one, str) and Path(one).is_absolute()]

    def add(self, data: Path) -> None:
        """Records a stack as the last started one. Does nothing if the file cannot be written."""
        if self._path is None:
            return
        latest = data.absolute()
        folders = [latest, *(one for one in self.paths() if one != latest)][:_REMEMBERED]
        try:
            self._path.mkdir(parents=True, exist_ok=True)
            fresh = self._path / f"stacks.{latest.stat().st_ino}.new"
            fresh.write_text(json.dumps([str(one) for one in folders]))
            fresh.replace(self._path / "stacks.json")
        except OSError:
            return


class Probed(Enum):
    """What is at an address: a Braid gateway, something that accepts connections and is silent, or neither."""

    GATEWAY = "gateway"
    SILENT = "silent"
    ABSENT = "absent"


def find_gateway(environment: Mapping[str, str], probe: Callable[[str], Probed]) -> Gateway:
    """Returns the gateway to use. Raises CliError with the attempts if none is found.

    If BRAID_DATA is set, only the stack of that data folder is used.
    """
    if url := environment.get("BRAID_URL"):
        return Gateway(url, "BRAID_URL")
    folder = environment.get("BRAID_DATA") or DEFAULT_DATA
    here, named = Path(folder).absolute(), folder != DEFAULT_DATA
    url, problem = running_url(here)
    # A busy gateway is still the intended one.
    if url and (named or probe(url) is not Probed.ABSENT):
        return Gateway(url, "folder", here)
    tried = [f"{here}: {_not_running(url, problem)}"]
    if named:
        raise _nothing_found(tried)
    return _elsewhere(StartedStacks(environment).paths(), here, probe, tried)


def running_url(data: Path) -> tuple[str, str]:
    """Returns the address of the gateway whose stack uses a data folder, "" if none runs, and what is wrong there.

    A file that another user owns or may write, and an address on another machine, are not used.
    """
    try:
        address = json.loads(_read_own(data / "run.json"))["addresses"]["gateway"]
    except ForeignFileError as error:
        return "", str(error)
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
    if not _is_on_loopback(address):
        return "", "its run.json names an address that is not on loopback"
    return f"http://{address}", ""


class ForeignFileError(OSError):
    """A file belongs to another user, or other users may write it."""


def _read_own(path: Path) -> str:
    """Returns the text of a file of the current user. Raises ForeignFileError, or OSError if it cannot be read."""
    # A link could lead to a file that its owner did not mean for this, a pipe would block.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)) as file:
        found = os.fstat(file.fileno())
        if found.st_uid != os.geteuid():
            raise ForeignFileError(f"its {path.name} belongs to another user")
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise ForeignFileError(f"other users may write its {path.name}")
        if not stat.S_ISREG(found.st_mode):
            raise ForeignFileError(f"its {path.name} is not a file")
        return file.read()


def _is_on_loopback(address: object) -> bool:
    matched = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if matched is None:
        return False
    try:
        return ip_address(matched["v4"] or matched["v6"]).is_loopback
    except ValueError:
        return False


def _elsewhere(
    started: Iterable[Path], here: Path, probe: Callable[[str], Probed], tried: list[str]
) -> Gateway:
    for data in started:
        url, problem = ("", "") if data == here else running_url(data)
        if url and probe(url) is Probed.GATEWAY:
            return Gateway(url, "last started", data)
        if url or problem:
            tried.append(f"{data}: {_not_running(url, problem)}")
    if probe(DEFAULT_URL) is Probed.GATEWAY:
        return Gateway(DEFAULT_URL, "default address")
    raise _nothing_found([*tried, f"{DEFAULT_URL}: no Braid gateway answers"])


def _not_running(url: str, problem: str) -> str:
    return f"{url} does not answer" if url else problem or "no stack runs there"


def _nothing_found(tried: list[str]) -> CliError:
    return CliError(
        f"no running stack found; tried {'; '.join(tried)}. Start one with `braid up`, or set BRAID_URL",
        reason="UNREACHABLE",
    )
