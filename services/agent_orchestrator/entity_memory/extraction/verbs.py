"""Verb forms: which words can be verbs, with lemma and form."""

from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

BE = word_set(
    """
    being was 'm been am were 're be are is
    """
)
HAVE = frozenset({"have", "has", "had", "having", "'ve"})
DO = frozenset({"do", "does", "did"})
MODALS = word_set(
    """
    could will 'll must can should ought would shall might may
    """
)
AUXILIARIES = BE | HAVE | DO | MODALS

_IRREGULAR = """
be:was,been have:had,had do:did,done go:went,gone say:said,said make:made,made know:knew,known take:took,taken
see:saw,seen come:came,come think:thought,thought get:got,gotten|got give:gave,given find:found,found
tell:told,told become:became,become leave:left,left feel:felt,felt put:put,put bring:brought,brought
begin:began,begun keep:kept,kept hold:held,held write:wrote,written stand:stood,stood hear:heard,heard
let:let,let mean:meant,meant set:set,set meet:met,met run:ran,run pay:paid,paid sit:sat,sat speak:spoke,spoken
lie:lay,lain lead:led,led read:read,read grow:grew,grown lose:lost,lost fall:fell,fallen send:sent,sent
build:built,built understand:understood,understood draw:drew,drawn break:broke,broken spend:spent,spent
cut:cut,cut rise:rose,risen drive:drove,driven buy:bought,bought wear:wore,worn choose:chose,chosen
seek:sought,sought throw:threw,thrown catch:caught,caught deal:dealt,dealt win:won,won forget:forgot,forgotten
sell:sold,sold teach:taught,taught bet:bet,bet stick:stuck,stuck swear:swore,sworn wake:woke,woken
hide:hid,hidden bite:bit,bitten fly:flew,flown sing:sang,sung swim:swam,swum dream:dreamed|dreamt,dreamed|dreamt
learn:learned|learnt,learned|learnt overhear:overheard,overheard rewrite:rewrote,rewritten
rebuild:rebuilt,rebuilt quit:quit,quit cost:cost,cost hit:hit,hit shut:shut,shut split:split,split
spin:spun,spun bind:bound,bound withdraw:withdrew,withdrawn undo:undid,undone steal:stole,stolen
beat:beat,beaten eat:ate,eaten drink:drank,drunk sleep:slept,slept fight:fought,fought shoot:shot,shot
lend:lent,lent feed:fed,fed bend:bent,bent hang:hung,hung
"""
_REGULAR = """
use practice practise embrace consist belong utilize utilise employ adopt own prefer like love hate adore enjoy
favour favor rely depend need require want wish hope plan intend consider evaluate try test decide pick select
settle agree opt standardize standardise commit sign vote land work maintain hack tinker develop contribute
create design ship code program co-lead co-author co-found cofound colead collaborate pair report help manage
supervise mentor join start found intern belong study volunteer freelance move switch migrate convert port
upgrade replace swap trade ditch drop abandon retire remove stop avoid refuse finish cease believe guess suppose
imagine assume pretend wonder ask doubt claim mention describe document cover list discuss reference cite note
remember recall explain state suggest recommend propose argue insist deny admit confirm announce declare promise
rumor rumour hint expect learn notice realize realise discover seem appear happen look live host deploy store
track monitor query process call talk communicate integrate connect power back base implement serve render
compile edit debug analyze analyse train visualize visualise document organize organise schedule publish release
stream sync save load fetch index search crawl parse log chat sketch model prototype automate provision
configure install handle support provide offer include contain involve exist stay remain continue end open close
add change turn show play follow lead watch listen wait walk travel visit attend invite share exchange compare
translate summarize summarise rewrite paraphrase proofread correct fix improve polish shorten review check
imagine act roleplay apply interview hire fire promote retire graduate borrow rent touch miss cause create
produce generate emit publish subscribe swear bump introduce befriend partner team co-work coordinate head
oversee administer operate push pull merge receive accept reject approve block trust fear worry regret
appreciate thank welcome excuse bother care matter complain rant rave gush recommend advise warn remind teach
prepare present demonstrate hand wrap bundle package orchestrate consume ingest enjoy tend manage fail struggle
attempt experiment play explore investigate research assess benchmark measure count calculate estimate predict
forecast reconsider dislike despise loathe miss kick tempt intrigue interest excite surprise please satisfy
annoy frustrate confuse impress inspire convince persuade force oblige allow permit enable disable encourage ask
beg order command demand program script type print scan record film photograph paint cook bake clean wash fold
lift carry wear charge cycle jog train relate link attach embed import export extend inherit wrap target reach
touch land migrate standardise converge rent lease license sponsor fund finance acquire buy merge consult advise
represent chair moderate organise co-organise curate steer champion default swear outsource delegate assign task
crash freeze hang lag scale suck rock rule reside hail pass
"""


