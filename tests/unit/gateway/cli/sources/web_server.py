"""A web site on loopback, whose answers a test sets."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Answer:
    """What is at a path."""

    body: bytes = b""
    kind: str = "text/html"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class WebSite:
    """A site with its pages by path, and the requests that it got."""

    address: str
    pages: dict[str, Answer]
    asked: list[tuple[str, Mapping[str, str]]]

    def put(self, path: str, body: str, kind: str = "text/html; charset=utf-8") -> None:
        """Sets a page; its ETag is its content's."""
        etag = f'"{hash(body)}"'
        self.pages[path] = Answer(body.encode(), kind, headers={"etag": etag})

    def paths(self) -> list[str]:
        """Returns the paths that were asked for."""
        return [path for path, _ in self.asked]


@contextmanager
def web_site() -> Iterator[WebSite]:
    """Serves a site until the block is left."""
    site = WebSite("", {}, [])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(
                (self.path, {name.lower(): value for name, value in self.headers.items()})
            )
            answer = site.pages.get(self.path, Answer(b"nothing here", status=404))
            same = answer.headers.get("etag")
            if same and self.headers.get("if-none-match") == same:
                answer = Answer(status=304)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-type", answer.kind)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            """Prints nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    site.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
