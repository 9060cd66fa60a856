"""Security events: one structured log line each, counted by name. Never contain a credential or a user's text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.runtime.instruments import SECURITY_EVENTS, counter
from services.runtime.telemetry import get_logger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.metrics import Meter

# Dashboards and alert rules refer to these names.
CREDENTIAL_REFUSED = "credential_refused"
SCOPE_MISSING = "scope_missing"
DELEGATION_REFUSED = "delegation_refused"
KEY_ADDED = "key_added"
KEY_REVOKED = "key_revoked"
KEY_ROTATED = "key_rotated"
KEY_CHANGED = "key_changed"
KEY_REMOVED = "key_removed"
KEY_FILE_UNREADABLE = "key_file_unreadable"
KEY_FILE_EXPIRED = "key_file_expired"
KEY_SET_CHANGED = "key_set_changed"
KEY_SET_UNAVAILABLE = "key_set_unavailable"
CERTIFICATES_CHANGED = "certificates_changed"
CERTIFICATES_UNREADABLE = "certificates_unreadable"
TLS_HANDSHAKE_FAILED = "tls_handshake_failed"

_INFORMATIONAL = frozenset(
    {KEY_ADDED, KEY_REVOKED, KEY_ROTATED, KEY_CHANGED, KEY_REMOVED}
    | {KEY_SET_CHANGED, CERTIFICATES_CHANGED}
)
# Attributes with few values; others, such as key ids, appear in the log line only.
_COUNTED = ("reason",)


class SecurityEvents:
    """Logs each event and adds it to the counter `braid.security.events`."""

    def __init__(self, meter: Meter | None = None) -> None:
        self._log = get_logger("security")
        self._count = counter(SECURITY_EVENTS, meter)

    def record(self, event: str, **attributes: object) -> None:
        """Logs the event with its attributes: at level info if an operator caused it, else as a warning."""
        counted: Mapping[str, str] = {
            name: str(attributes[name]) for name in _COUNTED if name in attributes
        }
        self._count.add(1, {"event": event, **counted})
        if event in _INFORMATIONAL:
            self._log.info(event, **attributes)
        else:
            self._log.warning(event, **attributes)
