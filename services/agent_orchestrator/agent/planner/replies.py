"""Replies to what asks nothing: greetings, thanks, statements, and requests to forget."""

from __future__ import annotations

from typing import Final, NamedTuple

from services.agent_orchestrator.agent.planner.first_person import is_statement
from services.agent_orchestrator.agent.planner.language import is_english
from services.agent_orchestrator.agent.planner.small_talk import is_small_talk
from services.agent_orchestrator.entity_memory.forgetting import (
    TO_CONFIRM,
    asks_to_forget,
    names_what_to_forget,
)
from services.runtime.patterns import compile_linear

GREETING: Final = (
    "Hello. Ask me about your documents and what is known about people, teams and things."
)
NOTED: Final = "Noted."
KEPT: Final = "I keep that in mind: ask me about it whenever you like."
ACKNOWLEDGED: Final = "All right. Ask me when you want to know something."
WELCOME: Final = "You are welcome."
GOODBYE: Final = "Goodbye."
HOW_TO_FORGET: Final = (
    "What is remembered about you cannot be deleted from this conversation. "
    "`braid memory list` shows it; `braid memory delete NAME` deletes it."
)

# "The gate code is 4411."
_DECLARES: Final = compile_linear(
    r"^\W*[^?]{1,1000}\s(?:is|are|was|were|has|have|had|will|\w{2,40}ed)\s[^?]{1,1000}[.!]\s*$",
    ignore_case=True,
)
_ASKS: Final = compile_linear(
    r"^\W*(?:(?:and|so|please|now|ok|well)[ ,]+)*(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|do"
    r"|does|did|has|have|had|can|could|will|would|should|list|show|tell|give|find|name|describe|explain|summari[sz]e|compare"
    r"|search|look|count|i (?:need|want|don't (?:know|understand|remember|see|find|get))|let me|remind|according)\b",
    ignore_case=True,
)
_FIRST_PERSON: Final = compile_linear(
    r"^\W*(?:(?:and|so|well|actually|by the way|btw)[ ,]+)*(?:i|i'm|i've|i'd|we|we're|we've|my|our)\b",
    ignore_case=True,
)
# "I", "we", "my" and "our", and verbs that need none of them, of languages that are written in such chats.
_FOREIGN_SELF: Final = compile_linear(
    r"(?:ich|wir|mein\w*|unser\w*|je|j['’]\w+|nous|mon|ma|mes|notre|nos|yo|mis?|nosotros|nuestr\w+|soy|vivo|trabajo|tengo"
    r"|uso|io|sono|mi[oa]|abito|lavoro|ik|wij|we|mijn|onze|eu|meu|minha|moro|jag|mitt|jeg|ja|mieszkam)\b",
    ignore_case=True,
)
_INSTRUCTS: Final = compile_linear(
    r"^\W*(?:please[ ,]+)?(?:always|never|from now on|remember|keep in mind|note that|for the record)\b",
    ignore_case=True,
)
_YES: Final = compile_linear(
    r"(?:yes|yep|yeah|sure|ok|okay|confirm(?:ed)?|do it|go ahead)(?:[ ,]+please)?\W*$",
    ignore_case=True,
)
_LONGEST_STATEMENT: Final = 2_000
_THANKS: Final = compile_linear(
    r"\b(?:thanks?|thank you|thx|ty|cheers|appreciate[ds]?)\b", ignore_case=True
)
_GOODBYE: Final = compile_linear(
    r"\b(?:bye|goodbye|see (?:you|ya)|ciao|take care|good night|have a \w+ \w+)\b", ignore_case=True
)
# What acknowledges an answer: it wants no introduction.
_ACKNOWLEDGES: Final = compile_linear(
    r"^\W*(?:ok(?:ay)?|yes|no|yep|yeah|nope|sure|fine|great|nice|cool|awesome|perfect|excellent|wonderful|brilliant"
    r"|good(?: (?:job|bot|work|one))?|wow|lol|oh|ah+|hm+|sorry|never ?mind|no (?:problem|worries)|got it|i see"
    r"|i understand|understood|makes sense|sounds good|well done|forget (?:it|about it|that))\b",
    ignore_case=True,
)
_DAYTIME: Final = compile_linear(r"^\W*good (?:morning|afternoon|evening|day)\b", ignore_case=True)
_TELL: Final = r"(?:tell|told|say|said|mention(?:ed)?|talk(?:ed)?|write|wrote|written)"
_ANSWER: Final = (
    r"(?:tell|told|say|said|answer(?:ed)?|repl(?:y|ied)|recommend(?:ed)?|suggest(?:ed)?)"
)
_EVER: Final = "(?:ever |already |just )?"
_ANSWERED: Final = compile_linear(rf"\byou {_EVER}{_ANSWER}\b", ignore_case=True)
# "When did I tell you", "what did I say about", "what did you answer". Whom "we" means is not known, and what was told
# to a colleague may stand in a document.
_SAID: Final = compile_linear(
    r"(?:\b(?:when|what|where|how often|which)\b[^.?!]{0,40})?"
    rf"\b(?:(?:did|have|had) i {_EVER}(?:{_TELL} (?:to )?you|say|said|mention(?:ed)?)"
    rf"|(?:did|have|had) you {_EVER}{_ANSWER}(?: me)?"
    r"|(?:in|from|during) our (?:last |previous |earlier |past )?(?:chats?|conversations?))\b"
    r"(?: (?:about|of|on|that|regarding))?",
    ignore_case=True,
)


