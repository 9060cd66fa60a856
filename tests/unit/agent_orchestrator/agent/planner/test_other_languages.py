"""Questions in other languages than English: the search decides which passage answers."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from services.agent_orchestrator.agent.planner.answers import (
    INTRODUCTION,
    NOTHING_ANSWERS,
    AnsweredPart,
    compose,
)
from services.agent_orchestrator.agent.planner.language import sentences
from services.agent_orchestrator.agent.planner.question import Clock, read_question
from services.agent_orchestrator.agent.planner.reading import Reading
from services.agent_orchestrator.agent.results import Citation, ResultItem, ToolResult

CLOCK = Clock(datetime(2026, 11, 24, 10, tzinfo=UTC), ZoneInfo("UTC"))
GERMAN = (
    "Die Werkstatt in Kassel repariert seit 1990 Fahrräder. Leiterin der Werkstatt ist seit März Frau Vogel. "
    "Ersatzteile liefert die Firma Brandt aus Göttingen."
)
SPANISH = (
    "La biblioteca municipal tiene tres plantas. Abre a las nueve de la mañana. "
    "La directora es Carmen Ruiz desde 2021."
)
CHINESE = "仓库建于一九九八年。仓库的安全由李明负责。食堂每天七点开门。每个货架最多承重五百公斤。"
JAPANESE = (
    "倉庫は1998年に建てられました。倉庫の安全は田中さんが担当しています。食堂は7時に開きます。"
)
RUSSIAN = "Склад построен в 1998 году. За безопасность склада отвечает Иван Петров. Столовая открывается в семь часов."


def passage(text: str, title: str = "1") -> ResultItem:
    cited = Citation(title, title, "wiki", f"chunk-{title}", 0, len(text), text)
    return ResultItem("passage", text, 0.6, citations=(cited,))


async def answer(reading: Reading, question: str, *items: ResultItem) -> str:
    asked = read_question(question, [], CLOCK)
    found = ToolResult("comprehensive_search", "ok" if items else "no_match", "acme", items=items)
    return (await compose([AnsweredPart(asked, (found,))], reading, introduce=False)).text


@pytest.mark.parametrize(
    ("document", "question", "said"),
    [
        (GERMAN, "Wer leitet die Werkstatt in Kassel?", "Vogel"),
        (GERMAN, "Woher kommen die Ersatzteile?", "Brandt"),
        (SPANISH, "¿A qué hora abre la biblioteca municipal?", "nueve"),
        (SPANISH, "¿Quién es la directora de la biblioteca?", "Carmen Ruiz"),
        (CHINESE, "谁负责仓库的安全？", "李明"),
        (CHINESE, "货架最多承重多少？", "五百公斤"),
        (JAPANESE, "倉庫の安全は誰が担当していますか？", "田中さん"),
        (JAPANESE, "食堂は何時に開きますか？", "7時"),
        (RUSSIAN, "Кто отвечает за безопасность склада?", "Иван Петров"),
        (RUSSIAN, "Во сколько открывается столовая?", "семь часов"),
    ],
)
async def test_a_sentence_of_the_first_passage_is_quoted(
    reading: Reading, document: str, question: str, said: str
) -> None:
    text = await answer(reading, question, passage(document), passage("Die Kantine hat zu.", "2"))
    assert said in text
    assert text.count("“") <= 2
    assert "(2 · wiki)" not in text


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Die Halle ist seit dem 3. März für alle offen. Der Eintritt ist frei.", 2),
        ("It opened on floor 3. The entry is free.", 2),
        (CHINESE, 4),
        (JAPANESE, 3),
        (RUSSIAN, 3),
        ("यह पुल 1960 में बना। इसकी लंबाई दो किलोमीटर है।", 2),
    ],
)
def test_sentences_end_where_they_do_in_their_script(text: str, count: int) -> None:
    assert len(sentences(text)) == count


async def test_the_introduction_says_that_the_planners_own_words_are_english(
    reading: Reading,
) -> None:
    asked = read_question("Кто отвечает за безопасность склада?", [], CLOCK)
    found = ToolResult("comprehensive_search", "ok", "acme", items=(passage(RUSSIAN),))
    draft = await compose([AnsweredPart(asked, (found,))], reading, introduce=True)
    assert draft.paragraphs[-1].startswith(INTRODUCTION)
    assert "English" in draft.paragraphs[-1]


async def test_nothing_is_quoted_if_the_search_found_nothing(reading: Reading) -> None:
    assert await answer(reading, "Wer leitet die Werkstatt in Kassel?") == NOTHING_ANSWERS
