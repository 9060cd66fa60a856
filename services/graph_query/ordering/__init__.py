"""Orders of found facts beside that of reciprocal ranks."""
