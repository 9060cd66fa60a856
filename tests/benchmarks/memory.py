"""The memory of a process tree as proportional set sizes, so that the sum counts shared pages once."""

from __future__ import annotations

from collections import Counter

import psutil


def tree(root: int) -> list[psutil.Process]:
    """Returns the process `root` and its descendants; any of them may have ended since."""
    parent = psutil.Process(root)
    return [parent, *parent.children(recursive=True)]


def memory_by_program(root: int) -> dict[str, int]:
    """Returns the bytes by program of the process `root` and its descendants, without those that end meanwhile.

    Other failures to read a process are raised, because the sum would be incomplete.
    """
    sizes: Counter[str] = Counter()
    for process in tree(root):
        try:
            sizes[_name(process)] += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return dict(sizes)


def _name(process: psutil.Process) -> str:
    words = process.cmdline()
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1].rpartition(".")[2]
    return "neo4j" if process.name() == "java" else process.name()
