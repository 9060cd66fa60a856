"""Adding and deleting episodes: local extraction, extraction by language models, and document versions."""
