"""Memory of a tree of processes as proportional set sizes: shared pages count once in the sum."""

from __future__ import annotations

from collections import Counter

import psutil


def tree(root: int) -> list[psutil.Process]:
    """The process `root`, its children and theirs; any of them may have ended since."""
    parent = psutil.Process(root)
    return [parent, *parent.children(recursive=True)]


def held_by_tree(root: int) -> dict[str, int]:
    """Bytes by program for the process `root`, its children and theirs; processes that end meanwhile are left out.

    PermissionError-like failures of the platform are raised: a sum with holes is no figure.
    """
    held: Counter[str] = Counter()
    for process in tree(root):
        try:
            held[_name(process)] += process.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return dict(held)


def _name(process: psutil.Process) -> str:
    words = process.cmdline()
    if "-m" in words[:-1]:
        return words[words.index("-m") + 1].rpartition(".")[2]
    return "neo4j" if process.name() == "java" else process.name()
