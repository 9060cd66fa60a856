"""`make eval NAME=tables`: are rows of sheets, slides and tables in documents found by what stands in their cells?

Sixty questions over tables of many similar rows. A question is right if one of the first three hits contains a line
with the cells of the right row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gateway.cli.ingest.files import File
from gateway.content_types import content_type_of
from tests.benchmarks.command import Options
from tests.benchmarks.figures import Figures, note
from tests.benchmarks.harness import running_stack
from tests.evals.asking import ask_all
from tests.evals.loading import load
from tests.evals.metrics import share
from tests.hostile import docx
from tests.office_files import pptx, xlsx

_FIRST = 3
_EACH = 10
_GIVEN = [
    "Ana",
    "Bo",
    "Cleo",
    "Dirk",
    "Edda",
    "Faro",
    "Greta",
    "Henk",
    "Iris",
    "Jonas",
    "Kaja",
    "Luca",
    "Mila",
    "Nils",
    "Olga",
]
_FAMILY = ["Kovac", "Weber", "Lind", "Moreau", "Okafor", "Petrov", "Quist", "Rossi", "Sato", "Tamm"]
_GOODS = [
    "rope",
    "chain",
    "anchor",
    "lamp",
    "pump",
    "valve",
    "gasket",
    "bolt",
    "cable",
    "buoy",
    "fender",
    "winch",
]
_STUFFS = ["steel", "brass", "nylon", "copper", "rubber", "oak", "bronze", "cork"]
_SHIPS = [
    "Aurora",
    "Boreas",
    "Ceres",
    "Doris",
    "Eos",
    "Flora",
    "Galatea",
    "Hebe",
    "Irene",
    "Juno",
    "Kallisto",
    "Leto",
]
_PORTS = ["Bergen", "Cadiz", "Dover", "Emden", "Gdansk", "Hull", "Izmir", "Kotka"]

Row = Sequence[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the cells that the right row contains."""

    text: str
    cells: Row


@dataclass(frozen=True, slots=True)
class TableFile:
    """A file with a table, and the questions about it."""

    name: str
    data: bytes
    questions: Sequence[Asked]


async def run(options: Options) -> None:
    """Loads the files, asks all questions by hybrid search, and prints the share of right rows."""
    files = list(_files())
    questions = [one for file in files for one in file.questions]
    with TemporaryDirectory() as folder:
        async with running_stack() as stack:
            await load(stack, [_source(Path(folder), file) for file in files], "")
            pairs = [(one.text, None) for one in questions]
            answers = await ask_all(stack.addresses["gateway"], "hybrid", pairs)
    right = [_has_row(answer, one) for answer, one in zip(answers, questions, strict=True)]
    for found, one in zip(right, questions, strict=True):
        if not found:
            note(f"not in the first {_FIRST}: {one.text} ({'; '.join(one.cells)})")
    figures = Figures(options.name)
    figures.put("questions", len(questions), "questions")
    figures.put(f"right_row_in_{_FIRST}_pct", share(right), "percent")


def _source(folder: Path, file: TableFile) -> File:
    path = folder / file.name
    path.write_bytes(file.data)
    return File(path, file.name, content_type_of(file.name) or "")


def _has_row(answer: dict[str, Any], asked: Asked) -> bool:
    lines = (line for hit in answer["results"][:_FIRST] for line in hit["content"].split("\n"))
    return any(all(cell in line for cell in asked.cells) for line in lines)


def _files() -> Iterator[TableFile]:
    yield _staff()
    yield _stock()
    yield _arrivals()
    yield _budget()
    yield _prices()
    yield _repairs()


def _spread(rows: Sequence[Row]) -> list[Row]:
    """Returns rows from all parts of the table."""
    step = len(rows) / _EACH
    return [rows[int((number + 0.5) * step)] for number in range(_EACH)]


