"""Recognizes greetings, thanks, and talk about the assistant itself, which need no look-up."""

from __future__ import annotations

from typing import Final

from services.runtime.patterns import compile_linear

# Parts of a greeting; any number of them in a row.
_PIECES: Final = (
    "hi|hello|hey|hiya|howdy|yo|greetings|welcome back|good (?:morning|afternoon|evening|night|day)|morning|evening",
    r"bye(?: bye)?|goodbye|see (?:you|ya)|later|cheers|ciao|take care|have a (?:nice|good|great|lovely) \w+",
    r"thanks?(?: (?:you|a (?:lot|million|bunch|ton)|so much|very much|again|for [\w' ]+))*|thx|ty|much appreciated",
    "ok(?:ay)?|yes|no|yep|yeah|nope|sure|fine|great|nice|cool|awesome|perfect|excellent|wonderful|brilliant|good",
    (
        "wow|lol|haha+|hm+|ah+|oh|oops|sorry|my bad|congratulations|congrats|well done|(?:good|"
        "great|nice) (?:job|bot|work|one)"
    ),
    "never ?mind|no (?:problem|worries)|you're welcome|got it|i see|i understand|understood|makes sense|sounds good",
    (
        r"(?:that|this|it)(?:'s| is| was) (?:all|it|ok|okay|fine|enough|funny|(?:very |really |"
        r"so )?(?:good|great|nice|cool|helpful|perfect|awesome))"
    ),
    (
        r"i(?:'m| am) (?:fine|good|ok|okay|happy|sad|tired|bored|back|here|glad|done|well|great|"
        r"sorry|doing (?:well|fine|good|great))"
    ),
    "nice to meet you|pleased to meet you|how do you do",
    (
        "there|all|team|braid|assistant|bot|everyone|folks|friend|mate|man|buddy|again|then|"
        "for now|today|tonight|tomorrow"
    ),
    (
        "please|so|much|very|really|just|and|to|you|too|now|soon|with you|to hear(?: that)?|"
        "with that|a lot|not bad|of course"
    ),
)
_GREETING: Final = compile_linear(
    rf"(?:(?:{'|'.join(_PIECES)})(?:[\s,.!?;:–-]+|$))+", ignore_case=True
)
# Maximum length of a greeting in characters.
_LONGEST: Final = 200
_LEAD: Final = r"^(?:(?:so|and|but|hey|hi|hello|well)[ ,]+)*"
_ABOUT_ASSISTANT: Final = compile_linear(
    _LEAD
    + "(?:"
    + "|".join((
        "who (?:are|made|built|created|trained) you|what are you|who am i (?:talking|speaking) to",
        r"what(?:'s| is| are) your (?:name|purpose|job|age|hobbies|opinion.*|favou?rite .+)|how old are you",
        ("what(?: else)? (?:can|do) you (?:do|offer|know)(?: for me| here)?|what can you "
            "(?:help|answer).{0,30}|what can i ask(?: you)?"),
        (r"how are (?:you|things)(?: .{0,30})?|how(?:'s| is) (?:it going|everything|life|"
            r"your day).{0,20}|what's up|sup"),
        "how do you (?:work|feel)(?: .{0,20})?|where are you(?: from| located)?",
        ("are you (?:a |an |there|human|real|ok|sure|alive|ready|listening|conscious|still "
            "there|free|happy|okay).{0,40}"),
        "do you (?:speak|like|love|feel|sleep|dream|have feelings|get tired|ever).{0,40}",
        (r"can you (?:help(?: me)?|hear me|speak \w+|understand \w+|sing|dance|think)(?: out|"
            r" today| please)?|(?:please )?help(?: me)?(?: out)?"),
        (r"(?:tell|make|say)(?: me| us)?(?: a| another| some| something)? ?(?:good |"
            r"funny )?(?:jokes?|funny|stor(?:y|ies)|poems?|riddles?|laugh).{0,30}"),
        "(?:sing|write|compose) (?:me )?(?:a |an )?(?:song|poem|haiku|limerick).{0,30}|(?:a |another )?joke",
        ("what do you think(?: of me)?|is (?:anyone|anybody|someone) there|(?:i|we) (?:love|"
            "like|hate|appreciate) (?:you|it|this|that)"),
        "you(?:'re| are) (?:great|awesome|the best|funny|smart|right|wrong|amazing|helpful|so .+|very .+|really .+)",
        r"(?:what|how)(?:'s| is) the (?:weather|meaning of life).{0,30}|test(?:ing)?|ping",
    ))
    + ")$",
    ignore_case=True,
)  # fmt: skip


def is_small_talk(text: str) -> bool:
    """Whether a text only greets, thanks, or talks about the assistant."""
    if len(text) > _LONGEST:
        return False
    plain = text.replace("’", "'").strip(" ?.!,;:()\n")
    if not any(letter.isalpha() for letter in plain):
        return not any(letter.isdigit() for letter in plain)
    return bool(_GREETING.fullmatch(plain) or _ABOUT_ASSISTANT.match(plain))
