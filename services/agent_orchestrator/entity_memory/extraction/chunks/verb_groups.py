"""Reads verb groups: auxiliaries, negation, adverbs and the main verb, with voice, aspect and tense."""

from services.agent_orchestrator.entity_memory.extraction.chunks.domain import (
    Chunk,
    Kind,
    VerbGroup,
)
from services.agent_orchestrator.entity_memory.extraction.chunks.scan import Scan
from services.agent_orchestrator.entity_memory.extraction.chunks.verb_detection import VerbDetector
from services.agent_orchestrator.entity_memory.extraction.verbs import (
    AUXILIARIES,
    BE,
    DO,
    FORMS,
    HAVE,
    MODALS,
)
from services.agent_orchestrator.entity_memory.extraction.word_classes import (
    ADVERBS,
    DETERMINERS,
    FLOATING_QUANTIFIERS,
    NAMING,
    NEGATORS,
    SELF_POSSESSIVES,
)
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

_ADJECTIVE_LIKE = word_set(
    """
    happy glad sure proud certain afraid sad able free ready willing keen eager likely
    """
)


class VerbGroups:
    """Reads the verb group that starts at a position."""

    def __init__(self, scan: Scan, detector: VerbDetector) -> None:
        self._scan = scan
        self._detector = detector

    def read(self, place: int) -> int:
        """Reads auxiliaries, negation, adverbs and the main verb from `place`."""
        start = place
        auxiliaries: list[str] = []
        adverbs: list[str] = []
        negated = False
        infinitive = False
        modal = ""
        while place < len(self._scan.tokens):
            word = self._scan.lower(place)
            if word == "to" and not auxiliaries and place == start:
                infinitive = True
            elif word in {"not", "no_longer"} | NEGATORS:
                negated = True
            elif (
                (word in ADVERBS and place > start and place not in self._scan.inside_names)
                or (word == "rather" and modal == "would")
                or (word in FLOATING_QUANTIFIERS and self._verb_follows(place, auxiliaries))
            ):
                adverbs.append(word)
            elif word in AUXILIARIES | {"'s", "'d"}:
                auxiliaries.append(self._expanded(place))
                if word in MODALS or word == "'d":
                    modal = auxiliaries[-1] if auxiliaries[-1] in MODALS else modal
            else:
                break
            place += 1
        main = self._main_verb(place, auxiliaries, infinitive)
        if main is None:
            if not auxiliaries:
                return self._lonely(start, place, negated)
            lemma = _lemma(auxiliaries[-1])
            form = "participle" if auxiliaries[-1] == "been" else "third"
            if infinitive and auxiliaries == ["be"]:
                form = "to"
            rest = auxiliaries[:-1]
            end = place
            while end > start + 1 and self._scan.lower(end - 1) in ADVERBS:
                end -= 1
                if adverbs:
                    adverbs.pop()
            word = auxiliaries[-1]
        else:
            verb = FORMS.get(self._scan.lower(place))
            lemma = verb.lemma if verb is not None else self._scan.lower(place)
            form = self._main_form(place, auxiliaries, infinitive)
            rest = auxiliaries
            end = place + 1
            word = self._scan.lower(place)
        group = VerbGroup(lemma, form, tuple(rest), negated, modal, adverbs=tuple(adverbs))
        _set_aspect(group, word, has_main=main is not None)
        self._scan.chunks.append(Chunk(Kind.VERB, word, start, end, verb=group))
        return end

    def _verb_follows(self, place: int, auxiliaries: list[str]) -> bool:
        """Whether the group continues after a word: "have all been using", not "are all developers"."""
        known = list(auxiliaries)
        place += 1
        while self._scan.lower(place) in ADVERBS | AUXILIARIES:
            if self._scan.lower(place) in AUXILIARIES:
                known.append(self._scan.lower(place))
            place += 1
        return bool(known) and self._main_verb(place, known, infinitive=False) is not None

    def _lonely(self, start: int, place: int, negated: bool) -> int:
        kind = Kind.NEGATION if negated else Kind.ADVERB
        end = max(place, start + 1)
        word = self._scan.lower(start)
        if word == "to":
            return self._scan.add(Kind.PREPOSITION, word, start, start + 1)
        return self._scan.add(kind, word, start, end)

    def _expanded(self, place: int) -> str:
        """Expands "'d" and "'s" to the auxiliaries that they stand for."""
        word = self._scan.lower(place)
        at = place + 1
        while at < len(self._scan.tokens) and (
            self._scan.lower(at) in ADVERBS or self._scan.lower(at) in NEGATORS
        ):
            at += 1
        kinds = self._scan.kinds(at)
        if word == "'d":
            past = ("participle" in kinds and "base" not in kinds) or self._scan.lower(at) == "been"
            return "had" if past else "would"
        if word == "'s":
            return "has" if self._scan.lower(at) in {"been", "got", "had"} else "is"
        return {"'m": "am", "'re": "are", "'ve": "have"}.get(word, word)

    def _main_verb(self, place: int, auxiliaries: list[str], infinitive: bool) -> int | None:
        if place >= len(self._scan.tokens) or (
            place in self._scan.inside_names and self._scan.tokens[place].capital
        ):
            return None
        word = self._scan.lower(place)
        kinds = self._scan.kinds(place)
        if word in AUXILIARIES:
            return None
        if not auxiliaries:
            if infinitive:
                return place if "base" in kinds else None
            return place if kinds or self._detector.is_unknown_verb(place) else None
        last = auxiliaries[-1]
        before = self._scan.lower(place - 1)
        if before in DETERMINERS - FLOATING_QUANTIFIERS or before in SELF_POSSESSIVES:
            return None
        if last in MODALS or last in DO:
            return place if "base" in kinds else None
        if _lemma(last) == "have":
            return place if "participle" in kinds and place not in self._scan.inside_names else None
        if _lemma(last) == "be":
            return (
                place
                if kinds & {"ing", "participle"} and word not in {"set", "read"} | _ADJECTIVE_LIKE
                else None
            )
        return None

    def _main_form(self, place: int, auxiliaries: list[str], infinitive: bool) -> str:
        kinds = self._scan.kinds(place)
        if infinitive:
            return "to"
        if not auxiliaries:
            return next(
                (kind for kind in ("third", "past", "base", "ing", "participle") if kind in kinds),
                "base",
            )
        last = auxiliaries[-1]
        if last in MODALS or last in DO:
            return "base"
        if _lemma(last) == "have":
            return "participle"
        return "ing" if "ing" in kinds else "participle"


def _set_aspect(group: VerbGroup, word: str, *, has_main: bool) -> None:
    """Sets voice, aspect and tense from the auxiliaries; "have got" means has, "is called" means is."""
    rest = group.auxiliaries
    last = _lemma(rest[-1]) if rest else ""
    group.passive = group.form == "participle" and last == "be"
    group.progressive = group.form == "ing" and last == "be"
    been = group.lemma == "be" and group.form == "participle" and bool(rest)
    group.perfect = been or (has_main and any(_lemma(each) == "have" for each in rest))
    group.past = any(each in {"was", "were", "did", "had"} for each in rest) or (
        not rest and (group.form == "past" or word in {"was", "were", "had", "did"})
    )
    if word == "got" and last == "have":
        group.lemma, group.form, group.perfect = "have", "base", False
    if word in NAMING and group.passive:
        group.lemma, group.form, group.passive = "be", "third", False


def _lemma(word: str) -> str:
    if word in BE or word == "is":
        return "be"
    if word in HAVE:
        return "have"
    if word in DO:
        return "do"
    return word
