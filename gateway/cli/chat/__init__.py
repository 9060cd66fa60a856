"""`braid ask` and `braid chat`: questions in plain words from a terminal."""
