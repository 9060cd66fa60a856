"""Verb frames: the relationship that each verb, with its preposition, states."""

from dataclasses import dataclass

from services.agent_orchestrator.entity_memory.domain import RelationshipType
from services.agent_orchestrator.entity_memory.extraction.word_sets import word_set

U = RelationshipType.USES
D = RelationshipType.DEPENDS_ON
C = RelationshipType.DECIDED
P = RelationshipType.PREFERS
O = RelationshipType.WORKS_ON  # noqa: E741
W = RelationshipType.WORKS_WITH
K = RelationshipType.KNOWS
M = RelationshipType.MENTIONED_IN
A = RelationshipType.PART_OF
L = RelationshipType.LIVES_IN

EXPLICIT = 0.95
IMPLIED = 0.8
OBJECT = ""
"""Marks the direct object where another frame names a preposition."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One reading of a verb: its subject relates to its object, or to what a preposition governs."""

    type: RelationshipType
    marker: str = OBJECT
    confidence: float = EXPLICIT
    target: str = "any"
    """`any`, `tool` (known, or it looks like one), `person`, `organization`, `project`, `place`, `thing`,
    `document`."""
    source: str = "any"
    """`any`, `self`, `thing`, `person`, `organized` (the user or a person)."""
    event: bool = False
    """Whether what happened once still holds, so that the past tense counts."""
    needs_object: bool = False


def _frames(*entries: tuple[str, Frame]) -> dict[str, tuple[Frame, ...]]:
    table: dict[str, list[Frame]] = {}
    for verbs, frame in entries:
        for verb in verbs.split():
            table.setdefault(verb, []).append(frame)
    return {verb: tuple(frames) for verb, frames in table.items()}


