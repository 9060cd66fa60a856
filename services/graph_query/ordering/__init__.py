"""Orders of found facts beside that of relevance."""
