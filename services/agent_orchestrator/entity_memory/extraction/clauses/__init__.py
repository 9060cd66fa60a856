"""Builds clauses from chunks: who, verb groups, objects and phrases, and which clause depends on which."""
