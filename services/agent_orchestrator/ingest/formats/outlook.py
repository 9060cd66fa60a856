"""Mails that Outlook has stored (MSG), read as the mails that they were."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import default
from email.utils import format_datetime
from io import BytesIO
from typing import TYPE_CHECKING

from services.agent_orchestrator.ingest.formats.damage import readable
from services.agent_orchestrator.ingest.formats.mail import Mail, read_mail

if TYPE_CHECKING:
    from oxmsg import Message

_HEADERS = ("From", "To", "Cc", "Date", "Message-ID")
_BINARY = "application/octet-stream"


def read_outlook(data: bytes, limit: int) -> Mail:
    """Parses one message. Raises UnreadableError if it is damaged."""
    from oxmsg import Message  # noqa: PLC0415 - needed only to read MSG

    with readable("Outlook message"):
        mail = _as_mail(Message.load(BytesIO(data))).as_bytes()
    return read_mail(mail, limit)


def _as_mail(message: Message) -> EmailMessage:
    mail = EmailMessage(policy=default.clone(raise_on_defect=False))
    for name, value in _headers(message).items():
        if value:
            mail[name] = " ".join(value.split())
    mail.set_content(message.body or "")
    if message.html_body:
        mail.add_alternative(message.html_body, subtype="html")
    for attachment in message.attachments:
        if attachment.attached_by_value:
            kind, _, subtype = (attachment.mime_type or _BINARY).partition("/")
            # Parts of these types contain other parts, not bytes.
            known = subtype and kind not in {"message", "multipart"}
            mail.add_attachment(
                attachment.file_bytes or b"",
                maintype=kind if known else "application",
                subtype=subtype if known else "octet-stream",
                filename=attachment.file_name or "attachment",
            )
    return mail


def _headers(message: Message) -> dict[str, str]:
    """Returns the headers with which the mail was received; for one that never was, those of its properties."""
    received = {name.title(): value for name, value in message.message_headers.items()}
    people = ", ".join(f"{one.name} <{one.email_address}>" for one in message.recipients)
    sent = format_datetime(message.sent_date) if message.sent_date else ""
    given = {"From": message.sender or "", "To": people, "Date": sent, "Subject": message.subject}
    return {
        **given,
        **{name: received[name.title()] for name in _HEADERS if received.get(name.title())},
    }
