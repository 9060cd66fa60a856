"""Protection of a person whose browser reaches the gateway against pages of other sites.

Browsers say where a request comes from (Fetch Metadata): what a page of another site asks for is refused. And each
answer says that no page of another site may embed it, frame it or guess its type. Programs send no such headers and are
not affected. Pages of origins that the settings name may call the gateway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from starlette.datastructures import MutableHeaders

FRAME_POLICY = "frame-ancestors 'none'"
# Answers with a policy of their own, such as the page, keep it.
_DEFAULTS = {
    "content-security-policy": FRAME_POLICY,
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_PAGE = "/"
# `same-site` includes pages of other ports of the same host.
_OTHER_ORIGINS = frozenset({"cross-site", "same-site"})


def is_foreign(
    method: str, path: str, headers: Mapping[str, str], allowed: Collection[str] = ()
) -> bool:
    """Returns whether a page of another origin asks, other than by a link that opens the explorer page.

    `allowed` are origins whose pages may ask.
    """
    if headers.get("sec-fetch-site", "").lower() not in _OTHER_ORIGINS:
        return False
    if headers.get("origin", "") in allowed:
        return False
    opens_page = (
        method == "GET"
        and path == _PAGE
        and headers.get("sec-fetch-mode", "").lower() == "navigate"
        and headers.get("sec-fetch-dest", "").lower() == "document"
    )
    return not opens_page


def add_protection(headers: MutableHeaders, *, is_data: bool) -> None:
    """Adds the headers of every answer; data of a caller is not stored by browsers and proxies."""
    for name, value in _DEFAULTS.items():
        headers.setdefault(name, value)
    if is_data:
        headers["cache-control"] = "no-store"
