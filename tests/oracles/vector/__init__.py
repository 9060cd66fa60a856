"""An in-memory vector store: the oracle for the vector tier, in plain Python."""
