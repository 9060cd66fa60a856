"""Keeps memory that is allocated repeatedly in the process."""

from __future__ import annotations

import ctypes

# The numbers of these options in `malloc.h`.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_PIECE = 32 * 2**20
_KEPT = 64 * 2**20


def keep_freed_memory() -> bool:
    """Lets the C library keep up to 64 MB of freed memory per arena, in pieces of up to 32 MB.

    Threads that allocate concurrently have an arena each. Returns False if the C library has no such settings, as
    outside of glibc.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(tune(_MMAP_THRESHOLD, _PIECE)) and bool(tune(_TRIM_THRESHOLD, _KEPT))
