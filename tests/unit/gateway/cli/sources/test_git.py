"""The files of a repository's branch are documents that hold since their last commit; earlier versions on request."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File, Problem, Skipped
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.connector import Choice, Stored
from gateway.cli.sources.git import BLOB, Repository

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Written:
    """A repository, with a commit each day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = BEGIN
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *words: str) -> None:
        """Runs git in it, without the user's configuration."""
        when = self.day.isoformat()
        names = dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Noor")
        mails = dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "noor@example.org")
        environment = {
            **names,
            **mails,
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": when,
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "PATH": "/usr/bin:/bin",
        }
        subprocess.run(
            ("git", *words), cwd=self.folder, env=environment, check=True, capture_output=True
        )

    def commit(self, *, days: int = 1, **files: str | None) -> None:
        """Commits files by their names without `.md`; None removes one."""
        for name, text in files.items():
            path = self.folder / f"{name.replace('__', '/')}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text) if text is not None else path.unlink()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "A change")
        self.day += timedelta(days=days)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Returns an empty repository."""
    return Written(tmp_path / "handbook")


def reader(
    written: Written, *, root: str = "", history: bool = False, exclude: Sequence[str] = ()
) -> Repository:
    """Returns a reader of the repository at `root`, by default the folder itself."""
    beside = written.folder.parent
    into = beside / "read"
    into.mkdir(exist_ok=True)
    choice = Choice((), exclude)
    clone = beside / "clones" / "one"
    return Repository(
        root or str(written.folder), "handbook/", choice, clone, into, history=history
    )


def read(connector: Repository, stored: Stored) -> list[tuple[str, str, str]]:
    """Reads what is not stored as it is; returns ids, days and texts."""
    compared = Comparison.of(connector.listing(stored), stored)
    return [
        (one.id.removeprefix("handbook/"), one.valid_at[:10], one.path.read_text())
        for file in compared.files
        if isinstance(file, File)
        for one in connector.fetched(file)
        if isinstance(one, File)
    ]


def stored_now(written: Written) -> dict[str, dict[str, str]]:
    """Returns the metadata of all documents of the repository as it is."""
    found = reader(written).listing({}).found
    return {one.id: dict(one.metadata) for one in found if isinstance(one, File)}


def test_a_file_holds_since_the_commit_that_changed_it_last(written: Written) -> None:
    written.commit(a="One.", b="Two.", sub__c="Three.")
    written.commit(a="One again.")
    written.commit(b=None)
    assert read(reader(written), {}) == [
        ("a.md", "2026-01-02", "One again."),
        ("sub/c.md", "2026-01-01", "Three."),
    ]


def test_what_was_never_committed_is_not_read(written: Written) -> None:
    written.commit(a="One.")
    (written.folder / "draft.md").write_text("Not yet.")
    assert [name for name, _, _ in read(reader(written), {})] == ["a.md"]


def test_with_history_each_version_is_read_with_its_own_day(written: Written) -> None:
    written.commit(a="One.", b="Other.")
    written.commit(a="Two.")
    written.commit(a="Three.")
    assert read(reader(written, history=True), {}) == [
        ("a.md", "2026-01-01", "One."),
        ("a.md", "2026-01-02", "Two."),
        ("a.md", "2026-01-03", "Three."),
        ("b.md", "2026-01-01", "Other."),
    ]
    stored = stored_now(written)
    written.commit(a="Four.")
    written.commit(a="Five.")
    assert read(reader(written, history=True), stored) == [
        ("a.md", "2026-01-04", "Four."),
        ("a.md", "2026-01-05", "Five."),
    ]


def test_of_the_versions_of_one_second_only_the_last_held(written: Written) -> None:
    written.commit(a="One.", days=0)
    written.commit(a="Two.")
    assert read(reader(written, history=True), {}) == [("a.md", "2026-01-01", "Two.")]


def test_a_merged_change_holds_since_the_merge(written: Written) -> None:
    written.commit(a="One.")
    written.git("checkout", "--quiet", "-b", "side")
    written.commit(a="Two.")
    written.git("checkout", "--quiet", "main")
    written.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side")
    assert read(reader(written), {}) == [("a.md", "2026-01-03", "Two.")]


def test_a_remote_repository_is_cloned_once_and_then_fetched(written: Written) -> None:
    written.commit(a="One.")
    address = written.folder.as_uri()
    assert read(reader(written, root=address), {}) == [("a.md", "2026-01-01", "One.")]
    stored = stored_now(written)
    written.commit(a="Two.")
    assert read(reader(written, root=address), stored) == [("a.md", "2026-01-02", "Two.")]


def test_another_branch_is_named_after_a_mark(written: Written) -> None:
    written.commit(a="One.")
    written.git("checkout", "--quiet", "-b", "next")
    written.commit(a="Two.")
    written.git("checkout", "--quiet", "main")
    root = f"{written.folder}#next"
    assert read(reader(written, root=root), {}) == [("a.md", "2026-01-02", "Two.")]
    with pytest.raises(CliError, match="has no branch absent"):
        reader(written, root=f"{written.folder}#absent").listing({})


def test_links_hidden_and_other_files_are_not_read(written: Written) -> None:
    (written.folder / "secret.md").symlink_to("/etc/hostname")
    (written.folder / "tool.zip").write_bytes(b"PK")
    (written.folder / ".github").mkdir()
    (written.folder / ".github" / "x.md").write_text("Hidden.")
    written.commit(a="One.", drafts__b="Two.")
    listing = reader(written, exclude=["drafts/"]).listing({})
    assert [one.id for one in listing.found if isinstance(one, File)] == ["handbook/a.md"]
    assert [one.type for one in listing.found if isinstance(one, Skipped)] == [".zip"]


def test_a_name_that_is_not_text_is_reported_and_not_gone(written: Written) -> None:
    (written.folder / "caf\udce9.md").write_text("x")
    written.commit(a="One.")
    listing = reader(written).listing({})
    assert [one.reason for one in listing.found if isinstance(one, Problem)] == [
        "its name is not UTF-8"
    ]
    stored = {"handbook/caf\ufffd.md": {BLOB: "x"}}
    assert Comparison.of(listing, stored).vanished == []


@pytest.mark.parametrize("root", ["--upload-pack=touch x", "ext::sh -c true", "absent.git"])
def test_what_is_no_repository_is_an_error(written: Written, root: str) -> None:
    with pytest.raises(CliError, match=r"absent|upload-pack|ext"):
        reader(written, root=root).listing({})


def test_a_repository_without_a_commit_is_an_error(written: Written) -> None:
    with pytest.raises(CliError, match=r"HEAD|revision"):
        reader(written).listing({})