@dataclass(frozen=True, slots=True)
class VerbForm:
    lemma: str
    kinds: frozenset[str]
    """Of `base`, `third`, `past`, `participle`, `ing`."""


def _ends_doubled(verb: str) -> bool:
    vowels = "aeiou"
    short = len(verb) <= 4 or verb in {
        "prefer",
        "commit",
        "admit",
        "permit",
        "refer",
        "program",
        "outrun",
        "formet",
    }
    return (
        short
        and len(verb) >= 3
        and verb[-1] not in vowels + "wxy"
        and verb[-2] in vowels
        and verb[-3] not in vowels
        and verb not in {"open", "edit", "host", "visit", "list"}
    )


def _third(verb: str) -> str:
    if verb in {"be", "have", "do", "go"}:
        return {"be": "is", "have": "has", "do": "does", "go": "goes"}[verb]
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _stem(verb: str) -> str:
    return verb + verb[-1] if _ends_doubled(verb) else verb


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return _stem(verb) + "ed"


def _ing(verb: str) -> str:
    if verb == "lie":
        return "lying"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return verb[:-1] + "ing"
    return _stem(verb) + "ing"


def _forms() -> dict[str, VerbForm]:
    kinds: dict[str, dict[str, set[str]]] = {}

    def add(form: str, lemma: str, kind: str) -> None:
        kinds.setdefault(form, {}).setdefault(lemma, set()).add(kind)

    irregular: dict[str, tuple[list[str], list[str]]] = {}
    for entry in _IRREGULAR.split():
        verb, forms = entry.split(":")
        past, participle = forms.split(",")
        irregular[verb] = (past.split("|"), participle.split("|"))
    for verb in [*irregular, *_REGULAR.split()]:
        add(verb, verb, "base")
        add(_third(verb), verb, "third")
        add(_ing(verb), verb, "ing")
        pasts, participles = irregular.get(verb, ([_past(verb)], [_past(verb)]))
        for form in pasts:
            add(form, verb, "past")
        for form in participles:
            add(form, verb, "participle")
    for form, kind in (
        ("am", "base"),
        ("are", "base"),
        ("'m", "base"),
        ("'re", "base"),
        ("were", "past"),
    ):
        add(form, "be", kind)
    add("'ve", "have", "base")
    return {
        form: VerbForm(
            *max(
                ((lemma, frozenset(of)) for lemma, of in lemmas.items()),
                key=lambda each: len(each[1]),
            )
        )
        for form, lemmas in kinds.items()
    }


FORMS = _forms()
"""Each known verb form; a form of two verbs ("found") is that of the one with more readings."""

NOUNS_TOO = word_set(
    """
    use work need plan test design code program call talk chat sketch model log index search stream support
    release back base report help lead end start head sign vote land hope wish love hate like want try move
    switch trade drop stop process query change turn show play share review check fix study intern partner
    team host store track document list cover reference state claim note doubt guess estimate measure research
    benchmark record script type print scan film order demand force target import export link task scale
    default pass lag crash rock rule charge cycle train paint wear cook visit travel walk watch wait look live
    value interest surprise annoy name uses works needs plans tests designs codes programs calls talks chats
    sketches models logs indexes searches streams releases reports leads ends starts heads moves switches
    changes shows plays shares reviews checks fixes studies interns partners teams hosts stores tracks
    documents lists references states claims notes estimates measures benchmarks records scripts types prints
    scans orders targets imports exports links tasks scales defaults builds build run runs set sets read reads
    cut cuts hit hits commit commits merge merges push pull package bundle wrap exchange load save power touch
    fear trust worry care matter answer lives meeting building writing testing training programming marketing
    engineering monitoring logging interview hire lease license fund finance
    """
)
"""Forms that are as often nouns; the words before them decide."""


def verb_form(word: str) -> VerbForm | None:
    return FORMS.get(word)
