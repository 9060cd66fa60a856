"""A certificate authority for tests, which writes its certificates to files."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

import trustme

LOOPBACK_NAMES = ("localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """The paths of a certificate chain and its key."""

    chain: Path
    key: Path


class Authority:
    """Issues certificates into a folder; `file` is the authority's own certificate."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.file = folder / "authority.pem"
        self._authority.cert_pem.write_to_path(self.file)

    def issue(
        self, name: str, *names: str, expires: datetime.datetime | None = None
    ) -> CertificateFiles:
        """Issues a certificate for `names`, by default loopback, as files called `name`; replaces earlier ones."""
        issued = self._authority.issue_cert(*(names or LOOPBACK_NAMES), not_after=expires)
        files = CertificateFiles(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        files.key.write_bytes(issued.private_key_pem.bytes())
        files.chain.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
        return files
