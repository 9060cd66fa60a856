"""Renews the jar lock: resolves Neo4j's coordinate and hashes every file that it needs."""

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from deploy.local.jars import LOCK, PARALLEL

NEO4J = "org.neo4j:neo4j:2026.09.0"
HEADER = """\
# Neo4j Community and all that it needs, as `coordinate sha256 size`.
# Renew with: python -m deploy.local lock
"""


def renew(coordinate: str = NEO4J, lock: Path = LOCK) -> int:
    """Resolve the coordinate, write the lock, and return the number of jars. Takes minutes."""
    from jgo.maven import MavenContext  # noqa: PLC0415 (only this command resolves)

    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(repo_cache=Path(folder), timeout=60)
        root = context.create_dependency(coordinate)
        inputs, needed = context.resolver.resolve([root])
        artifacts = {dependency.artifact.key: dependency.artifact for dependency in inputs + needed}
        with ThreadPoolExecutor(PARALLEL) as pool:
            lines = sorted(pool.map(_line, artifacts.values()))
    lock.write_text(HEADER + "\n".join(lines) + "\n")
    return len(lines)


def _line(artifact: Any) -> str:
    path: Path = artifact.resolve()
    coordinate = ":".join(
        part
        for part in (
            artifact.groupId,
            artifact.artifactId,
            artifact.version,
            artifact.classifier,
        )
        if part
    )
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return f"{coordinate} {sha256} {path.stat().st_size}"
