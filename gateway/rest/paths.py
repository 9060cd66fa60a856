"""Parts of paths that are the caller's text: names and ids, whatever they hold."""

from __future__ import annotations

from starlette.convertors import PathConvertor, register_url_convertor

_KIND = "any_text"


class _AnyText(PathConvertor):
    # `.` alone stops at a line feed, and a line feed at the very end would be left out of the name.
    regex = "(?s:.*)"


register_url_convertor(_KIND, _AnyText())


def any_text(name: str) -> str:
    """The rest of a route's path as the parameter `name`: slashes and line feeds are part of it."""
    return f"{{{name}:{_KIND}}}"
