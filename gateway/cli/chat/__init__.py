"""`braid ask` and `braid chat`: questions in natural language from a terminal."""
