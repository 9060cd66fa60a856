"""`braid eval FILE` asks your own questions and measures what comes back, for one setting or two next to each other."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.progress import Progress

from gateway.cli import exit_codes
from gateway.cli.errors import CliError
from gateway.cli.evaluation.figures import (
    HIGHER_IS_WORSE,
    Measured,
    figures_of,
    is_worse,
    says_none,
)
from gateway.cli.evaluation.figures import is_right as answer_is_right
from gateway.cli.evaluation.questions import EvalQuestion, read_questions
from gateway.cli.evaluation.settings import DEFAULTS, MODES, Setting, read_goal, read_setting
from gateway.cli.exit_codes import ExitCode
from gateway.cli.options import AsJson
from gateway.cli.output import show_table
from gateway.cli.terminal_escape import line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gateway.cli.api import Api
    from gateway.cli.session import Session


def evaluate(  # noqa: PLR0917 - typer names them all
    context: typer.Context,
    questions: Annotated[
        Path, typer.Argument(help="JSON lines {question, expected?, documents?, as_of?, none?}.")
    ],
    modes: Annotated[
        str, typer.Option("--modes", help=f"Searches to measure, of {', '.join(MODES)}.")
    ] = "vector,text,hybrid,comprehensive",
    answers: Annotated[
        bool, typer.Option("--answers/--no-answers", help="Whether questions are answered too.")
    ] = True,
    k: Annotated[int, typer.Option(min=1, max=50, help="Results that recall counts.")] = 5,
    against: Annotated[
        str | None,
        typer.Option(help="A second setting: url=…,limit=…,expansion=…,rerank=… (some of them)."),
    ] = None,
    goal: Annotated[
        list[str] | None,
        typer.Option(help="FIGURE=NUMBER that must be reached; may be given several times."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0, help="Fail if a figure of --against is worse by more than this percentage."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure your own questions: recall, rank, right answers, right citations."""
    session: Session = context.obj
    rows = read_questions(questions)
    asked = _modes(modes)
    goals = dict(read_goal(text) for text in goal or ())
    settings = [DEFAULTS, read_setting(against)] if against else [DEFAULTS]
    if tolerance is not None and not against:
        raise CliError("--tolerance compares with --against", reason="USAGE")
    measured = _measure(session, settings, rows, asked, answers=answers, limit=max(k, 10))
    figures = [figures_of(rows, one, k) for one in measured]
    _check_goals(goals, figures[-1])
    misses = _misses(goals, figures, tolerance)
    if as_json:
        session.show_json(_report(rows, settings, figures, measured, misses))
    else:
        _show(session, settings, figures)
        for miss in misses:
            session.err.print(f"braid: {line(miss)}", markup=False, soft_wrap=True)
    if misses:
        raise typer.Exit(ExitCode.FAILED)


def _modes(text: str) -> list[str]:
    modes = [one.strip() for one in text.split(",") if one.strip()]
    unknown = [mode for mode in modes if mode not in MODES]
    if unknown or not modes:
        raise CliError(f"--modes {text}: must be of {', '.join(MODES)}", reason="INVALID_FIELD")
    return list(dict.fromkeys(modes))


def _measure(
    session: Session,
    settings: Sequence[Setting],
    questions: Sequence[EvalQuestion],
    modes: Sequence[str],
    *,
    answers: bool,
    limit: int,
) -> list[Measured]:
    """Asks each question in every setting, in turn, so that both sides meet the same load."""
    measured = [Measured() for _ in settings]
    with ExitStack() as stack:
        apis = [stack.enter_context(_api(session, setting)) for setting in settings]
        progress = stack.enter_context(
            Progress(console=session.err, transient=True, disable=not session.err.is_terminal)
        )
        task = progress.add_task("asking", total=len(questions))
        for question in questions:
            for api, setting, found in zip(apis, settings, measured, strict=True):
                for mode in modes:
                    _search(api, setting, found, question, mode, limit)
                if answers:
                    _ask(api, found, question)
            progress.advance(task)
    return measured


def _api(session: Session, setting: Setting) -> Api:
    return session.api_at(setting.url) if setting.url else session.api()


def _search(  # noqa: PLR0917 - the parts of one search
    api: Api, setting: Setting, found: Measured, question: EvalQuestion, mode: str, limit: int
) -> None:
    body = setting.body(mode, question.text, question.as_of, limit)
    began = time.perf_counter()
    response = api.post(f"/api/search/{mode}", body)
    if exit_codes.of_legs(response["legs"]) is ExitCode.UNAVAILABLE:
        raise CliError(f"the {mode} search is unavailable", reason="STORE_UNAVAILABLE")
    found.times_ms.setdefault(mode, []).append((time.perf_counter() - began) * 1000)
    found.searches.setdefault(mode, []).append(response)


def _ask(api: Api, found: Measured, question: EvalQuestion) -> None:
    text = f"As of {question.as_of}: {question.text}" if question.as_of else question.text
    began = time.perf_counter()
    answer = api.post("/api/chat", {"question": text})
    found.times_ms.setdefault("answers", []).append((time.perf_counter() - began) * 1000)
    found.answers.append(answer)


def _check_goals(goals: dict[str, float], figures: dict[str, float]) -> None:
    unknown = sorted(goals.keys() - figures.keys())
    if unknown:
        raise CliError(
            f"--goal {unknown[0]}: no such figure; there are: {', '.join(figures)}",
            reason="INVALID_FIELD",
        )


def _misses(
    goals: dict[str, float], figures: Sequence[dict[str, float]], tolerance: float | None
) -> list[str]:
    """Returns a sentence for each goal that the last setting misses, and for each figure that became worse."""
    last = figures[-1]
    misses = [
        f"{name} is {last[name]:.4g}, the goal is {goal:.4g}"
        for name, goal in goals.items()
        if is_worse(name, goal, last[name], 0)
    ]
    if tolerance is not None:
        misses += [
            f"{name} is {last[name]:.4g}, worse than {value:.4g}"
            for name, value in figures[0].items()
            if is_worse(name, value, last[name], tolerance)
        ]
    return misses


def _show(
    session: Session, settings: Sequence[Setting], figures: Sequence[dict[str, float]]
) -> None:
    names = [setting.name for setting in settings]
    rows: list[dict[str, Any]] = [
        {
            "figure": name,
            **{key: f"{one[name]:.4g}" for key, one in zip(names, figures, strict=True)},
        }
        for name in figures[0]
    ]
    show_table(session.out, {"figure": "figure", **{name: name for name in names}}, rows)


def _report(
    questions: Sequence[EvalQuestion],
    settings: Sequence[Setting],
    figures: Sequence[dict[str, float]],
    measured: Sequence[Measured],
    misses: Sequence[str],
) -> dict[str, Any]:
    """Returns everything measured, with each wrong answer, for programs."""
    return {
        "questions": len(questions),
        "settings": [
            {"setting": setting.name, "figures": one, "wrong": _wrong(questions, found)}
            for setting, one, found in zip(settings, figures, measured, strict=True)
        ],
        "higher_is_worse": list(HIGHER_IS_WORSE),
        "misses": list(misses),
    }


def _wrong(questions: Sequence[EvalQuestion], found: Measured) -> list[dict[str, Any]]:
    return [
        {"question": question.text, "answer": answer["answer"]}
        for question, answer in zip(questions, found.answers, strict=bool(found.answers))
        if (question.expected and not answer_is_right(question, answer))
        or (question.none and not says_none(answer))
    ]
