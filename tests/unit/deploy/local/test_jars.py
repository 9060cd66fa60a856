"""Only jars with the locked hashes reach the class path, and finished downloads are kept."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.local.errors import JarRefusedError, JarUnavailableError, LocalStackError
from deploy.local.jars import Jar, JarCache, default_cache, lock_digest, read_lock
from deploy.local.progress import Silent


class Source:
    """Serves bytes by coordinate; a jar in `broken` fails as many times as stated there."""

    def __init__(self, files: dict[str, bytes], broken: dict[str, int] | None = None) -> None:
        self.files = files
        self.broken = dict(broken or {})
        self.requested: list[str] = []

    def __call__(self, jar: Jar) -> Iterator[bytes]:
        self.requested.append(jar.coordinate)
        content = self.files[jar.coordinate]
        yield content[:2]
        if self.broken.get(jar.coordinate, 0) > 0:
            self.broken[jar.coordinate] -= 1
            raise ConnectionError("cut off")
        yield content[2:]


def locked_jar(coordinate: str, content: bytes) -> Jar:
    return Jar(coordinate, hashlib.sha256(content).hexdigest(), len(content))


FILES = {"org.a:one:1": b"first", "org.a:two:2:linux": b"second"}
JARS = tuple(locked_jar(coordinate, content) for coordinate, content in FILES.items())


async def test_missing_jars_are_fetched_and_returned_in_the_order_of_the_lock(
    tmp_path: Path,
) -> None:
    paths = await JarCache(tmp_path / "jars", JARS, fetch=Source(FILES)).ensure(Silent())
    assert [path.name for path in paths] == ["one-1.jar", "two-2-linux.jar"]
    assert [path.read_bytes() for path in paths] == [b"first", b"second"]
    assert sorted(path.name for path in (tmp_path / "jars").iterdir()) == [
        "one-1.jar",
        "two-2-linux.jar",
    ]


async def test_a_fetched_jar_with_a_wrong_hash_is_rejected_and_not_kept(tmp_path: Path) -> None:
    source = Source({**FILES, "org.a:one:1": b"forged"})
    with pytest.raises(JarRefusedError, match=r"org\.a:one:1 was refused"):
        await JarCache(tmp_path, JARS, fetch=source).ensure(Silent())
    assert not (tmp_path / "one-1.jar").exists()


async def test_a_cached_jar_that_has_changed_is_rejected(tmp_path: Path) -> None:
    await JarCache(tmp_path, JARS, fetch=Source(FILES)).ensure(Silent())
    (tmp_path / "one-1.jar").write_bytes(b"forged")
    with pytest.raises(JarRefusedError, match=r"one-1\.jar"):
        await JarCache(tmp_path, JARS, fetch=Source(FILES)).ensure(Silent())


async def test_a_broken_transfer_is_retried(tmp_path: Path) -> None:
    source = Source(FILES, {"org.a:one:1": 2})
    paths = await JarCache(tmp_path, JARS, fetch=source, retry_delay=0.0).ensure(Silent())
    assert paths[0].read_bytes() == b"first"
    assert source.requested.count("org.a:one:1") == 3


async def test_after_the_last_attempt_the_next_run_fetches_only_the_rest(tmp_path: Path) -> None:
    source = Source(FILES, {"org.a:two:2:linux": 4})
    # Sequentially, so that the first jar is complete before the second one fails.
    await JarCache(tmp_path, JARS[:1], fetch=source).ensure(Silent())
    with pytest.raises(JarUnavailableError, match="what has arrived is kept"):
        await JarCache(tmp_path, JARS, fetch=source, retry_delay=0.0).ensure(Silent())
    source.requested.clear()
    await JarCache(tmp_path, JARS, fetch=source).ensure(Silent())
    assert source.requested == ["org.a:two:2:linux"]


async def test_progress_ends_at_the_locked_total(tmp_path: Path) -> None:
    amounts: list[tuple[int, int]] = []

    class Recording(Silent):
        def amount(self, task: str, done: int, total: int) -> None:
            amounts.append((done, total))

    await JarCache(tmp_path, JARS, fetch=Source(FILES)).ensure(Recording())
    assert amounts[-1] == (11, 11)


def test_the_committed_lock_pins_every_jar_by_hash_and_size() -> None:
    jars = read_lock()
    assert "org.neo4j:neo4j:2026.09.0" in {jar.coordinate for jar in jars}
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in jars)


def test_a_lock_with_two_jars_of_the_same_file_name_is_rejected(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    lock.write_text("# comment\norg.a:one:1 00 1\norg.b:one:1 11 1\n")
    with pytest.raises(LocalStackError, match="share a file"):
        read_lock(lock)


def test_the_digest_identifies_the_set_of_jars() -> None:
    assert lock_digest(JARS) == lock_digest(JARS)
    assert lock_digest(JARS) != lock_digest(JARS[:1])


def test_the_cache_is_in_the_users_cache_folder_unless_the_environment_overrides_it(
    tmp_path: Path,
) -> None:
    assert default_cache({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "braid"
    assert default_cache({}) == Path.home() / ".cache" / "braid"
