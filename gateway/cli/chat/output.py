"""Shows a run on a terminal: tool calls, the text as it grows, and the sources at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from gateway.cli.output import QUIET
from gateway.cli.terminal_escape import block, line, styled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console

    from gateway.cli.chat.stream import RunEvent

Json = dict[str, Any]
_MAX_ARGUMENT = 60
_MAX_QUOTE = 160
_IN_WORDS = {
    "ok": "found {count}",
    "degraded": "found {count}, a part could not be searched",
    "no_match": "found nothing",
    "unavailable": "unavailable",
    "unknown_entity": "does not know the entity",
    "empty_graph": "the graph is empty",
    "ambiguous": "several entities have the name",
    "rejected": "sent back to the model",
}


class RunOutput:
    """Shows the events of one run. Tools and notices go to `err`, so that `out` has only the answer."""

    def __init__(self, out: Console, err: Console) -> None:
        self._out = out
        self._err = err
        self._has_text = False
        self._ends_line = True
        self.citations: list[Json] = []
        self.done: Json = {}

    def show(self, events: Iterable[RunEvent]) -> None:
        """Shows each event when it arrives."""
        for event in events:
            self._show(event.kind, event.data)

    def _show(self, kind: str, data: Json) -> None:
        match kind:
            case "tool_call":
                self._note(Text("→ ").append_text(_call(data)))
            case "tool_result":
                self._note(Text("  ").append_text(_result(data)))
            case "leg_status" if data["status"] not in {"OK", "NO_MATCH", "DISABLED"}:
                reason = f" {data['reason']}" if data["reason"] else ""
                self._note(styled(f"  {data['name']}: {data['status']}{reason}"))
            case "notice":
                self._note(styled(f"! {data['message']}"))
            case "text":
                self._text(data)
            case "citation":
                self.citations.append(data)
            case "done":
                self.done = data
                self._end()

    def _note(self, text: Text) -> None:
        self._finish_line()
        text.stylize(QUIET)
        self._err.print(text, soft_wrap=True)

    def _text(self, data: Json) -> None:
        if data["restart"] and self._has_text:
            self._finish_line()
            self._note(styled("(the answer starts again)"))
        shown = block(data["text"])
        if not shown:
            return
        self._out.print(Text(shown), end="", soft_wrap=True)
        self._out.file.flush()
        self._has_text = True
        self._ends_line = shown.endswith("\n")

    def _end(self) -> None:
        self._finish_line()
        if self.done["end"] == "cancelled":
            self._note(styled("(cancelled)"))
        if self.citations:
            self._out.print(Text("\nSources", style="bold"))
        for cited in self.citations:
            self._out.print(_source(cited), soft_wrap=True)

    def _finish_line(self) -> None:
        if not self._ends_line:
            self._out.print()
            self._ends_line = True


def _call(data: Json) -> Text:
    arguments = ", ".join(
        f"{name}={line(str(value), _MAX_ARGUMENT)}" for name, value in data["arguments"].items()
    )
    return styled(f"{data['tool']}({arguments})")


def _result(data: Json) -> Text:
    words = _IN_WORDS.get(data["status"] or "", "ended").format(count=data["item_count"])
    return styled(f"{words} in {data['took_ms']:.0f} ms")


def _source(cited: Json) -> Text:
    where = cited["source"] or cited["document_id"]
    head = Text(f"[{cited['number']}] ").append_text(styled(cited["title"] or where, "bold"))
    head.append("  ").append_text(styled(f"{where} · chunk {cited['chunk_id']}", QUIET))
    quote = line(cited["quote"], _MAX_QUOTE)
    return head.append(f"\n    “{quote}”", style=QUIET) if quote else head
