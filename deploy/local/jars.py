"""Neo4j's jars: locked by coordinates and SHA-256, downloaded once into a shared cache.

The lock contains no addresses: the Maven layer of `jgo` has the address of its repository.
"""

import asyncio
import hashlib
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from deploy.local.errors import JarRefusedError, JarUnavailableError, LocalStackError
from deploy.local.progress import StartProgress
from services.runtime.user_folders import cache_folder

LOCK = Path(__file__).with_name("neo4j.lock")
PARALLEL = 12
ATTEMPTS = 4


@dataclass(frozen=True)
class Jar:
    """One locked file: Maven coordinate, SHA-256 (hex) and size in bytes."""

    coordinate: str
    sha256: str
    size: int

    @property
    def filename(self) -> str:
        """The file's name in the cache; the lock keeps these unique."""
        _, artifact, version, *classifier = self.coordinate.split(":")
        return "-".join([artifact, version, *classifier]) + ".jar"


# Yields the bytes of a jar; raises OSError if they are unavailable.
Fetch = Callable[[Jar], Iterator[bytes]]


def default_cache(environment: Mapping[str, str]) -> Path:
    """Return the cache that all of a user's stacks share: `$XDG_CACHE_HOME/braid`, or `~/.cache/braid`."""
    return cache_folder(environment) or Path.home() / ".cache" / "braid"


def read_lock(path: Path = LOCK) -> tuple[Jar, ...]:
    """Read `coordinate sha256 size` lines; lines starting with `#` are comments."""
    lines = (line.split() for line in path.read_text().splitlines() if line[:1] not in ("", "#"))
    jars = tuple(Jar(coordinate, sha256, int(size)) for coordinate, sha256, size in lines)
    if len({jar.filename for jar in jars}) != len(jars):
        raise LocalStackError(f"{path} names two jars that would share a file")
    return jars


def lock_digest(jars: Sequence[Jar]) -> str:
    """Return a short digest of these jars."""
    return hashlib.sha256("".join(jar.sha256 for jar in jars).encode()).hexdigest()[:16]


def from_repository(jar: Jar) -> Iterator[bytes]:
    """Stream a jar from jgo's default Maven repository."""
    from jgo.maven import MavenContext  # noqa: PLC0415 (only needed when something is missing)
    from jgo.util import http  # noqa: PLC0415

    context = MavenContext()
    group, name, version, *classifier = jar.coordinate.split(":")
    artifact = context.project(group, name).at_version(version).artifact(*classifier)
    repository = next(iter(context.remote_repos.values()))
    path = (artifact.component.path_prefix / artifact.filename).as_posix()
    with http.get(f"{repository}/{path}", stream=True, timeout=60) as response:
        response.raise_for_status()
        yield from response.iter_content(chunk_size=1 << 16)


class JarCache:
    """A folder of verified jars; several stacks may share it and fill it concurrently."""

    def __init__(
        self,
        folder: Path,
        jars: Sequence[Jar],
        *,
        fetch: Fetch = from_repository,
        retry_delay: float = 1.0,
    ) -> None:
        self.folder = folder
        self.jars = tuple(jars)
        self._fetch = fetch
        self._retry_delay = retry_delay
        self._verified = False

    def paths(self) -> list[Path]:
        """The class path, in the order of the lock."""
        return [self.folder / jar.filename for jar in self.jars]

    async def ensure(self, progress: StartProgress) -> list[Path]:
        """Verify existing jars, download missing ones, and return the class path.

        Raises:
            JarRefusedError: a file's SHA-256 is not the locked one; the file is discarded.
            JarUnavailableError: a file could not be downloaded.
        """
        if not self._verified:
            stopped = threading.Event()
            try:
                await asyncio.to_thread(self._ensure, progress, stopped)
            finally:
                stopped.set()  # Ctrl-C cancels the wait; then the threads must end too
            self._verified = True
        return self.paths()

    def _ensure(self, progress: StartProgress, stopped: threading.Event) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(PARALLEL) as pool:
            present = list(pool.map(self._is_present, self.jars))
            missing = [jar for jar, there in zip(self.jars, present, strict=True) if not there]
            if missing:
                _Download(
                    self,
                    missing,
                    self._fetch,
                    retry_delay=self._retry_delay,
                    progress=progress,
                    stopped=stopped,
                ).run(pool)

    def _is_present(self, jar: Jar) -> bool:
        path = self.folder / jar.filename
        if not path.exists():
            return False
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != jar.sha256:
            raise JarRefusedError(f"{path} ({jar.coordinate})", jar.sha256, found)
        return True


class _Download:
    """One download of jars with a thread pool; the first failure ends the others."""

    def __init__(
        self,
        cache: JarCache,
        jars: Sequence[Jar],
        fetch: Fetch,
        *,
        retry_delay: float,
        progress: StartProgress,
        stopped: threading.Event,
    ) -> None:
        self._cache = cache
        self._jars = jars
        self._fetch = fetch
        self._retry_delay = retry_delay
        self._progress = progress
        self._total = sum(jar.size for jar in jars)
        self._done = 0
        self._lock = threading.Lock()
        self._failed = stopped

    def run(self, pool: ThreadPoolExecutor) -> None:
        """Download all jars, largest first, so that the last ones to finish are small."""
        largest_first = sorted(self._jars, key=lambda jar: -jar.size)
        for result in [pool.submit(self._get, jar) for jar in largest_first]:
            result.result()

    def _get(self, jar: Jar) -> None:
        if self._failed.is_set():
            return
        try:
            self._get_with_retries(jar)
        except BaseException:
            self._failed.set()
            raise

    def _get_with_retries(self, jar: Jar) -> None:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._store(jar)
            except OSError as error:  # exceptions of requests are OSErrors too
                if attempt == ATTEMPTS:
                    raise JarUnavailableError(jar.coordinate, type(error).__name__) from error
                if self._failed.wait(self._retry_delay * 2 ** (attempt - 1)):
                    return None
        return None

    def _store(self, jar: Jar) -> None:
        """Write a temporary file and rename it only if it has the locked hash."""
        digest = hashlib.sha256()
        with tempfile.TemporaryDirectory(dir=self._cache.folder, prefix=".part-") as folder:
            part = Path(folder) / jar.filename
            with part.open("wb") as file:
                for block in self._fetch(jar):
                    digest.update(block)
                    file.write(block)
                    if self._failed.is_set():
                        return
            if digest.hexdigest() != jar.sha256:
                raise JarRefusedError(jar.coordinate, jar.sha256, digest.hexdigest())
            part.replace(self._cache.folder / jar.filename)
        self._report_progress(jar.size)

    def _report_progress(self, size: int) -> None:
        with self._lock:
            self._done += size
            self._progress.amount("Neo4j (once)", self._done, self._total)


def neo4j_jars(cache: Path) -> JarCache:
    """Return the cache of the committed lock's jars in a user's cache folder."""
    return JarCache(cache / "jars", read_lock())