FRAMES = _frames(
    # USES
    ("use utilize utilise", Frame(U, target="thing")),
    ("adopt", Frame(U, event=True, target="thing")),
    ("employ", Frame(U, confidence=IMPLIED, target="tool")),
    ("run", Frame(U, "on")),
    ("run", Frame(U, confidence=IMPLIED, target="tool")),
    ("run operate", Frame(U, "in", target="tool", confidence=IMPLIED)),
    ("write", Frame(U, confidence=IMPLIED, target="tool", source="organized")),
    ("write code program script develop", Frame(U, "in", target="tool")),
    ("code program develop script", Frame(U, "with", target="tool")),
    (
        "write build implement code rewrite prototype develop create",
        Frame(U, "in", target="tool", event=True, needs_object=True),
    ),
    (
        "write build implement develop create prototype make",
        Frame(U, "with", target="tool", event=True, needs_object=True),
    ),
    ("build develop create", Frame(U, "on", target="tool", event=True)),
    ("build develop sit", Frame(U, "on_top_of", target="tool", event=True)),
    ("deploy host ship release publish push", Frame(U, "on", target="tool")),
    ("deploy ship publish push release", Frame(U, "to", target="tool")),
    ("deploy host ship provision", Frame(U, "with", target="tool")),
    ("host store keep save put", Frame(U, "in", target="tool")),
    ("host keep store", Frame(U, "on", target="tool")),
    (
        "type put enter log write paste import dump save copy",
        Frame(U, "into", target="known tool", confidence=IMPLIED),
    ),
    ("live reside", Frame(L, "in", target="place", source="organized")),
    ("move relocate", Frame(L, "to", event=True, target="place")),
    ("move relocate", Frame(L, "to", event=True, target="known place", source="organized")),
    ("live", Frame(U, "in", target="tool")),
    ("live sit reside", Frame(U, "on", target="tool")),
    ("switch move migrate convert upgrade", Frame(U, "to", event=True, target="thing")),
    ("change", Frame(U, "to", event=True, target="tool")),
    ("port rewrite", Frame(U, "to", event=True, target="tool")),
    ("vote", Frame(C, "for", event=True, target="tool", confidence=IMPLIED)),
    (
        "replace",
        Frame(U, "by", event=True, target="thing", needs_object=True, confidence=0.9),
    ),
    ("replace", Frame(U, "with", event=True, target="thing", needs_object=True)),
    (
        "swap trade ditch drop abandon leave exchange",
        Frame(U, "for", event=True, target="thing", needs_object=True),
    ),
    (
        "drop ditch abandon retire leave",
        Frame(U, "in_favour_of", event=True, target="thing", needs_object=True),
    ),
    ("stick", Frame(U, "with", event=True, target="thing")),
    ("stick", Frame(U, "to", target="tool")),
    ("talk connect", Frame(U, "to", source="thing", target="thing")),
    (
        "write send publish log push emit report sync export",
        Frame(U, "to", source="thing", target="thing", confidence=0.9),
    ),
    ("read consume ingest pull load fetch", Frame(U, "from", source="thing", target="thing")),
    ("subscribe", Frame(U, "to", source="thing", target="tool")),
    ("integrate communicate sync", Frame(U, "with", source="thing", target="thing")),
    ("authenticate", Frame(U, "with", source="thing", target="tool")),
    ("authenticate", Frame(U, "against", source="thing", target="tool")),
    ("store keep cache persist save", Frame(U, "in", source="thing", target="thing")),
    ("query call consume", Frame(U, source="thing", target="thing", confidence=IMPLIED)),
    (
        "wrap extend embed leverage speak",
        Frame(U, source="thing", target="tool", confidence=IMPLIED),
    ),
    ("spend", Frame(U, "in", target="tool")),
    ("spend", Frame(U, "on", target="tool", confidence=IMPLIED)),
    ("swear", Frame(U, "by", target="tool", confidence=IMPLIED)),
    ("reach", Frame(U, "for", target="known tool", confidence=IMPLIED)),
    ("turn fall", Frame(U, "to", target="known tool", confidence=IMPLIED)),
    ("fall", Frame(U, "on", target="known tool", confidence=IMPLIED)),
    ("have own", Frame(U, confidence=IMPLIED, target="tool", source="self")),
    ("have", Frame(U, confidence=IMPLIED, target="tool", source="thing")),
    ("standardise standardize", Frame(C, "on", event=True)),
    ("type", Frame(U, "on", target="tool")),
    ("follow practice practise do apply embrace", Frame(U, target="concept")),
    ("live swear", Frame(U, "by", target="concept")),
    ("work", Frame(U, "in", target="tool", confidence=IMPLIED)),
    ("work", Frame(U, "with", target="known tool", confidence=IMPLIED)),
    ("work", Frame(U, "on", target="device", confidence=IMPLIED)),
    ("get", Frame(U, "by_with", target="tool")),
    # DEPENDS_ON
    ("depend rely", Frame(D, "on")),
    ("depend rely", Frame(D, "upon")),
    ("need require", Frame(D, target="thing")),
    # PREFERS
    ("prefer favour favor", Frame(P)),
    # DECIDED
    ("choose pick select", Frame(C, event=True, target="thing")),
    ("decide settle agree land", Frame(C, "on", event=True, target="thing")),
    ("decide opt", Frame(C, "for", event=True, target="thing")),
    ("decide", Frame(C, "in_favour_of", event=True, target="thing")),
    ("go", Frame(C, "with", event=True, target="thing")),
    ("go", Frame(C, "for", event=True, target="thing", confidence=0.9)),
    ("settle", Frame(C, "for", event=True, target="thing")),
    ("commit", Frame(C, "to", event=True, target="tool", confidence=IMPLIED)),
    # WORKS_ON
    ("work hack tinker collaborate focus", Frame(O, "on", target="thing")),
    ("hack", Frame(O, "at", target="thing")),
    ("tinker", Frame(O, "with", target="project")),
    (
        "maintain co-maintain comaintain build develop head oversee coordinate co-lead colead lead",
        Frame(O, target="thing"),
    ),
    (
        "create design start ship launch co-author",
        Frame(O, target="project", event=True, confidence=IMPLIED),
    ),
    ("build write develop", Frame(O, target="project", event=True, confidence=IMPLIED)),
    ("contribute", Frame(O, "to", target="thing")),
    ("manage own run steer", Frame(O, target="project", confidence=IMPLIED, source="organized")),
    # WORKS_WITH
    ("work collaborate partner co-work cooperate", Frame(W, "with", target="person")),
    ("work collaborate", Frame(W, "alongside", target="person")),
    ("pair team", Frame(W, "with", target="person")),
    ("report", Frame(W, "to", target="person", source="organized")),
    ("work", Frame(W, "under", target="person", source="organized")),
    ("sit", Frame(W, "next_to", target="person")),
    ("share", Frame(W, "with", target="person", needs_object=True, confidence=IMPLIED)),
    ("manage supervise mentor lead coach assist help", Frame(W, target="person", confidence=0.9)),
    # KNOWS
    ("know", Frame(K, target="person")),
    ("meet", Frame(K, "with", target="person", event=True, confidence=0.9)),
    ("meet befriend", Frame(K, target="person", event=True)),
    ("hang", Frame(K, "with", target="person", confidence=IMPLIED)),
    ("grow study", Frame(K, "with", target="person", event=True, confidence=IMPLIED)),
    # PART_OF
    ("work", Frame(A, "at", target="organization", source="organized")),
    ("work", Frame(A, "for", target="organization", source="organized")),
    ("work", Frame(W, "for", target="person", source="organized")),
    (
        "work intern freelance consult volunteer study teach",
        Frame(A, "at", target="organization", source="organized"),
    ),
    ("volunteer freelance intern", Frame(A, "for", target="organization", source="organized")),
    ("join", Frame(A, event=True, target="organization", source="organized")),
    ("start", Frame(A, "at", event=True, target="organization", source="organized")),
    (
        "start",
        Frame(A, "with", event=True, target="organization", source="organized", confidence=IMPLIED),
    ),
    ("found co-found cofound", Frame(A, event=True, target="organization", source="organized")),
    ("move", Frame(A, "to", event=True, target="known organization", source="organized")),
    ("belong", Frame(A, "to")),
    # MENTIONED_IN: the document is the subject ("the spec mentions Beacon"), or the thing is, in the passive
    ("appear feature", Frame(M, "in", target="document")),
)

PASSIVES = _frames(
    ("write build implement code develop rewrite", Frame(U, "in", target="thing")),
    ("build develop write implement make", Frame(U, "with", target="thing")),
    ("build base host run deploy", Frame(U, "on", target="thing")),
    ("build", Frame(U, "on_top_of", target="thing")),
    ("build", Frame(U, "around", target="tool")),
    ("deploy ship publish port move migrate", Frame(U, "to", target="thing")),
    ("host store keep cache save", Frame(U, "in", target="thing")),
    ("deploy provision monitor test package manage", Frame(U, "with", target="tool")),
    ("host manage provide", Frame(U, "by", target="tool")),
    ("power back", Frame(U, "by", target="thing")),
    ("render serve generate compile", Frame(U, "with", target="tool")),
    ("connect link integrate", Frame(U, "with", target="thing", confidence=IMPLIED)),
    ("connect", Frame(U, "to", target="thing", confidence=IMPLIED)),
    (
        "mention describe document cover list discuss reference cite explain specify",
        Frame(M, "in", target="document"),
    ),
    (
        "mention describe document cover list discuss reference cite",
        Frame(M, "by", target="document"),
    ),
    ("base", Frame(L, "in", target="place", source="organized")),
    ("employ", Frame(A, "by", target="organization")),
    ("employ hire", Frame(A, "at", target="organization")),
    ("hire", Frame(A, "by", target="organization")),
    ("include", Frame(A, "in", target="thing")),
)
"""Frames whose subject is the subject of a passive ("Beacon is written in Elixir")."""

MENTION_VERBS = word_set(
    """
    mention describe document cover list discuss reference cite explain specify
    """
)
INVERSE_USE_VERBS = frozenset({"power", "back"})
"""X powers Y: Y uses X."""

ENDINGS = {
    "stop": ("",), "drop": ("",), "ditch": ("",), "abandon": ("",), "retire": ("",), "quit": ("",), "leave": ("",),
    "remove": ("",), "give": ("on", "up"), "move": ("off", "from", "away"), "switch": ("from", "off"),
    "migrate": ("from", "off"), "get": ("rid_of", "off"), "replace": ("",), "swap": ("",), "trade": ("",),
    "decide": ("against",), "part": ("with",), "kill": ("",), "scrap": ("",), "sunset": ("",), "phase": ("",),
}  # fmt: skip
"""Verbs that end a state, with the preposition that marks what is given up."""

INSTRUMENTS = frozenset(["in", "with", "on", "via", "using", "through"])
"""Prepositions that name the tool of any activity ("I take notes in Obsidian")."""

TRANSPARENT = word_set(
    """
    start begin keep continue love like enjoy tend get have be spend find manage come end work do stay remain
    live help happen sit
    """
)
"""Verbs before another verb that leave it a fact: "I love using X"."""
ENDING = frozenset(["stop", "quit", "finish", "cease", "give"])
DECIDING = word_set(
    """
    decide agree choose opt settle commit pick vote
    """
)
PREFERRING = frozenset(["prefer", "favour", "favor"])

FACTIVE_COMPLEMENTS = word_set(
    """
    know think believe guess say mean remember note mention tell confirm admit swear realise realize notice
    find explain clarify stress add be
    """
)
"""After "I …" their complement is what the user states."""
KNOWING = word_set(
    """
    know remember note mind recall realise realize notice forget
    """
)
"""Their complement is a fact whoever the subject is; as imperatives they introduce a statement."""
REPORTING = word_set(
    """
    say tell claim mention state write report announce hear read believe think suggest argue insist explain
    rumour rumor declare admit confirm note add promise swear guess suppose ask wonder doubt deny joke hint
    complain rant rave gush reckon recommend propose feel hope wish
    """
)
COMPLEMENT_VERBS = (
    REPORTING
    | KNOWING
    | FACTIVE_COMPLEMENTS
    | word_set(
        """
        imagine assume pretend expect want wish hope dream learn discover see ensure let bet fear worry
        demand insist prefer understand figure decide agree
        """
    )
) - {"be", "find"}