def _staff() -> TableFile:
    rows = [
        [
            f"{given} {family}",
            _GOODS[i % 7].title() + " team",
            f"{i % 5 + 1}.{i:02}",
            f"{4000 + 7 * i}",
        ]
        for i, (given, family) in enumerate((g, f) for f in _FAMILY for g in _GIVEN)
    ]
    data = xlsx({"Staff": [["Name", "Team", "Office", "Extension"], *rows]})
    asked = [
        Asked(f"What is the extension of {row[0]}?", (row[0], row[3])) for row in _spread(rows)
    ]
    return TableFile("staff.xlsx", data, asked)


def _stock() -> TableFile:
    """A workbook of two sheets, with a title above the header; only the sheets' names tell the rows apart."""
    goods = [f"{stuff} {item}" for item in _GOODS for stuff in _STUFFS]
    head = [["Stock at the end of May"], [], ["Item", "Units", "Shelf"]]
    sheets = {
        name: [
            [one, str((37 * i + offset) % 900), f"{name[0]}{i:03}"] for i, one in enumerate(goods)
        ]
        for name, offset in (("North warehouse", 11), ("South warehouse", 500))
    }
    data = xlsx({name: [*head, *rows] for name, rows in sheets.items()})
    asked = [
        Asked(f"How many units of {row[0]} are in the {name.lower()}?", (name, row[0], row[1]))
        for name, rows in sheets.items()
        for row in _spread(rows)[::2]
    ]
    return TableFile("stock.xlsx", data, asked)


def _arrivals() -> TableFile:
    rows = [
        [
            f"{ship} {number}",
            _PORTS[(i + number) % 8],
            f"B{i % 9 + 1}",
            f"2024-{number + 1:02}-{i + 10}",
        ]
        for number in range(10)
        for i, ship in enumerate(_SHIPS)
    ]
    lines = [";".join(row) for row in [["Vessel", "Last port", "Berth", "Arrival"], *rows]]
    asked = [
        Asked(f"When did the {row[0]} arrive, and at which berth?", row) for row in _spread(rows)
    ]
    return TableFile("arrivals.csv", "\n".join(lines).encode(), asked)


def _budget() -> TableFile:
    rows = [
        [f"{item.title()} repair", str(100 + 3 * i), str(90 + 5 * i)]
        for i, item in enumerate(_GOODS)
    ]
    data = pptx(("Budget of the workshop", []), table=[["Kind of work", "2023", "2024"], *rows])
    asked = [
        Asked(f"What did {row[0].lower()} cost in 2024?", (row[0], row[2])) for row in _spread(rows)
    ]
    return TableFile("budget.pptx", data, asked)


def _prices() -> TableFile:
    rows = [[f"{stuff} {item}", f"{i + 3}.50", f"{i % 30 + 2} days"] for i, (stuff, item) in enumerate(
        (s, g) for g in _GOODS for s in _STUFFS
    )]  # fmt: skip
    head = "<tr><th>Product</th><th>Price per piece</th><th>Delivery</th></tr>"
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    page = (
        f"<title>Price list</title><h1>Price list of the chandler</h1><table>{head}{body}</table>"
    )
    asked = [
        Asked(f"What is the price per piece of a {row[0]}?", (row[0], row[1]))
        for row in _spread(rows)
    ]
    return TableFile("prices.html", page.encode(), asked)


def _repairs() -> TableFile:
    rows = [
        [f"R-{700 + i}", f"{ship}", f"{_GOODS[i % 12]} replaced", f"{_GIVEN[i % 15]}"]
        for i, ship in enumerate(_SHIPS * 8)
    ]
    cells = [["Order", "Vessel", "Work", "Mechanic"], *rows]
    body = "".join(
        f"<w:tr>{''.join(f'<w:tc><w:p><w:r><w:t>{c}</w:t></w:r></w:p></w:tc>' for c in row)}</w:tr>"
        for row in cells
    )
    asked = [
        Asked(f"Who was the mechanic of order {row[0]}?", (row[0], row[3])) for row in _spread(rows)
    ]
    return TableFile("repairs.docx", docx(f"<w:tbl>{body}</w:tbl>"), asked)
