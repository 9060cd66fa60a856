"""Lists a space's graph by id, and removes what should not exist."""
