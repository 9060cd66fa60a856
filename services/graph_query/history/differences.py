"""What is different between two times: added, ended, and changed where a subject's relation has both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from services.graph_query.history.domain import Difference

_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Changed:
    """One subject and relation: facts that hold no longer, and those that hold instead."""

    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """Uuids of facts; the lists are cut, the totals are not."""

    added: tuple[str, ...]
    ended: tuple[str, ...]
    changed: tuple[Changed, ...]
    added_total: int
    ended_total: int
    changed_total: int

    def uuids(self) -> list[str]:
        """All facts to be shown."""
        both = [uuid for one in self.changed for uuid in (*one.before, *one.after)]
        return [*self.added, *self.ended, *both]


def grouped(found: Iterable[Difference], limit: int) -> Diff:
    """At most `limit` of each kind."""
    groups: defaultdict[tuple[str, str], list[Difference]] = defaultdict(list)
    for one in found:
        groups[one.subject, one.relation].append(one)
    added: list[Difference] = []
    ended: list[Difference] = []
    changed: list[list[Difference]] = []
    for group in groups.values():
        if len({one.held_before for one in group}) > 1:
            changed.append(group)
        else:
            (ended if group[0].held_before else added).extend(group)
    changed.sort(key=lambda group: _place(min(_after(group), key=_place)))
    return Diff(
        added=_uuids(added, limit),
        ended=_uuids(ended, limit),
        changed=tuple(_changed(group) for group in changed[:limit]),
        added_total=len(added),
        ended_total=len(ended),
        changed_total=len(changed),
    )


def _changed(group: list[Difference]) -> Changed:
    before = [one for one in group if one.held_before]
    return Changed(_uuids(before, _SHOWN), _uuids(_after(group), _SHOWN))


def _after(group: list[Difference]) -> list[Difference]:
    return [one for one in group if not one.held_before]


def _uuids(found: list[Difference], limit: int) -> tuple[str, ...]:
    return tuple(one.uuid for one in sorted(found, key=_place)[:limit])


def _place(one: Difference) -> tuple[float, str]:
    return one.valid_from, one.uuid
