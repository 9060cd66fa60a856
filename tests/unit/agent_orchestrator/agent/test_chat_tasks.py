"""Titles, tags and follow-ups that chat front ends ask for, recognized by their form."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_orchestrator.agent.chat_tasks import read_chat_task
from services.agent_orchestrator.agent.planner.chat_task_answers import answer_chat_task

HISTORY = (
    "<chat_history>\nUSER: Who repairs the harbor crane in Oslo?\nASSISTANT: The documents do not say.\n"
    "USER: and the crane in Bergen?\n</chat_history>"
)


def task(instruction: str, shape: str) -> str:
    return (
        f"### Task:\n{instruction}\n### Guidelines:\n- Write in the chat's language.\n- Add an emoji to a title.\n"
        f'### Output:\n{shape}\n### Examples:\n- {{ "title": "📉 Stock Market Trends" }}\n### Chat History:\n{HISTORY}'
    )


TITLE = task(
    "Generate a concise, 3-5 word title with an emoji summarizing the chat history.",
    'JSON format: { "title": "your concise title here" }',
)
TAGS = task(
    "Generate 1-3 broad tags categorizing the main themes of the chat history, along with subtopic tags.",
    'JSON format: { "tags": ["tag1", "tag2", "tag3"] }',
)
FOLLOW_UPS = task(
    "Suggest 3-5 relevant follow-up questions or prompts that the user might naturally ask next in this conversation.",
    'JSON format: { "follow_ups": ["Question 1?", "Question 2?"] }',
)
QUERIES = task(
    "Analyze the chat history to determine the necessity of generating search queries.",
    'JSON format: { "queries": ["query1", "query2"] }',
)
PLAIN_TITLE = (
    "Provide a concise, 5-word-or-less title for the conversation, using its same language, with no punctuation. "
    "Only return the title itself.\n\nConversation:\nUser: Who repairs the harbor crane in Oslo?\nAI: I do not know."
)
ANOTHER_PLAIN_TITLE = (
    'Please generate a concise title for the conversation.\n\n||>User:\n"Who repairs the harbor crane in Oslo?"\n'
    '||>Response:\n"I do not know."\n\n||>Title:'
)


def answer(prompt: str) -> str:
    read = read_chat_task(prompt)
    assert read is not None
    return answer_chat_task(read)


@pytest.mark.parametrize("prompt", [PLAIN_TITLE, ANOTHER_PLAIN_TITLE])
def test_a_title_in_plain_text_has_the_key_words_of_the_first_message(prompt: str) -> None:
    assert answer(prompt) == "Repairs harbor crane Oslo"


def test_a_title_is_an_object_where_the_prompt_asks_for_one() -> None:
    assert json.loads(answer(TITLE)) == {"title": "Repairs harbor crane Oslo"}


def test_tags_are_the_words_that_are_repeated_most() -> None:
    tags = json.loads(answer(TAGS))["tags"]
    assert tags[0] == "crane"
    assert len(tags) == 3


def test_follow_ups_are_an_empty_list_and_queries_the_last_message() -> None:
    assert json.loads(answer(FOLLOW_UPS)) == {"follow_ups": []}
    assert json.loads(answer(QUERIES)) == {"queries": ["and the crane in Bergen?"]}


@pytest.mark.parametrize(
    ("said", "title"),
    [("hi", "hi"), ("谁负责仓库的安全？", "谁负责仓库的安全"), ("???", "New chat")],
)
def test_any_message_has_a_title(said: str, title: str) -> None:
    assert answer(f"Generate a title.\nConversation:\nUser: {said}").casefold() == title.casefold()


@pytest.mark.parametrize(
    "question",
    [
        "Generate a concise title for the report on cranes.",
        "### Task: who repairs the crane?",
        "What does this conversation say?\nConversation:\nUser: the crane is broken",
        "Which tags does the wiki use?",
        "",
    ],
)
def test_a_persons_question_is_no_task(question: str) -> None:
    assert read_chat_task(question) is None


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_conversation_is_answered_in_the_requested_shape(first: str, said: str) -> None:
    prompt = f'Generate a title: {{ "title": "t" }} {first}\nChat History:\nUser: {said}'
    read = read_chat_task(prompt)
    if read is not None and read.key:
        assert set(json.loads(answer_chat_task(read))) == {read.key}
