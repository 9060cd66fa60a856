"""Adding and deleting episodes: local extraction, what language models extract, and document versions."""
