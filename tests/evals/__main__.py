"""`python -m tests.evals NAME [--data FOLDER]`: measures the quality of answers."""

import sys

from tests.benchmarks.command import run

COMMANDS = {
    "answers": "tests.evals.answers.measure",
    "conversations": "tests.evals.conversations",
    "dates": "tests.evals.dates.measure",
    "expansion": "tests.evals.expansion",
    "entity_memory": "tests.evals.entity_memory.measure",
    "formats": "tests.evals.formats.measure",
    "multihop": "tests.evals.multihop",
    "relevance": "tests.evals.relevance",
    "routing": "tests.evals.routing.measure",
    "scifact": "tests.evals.scifact",
    "tables": "tests.evals.tables",
    "temporal": "tests.evals.temporal",
}

if __name__ == "__main__":
    sys.exit(run("eval", COMMANDS, sys.argv[1:]))
