"""Text output of facts over time: histories, snapshots, differences, versions and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from gateway.cli.output import QUIET, fact_line, show_table, span
from gateway.cli.terminal_escape import line, styled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


Json = dict[str, Any]
_FACTS = ("when", "fact", "document")
_PERIODS = {"relation": "relation", "period": "period", "began": "began", "ended": "ended"}
_HOMONYMS = {"type": "type", "uuid": "uuid"}


def show_history(out: Console, answer: Json) -> None:
    """Shows the entity, whether anything changed, the facts, and a summary of a long history."""
    if answer["entity"] is None:
        show_homonyms(out, answer["homonyms"])
        return
    entity, summary = answer["entity"], answer["summary"]
    head = Text().append_text(styled(entity["name"], "bold"))
    if entity["type"]:
        head.append("  ").append_text(styled(entity["type"], QUIET))
    out.print(head, soft_wrap=True)
    if summary is not None:
        out.print(Text(_changes_in_words(summary)), soft_wrap=True)
    if answer["facts"]:
        out.print()
        show_facts(out, answer["facts"])
    show_cursor(out, answer)
    _show_withdrawn(out, answer)
    if summary is not None and summary["total"] > len(answer["facts"]):
        _show_periods(out, summary)


def _show_withdrawn(out: Console, answer: Json) -> None:
    if not answer["withdrawn"]:
        return
    out.print(Text("\nWithdrawn or replaced", style="bold"))
    for one in answer["withdrawn"]:
        change = one["change"] or {}
        out.print(fact_line(one["fact"]), soft_wrap=True)
        replaced = change.get("replacement_uuid")
        done = f"replaced by {replaced}" if replaced else "withdrawn"
        by = f" by {change['user']}" if change.get("user") else ""
        why = f": {change['reason']}" if change.get("reason") else ""
        show_indented(out, f"{done} {_moment(one['withdrawn_at'])}{by}{why}")
    if answer["withdrawn_truncated"]:
        out.print(Text("More facts were withdrawn: name a relation.", style=QUIET))


def show_snapshot(out: Console, answer: Json) -> None:
    """Shows the facts that held, and the changes since."""
    show_fact_page(out, answer)
    if answer["changes"] is not None:
        out.print(Text("\nChanged since then", style="bold"))
        show_diff(out, answer["changes"])


def show_fact_page(out: Console, answer: Json) -> None:
    """Shows facts as a table, and the cursor of the next page."""
    if answer["facts"]:
        show_facts(out, answer["facts"])
    else:
        out.print("No facts.")
    show_cursor(out, answer)


def show_identified_facts(out: Console, answer: Json) -> None:
    """Shows facts with their uuids, which other commands accept."""
    for fact in answer["facts"]:
        out.print(fact_line(fact), soft_wrap=True)
        show_indented(out, fact["uuid"])
    if not answer["facts"]:
        out.print("No facts.")
    show_cursor(out, answer)


def show_facts_of_other_times(out: Console, answer: Json, all_time: str) -> None:
    """Shows, instead of no facts, how many facts of other times match and how to see them."""
    count = len(answer["facts"])
    if not count:
        out.print("No facts.")
        return
    more = "more than " if answer["next_cursor"] else ""
    have = "has ended or begins" if count == 1 else "have ended or begin"
    out.print(f"No facts hold now; {more}{_facts(count)} {have} later.")
    show_indented(out, f"--as-of {all_time} lists them")


def show_withdrawals(out: Console, withdrawals: Iterable[Json]) -> None:
    """Shows what became of each fact."""
    for one in withdrawals:
        out.print(
            Text(f"{one['outcome'].replace('_', ' ')}  ").append_text(styled(one["uuid"], QUIET))
        )


def show_correction(out: Console, answer: Json) -> None:
    """Shows a fact as corrected, and its former uuid if it has another one now."""
    out.print(fact_line(answer["fact"]), soft_wrap=True)
    show_indented(out, answer["fact"]["uuid"])
    if answer["replaced_uuid"]:
        out.print(f"corrected; replaces {line(answer['replaced_uuid'])}")
    else:
        out.print("corrected" if answer["changed"] else "unchanged: it was so already")


def show_diff(out: Console, answer: Json) -> None:
    """Shows added facts (+), ended facts (-), and replaced facts (- and + together)."""
    for heading, name in (("Added", "added"), ("Ended", "ended"), ("Replaced", "changed")):
        total = answer[f"{name}_total"]
        if not total:
            continue
        listed = len(answer[name])
        of_all = f"{listed} of {total}" if listed < total else f"{total}"
        out.print(Text(f"{heading}: {of_all}", style=QUIET))
        for one in answer[name]:
            _show_change(out, name, one)
    if not any(answer[f"{name}_total"] for name in ("added", "ended", "changed")):
        out.print("Nothing changed.")
    if answer["incomplete"]:
        out.print(
            "More facts differ than were compared: name an entity, a relation or nearer times."
        )


def show_fact_and_versions(out: Console, answer: Json) -> None:
    """Shows a fact as known now, and each of its versions with the period in which it was known."""
    if answer["fact"] is not None:
        _show_whole(out, answer["fact"])
        out.print()
    rows = [
        {
            "known": _moment(one["known_at"]),
            "when": span(one["fact"]),
            "fact": one["fact"]["fact"],
        }
        for one in answer["versions"]
    ]
    show_table(out, {"known since (UTC)": "known", "when": "when", "fact": "fact"}, rows)
    if answer["versions"] and answer["versions"][-1]["superseded_at"]:
        _show_end_of_knowledge(out, answer["versions"][-1])
    corrected = answer["versions"][-1]["corrected_uuid"] if answer["versions"] else None
    if corrected:
        out.print(f"Replaces {line(corrected)}.")
    for one in answer["versions"]:
        _show_reason(out, one)


def _show_end_of_knowledge(out: Console, version: Json) -> None:
    change, at = version["change"] or {}, _moment(version["superseded_at"])
    if change.get("replacement_uuid"):
        out.print(f"Replaced {at} by {line(change['replacement_uuid'])}.")
    else:
        out.print(f"Withdrawn {at}." if change else f"Taken back {at}.")


def _show_reason(out: Console, version: Json) -> None:
    change = version["change"]
    if change and (change["reason"] or change["user"]):
        by = f" by {change['user']}" if change["user"] else ""
        why = f": {change['reason']}" if change["reason"] else ""
        show_indented(out, f"{change['kind']} {_moment(version['superseded_at'])}{by}{why}")


def show_paths(out: Console, answer: Json) -> None:
    """Shows each path as a chain of names and relations, and the facts on it."""
    for place in ("source", "target"):
        if answer[f"{place}_homonyms"]:
            show_homonyms(out, answer[f"{place}_homonyms"], place)
    for number, path in enumerate(answer["paths"], start=1):
        out.print(Text(f"{number:>3}  ").append_text(_chain(path)), soft_wrap=True)
        for fact in path["facts"]:
            out.print(Text("      ").append_text(fact_line(fact)), soft_wrap=True)
    if not answer["paths"] and not is_ambiguous(answer):
        out.print("No path was found.")
    if answer["truncated"]:
        out.print(Text("More paths of that length with --limit.", style=QUIET))
    if answer["incomplete"]:
        out.print("The search was given up at its limits: there may be others.")


def is_ambiguous(answer: Json) -> bool:
    """Whether an answer requires a choice among entities with the same name."""
    names = ("homonyms", "source_homonyms", "target_homonyms")
    return answer.get("entity", "") is None or any(answer.get(name) for name in names[1:])


def show_homonyms(out: Console, homonyms: list[Json], place: str = "") -> None:
    """Shows entities that share a name, to choose from."""
    of = f" of the {place}" if place else ""
    option = f"--{place}-type" if place else "--type"
    out.print(f"Several entities share the name{of}: choose by {option}, or give the uuid.")
    show_table(out, _HOMONYMS, homonyms)


def show_facts(out: Console, facts: Iterable[Json]) -> None:
    """Shows facts as a table: when they held, their statements, and the first source document."""
    rows = [_row(fact) for fact in facts]
    shown = (name for name in _FACTS if name != "document" or any(row["document"] for row in rows))
    show_table(out, {name: name for name in shown}, rows)


def show_indented(out: Console, text: str) -> None:
    """Prints an indented line that belongs to the previous one."""
    out.print(Text("    ").append_text(styled(text, QUIET)), soft_wrap=True)


def show_cursor(out: Console, answer: Json) -> None:
    """Shows how to request the next page, if there is one."""
    if answer["next_cursor"]:
        out.print(f"More: --cursor {answer['next_cursor']}", markup=False, soft_wrap=True)


def _row(fact: Json) -> Json:
    sources = fact["sources"]
    first = (sources[0]["document_title"] or sources[0]["document_id"]) if sources else ""
    return {"when": span(fact), "fact": fact["fact"], "document": first}


def _changes_in_words(summary: Json) -> str:
    seen = f"first seen {_day(summary['first_seen_at'])}" if summary["first_seen_at"] else ""
    if not summary["total"]:
        return f"No facts{', ' + seen if seen else ''}."
    counts = f"{_facts(summary['total'])}, {summary['current_total']} current"
    since = _day(summary["unchanged_since"])
    if summary["never_changed"]:
        latest = f", the last one began {since}" if since else ""
        change = f"Never changed: no fact ended or was replaced{latest}"
    else:
        change = f"Last changed {since}" if since else "Changed at an unknown time"
    return f"{change}. {', '.join(filter(None, (counts, seen)))}."


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count} facts"


def _show_periods(out: Console, summary: Json) -> None:
    out.print(Text("\nBy relation and period", style="bold"))
    rows = [one | {"period": _period(one)} for one in summary["periods"]]
    show_table(out, _PERIODS, rows)
    if summary["periods_truncated"]:
        out.print(Text("More rows exist: name a relation.", style=QUIET))


def _period(row: Json) -> str:
    if row["start"] is None:
        return "undated or open"
    first, last = int(row["start"][:4]), int(row["end"][:4]) - 1
    return str(first) if first == last else f"{first}–{last}"


def _show_change(out: Console, name: str, one: Json) -> None:
    before, after = {
        "added": ([], [one]),
        "ended": ([one], []),
        "changed": (one.get("before", []), one.get("after", [])),
    }[name]
    for sign, style, facts in (("-", "red", before), ("+", "green", after)):
        for fact in facts:
            signed = Text().append(f"  {sign} ", style=style)
            out.print(signed.append_text(fact_line(fact)), soft_wrap=True)


def _show_whole(out: Console, fact: Json) -> None:
    out.print(fact_line(fact), soft_wrap=True)
    ends = " · ".join(
        f"{end['name']} ({end['type'] or 'no type'})"
        for end in (fact["source_entity"], fact["target_entity"])
    )
    show_indented(out, f"{fact['relation']}: {ends}")
    for name, value in fact["attributes"].items():
        show_indented(out, f"{name}: {value}")


def _chain(path: Json) -> Text:
    nodes = path["nodes"]
    chain = Text().append_text(styled(nodes[0]["name"], "bold"))
    for node, after, fact in zip(nodes, nodes[1:], path["facts"], strict=False):
        relation = line(fact["relation"])
        forward = fact["source_entity"]["uuid"] == node["uuid"]
        arrow = f" —{relation}→ " if forward else f" ←{relation}— "
        chain.append(arrow).append_text(styled(after["name"], "bold"))
    return chain


def _day(instant: str | None) -> str:
    return line((instant or "")[:10])


def _moment(instant: str) -> str:
    return line(instant[:19].replace("T", " "))