def asks_nothing(text: str) -> bool:
    """Whether a text needs no look-up: small talk, a statement about the user, or a request to forget."""
    return is_small_talk(text) or is_statement(text) or asks_to_forget(text)


class AskedOfConversations(NamedTuple):
    """What a question about earlier conversations is about, and whether it means what was answered."""

    topic: str
    of_assistant: bool


def asks_about_conversations(text: str) -> bool:
    """Whether users ask what they or the assistant said before: "when did I tell you about the move?"."""
    return bool(_SAID.search(text.replace("’", "'")))


def asked_of_conversations(text: str) -> AskedOfConversations:
    """Returns what a question about earlier conversations is about."""
    plain = text.replace("’", "'")
    return AskedOfConversations(_SAID.sub(" ", plain).strip(" ?.!,"), bool(_ANSWERED.search(plain)))


def asks(text: str) -> bool:
    """Whether a text asks, by its mark or its first word."""
    plain = text.replace("’", "'")
    return "?" in plain or bool(_ASKS.match(plain))


def may_state(text: str) -> bool:
    """Whether a text may state something for the memory: it asks nothing, and is about the user or a whole sentence."""
    plain = text.replace("’", "'").strip()
    return (
        len(plain) <= _LONGEST_STATEMENT
        and not asks(plain)
        and not asks_to_forget(plain)
        and (plain.endswith((".", "!")) or bool(_FIRST_PERSON.match(plain)))
    )


def instructs(text: str) -> bool:
    """Whether a text says how the user wants it from now on: "always answer in metric units"."""
    plain = text.replace("’", "'")
    return not asks(plain) and not is_small_talk(plain) and bool(_INSTRUCTS.match(plain))


def confirms_too_briefly(text: str, answer: str) -> bool:
    """Whether a text says yes to an answer that asks for more than that, before it erases everything."""
    return TO_CONFIRM in answer and bool(_YES.match(text.strip()))


def is_foreign_statement(text: str) -> bool:
    """Whether a text is a sentence in another language than English that begins with its writer and does not ask."""
    plain = text.strip()
    is_sentence = plain.endswith((".", "!")) and "?" not in plain
    return is_sentence and bool(_FOREIGN_SELF.match(plain)) and not is_english(plain)


def keeps_in_mind(text: str) -> bool:
    """Whether a text tells something about the user, or how they want it: "I'm vegetarian", "always use metric"."""
    plain = text.replace("’", "'")
    if asks(plain) or is_small_talk(plain) or asks_to_forget(plain):
        return False
    return bool(_FIRST_PERSON.match(plain)) or instructs(plain)


def declares(text: str) -> bool:
    """Whether a text states something instead of asking, about whatever it is."""
    plain = text.replace("’", "'")
    return bool(_DECLARES.match(plain)) and not _ASKS.match(plain)


def reply_to(text: str, noted: str) -> str:
    """Returns the reply to a text that asks nothing; `noted` to a statement."""
    plain = text.replace("’", "'")
    if names_what_to_forget(plain):
        return HOW_TO_FORGET
    if is_statement(text):
        return noted
    if _THANKS.search(plain):
        return WELCOME
    if _GOODBYE.search(plain):
        return GOODBYE
    acknowledges = _ACKNOWLEDGES.match(plain) and not _DAYTIME.match(plain)
    return ACKNOWLEDGED if acknowledges else GREETING
