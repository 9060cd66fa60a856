"""The explorer page: search, questions, the graph over time, uploads. Plain ES modules without a build step."""
