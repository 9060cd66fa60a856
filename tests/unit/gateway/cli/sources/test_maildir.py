"""A message of a maildir is a document, whatever folder it is in and whatever marks it has."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from gateway.cli.errors import CliError
from gateway.cli.ingest.files import File
from gateway.cli.sources.comparison import Comparison
from gateway.cli.sources.connector import Choice
from gateway.cli.sources.maildir import Maildir
from gateway.cli.sources.spec import Wanted, new_spec


def message(subject: str) -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["Date"] = "Mon, 02 Nov 2026 10:00:00 +0000"
    mail.set_content("The pump is repaired.")
    return mail


def listed(root: Path, stored: dict[str, dict[str, str]] | None = None) -> Comparison:
    listing = Maildir(root, "mail/", Choice((), ("drafts/",))).listing({})
    return Comparison.of(listing, stored or {})


def test_a_message_that_is_read_or_moved_stays_the_same_document(tmp_path: Path) -> None:
    box = mailbox.Maildir(tmp_path / "mail")
    keys = [box.add(message(subject)) for subject in ("one", "two")]
    archive = mailbox.Maildir(tmp_path / "mail" / "Archive")
    draft = mailbox.Maildir(tmp_path / "mail" / "drafts")
    draft.add(message("not sent"))
    first = listed(tmp_path / "mail")
    assert sorted(first.new) == sorted(f"mail/{key}.eml" for key in keys)
    stored = {one.id: dict(one.metadata) for one in first.files if isinstance(one, File)}

    read = box.get_message(keys[0])
    read.set_subdir("cur")
    read.set_flags("SR")
    box[keys[0]] = read
    [path] = [one for one in (tmp_path / "mail" / "new").iterdir() if one.name == keys[1]]
    path.rename(tmp_path / "mail" / "Archive" / "cur" / f"{keys[1]}:2,S")
    archive.flush()
    again = listed(tmp_path / "mail", stored)
    assert (again.unchanged, again.new, again.vanished) == (2, [], [])

    trashed = box.get_message(keys[0])
    trashed.set_flags("ST")
    box[keys[0]] = trashed
    assert listed(tmp_path / "mail", stored).vanished == [f"mail/{keys[0]}.eml"]


def test_a_folder_with_its_parts_is_taken_for_a_maildir(tmp_path: Path) -> None:
    mailbox.Maildir(tmp_path / "Post")
    assert new_spec(str(tmp_path / "Post"), Wanted()).kind == "maildir"
    assert new_spec(str(tmp_path), Wanted(name="x")).kind == "folder"


def test_another_folder_is_no_maildir(tmp_path: Path) -> None:
    with pytest.raises(CliError, match="is not a maildir: it needs the folders cur, new, tmp"):
        listed(tmp_path)
