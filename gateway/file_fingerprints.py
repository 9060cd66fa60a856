"""What identifies a file's content among the metadata of its document."""

from __future__ import annotations

FINGERPRINT = "file_sha256"
"""The SHA-256 of the file from which a document was read, in hexadecimal."""
