"""English words that name times. Abbreviations are matched without their period."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from services.agent_orchestrator.agent.planner.dates.calendar import Unit
from services.agent_orchestrator.agent.planner.wordlists import word_set, words

MONTHS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip

WEEKDAYS: Final[dict[str, int]] = {
    name: number
    for number, names in enumerate(
        (
            "monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs",
            "friday fri", "saturday sat", "sunday sun",
        )
    )
    for name in names.split()
}  # fmt: skip

UNITS: Final[dict[str, Unit]] = {
    "minute": "minute", "minutes": "minute", "min": "minute", "mins": "minute",
    "hour": "hour", "hours": "hour", "hrs": "hour", "hr": "hour",
    "day": "day", "days": "day", "week": "week", "weeks": "week", "weekend": "weekend", "weekends": "weekend",
    "month": "month", "months": "month", "quarter": "quarter", "quarters": "quarter",
    "year": "year", "years": "year", "decade": "decade", "decades": "decade", "century": "century",
}  # fmt: skip
FORTNIGHTS: Final = frozenset({"fortnight", "fortnights"})

NUMBERS: Final[dict[str, int]] = {
    name: number
    for number, name in enumerate(
        words(("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
            "fifteen "), "sixteen seventeen eighteen nineteen twenty")
    )
} | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90}  # fmt: skip

ORDINALS: Final[dict[str, int]] = {
    name: number
    for number, name in enumerate(
        words(("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
            "thirteenth fourteenth "), ("fifteenth sixteenth seventeenth eighteenth "
            "nineteenth twentieth")),
        start=1,
    )
} | {"final": -1, "last": -1, "opening": 1, "closing": -1}  # fmt: skip

DECADES: Final[dict[str, int]] = {
    "twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70,
    "eighties": 80, "nineties": 90, "noughties": 0,
}  # fmt: skip

PREVIOUS: Final = frozenset({"last", "previous", "prior", "preceding"})
CURRENT: Final = frozenset({"this", "current", "present"})
NEXT: Final = frozenset({"next", "coming", "upcoming", "following"})
ROLLING: Final = frozenset({"past", "last", "previous", "preceding", "prior", "trailing", "recent"})

# Named days of the year: month and day.
HOLIDAYS: Final[dict[str, tuple[int, int]]] = {
    "new year's eve": (12, 31), "new year's day": (1, 1), "christmas eve": (12, 24), "christmas day": (12, 25),
    "christmas": (12, 25), "boxing day": (12, 26), "halloween": (10, 31), "valentine's day": (2, 14),
}  # fmt: skip

# Parts of a day: first and last hour.
DAY_PARTS: Final[dict[str, tuple[int, int]]] = {
    "morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 24),
}  # fmt: skip

ZONES: Final[dict[str, tzinfo]] = {
    "utc": UTC, "gmt": UTC, "z": UTC,
    "cet": timezone(timedelta(hours=1)), "cest": timezone(timedelta(hours=2)),
    "bst": timezone(timedelta(hours=1)), "eet": timezone(timedelta(hours=2)), "eest": timezone(timedelta(hours=3)),
    "est": timezone(timedelta(hours=-5)), "edt": timezone(timedelta(hours=-4)), "et": ZoneInfo("America/New_York"),
    "cst": timezone(timedelta(hours=-6)), "cdt": timezone(timedelta(hours=-5)),
    "mst": timezone(timedelta(hours=-7)), "mdt": timezone(timedelta(hours=-6)),
    "pst": timezone(timedelta(hours=-8)), "pdt": timezone(timedelta(hours=-7)), "pt": ZoneInfo("America/Los_Angeles"),
    "ist": timezone(timedelta(hours=5, minutes=30)), "jst": timezone(timedelta(hours=9)),
    "aest": timezone(timedelta(hours=10)), "aedt": timezone(timedelta(hours=11)),
}  # fmt: skip

# "9:00 Berlin time".
CITY_ZONES: Final[dict[str, str]] = {
    "berlin": "Europe/Berlin", "london": "Europe/London", "paris": "Europe/Paris", "madrid": "Europe/Madrid",
    "helsinki": "Europe/Helsinki", "stockholm": "Europe/Stockholm", "zurich": "Europe/Zurich",
    "tokyo": "Asia/Tokyo", "singapore": "Asia/Singapore", "sydney": "Australia/Sydney", "delhi": "Asia/Kolkata",
    "new york": "America/New_York", "chicago": "America/Chicago", "los angeles": "America/Los_Angeles",
}  # fmt: skip

# Month names that are also ordinary words or given names: without a preposition they are not read as months.
AMBIGUOUS_MONTHS: Final = frozenset(
    {"may", "march", "mar", "april", "june", "august", "jan", "jun", "dec"}
)

# Nouns for documents that a date can name: "the 2023 incident report" does not select a past time.
DOCUMENT_NOUNS: Final = word_set(
    "report review edition version minutes memo handbook guide manual roadmap plan budget paper article post ",
    "postmortem retrospective audit proposal agreement contract policy document documents doc docs file letter ",
    "email newsletter presentation deck slides spreadsheet survey whitepaper checklist runbook specification spec ",
    "strategy statement release notes note summary bulletin catalogue catalog brochure agenda transcript ticket ",
    "page pages presentation invoice certificate standard schema dataset model calendar charter draft",
)
