"""Freed memory is kept for reuse instead of being returned to the system each time."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

# Allocates 8 MB (2,048 pages) 50 times, and prints the number of page faults.
_PROGRAM = """
import ctypes, resource
from services.models.local.allocator import keep_freed_memory
assert keep_freed_memory()
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
def once():
    piece = libc.malloc(8 * 2**20)
    ctypes.memset(piece, 1, 8 * 2**20)
    libc.free(piece)
once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(50):
    once()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc has these settings")
def test_a_large_freed_block_is_reused_by_the_process() -> None:
    completed = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )
    assert int(completed.stdout) < 2_048
