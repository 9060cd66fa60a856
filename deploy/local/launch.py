"""Replaces itself with another program that ends with its parent and creates private files.

Run as a script, without any import of Braid: `launch.py PARENT SIGNAL USER program…`.
It replaces `preexec_fn`, which is unsafe in a process with threads. `USER` may be empty.
"""

import os
import sys

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    from typing import Any


def _become(user: str) -> None:
    import pwd  # noqa: PLC0415 (each start pays for what it imports)

    entry = pwd.getpwnam(user)
    os.initgroups(user, entry.pw_gid)
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


def _c_library() -> "Any":
    if sys.platform != "linux":
        return None  # on other systems the next start ends leftover processes
    import ctypes  # noqa: PLC0415

    return ctypes.CDLL(None, use_errno=True)


def _end_with_parent(library: "Any", parent: int, signal_number: int) -> None:
    if library is None:
        return
    set_parent_death_signal = 1
    library.prctl(set_parent_death_signal, signal_number, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone already")


def main(arguments: list[str]) -> None:
    """Drop privileges, tie this process to its parent, and become the program."""
    parent, signal_number, user, *program = arguments
    library = _c_library()  # first: the other user may not be able to read Python's modules
    if user:
        _become(user)
    _end_with_parent(library, int(parent), int(signal_number))  # a change of the user resets it
    os.umask(0o077)
    os.execv(program[0], program)  # noqa: S606 (this is what the script is for)


if __name__ == "__main__":
    main(sys.argv[1:])
