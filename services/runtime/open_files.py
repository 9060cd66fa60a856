"""The limit on open files and connections of a process."""

from __future__ import annotations

import resource

_ENOUGH = 65_536


def raise_open_files_limit() -> int:
    """Raises the soft limit to the hard one; returns the resulting limit. Many systems start with 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(_ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _ENOUGH
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted
