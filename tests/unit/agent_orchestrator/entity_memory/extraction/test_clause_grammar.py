"""The constructions of the clause grammar: what each one saves and what it does not save."""

import pytest

from services.agent_orchestrator.entity_memory.domain import EntityType, RelationshipType
from services.agent_orchestrator.entity_memory.extraction import (
    Conversation,
    KnownNames,
    read_turns,
)

Facts = set[tuple[str, str, str]]


def facts(known_names: KnownNames, *turns: str) -> Facts:
    found = read_turns(turns, known_names)
    return {(each.source, each.type.value, each.target) for each in found.relationships}


def user(relation: str, *targets: str) -> Facts:
    return {("User", relation, target) for target in targets}


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        pytest.param("I use Gleam.", user("USES", "Gleam"), id="simple present"),
        pytest.param("I've been using Gleam since May.", user("USES", "Gleam"), id="perfect"),
        pytest.param("We're using Gleam.", user("USES", "Gleam"), id="progressive"),
        pytest.param("We all use Gleam.", user("USES", "Gleam"), id="quantifier of the subject"),
        pytest.param(
            "We have both been using Gleam.", user("USES", "Gleam"), id="quantifier in the group"
        ),
        pytest.param("We are all working on Nimbus.", user("WORKS_ON", "Nimbus"), id="all of us"),
        pytest.param("I use Gleam, Deno and Bun.", user("USES", "Gleam", "Deno", "Bun"), id="list"),
        pytest.param("we use docker and vs code", user("USES", "docker", "vs code"), id="lower"),
        pytest.param("Gleam is what I use.", user("USES", "Gleam"), id="cleft"),
        pytest.param("It's Gleam that we use.", user("USES", "Gleam"), id="it-cleft"),
        pytest.param("The language I use is Gleam.", user("USES", "Gleam"), id="reduced relative"),
        pytest.param("To deploy we use Pulumi.", user("USES", "Pulumi"), id="fronted purpose"),
        pytest.param("I love using Gleam.", user("USES", "Gleam"), id="catenative verb"),
        pytest.param("I can't live without Gleam.", user("USES", "Gleam"), id="indispensable"),
        pytest.param("Our database is MariaDB.", user("USES", "MariaDB"), id="copula"),
        pytest.param("My stack: Gleam, Redis.", user("USES", "Gleam", "Redis"), id="label"),
        pytest.param("I take notes in Logseq.", user("USES", "Logseq"), id="instrument"),
        pytest.param("We moved from Heroku to Render.", user("USES", "Render"), id="from B to A"),
        pytest.param("We use Bun, not Deno.", user("USES", "Bun"), id="A, not B"),
        pytest.param("We don't use Deno but Bun.", user("USES", "Bun"), id="not B but A"),
        pytest.param("Deno is used by our team.", user("USES", "Deno"), id="passive with agent"),
        pytest.param("Redis powers our search.", user("USES", "Redis"), id="inverse verb"),
        pytest.param("Switched to Helix last week.", user("USES", "Helix"), id="elided subject"),
        pytest.param("I prefer Bun over Deno.", user("PREFERS", "Bun"), id="A over B"),
        pytest.param("I like Bun better than Deno.", user("PREFERS", "Bun"), id="comparison"),
        pytest.param("I'd rather use Bun than Deno.", user("PREFERS", "Bun"), id="would rather"),
        pytest.param("My favourite shell is zsh.", user("PREFERS", "zsh"), id="favourite"),
        pytest.param("We decided to use Kafka.", user("DECIDED", "Kafka"), id="decided to use"),
        pytest.param("We're going with Kafka.", user("DECIDED", "Kafka"), id="going with"),
        pytest.param("The one we settled on is NATS.", user("DECIDED", "NATS"), id="stranded"),
        pytest.param("We rely on Kafka.", user("DEPENDS_ON", "Kafka"), id="depends"),
        pytest.param("I work at Infosys.", user("PART_OF", "Infosys"), id="employer"),
        pytest.param("I'm an engineer at Infosys.", user("PART_OF", "Infosys"), id="occupation"),
        pytest.param("My boss is Helen Brandt.", user("WORKS_WITH", "Helen Brandt"), id="role"),
        pytest.param("Ravi is a colleague of mine.", user("WORKS_WITH", "Ravi"), id="of mine"),
        pytest.param("Dr. Okafor helps us.", user("WORKS_WITH", "Okafor"), id="title"),
        pytest.param("My friend Luca called.", user("KNOWS", "Luca"), id="apposition"),
        pytest.param("I maintain a tool called oxen.", user("WORKS_ON", "oxen"), id="called"),
        pytest.param("I maintain a tool named oxen.", user("WORKS_ON", "oxen"), id="named"),
        pytest.param(
            "I met Ruby, our manager.",
            user("KNOWS", "Ruby") | user("WORKS_WITH", "Ruby"),
            id="human role",
        ),
        pytest.param("I have a boss called Tariq.", user("WORKS_WITH", "Tariq"), id="had role"),
        pytest.param(
            "I use Deno for scripts and Gleam for services.",
            user("USES", "Deno", "Gleam"),
            id="pairs",
        ),
        pytest.param(
            "I use Deno for planning, Gleam for testing.",
            user("USES", "Deno", "Gleam"),
            id="gerunds",
        ),
        pytest.param(
            "Our invoices go out through Stripe.", user("USES", "Stripe"), id="own things"
        ),
        pytest.param("All our secrets live in Vault.", user("USES", "Vault"), id="own plural"),
        pytest.param("Everything runs on Docker.", user("USES", "Docker"), id="everything"),
        pytest.param("I type all my notes into Logseq.", user("USES", "Logseq"), id="into"),
        pytest.param("We moved over to Docker.", user("USES", "Docker"), id="particle"),
        pytest.param("Our app talks to Stripe.", user("USES", "Stripe"), id="system of ours"),
        pytest.param("I write Julia.", user("USES", "Julia"), id="tool with a person's name"),
        pytest.param("I use Docker, can you help?", user("USES", "Docker"), id="question after it"),
        pytest.param("I work on Apollo, our app.", user("WORKS_ON", "Apollo"), id="own work"),
    ],
)
def test_a_statement_about_the_user_is_saved(
    known_names: KnownNames, turn: str, expected: Facts
) -> None:
    assert facts(known_names, turn) == expected


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        pytest.param(
            "Beacon is written in Elixir and runs on Render.",
            {("Beacon", "USES", "Elixir"), ("Beacon", "USES", "Render")},
            id="coordinated verbs share the subject",
        ),
        pytest.param(
            "Beacon talks to Stripe and reads its rates from Redis.",
            {("Beacon", "USES", "Stripe"), ("Beacon", "USES", "Redis")},
            id="coordinated verb that could be a noun",
        ),
        pytest.param(
            "Marta and Ravi both work on Beacon.",
            {("Marta", "WORKS_ON", "Beacon"), ("Ravi", "WORKS_ON", "Beacon")},
            id="quantifier of two subjects",
        ),
        pytest.param(
            "Ravi, who works at Infosys, is my colleague.",
            {("Ravi", "PART_OF", "Infosys"), ("User", "WORKS_WITH", "Ravi")},
            id="relative clause",
        ),
        pytest.param(
            "Sarah from Acme helps us.",
            {("Sarah", "PART_OF", "Acme"), ("User", "WORKS_WITH", "Sarah")},
            id="affiliation",
        ),
        pytest.param(
            "Marta and I work on Beacon.",
            {
                ("Marta", "WORKS_ON", "Beacon"),
                ("User", "WORKS_ON", "Beacon"),
                ("User", "WORKS_WITH", "Marta"),
            },
            id="X and I",
        ),
        pytest.param(
            "Kestrel, our billing service, depends on etcd.",
            {("Kestrel", "DEPENDS_ON", "etcd")},
            id="apposition of a project",
        ),
        pytest.param(
            "My colleagues Ahmed and Mia use Vim.",
            {
                ("User", "WORKS_WITH", "Ahmed"),
                ("User", "WORKS_WITH", "Mia"),
                ("Ahmed", "USES", "Vim"),
                ("Mia", "USES", "Vim"),
            },
            id="role of a list",
        ),
        pytest.param(
            "The Orion handbook mentions Beacon.",
            {("Beacon", "MENTIONED_IN", "Orion handbook")},
            id="document",
        ),
        pytest.param("Noor works for Ericsson.", {("Noor", "PART_OF", "Ericsson")}, id="plain"),
        pytest.param(
            "Beacon is written in Julia.", {("Beacon", "USES", "Julia")}, id="passive of a language"
        ),
        pytest.param(
            "Beacon's API is written in Rust.", {("Beacon", "USES", "Rust")}, id="part of a system"
        ),
        pytest.param(
            "Beacon, the project I maintain, is written in Rust.",
            {("User", "WORKS_ON", "Beacon"), ("Beacon", "USES", "Rust")},
            id="relative clause of an apposition",
        ),
        pytest.param(
            "My colleague Tariq swears by Docker.",
            {("User", "WORKS_WITH", "Tariq"), ("Tariq", "USES", "Docker")},
            id="no words",
        ),
        pytest.param(
            "Our ops lead Tariq wants us to try Docker.",
            {("User", "WORKS_WITH", "Tariq")},
            id="role that is also a verb",
        ),
    ],
)
def test_a_statement_about_others_is_saved(
    known_names: KnownNames, turn: str, expected: Facts
) -> None:
    assert facts(known_names, turn) == expected


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param("I don't use Docker.", id="negation"),
        pytest.param("We don't all use Docker.", id="negation with a quantifier"),
        pytest.param("I told them all to use Docker.", id="quantifier of an object"),
        pytest.param("Nobody here uses Docker.", id="negative subject"),
        pytest.param("We no longer use Docker.", id="no longer"),
        pytest.param("I used to use Docker.", id="used to"),
        pytest.param("I stopped using Docker.", id="stopped"),
        pytest.param("At my last job I used Docker.", id="past"),
        pytest.param("Ana said they use Docker.", id="hearsay"),
        pytest.param("They use Docker, Ana says.", id="trailing source"),
        pytest.param("Apparently Netflix uses Docker.", id="hearsay adverb"),
        pytest.param("Do you use Docker?", id="question"),
        pytest.param("how do I use docker with kafka", id="question without mark"),
        pytest.param("I wonder if Ana uses Docker.", id="indirect question"),
        pytest.param("Beacon needs Docker, doesn't it?", id="question tag"),
        pytest.param("We're on Docker, aren't we?", id="question tag of be"),
        pytest.param("We use Docker, right?", id="question tag of one word"),
        pytest.param("I have a cat called Docker.", id="pet"),
        pytest.param("We adopted a dog named Docker last week.", id="adopted pet"),
        pytest.param("I was thinking about moving and using Docker.", id="second of two plans"),
        pytest.param("Everything at my old job ran on Docker.", id="everything of the past"),
        pytest.param("If we used Docker, life would be easy.", id="hypothetical"),
        pytest.param("I wish we used Docker.", id="wish"),
        pytest.param("I might use Docker.", id="modal"),
        pytest.param("We're thinking about using Docker.", id="plan"),
        pytest.param("We almost chose Docker.", id="almost"),
        pytest.param("Please use Docker.", id="imperative"),
        pytest.param("You use Docker.", id="second person"),
        pytest.param("Imagine we use Docker.", id="supposition"),
        pytest.param("Translate to German: I use Docker.", id="text to be worked on"),
        pytest.param("Ana: I use Docker.", id="transcript"),
        pytest.param("It depends on Docker.", id="pronoun without antecedent"),
        pytest.param("I use a hammer and my phone.", id="common nouns"),
        pytest.param("We had a Zoom call.", id="name as modifier of an event"),
        pytest.param("My sister works at Siemens.", id="unnamed person"),
        pytest.param("Tell my boss that I use Docker.", id="message to others"),
    ],
)
def test_nothing_is_saved_from_a_sentence_that_does_not_state_a_fact(
    known_names: KnownNames, turn: str
) -> None:
    assert facts(known_names, turn) == set()


def test_statements_in_a_role_play_are_ignored_until_it_ends(known_names: KnownNames) -> None:
    turns = ["Let's role-play.", "I work at NASA.", "Back to reality.", "I use Docker."]

    assert facts(known_names, *turns) == user("USES", "Docker")


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        pytest.param(
            ["I work on Beacon.", "It depends on Redis.", "It runs on Render."],
            {
                ("User", "WORKS_ON", "Beacon"),
                ("Beacon", "DEPENDS_ON", "Redis"),
                ("Beacon", "USES", "Render"),
            },
            id="it is the subject before",
        ),
        pytest.param(
            ["My manager is Helen.", "She works at Bosch."],
            {("User", "WORKS_WITH", "Helen"), ("Helen", "PART_OF", "Bosch")},
            id="she is the last person",
        ),
        pytest.param(
            ["Have you tried Zed?", "I use it."], user("USES", "Zed"), id="named in a question"
        ),
        pytest.param(
            ["I use Bear.", "Actually, I don't use Bear any more, I use Logseq."],
            user("USES", "Logseq"),
            id="taken back",
        ),
        pytest.param(["I use Bear.", "I meant Logseq."], user("USES", "Logseq"), id="I meant"),
        pytest.param(
            ["We chose Svelte.", "We changed our minds and went with Vue."],
            user("DECIDED", "Vue"),
            id="another decision",
        ),
    ],
)
def test_later_turns_continue_and_correct_earlier_ones(
    known_names: KnownNames, turns: list[str], expected: Facts
) -> None:
    assert facts(known_names, *turns) == expected


