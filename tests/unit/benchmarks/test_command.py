"""The command line of benchmarks and evaluations."""

import io
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.benchmarks.command import MeasureError, Options, UsageError, run
from tests.benchmarks.figures import Figures

_MODULE = "tests.benchmarks.a_measure_for_this_test"


def _measure(
    monkeypatch: pytest.MonkeyPatch, error: Exception | None = None, shared: str | None = None
) -> list[Options]:
    seen: list[Options] = []

    async def measure(options: Options) -> None:
        seen.append(options)
        if error is not None:
            raise error

    module = ModuleType(_MODULE)
    module.run = measure  # type: ignore[attr-defined]
    if shared is not None:
        module.SHARED = shared  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, _MODULE, module)
    return seen


def test_a_named_measurement_is_run_with_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = _measure(monkeypatch)
    arguments = ["speed", "--data", "there", "--mode", "text", "--queries", "5", "--seed", "3"]
    assert run("bench", {"speed": _MODULE}, arguments) == 0
    assert seen == [Options("speed", Path("there"), "text", 5, 3)]


@pytest.mark.parametrize("arguments", [[], ["sped"]])
def test_an_unknown_or_missing_name_exits_with_2_and_lists_the_names(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bench", {"speed": _MODULE, "cost": _MODULE}, arguments) == 2
    assert "cost, speed" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["speed", "--queries", "0"], ["speed", "--what"]])
def test_invalid_arguments_exit_with_2_and_print_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("bench", {"speed": _MODULE}, arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_measurement_that_fails_exits_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _measure(monkeypatch, MeasureError("the stack did not start"))
    assert run("bench", {"speed": _MODULE}, ["speed"]) == 1
    assert capsys.readouterr().err == "bench: the stack did not start\n"


def test_a_measurement_with_invalid_options_exits_with_2(monkeypatch: pytest.MonkeyPatch) -> None:
    _measure(monkeypatch, UsageError("the mode is unknown"))
    assert run("bench", {"speed": _MODULE}, ["speed"]) == 2


def test_a_data_folder_must_be_named_and_exist(tmp_path: Path) -> None:
    assert Options("multihop", tmp_path).folder() == tmp_path
    with pytest.raises(UsageError, match="needs a data folder"):
        Options("multihop").folder()
    with pytest.raises(UsageError, match="is not a folder"):
        Options("multihop", tmp_path / "none").folder()


def test_a_measurement_defaults_to_its_shared_data_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = _measure(monkeypatch, shared="facts/all")
    (tmp_path / "facts" / "all").mkdir(parents=True)
    assert run("bench", {"speed": _MODULE}, ["speed"], tmp_path) == 0
    assert seen == [Options("speed", tmp_path / "facts" / "all")]
    assert "facts/all" in capsys.readouterr().err


def test_a_named_folder_takes_precedence_over_the_shared_data_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = _measure(monkeypatch, shared="facts")
    (tmp_path / "facts").mkdir()
    assert run("bench", {"speed": _MODULE}, ["speed", "--data", "there"], tmp_path) == 0
    assert seen == [Options("speed", Path("there"))]


@pytest.mark.parametrize("shared", [None, "facts"])
def test_a_measurement_without_a_shared_data_set_has_no_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, shared: str | None
) -> None:
    seen = _measure(monkeypatch, shared=shared)
    assert run("bench", {"speed": _MODULE}, ["speed"], tmp_path) == 0
    assert seen == [Options("speed")]


def test_a_figure_is_printed_as_one_line_of_name_number_and_unit() -> None:
    out = io.StringIO()
    figures = Figures("multihop", out)
    figures.put("vector.recall@5", 68.1, "percent")
    figures.put("lost", 0, "queries")
    figures.put("p50_ms", 2.34567, "ms")
    assert out.getvalue() == (
        "multihop.vector.recall@5: 68.1 percent\nmultihop.lost: 0 queries\nmultihop.p50_ms: 2.346 ms\n"
    )


def test_a_value_that_is_not_finite_is_rejected_and_not_printed() -> None:
    out = io.StringIO()
    with pytest.raises(ValueError, match="finite"):
        Figures("multihop", out).put("p50_ms", float("nan"), "ms")
    assert out.getvalue() == ""
