"""Prints a named query as the store receives it: `python -m tests.queries facts_of_space`."""

from __future__ import annotations

import sys

from services.agent_orchestrator.database import load_queries as orchestrator_queries
from services.graph_query.neo4j.queries import load_queries as graph_queries
from services.vector_search.database import load_queries as vector_queries


def main(names: list[str]) -> int:
    """Prints each query; returns 2 for a name that no service knows."""
    services = (graph_queries(), vector_queries(), orchestrator_queries())
    for name in names:
        found = [queries[name] for queries in services if name in queries.names()]
        if not found:
            sys.stderr.write(f"no query is named {name}\n")
            return 2
        sys.stdout.write("\n\n".join(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