def test_a_negated_statement_is_returned_as_retracted(known_names: KnownNames) -> None:
    conversation = Conversation(known_names)

    retracted = conversation.read("We no longer use Kafka.").retracted

    assert ("User", RelationshipType.USES, "Kafka") in {
        (each.source, each.type, each.target) for each in retracted
    }


@pytest.mark.parametrize(
    ("turn", "name", "expected"),
    [
        ("Atlas uses Redis.", "Atlas", EntityType.PROJECT),
        ("Atlas uses Redis.", "Redis", EntityType.TOOL),
        ("We practise TDD.", "TDD", EntityType.CONCEPT),
        ("I work at Lumen Labs.", "Lumen Labs", EntityType.ORGANIZATION),
        ("I work with Kaito.", "Kaito", EntityType.PERSON),
        ("Compass talks to Beacon.", "Beacon", EntityType.PROJECT),
        ("Compass depends on Litestream.", "Litestream", EntityType.TOOL),
        ("Compass is part of the Lunar programme.", "Compass", EntityType.PROJECT),
        ("Compass is part of the Lunar programme.", "Lunar", EntityType.PROJECT),
        ("Ana is part of the Lunar programme.", "Ana", EntityType.PERSON),
    ],
)
def test_the_sentence_determines_the_entity_type(
    known_names: KnownNames, turn: str, name: str, expected: EntityType
) -> None:
    types = {each.name: each.type for each in read_turns([turn], known_names).entities}

    assert types[name] is expected


@pytest.mark.parametrize(
    ("turn", "name"),
    [
        ("I work on Project Atlas.", "Atlas"),
        ("I work on the Atlas project.", "Atlas"),
        ("i work on project orion", "orion"),
        ("I work with Prof. Klein.", "Klein"),
        ("I use the Zed editor.", "Zed"),
        ("I use Visual Studio Code.", "Visual Studio Code"),
        ("I study at the University of Oslo.", "University of Oslo"),
        ("We host it on Fly.io.", "Fly.io"),
        ("I write C++.", "C++"),
    ],
)
def test_names_are_kept_as_written_without_article_title_or_project(
    known_names: KnownNames, turn: str, name: str
) -> None:
    assert [each.name for each in read_turns([turn], known_names).entities] == [name]


def test_a_stated_relationship_has_a_higher_confidence_than_an_implied_one(
    known_names: KnownNames,
) -> None:
    stated = read_turns(["I use Logseq."], known_names).relationships[0]
    implied = read_turns(["I take notes in Logseq."], known_names).relationships[0]

    assert stated.confidence >= 0.9 > implied.confidence >= 0.7
    assert implied.context == "I take notes in Logseq."
