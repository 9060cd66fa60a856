"""Memory that is needed again and again stays with the process."""

from __future__ import annotations

import ctypes

# As `malloc.h` numbers them.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_PIECE = 32 * 2**20
_KEPT = 64 * 2**20


def keep_freed_memory() -> bool:
    """Lets the C library keep some 64 MB that were given back, for pieces of up to 32 MB, in each of its arenas: of
    them threads that allocate at the same time have one each. False where it has no such settings, as outside of glibc.
    """
    try:
        tune = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    return bool(tune(_MMAP_THRESHOLD, _PIECE)) and bool(tune(_TRIM_THRESHOLD, _KEPT))
